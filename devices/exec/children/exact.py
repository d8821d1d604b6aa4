#!/usr/bin/env python3
"""Conversions and sums of integers in exact arithmetic, with nothing but Python's fractions, as a
target of mmafuzz: a second opinion on its models, by another method.

  mmafuzz infer --target "exec:python3 devices/exec/children/exact.py" --inst e4m3.fp16.rne.sat
  mmafuzz run --a "exec:python3 devices/exec/children/exact.py" --inst s32.u8.s8.pairs --b sim:x86/avx2-u8s8

A conversion D.A.ROUNDING.OVERFLOW compares the number with its two neighbours in the format D. The
rounding is rne, rz, rd, ru or rna. With the overflow ieee a number that is too large becomes what
IEEE 754, 7.4, says, a NaN where there is no infinity; with sat it becomes the largest number, as an
infinity does. A NaN becomes the positive quiet one, and zero in a format without NaNs.

A sum of integers D.A.B.WHAT has four products and C: wrap, and sat, which is the nearest number; each,
which is sat after each product; pairs, whose sums of two products are sat in 16 bits before they
are added, and wrap; zero, whose A and B are counted from ZERO[0] and ZERO[1], and wrap.
"""
import struct
from fractions import Fraction

import protocol

# Exponent bits, fraction bits, bias, and what is not a finite number, as the specifications have it:
# ieee; one NaN of each sign, all ones (ones); one NaN in the place of -0 (zero); nothing (none).
FORMATS = {
    "fp64": (11, 52, 1023, "ieee"), "fp32": (8, 23, 127, "ieee"), "bf16": (8, 7, 127, "ieee"), "fp16": (5, 10, 15, "ieee"),
    "e5m2": (5, 2, 15, "ieee"), "e4m3": (4, 3, 7, "ones"), "e5m2fnuz": (5, 2, 16, "zero"), "e4m3fnuz": (4, 3, 8, "zero"),
    "e3m2": (3, 2, 3, "none"), "e2m3": (2, 3, 1, "none"), "e2m1": (2, 1, 1, "none"),
}
NAN, INFINITY = "nan", "infinity"
PAIRS = {
    "fp16": ["bf16", "e5m2", "e4m3", "e5m2fnuz", "e4m3fnuz", "e3m2", "e2m3", "e2m1", "fp32"],
    "bf16": ["fp16", "e5m2", "e4m3", "e2m1", "fp32"],
    "fp32": ["fp16", "bf16", "e5m2", "e4m3", "e4m3fnuz"],
    "fp64": ["fp32", "fp16", "bf16"],
    "e4m3": ["fp16", "bf16"], "e5m2": ["fp16"], "e4m3fnuz": ["fp32"], "e2m1": ["e4m3"],
}
INTEGERS = {"s8": (-128, 127), "u8": (0, 255), "s16": (-2**15, 2**15 - 1), "s32": (-2**31, 2**31 - 1)}
ZERO = 128, -3
LAYOUTS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def magnitude(name, code):
    """What a code without its sign is."""
    exponents, bits, bias, special = FORMATS[name]
    field, fraction = code >> bits, code & (1 << bits) - 1
    if special == "ieee" and field == (1 << exponents) - 1:
        return NAN if fraction else INFINITY
    if special == "ones" and code == (1 << exponents + bits) - 1:
        return NAN
    if field == 0:
        return Fraction(fraction, 1 << bits) * Fraction(2) ** (1 - bias)
    return (1 + Fraction(fraction, 1 << bits)) * Fraction(2) ** (field - bias)


def decode(name, code):
    """The sign of a code, 1 for minus, and its magnitude."""
    exponents, bits, _, special = FORMATS[name]
    sign, rest = code >> exponents + bits & 1, code & (1 << exponents + bits) - 1
    if special == "zero" and sign and not rest:
        return 0, NAN
    return sign, magnitude(name, rest)


def largest(name):
    """The code of the largest number."""
    exponents, bits, _, special = FORMATS[name]
    ones = (1 << exponents + bits) - 1
    return {"ieee": ones - (1 << bits), "ones": ones - 1}.get(special, ones)


class Conversion:
    def __init__(self, a, d, rounding, overflow):
        self.a, self.d, self.rounding, self.overflow = a, d, rounding, overflow
        self.most = largest(d)
        below = magnitude(d, self.most - 1)
        self.beyond = 2 * magnitude(d, self.most) - below  # what the next code would be
        self.known = {}

    def value(self, code):
        """The magnitude of a code of D, also of the one after the largest."""
        if code > self.most:
            return self.beyond
        if code not in self.known:
            self.known[code] = magnitude(self.d, code)
        return self.known[code]

    def below(self, x):
        """The code of the largest number that is at most x."""
        low, high = 0, self.most + 1
        while high - low > 1:
            middle = (low + high) // 2
            if self.value(middle) <= x:
                low = middle
            else:
                high = middle
        return low

    def nearest(self, negative, x):
        """The code of the magnitude to which x is rounded; above that of the largest number: overflow."""
        if x >= self.beyond:
            return self.most + 1
        low = self.below(x)
        down, up = x - self.value(low), self.value(low + 1) - x
        if down == 0 or self.rounding == "rz" or self.rounding == ("ru" if negative else "rd"):
            return low
        if self.rounding in ("rd", "ru") or down > up:
            return low + 1
        if down < up:
            return low
        return low + 1 if self.rounding == "rna" else low + low % 2

    def nan(self):
        exponents, bits, _, special = FORMATS[self.d]
        if special == "ieee":
            return (1 << exponents + 1) - 1 << bits - 1
        return {"ones": (1 << exponents + bits) - 1, "zero": 1 << exponents + bits, "none": 0}[special]

    def infinite(self, sign):
        """The code of an infinity, of what there is in its place."""
        exponents, bits, _, special = FORMATS[self.d]
        if special == "ieee":
            return (sign << exponents | (1 << exponents) - 1) << bits
        return self.nan()

    def of(self, code):
        sign, x = decode(self.a, code)
        exponents, bits, _, special = FORMATS[self.d]
        signed = sign << exponents + bits
        if x == NAN:
            return self.nan()
        if x == INFINITY:
            return signed | self.most if self.overflow == "sat" else self.infinite(sign)
        rounded = self.nearest(sign, x)
        if rounded > self.most:
            toward = self.rounding in ("rz", "ru" if sign else "rd")
            return signed | self.most if self.overflow == "sat" or toward else self.infinite(sign)
        if rounded == 0 and special == "zero":
            return 0
        return signed | rounded


def numbers(buffer, name):
    return [x[0] for x in struct.iter_unpack("<" + LAYOUTS[protocol.width(name)], buffer)]


def codes(values, name):
    size = protocol.width(name)
    return struct.pack("<%d%s" % (len(values), LAYOUTS[size]), *(v & (1 << 8 * size) - 1 for v in values))


def conversion(a, d, rounding, overflow):
    c = Conversion(a, d, rounding, overflow)

    def run(tiles, m, n, buffers):
        return codes([y for x in numbers(buffers[0], a) for y in [c.of(x)] * n], d)

    return protocol.Instruction(".".join([d, a, rounding, overflow]), 1, run, "1..64", "1..64", a, "one", d)


def integer(code, name):
    """The integer of a code in two's complement."""
    low, high = INTEGERS[name]
    return code - (high - low + 1) if code > high else code


def wrapped(x, name):
    low, high = INTEGERS[name]
    return (x - low) % (high - low + 1) + low


def nearest(x, name):
    low, high = INTEGERS[name]
    return min(max(x, low), high)


def total(a, b, c, d, what):
    if what == "zero":
        a, b = [x - ZERO[0] for x in a], [x - ZERO[1] for x in b]
    products = [x * y for x, y in zip(a, b)]
    if what == "each":
        for p in products:
            c = nearest(c + p, d)
        return c
    if what == "pairs":
        products = [nearest(products[i] + products[i + 1], "s16") for i in range(0, len(products), 2)]
    c += sum(products)
    return nearest(c, d) if what == "sat" else wrapped(c, d)


def integers(d, a, b, what, k=4):
    def run(tiles, m, n, buffers):
        x, y, z = ([integer(v, name) for v in numbers(buffer, name)] for buffer, name in zip(buffers, (a, b, d)))
        rows = lambda of, i: of[i * k:(i + 1) * k]
        return codes([total(rows(x, t * m + i), rows(y, t * n + j), z[(t * m + i) * n + j], d, what)
                      for t in range(tiles) for i in range(m) for j in range(n)], d)

    return protocol.Instruction(".".join([d, a, b, what]), k, run, "1..64", "1..64", a, b, d, c=d)


instructions = [conversion(a, d, rounding, overflow) for a, ds in PAIRS.items() for d in ds
                for rounding in ("rne", "rz", "rd", "ru", "rna") for overflow in ("ieee", "sat")
                if overflow == "sat" or FORMATS[d][3] != "none"]
instructions += [integers("s32", a, b, what) for a, b in (("s8", "s8"), ("u8", "s8"), ("u8", "u8"), ("s16", "s16"))
                 for what in ("wrap", "sat", "each", "pairs", "zero") if what not in ("pairs", "zero") or (a, b) == ("u8", "s8")]
protocol.serve(instructions, {})
