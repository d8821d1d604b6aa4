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

		{"blackwell", "cvt.rz.ue8m0x2.f32", 0x3fffffff, 0x7f},
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x3f800000, 0x7f},
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x3f800001, 0x80},
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0xbf800001, 0x80}, // the sign is dropped
		{"blackwell", "cvt.rz.ue8m0x2.f32", 0x80000000, 0x00},
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x00000001, 0x00}, // below 2^-127
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x00400000, 0x00}, // 2^-127
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x00400001, 0x01},
		{"blackwell", "cvt.rz.ue8m0x2.f32", 0x007fffff, 0x00},
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x7f000000, 0xfe}, // 2^127, the most
		{"blackwell", "cvt.rp.ue8m0x2.f32", 0x7f000001, 0xff},
		{"blackwell", "cvt.rp.satfinite.ue8m0x2.f32", 0x7f000001, 0xfe},
		{"blackwell", "cvt.rz.ue8m0x2.f32", 0x7f7fffff, 0xfe},
		{"blackwell", "cvt.rz.ue8m0x2.f32", 0xff800000, 0xff},
		{"blackwell", "cvt.rz.satfinite.ue8m0x2.f32", 0xff800000, 0xfe},
		{"blackwell", "cvt.rp.satfinite.ue8m0x2.f32", 0xffc00000, 0xff},
		{"blackwell", "cvt.rp.satfinite.ue8m0x2.bf16x2", 0x0041, 0x01},
		{"blackwell", "cvt.rn.satfinite.relu.e2m1x2.f32", 0xc0a00000, 0x0},
		{"blackwell", "cvt.rn.satfinite.relu.e3m2x2.f32", 0x41f80000, 0x1f},
		{"blackwell", "cvt.rn.relu.f16x2.e2m3x2", 0x3f, 0x0000},

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
		converts(t, tc.arch, tc.inst, tc.a, 0, tc.d)
	}
}

// TestOperandsOfConversions compares conversions whose random bits or whose scale is an operand with
// results written down by hand.
func TestOperandsOfConversions(t *testing.T) {
	for _, tc := range []struct {
		arch, inst string
		a, b, d    uint64
	}{
		// 1 + 3/32 is three quarters of the way from 1 to 1.125: a quarter of the bits leaves it at 1.
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3f8c0000, 0x3fff, 0x38},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3f8c0000, 0x4000, 0x39},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0xbf8c0000, 0x4000, 0xb9}, // the magnitude is rounded
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3f80000f, 0xffff, 0x38}, // bits below the 16 are cut off
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3f800010, 0xffff, 0x39},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3f800000, 0xffff, 0x38}, // exact: no bits matter
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3b000000, 0xffff, 0x01},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3a800000, 0x7fff, 0x00}, // half of the least subnormal
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x3a800000, 0x8000, 0x01},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0xba800000, 0x7fff, 0x80},
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0x43e40000, 0xffff, 0x7e}, // 456: 480 is beyond the largest
		{"blackwell", "cvt.rs.satfinite.e4m3x4.f32", 0xff800000, 0x0000, 0xfe},
		{"blackwell", "cvt.rs.satfinite.e2m1x4.f32", 0x40a00000, 0x7fff, 0x6}, // 5, half way from 4 to 6
		{"blackwell", "cvt.rs.satfinite.e2m1x4.f32", 0x40a00000, 0x8000, 0x7},
		{"blackwell", "cvt.rs.relu.satfinite.e2m1x4.f32", 0xc0a00000, 0x8000, 0x0},
		{"blackwell", "cvt.rs.f16x2.f32", 0x3f800001, 0x1fff, 0x3c01}, // all 13 bits that are cut off
		{"blackwell", "cvt.rs.f16x2.f32", 0x3f800001, 0x1ffe, 0x3c00},
		{"blackwell", "cvt.rs.f16x2.f32", 0x477ff000, 0x1000, 0x7c00}, // 65520 to 65536: overflow
		{"blackwell", "cvt.rs.f16x2.f32", 0x477ff000, 0x0fff, 0x7bff},
		{"blackwell", "cvt.rs.satfinite.f16x2.f32", 0x477ff000, 0x1000, 0x7bff},
		{"blackwell", "cvt.rs.bf16x2.f32", 0x3fff8000, 0x8000, 0x4000}, // a carry into the exponent
		{"cdna4", "v_cvt_sr_fp8_f32", 0x3f800001, 0xfffff, 0x39},
		{"cdna4", "v_cvt_sr_fp8_f32", 0x3f800001, 0xffffe, 0x38},
		{"cdna4", "v_cvt_sr_fp8_f32", 0x3b000007, 0xfffff, 0x01}, // of a subnormal result the last bits are cut off first
		{"cdna4", "v_cvt_sr_fp8_f32", 0x3b000008, 0xfffff, 0x02},
		{"cdna4", "v_cvt_sr_bf8_f32", 0x3f800001, 0x1fffff, 0x3d},
		{"cdna3", "v_cvt_sr_fp8_f32", 0x43780000, 0x80000, 0x80}, // 248 to 256: overflow to NaN
		{"cdna3", "v_cvt_sr_fp8_f32", 0x43780000, 0x7ffff, 0x7f},

		// Scales are their own codes, as the hardware takes them: narrower results are divided by them.
		{"cdna4", "v_cvt_scalef32_pk_fp8_f32", 0x446f4000, 0x80, 0x7f}, // 957/2 = 478.5: overflow
		{"cdna4", "v_cvt_scalef32_pk_fp8_f32", 0x446f4000, 0x81, 0x77}, // 957/4: 240
		{"cdna4", "v_cvt_scalef32_pk_fp4_f32", 0xc0a00000, 0x7f, 0xe},
		{"cdna4", "v_cvt_scalef32_pk_fp4_f32", 0x80000000, 0x7f, 0x8},
		{"cdna4", "v_cvt_scalef32_pk_fp8_f32", 0x3f800000, 0x80, 0x30}, // 1/2
		{"cdna4", "v_cvt_scalef32_pk_bf8_f16", 0x3c00, 0x7d, 0x44},     // 1/2^-2
		{"cdna4", "v_cvt_scalef32_pk_fp4_bf16", 0x7f00, 0xfe, 0x2},     // 2^127/2^127
		{"cdna4", "v_cvt_scalef32_pk_fp4_bf16", 0x0040, 0x00, 0x2},     // 2^-127/2^-127
		{"cdna4", "v_cvt_scalef32_pk_f32_fp8", 0x01, 0x00, 0x00002000}, // 2^-9 * 2^-127, a subnormal
		{"cdna4", "v_cvt_scalef32_pk_f16_fp4", 0xf, 0x8d, 0xfc00},
		{"cdna4", "v_cvt_scalef32_pk_bf16_bf8", 0x7b, 0x7f, 0x4760},
	} {
		converts(t, tc.arch, tc.inst, tc.a, tc.b, tc.d)
	}
}

// converts checks a conversion of a, with b, by both interpreters and by a kernel.
func converts(t *testing.T, arch, inst string, a, b, d uint64) {
	t.Helper()
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	dot := mma.NewDot(i.Formats, i.K)
	dot.A[0], dot.B[0] = a, b
	for by, got := range map[string]uint64{"sim": m.Dot(dot, nil), "oracle": oracle.Eval(&i.Params, i.Formats, i.K, dot)} {
		if got != d {
			t.Errorf("%s of %s: %x with %x gives %x, want %x", by, i.FullName(), a, b, got, d)
		}
	}
	in, out := mma.BatchOf(i.Formats, 1, []*mma.Dot{dot}), make([]byte, i.D.Width())
	if m.Run(in, out); mma.Load(out, i.D.Width(), 0) != d {
		t.Errorf("kernel %q of %s: %x with %x gives %x, want %x", m.Kernel(), i.FullName(), a, b, out, d)
	}
}
