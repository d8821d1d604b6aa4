#!/usr/bin/env python3
"""Any library with the C interface of BLAS as a target of mmafuzz: cblas_sgemm and cblas_dgemm.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 devices/exec/children/blas_matmul.py libblis.so.4 --type f32 -k 1000"
  mmafuzz run --a "exec:python3 ... libmkl_rt.so.3 --type f32" --b "exec:python3 ... libblis.so.4 --type f32"

The first argument is the library's file, which is looked for below the interpreter's
directory (pip install mkl), then where the system looks. A and B are stored row by row.
The number of threads is the library's: MKL_NUM_THREADS, BLIS_NUM_THREADS, OPENBLAS_NUM_THREADS.
"""
import ctypes
import os
import sys

import protocol

TYPES = {"f32": ("float32", "fp32", "cblas_sgemm", ctypes.c_float), "f64": ("float64", "fp64", "cblas_dgemm", ctypes.c_double)}
ROWS, PLAIN, TRANSPOSED = 101, 111, 112  # of enum CBLAS_LAYOUT and CBLAS_TRANSPOSE

p = protocol.options(__doc__, TYPES)
p.add_argument("library")
o = protocol.chosen(p, TYPES, ("matmul",))
if o.threads != 1:
    p.error("the number of threads is a variable of the library")
np = protocol.need("numpy", "1.20", "pip install numpy")
own = os.path.join(sys.prefix, "lib", o.library)
try:
    library = ctypes.CDLL(own if os.path.exists(own) else o.library, ctypes.RTLD_GLOBAL)
    gemms = {name: getattr(library, TYPES[name][2]) for name in o.type}
except (OSError, AttributeError) as e:
    protocol.cannot("no library %s with cblas_sgemm and cblas_dgemm: %s" % (o.library, e))


def instruction(name, k):
    dtype, code, _, number = TYPES[name]
    raw = "u%d" % np.dtype(dtype).itemsize
    pointer = lambda x: ctypes.c_void_p(x.ctypes.data)

    def multiply(a, b, c):
        (m, _), n = a.shape, b.shape[1]
        d = np.empty((m, n), raw)
        b = np.ascontiguousarray(b.T) if o.transposed else b
        gemms[name](ROWS, PLAIN, TRANSPOSED if o.transposed else PLAIN, m, n, k, number(1), pointer(a), k,
                    pointer(b), k if o.transposed else n, number(0), pointer(d), n)
        return d

    return protocol.multiplied(np, "matmul", o, name, k, code, raw, multiply)


def version():
    """What MKL and BLIS say of themselves."""
    if hasattr(library, "mkl_get_version_string"):
        text = ctypes.create_string_buffer(200)
        library.mkl_get_version_string(text, 199)
        return text.value.decode()
    if hasattr(library, "bli_info_get_version_str"):
        library.bli_info_get_version_str.restype = library.bli_arch_string.restype = ctypes.c_char_p
        return "BLIS %s, %s" % (library.bli_info_get_version_str().decode(), library.bli_arch_string(library.bli_arch_query_id()).decode())
    return ""


about = {"blas": os.path.basename(o.library), "blas-version": version()}
about.update(protocol.environment("MKL_NUM_THREADS", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "BLIS_NUM_THREADS", "BLIS_ARCH_TYPE", "OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
