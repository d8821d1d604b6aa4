"""Tensors of PyTorch on the CPU, which is not imported unless somebody else has."""

import functools
import sys

import numpy as np

# Types that NumPy does not have, and that PyTorch and ml_dtypes call the same.
_TYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")


def is_tensor(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def array(what, x):
    """A view of a tensor as an array; its codes where NumPy and ml_dtypes have no such type."""
    torch = sys.modules["torch"]
    if not x.is_cpu:
        raise TypeError(f"{what} is a tensor on {x.device}: use .cpu()")
    if x.requires_grad:
        x = x.detach()
    name = _names(torch).get(x.dtype)
    if name is None:
        return x.numpy()
    codes = x.view(torch.int16 if x.itemsize == 2 else torch.uint8).numpy().view(f"uint{8 * x.itemsize}")
    return codes.view(_dtypes()[name]) if name in _dtypes() else codes


def tensor(x):
    """A view of an array as a tensor of PyTorch, or a copy where that has no such tensors: of arrays
    that cannot be written, or are stored backwards. Codes of formats that PyTorch does not have stay unsigned
    integers."""
    import torch

    x = np.asarray(x)
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if not x.flags.writeable or any(s < 0 for s in x.strides):
        x = x.copy()
    name = next((name for name, known in _dtypes().items() if known == x.dtype), None)
    if name is None:
        return torch.from_numpy(x)
    return torch.from_numpy(x.view("int16" if x.itemsize == 2 else "uint8")).view(getattr(torch, name))


@functools.cache
def _names(torch):
    """The names of these types, by PyTorch's type, as far as it has them."""
    return {getattr(torch, name): name for name in _TYPES if hasattr(torch, name)}


@functools.cache
def _dtypes():
    """Types of ml_dtypes, by PyTorch's name; none without ml_dtypes."""
    try:
        import ml_dtypes
    except ImportError:
        return {}
    return {name: np.dtype(getattr(ml_dtypes, name)) for name in _TYPES if hasattr(ml_dtypes, name)}
