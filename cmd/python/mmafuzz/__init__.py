"""Bit-accurate models of matrix multiply-accumulate units, and differential tests against them.

Where is a kernel wrong, and why? Make it a function of N dot products at once: it gets arrays a and b
of [N, k] and c of [N], and returns [N]. Compare it with something that should have the same bits: the
kernel as it was before, or a reference, "ref:mul32" (FP32, one product after the other), "ref:fma32"
(the same by fused multiply-adds) or "ref:exact" (the exact sum, rounded once); for integers, a function that
adds in int64.

    import numpy as np
    import mmafuzz

    u = mmafuzz.unit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")  # an H100's: FP16, k = 16

    def kernel(a, b, c):
        products = a.astype(np.float32) * b.astype(np.float32)
        products[:, 11] = abs(products[:, 11])  # a defect
        for k in range(16):
            c = c + products[:, k]
        return c

    found = mmafuzz.compare(kernel, "ref:mul32", like=u)
    print(found)  # how often they differ and why; the smallest input of the first cause, A the reference
    a, b, c = found.findings[0].operands
    print(np.flatnonzero(a * b))  # its one product: number 11
    print(kernel(a[None], b[None], c[None]), u(a, b, c))

Once it is right, mmafuzz.compare(kernel, u) says where and why a GPU's instruction has other bits.

What else there is; help(mmafuzz.compare) and so on have more:

    u(a, b, c)                # dot products: a and b [..., K], c [...]
    u.matmul(A, B, C)         # whole matrices, summed in steps of the instruction
    u.explain(a, b, c)        # how one dot product is computed, as text
    mmafuzz.units()           # all instructions whose arithmetic is known
    mmafuzz.minimize(f, u, (a, b, c))  # the smallest input that differs as this one does
    mmafuzz.infer(f, like=u)  # what a function computes: a model that has the same bits
    mmafuzz.probe(f, like=u)  # the questions of papers: widths, rounding, order, special values

mmafuzz.testing and mmafuzz.strategies are for tests (pytest, Hypothesis), mmafuzz.serve makes a
target of the command mmafuzz of a function.

Arrays are NumPy arrays of the operand's type: float16, float32, float64, int8, int32, or those of
ml_dtypes (bfloat16, float8_e4m3fn, ...) where it is installed; arrays of unsigned integers of the
code's width are taken as codes, raw bits; tensors of PyTorch are those on the CPU. Bits are never rounded
on the way: a float32 array for an FP16 operand is a TypeError.
"""

from ._compare import Cause, Comparison, Finding, compare, minimize
from ._infer import Answer, Inference, Parameter, Probe, infer, probe
from ._library import Error
from ._serve import serve
from ._torch import tensor
from ._unit import Unit, UnitInfo, unit, units

__all__ = [
    "Answer", "Cause", "Comparison", "Error", "Finding", "Inference", "Parameter", "Probe", "Unit", "UnitInfo",
    "compare", "infer", "minimize", "probe", "serve", "tensor", "unit", "units",
]
