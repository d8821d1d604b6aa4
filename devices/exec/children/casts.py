#!/usr/bin/env python3
"""Conversions of numbers to another format, by libraries for Python, as a target of mmafuzz:
each is an instruction LIBRARY.D.A, a dot product of one element of A by the number 1.

  mmafuzz run --a "exec:python3 devices/exec/children/casts.py ml_dtypes" --b ref:exact --inst ml_dtypes.e4m3.fp16
  mmafuzz infer --target "exec:python3 devices/exec/children/casts.py gfloat rz sat" --inst gfloat.e4m3.fp16

The libraries are numpy, ml_dtypes, torch and gfloat. For gfloat a rounding (rne, rz, rd, ru, rna) and
sat may follow.
"""
import sys

import protocol

NUMPY = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}
ML_DTYPES = {
    "bf16": "bfloat16", "e5m2": "float8_e5m2", "e4m3": "float8_e4m3fn", "e5m2fnuz": "float8_e5m2fnuz", "e4m3fnuz": "float8_e4m3fnuz",
    "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn", "ue8m0": "float8_e8m0fnu",
}
GFLOAT = {"fp16": "binary16", "bf16": "bfloat16", "e5m2": "ocp_e5m2", "e4m3": "ocp_e4m3", "ue8m0": "ocp_e8m0"}  # of FP6 and FP4 it raises an error for a NaN
TORCH = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "e5m2": "float8_e5m2", "e4m3": "float8_e4m3fn",
    "e5m2fnuz": "float8_e5m2fnuz", "e4m3fnuz": "float8_e4m3fnuz", "ue8m0": "float8_e8m0fnu",
}
ROUNDINGS = {"rne": "TiesToEven", "rz": "TowardZero", "rd": "TowardNegative", "ru": "TowardPositive", "rna": "TiesToAway"}


def cast(name, a, d, convert):
    """An instruction of codes: convert takes and returns arrays of NumPy."""
    def run(tiles, m, n, buffers):
        x = np.frombuffer(buffers[0], dtypes[a]).reshape(tiles, m, 1)
        return np.ascontiguousarray(np.broadcast_to(convert(x), (tiles, m, n))).view(np.uint8)

    return protocol.Instruction(name, 1, run, "1..64", "1..64", a, "one", d)


def by_dtype(library, targets):
    return [cast("%s.%s.%s" % (library, d, a), a, d, lambda x, d=d: x.astype(dtypes[d]))
            for d in targets for a in ("fp16", "bf16", "fp32", "fp64") if a in dtypes and a != d and protocol.width(a) >= protocol.width(d)]


def by_torch():
    torch = protocol.need("torch", "2.7", "pip install torch (for a processor alone, from PyTorch's own index, see pytorch.org)")
    about["torch"] = torch.__version__
    dtypes.clear()
    dtypes.update((d, np.dtype("i%d" % protocol.width(d))) for d in TORCH)  # NumPy has codes alone

    def convert(x, a, d):
        numbers = torch.from_numpy(x.copy()).view(getattr(torch, TORCH[a]))
        codes = torch.empty(x.shape, dtype=getattr(torch, TORCH[d]))
        codes.copy_(numbers)
        return codes.view(getattr(torch, "int%d" % (8 * protocol.width(d)))).numpy()

    return [cast("torch.%s.%s" % (d, a), a, d, lambda x, a=a, d=d: convert(x, a, d))
            for d in TORCH for a in ("fp16", "bf16", "fp32", "fp64") if a != d and protocol.width(a) >= protocol.width(d)]


def by_gfloat(words):
    g = protocol.need("gfloat", None, "pip install gfloat")
    formats = protocol.need("gfloat.formats", None, "pip install gfloat")
    mode, saturates = g.RoundMode.TiesToEven, False
    for word in words:
        if word == "sat":
            saturates = True
        elif word in ROUNDINGS:
            mode = g.RoundMode[ROUNDINGS[word]]
        else:
            sys.exit("%s is neither sat nor one of %s" % (word, ", ".join(ROUNDINGS)))

    def convert(x, info, d):
        numbers = g.round_ndarray(info, x.astype(np.float64), mode, saturates)
        return g.encode_ndarray(info, numbers).astype("u%d" % protocol.width(d))

    return [cast(".".join(["gfloat", d, a, *words]), a, d, lambda x, info=getattr(formats, "format_info_" + GFLOAT[d]), d=d: convert(x, info, d))
            for d in GFLOAT for a in ("fp16", "bf16", "fp32") if a in dtypes and a != d and protocol.width(a) >= protocol.width(d)]


library, words = (sys.argv[1:2] or [""])[0], sys.argv[2:]
np = protocol.need("numpy", "1.20", "pip install numpy (Debian: python3-numpy)")
np.seterr(all="ignore")
dtypes = {d: np.dtype(name) for d, name in NUMPY.items()}
about = {"numpy": np.__version__}
if library == "numpy":
    instructions = by_dtype("numpy", ["fp16", "fp32"])
elif library == "torch":
    instructions = by_torch()
elif library in ("ml_dtypes", "gfloat"):
    ml_dtypes = protocol.need("ml_dtypes", "0.5", "pip install ml_dtypes")
    dtypes.update((d, np.dtype(getattr(ml_dtypes, name))) for d, name in ML_DTYPES.items())
    about[library] = protocol.version(library)
    instructions = by_gfloat(words) if library == "gfloat" else by_dtype(library, list(ML_DTYPES))
else:
    sys.exit(__doc__)
protocol.serve(instructions, about)
