#!/usr/bin/env python3
"""ggml's product of weights and activations (ggml_mul_mat, as llama.cpp has it) on the processor,
as a target of mmafuzz.

  mmafuzz infer --shape 64x64x1000 --target "exec:python3 devices/exec/children/ggml_matmul.py --type f16 -k 1000"

B is the weights, of the type that is named and stored column by column; A is the activations, which ggml
takes in FP32 and rounds to the type of the weights: A has that type here, so that nothing is lost. D is FP32.
Of q8_0 both are FP32, and ggml quantizes both; K is a multiple of 32.
"""
import protocol

TYPES = {"f32": ("GGML_TYPE_F32", "fp32"), "f16": ("GGML_TYPE_F16", "fp16"), "bf16": ("GGML_TYPE_BF16", "bf16"),
         "q8_0": ("GGML_TYPE_Q8_0", "fp32")}

p = protocol.options(__doc__, TYPES)
o = protocol.chosen(p, TYPES, ("matmul",))
o.transposed = True  # it has no other layout
np = protocol.need("numpy", "1.20", "pip install numpy")
ggml = protocol.need("ggml", None, "pip install ggml-python (0.0.45 is what was tried)")
import ctypes

WIDEN = {"f32": lambda x: x.view("f4"), "q8_0": lambda x: x.view("f4"), "f16": lambda x: x.view("f2").astype("f4"), "bf16": lambda x: (x.astype("u4") << 16).view("f4")}


def quantized(weights):
    """Rows of q8_0: blocks of 32 bytes with a scale."""
    n, k = weights.shape
    rows = np.empty((n, ggml.ggml_row_size(ggml.GGML_TYPE_Q8_0, k)), "u1")
    ggml.ggml_quantize_chunk(ggml.GGML_TYPE_Q8_0, weights.ctypes.data_as(ctypes.POINTER(ctypes.c_float)),
                             ctypes.c_void_p(rows.ctypes.data), 0, n, k, None)
    return rows


def instruction(name, k):
    kind, code = getattr(ggml, TYPES[name][0]), TYPES[name][1]

    def multiply(a, b, c):
        (m, _), n = a.shape, b.shape[1]
        activations, weights = np.ascontiguousarray(WIDEN[name](a)), np.ascontiguousarray(b.T)
        weights = quantized(weights) if name == "q8_0" else weights
        context = ggml.ggml_init(ggml.ggml_init_params(mem_size=(weights.nbytes + 3 * activations.nbytes + 4 * m * n + (1 << 24)), mem_buffer=None, no_alloc=False))
        try:
            w, x = ggml.ggml_new_tensor_2d(context, kind, k, n), ggml.ggml_new_tensor_2d(context, ggml.GGML_TYPE_F32, k, m)
            for tensor, of in (w, weights), (x, activations):
                ctypes.memmove(ggml.ggml_get_data(tensor), of.ctypes.data, of.nbytes)
            d = ggml.ggml_mul_mat(context, w, x)
            graph = ggml.ggml_new_graph(context)
            ggml.ggml_build_forward_expand(graph, d)
            ggml.ggml_graph_compute_with_ctx(context, graph, o.threads)
            return np.frombuffer(ctypes.string_at(ggml.ggml_get_data(d), 4 * m * n), "u4").reshape(m, n)
        finally:
            ggml.ggml_free(context)

    return protocol.multiplied(np, "matmul", o, name, k, code, "u4" if code == "fp32" else "u2", multiply, result=("fp32", "u4"))


protocol.serve([instruction(t, k) for t in o.type for k in o.k if t != "q8_0" or k % 32 == 0], {"ggml": protocol.version("ggml_python"), "ggml-threads": o.threads})
