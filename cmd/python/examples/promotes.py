"""Does my quantized kernel promote? The kernel of a library says that it adds FP8 products in FP32.

Here the kernel is a function of NumPy that does not: what it has added so far goes through BF16 when it
is called for the next products. In your test, it is whatever computes on your machine.
"""

import ml_dtypes
import numpy as np

import mmafuzz
from mmafuzz.testing import assert_same_bits

FORMATS = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fn, "fp32", "fp32")


def kernel(a, b, c):
    """Adds products in FP32, but what it carries over has gone through BF16."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    c = c.astype(ml_dtypes.bfloat16).astype(np.float32)
    for k in range(a.shape[1]):
        c = c + a[:, k] * b[:, k]
    return c


def promoting(a, b, c):
    a, b = a.astype(np.float32), b.astype(np.float32)
    for k in range(a.shape[1]):
        c = c + a[:, k] * b[:, k]
    return c


# Without any reference: what does it compute?
found = mmafuzz.infer(kernel, formats=FORMATS, k=2, checks=1000)
print(found.arithmetic)
assert found
values = {p.path: p.value for p in found.parameters}
print("fraction bits that are left of c:", values["in.narrowc.frac"])
assert values["in.narrowc.frac"] == "7"  # those of BF16

# And as an assertion, beside a kernel that is right: the smallest input on which they differ.
assert_same_bits(promoting, "ref:mul32", formats=FORMATS, k=2, count=500)
try:
    assert_same_bits(kernel, "ref:mul32", formats=FORMATS, k=2, count=500)
except AssertionError as e:
    print(e)
else:
    raise SystemExit("the defect was not found")
