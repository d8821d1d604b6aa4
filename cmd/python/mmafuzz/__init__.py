"""Bit-accurate models of matrix multiply-accumulate units, and differential tests against them.

    u = mmafuzz.unit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")
    d = u(a, b, c)            # dot products: a and b [..., K], c [...]
    D = u.matmul(A, B, C)     # whole matrices, summed in steps of the instruction
    print(u.explain(a, b, c)) # how one dot product is computed

    mmafuzz.units()           # all instructions whose arithmetic is known
    mmafuzz.compare(f, u)     # where a function of yours differs, why, and the smallest input
    mmafuzz.infer(f, like=u)  # what a function computes: a model that has the same bits
    mmafuzz.probe(f, like=u)  # the questions of papers: widths, rounding, order, special values

mmafuzz.testing and mmafuzz.strategies are for tests (pytest, Hypothesis), mmafuzz.serve makes a
target of the command mmafuzz of a function.

Arrays are NumPy arrays of the operand's type: float16, float32, float64, or those of ml_dtypes
(bfloat16, float8_e4m3fn, ...) where it is installed; arrays of unsigned integers of the code's
width are taken as codes, raw bits; tensors of PyTorch are those on the CPU. Bits are never rounded on the way: a float32 array for an
FP16 operand is a TypeError.
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
