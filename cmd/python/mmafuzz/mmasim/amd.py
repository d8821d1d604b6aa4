"""MMA-Sim's instructions of AMD's GPUs."""

from . import MMAOperation

__all__ = ["MFMA"]


class MFMA(MMAOperation):
    """MFMA("CDNA3", "f32_32x32x8_f16")."""

    def __init__(self, arch, suffix):
        super().__init__("v_mfma_", arch, suffix)
        self.suffix = suffix
