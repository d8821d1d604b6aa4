"""Comparison of a unit with a function."""

import ctypes
import dataclasses
import inspect
import json
import os

import numpy as np

from . import _library
from ._unit import Unit, unit


@dataclasses.dataclass(frozen=True)
class Cause:
    """All cases of one cause."""

    label: str
    cases: int
    max_ulp: float


@dataclasses.dataclass(frozen=True)
class Finding:
    """The smallest input of a kind. Codes are hexadecimal; input is a, b and c as
    mmafuzz eval reads them."""

    label: str
    detail: str
    input: str
    unit: str
    function: str
    bundle: str = ""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What compare has found. It is true if there are mismatches."""

    dots: int
    mismatches: int
    codes: int  # equal results in other codes: NaNs, unless bits were asked for
    causes: list
    findings: list

    def __bool__(self):
        return self.mismatches > 0

    def __str__(self):
        if not self.mismatches:
            return f"no mismatch in {self.dots:,} dot products"
        text = f"{self.mismatches:,} mismatches in {self.dots:,} dot products\n"
        text += "".join(f"{c.cases:>12,}  {c.label}\n" for c in self.causes)
        for f in self.findings:
            text += f"\n{f.label}: {f.detail}\n  {f.input}\n  unit {f.unit}, function {f.function}\n"
            text += f"  {f.bundle}\n" if f.bundle else ""
        return text


def compare(function, with_unit, *, count=100_000, seed=1, bits=False, bundles=""):
    """Compares a function with a unit, on inputs that are aimed at the decisions of arithmetics.

    function(a, b, c) gets a batch of dot products, arrays a and b of the shape [N, k] and c of
    [N], and returns d of [N]; without c if the instruction has none, and with sa and sb, [N, k /
    block], if it has block scales. It has to give the same results for the same inputs. Types
    are those of the unit's operands. A NaN is equal to any other unless bits is true. bundles is a
    directory for findings that the command mmafuzz reads. The same seed and count give the same
    findings."""
    u = with_unit if isinstance(with_unit, Unit) else unit(with_unit)
    i = u.info
    failed = []

    def array(pointer, size, f, *shape):
        codes = np.frombuffer((ctypes.c_char * size).from_address(pointer), f.codes).reshape(shape)
        codes.flags.writeable = False
        return f.result(codes)

    def computed(batch):
        b = batch.contents
        tiles, m, n, k = b.tiles, b.m, b.n, b.k
        rows, columns = array(b.a, b.bytes_a, i.a, tiles, m, k), array(b.b, b.bytes_b, i.b, tiles, n, k)
        whole = (tiles, m, n)
        arguments = [np.broadcast_to(rows[:, :, None], (*whole, k)).reshape(-1, k),
                     np.broadcast_to(columns[:, None], (*whole, k)).reshape(-1, k)]
        c = array(b.c, b.bytes_c, i.c, -1) if i.c else None
        scales = []
        if i.scale:
            s = -(-k // i.block)
            sa, sb = array(b.sa, b.bytes_sa, i.scale, tiles, m, s), array(b.sb, b.bytes_sb, i.scale, tiles, n, s)
            scales = [np.broadcast_to(sa[:, :, None], (*whole, s)).reshape(-1, s),
                      np.broadcast_to(sb[:, None], (*whole, s)).reshape(-1, s)]
        for at in range(0, k, i.k):  # a longer dot product: c is the result before
            part = [x[:, at:at + i.k] for x in arguments]
            blocks = [x[:, at // i.block:(at + i.k) // i.block] for x in scales]
            d = function(*part, *([c] if c is not None else []), *blocks)
            d = i.d.array("the function's result", d)
            if d.shape != (tiles * m * n,):
                raise ValueError(f"the function's result has the shape {d.shape}, not ({tiles * m * n},)")
            c = i.d.result(np.ascontiguousarray(d))
        out = np.frombuffer((ctypes.c_char * b.bytes_d).from_address(b.d), i.d.codes)
        out[:] = d

    @_library.Function
    def callback(batch):
        try:
            computed(batch)
            return 0
        except BaseException as e:  # it must not pass through Go
            failed.append(e)
            return 1

    options = {"name": _name(function), "count": count, "seed": seed, "bits": bits, "bundles": os.fspath(bundles)}
    try:
        found = json.loads(_library.wait(_library.call("compare", u._handle, json.dumps(options).encode(), callback)))
    except _library.Error:
        if failed:
            raise failed[0]
        raise
    return Comparison(found["dots"], found["mismatches"], found["codes"], [Cause(**x) for x in found["causes"]], [Finding(**x) for x in found["findings"]])


def _name(function):
    name = getattr(function, "__qualname__", "") or type(function).__name__
    module = inspect.getmodule(function)
    return f"{module.__name__}.{name}" if module else name
