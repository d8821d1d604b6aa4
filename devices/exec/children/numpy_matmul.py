#!/usr/bin/env python3
"""Matrix multiplication in NumPy as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/numpy_matmul.py --type f32"
  mmafuzz infer --target "exec:env OPENBLAS_CORETYPE=Haswell python3 ... --type f32"

f32 and f64 are computed by the BLAS that NumPy was built with, which is OpenBLAS in the
packages of PyPI; f16 by a loop of NumPy's own. A dot product is a row and a column of a
matrix of the size given; each matrix is a call of its own. The instruction's name is such
as matmul.m64n64k16.f32, followed by .transposed and .at6x0 or .fit if they were asked for.

  mmafuzz invariance "exec:python3 devices/exec/children/numpy_matmul.py --type f32 -k 64 --fit --size 33x33"
"""
import protocol

TYPES = {"f32": ("float32", "fp32"), "f64": ("float64", "fp64"), "f16": ("float16", "fp16")}

p = protocol.options(__doc__, TYPES)
o = protocol.chosen(p, TYPES, ("matmul",))
np = protocol.need("numpy", "1.20", "pip install numpy (Debian: python3-numpy)")
if o.threads != 1:
    p.error("the threads of NumPy are those of its BLAS: set OPENBLAS_NUM_THREADS")


def instruction(name, k):
    dtype = np.dtype(TYPES[name][0])
    raw = "u%d" % dtype.itemsize
    return protocol.multiplied(np, "matmul", o, name, k, TYPES[name][1], raw,
                               lambda a, b, c: np.matmul(a.view(dtype), b.view(dtype)).view(raw))


np.seterr(all="ignore")
about = {"numpy": np.__version__}
try:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    about["numpy-blas"] = "%s %s, %s" % (blas["name"], blas["version"], blas.get("openblas configuration", ""))
except (TypeError, KeyError):
    pass  # NumPy before 1.26 does not say it in this form
about.update(protocol.environment("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
