#!/usr/bin/env python3
"""Spike, RISC-V's reference simulator, as a target of mmafuzz: the dot products of the
extensions Zvdota and Zvbdota.

  mmafuzz run --a sim:riscv --b "exec:python3 devices/exec/children/spike_dota.py"
  mmafuzz infer --target "exec:python3 ... --only ^vfwdota" --inst vfwdota.vv

It needs the program spike, of 2026 or later, and the device tree compiler dtc, which spike
starts. Each request becomes a program in machine code, made here, that needs no operating
system: a loop over the request's dot products, with vectors of 128 bits, so that K is 8 for
BF16 and 16 for FP8. The instructions with bdota in their names compute eight dot products at
a time. No compiler is needed.
"""
import argparse
import os
import re
import shutil
import struct
import subprocess
import tempfile

import protocol

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("--spike", default="spike", help="the program (default spike)")
p.add_argument("--only", default="", help="instructions whose names this regular expression finds")
o = p.parse_args()

GET = "build it from its sources, or pip install --pre spike; dtc is in Debian's package device-tree-compiler"
E8, E16, ALT, AGNOSTIC = 0 << 3, 1 << 3, 1 << 8, 3 << 6  # of vtype (RVV 1.0, section 3.4; altfmt is of Zvdota)

# Name, machine code without its registers, dot products at a time, vtype, K, formats of A
# (vs2) and B (vs1). altfmt chooses the format of B, .alt that of A.
ROWS = [
    ("vfwdota.vv", 0x92001077, 1, E16 | ALT, 8, "bf16", "bf16"),
    ("vfwbdota.vv", 0xB2001077, 8, E16 | ALT, 8, "bf16", "bf16"),
    ("vfqwdota.vv", 0x9A001077, 1, E8, 16, "e4m3", "e4m3"),
    ("vfqwdota.vv.e8alt", 0x9A001077, 1, E8 | ALT, 16, "e4m3", "e5m2"),
    ("vfqwdota.alt.vv", 0x9E001077, 1, E8, 16, "e5m2", "e4m3"),
    ("vfqwdota.alt.vv.e8alt", 0x9E001077, 1, E8 | ALT, 16, "e5m2", "e5m2"),
    ("vfqwbdota.vv", 0xBA001077, 8, E8, 16, "e4m3", "e4m3"),
    ("vfqwbdota.vv.e8alt", 0xBA001077, 8, E8 | ALT, 16, "e4m3", "e5m2"),
    ("vfqwbdota.alt.vv", 0xBE001077, 8, E8, 16, "e5m2", "e4m3"),
    ("vfqwbdota.alt.vv.e8alt", 0xBE001077, 8, E8 | ALT, 16, "e5m2", "e5m2"),
]

# The extensions by their names, and by those that they had until spring 2026.
ISAS = ["rv64gcv_zvfwdota16bf_zvfqwdota8f_zvfwbdota16bf_zvfqwbdota8f", "rv64gcv_zvfwldot16bf_zvfqldot8f_zvfwbdot16bf_zvfqbdot8f"]

# Addresses: of the memory; in it, of the word by which a program tells spike that it ends, and
# of what the program reads.
BASE, HOST, DATA = 0x80000000, 0x1000, 0x2000
DOT = None  # stands for the instruction
CODE = [
    0x00002517,  # auipc a0, 2           a0 = BASE + DATA
    0x000062B7,  # lui t0, 6             mstatus.VS and FS: on
    0x6002829B,  # addiw t0, t0, 0x600
    0x3002A073,  # csrs mstatus, t0
    0x00000297,  # auipc t0, 0           a trap ends the program
    0x07828293,  # addi t0, t0, 120
    0x30529073,  # csrw mtvec, t0
    0x00053583,  # ld a1, 0(a0)          A
    0x00853603,  # ld a2, 8(a0)          B
    0x01053683,  # ld a3, 16(a0)         C, and later D
    0x01853703,  # ld a4, 24(a0)         rows of A
    0x02053783,  # ld a5, 32(a0)         their bytes
    0x02853803,  # ld a6, 40(a0)         bytes of C
    0x03053883,  # ld a7, 48(a0)         K
    0x03853303,  # ld t1, 56(a0)         vtype of the instruction
    0x04053383,  # ld t2, 64(a0)         how often
    0x0C300E13,  # li t3, 0xc3           vtype e8, m8
    0x0D100E93,  # li t4, 0xd1           vtype e32, m2
    0x81D77057,  # vsetvl zero, a4, t4   the loop
    0x0206EC07,  # vle32.v v24, (a3)
    0x81C7F057,  # vsetvl zero, a5, t3
    0x02058407,  # vle8.v v8, (a1)
    0x02860807,  # vl1re8.v v16, (a2)
    0x8068F057,  # vsetvl zero, a7, t1
    DOT,         # vd = v24, vs2 = v8, vs1 = v16
    0x81D77057,  # vsetvl zero, a4, t4
    0x0206EC27,  # vse32.v v24, (a3)
    0x00F585B3,  # add a1, a1, a5
    0x01060613,  # addi a2, a2, 16
    0x010686B3,  # add a3, a3, a6
    0xFFF38393,  # addi t2, t2, -1
    0xFC0396E3,  # bnez t2, the loop
    0x00100293,  # li t0, 1              exit status 0
    0x0100006F,  # j 16
    0x342022F3,  # csrr t0, mcause       after a trap: its cause
    0x00129293,  # slli t0, t0, 1
    0x0012E293,  # ori t0, t0, 1
    0x00001337,  # lui t1, 1
    0x40650533,  # sub a0, a0, t1
    0x00553023,  # sd t0, 0(a0)          to spike, which ends
    0x0000006F,  # j 0
]


def elf(image, symbols):
    """An executable file with one segment, which is loaded at BASE and starts there."""
    names, table = b"\0.text\0.symtab\0.strtab\0", bytes(24)
    for name, value in symbols.items():
        table += struct.pack("<IBBHQQ", len(names), 0x10, 0, 1, value, 8)
        names += name.encode() + b"\0"
    start = 0x1000
    tables = start + len(image)
    sections = tables + len(table) + len(names)
    section = lambda name, kind, flags, value, at, size, link=0, info=0, entry=0: struct.pack(
        "<IIQQQQIIQQ", name, kind, flags, value, at, size, link, info, 8, entry)
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 243, 1, BASE, 64, sections, 0, 64, 56, 1, 64, 4, 3)
    head += struct.pack("<IIQQQQQQ", 1, 7, start, BASE, BASE, len(image), len(image), 0x1000)
    return b"".join((head.ljust(start, b"\0"), image, table, names, bytes(64), section(1, 1, 7, BASE, start, len(image)),
                     section(7, 2, 0, 0, tables, len(table), 3, 1, 24), section(15, 3, 0, 0, tables + len(table), len(names))))


def program(row, tiles, a, b, c):
    """The executable file for a number of tiles; D replaces C, between the symbols of the
    signature."""
    _, code, rows, vtype, k, _, _ = row
    words = [code | 8 << 20 | 16 << 15 | 24 << 7 if w is DOT else w for w in CODE]
    data = BASE + DATA + 80
    pad = -len(a + b) % 16
    at = data, data + len(a), data + len(a) + len(b) + pad
    numbers = *at, rows, 16 * rows, 4 * rows, k, vtype | AGNOSTIC, tiles, 0
    image = struct.pack("<%dI" % len(words), *words).ljust(DATA, b"\0") + struct.pack("<10Q", *numbers) + a + b + bytes(pad) + c
    return elf(image, {"tohost": BASE + HOST, "fromhost": BASE + HOST + 64, "begin_signature": at[2], "end_signature": at[2] + len(c)})


def spike(isa, file):
    """Runs a file of program and returns D, or raises RuntimeError."""
    with tempfile.TemporaryDirectory() as d:
        path, signature = os.path.join(d, "program"), os.path.join(d, "signature")
        with open(path, "wb") as f:
            f.write(file)
        r = subprocess.run([o.spike, "--isa=" + isa, "+signature=" + signature, "+signature-granularity=4", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            with open(signature) as f:
                words = f.read().split()
        except OSError:
            words = []
        if r.returncode or not words:
            raise RuntimeError("spike --isa=%s: exit status %d: %s" % (isa, r.returncode, r.stderr.decode("ascii", "replace").strip()[:500]))
        return struct.pack("<%dI" % len(words), *(int(w, 16) for w in words))


def instruction(isa, row):
    name, _, rows, _, k, a, b = row

    def run(tiles, m, n, buffers):
        return spike(isa, program(row, tiles, *map(bytes, buffers)))

    return protocol.Instruction("riscv/" + name, k, run, str(rows), "1", a, b, "fp32", "fp32")


def start():
    """Returns the first line of spike's help, and the ISA string with its names of the
    extensions."""
    if not shutil.which(o.spike):
        protocol.cannot("there is no program %s, RISC-V's simulator: %s" % (o.spike, GET))
    r = subprocess.run([o.spike, "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    first = r.stdout.decode("ascii", "replace").partition("\n")[0].strip()
    if "RISC-V" not in first:
        protocol.cannot("%s is not RISC-V's simulator, it says %r (Debian has another program of that name): %s" % (o.spike, first[:100], GET))
    why = ""
    for isa in ISAS:
        try:
            one = struct.pack("<8H", *[0x3F80] * 8)
            if spike(isa, program(ROWS[0], 1, one, one, bytes(4))) == struct.pack("<f", 8):
                return first, isa
            why = "8 products of 1 and 1 are not 8"
        except (OSError, RuntimeError) as e:
            why = why or str(e)
    protocol.cannot("%s does not have Zvdota and Zvbdota, which came in 2026 (%s): %s" % (first, why, GET))


rows = [row for row in ROWS if re.search(o.only, row[0])]
if not rows:
    p.error("no instruction's name has a match for --only %s" % o.only)
version, isa = start()
protocol.serve([instruction(isa, row) for row in rows], {"spike": version, "spike-isa": isa}, batch=65536)
