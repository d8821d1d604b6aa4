#!/usr/bin/env python3
"""MMA-Sim, another simulator of matrix units, as a target of mmafuzz.

  mmafuzz run --a sim:cdna3 --b "exec:python3 devices/exec/children/mmasim_dpa.py cdna3 --only bf8"
  mmafuzz run --a sim:hopper --b "exec:python3 ... hopper --only f16.f16" --count 20000

It has all of MMA-Sim's instructions of an architecture, under mmafuzz's names, or those whose
name the regular expression --only finds. MMA-Sim's method dpa computes any number of dot
products at once, and each request is one call of it. With --times FILE the child also times
each request, for fuzz/selfcheck/PEERS.md: processor times of dpa, and of a call that computes
one tile.
"""
import argparse
import ctypes
import json
import os
import re
import sys
import time

import protocol

ARCHS = {"volta": "Volta", "turing": "Turing", "ampere": "Ampere", "ada": "Ada Lovelace", "hopper": "Hopper", "blackwell": "Blackwell",
         "rtx-blackwell": "RTX Blackwell", "cdna1": "CDNA1", "cdna2": "CDNA2", "cdna3": "CDNA3"}

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("arch", choices=list(ARCHS))
p.add_argument("--only", default="", help="instructions whose names this regular expression finds")
p.add_argument("--times", metavar="FILE", help="write a line of times for each request")
p.add_argument("--runs", type=int, default=5, help="with --times: how often each is timed")
p.add_argument("--seconds", type=float, default=0.03, help="with --times: how long each run takes, at least")
o = p.parse_args()
torch = protocol.need("torch", "2.1", "pip install mmasim, which brings PyTorch")
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")  # for ninja, with which MMA-Sim compiles a part of itself
amd, nv, common = (protocol.need("mmasim." + x, None, "pip install mmasim (2.1.1 is what was compared), and a C++ compiler")
                   for x in ("amd", "nv_ptx", "nv_ptx.isa_common"))
torch.set_num_threads(1)


def names():
    """MMA-Sim's instructions of the architecture: mmafuzz's name, class, its own name."""
    arch = ARCHS[o.arch]
    for module, prefix, cls, table in (
            (amd.isa_mfma, "v_mfma_", amd.MFMA, "arch_mfma_suffix"),
            (nv.isa_mma, "mma.", nv.MMA, "mma_shape_and_type"),
            (nv.isa_mma, "mma.", nv.MMABlockScale, "mma_block_scale_shape_and_type"),
            (nv.isa_wgmma, "wgmma.", nv.WGMMA, "wgmma_shape_and_type"),
            (nv.isa_tcgen05mma, "tcgen05.", nv.TCGen05MMA, "tcgen05mma_shape_and_type"),
            (nv.isa_tcgen05mma, "tcgen05.", nv.TCGen05MMABlockScale, "tcgen05mma_block_scale_shape_and_type")):
        for name in getattr(module, table).get(arch, []):
            # Of sizes that differ only in the number of outputs, one stands for all.
            if re.search(o.only, prefix + name) and not (prefix in ("wgmma.", "tcgen05.") and not re.match(r"m(64|128)n8k", name)):
                yield prefix + name, cls(arch, name)


FORMATS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2",
           "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz"}


def formats(name, op):
    """mmafuzz's names of the formats of A, B, C, D."""
    of = lambda t: FORMATS[str(t).split(".")[1]]
    if "xf32" in name:
        return "xf32", "xf32", of(op.c_type), of(op.d_type)
    a, b = (getattr(op, side + "_type_ptx", "") for side in "ab")
    of_ptx = lambda ptx, t: ptx if ptx in ("tf32", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1") else of(t)
    return of_ptx(a, op.a_type), of_ptx(b, op.b_type), of(op.c_type), of(op.d_type)


def timed(f):
    """The seconds of processor time that a call takes, in each run."""
    f()
    took = []
    for _ in range(o.runs):
        began, calls = time.process_time(), 0
        while calls == 0 or time.process_time() - began < o.seconds:
            f()
            calls += 1
        took.append((time.process_time() - began) / calls)
    return took


def instruction(name, op):
    scaled = hasattr(op, "s_type")
    a, b, c, d = formats(name, op)

    def load(x, dtype, *shape):
        return torch.frombuffer(x, dtype=torch.uint8).view(dtype).reshape(shape)

    def operand(side, x, *shape):
        """A or B. MMA-Sim takes 4-bit codes two to a byte, or shifted up by two bits."""
        x = load(x, getattr(op, side + "_type"), *shape)
        if x.dtype == torch.uint8 and getattr(op, "packing", 1) == 2:
            return x[..., ::2] << 4 | x[..., 1::2]
        return x << 2 if x.dtype == torch.uint8 and getattr(op, side + "_type_ptx") == "e2m1" else x

    def over(x, axis, n):
        shape = list(x.unsqueeze(axis).shape)
        shape[axis] = n
        return x.unsqueeze(axis).expand(shape)

    def run(tiles, m, n, buffers):
        a, b, c = operand("a", buffers[0], tiles, m, op.k), operand("b", buffers[1], tiles, n, op.k), load(buffers[2], op.c_type, tiles, m, n)
        args, one = [over(a, 2, n), over(b, 1, m), c], [a[0], b[0].T, c[0]]
        if scaled:
            sa, sb = load(buffers[3], op.s_type, tiles, m, -1), load(buffers[4], op.s_type, tiles, n, -1)
            args, one = args + [over(sa, 2, n), over(sb, 1, m)], one + [sa[0], sb[0].T]
        out = op.dpa(*args).clone(memory_format=torch.contiguous_format)
        if o.times:
            alike = torch.equal(op(*one).clone(memory_format=torch.contiguous_format).view(torch.uint8), out[0].view(torch.uint8))
            with open(o.times, "a") as f:
                print(json.dumps({"batched": timed(lambda: op.dpa(*args)), "single": timed(lambda: op(*one)), "equal": bool(alike)}), file=f)
        return ctypes.string_at(out.data_ptr(), out.nbytes)

    scale = name.rsplit(".", 1)[1] if scaled else None
    return protocol.Instruction(o.arch + "/" + name, op.k, run, "1..256", "1..256", a, b, d, c, scale, op.block_size if scaled else 0)


all = [instruction(name, op) for name, op in names()]
if not all:
    p.error("MMA-Sim has no instruction of %s that %r finds" % (o.arch, o.only))
protocol.serve(all, {"mmasim": protocol.version("mmasim"), "torch": torch.__version__}, batch=4096)
