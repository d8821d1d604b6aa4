"""The classes of MMA-Sim (https://github.com/microsoft/MMA-Sim, release 2.1.1), computed by the models
of mmafuzz: whoever uses MMA-Sim changes one import.

    from mmafuzz.mmasim.nv_ptx import MMA  # instead of mmasim.nv_ptx
    MMA("Hopper", "m16n8k16.f32.f16.f16.f32")(A, B, C)

Operands and results are tensors of PyTorch on the CPU, in MMA-Sim's shapes and types: A [m, k],
B [k, n], C [m, n], scales [m, k / block] and [k / block, n]; dpa takes dot products, a and b
[..., k] and c [...], of any leading shape. FP6 is in the low bits of a byte, FP4 is shifted up by
two bits, or two to a byte, the first in the high half, where packing is 2.

What differs: codes of NaNs of CDNA and of FP64, which nobody has shown; infinities and NaNs in
CDNA3's FP8, which MMA-Sim loses beside large products; and an instruction that there is not is an mmafuzz.Error, not an
AssertionError. cmd/python/tests/test_mmasim.py compares all instructions."""

import re

import numpy as np
import torch

from .. import _torch
from .._library import Error, tile
from .._unit import unit

_ARCHS = {"Volta": "volta", "Turing": "turing", "Ampere": "ampere", "Ada Lovelace": "ada", "Hopper": "hopper", "Blackwell": "blackwell",
          "RTX Blackwell": "rtx-blackwell", "CDNA1": "cdna1", "CDNA2": "cdna2", "CDNA3": "cdna3"}
_TYPES = {"fp64": torch.float64, "fp32": torch.float32, "tf32": torch.float32, "xf32": torch.float32, "fp16": torch.float16,
          "bf16": torch.bfloat16, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e4m3fnuz": torch.float8_e4m3fnuz,
          "e5m2fnuz": torch.float8_e5m2fnuz, "ue8m0": torch.float8_e8m0fnu, "ue4m3": torch.float8_e4m3fn,
          "e3m2": torch.uint8, "e2m3": torch.uint8, "e2m1": torch.uint8}
_PTX = {"fp64": "f64", "fp32": "f32", "fp16": "f16"}


class _Operation:
    """An instruction of an architecture: its prefix, and its name in MMA-Sim without that. The models
    have the sizes of tiles that are free once, as size."""

    def __init__(self, prefix, arch, name, size=None):
        self.arch = arch
        model = re.sub(r"m\d+n\d+", size, name, count=1) if size else name
        self._unit = unit("sim:" + _ARCHS.get(arch, arch), prefix + model)
        i = self._unit.info
        if i.name != prefix + model:
            raise Error(f"{arch} has no {prefix}{name}: nearest {i.name}")
        self.m, self.n, self.k = map(int, re.search(r"m?(\d+)[nx](\d+)[kx](\d+)", name).groups())
        self.a_type, self.b_type, self.c_type, self.d_type = (_TYPES[f.name] for f in (i.a, i.b, i.c, i.d))
        self.a_type_ptx, self.b_type_ptx = (_PTX.get(f.name, f.name) for f in (i.a, i.b))
        kind = re.search(r"kind::(\w+)", name)
        self.kind = kind and kind[1]
        self.packing = 1

    def _codes(self, what, f, x):
        """The codes of a tensor in a format. Its last dimension is that of products or blocks."""
        if x.dtype != _TYPES[f.name]:
            raise TypeError(f"{what} is a tensor of {x.dtype}; {self._unit.info.name} takes {_TYPES[f.name]}")
        x = _torch.array(what, x).view(f.codes)
        if f.name == "ue4m3":
            return x & 0x7F
        if f.name == "e2m1" and self.packing == 2:
            return np.stack([x >> 4, x & 15], axis=-1).reshape(*x.shape[:-1], -1)
        return x >> 2 & 15 if f.name == "e2m1" else x & 63 if f.name in ("e3m2", "e2m3") else x

    def _operands(self, a, b, c, scales):
        """The codes of a, b and c, and of scales if there are any, by name."""
        i = self._unit.info
        sa, sb = (self._codes(what, i.scale, s) for what, s in zip(("alpha", "beta"), scales)) if scales else (None, None)
        return dict(a=self._codes("a", i.a, a), b=self._codes("b", i.b, b), c=self._codes("c", i.c, c), sa=sa, sb=sb)

    def _multiply(self, a, b, c, *scales):
        x = self._operands(a, b.T, c, [scales[0], scales[1].T] if scales else [])
        for name in ("b", "sb") if scales else ("b",):
            x[name] = x[name].T
        return _torch.tensor(self._unit.matmul(**x))

    def _dpa(self, a, b, c, *scales):
        return _torch.tensor(self._unit(**self._operands(a, b, c, scales)))


class MMAOperation(_Operation):
    """An instruction without block scales."""

    def __init__(self, prefix, arch, name, size=None):
        super().__init__(prefix, arch, name, size)
        # In a call of one tile most of the time is that of looking at the operands.
        self._whole = self.a_type != torch.uint8 != self.b_type
        self._shapes = (self.m, self.k), (self.k, self.n), (self.m, self.n)

    def __call__(self, A, B, C):
        D = self._tile(A, B, C)
        return self._multiply(A, B, C) if D is None else D

    def _tile(self, a, b, c):
        """The product of one tile whose tensors are taken as they are; None of others."""
        x, y, z = self._shapes
        if not (self._whole and type(a) is type(b) is type(c) is torch.Tensor and a.is_cpu and b.is_cpu and c.is_cpu
                and a.dtype is self.a_type and b.dtype is self.b_type and c.dtype is self.c_type
                and a.shape == x and b.shape == y and c.shape == z and a.is_contiguous() and c.is_contiguous()):
            return None
        by_rows = b.is_contiguous()
        if not by_rows and b.stride() != (1, self.k):
            return None
        d = torch.empty_like(c) if self.d_type is self.c_type else torch.empty(z, dtype=self.d_type)
        done = tile(self._unit._handle, *z, self.k, by_rows, a.data_ptr(), b.data_ptr(), c.data_ptr(), d.data_ptr())
        return d if done else None

    def dpa(self, a, b, c):
        return self._dpa(a, b, c)


class MMABlockScaleOperation(_Operation):
    """An instruction with block scales, of block_size products each."""

    def __init__(self, prefix, arch, name, size=None):
        super().__init__(prefix, arch, name, size)
        self.block_size, self.s_type = self._unit.info.block, _TYPES[self._unit.info.scale.name]
        self.packing = 2 if self.kind in ("mxf4", "mxf4nvf4") else 1

    def __call__(self, A, B, C, alpha, beta):
        return self._multiply(A, B, C, alpha, beta)

    def dpa(self, a, b, c, alpha, beta):
        return self._dpa(a, b, c, alpha, beta)
