#!/usr/bin/env python3
"""NumPy's product of two matrices as a target of infer --shape; another library's is as short.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 devices/exec/children/matmul.py 64x64x1000"
"""
import protocol

np = protocol.need("numpy", "1.20", "pip install numpy")
np.seterr(all="ignore")
protocol.matrices(np, np.matmul, "float32", numpy=np.__version__, **protocol.environment("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS"))
