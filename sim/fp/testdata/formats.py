"""What the Python packages ml_dtypes and gfloat say of number formats.

  python3 formats.py VALUES

VALUES is a file of float64, little endian. Lines on stdout, each followed by as many
bytes as its last word says, little endian: first the versions,

  version PACKAGE VERSION 0
  decode PACKAGE FORMAT BYTES                    a float64 for every code
  encode PACKAGE FORMAT MODE OVERFLOW BYTES      a uint16 for every value

in mmafuzz's names of formats, modes and overflow (go doc ./sim/fp).
"""
import sys

import gfloat
import gfloat.formats as known
import ml_dtypes
import numpy as np

from importlib.metadata import version

ML = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz",
      "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn", "ue8m0": "float8_e8m0fnu", "bf16": "bfloat16"}
GF = {"e4m3": "ocp_e4m3", "e5m2": "ocp_e5m2", "e3m2": "ocp_e3m2", "e2m3": "ocp_e2m3", "e2m1": "ocp_e2m1", "ue8m0": "ocp_e8m0",
      "bf16": "bfloat16", "fp16": "binary16"}
MODES = {"rne": "TiesToEven", "rz": "TowardZero", "rd": "TowardNegative", "ru": "TowardPositive", "rna": "TiesToAway"}


def put(array, *words):
    data = array.tobytes()
    sys.stdout.buffer.write((" ".join(words) + " %d\n" % len(data)).encode() + data)


values = np.fromfile(sys.argv[1], "<f8")
np.seterr(all="ignore")
none = np.zeros(0, "u1")
put(none, "version", "ml_dtypes", version("ml_dtypes"))
put(none, "version", "gfloat", version("gfloat"))
for name, theirs in ML.items():
    dtype = np.dtype(getattr(ml_dtypes, theirs))
    raw = "u%d" % dtype.itemsize
    bits = ml_dtypes.finfo(dtype).bits
    put(np.arange(1 << bits).astype(raw).view(dtype).astype("<f8"), "decode", "ml_dtypes", name)
    put(values.astype(dtype).view(raw).astype("<u2"), "encode", "ml_dtypes", name, "rne", "inf")
for name, theirs in GF.items():
    f = getattr(known, "format_info_" + theirs)
    put(gfloat.decode_ndarray(f, np.arange(1 << f.k).astype("u2")).astype("<f8"), "decode", "gfloat", name)
    for mode, rounding in MODES.items():
        for over, saturate in (("ieee", False), ("max", True)):
            if saturate or f.num_nans > 0 or f.num_infs > 0:
                with_mode = gfloat.round_ndarray(f, values, getattr(gfloat.RoundMode, rounding), saturate)
                put(gfloat.encode_ndarray(f, with_mode).astype("<u2"), "encode", "gfloat", name, mode, over)
