"""Tensors of PyTorch on the CPU, which is not imported unless somebody else has."""

import sys

import numpy as np

# Types that NumPy does not have, and those of ml_dtypes with the same codes.
_TYPES = {
    "bfloat16": "bfloat16", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
    "float8_e4m3fnuz": "float8_e4m3fnuz", "float8_e5m2fnuz": "float8_e5m2fnuz", "float8_e8m0fnu": "float8_e8m0fnu",
}


def is_tensor(x):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def array(what, x):
    """A view of a tensor as an array; its codes where NumPy and ml_dtypes have no such type."""
    torch = sys.modules["torch"]
    if x.device.type != "cpu":
        raise TypeError(f"{what} is a tensor on {x.device}: use .cpu()")
    x = x.detach()
    name = str(x.dtype).removeprefix("torch.")
    if name not in _TYPES:
        return x.numpy()
    codes = x.view(torch.int16 if x.itemsize == 2 else torch.uint8).numpy().view(f"uint{8 * x.itemsize}")
    try:
        import ml_dtypes
    except ImportError:
        return codes
    return codes.view(getattr(ml_dtypes, _TYPES[name]))


def tensor(x):
    """A view of an array as a tensor of PyTorch. Codes of formats that PyTorch does not have stay
    unsigned integers."""
    import torch

    x = np.asarray(x)
    if not x.flags.writeable:
        x = x.copy()  # PyTorch has no tensors that cannot be written
    name = next((name for name, known in _TYPES.items() if known == x.dtype.name), None)
    if name is None:
        return torch.from_numpy(x)
    return torch.from_numpy(x.view("int16" if x.itemsize == 2 else "uint8")).view(getattr(torch, name))
