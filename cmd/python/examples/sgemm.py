"""NumPy's sgemm explained: in which order does the BLAS behind np.matmul add sixteen products?"""

import numpy as np

import mmafuzz


def sgemm(a, b):
    """One dot product a matrix: row 0 times column 0 of a product of 8 x 8."""
    x, y = np.zeros((len(a), 8, 16), np.float32), np.zeros((len(b), 16, 8), np.float32)
    x[:, 0], y[:, :, 0] = a, b
    return (x @ y)[:, 0, 0]


FORMATS = {"a": "fp32", "b": "fp32", "d": "fp32"}
probe = mmafuzz.probe(sgemm, formats=FORMATS, k=16)
print(probe.tree)
found = mmafuzz.infer(sgemm, formats=FORMATS, k=16, checks=2000)
print(found.verdict + ":", found.arithmetic)

# Beside a chain of fused, and of separate, multiplications and additions. What this BLAS does depends on
# the processor.
for reference in ("ref:fma32", "ref:mul32"):
    result = mmafuzz.compare(sgemm, reference, formats=FORMATS, k=16, count=2000)
    print(f"{reference}: {result.mismatches:,} of {result.dots:,} differ")
