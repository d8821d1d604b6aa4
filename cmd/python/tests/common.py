"""What the tests share."""

import numpy as np

HOPPER = "sim:hopper/mma.m16n8k16.f32.f16.f16.f32"
rng = np.random.default_rng(1)


def dots(n, k=16):
    return (rng.standard_normal((n, k)).astype(np.float16), rng.standard_normal((n, k)).astype(np.float16),
            rng.standard_normal(n).astype(np.float32))


def chain(a, b, c):
    """FP32 additions of exact products, one after the other."""
    with np.errstate(all="ignore"):
        for k in range(a.shape[1]):
            c = c + a[:, k].astype(np.float32) * b[:, k].astype(np.float32)
    return c
