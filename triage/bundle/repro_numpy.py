#!/usr/bin/env python3
"""A dot product on which two units differ, as NumPy arrays. Needs NumPy, and no mmafuzz.

    python3 repro_numpy.py                          NumPy's own product, in the type of the result
    python3 repro_numpy.py MODULE:FUNCTION          a function of the arrays below, a 1 x K, b K x 1
    python3 repro_numpy.py --child COMMAND WORD...  a child that reads lines (mmafuzz help exec)

    --expect a or --expect b, before these         only that side's result will do: a regression test

Exit status: 0 the result is that of a side, 1 it is another one, 2 nothing was computed.
"""
import importlib
import subprocess
import sys

import numpy as np

DATA

def product(a, b, c=0, sa=1, sb=1):
    wide = sides[0][2].dtype if sides[0][2] is not None else np.float32
    if np.size(sa) > 1:
        sa, sb = (np.repeat(s, a.size // s.size, axis) for s, axis in ((sa, 1), (sb, 0)))
    return (a.astype(wide) * sa) @ (b.astype(wide) * sb) + c


def child(command):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        header = []
        while not header or header[-1] not in ("ready", ""):  # "": it has ended
            header.append(process.stdout.readline().rstrip("\n"))
        several = sum(words.startswith("instruction ") for words in header) > 1
        question = f"{instruction} {line}" if several else line
        answer = ""
        if header[0] == "mmafuzz-exec 1 text" and header[-1] == "ready":
            answer = process.communicate(question + "\n")[0].strip()
        process.kill()
    if not answer:
        raise OSError(f"{' '.join(command)} has not answered in the mode of lines: {header[:3]}")
    return answer


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
        function = product
        if words:
            module, _, name = words[0].partition(":")
            sys.path.insert(0, ".")
            function = getattr(importlib.import_module(module), name)
        got = np.asarray(function(*operands)).reshape(-1)[:1]
        gives = [name for name, _, d in sides if d is not None and d.astype(got.dtype).tobytes() == got.tobytes()]
    for name, code, d in sides:
        print(f"{name} gave {code}" + ("" if d is None else f" ({d[0]})"))
    print(f"here: {got if isinstance(got, str) else got[0]}, " + ("the result of " + " and ".join(gives) if gives else "neither of them"))
    return 0 if any(name in gives for name, _, _ in wanted) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ImportError, AttributeError, OSError) as e:
        print(e, file=sys.stderr)
        sys.exit(2)
