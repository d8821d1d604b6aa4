"""Computes an element of the matrix product of this directory again, operation by operation.

Every operation is done exactly, in fractions, and rounded to nearest even. Exit status: 0 each
schedule that is known gives the recorded result, 1 one does not.
"""
import json
import math
import os
import sys
from fractions import Fraction

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "case.json")) as f:
    case = json.load(f)
a = [float.fromhex(x) for x in case["a"]]
b = [float.fromhex(x) for x in case["b"]]


def rounded(x, bits, least, most):
    """Rounds a Fraction to so many significant bits, with exponents from least to most."""
    if x == 0:
        return 0.0
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    if abs(x) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, least) - bits + 1)
    result = round(x / unit) * unit
    sign = -1.0 if x < 0 else 1.0
    if abs(result) >= Fraction(2) ** (most + 1):
        return sign * math.inf
    return math.copysign(float(result), sign)


def fma(x, y, z, to):
    """x*y + z, rounded once."""
    if math.isfinite(x) and math.isfinite(y):
        if not math.isfinite(z):
            return z
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        # The sign of a zero is that of IEEE 754: x*y is not rounded to zero where x or y is one.
        return rounded(exact, *to) if exact != 0 else x * y + z if x == 0 or y == 0 else 0.0
    return x * y + z


def relu(x, zeroes):
    """What becomes +0 of a result: negative numbers, -0, NaN."""
    kind = "nan" if x != x else "+" if math.copysign(1, x) > 0 else "negative" if x else "-0"
    return 0.0 if kind in zeroes.split() else x


def element(plan):
    values = []

    def number(text):
        return values[int(text[1:])] if text[0] == "#" else float.fromhex(text)

    for op in plan:
        z = number(op["z"])
        pairs = [(a[k], b[k]) for k in op["k"]] if "k" in op else [(number(op["x"]), number(op["y"]))]
        for x, y in pairs:
            if "product" in op:
                x, y = fma(x, y, -0.0, op["product"]), 1.0
            z = fma(x, y, z, op["to"])
        values.append(relu(z, op.get("relu", "")))
    return values[-1]


def same(x, y):
    return x != x and y != y or x == y and math.copysign(1, x) == math.copysign(1, y)


wrong = False
print("element (%d,%d) of %d x %d, K = %d" % (case["row"], case["column"], case["m"], case["n"], case["k"]))
if all(map(math.isfinite, a + b)):
    print("exact sum%s: %r" % (" without scales" if "scales" in case else "", float(sum((Fraction(x) * Fraction(y) for x, y in zip(a, b)), Fraction(0)))))
for side in case["sides"]:
    want = float.fromhex(side["result"])
    what = "recorded"
    if "plan" in side:
        got = element(side["plan"])
        what = "computed again" if same(got, want) else "WRONG: its schedule gives %r" % got
        wrong = wrong or not same(got, want)
    print("%s: %r, %s code %s, %s" % (side["name"], want, side["format"], side["code"], what))
sys.exit(wrong)
