#!/usr/bin/env python3
"""Matrix multiplication in ONNX Runtime, on the processor, as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/onnxruntime_matmul.py --type f32"

A model of one node, MatMul or Gemm (--op addmm, which adds C), runs for each matrix of
the size given; a dot product is a row and a column of it. Of integers it is MatMulInteger:
--type u8s8. The instruction's name is such as matmul.m64n64k16.f32. --transposed is Gemm's transB. The models are written here: the package
onnx is not needed.
"""
import protocol

TYPES = {"f32": ("float32", "fp32", 1), "f64": ("float64", "fp64", 11), "f16": ("float16", "fp16", 10)}
INTEGERS = {"u8u8": ("u8", "u8"), "u8s8": ("u8", "s8"), "s8s8": ("s8", "s8")}  # of A and B; D is s32
DTYPES, ELEMS = {"u8": "uint8", "s8": "int8", "s32": "int32"}, {"u8": 2, "s8": 3, "s32": 6}
OPERATIONS = ("matmul", "addmm")

p = protocol.options(__doc__, {**TYPES, **INTEGERS}, OPERATIONS)
p.set_defaults(type=list(TYPES))
p.add_argument("--provider", default="CPUExecutionProvider", help="ONNX Runtime's name of what computes")
o = protocol.chosen(p, {**TYPES, **INTEGERS}, OPERATIONS)
if o.transposed and "matmul" in o.op:
    p.error("--transposed is an attribute of Gemm: --op addmm")
if "addmm" in o.op and set(o.type) & set(INTEGERS):
    p.error("MatMulInteger adds no C")
if o.fit:
    p.error("a model of ONNX has one size here: --size")
np = protocol.need("numpy", "1.20", "pip install numpy")
ort = protocol.need("onnxruntime", "1.12", "pip install onnxruntime")


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, value):
    """A field of a protocol buffer: a number, or bytes, or a text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, elem, shape):
    dims = b"".join(field(1, field(1, n)) for n in shape)
    return field(1, name) + field(2, field(1, field(1, elem) + field(2, dims)))


def model(op, operator, elems, k):
    """An onnx.ModelProto (onnx.proto of ONNX 1.7, IR version 7, operators of version 13)."""
    rows, columns = o.size
    inputs = {"a": (rows, k), "b": (columns, k) if o.transposed else (k, columns)}
    if op == "addmm":
        inputs["c"] = (rows, columns)
    node = b"".join(field(1, x) for x in inputs) + field(2, "d") + field(4, operator)
    if o.transposed:
        node += field(5, field(1, "transB") + field(3, 1) + field(20, 2))  # an attribute of type INT
    graph = field(1, node) + field(2, "g") + b"".join(field(11, tensor(x, elems[x], s)) for x, s in inputs.items())
    graph += field(12, tensor("d", elems["d"], (rows, columns)))
    return field(1, 7) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def instruction(op, name, k):
    if name in INTEGERS:
        operator, types = "MatMulInteger", dict(zip("abd", (*INTEGERS[name], "s32")))
        dtypes, elems = ({x: table[t] for x, t in types.items()} for table in (DTYPES, ELEMS))
    else:
        operator, (dtype, code, elem) = "Gemm" if op == "addmm" else "MatMul", TYPES[name]
        types, dtypes, elems = (dict.fromkeys("abcd", x) for x in (code, dtype, elem))
    raw, out = ("u%d" % np.dtype(dtypes[x]).itemsize for x in "ad")
    s = ort.SessionOptions()
    s.intra_op_num_threads, s.inter_op_num_threads, s.log_severity_level = o.threads, 1, 3
    try:
        session = ort.InferenceSession(model(op, operator, elems, k), s, providers=[o.provider])
    except Exception as e:
        protocol.cannot("ONNX Runtime %s has no %s of %s with %s: %s" % (ort.__version__, op, name, o.provider, e))

    def multiply(a, b, c):
        inputs = {"a": a.view(dtypes["a"]), "b": (b.T if o.transposed else b).view(dtypes["b"])}
        if op == "addmm":
            inputs["c"] = c.view(dtypes["c"])
        return session.run(None, inputs)[0].view(out)

    return protocol.multiplied(np, op, o, name, k, types["a"], raw, multiply, result=(types["d"], out), other=types["b"])


protocol.serve([instruction(op, t, k) for op in o.op for t in o.type for k in o.k],
               {"onnxruntime": ort.__version__, "onnxruntime-provider": o.provider})
