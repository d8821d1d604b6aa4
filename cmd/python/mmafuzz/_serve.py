"""Functions as targets of the command mmafuzz: the protocol of exec: (go doc ./devices/exec)."""

import os
import struct
import sys
import zlib

import numpy as np

from . import _formats, _library
from ._dots import Signature

_waiting = []  # instructions that are served with the next one


def serve(name=None, *, k=None, a, b=None, c=None, d, scale=None, block=0, about=None, batch=4096, deadline="60s", more=False):
    """Makes the script it stands in a target, exec:COMMAND, which computes by the function below:

        @mmafuzz.serve(k=4, a="fp16", b="fp16", c="fp32", d="fp32")
        def dot4(a, b, c):
            return (a.astype(np.float64) * b).sum(axis=1).astype(np.float32) + c

        $ mmafuzz infer --target "exec:python3 dot4.py"

    The function is as in compare: a and b are arrays of [N, k], c of [N], and it returns [N]. Formats
    are names or types of NumPy; without b it is a conversion, of k=1, which gets a alone. The name of the
    instruction is the function's by default. about is a dict of what results depend on, such as versions; batch is the most dot products in a
    request and deadline the time for its answer. An exception is a fault of the request. What the
    function prints goes to the standard error; nothing may be printed before it is served.

    The script answers until its input ends, and then ends: what is below the function does not run.
    With more the next function that is served is another instruction of the same target. In a
    module that is imported the function stays as it is, and nothing is served."""
    if _formats.name(b) == "none":
        b = _formats.ONE
    if b == _formats.ONE and k is None:
        k = 1
    k, block = _library.number("k", k), _library.number("block", block)
    formats = [None if _formats.name(f) == "none" else _formats.Format(_formats.name(f)) for f in (a, b, c, d, scale)]

    def decorate(function):
        if function.__module__ != "__main__":
            return function
        *operands, scales = formats
        _waiting.append((name or function.__name__, Signature(k, *operands, scales, block), function, about or {}))
        if not more:
            _answer(_waiting, batch, deadline)
            sys.exit()
        return function

    return decorate


def _header(instructions, batch, deadline):
    yield "mmafuzz-exec 1 binary"
    for name, s, _, _ in instructions:
        scales = f" scale={s.scale} block={s.block}" if s.scale else ""
        yield f"instruction {name} k={s.k} a={s.a} b={s.b} c={s.c or 'none'} d={s.d}{scales}"
    for word, text in {w: t for *_, about in instructions for w, t in about.items()}.items():
        yield f"about {word} {' '.join(str(text).split())}"
    yield from (f"batch {batch}", f"deadline {deadline}", "ready", "")


def _answer(instructions, batch, deadline):
    """Writes the header and answers requests until there are no more. Only answers go to the
    standard output: what anybody prints goes to the standard error."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    out.write("\n".join(_header(instructions, batch, deadline)).encode("ascii", "replace"))
    out.flush()
    source = sys.stdin.buffer
    while len(head := source.read(36)) == 36:
        magic, ident, number, m, n, k, tiles, length, crc = struct.unpack("<4s8I", head)
        payload = source.read(length)
        if len(payload) < length:
            return
        if magic != b"mmaQ" or zlib.crc32(payload) != crc or number >= len(instructions) or k != instructions[number][1].k:
            sys.exit(f"this is no request of protocol 1: {head!r}")
        _, s, function, _ = instructions[number]
        status = 0
        try:
            d = np.ascontiguousarray(s.compute(function, tiles, m, n, k, _cut(s, payload, tiles, m, n))).tobytes()
        except MemoryError as e:
            status, d = 3, f"out of memory: {e}".encode()[:4096]
        except Exception as e:
            status, d = 1, f"{type(e).__name__}: {e}".encode()[:4096]
        out.write(struct.pack("<4s4I", b"mmaD", ident, status, len(d), zlib.crc32(d)) + d)
        out.flush()


def _cut(s, payload, tiles, m, n):
    """Cuts a payload into A, B, C, SA, SB, as far as there are any."""
    blocks, at = s.blocks(s.k), 0
    for f, elements in ((s.a, m * s.k), (s.b, n * s.k), (s.c, m * n), (s.scale, m * blocks), (s.scale, n * blocks)):
        if f:
            size = tiles * elements * f.codes.itemsize
            yield payload[at:at + size]
            at += size
