"""Bit-accurate models of matrix multiply-accumulate units, and differential tests against them.

    u = mmafuzz.unit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")
    d = u(a, b, c)            # dot products: a and b [..., K], c [...]
    D = u.matmul(A, B, C)     # whole matrices, summed in steps of the instruction
    print(u.explain(a, b, c)) # how one dot product is computed

    mmafuzz.units()           # all instructions whose arithmetic is known
    mmafuzz.compare(f, u)     # where a function of yours differs, why, and the smallest input

Arrays are NumPy arrays of the operand's type: float16, float32, float64, or those of ml_dtypes
(bfloat16, float8_e4m3fn, ...) where it is installed; arrays of unsigned integers of the code's
width are taken as codes, raw bits. Bits are never rounded on the way: a float32 array for an
FP16 operand is a TypeError.
"""

from ._compare import Cause, Comparison, Finding, compare
from ._library import Error
from ._unit import Unit, UnitInfo, unit, units

__all__ = ["Cause", "Comparison", "Error", "Finding", "Unit", "UnitInfo", "compare", "unit", "units"]
