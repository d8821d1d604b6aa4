"""Strategies of Hypothesis: inputs that are aimed at the decisions of arithmetics."""

import numpy as np
from hypothesis import strategies as st

from . import _unit


@st.composite
def dots(draw, unit, *, seed=1):
    """The operands of a dot product of a unit: a and b of [k], c, and scales, as far as there are any.
    They come from the generators of mmafuzz. Hypothesis shrinks them to few terms, and
    mmafuzz.minimize to the smallest input:

        @given(dots("sim:hopper/mma.m16n8k16.f32.f16.f16.f32"))
        def test_kernel(dot):
            a, b, c = dot
    """
    u = _open(unit)
    k = u.info.k
    operands = [x[0] for x in u.inputs(1, seed=seed, skip=draw(st.integers(0, 2**40)))]
    # Most inputs are whole; the smaller these numbers, the fewer terms are left.
    end, begin = draw(st.integers(0, 4 * k)), k - draw(st.integers(0, 4 * k))
    for n in (0, 1):
        operands[n] = operands[n].copy()
        operands[n][end:] = 0
        operands[n][:max(begin, 0)] = 0
    if u.info.c and not draw(st.integers(0, 3)):
        operands[2] = np.zeros_like(operands[2])
    return tuple(operands)


_opened = {}


def _open(unit):
    """A unit, which stays open if it was named."""
    if isinstance(unit, _unit.Unit):
        return unit
    if unit not in _opened:
        _opened[unit] = _unit.unit(unit)
    return _opened[unit]
