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
from .._library import Error, tiles
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
        self.packing = 2 if self.kind in ("mxf4", "mxf4nvf4") else 1  # codes of a or b to a byte
        self._tile = tiles(self._unit._handle, self.m, self.n, self.k, self.packing)
        self._like = torch.empty(self.m, self.n, dtype=self.d_type)
        k = self.k // self.packing
        self._types = self.a_type, self.b_type, self.c_type
        self._shapes = (self.m, k), (k, self.n), (self.m, self.n)
        self._by_columns = 1, k

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

    def __call__(self, A, B, C):
        # Of one tile whose tensors can be taken as they are, most of the time is that of looking at them.
        (a, b, c), (x, y, z) = self._types, self._shapes
        if (type(A) is type(B) is type(C) is torch.Tensor and A.dtype is a and B.dtype is b and C.dtype is c
                and A.is_cpu and B.is_cpu and C.is_cpu and A.shape == x and B.shape == y and C.shape == z
                and A.is_contiguous() and C.is_contiguous()):
            by_rows = B.is_contiguous()
            if by_rows or B.stride() == self._by_columns:
                D = torch.empty_like(self._like)
                if self._tile(by_rows, A.data_ptr(), B.data_ptr(), C.data_ptr(), 0, 0, D.data_ptr()):
                    return D
        return self._multiply(A, B, C)

    def dpa(self, a, b, c):
        return self._dpa(a, b, c)


class MMABlockScaleOperation(_Operation):
    """An instruction with block scales, of block_size products each."""

    def __init__(self, prefix, arch, name, size=None):
        super().__init__(prefix, arch, name, size)
        self.block_size, self.s_type = self._unit.info.block, _TYPES[self._unit.info.scale.name]
        blocks = self.k // self.block_size
        self._types += (self.s_type,) * 2
        self._shapes += (self.m, blocks), (blocks, self.n)

    def __call__(self, A, B, C, alpha, beta):
        tensors = A, B, C, alpha, beta
        if (all(type(x) is torch.Tensor and x.is_cpu and x.dtype is t and x.shape == s for x, t, s in zip(tensors, self._types, self._shapes))
                and A.is_contiguous() and C.is_contiguous() and alpha.is_contiguous()):
            by_rows = B.is_contiguous() + 2 * beta.is_contiguous()
            if (by_rows & 1 or B.stride() == self._by_columns) and (by_rows & 2 or beta.stride() == (1, len(beta))):
                D = torch.empty_like(self._like)
                a, b, c, sa, sb = (x.data_ptr() for x in tensors)
                if self._tile(by_rows, a, b, c, sa, sb, D.data_ptr()):
                    return D
        return self._multiply(A, B, C, alpha, beta)

    def dpa(self, a, b, c, alpha, beta):
        return self._dpa(a, b, c, alpha, beta)
