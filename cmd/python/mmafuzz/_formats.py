"""NumPy's types of the number formats."""

import numpy as np

from . import _torch

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

# The type whose codes are those of a format, by the format's name.
_NUMPY = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "s32": "int32", "s16": "int16", "s8": "int8",
          "u32": "uint32", "u16": "uint16", "u8": "uint8"}
_ML_DTYPES = {
    "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz", "e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn",
    "ue8m0": "float8_e8m0fnu",
}

ONE = "one"  # the format of the number 1 alone, in the place of b: a conversion of a

# The bytes of a code; of those that are not here, one.
_WIDTHS = {"fp64": 8, "fp32": 4, "tf32": 4, "xf32": 4, "fp16": 2, "bf16": 2, "s32": 4, "u32": 4, "s16": 2, "u16": 2}


class Format:
    """A number format and the types of arrays that hold it."""

    def __init__(self, name, width=None, bits=None):
        self.name, self.bits = name, bits
        self.codes = np.dtype(f"uint{8 * (width or _WIDTHS.get(name, 1))}")
        self.values = None  # no type of NumPy or ml_dtypes
        if name in _NUMPY:
            self.values = np.dtype(_NUMPY[name])
        elif ml_dtypes and name in _ML_DTYPES and hasattr(ml_dtypes, _ML_DTYPES[name]):
            self.values = np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))

    @property
    def needs_ml_dtypes(self):
        """Whether its arrays are codes because a package is missing."""
        return self.values is None and ml_dtypes is None and self.name in _ML_DTYPES

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Format) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def array(self, what, given):
        """An array as one of codes."""
        x = _torch.array(what, given) if _torch.is_tensor(given) else np.asarray(given)
        if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
            raise TypeError(f"{what} has masked elements, for which there are no numbers")
        values = np.dtype(np.float32) if self.name in ("tf32", "xf32") else self.values
        if not x.dtype.isnative and x.dtype.newbyteorder("=") in (values, self.codes):
            x = x.astype(x.dtype.newbyteorder("="))
        if x.dtype == self.codes:
            return x
        if values is not None and x.dtype == values:
            return x.view(self.codes) if x.ndim else x.reshape(1).view(self.codes).reshape(())
        known = f"{values} or {self.codes} (codes)" if values is not None else f"{self.codes} (codes)"
        if values is None and self.needs_ml_dtypes:
            known += f", or with the package ml_dtypes of its {_ML_DTYPES[self.name]}"
        raise TypeError(f"{what} is {'None' if given is None else f'an array of {x.dtype}'}; {self.name} takes arrays of {known}. Nothing is "
                        "converted silently: use " + (".to" if _torch.is_tensor(given) else ".astype" if hasattr(given, "dtype") else
                                                                   f"np.array(..., np.{values or self.codes})"))

    def result(self, codes):
        """Codes as numbers, where there is a type for them."""
        if self.values is not None:
            return codes.view(self.values)
        if self.name in ("tf32", "xf32"):
            return codes.view(np.float32)
        return codes


_names = list(dict.fromkeys([*_WIDTHS, *_ML_DTYPES, "ue4m3", *_NUMPY, ONE]))


def of(description):
    return description and Format(**description)


def name(x):
    """The name of a format: x itself, or that of a type of NumPy or ml_dtypes."""
    if x is None or isinstance(x, str) and x in (*_names, "none"):
        return x or "none"
    if isinstance(x, Format):
        return x.name
    try:
        dtype = np.dtype(x).name
    except TypeError:
        dtype = None
    for table in (_NUMPY, _ML_DTYPES):
        for format, known in table.items():
            if known == dtype:
                return format
    raise TypeError(f"there is no format {x!r}: one of {', '.join(_names)}, or a type of NumPy or ml_dtypes")
