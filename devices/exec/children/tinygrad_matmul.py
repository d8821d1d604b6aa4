#!/usr/bin/env python3
"""tinygrad's product of two matrices, compiled for the processor, as a target of mmafuzz.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 devices/exec/children/tinygrad_matmul.py --type f32 -k 1000"
  mmafuzz infer --shape 64x64x1000 --target "exec:env DEV=CPU:X86 python3 ..."

The compiler is one of tinygrad's, by its variable DEV: Clang (which has to be on the PATH), LLVM or tinygrad's own.
"""
import os

import protocol

TYPES = {"f32": ("float", "fp32", "uint32"), "f64": ("double", "fp64", "uint64"), "f16": ("half", "fp16", "uint16")}

p = protocol.options(__doc__, TYPES)
o = protocol.chosen(p, TYPES, ("matmul",))
if o.fit or o.transposed or o.threads != 1:
    p.error("a compiled function has one size and one layout, and tinygrad decides about threads")
os.environ.setdefault("DEV", "CPU")
tinygrad = protocol.need("tinygrad", None, "pip install tinygrad (0.14.0 is what was tried)")
np = protocol.need("numpy", "1.20", "pip install numpy")
from tinygrad import Tensor, TinyJit, dtypes


def instruction(name, k):
    dtype, codes = (getattr(dtypes, TYPES[name][i]) for i in (0, 2))
    raw = "u%d" % dtype.itemsize
    matmul = TinyJit(lambda a, b: a.matmul(b).bitcast(codes).realize())
    load = lambda x: Tensor(x.tobytes(), dtype=dtype).reshape(x.shape).realize()
    return protocol.multiplied(np, "matmul", o, name, k, TYPES[name][1], raw,
                               lambda a, b, c: np.frombuffer(matmul(load(a), load(b)).data().tobytes(), raw).reshape(o.size))


about = {"tinygrad": protocol.version("tinygrad"), "tinygrad-device": os.environ["DEV"]}
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
