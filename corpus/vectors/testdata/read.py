"""Runs the tests of a set on a function of yours: python3 read.py SET.json

The function here is exact arithmetic rounded once, which most units are not."""
import json, math, struct, sys
from fractions import Fraction

vectors = json.load(open(sys.argv[1]))
assert vectors["formats"] == {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"}

def unit(a, b, c):
    terms = [(struct.unpack(">e", bytes.fromhex(x))[0], struct.unpack(">e", bytes.fromhex(y))[0]) for x, y in zip(a, b)]
    terms.append((struct.unpack(">f", bytes.fromhex(c))[0], 1.0))
    if all(math.isfinite(x) and math.isfinite(y) for x, y in terms):
        exact = sum(Fraction(x) * Fraction(y) for x, y in terms)
        negative = all(math.copysign(1, x) * math.copysign(1, y) < 0 for x, y in terms)
        return struct.pack(">f", float(exact) if exact else -0.0 if negative else 0.0).hex()
    total = sum(x * y for x, y in terms)
    return "7fc00000" if math.isnan(total) else struct.pack(">f", total).hex()

for group in vectors["groups"]:
    for test in group["tests"]:
        d = unit(test["a"], test["b"], test["c"])
        if test["compare"] == "bits" and d != test["d"]:
            print(f'{test["id"]}: {d}, not {test["d"]} ({test["comment"]})')
