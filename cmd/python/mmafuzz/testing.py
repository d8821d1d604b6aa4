"""Assertions for tests of numerical code; with pytest, --mmafuzz-count N compares more."""

import os

from ._compare import compare

COUNT = int(os.environ.get("MMAFUZZ_COUNT", 10_000))  # dot products, unless a test says how many


def assert_same_bits(f, g, *, count=None, **options):
    """Fails unless f and g, each a function, a unit or the name of one, give the same bits for the
    same dot products, which are aimed at the decisions of arithmetics:

        def test_kernel():
            assert_same_bits(my_dots, "sim:hopper/mma.m16n8k16.f32.f16.f16.f32")

    Functions and options are those of mmafuzz.compare: a NaN is equal to any other unless bits=True.
    The AssertionError says in how many dot products they differ and why, and has the smallest input of
    the most frequent cause, both results, and how they come about."""
    __tracebackhide__ = True
    found = compare(f, g, count=count or COUNT, **options)
    if found:
        raise AssertionError(f"{found}\n(seed {options.get('seed', 1)}, count {count or COUNT} give the same again)")
