"""A kernel that adds sixteen products of FP16 in FP32, in one sum or in several: kernel.py SPLITS."""
import ctypes, struct, sys

splits = int(sys.argv[1]) if len(sys.argv) > 1 else 1
print("mmafuzz-exec 1 text")
print("instruction dot16 a=fp16 b=fp16 c=fp32 d=fp32 k=16")
print("ready", flush=True)

def fp32(x):
    return ctypes.c_float(x).value

def numbers(form, codes):
    return [struct.unpack(form, bytes.fromhex(code))[0] for code in codes.split(",")]

for line in sys.stdin:
    a, b, c = line.split()
    products = [x * y for x, y in zip(numbers(">e", a), numbers(">e", b))]
    sums = numbers(">f", c) + [0.0] * (splits - 1)
    for k, p in enumerate(products):
        s = k * splits // len(products)
        sums[s] = fp32(sums[s] + p)
    total = sums[0]
    for s in sums[1:]:
        total = fp32(total + s)
    print(struct.pack(">f", total).hex(), flush=True)
