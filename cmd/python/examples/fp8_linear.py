"""An FP8 linear layer as three GPUs compute it: the same operands, three results.

The weights have the spread of a trained layer, a few large ones among many small ones; activations
are half zeros, as after a ReLU. Both are scaled to E4M3 by one factor for the whole tensor, the common
recipe. Each GPU gets the same codes (CDNA3's format is FNUZ: the same values have other codes).
"""

import ml_dtypes
import numpy as np

import mmafuzz

rng = np.random.default_rng(1)
TOKENS, OUT = 16, 64


def layer(width):
    """Activations [TOKENS, width] and weights [width, OUT]."""
    weights = rng.standard_normal((width, OUT)) * rng.lognormal(0, 0.6, (width, OUT)) / np.sqrt(width)
    return np.maximum(rng.standard_normal((TOKENS, width)), 0), weights


def quantized(x):
    """E4M3 codes of x by one scale, and the scale. 240 is the largest number that both E4M3s have."""
    scale = np.abs(x).max() / 240
    return (x / scale).astype(np.float32).astype(ml_dtypes.float8_e4m3fn), scale


UNITS = {
    "H100": ("sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3", ml_dtypes.float8_e4m3fn),
    "MI300": ("sim:cdna3/v_mfma_f32_16x16x32_fp8_fp8", ml_dtypes.float8_e4m3fnuz),
    "B200": ("sim:blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3", ml_dtypes.float8_e4m3fn),
}

# The error of the accumulation alone, against the exact product of the same codes, relative to the
# largest output.
print(f"{'width':>6}  " + "  ".join(f"{gpu:>8}" for gpu in UNITS))
for width in (512, 2048, 8192):
    x, w = layer(width)
    (a, _), (b, _) = quantized(x), quantized(w)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    errors = []
    for name, dtype in UNITS.values():
        d = mmafuzz.unit(name).matmul(a.astype(np.float32).astype(dtype), b.astype(np.float32).astype(dtype))
        errors.append(np.abs(d - exact).max() / np.abs(exact).max())
    print(f"{width:6}  " + "  ".join(f"{e:8.1e}" for e in errors))
    assert errors[0] > 20 * errors[1] > 0 and errors[0] > 20 * errors[2] > 0  # Hopper keeps 13 bits of a sum

# What DeepSeek-V3 does about it: every 128 products go to an FP32 accumulator (schedule "deepgemm" has
# scales, too). On one GPU, in any tool that reads a schedule:
schedule = {"schedules": [{"levels": [{"cut": {"by": "size", "n": 128}, "merge": {"order": "forward"}}]}]}
d = mmafuzz.unit(UNITS["H100"][0]).matmul(a, b, schedule=schedule)
promoted = np.abs(d - exact).max() / np.abs(exact).max()
print(f"H100 with FP32 sums of every 128 products, width {width}: {promoted:.1e}")
assert promoted < errors[0] / 2
