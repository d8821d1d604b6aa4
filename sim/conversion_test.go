package sim_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestConversions compares rows of the catalogue with results written down by hand: ties,
// overflow, infinities, NaNs, signs and subnormals.
func TestConversions(t *testing.T) {
	for _, tc := range []struct {
		arch, inst string
		a, d       uint64
	}{
		// 957 between 448 and infinity; -448 is the most; a NaN is 7F.
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0x446f4000, 0x7e},
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0xff800000, 0xfe},
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0xffc00001, 0x7f},
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0x3f880000, 0x38}, // 1.0625, a tie: to even, 1
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0x3f980000, 0x3a}, // 1.1875, a tie: to even, 1.25
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0xba800000, 0x80}, // half of the least subnormal: -0
		{"hopper", "cvt.rn.satfinite.e4m3x2.f32", 0x3a800001, 0x01}, // above half: the least subnormal
		{"hopper", "cvt.rn.satfinite.e5m2x2.f16x2", 0x7bff, 0x7b},
		{"hopper", "cvt.rn.f16.f32", 0x477ff000, 0x7c00}, // 65520: half way beyond the largest
		{"hopper", "cvt.rz.f16.f32", 0x477ff000, 0x7bff},
		{"hopper", "cvt.rm.f16.f32", 0xc77ff000, 0xfc00},
		{"hopper", "cvt.rp.f16.f32", 0xc77ff000, 0xfbff},
		{"hopper", "cvt.rna.tf32.f32", 0x3f801000, 0x3f802000}, // a tie: away from zero
		{"hopper", "cvt.rn.tf32.f32", 0x3f801000, 0x3f800000},
		{"blackwell", "cvt.rn.satfinite.e2m1x2.f32", 0x40a00000, 0x6}, // 5: to 4, whose significand is even
		{"blackwell", "cvt.rn.satfinite.e2m1x2.f32", 0x3e800000, 0x0}, // 0.25: to 0
		{"blackwell", "cvt.rn.satfinite.e2m1x2.f32", 0xbf400000, 0xa}, // -0.75: to -1
		{"blackwell", "cvt.rn.satfinite.e2m1x2.f32", 0xff800000, 0xf},
		{"blackwell", "cvt.rn.satfinite.e2m1x2.f32", 0xffffffff, 0x7}, // a NaN: the largest number
		{"blackwell", "cvt.rn.satfinite.e3m2x2.f32", 0x41e00001, 0x1f},
		{"blackwell", "cvt.rn.satfinite.e2m3x2.f32", 0x40f00001, 0x1f},
		{"blackwell", "cvt.rn.f16x2.e2m1x2", 0x9, 0xb800},
		{"blackwell", "cvt.rn.bf16x2.ue8m0x2", 0x00, 0x0040}, // 2^-127, a subnormal
		{"blackwell", "cvt.rn.bf16x2.ue8m0x2", 0xfe, 0x7f00},
		{"blackwell", "cvt.rn.bf16x2.ue8m0x2", 0xff, 0x7fff},

		{"hopper", "cvt.rn.satfinite.relu.e4m3x2.f32", 0xbf800000, 0x00}, // -1: +0
		{"hopper", "cvt.rn.satfinite.relu.e4m3x2.f32", 0xff800000, 0x00},
		{"hopper", "cvt.rn.satfinite.relu.e4m3x2.f32", 0x80000000, 0x00},
		{"hopper", "cvt.rn.satfinite.relu.e4m3x2.f32", 0x446f4000, 0x7e},
		{"hopper", "cvt.rn.satfinite.relu.e5m2x2.f16x2", 0xfe00, 0x7f}, // a NaN is the canonical one
		{"hopper", "cvt.rn.relu.f16x2.e5m2x2", 0xc0, 0x0000},
		{"ampere", "cvt.rz.relu.f16.f32", 0x7f7fffff, 0x7bff},
		{"ampere", "cvt.rn.relu.f16.f32", 0x477ff000, 0x7c00},
		{"ampere", "cvt.rn.relu.satfinite.bf16.f32", 0x7f800000, 0x7f7f},
		{"hopper", "cvt.rn.relu.tf32.f32", 0x3f803000, 0x3f804000},
		{"hopper", "cvt.rn.relu.tf32.f32", 0xbf803000, 0x00000000},

		{"cdna3", "v_cvt_pk_fp8_f32", 0x43700000, 0x7f}, // 240, the most
		{"cdna3", "v_cvt_pk_fp8_f32", 0x43780000, 0x80}, // 248: overflow to NaN
		{"cdna3", "v_cvt_pk_fp8_f32", 0x80000000, 0x00}, // there is no -0
		{"cdna4", "v_cvt_pk_fp8_f32", 0x43700000, 0x77},
		{"cdna3", "v_cvt_pkrtz_f16_f32", 0x7f7fffff, 0x7bff},

		{"x86", "vcvtneps2bf16", 0x3f808000, 0x3f80}, // a tie
		{"x86", "vcvtneps2bf16", 0x3f818000, 0x3f82},
		{"x86", "vcvtneps2bf16", 0x807fffff, 0x8000}, // a subnormal is flushed
		{"x86", "vcvtneps2bf16", 0xff812345, 0xffc1}, // a NaN is cut and made quiet
		{"x86", "vcvtps2ph", 0x33000000, 0x0000},     // 2^-25: half of the least subnormal
		{"x86", "vcvtps2ph.ru", 0x33000000, 0x0001},
		{"x86", "vcvtps2ph.ru.daz", 0x00000001, 0x0000},
		{"x86", "vcvtph2ps", 0xfc01, 0xffc02000},
		{"x86", "vcvtpd2ps", 0x36a0000000000000, 0x00000001},
		{"x86", "vcvtph2hf8", 0x5f40, 0x7e}, // 464, half way to 480, which would be odd
		{"x86", "vcvtph2hf8", 0x5f41, 0x7f},
		{"x86", "vcvtph2hf8s", 0x5f41, 0x7e},

		{"arm", "bfcvt", 0x7f800001, 0x7fc0},
		{"arm", "bfcvt.fz", 0x00400000, 0x0000},
		{"arm", "fcvtn.e4m3", 0x44000000, 0x7f},
		{"arm", "fcvtn.e4m3.osc", 0x44000000, 0x7e},

		// riscv-isa-sim, issue 2284: an overflow rounded toward zero is the largest number.
		{"riscv", "vfncvtbf16.f.f.w.e8.rz", 0x5bf8, 0x7e},
		{"riscv", "vfncvtbf16.f.f.w.e8", 0x5bf8, 0x7f},
		{"riscv", "vfncvtbf16.sat.f.f.w.e8", 0x5bf8, 0x7e},
		{"riscv", "vfncvtbf16.f.f.w.e8alt.rmm", 0x3f90, 0x3d}, // 1.125, a tie: away from zero
		{"riscv", "vfncvtbf16.f.f.w.e8alt", 0x3f90, 0x3c},
		{"riscv", "vfncvtbf16.f.f.w.e8alt", 0xffc1, 0x7f}, // the canonical NaN of OFP8
		{"riscv", "vfncvt.f.f.q", 0x43e80000, 0x7e},       // 464, half way to what would be 480
		{"riscv", "vfncvt.f.f.q.e8alt", 0x477fffff, 0x7c},
		{"riscv", "vfncvt.sat.f.f.q.e8alt", 0x7f800000, 0x7b},
		{"arm", "fcvtn.e5m2", 0x7fc00000, 0x7e}, // FP8DefaultNaN: the upper bit of the fraction
	} {
		i, err := mma.Lookup(tc.arch, tc.inst)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			t.Fatal(err)
		}
		dot := mma.NewDot(i.Formats, i.K)
		dot.A[0] = tc.a
		for by, got := range map[string]uint64{"sim": m.Dot(dot, nil), "oracle": oracle.Eval(&i.Params, i.Formats, i.K, dot)} {
			if got != tc.d {
				t.Errorf("%s of %s: %x gives %x, want %x", by, i.FullName(), tc.a, got, tc.d)
			}
		}
		in, out := mma.BatchOf(i.Formats, 1, []*mma.Dot{dot}), make([]byte, i.D.Width())
		if m.Run(in, out); mma.Load(out, i.D.Width(), 0) != tc.d {
			t.Errorf("kernel %q of %s: %x gives %x, want %x", m.Kernel(), i.FullName(), tc.a, out, tc.d)
		}
	}
}
