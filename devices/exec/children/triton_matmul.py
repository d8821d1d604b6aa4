#!/usr/bin/env python3
"""A product of matrices as Triton's tutorial has it, in Triton's interpreter (TRITON_INTERPRET=1), as a
target of mmafuzz.

  mmafuzz infer --shape 16x16x100 --target "exec:python3 devices/exec/children/triton_matmul.py --type f16 -k 100 --size 16x16"

Each program computes a tile of 16 x 16: it adds tl.dot of 32 products after another to an accumulator of FP32;
what is left over is filled up with zeros. D is FP32. The interpreter computes with NumPy: see numpy_matmul.py.
"""
import os

import protocol

TYPES = {"f16": ("float16", "fp16"), "f32": ("float32", "fp32")}

p = protocol.options(__doc__, TYPES)
p.set_defaults(size=(16, 16))
o = protocol.chosen(p, TYPES, ("matmul",))
if o.transposed or o.fit or o.threads != 1:
    p.error("the kernel here has one layout, one size and no threads")
os.environ["TRITON_INTERPRET"] = "1"
np = protocol.need("numpy", "1.20", "pip install numpy")
torch = protocol.need("torch", "2.1", "pip install torch")
triton = protocol.need("triton", "3.0", "pip install triton")
import triton.language as tl


@triton.jit
def kernel(a, b, d, M, N, K, BLOCK: tl.constexpr, SLAB: tl.constexpr):
    m, n, ks = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, SLAB)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, K, SLAB):
        x = tl.load(a + m[:, None] * K + k + ks[None, :], mask=(m[:, None] < M) & (k + ks[None, :] < K), other=0.0)
        y = tl.load(b + (k + ks[:, None]) * N + n[None, :], mask=(n[None, :] < N) & (k + ks[:, None] < K), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(d + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def instruction(name, k):
    dtype, code = getattr(torch, TYPES[name][0]), TYPES[name][1]
    raw = "u%d" % dtype.itemsize
    m, n = o.size

    def multiply(a, b, c):
        x, y = (torch.from_numpy(z.view(raw.replace("u", "f")).copy()) for z in (a, b))
        d = torch.empty((m, n), dtype=torch.float32)
        kernel[(-(-m // 16), -(-n // 16))](x, y, d, m, n, k, 16, 32)
        return d.numpy().view("u4")

    return protocol.multiplied(np, "matmul", o, name, k, code, raw, multiply, result=("fp32", "u4"))


about = {"triton": triton.__version__, "torch": torch.__version__, "numpy": np.__version__}
about.update(protocol.environment("OPENBLAS_CORETYPE"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
