#!/usr/bin/env python3
"""Compares whole FP8 matrix products of mmafuzz with those of mmaemu, which has an H100 PCIe's and an
RTX 4060's: fast accumulation, slow (promotion), and split-K.

  products.py --mmafuzz PROGRAM --dir DIRECTORY [--side 1120] [--k 300]

For each kernel it prints the elements, how many differ, and the products per second of both. Of the plain
kernels a part is computed by MMA-Sim, too, tile after tile as its users do, and in the end stands the
time of mmafuzz's models alone, on one core. Needs mmaemu 0.1.0 with its PyTorch, MMA-Sim 2.1.1 and a
C++ compiler. Exit status: 0 all bits are equal, 1 some are not.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import torch
from mmaemu.model.chain import chain_gemm
from mmaemu.model.plan import execute_plan, make_plan

os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")  # for ninja, with which MMA-Sim compiles a part of itself
from mmasim.nv_ptx import MMA, WGMMA

UNITS = {"ada": "sim:ada/mma.m16n8k32.f32.e4m3.e4m3.f32", "hopper": "sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3"}
TILES = {"ada": MMA("Ada Lovelace", "m16n8k32.f32.e4m3.e4m3.f32"), "hopper": WGMMA("Hopper", "m64n8k32.f32.e4m3.e4m3")}
SLOW = {"cut": {"by": "size", "n": 128}, "merge": {"order": "forward", "start": "zero"}}


def split(by, n, **cut):
    return {"cut": {"by": by, "n": n, **cut}, "merge": {"order": "forward"}}


# preset, fast, number of splits, scheme, and the same as levels of a schedule of mmafuzz.
KERNELS = [
    ("ada", True, 1, "none", []),
    ("ada", False, 1, "none", [SLOW]),
    ("ada", True, 3, "serial", [split("lanes", 3, vector=64)]),
    ("ada", False, 3, "serial", [split("lanes", 3, vector=64), SLOW]),
    ("hopper", True, 1, "none", []),
    ("hopper", False, 1, "none", [SLOW]),
    ("hopper", True, 4, "contiguous", [split("count", 4, grain=128)]),
    ("hopper", False, 4, "contiguous", [split("count", 4, grain=128), SLOW]),
]

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--mmafuzz", required=True)
p.add_argument("--dir", required=True, type=pathlib.Path)
p.add_argument("--side", type=int, default=1120, help="rows and columns of each product")
p.add_argument("--k", type=int, default=300)
o = p.parse_args()
o.dir.mkdir(parents=True, exist_ok=True)


def save(name, array):
    np.save(o.dir / name, array)
    return str(o.dir / name)


def tile_by_tile(op, a, b, d, seconds=10):
    """Computes tiles of the product of a and b, a transposed matrix, with an instruction of MMA-Sim for a while:
    the elements, how many of them are not those of d, and the products per second."""
    steps = -(-a.shape[1] // op.k)
    padded = [torch.from_numpy(np.pad(x, ((0, 0), (0, steps * op.k - x.shape[1])))).view(torch.float8_e4m3fn) for x in (a, b)]
    elements = differ = 0
    began = time.perf_counter()
    for row, column in itertools.product(range(0, len(a) - op.m + 1, op.m), range(0, len(b) - op.n + 1, op.n)):
        tile = torch.zeros(op.m, op.n)
        for k in range(0, steps * op.k, op.k):
            tile = op(padded[0][row:row + op.m, k:k + op.k], padded[1][column:column + op.n, k:k + op.k].T, tile)
        want = d[row:row + op.m, column:column + op.n]
        differ += int(((tile != want) & ~(tile.isnan() & want.isnan())).sum())
        elements += tile.numel()
        if time.perf_counter() - began > seconds:
            break
    return elements, differ, elements * a.shape[1] / (time.perf_counter() - began)


rng = np.random.default_rng(1)
wrong = 0
for n, (preset, fast, splits, scheme, levels) in enumerate(KERNELS):
    # Half of the kernels get every finite code, half normal numbers.
    if n % 2 == 0:
        a, b = (rng.integers(0, 127, (o.side, o.k), dtype=np.uint8) | rng.integers(0, 2, (o.side, o.k), dtype=np.uint8) << 7 for _ in "ab")
    else:
        a, b = (torch.from_numpy(rng.standard_normal((o.side, o.k))).to(torch.float8_e4m3fn).view(torch.uint8).numpy() for _ in "ab")
    began = time.perf_counter()
    plan = make_plan(o.k, fast=fast, S=splits, scheme=scheme, preset=preset)
    d = execute_plan(plan, torch.from_numpy(a), torch.from_numpy(b), fmt_a="e4m3", fmt_b="e4m3",
                     chain_fn=lambda x, y: chain_gemm(x, y, fmt_a="e4m3", fmt_b="e4m3", preset=preset))
    theirs = time.perf_counter() - began
    schedule = o.dir / "schedule.json"
    schedule.write_text(json.dumps({"v": 1, "schedules": [{"levels": levels}]}))
    files = ["--a", save("A.npy", a), "--b", save("B.npy", np.ascontiguousarray(b.T)), "--expect", save("D.npy", d.numpy())]
    began = time.perf_counter()
    run = subprocess.run([o.mmafuzz, "gemm", "%s@%s" % (UNITS[preset], schedule), "--json", *files], stdout=subprocess.PIPE, text=True)
    ours = time.perf_counter() - began
    if run.returncode not in (0, 1):
        sys.exit("mmafuzz gemm has failed")
    row = [t for t in json.loads(run.stdout)["tables"] if t["name"] == "expected"][0]["rows"][0]
    products = o.side * o.side * o.k
    print("%-6s %-4s splits %d: %d elements, %d differ (%s); products a second: mmaemu %.3g, mmafuzz %.3g"
          % (preset, "fast" if fast else "slow", splits, o.side * o.side, row[1], row[-1], products / theirs, products / ours), flush=True)
    wrong += row[1]
    if not levels:
        elements, differ, rate = tile_by_tile(TILES[preset], a, b, d)
        print("%-6s MMA-Sim, tile by tile: %d elements, %d differ; products a second: %.3g" % (preset, elements, differ, rate), flush=True)
        wrong += differ
print("%d elements, %d differ" % (len(KERNELS) * o.side * o.side, wrong))
subprocess.run([o.mmafuzz, "bench", "models", "--only", "e4m3/hopper", "--time", "10s"], check=True)
sys.exit(wrong > 0)
