#!/usr/bin/env python3
"""tl.dot in Triton's interpreter (TRITON_INTERPRET=1), in which people debug kernels without a
GPU, as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/triton_dot.py --type f16" --nan class
  mmafuzz run --a "exec:python3 devices/exec/children/triton_dot.py --type bf16" --b ref:exact

A dot product is a row and a column of a tile of the size given; each program of the kernel
computes one tile. The instruction's name is such as dot.m16n16k16.f16.ieee, which ends in the
--precision. C and D are FP32. The interpreter computes with NumPy, whose libraries choose their
code by variables and by the processor: see numpy_matmul.py.
"""
import ctypes
import os

import protocol

TYPES = {"f16": ("float16", "fp16"), "bf16": ("bfloat16", "bf16"), "f32": ("float32", "fp32"),
         "e4m3": ("float8_e4m3fn", "e4m3"), "e5m2": ("float8_e5m2", "e5m2")}

p = protocol.options(__doc__, TYPES, ("dot",))
p.set_defaults(size=(16, 16))
p.add_argument("--precision", choices=["tf32", "tf32x3", "ieee"], default="ieee", help="input_precision of tl.dot (default ieee)")
o = protocol.chosen(p, TYPES, ("dot",))
if o.transposed or o.fit or o.threads != 1:
    p.error("the kernel here has one layout, one size and no threads")
os.environ["TRITON_INTERPRET"] = "1"
torch = protocol.need("torch", "2.1", "pip install torch")
triton = protocol.need("triton", "3.0", "pip install triton")
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    t = tl.program_id(0)
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    x = tl.load(a + t * M * K + m * K + k[None, :])
    y = tl.load(b + t * N * K + n * K + k[:, None])
    z = tl.load(c + t * M * N + m * N + n)
    tl.store(d + t * M * N + m * N + n, tl.dot(x, y, z, input_precision=PRECISION))


def instruction(name, k):
    dtype, code = getattr(torch, TYPES[name][0]), TYPES[name][1]
    raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[dtype.itemsize]

    def run(tiles, m, n, buffers):
        load = lambda x, of, *shape: torch.frombuffer(x, dtype=of).reshape(shape)
        t = protocol.Matrices(o, tiles, m, n, lambda shape: torch.zeros(shape, dtype=raw))
        a, b = (x.contiguous().view(dtype) for x in (t.a(load(buffers[0], raw, tiles, m, k)), t.b(load(buffers[1], raw, tiles, n, k))))
        t.zeros = lambda shape: torch.zeros(shape, dtype=torch.int32)
        c = t.c(load(buffers[2], torch.int32, tiles, m, n)).view(torch.float32)
        d = torch.empty_like(c)
        kernel[(t.count,)](a, b, c, d, *o.size, k, o.precision)
        x = t.d(d.view(torch.int32)).contiguous()
        return ctypes.string_at(x.data_ptr(), x.numel() * x.element_size())

    return protocol.Instruction(protocol.named(o, "dot", k, name, [o.precision]), k, run, *protocol.tiles(o), code, code, "fp32", "fp32")


about = {"triton": triton.__version__, "torch": torch.__version__, "numpy": protocol.version("numpy")}
about.update(protocol.environment("OPENBLAS_CORETYPE"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about, batch=4096)
