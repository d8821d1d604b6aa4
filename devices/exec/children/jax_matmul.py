#!/usr/bin/env python3
"""Matrix multiplication in JAX, compiled by XLA, as a target of mmafuzz.

  mmafuzz infer --target "exec:python3 devices/exec/children/jax_matmul.py --type bf16"
  mmafuzz infer --target "exec:env JAX_PLATFORMS=cpu XLA_FLAGS=--xla_cpu_max_isa=AVX2 python3 ..."

jax.numpy.matmul on JAX's first device. A dot product is a row and a column of a matrix of
the size given; each matrix is a call of the compiled function. The instruction's name is
such as matmul.m64n64k16.bf16, followed by the --precision asked for, such as .highest.
"""
import protocol

TYPES = {"f32": ("float32", "fp32"), "bf16": ("bfloat16", "bf16"), "f16": ("float16", "fp16"),
         "e4m3": ("float8_e4m3fn", "e4m3"), "e5m2": ("float8_e5m2", "e5m2")}

p = protocol.options(__doc__, TYPES)
p.set_defaults(type=["f32", "bf16", "f16"])
p.add_argument("--precision", choices=["default", "high", "highest"], help="precision of jax.numpy.matmul")
o = protocol.chosen(p, TYPES, ("matmul",))
if o.transposed or o.threads != 1:
    p.error("XLA decides about layouts and threads (XLA_FLAGS)")
jax = protocol.need("jax", "0.4", "pip install jax")
np = protocol.need("numpy", "1.20", "pip install numpy")


def instruction(name, k):
    dtype = np.dtype(getattr(jax.numpy, TYPES[name][0]))
    raw = "u%d" % dtype.itemsize
    matmul = jax.jit(lambda a, b: jax.numpy.matmul(a, b, precision=o.precision))
    return protocol.multiplied(np, "matmul", o, name, k, TYPES[name][1], raw,
                               lambda a, b, c: np.asarray(matmul(a.view(dtype), b.view(dtype))).view(raw),
                               [o.precision] if o.precision else [])


about = {"jax": jax.__version__, "jax-device": "%s, %s" % (jax.devices()[0].platform, jax.devices()[0].device_kind)}
about.update(protocol.environment("XLA_FLAGS", "JAX_PLATFORMS", "JAX_DEFAULT_MATMUL_PRECISION"))
protocol.serve([instruction(t, k) for t in o.type for k in o.k], about)
