"""mmafuzz.mmasim beside MMA-Sim, where that is installed (.ci/nightly frameworks): every instruction
that both have, on random bits, as MMA-Sim's own tests of its models on GPUs do, and on inputs of ours."""

import importlib.util
import os
import sys
import unittest

import numpy as np

import mmafuzz

missing = [m for m in ("torch", "mmasim") if not importlib.util.find_spec(m)]
if not missing:
    from mmafuzz.mmasim import _ARCHS

ROWS, COLUMNS = 64, 32


def instructions():
    """Every instruction that both have: its architecture and name, the instances of the two classes,
    ours first, and whether it is, of sizes that differ in the number of outputs alone, the smallest."""
    import mmasim.amd.isa_mfma as mfma
    import torch
    from mmasim.nv_ptx import isa_mma, isa_tcgen05mma, isa_wgmma

    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]  # ninja
    torch.set_num_threads(1)
    for arch in _ARCHS:
        for module, cls, table in [("amd", "MFMA", mfma.arch_mfma_suffix), ("nv_ptx", "MMA", isa_mma.mma_shape_and_type),
                                   ("nv_ptx", "MMABlockScale", isa_mma.mma_block_scale_shape_and_type),
                                   ("nv_ptx", "WGMMA", isa_wgmma.wgmma_shape_and_type),
                                   ("nv_ptx", "TCGen05MMA", isa_tcgen05mma.tcgen05mma_shape_and_type),
                                   ("nv_ptx", "TCGen05MMABlockScale", isa_tcgen05mma.tcgen05mma_block_scale_shape_and_type)]:
            for name in table.get(arch, []):
                mine, other = (getattr(importlib.import_module(f"{p}.{module}"), cls)(arch, name) for p in ("mmafuzz.mmasim", "mmasim"))
                yield arch, name, mine, other, module == "amd" or "n8k" in name


def tensor(rng, dtype, *shape):
    """Random bits."""
    import torch

    return torch.from_numpy(rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8)).view(dtype)[..., 0]


def operands(op, rng, rows, columns):
    a, b = (tensor(rng, t, n, op.k // getattr(op, "packing", 1)) for t, n in ((op.a_type, rows), (op.b_type, columns)))
    c = tensor(rng, op.c_type, rows, columns)
    if hasattr(op, "s_type"):
        sa, sb = (tensor(rng, op.s_type, n, op.k // op.block_size) for n in (rows, columns))
        return a, b.T, c, sa, sb.T
    return a, b.T, c


@unittest.skipIf(missing, f"no {', '.join(missing)}: mmafuzz.mmasim is not compared with MMA-Sim")
class MMASim(unittest.TestCase):
    def test_all(self):
        """MMA-Sim's classes and ours have the same fields and results. What differs has a reason: MMA-Sim
        loses infinities and NaNs in CDNA3's FP8 (devices/exec/children/FINDINGS.md), and nobody
        has shown the codes of NaNs of CDNA and of FP64, where both have their own."""
        import torch

        rng, compared = np.random.default_rng(1), 0
        for arch, name, mine, other, smallest in instructions():
            with self.subTest(f"{arch} {name}"):
                for field in ("arch", "m", "n", "k", "a_type", "b_type", "c_type", "d_type", "packing", "block_size", "s_type"):
                    self.assertEqual(getattr(mine, field, None), getattr(other, field, getattr(mine, field, None)), field)
                if not smallest:
                    continue
                for rows, columns in ((ROWS, COLUMNS), (other.m, other.n)):  # which are computed in different ways
                    x = operands(other, rng, rows, columns)
                    got, want = mine(*x), other(*x)
                    self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape))
                    wrong = (got.contiguous().view(torch.uint8) != want.contiguous().view(torch.uint8)).reshape(rows, columns, -1).any(-1)
                    if arch.startswith("CDNA") or ".f64" in name:
                        wrong &= ~(got.isnan() & want.isnan())
                    if arch == "CDNA3" and name[-3:] in ("fp8", "bf8"):
                        finite = [t.float().isfinite() for t in x]
                        wrong &= finite[2] & finite[0].all(1)[:, None] & finite[1].all(0)
                    self.assertEqual(int(wrong.sum()), 0)
                compared += 1
        self.assertEqual(compared, 380)

    def test_tile(self):
        """A tile of the instruction's own shape, however it is stored, is what the rows one by one are."""
        import torch

        rng = np.random.default_rng(3)
        for module, cls, arch, name in (("nv_ptx", "MMA", "Hopper", "m16n8k16.f32.f16.f16.f32"), ("nv_ptx", "MMA", "Ampere", "m16n8k8.f32.tf32.tf32.f32"),
                                        ("nv_ptx", "WGMMA", "Hopper", "m64n16k32.f16.e4m3.e4m3"), ("amd", "MFMA", "CDNA3", "f64_16x16x4_f64"),
                                        ("nv_ptx", "TCGen05MMA", "Blackwell", "m64n8k32.kind::f8f6f4.f32.e3m2.e2m1"),
                                        ("nv_ptx", "MMABlockScale", "RTX Blackwell", "m16n8k32.kind::mxf8f6f4.block32.f32.e2m1.e2m3.f32.ue8m0"),
                                        ("nv_ptx", "TCGen05MMABlockScale", "Blackwell", "m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")):
            op = getattr(importlib.import_module("mmafuzz.mmasim." + module), cls)(arch, name)
            a, b, c, *scales = operands(op, rng, op.m, op.n)
            want = torch.cat([op(*(x if n in (1, 4) else x[r:r + 1] for n, x in enumerate((a, b, c, *scales)))) for r in range(op.m)])
            spaced = torch.stack([a, a], 2)[:, :, 0]
            turned = [x.T.contiguous().T for x in scales]
            for x in ((a, b, c, *scales), (a, b.contiguous(), c, *(x.contiguous() for x in scales)), (spaced, b, c, *scales),
                      (a, b, c.T.contiguous().T, *turned), (a, torch.stack([b, b], 2)[:, :, 0], c, *scales)):
                got = op(*x)
                self.assertEqual((got.dtype, got.shape), (op.d_type, (op.m, op.n)))
                self.assertTrue(torch.equal(got.contiguous().view(torch.uint8), want.contiguous().view(torch.uint8)), name)

    def test_tensors(self):
        """Units and comparisons take tensors: those of ml_dtypes' types, strided ones, those with a gradient."""
        import torch

        for name, dtype in (("sim:hopper/mma.m16n8k16.f32.f16.f16.f32", torch.float16), ("sim:hopper/mma.m16n8k16.f32.bf16.bf16.f32", torch.bfloat16),
                            ("sim:ada/mma.m16n8k32.f32.e4m3.e4m3.f32", torch.float8_e4m3fn), ("sim:ada/mma.m16n8k32.f32.e5m2.e5m2.f32", torch.float8_e5m2),
                            ("sim:cdna3/v_mfma_f32_16x16x32_fp8_fp8", torch.float8_e4m3fnuz), ("sim:cdna3/v_mfma_f32_16x16x32_bf8_bf8", torch.float8_e5m2fnuz)):
            u = mmafuzz.unit(name)
            arrays = u.inputs(50)
            a, b, c = map(mmafuzz.tensor, arrays)
            want = u(*arrays, codes=True)
            self.assertEqual((a.dtype, b.dtype, c.dtype), (dtype, dtype, torch.float32))
            backwards = [mmafuzz.tensor(x[::-1]) for x in arrays]
            np.testing.assert_array_equal(u(*backwards, codes=True), want[::-1])
            for x in ((a, b, c), (torch.stack([a, a], 2)[..., 0], b, c.clone().requires_grad_())):
                np.testing.assert_array_equal(u(*x, codes=True), want)
            with self.assertRaisesRegex(TypeError, r"is an array of float64.*use \.to"):
                u(a.double(), b, c)
            with self.assertRaisesRegex(TypeError, "tensor on meta"):
                u(a.to("meta"), b, c)
            kernel = lambda a, b, c: mmafuzz.tensor(u(*map(mmafuzz.tensor, (a, b, c))))  # noqa: E731
            self.assertFalse(mmafuzz.compare(kernel, u, count=1000))

    def test_dpa(self):
        """Dot products, of any shape, are those of the matrices."""
        import torch
        from mmafuzz.mmasim.nv_ptx import MMA, TCGen05MMABlockScale

        rng = np.random.default_rng(2)
        for op in (MMA("Hopper", "m16n8k16.f32.f16.f16.f32"), TCGen05MMABlockScale("Blackwell", "m128n96k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0")):
            a, b, c, *scales = operands(op, rng, 4, 3)
            spread = [scales[0][:, None], scales[1].T[None]] if scales else []
            d = op.dpa(a[:, None], b.T[None], c, *spread)
            self.assertTrue(torch.equal(d.view(torch.int32), op(a, b, c, *scales).view(torch.int32)))
        with self.assertRaisesRegex(TypeError, "takes torch.float16"):
            op = MMA("Hopper", "m16n8k16.f32.f16.f16.f32")
            op(c, c, c)
        for arch, name in (("Hopper", "m16n8k16.f32.f16.f16"), ("Fermi", "m16n8k16.f32.f16.f16.f32")):
            with self.assertRaises(mmafuzz.Error):
                MMA(arch, name)


if __name__ == "__main__":
    unittest.main()
