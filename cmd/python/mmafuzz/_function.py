"""Functions of NumPy arrays as units."""

import contextlib
import ctypes
import inspect
import json
import reprlib
import warnings

import numpy as np

from . import _formats, _library, _progress
from ._dots import Signature
from ._unit import Unit, UnitInfo, unit


class Function:
    """A unit that a function computes; failed has the exceptions that it has raised."""

    def __init__(self, function, description):
        self._function, self.failed = function, []
        self._handle = _library.call("callable", json.dumps(description).encode())
        i = self.info = Unit.describe(self._handle)
        self.signature = Signature(i.k, i.a, i.b, i.c, i.d, i.scale, i.block)
        _check(function, self.signature.names())
        if bare := [str(f) for f in dict.fromkeys((i.a, i.b, i.c, i.d, i.scale)) if f and f.needs_ml_dtypes]:
            warnings.warn(f"{_name(function)} gets arrays of {' and '.join(bare)} as codes, unsigned integers: numbers of "
                          "these formats need the package ml_dtypes, which is not installed", stacklevel=4)

    def compute(self, b):
        """Computes d of a batch of the library's: 0, or 1 if the function has failed."""
        if self.failed:
            return 1
        try:
            d = self.signature.compute(self._function, b.tiles, b.m, b.n, b.k, _buffers(b))
            np.frombuffer((ctypes.c_char * b.bytes_d).from_address(b.d), d.dtype)[:] = d
            return 0
        except BaseException as e:  # it ends the task, and then leaves it
            self.failed.append(e)
            return 1

    def close(self):
        _library.close(self._handle)


def _buffers(b):
    """The operands of a batch, as far as there are any, where the library has them."""
    for name in ("a", "b", "c", "sa", "sb"):
        if size := getattr(b, "bytes_" + name):
            yield (ctypes.c_char * size).from_address(getattr(b, name))


def _check(function, names):
    """Raises an error if a function cannot be called with operands of these names."""
    try:
        inspect.signature(function).bind(*names)
    except TypeError as e:
        hint = "" if "sa" in names or "missing" not in str(e) else (": block scales sa and sb need like=\"TARGET/INSTRUCTION\" of a unit that has them, "
                                         "or formats=dict(a=..., b=..., c=..., d=..., scale=\"ue8m0\", block=32)")
        raise TypeError(f"{_name(function)} cannot be called with {', '.join(names)}, which the formats have: {e}{hint}") from None
    except ValueError:  # it does not say what it takes
        pass


def _name(function):
    name = getattr(function, "__qualname__", "") or type(function).__name__
    module = inspect.getmodule(function)
    return f"{module.__name__}.{name}" if module else name


def _named(formats):
    """Formats by the names of what they are of. A conversion has no b, or the number 1 for it."""
    if not isinstance(formats, dict):
        if isinstance(formats, str) or len(formats) != 4:
            raise TypeError(f"formats is {formats!r}, and not those of a, b, c and d; None for c if there is none, and for b and c of a conversion")
        formats = dict(zip("abcd", formats))
    formats = {x: f if x == "block" or f is None else _formats.name(f) for x, f in formats.items()}
    if formats.get("b") in (None, "none"):
        formats["b"] = _formats.ONE
    return formats


def _description(formats, k, like):
    """What a function computes on, as the library reads it."""
    if like is not None:
        i = like.info
        formats, k = dict(a=i.a, b=i.b, c=i.c, d=i.d, scale=i.scale, block=i.block), k or i.k
    elif formats is not None:
        formats = _named(formats)
        if formats["b"] == _formats.ONE:  # a conversion
            k = k or 1
    if formats is None or k is None:
        raise TypeError("what it computes on is not known: formats=(a, b, c, d) and k, of a conversion formats=(a, None, None, d) alone, "
                        "or like=\"TARGET/INSTRUCTION\", are needed where neither side is a unit or the name of one")
    k = _library.number("k", k)
    return {"name": like.info.name if like else "a function", "k": k, "formats": {"c": "none", **{x: f if x == "block" else _formats.name(f) for x, f in formats.items() if f}}}


@contextlib.contextmanager
def opened(*subjects, formats=None, k=None, like=None):
    """Units of functions, of Units, and of names of units. Functions and references have the
    formats and k that are given, or those of like, or those of the first unit beside them."""
    def open(x):
        return unit(x) if isinstance(x, UnitInfo) or isinstance(x, str) and not x.startswith("ref:") else x

    units = [open(x) for x in subjects]
    like = open(like)
    if like is not None and not isinstance(like, Unit):
        raise TypeError(f"like is {like!r}, and not a unit or the name of one")
    if formats is None and like is None:
        like = next((x for x in units if isinstance(x, Unit)), None)
    with contextlib.ExitStack() as stack:
        for at, x in enumerate(units):
            if isinstance(x, str):
                units[at] = unit(x) if "/" in x else unit(x, like=json.dumps(_description(formats, k, like)))
            elif callable(x):
                if not isinstance(x, Unit):
                    units[at] = stack.enter_context(contextlib.closing(Function(x, {**_description(formats, k, like), "name": _name(x)})))
            else:
                raise TypeError(f"{reprlib.repr(x)} is no function, no unit and no name of one")
        yield units


def run(task, units, progress=None, **options):
    """Does a task with units, and returns its result. An exception of a function ends it."""
    for what, x in options.items():
        if what in ("count", "examine", "seed", "workers", "checks", "effort"):
            options[what] = _library.number(what, x, _library.MOST.get(what, 2**64 - 1))
        elif what == "seconds" and not x >= 0:
            raise ValueError(f"seconds is {x}")
        elif what == "bits":
            options[what] = bool(x)
    handles = [u._handle for u in units] + [0]

    def raised():
        return next((e for u in units if isinstance(u, Function) for e in u.failed), None)

    try:
        with _progress.line(progress) as say:
            result = json.loads(_library.do("task", task.encode(), handles[0], handles[1], json.dumps(options).encode(), uses=units, stop=raised, say=say))
    except _library.Error as e:
        raise raised() or e
    if raised():
        raise raised()
    return result
