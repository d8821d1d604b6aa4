"""Runs MMA-Sim for peerbench: a JSON object a line in, one out.

A request names an instruction and files of operands, laid out as mmafuzz has them:
A [tile][m][k], B [tile][n][k], C [tile][m][n], SA [tile][m][block], SB [tile][n][block].
The answer has the seconds of processor time of some runs; D stands in a file. All is
done by one thread.
"""

import ctypes
import importlib
import json
import sys
import time

import torch

torch.set_num_threads(1)


def load(path, dtype, *shape):
    with open(path, "rb") as f:
        return torch.frombuffer(bytearray(f.read()), dtype=torch.uint8).view(dtype).view(shape)


def operand(op, side, path, *shape):
    """A or B, whose 4-bit codes MMA-Sim wants shifted or two in a byte."""
    x = load(path, getattr(op, side + "_type"), *shape)
    if x.dtype != torch.uint8:
        return x
    if getattr(op, "packing", 1) == 2:
        return x[..., ::2] << 4 | x[..., 1::2]
    return x << 2 if getattr(op, side + "_type_ptx") == "e2m1" else x


def over(x, axis, n):
    """Repeats rows or columns for all outputs, without a copy."""
    shape = list(x.unsqueeze(axis).shape)
    shape[axis] = n
    return x.unsqueeze(axis).expand(shape)


def codes(x):
    return x.clone(memory_format=torch.contiguous_format)


def timed(f, runs, seconds):
    f()
    took = []
    for _ in range(runs):
        began, calls = time.process_time(), 0
        while calls == 0 or time.process_time() - began < seconds:
            f()
            calls += 1
        took.append((time.process_time() - began) / calls)
    return took


def answer(r):
    op = getattr(importlib.import_module("mmasim." + r["module"]), r["class"])(r["arch"], r["type"])
    t, m, n, k = r["tiles"], r["m"], r["n"], r["k"]
    a = operand(op, "a", r["a"], t, m, k)
    b = operand(op, "b", r["b"], t, n, k)
    c = load(r["c"], op.c_type, t, m, n)
    args = [over(a, 2, n), over(b, 1, m), c]
    one = [a[0], b[0].T, c[0]]
    if r.get("sa"):
        sa, sb = load(r["sa"], op.s_type, t, m, -1), load(r["sb"], op.s_type, t, n, -1)
        args += [over(sa, 2, n), over(sb, 1, m)]
        one += [sa[0], sb[0].T]
    d = codes(op.dpa(*args))
    with open(r["d"], "wb") as f:
        f.write(ctypes.string_at(d.data_ptr(), d.nbytes))
    out = {"single_equal": bool(torch.equal(codes(op(*one)).view(torch.uint8), codes(d[0]).view(torch.uint8)))}
    if r["runs"]:
        out["batched"] = timed(lambda: op.dpa(*args), r["runs"], r["seconds"])
        out["single"] = timed(lambda: op(*one), r["runs"], r["seconds"])
    return out


def main():
    from importlib.metadata import version

    print(json.dumps({"mmasim": version("mmasim"), "torch": torch.__version__, "python": sys.version.split()[0]}), flush=True)
    for line in sys.stdin:
        try:
            out = answer(json.loads(line))
        except (AssertionError, AttributeError) as e:
            out = {"lacks": str(e).splitlines()[0] if str(e) else repr(e)}
        except Exception as e:
            out = {"error": repr(e)}
        print(json.dumps(out), flush=True)


main()
