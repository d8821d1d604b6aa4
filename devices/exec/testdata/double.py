#!/usr/bin/env python3
"""A dot product of four: the sum in double precision, first element first."""
import math, struct, sys

print("mmafuzz-exec 1 text")
print("instruction dot4 a=fp16 b=fp16 c=fp32 d=fp32 k=4")
print("ready", flush=True)

def half(code):
    return struct.unpack(">e", bytes.fromhex(code))[0]

def single(x):
    try:
        return struct.pack(">f", x).hex()
    except OverflowError:
        return struct.pack(">f", math.copysign(math.inf, x)).hex()

for line in sys.stdin:
    a, b, c = line.split()
    total = struct.unpack(">f", bytes.fromhex(c))[0]
    for x, y in zip(a.split(","), b.split(",")):
        total += half(x) * half(y)
    print(single(total), flush=True)
