"""How fast the package is, in processor time, which other programs disturb least: medians of some runs.

    python3 cmd/python/tests/speed.py [all] [PART]...    with the package installed, in a checkout with Go

tiles    one tile a call, beside MMA-Sim if it is installed: mmafuzz.mmasim with tensors of PyTorch;
         the ten instructions that gain least, or all
batches  2^20 dot products a call on one processor, beside the same models in Go
compare  10^6 dot products of functions of NumPy against a model, beside the function alone on the same
         batches, and each further million: what is left when it is known why they differ

Ratios are those of runs in turn, so that what else the machine does slows both down alike.
"""

import ctypes
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import mmafuzz

RUNS = 5
rng = np.random.default_rng(1)


def timed(f, clock=time.process_time, at_least=0.03):
    """The seconds that a call takes, which may be less than those of looking at the clock."""
    calls = 1
    while seconds(f, clock, calls) < at_least:
        calls *= 2
    return statistics.median(seconds(f, clock, calls) for _ in range(RUNS)) / calls


def seconds(f, clock, calls):
    began = clock()
    for _ in range(calls):
        f()
    return clock() - began


def tiles():
    """All instructions that both have. The floor is what Python takes at least to call a function of
    a library with a pointer and to allocate the result."""
    try:
        import mmasim  # noqa: F401
        import torch
    except ImportError as e:
        print(f"tiles: {e}")
        return
    from test_mmasim import instructions, operands

    nothing = ctypes.CDLL(None).Py_IsInitialized
    nothing.argtypes = [ctypes.c_char_p]
    rows = []
    for arch, name, mine, other, smallest in instructions():
        if smallest:
            x = operands(other, rng, other.m, other.n)
            took = [timed(f, at_least=0.01) for f in (lambda: other(*x), lambda: mine(*x), lambda: (nothing(b"8"), torch.empty_like(x[2])))]
            rows.append((took[0] / took[1], f"{arch} {name}", took))
    rows.sort()
    slower = [took for times, _, took in rows if times < 20]
    beyond = sum(a < 20 * floor for a, _, floor in slower)
    print(f"one tile a call: {len(rows) - len(slower)} of {len(rows)} instructions at least 20 times as fast as MMA-Sim, median {rows[len(rows) // 2][0]:.0f} times;")
    print(f"of the {len(slower)} others, {beyond} take MMA-Sim less than 20 times the floor")
    print(f"{'':66} {'MMA-Sim':>9} {'mmafuzz':>9}  times {'floor':>9}")
    for times, name, (a, b, floor) in rows if "all" in sys.argv else rows[:10]:
        print(f"{name:66} {a * 1e6:6.1f} us {b * 1e6:6.1f} us {times:6.1f} {floor * 1e6:6.1f} us")


def finite(f, *shape):
    """Finite numbers of a format, with every exponent about equally often, as the benchmark in Go has them."""
    x = rng.integers(0, 256, (*shape, f.values.itemsize), np.uint8).view(f.values)[..., 0]
    return np.where(np.isfinite(x), x, f.values.type(0))


def batches():
    """Rounds of the benchmark in Go and of the package, in turn."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "bench")
        subprocess.run(["go", "test", "-c", "-o", program, "."], check=True, cwd=package)
        rounds, functions = {}, {}
        for _ in range(RUNS):
            bench = subprocess.run([program, "-test.run=^$", "-test.bench=Models", "-test.benchtime=1x"], capture_output=True, text=True, cwd=package)
            if bench.returncode:
                sys.exit(f"go test -bench: {bench.stdout}{bench.stderr}")
            for name, shape, ns in re.findall(r"BenchmarkModels/(\S+)/(\d+x\d+x\d+)\S*\s.*?([\d.]+) ns/dot", bench.stdout):
                what = f"{name} {shape}"
                if what not in functions:
                    functions[what] = batch(name, *map(int, shape.split("x")))
                f, dots = functions[what]
                rounds.setdefault(what, []).append((float(ns), timed(f) * 1e9 / dots))
    print(f"\n{'2^20 dot products a call':66} {'Go':>9} {'Python':>9}  times")
    for what, took in rounds.items():
        go, python = (statistics.median(x) for x in zip(*took))
        print(f"{what:66} {go:6.2f} ns {python:6.2f} ns {statistics.median(b / a for a, b in took):6.2f}")


def batch(name, m, n, k):
    """What computes 2^20 dot products in tiles of a shape, into memory that is used again as the
    benchmark in Go does, and their number."""
    u = mmafuzz.unit(name)
    i, count = u.info, (1 << 20) // (m * n)
    a, b, c = finite(i.a, count, m, k), finite(i.b, count, n, k), finite(i.c, count, m, n)
    if m * n == 1:
        out = np.empty(count, i.d.values)
        return lambda: u(a[:, 0], b[:, 0], c[:, 0, 0], workers=1, out=out), count
    out = np.empty((count, m, n), i.d.values)
    return lambda: u.matmul(a, b.swapaxes(1, 2), c, workers=1, out=out), count * m * n


def sums_of_four(a, b, c):
    """CDNA2's v_mfma_f32_16x16x16f16 in NumPy, but that it does not flush subnormal numbers."""
    p = a.astype(np.float32) * b
    for k in range(0, 16, 4):
        c = c + ((p[:, k] + p[:, k + 1]) + (p[:, k + 2] + p[:, k + 3]))
    return c


def cdna2(a, b, c):
    """The same with flushes."""
    tiny = np.finfo(np.float32).tiny

    def flushed(x):
        return np.where(np.abs(x) < tiny, np.float32(0), x)

    a, b = (np.where(np.abs(x) < np.finfo(np.float16).tiny, np.float16(0), x).astype(np.float32) for x in (a, b))
    p, c = flushed(a * b), flushed(c)
    for k in range(0, 16, 4):
        c = flushed(c + flushed(flushed(p[:, k] + p[:, k + 1]) + flushed(p[:, k + 2] + p[:, k + 3])))
    return c


def cut(a, b, c):
    """cdna2, but that the result has 12 bits less."""
    return (cdna2(a, b, c).view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)


def one_by_one(a, b, c):
    for k in range(a.shape[1]):
        c = c + a[:, k].astype(np.float32) * b[:, k]
    return c


CDNA2, HOPPER = "sim:cdna2/v_mfma_f32_16x16x16f16", "sim:hopper/mma.m16n8k16.f32.f16.f16.f32"


def comparisons():
    print(f"\n{'compare 10^6 dot products':45} {'mismatches':>10} {'function':>9} {'compare':>9}  times  each further million, times")
    for f, name in ((cdna2, CDNA2), (sums_of_four, CDNA2), (one_by_one, CDNA2), (cut, CDNA2), (one_by_one, HOPPER)):
        u, calls = mmafuzz.unit(name), []

        def kept(*x):
            calls.append(x)
            return f(*x)

        def alone():
            with np.errstate(all="ignore"):
                for x in calls:
                    f(*x)

        found = mmafuzz.compare(kept, u, count=1_000_000)
        asked = sum(len(x[0]) for x in calls) / 1_000_000  # with what the search asks
        runs = []
        for _ in range(RUNS):
            own = timed(alone) / asked
            first, all = (processor(lambda: mmafuzz.compare(f, u, count=millions * 1_000_000)) for millions in (1, 4))
            runs.append((own, first, first / own, (all - first) / 3 / own))
        own, first, times, further = (statistics.median(x) for x in zip(*runs))
        what = f"{f.__name__}, {name.partition('/')[0]}"
        print(f"{what:45} {found.mismatches / found.dots:10.1%} {own:7.3f} s {first:7.3f} s {times:6.2f} {further:6.2f}", flush=True)


def processor(f):
    """The processor time of one call."""
    began = time.process_time()
    f()
    return time.process_time() - began


if __name__ == "__main__":
    parts = {"tiles": tiles, "batches": batches, "compare": comparisons}
    for name in [x for x in sys.argv[1:] if x in parts] or parts:
        parts[name]()
