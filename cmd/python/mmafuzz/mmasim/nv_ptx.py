"""MMA-Sim's instructions of NVIDIA's GPUs."""

from . import MMABlockScaleOperation, MMAOperation

__all__ = ["MMA", "MMABlockScale", "TCGen05MMA", "TCGen05MMABlockScale", "WGMMA"]


def _named(base, prefix, size=None):
    """A class of instructions, by architecture, and by shape and type."""

    class Instruction(base):
        def __init__(self, arch, shape_and_type):
            super().__init__(prefix, arch, shape_and_type, size)
            self.shape_and_type = shape_and_type

    return Instruction


class MMA(_named(MMAOperation, "mma.")):
    """MMA("Hopper", "m16n8k16.f32.f16.f16.f32")."""


class MMABlockScale(_named(MMABlockScaleOperation, "mma.")):
    """MMABlockScale("RTX Blackwell", "m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0")."""


class WGMMA(_named(MMAOperation, "wgmma.", "m64n8")):
    """WGMMA("Hopper", "m64n256k32.f32.e4m3.e4m3")."""


class TCGen05MMA(_named(MMAOperation, "tcgen05.", "m128n8")):
    """TCGen05MMA("Blackwell", "m128n256k32.kind::f8f6f4.f32.e4m3.e4m3")."""


class TCGen05MMABlockScale(_named(MMABlockScaleOperation, "tcgen05.", "m128n8")):
    """TCGen05MMABlockScale("Blackwell", "m128n256k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0")."""
