#!/usr/bin/env python3
"""tinygrad's emulator of matrix instructions (its device PYTHON) as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/tinygrad_wmma.py sm_80 --type f16" --nan class
  mmafuzz run --a sim:ampere/mma.m16n8k16.f32.f16.f16.f32.c0 --b "exec:python3 ..."

It computes a matrix product with the matrix instruction of the architecture that is named; a
dot product is a row and a column of it. The instruction's name is such as
wmma.sm_80.m16n8k16.f16. There is no C; D is FP32. -k may be a multiple of the instruction's K.
"""
import os

import protocol

TYPES = {"f16": ("half", "fp16"), "bf16": ("bfloat16", "bf16"), "f32": ("float", "fp32"), "e4m3": ("fp8e4m3", "e4m3"), "e5m2": ("fp8e5m2", "e5m2")}
ARCHS = ("METAL", "sm_75", "sm_80", "sm_89", "gfx1100", "gfx1201", "gfx942", "gfx950")
MATRICES = 8  # in a call: the shape of a compiled function is fixed

p = protocol.options(__doc__, TYPES, ("wmma",))
p.add_argument("arch", choices=ARCHS)
p.set_defaults(k=None, size=None)
o = p.parse_args()
os.environ.update(DEV="PYTHON::" + o.arch, TC="1")
tinygrad = protocol.need("tinygrad", None, "pip install tinygrad (0.14.0 is what was tried)")
np = protocol.need("numpy", "1.20", "pip install numpy")
from tinygrad import Tensor, dtypes
from tinygrad.device import Device


def core(name):
    """The first matrix instruction of the architecture for a type, with an FP32 result."""
    for x in Device["PYTHON"].renderer.tensor_cores:
        if x.dtype_in == getattr(dtypes, TYPES[name][0]) and x.dtype_out == dtypes.float:
            return x


if o.fit:
    p.error("the size of a matrix is that of the instruction")
cores = {name: core(name) for name in o.type if name in TYPES and core(name)}
if not cores:
    p.error("%s has no matrix instruction of %s in tinygrad" % (o.arch, ",".join(o.type)))


def instruction(name, k):
    n, m, _ = cores[name].dims
    o.size = m, n
    dtype, raw = getattr(dtypes, TYPES[name][0]), "u%d" % {"f32": 4, "f16": 2, "bf16": 2}.get(name, 1)
    load = lambda x: Tensor(x.tobytes(), dtype=dtype, device="PYTHON").reshape(MATRICES, -1, k)

    def multiply(a, b):
        d = load(a).matmul(load(b).transpose(1, 2), dtype=dtypes.float).realize()
        return np.frombuffer(d.data().tobytes(), "u4").reshape(MATRICES, m, n)

    def run(tiles, rows, columns, buffers):
        t = protocol.Matrices(o, tiles, rows, columns, lambda shape: np.zeros(shape, raw))
        a, b = (np.frombuffer(x, raw) for x in buffers)
        a, b = t.a(a.reshape(tiles, rows, k)), t.b(b.reshape(tiles, columns, k))
        t.zeros = lambda shape: np.zeros(shape, "u4")
        d = t.zeros((-(-t.count // MATRICES) * MATRICES, m, n))
        for i in range(0, t.count, MATRICES):
            some = [np.concatenate([x[i:i + MATRICES], np.zeros((MATRICES, *x.shape[1:]), raw)])[:MATRICES] for x in (a, b)]
            d[i:i + MATRICES] = multiply(*some)
        return np.ascontiguousarray(t.d(d[:t.count]))

    full = "wmma.%s.m%dn%dk%d.%s" % (o.arch, m, n, k, name)
    return protocol.Instruction(full, k, run, "1..%d" % m, "1..%d" % n, TYPES[name][1], TYPES[name][1], "fp32")


protocol.serve([instruction(t, k) for t in cores for k in o.k or [cores[t].dims[2]]],
               {"tinygrad": protocol.version("tinygrad"), "tinygrad-arch": o.arch}, batch=1024)
