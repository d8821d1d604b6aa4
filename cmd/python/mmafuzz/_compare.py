"""Comparison of functions and units, and smallest inputs."""

import dataclasses
import math
import os

from . import _function, _table
from ._unit import UnitInfo, line_of, operands_of


@dataclasses.dataclass(frozen=True)
class Cause:
    """All cases of one cause."""

    label: str
    cases: int
    max_ulp: float  # the largest distance of two results, in steps from one number of d's format to the next


@dataclasses.dataclass(frozen=True)
class Finding:
    """The smallest input of a kind. Codes are hexadecimal; input is a, b and c as
    mmafuzz eval reads them."""

    label: str
    detail: str
    input: str
    got: str  # the function's result
    want: str  # that of the unit with which it is compared
    bundle: str = ""  # a directory that mmafuzz show reads
    picture: str = dataclasses.field(default="", repr=False)  # how both compute it
    brief: str = dataclasses.field(default="", repr=False)  # the same, shorter
    why: str = ""  # the cause in words
    info: UnitInfo | None = dataclasses.field(default=None, repr=False, compare=False)

    @property
    def operands(self):
        """The input as arrays: a and b of [k], c, and scales, as far as there are any. A unit takes
        them as they are, and a function with [None] behind each."""
        return operands_of(self.info, self.input)

    def __str__(self):
        return f"{self.label}: {self.detail}\n{self.picture}" + (f"{self.bundle}\n" if self.bundle else "")


@dataclasses.dataclass(frozen=True)
class Comparison(_table.Table):
    """What compare has found. It is true if there are mismatches."""

    dots: int
    mismatches: int
    codes: int  # equal results in other codes: NaNs, unless bits were asked for
    causes: list[Cause]
    findings: list[Finding]  # those of the most frequent cause first

    _rows = "causes"

    def __bool__(self):
        return self.mismatches > 0

    def __str__(self):
        if not self.mismatches:
            return f"no mismatch in {self.dots:,} dot products"
        text = f"{self.mismatches:,} mismatches in {self.dots:,} dot products\n"
        text += "".join(f"{c.cases:>12,}  {c.label}\n" for c in self.causes)
        for n, f in enumerate(self.findings):
            text += f"\nfindings[{n}]: {f.why}\n{'' if n else f.brief}"
        return text


def compare(f, g, *, formats=None, k=None, like=None, count=100_000, seed=1, bits=False, bundles="", workers=0):
    """Compares f with g, on inputs that are aimed at the decisions of arithmetics. Each is a unit,
    the name of one, or a function.

    A function f(a, b, c) gets a batch of dot products, arrays a and b of the shape [N, k] and c of
    [N], and returns d of [N]; without c if there is none, and with sa and sb, [N, k / block], if
    there are block scales. It has to give the same results for the same inputs. Types are those of
    the unit on the other side; for two functions, formats=("fp16", "fp16", "fp32", "fp32") are
    those of a, b, c and d, names or types of NumPy, or like names a unit.

    A NaN is equal to any other unless bits is true. bundles is a directory for findings that the
    command mmafuzz reads. The same seed and count give the same findings."""
    with _function.opened(f, g, formats=formats, k=k, like=like) as units:
        found = _function.run("compare", units, count=count, seed=seed, bits=bits, workers=workers, bundles=os.fspath(bundles))
        info = _both(units)
    return Comparison(found["dots"], found["mismatches"], found["codes"], [Cause(**x) for x in found["causes"]],
                      [Finding(**x, info=info) for x in found["findings"]])


def minimize(f, g, case, *, formats=None, k=None, like=None, seed=1, bits=False, workers=0):
    """The smallest input on which f and g differ as they do on one dot product, and why: a Finding,
    or None if they agree on it. The case is a Finding or the operands of a dot product, as in
    compare but without the first dimension."""
    with _function.opened(f, g, formats=formats, k=k, like=like) as units:
        info = _both(units)
        line = case.input if isinstance(case, Finding) else line_of(info, case)
        found = _function.run("minimize", units, input=line, seed=seed, bits=bits, workers=workers)
    return found and Finding(**found, info=info)


def _both(units):
    """What two units compute: dot products of a length that both take."""
    info = units[0].info
    return dataclasses.replace(info, k=math.lcm(info.k, units[1].info.k))
