"""Units: instructions of targets."""

import ctypes
import dataclasses
import html
import json
import math
import os
import reprlib
import shutil
import weakref

import numpy as np

from . import _formats, _library


@dataclasses.dataclass(frozen=True)
class UnitInfo:
    """What is known about an instruction: k is the number of products of a dot product, a, b, c and d are
    its formats, scale that of both operands' scales of block products each. checked is true if the rule was
    compared with hardware; evidence says how, and source where it comes from."""

    target: str
    name: str
    k: int
    a: _formats.Format
    b: _formats.Format
    c: _formats.Format | None
    d: _formats.Format
    scale: _formats.Format | None
    block: int
    checked: bool
    evidence: str
    source: str


def _info(description):
    return UnitInfo(**{
        key: _formats.of(value) if key in ("a", "b", "c", "d", "scale") else value for key, value in description.items()
    })


def units(target=""):
    """Lists the instructions of a target, of all simulators by default, as UnitInfo:
    pandas.DataFrame(mmafuzz.units()) makes a table of them."""
    return [_info(d) for d in _library.call_json("units", _library.text("target", target))]


def unit(target, instruction="", *, like=""):
    """Opens an instruction of a target: unit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), or in one
    string with a slash; units("sim:hopper") lists them, and an element of this list opens, too. Of a
    target that has one instruction the name may be missing. Targets are those of the command mmafuzz:
    sim:ARCH, model:FILE, ref:exact, ref:fma32, cpu:0, exec:COMMAND, replay:FILE. like is the
    instruction whose formats and k a reference takes: its name, or a unit."""
    if isinstance(target, UnitInfo):
        target, instruction = target.target, instruction or target.name
    if isinstance(like, (Unit, UnitInfo)):
        i = like.info if isinstance(like, Unit) else like
        like = f"{i.target}/{i.name}"
    return Unit(target, instruction, like)


_MOST_TILES = 256  # shapes of small products that a unit keeps


class Unit:
    """An instruction of a target. Calling it computes dot products. It may be used by several
    threads at once. A copy of it, and so one that pickle brings to another process, is opened anew."""

    def __init__(self, target, instruction, like=""):
        names = (("target", target), ("instruction", instruction), ("like", like))
        self._handle = _library.call("open", *(_library.text(*x) for x in names))
        self._finalizer = weakref.finalize(self, _library.close, self._handle)
        self._names = target, instruction, like
        i = self.info = self.describe(self._handle)
        types = [f and f.values for f in (i.a, i.b, i.c, i.d)]
        self._types = None if i.scale or None in types else types
        self._tiles = {}  # by the shape of a product: what computes it, of a few

    @staticmethod
    def describe(handle):
        return _info(_library.call_json("info", handle))

    def __reduce__(self):  # the handle is of this process, and ends with this unit
        return Unit, self._names

    def __repr__(self):
        return f"<mmafuzz.Unit {self.info.target}/{self.info.name}>"

    def close(self):
        self._finalizer()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __call__(self, a, b, c=None, *, sa=None, sb=None, codes=False, workers=0, out=None):
        """Computes dot products: a and b have the shape [..., K], c has [...] (0 by default); the
        leading shapes are broadcast. K is a multiple of the instruction's k: a longer dot product
        executes it repeatedly with c = the result before. sa and sb are block scales,
        [..., K / block]. The result has the shape [...]; with codes it is raw bits. It is written to
        out if that is given, an array of this shape and of d's type or codes, which is returned: for
        large batches one that is used again saves a tenth or more of the time."""
        i = self.info
        if sa is None and sb is None and out is None and not codes and not workers and (d := self._at_once(a, b, c, 1)) is not None:
            return d[()]
        a, b = i.a.array("a", a), i.b.array("b", b)
        k = self._length(a, b)
        sa, sb = self._scales(sa, sb, k)
        c = self._accumulator(c)
        lead = _lead((("a", a, 1), ("b", b, 1), ("c", c, 0), ("sa", sa, 1), ("sb", sb, 1)))
        d = _result(out, lead, i.d, (a, b, c, sa, sb))
        a, b, sa, sb = (x if x is None else _full(x, lead + x.shape[-1:]) for x in (a, b, sa, sb))
        self._run((1, 1, k, d.size), a, b, _full(c, lead), sa, sb, d, workers)
        if out is not None:
            return out
        return d if codes else i.d.result(d)[()]

    def matmul(self, a, b, c=None, *, sa=None, sb=None, schedule=None, codes=False, workers=0, out=None):
        """Computes C + A @ B of matrices, A [..., M, K] and B [..., K, N], C [..., M, N]: each
        element is one dot product, the instruction being executed for k after k products. Block
        scales are sa [..., M, K / block] and sb [..., K / block, N]. out is as for dot products.

        A schedule computes them as a library's kernel does: in parts of K, lanes, other formats of
        partial sums. It is a name ("split-k": mmafuzz gemm --list has all), a file ("mine.json"), or
        a dict of what is in one (go doc ./sim/schedule). K is then any, there are no block scales,
        and there is a C only if the schedule adds one."""
        i = self.info
        if sa is None and sb is None and schedule is None and out is None and not codes and not workers and (d := self._at_once(a, b, c, 2)) is not None:
            return d
        if i.scale and schedule is not None:
            raise TypeError(f"{i.name} has block scales, and schedules are for instructions without")
        a, b = i.a.array("a", a), i.b.array("b", b)
        if a.ndim < 2 or b.ndim < 2:
            raise ValueError("matmul takes matrices: A [..., M, K] and B [..., K, N]")
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(f"the rows of a have {a.shape[-1]} elements, and the columns of b {b.shape[-2]}")
        b = np.swapaxes(b, -1, -2)
        k = self._length(a, b, i.k if schedule is None else 1)
        if sb is not None and i.scale:
            sb = np.swapaxes(i.scale.array("sb", sb), -1, -2)
        sa, sb = self._scales(sa, sb, k)
        c = None if schedule is not None and c is None else self._accumulator(c)
        m, n = a.shape[-2], b.shape[-2]
        lead = _lead((("a", a, 2), ("b", b, 2), ("c", c, 2)))
        f, text = i.d, None
        if schedule is not None:
            text = (json.dumps({"v": 1, **schedule}) if isinstance(schedule, dict) else os.fspath(schedule)).encode()
            f = _formats.of(_library.call_json("schedule", self._handle, text, max(m, 1), max(n, 1), k, c is not None))
        d = _result(out, (*lead, m, n), f, (a, b, c, sa, sb))
        if c is not None and (c.ndim > d.ndim or any(x not in (1, y) for x, y in zip(c.shape[::-1], d.shape[::-1]))):
            raise ValueError(f"c has the shape {c.shape}, and the product {d.shape}")
        a, sa = _full(a, (*lead, m, k)), _full(sa, (*lead, m, self._blocks(k)))
        b, sb = _full(b, (*lead, n, k)), _full(sb, (*lead, n, self._blocks(k)))
        self._run((m, n, k, math.prod(lead)), a, b, _full(c, d.shape), sa, sb, d, workers, text)
        if out is not None:
            return out
        return d if codes else f.result(d)

    def _at_once(self, a, b, c, dimensions):
        """One small product, of vectors or matrices by their number of dimensions, if its operands can be taken as
        they are; else None. Most of the time that it takes is that of looking at them."""
        if not self._types or type(a) is not np.ndarray or type(b) is not np.ndarray or not a.ndim == b.ndim == dimensions:
            return None
        of_a, of_b, of_c, of_d = self._types
        shape, k = a.shape[:-1] + b.shape[1:], b.shape[0]
        if c is None:
            c = np.zeros(shape, of_c)
        elif type(c) is of_c.type:
            c = np.asarray(c)
        if not (type(c) is np.ndarray and a.dtype is of_a and b.dtype is of_b and c.dtype is of_c and a.shape[-1] == k and c.shape == shape
                and a.flags.c_contiguous and c.flags.c_contiguous):
            return None
        by_rows = not b.flags.f_contiguous
        if by_rows and not b.flags.c_contiguous:
            return None
        m, n = shape or (1, 1)
        tile = self._tiles.get((m, n, k))
        if tile is None:
            if not k or k % self.info.k or len(self._tiles) == _MOST_TILES:
                return None
            tile = self._tiles[m, n, k] = _library.tiles(self._handle, m, n, k)
        d = np.empty(shape, of_d)
        return d if tile(by_rows, _address(a), _address(b), _address(c), 0, 0, _address(d)) else None

    def _blocks(self, k):
        return -(-k // self.info.block) if self.info.scale else 0

    def explain(self, a, b, c=None, *, sa=None, sb=None):
        """Draws how the unit computes one dot product, as text."""
        i = self.info
        a, b = i.a.array("a", a), i.b.array("b", b)
        sa, sb = self._scales(sa, sb, self._length(a, b))
        c = self._accumulator(c)
        if a.ndim != 1 or b.ndim != 1 or c is not None and c.ndim:
            raise ValueError("explain takes one dot product: a and b of one dimension, c a number")
        line = line_of(i, [x for x in (a, b, c, sa, sb) if x is not None])
        return Text(_library.call_text("explain", self._handle, line.encode(), shutil.get_terminal_size((100, 24)).columns))

    def _length(self, a, b, multiple=None):
        """The common length of dot products, a multiple of the instruction's k or another number."""
        i = self.info
        multiple = multiple or i.k
        for what, x in (("a", a), ("b", b)):
            if not x.ndim:
                raise ValueError(f"{what} is a number; a dot product needs {i.k} elements")
        k = a.shape[-1]
        if k != b.shape[-1]:
            raise ValueError(f"dot products of {k} elements of a and {b.shape[-1]} of b")
        if k == 0 or k % multiple:
            raise ValueError(f"dot products of {k} elements; {i.name} takes {i.k}, or a multiple of it")
        return k

    def _accumulator(self, c):
        """c as codes; None without one."""
        i = self.info
        if i.c is None:
            if c is not None:
                raise TypeError(f"{i.name} has no c")
            return None
        return np.zeros((), i.c.codes) if c is None else i.c.array("c", c)

    def _scales(self, sa, sb, k):
        i = self.info
        if not i.scale:
            if sa is not None or sb is not None:
                raise TypeError(f"{i.name} has no block scales")
            return None, None
        if sa is None or sb is None:
            raise TypeError(f"{i.name} needs block scales sa and sb, {self._blocks(k)} of each")
        both = i.scale.array("sa", sa), i.scale.array("sb", sb)
        for what, s in zip(("sa", "sb"), both):
            if not s.ndim or s.shape[-1] != self._blocks(k):
                raise ValueError(f"{what} has the shape {s.shape}; {k} products have {self._blocks(k)} scales")
        return both

    def inputs(self, count, *, seed=1, skip=0):
        """Inputs that are aimed at the decisions of arithmetics, those of this unit where they are
        known: the operands of count dot products, as the unit takes them, after skip others of this
        seed."""
        i, count = self.info, _library.number("count", count)
        seed, skip = _library.number("seed", seed), _library.number("skip", skip)
        blocks = self._blocks(i.k)
        formats = [(i.a, (count, i.k)), (i.b, (count, i.k)), (i.c, (count,)), *[(i.scale, (count, blocks))] * 2, (i.d, (count,))]
        arrays = [None if f is None else np.zeros(shape, f.codes) for f, shape in formats]
        if count:
            _library.call("inputs", self._handle, seed, skip, ctypes.byref(_batch((1, 1, i.k, count), *arrays)))
        return tuple(f.result(x) for (f, _), x in zip(formats[:-1], arrays) if f)

    def _run(self, shape, a, b, c, sa, sb, d, workers, schedule=None):
        if not d.size:
            return
        workers = _library.number("workers", workers, _library.MOST["workers"])
        batch = _batch(shape, a, b, c, sa, sb, d)
        uses = self, batch, a, b, c, sa, sb, d
        if schedule is None:
            _library.do("run", self._handle, ctypes.byref(batch), workers, uses=uses)
        else:
            _library.do("gemm", self._handle, schedule, ctypes.byref(batch), workers, uses=uses)


def _result(out, shape, f, operands):
    """The codes of a result of a format: those of out if that is given, else of a new array."""
    if out is None:
        return np.empty(shape, f.codes)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out is {reprlib.repr(out)}, and not an array of NumPy")
    d = f.array("out", out)
    if d.shape != shape or not np.may_share_memory(d, out) and d.size:
        raise ValueError(f"out is an array of {out.dtype} of the shape {out.shape}; the result has the shape {shape}, in this machine's order of bytes")
    if not d.flags.c_contiguous or not d.flags.writeable:
        raise ValueError("out has to be contiguous (order=\"C\") and writable")
    if any(x is not None and np.may_share_memory(x, d) for x in operands):
        raise ValueError("out shares memory with an operand")
    return d


def _lead(operands):
    """The leading shape that operands, those that there are, have together: each with its name and the
    number of its own dimensions."""
    operands = [(name, x.shape[:x.ndim - own]) for name, x, own in operands if x is not None and x.ndim >= own]
    try:
        return np.broadcast_shapes(*[shape for _, shape in operands])
    except ValueError:
        raise ValueError("the leading shapes of " + ", ".join(f"{name} {shape}" for name, shape in operands) + " do not go together") from None


def _full(x, shape):
    """x, if there is one, as an array of a shape without gaps."""
    if x is None or x.shape == shape and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(np.broadcast_to(x, shape))


def _batch(shape, *arrays):
    """The batch of arrays a, b, c, sa, sb, d, of which some may be None."""
    batch = _library.Batch(*shape)
    for name, x in zip(("a", "b", "c", "sa", "sb", "d"), arrays):
        if x is not None:
            setattr(batch, name, _address(x))
            setattr(batch, "bytes_" + name, x.nbytes)
    return batch


def _address(x):
    """The address of an array of codes without gaps: by way of its buffer, which is five times as
    fast as NumPy's answer, but cannot be had of arrays that are empty or not to be written."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(x))
    except (TypeError, ValueError, BufferError):
        return x.__array_interface__["data"][0]


class Text(str):
    """A text that a notebook shows as it is."""

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return f"<pre>{html.escape(self)}</pre>"


def line_of(info, operands):
    """A dot product as mmafuzz eval reads it: of a and b, c and the scales, those that there are."""
    formats = {name: f for name, f in (("a", info.a), ("b", info.b), ("c", info.c), ("sa", info.scale), ("sb", info.scale)) if f}
    if len(operands) != len(formats):
        raise TypeError(f"a dot product of {info.name} has the operands {', '.join(formats)}: {len(formats)}, not {len(operands)}")
    words = {"c": "-"}
    for (name, f), x in zip(formats.items(), operands):
        x = f.array(name, x)
        if x.ndim != (name != "c"):
            raise ValueError(f"{name} has the shape {x.shape}, and should be {'of one dimension' if name != 'c' else 'a number'}: one dot product")
        words[name] = ",".join(f"{int(code):0{2 * f.codes.itemsize}x}" for code in np.atleast_1d(x))
    scales = f" sa={words['sa']} sb={words['sb']}" if info.scale else ""
    return f"{words['a']} {words['b']} {words['c']}{scales}"


def operands_of(info, line):
    """The inverse of line_of: arrays of the operands' types. A line may leave out zeros at the end."""
    words = [w.split("=")[-1] for w in line.split()]
    formats = [info.a, info.b, info.c, info.scale, info.scale]
    arrays = [f.result(np.array([int(x, 16) for x in w.split(",")], f.codes)) for f, w in zip(formats, words) if f and w != "-"]
    for n in (0, 1):
        arrays[n] = np.pad(arrays[n].view(formats[n].codes), (0, info.k - arrays[n].size)).view(arrays[n].dtype)
    if info.c:
        arrays[2] = arrays[2].reshape(())
    return tuple(arrays)
