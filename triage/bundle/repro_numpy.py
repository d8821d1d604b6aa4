#!/usr/bin/env python3
"""Operands on which two units differ, as NumPy arrays. Needs NumPy, and no mmafuzz.

    python3 repro_numpy.py                          OWN
    python3 repro_numpy.py MODULE:FUNCTION          a function of the arrays below, CALL
    python3 repro_numpy.py --child COMMAND WORD...  a child that reads lines (mmafuzz help exec)

    --expect a or --expect b, before these         only that side's result will do: a regression test

Exit status: 0 the result is that of a side, 1 it is another one, 2 nothing was computed.
"""
import importlib
import subprocess
import sys

import numpy as np

DATA


def rounded(x):
    """The nearest number of the result's format, of two the even one."""
    if fraction is None:  # NumPy has a type for it
        return x.astype(result)
    x = np.where(signed | ~(x < 0), x.astype(np.float64), 0)
    last = np.maximum(np.frexp(x)[1] - 1, emin) - fraction  # exponent of the last place
    x = np.copysign(np.ldexp(np.rint(np.ldexp(x, -last)), last), x)
    return np.where(np.abs(x) > largest, np.copysign(overflow, x), x).astype(result)


def numpys(*_):
    with np.errstate(all="ignore"):
        return rounded(own())


def same(code, d, got):
    """Whether a function's result, a number or a code, is that of a side."""
    if got.dtype == codes:
        return int(code, 16) == got[0]
    if nan_bits and got.dtype == d.dtype:
        return got.tobytes() == d.tobytes()
    x, y = np.float64(got[0]), np.float64(d[0])
    return bool(x == y and np.signbit(x) == np.signbit(y) or x != x and y != y)


def child(command):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        header = []
        while not header or header[-1] not in ("ready", ""):  # "": it has ended
            header.append(process.stdout.readline().rstrip("\n"))
        several = sum(words.startswith("instruction ") for words in header) > 1
        prefix = f"{instruction} " if several else ""
        answers = []
        if header[0] == "mmafuzz-exec 1 text" and header[-1] == "ready":
            answers = process.communicate("".join(f"{prefix}{line}\n" for line in lines))[0].splitlines()
        process.kill()
    if len(answers) != len(lines):
        raise OSError(f"{' '.join(command)} has not answered in the mode of lines: {header[:3]}")
    return answers[-1].strip()


def main(words):
    wanted = sides
    if words[:1] == ["--expect"]:
        if words[1:2] not in (["a"], ["b"]):
            raise OSError("--expect needs a or b")
        wanted, words = [sides["ab".index(words[1])]], words[2:]
    if words[:1] == ["--child"] and words[1:]:
        got = child(words[1:])
        gives = [name for name, code, _ in sides if code == got]
    else:
        function = numpys
        if words:
            module, _, name = words[0].partition(":")
            sys.path.insert(0, ".")
            function = getattr(importlib.import_module(module), name)
        got = np.asarray(function(*operands)).reshape(-1)[:1]
        gives = [name for name, code, d in sides if d is not None and same(code, d, got)]
    for name, code, d in sides:
        print(f"{name} gave {code}" + ("" if d is None else f" ({d[0]})"))
    print(f"here: {got if isinstance(got, str) else got[0]}, " + ("the result of " + " and ".join(gives) if gives else "neither of them"))
    return 0 if any(name in gives for name, _, _ in wanted) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Exception as e:  # a function may raise any
        print(e if isinstance(e, OSError) else f"{type(e).__name__}: {e}", file=sys.stderr)
        sys.exit(2)
