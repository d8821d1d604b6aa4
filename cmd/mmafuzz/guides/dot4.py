"""A unit that takes four products of FP16, adds them and C in FP64, and rounds once to FP32."""
import ctypes, struct, sys

print("mmafuzz-exec 1 text")
print("instruction dot4 a=fp16 b=fp16 c=fp32 d=fp32 k=4")
print("ready", flush=True)

def half(code):
    x = struct.unpack(">e", bytes.fromhex(code))[0]
    return 0.0 if abs(x) < 2**-14 else x  # the mistake: subnormal numbers are lost

def single(code):
    return struct.unpack(">f", bytes.fromhex(code))[0]

for line in sys.stdin:  # a0,a1,a2,a3 b0,b1,b2,b3 c, all in hexadecimal
    a, b, c = line.split()
    total = single(c)
    for x, y in zip(a.split(","), b.split(",")):
        total += half(x) * half(y)
    print(struct.pack(">f", ctypes.c_float(total).value).hex(), flush=True)
