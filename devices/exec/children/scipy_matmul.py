#!/usr/bin/env python3
"""The BLAS of SciPy as a target of mmafuzz: scipy.linalg.blas.sgemm and dgemm.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 devices/exec/children/scipy_matmul.py --type f64 -k 1000"

SciPy's packages of PyPI have an OpenBLAS of their own, which is not NumPy's. Its matrices are
stored column by column.
"""
import protocol

TYPES = {"f32": ("float32", "fp32"), "f64": ("float64", "fp64")}

p = protocol.options(__doc__, TYPES)
o = protocol.chosen(p, TYPES, ("matmul",))
np = protocol.need("numpy", "1.20", "pip install numpy")
scipy = protocol.need("scipy", "1.8", "pip install scipy")
from scipy.linalg import blas

if o.threads != 1 or o.transposed:
    p.error("the threads of SciPy are those of its BLAS (OPENBLAS_NUM_THREADS); its layout is one")


def instruction(name, k):
    dtype, code = TYPES[name]
    gemm, raw = {"f32": blas.sgemm, "f64": blas.dgemm}[name], "u%d" % np.dtype(dtype).itemsize
    return protocol.multiplied(np, "matmul", o, name, k, code, raw, lambda a, b, c: gemm(1, a.view(dtype), b.view(dtype)).view(raw))


about = {"scipy": scipy.__version__}
try:
    build = scipy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    about["scipy-blas"] = "%s %s, %s" % (build["name"], build["version"], build.get("openblas configuration", ""))
except (TypeError, KeyError):
    pass  # SciPy before 1.11 does not say it in this form
about.update(protocol.environment("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
