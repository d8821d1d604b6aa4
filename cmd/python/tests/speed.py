"""How fast the package is, in processor time, which other programs disturb least: medians of some runs.

    python3 cmd/python/tests/speed.py    with the package installed, in a checkout with Go

tiles    one tile a call, beside MMA-Sim if it is installed: mmafuzz.mmasim with tensors of PyTorch
batches  10^6 dot products a call on one processor, beside the same models in Go
compare  10^6 dot products of a function of NumPy against a model, beside the function alone:
         processor time, and the time that passes
"""

import importlib
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np

import mmafuzz

RUNS = 7
rng = np.random.default_rng(1)


def timed(f, clock=time.process_time, at_least=0.03):
    """The seconds that a call takes."""
    f()
    took = []
    for _ in range(RUNS):
        began, calls = clock(), 0
        while calls == 0 or clock() - began < at_least:
            f()
            calls += 1
        took.append((clock() - began) / calls)
    return statistics.median(took)


def tiles():
    try:
        import mmasim  # noqa: F401
        import torch
    except ImportError as e:
        print(f"tiles: {e}")
        return
    torch.set_num_threads(1)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]  # ninja, for MMA-Sim
    print(f"{'one tile a call':66} {'MMA-Sim':>9} {'mmafuzz':>9}  times")

    def tensor(dtype, *shape):
        return torch.from_numpy(rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)).view(dtype)[..., 0]

    for module, cls, arch, name in [
        ("nv_ptx", "MMA", "Volta", "m8n8k4.f32.f16.f16.f32"), ("nv_ptx", "MMA", "Hopper", "m16n8k16.f32.f16.f16.f32"),
        ("nv_ptx", "WGMMA", "Hopper", "m64n8k32.f32.e4m3.e4m3"), ("amd", "MFMA", "CDNA3", "f32_16x16x16_f16"),
        ("nv_ptx", "TCGen05MMABlockScale", "Blackwell", "m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"),
        # What MMA-Sim computes by fused multiply-adds of C++, not by operations of PyTorch.
        ("nv_ptx", "MMA", "Hopper", "m16n8k16.f64.f64.f64.f64"), ("nv_ptx", "MMA", "Hopper", "m8n8k4.f64.f64.f64.f64"),
        ("amd", "MFMA", "CDNA3", "f32_16x16x4_f32"), ("amd", "MFMA", "CDNA2", "f32_4x4x1f32"),
    ]:
        other, mine = (getattr(importlib.import_module(f"{p}.{module}"), cls)(arch, name) for p in ("mmasim", "mmafuzz.mmasim"))
        k = other.k // getattr(other, "packing", 1)
        x = [tensor(other.a_type, other.m, k), tensor(other.b_type, other.n, k).T, tensor(other.c_type, other.m, other.n)]
        if hasattr(other, "s_type"):
            blocks = other.k // other.block_size
            x += [tensor(other.s_type, other.m, blocks), tensor(other.s_type, other.n, blocks).T]
        a, b = timed(lambda: other(*x)), timed(lambda: mine(*x))
        print(f"{arch + ' ' + name:66} {a * 1e6:6.1f} us {b * 1e6:6.1f} us {a / b:6.1f}")


def batches():
    bench = subprocess.run(["go", "test", "-run", "^$", "-bench", "Models", "-benchtime", "1x", "."], capture_output=True, text=True,
                           cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if bench.returncode:
        sys.exit(f"go test -bench: {bench.stdout}{bench.stderr}")
    print(f"\n{'10^6 dot products a call':66} {'Go':>9} {'Python':>9}  times")
    for name, m, n, k, ns in re.findall(r"BenchmarkModels/(\S+)/(\d+)x(\d+)x(\d+)\S*\s.*?([\d.]+) ns/dot", bench.stdout):
        m, n, k, go = int(m), int(n), int(k), float(ns)
        with mmafuzz.unit(name) as u:
            i = u.info
            count = 1_000_000 // (m * n)
            a, b, c = (rng.standard_normal((count, *s)).astype(f.values) for s, f in (((m, k), i.a), ((n, k), i.b), ((m, n), i.c)))
            if m * n == 1:
                a, b, c = a[:, 0], b[:, 0], c[:, 0, 0]
                took = timed(lambda: u(a, b, c, workers=1))
            else:
                took = timed(lambda: u.matmul(a, b.swapaxes(1, 2), c, workers=1))
        took *= 1e9 / (count * m * n)
        print(f"{f'{name} {m}x{n}x{k}':66} {go:6.2f} ns {took:6.2f} ns {took / go:6.2f}")


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


def one_by_one(a, b, c):
    for k in range(a.shape[1]):
        c = c + a[:, k].astype(np.float32) * b[:, k]
    return c


def comparisons():
    print(f"\n{'compare 10^6 dot products':66} {'function':>9} {'compare':>9}  times, and of time that passes")
    u = mmafuzz.unit("sim:cdna2/v_mfma_f32_16x16x16f16")
    x = u.inputs(100_000)
    for f in (cdna2, sums_of_four, one_by_one):
        def alone():
            with np.errstate(all="ignore"):
                for at in range(0, 100_000, 1024):
                    f(*(y[at:at + 1024] for y in x))

        mismatches = mmafuzz.compare(f, u, count=1_000_000).mismatches
        own, passed = timed(alone) * 10, timed(alone, time.perf_counter) * 10
        both, until = (timed(lambda: mmafuzz.compare(f, u, count=1_000_000), clock) for clock in (time.process_time, time.perf_counter))
        print(f"{f'{f.__name__}, {mismatches:,} mismatches':66} {own:7.3f} s {both:7.3f} s {both / own:6.2f} {until / passed:6.2f}")


if __name__ == "__main__":
    tiles()
    batches()
    comparisons()
