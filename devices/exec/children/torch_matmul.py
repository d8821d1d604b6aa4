#!/usr/bin/env python3
"""Matrix multiplication in PyTorch as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/torch_matmul.py --type bf16"
  mmafuzz run --a "exec:python3 ... --type f16 --device cuda" --b "exec:python3 ... --type f16"

Operations: matmul; addmm, which adds C; _scaled_mm, of FP8 with scales of one, where
the device has it; _int_mm, of --type s8 with results in s32. A dot product is a row and a column of a matrix of the size given;
each matrix is a call of its own. The instruction's name is such as matmul.m64n64k16.bf16,
followed by the options asked for: .transposed, .high (--precision), .reduced (--reduced yes).
"""
import ctypes

import protocol

TYPES = {"f32": ("float32", "fp32"), "f64": ("float64", "fp64"), "bf16": ("bfloat16", "bf16"), "f16": ("float16", "fp16"),
         "e4m3": ("float8_e4m3fn", "e4m3"), "e5m2": ("float8_e5m2", "e5m2"), "s8": ("int8", "s8")}
OPERATIONS = ("matmul", "addmm", "_scaled_mm", "_int_mm")

p = protocol.options(__doc__, TYPES, OPERATIONS)
p.set_defaults(type=["f32", "bf16", "f16"])
p.add_argument("--device", default="cpu", help="cpu, cuda, mps, xpu, ... (HIP is cuda too)")
p.add_argument("--precision", choices=["highest", "high", "medium"], help="torch.set_float32_matmul_precision")
p.add_argument("--reduced", choices=["yes", "no"], help="allow_bf16_reduced_precision_reduction and the same of FP16")
p.add_argument("--out", choices=["f32", "bf16", "f16"], default="bf16", help="type of the result of _scaled_mm")
o = protocol.chosen(p, TYPES, OPERATIONS)
torch = protocol.need("torch", "2.1", "pip install torch (for a processor alone, from PyTorch's own index, see pytorch.org)")


def instruction(op, name, k):
    dtype, code = getattr(torch, TYPES[name][0]), TYPES[name][1]
    out, result = {"_scaled_mm": (getattr(torch, TYPES[o.out][0]), TYPES[o.out][1]), "_int_mm": (torch.int32, "s32")}.get(op, (dtype, code))
    one = torch.ones((), device=o.device) if op == "_scaled_mm" else None

    def load(x, of, *shape):
        return torch.frombuffer(x, dtype=of).reshape(shape)

    def run(tiles, m, n, buffers):
        # As raw codes, for which every type has slices and zeros.
        raw = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        plain, last = raw[dtype.itemsize], raw[out.itemsize]
        t = protocol.Matrices(o, tiles, m, n, lambda shape: torch.zeros(shape, dtype=plain))
        a = t.a(load(buffers[0], plain, tiles, m, k)).to(o.device).view(dtype)
        b = t.b(load(buffers[1], plain, tiles, n, k)).to(o.device)
        if not (o.transposed or op == "_scaled_mm"):  # _scaled_mm takes B only column by column
            b = b.transpose(1, 2).contiguous().transpose(1, 2)
        b = b.view(dtype).transpose(1, 2)
        d = torch.empty((t.count, t.rows, t.columns), dtype=out, device=o.device)
        if op in ("matmul", "_int_mm"):
            multiply = getattr(torch, op)
            for i in range(t.count):  # in memory of their own, as a user's: libraries choose code by the alignment
                d[i] = multiply(a[i].clone(), b[i].clone())
        elif op == "addmm":
            c = t.c(load(buffers[2], plain, tiles, m, n)).to(o.device).view(dtype)
            for i in range(t.count):
                torch.addmm(c[i], a[i], b[i], out=d[i])
        else:
            for i in range(t.count):
                d[i] = torch._scaled_mm(a[i], b[i], scale_a=one, scale_b=one, out_dtype=out)
        t.zeros = lambda shape: torch.zeros(shape, dtype=last)
        x = t.d(d.cpu().view(last)).contiguous()
        return ctypes.string_at(x.data_ptr(), x.numel() * x.element_size())

    flags = [result] if op == "_scaled_mm" else []
    flags += [o.precision] if o.precision else []
    flags += [{"yes": "reduced", "no": "full"}[o.reduced]] if o.reduced else []
    c = code if op == "addmm" else "none"
    return protocol.Instruction(protocol.named(o, op, k, name, flags), k, run, *protocol.tiles(o), code, code, result, c)


try:
    torch.set_num_threads(o.threads)
    if o.precision:
        torch.set_float32_matmul_precision(o.precision)
    if o.reduced:
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = o.reduced == "yes"
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = o.reduced == "yes"
    torch.ones(2, 2, device=o.device) @ torch.ones(2, 2, device=o.device)
except Exception as e:
    protocol.cannot("PyTorch %s has no device %s here: %s" % (torch.__version__, o.device, e))

about = {"torch": torch.__version__, "torch-device": o.device, "torch-threads": o.threads}
if o.device == "cpu":
    about["torch-cpu"] = torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, "cpu") else ""
    for line in torch.__config__.show().splitlines():
        if "oneAPI" in line or "MKL-DNN" in line or "oneDNN" in line:
            about["torch-" + ("onednn" if "DNN" in line else "mkl")] = line.strip(" -")
about.update(protocol.environment("ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_DEFAULT_FPMATH_MODE",
                                  "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "MKL_DEBUG_CPU_TYPE"))
protocol.serve([instruction(op, t, k) for op in o.op for t in o.type for k in o.k], about)
