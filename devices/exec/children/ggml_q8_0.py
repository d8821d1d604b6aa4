#!/usr/bin/env python3
"""ggml's dot product of rows of q8_0 (ggml_vec_dot_q8_0_q8_0 of this processor), which llama.cpp's products of
quantized matrices consist of, as a target of infer --shape. Operands are int8 with a scale in FP16 for
each 32 of a row. Its quantizers give no -128, which some of its paths take for another number.

  mmafuzz infer --shape 2x2x256 --target "exec:python3 devices/exec/children/ggml_q8_0.py 2x2x256"
"""
import ctypes
import sys

import protocol

np = protocol.need("numpy", "1.20", "pip install numpy")
ggml = protocol.need("ggml", None, "pip install ggml-python (0.0.45 is what was tried)")
ggml.ggml_cpu_init()  # its table of FP16
dot = ggml.ggml_get_type_traits_cpu(ggml.GGML_TYPE_Q8_0).contents.vec_dot


def rows(codes, scales, k):
    """Rows as ggml has them: a scale and 32 codes, again and again."""
    both = np.concatenate([np.frombuffer(scales, "u1").reshape(-1, 2), np.frombuffer(codes, "u1").reshape(-1, 32)], axis=1)
    return np.ascontiguousarray(both).reshape(-1, k // 32 * 34)


def instruction(shape):
    m, n, k = map(int, shape.split("x"))

    def run(tiles, _, __, buffers):
        a, b = rows(buffers[0], buffers[2], k), rows(buffers[1], buffers[3], k)
        d, one = np.empty((tiles, m, n), "f4"), ctypes.c_float()
        for t, i, j in np.ndindex(d.shape):
            dot(k, ctypes.pointer(one), 0, a[t * m + i].ctypes.data, 0, b[t * n + j].ctypes.data, 0, 1)
            d[t, i, j] = one.value
        return d

    return protocol.Instruction("q8_0.m%dn%dk%d" % (m, n, k), k, run, m, n, "s8", "s8", "fp32", scale="fp16", block=32)


protocol.serve([instruction(s) for s in sys.argv[1:]], {"ggml": protocol.version("ggml_python")})
