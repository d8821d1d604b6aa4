package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Programs of units that are not GPUs', with results that were measured on them
// or follow from their manuals.

// vdpbf16ps is x86's VDPBF16PS: two fused multiply-adds, the high pair first;
// subnormals are flushed on the way in and, after rounding, on the way out
// (Intel SDM; AMD Zen 4 agrees).
func vdpbf16ps() mma.Params {
	p := mma.FMA(fp.FP32)
	p.In = mma.Input{Sub: mma.FlushSign, C: mma.FlushSign, Acc: mma.FlushSign}
	p.Order = mma.SwapPairs
	p.Acc.Flush = mma.FlushAfter
	p.Special.NaN = mma.NaNFirst
	return p
}

func TestVDPBF16PS(t *testing.T) {
	p := vdpbf16ps()
	// A and B have the low half of each pair first.
	runEval(t, bf16, []evalTest{
		{"high first, lost", p, "3F80 4B80", "", "3F800000", 0x4B800000},
		{"high first", p, "4B80 3F80", "", "3F800000", 0x4B800001},
		{"two roundings", p, "3F80 3F80", "", "4B800000", 0x4B800000},
		// 2^-63 * 2^-64 + 2^-126: the product is neither rounded nor flushed.
		{"tiny product", p, "0000 2000", "0000 1F80", "00800000", 0x00C00000},
		// 1.5*2^-126 - 2^-126 is flushed before 2^-126 is added.
		{"flushed between", p, "2000 A000", "2000 2000", "00C00000", 0x00800000},
		{"operand flushed", p, "0000 007F", "0000 7F00", "80000000", 0},
		{"c flushed", p, "8000 8000", "", "807FFFFF", 0x80000000},
		{"overflow stays", p, "FF00 7F00", "4000 4000", "3F800000", 0x7F800000},
		{"product beyond fp32", p, "0000 5F80", "0000 5F80", "FF7FFFFF", 0x73800000},
		{"inf times subnormal", p, "7F80 0000", "0001 0000", "", 0xFFC00000},
		// NaNs: of the low pair's operation a, b, then what the high pair gave.
		{"all", p, "7F81 7F82", "7F83 7F84", "7F800005", 0x7FC10000},
		{"low b", p, "3F80 7F82", "7F83 7F84", "7F800005", 0x7FC30000},
		{"high a", p, "3F80 7F82", "3F80 7F84", "7F800005", 0x7FC20000},
		{"high b", p, "3F80 3F80", "3F80 FF84", "7F800005", 0xFFC40000},
		{"c", p, "3F80 3F80", "3F80 3F80", "7F800005", 0x7FC00005},
		{"high inf*0, c", p, "3F80 7F80", "3F80 0000", "7F800005", 0x7FC00005},
		{"high inf*0", p, "3F80 7F80", "3F80 0000", "", 0xFFC00000},
		{"high inf*0, low a", p, "FF81 7F80", "3F80 0000", "", 0xFFC10000},
	})
}

// dpps is SSE4.1's DPPS: rounded products, added in pairs, no C.
func dpps() mma.Params {
	return mma.Params{
		Prod:    mma.Product{Round: rne32},
		Start:   mma.StartEmpty,
		Stage0:  mma.Stage{Sum: mma.Pairwise, Round: rne32},
		Acc:     rne32,
		Special: mma.Special{NaN: mma.NaNFirst, NegZero: true, TinySign: true},
	}
}

func TestDPPS(t *testing.T) {
	p := dpps()
	const one4 = "3F800000 3F800000 3F800000 3F800000"
	runEval(t, c0(fp32), []evalTest{
		{"pairs", p, "4B800000 3F800000 3F800000 3F800000", "", "", 0x4B800001},
		{"product rounded", p, "3F800001 BF800002 0 0", "3F800001 3F800000 0 0", "", 0},
		{"product overflows", p, "7F7FFFFF FF7FFFFF 0 0", "40000000 3F800000 0 0", "", 0x7F800000},
		{"products overflow", p, "7F7FFFFF FF7FFFFF 0 0", "40000000 40000000 0 0", "", 0xFFC00000},
		{"subnormal", p, "00800000 0 0 0", "3F000000 0 0 0", "", 0x00400000},
		{"-0", p, "80000000 80000000 80000000 80000000", one4, "", 0x80000000},
		// Seen in QEMU, which returned the NaN of the largest fraction.
		{"first nan", p, "7FC00001 7FC00002 7FC00003 7FC00004", one4, "", 0x7FC00001},
		{"a before b", p, "7FC00001 0 0 0", "7FC00002 0 0 0", "", 0x7FC00001},
		{"right pair", p, "3F800000 3F800000 3F800000 FF800004", one4, "", 0xFFC00004},
		// The NaN of inf*0 is the left operand of the sum.
		{"inf*0 first", p, "7F800000 7FC00002 0 0", "0 3F800000 0 0", "", 0xFFC00000},
		{"inf*0 second", p, "7FC00002 7F800000 0 0", "3F800000 0 0 0", "", 0x7FC00002},
	})
	flush := p
	flush.In.Sub = mma.FlushSign
	for _, r := range []*mma.Round{&flush.Prod.Round, &flush.Stage0.Round, &flush.Acc} {
		r.Flush = mma.FlushAfter
	}
	runEval(t, c0(fp32), []evalTest{
		{"product flushed", flush, "80800000 80000000 80000000 80000000", "3F000000 3F800000 3F800000 3F800000", "", 0x80000000},
		{"sum flushed", flush, "00C00000 80800000 0 0", "3F800000 3F800000 0 0", "", 0},
		{"operand flushed", flush, "00400000 0 0 0", "4B000000 0 0 0", "", 0},
	})
}

// tdpbf16ps is AMX's TDPBF16PS: two chains, of the even and the odd elements,
// from +0; c is added to their sum.
func tdpbf16ps() mma.Params {
	p := mma.FMA(fp.FP32)
	p.In = mma.Input{Sub: mma.FlushSign, C: mma.FlushSign, Acc: mma.FlushSign}
	p.Lanes, p.Start = 2, mma.StartZero
	p.Acc.Flush = mma.FlushAfter
	p.Late = p.Acc
	return p
}

func TestTDPBF16PS(t *testing.T) {
	p := tdpbf16ps()
	runEval(t, bf16, []evalTest{
		{"even and odd", p, "4B80 3F80 3F80 3F80", "", "", 0x4B800001},
		{"c last", p, "3F80 3F80 3F80 3F80", "", "4B800000", 0x4B800002},
		{"chains overflow apart", p, "7F00 FF00 3F80 3F80", "4000 4000 3F80 3F80", "", 0x7FC00000},
		{"c flushed", p, "0000 0000", "", "007FFFFF", 0},
		{"sum flushed", p, "00C0 8080", "", "00800000", 0x00800000},
		// Seen in Bochs, which flushed the sum of 016F7E35 and 812ECF84.
		{"not tiny", p, "0000 0000", "", "00815D62", 0x00815D62},
	})
	add := p
	add.L = 2
	runEval(t, fp32, []evalTest{
		{"not tiny", add, "016F7E35 812ECF84", "", "", 0x00815D62},
	})
}

// bfdot is Arm's BFDOT with FPCR.EBF = 0: products, their sum and the result
// are rounded to odd; overflow gives infinity.
func bfdot() mma.Params {
	odd := mma.To(fp.FP32, fp.RTO)
	odd.Flush = mma.FlushBefore
	return mma.Params{
		In:      mma.Input{Sub: mma.FlushSign, C: mma.FlushSign},
		Prod:    mma.Product{Round: odd},
		L:       2,
		Stage0:  mma.Stage{Sum: mma.Pairwise, Round: odd},
		Acc:     odd,
		Special: ieee,
	}
}

func TestBFDOT(t *testing.T) {
	p := bfdot()
	runEval(t, bf16, []evalTest{
		{"sum to odd", p, "4B80 3F80", "", "", 0x4B800001},
		{"twice", p, "4B80 3F80", "", "3F800000", 0x4B800001}, // 2^24+3 is between 2^24+2 (odd) and +4
		{"acc to odd", p, "3F80 3F00", "", "4B800000", 0x4B800001},
		{"acc exact", p, "3F80 3F80", "", "4B800000", 0x4B800001},
		{"pair first", p, "4B80 CB80", "", "3F800000", 0x3F800000},
		{"two dots", p, "4B80 CB80 3F80 0000", "", "3F800000", 0x40000000},
		{"overflow", p, "7F00 0000", "4000 0000", "FF7FFFFF", 0x7F800000},
		{"product flushed", p, "8080 8000", "3F00 3F80", "80000000", 0x80000000},
		{"sum flushed", p, "00C0 8080", "", "", 0},
		{"sum negative", p, "CB80 BF80", "", "", 0xCB800001},
	})
}

// lavapipe is Mesa's software Vulkan: the products one after the other without
// a start, c last.
func lavapipe() mma.Params {
	return mma.Params{
		Start:   mma.StartEmpty,
		Stage0:  mma.Stage{Sum: mma.Sequential, Round: rne32},
		Acc:     rne32,
		Late:    rne32,
		Special: ieee,
	}
}

func TestLavapipe(t *testing.T) {
	p := lavapipe()
	const ones8 = "3C00 3C00 3C00 3C00 3C00 3C00 3C00 3C00"
	runEval(t, fp16, []evalTest{
		{"c last", p, ones8, "", "4B800000", 0x4B800004},
		{"in sequence", p, "6C00 3C00 3C00 3C00", "6C00 3C00 3C00 3C00", "", 0x4B800000},
		{"no start", p, "8000 8000", "", "80000000", 0x80000000},
		{"c decides", p, "8000 8000", "", "", 0},
		{"subnormals", p, "0001 0001", "0001 0001", "", 0x28000000}, // 2^-47
	})
	// The FP16 accumulator rounds products, too.
	h := mma.To(fp.FP16, fp.RNE)
	q := p
	q.Prod.Round, q.Stage0.Round, q.Acc, q.Late = h, h, h, h
	runEval(t, half, []evalTest{
		{"product rounded", q, "3C01 BC02", "3C01 3C00", "", 0},
		{"c last", q, ones8, "", "6800", 0x6804},
		{"product overflows", q, "7BFF FBFF", "4000 3C00", "", 0x7C00},
	})
}

// TestArmFP8 is Arm's FP8 FDOT with four products: one rounding of the exact
// sum with c. The unit's 2^-LSCALE is 1 here.
func TestArmFP8(t *testing.T) {
	p := mma.Params{L: 4, Acc: rne32, Special: mma.Special{NaN: mma.NaNQuiet, NegZero: true, TinySign: true}}
	most := p
	most.Acc.Over = mma.OverMax // FPMR.OSM
	f := mma.Formats{A: fp.E5M2, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	runEval(t, f, []evalTest{
		{"one rounding", p, "3C 3C 3C 00", "38 38 38 00", "4B800000", 0x4B800002},
		{"sticky", p, "3C 01 00 00", "38 01 00 00", "4B800000", 0x4B800001}, // 2^24+1+2^-25
		{"steps of four", p, "3C 00 00 00 3C 00 00 00", "38 00 00 00 38 00 00 00", "4B800000", 0x4B800000},
		{"overflow", p, "7B 7B 7B 7B", "7E 7E 7E 7E", "7F7FFFFF", 0x7F7FFFFF},
		{"saturating inf", most, "7C 00 00 00", "38 00 00 00", "", 0x7F800000},
		{"all -0", p, "80 80 80 80", "38 38 38 38", "80000000", 0x80000000},
	})
}

// TestSplitHMMA is the emulation of FP8 mma.sync on Hopper: elements 0 and 1 of
// each four first, then 2 and 3, then C.
func TestSplitHMMA(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k32.f16.e4m3.e4m3.f16")
	if err != nil {
		t.Fatal(err)
	}
	const big, one = 0x68, 0x38 // 64 (times 32 is 2048), 1
	dot := func(a map[int]uint64, c uint64) *mma.Dot {
		d := mma.NewDot(i.Formats, i.K)
		for k, code := range a {
			d.A[k], d.B[k] = code, one
			if code == big {
				d.B[k] = 0x60
			}
		}
		d.C = c
		return d
	}
	for _, c := range []struct {
		name string
		d    *mma.Dot
		want uint64
	}{
		{"second half lost", dot(map[int]uint64{0: big, 2: one}, 0), 0x6800}, // 2049 ties to 2048
		{"one half", dot(map[int]uint64{0: big, 1: one, 4: one}, 0), 0x6801},
		{"first half first", dot(map[int]uint64{1: one, 2: big, 3: one}, 0), 0x6801},
		{"c last", dot(map[int]uint64{0: one, 2: one}, 0x6800), 0x6801},
		{"subnormal operand", dot(map[int]uint64{0: 0x01}, 0), 0x1800}, // 2^-9
		{"-0 + c", dot(map[int]uint64{0: 0x80}, 0x8000), 0},
	} {
		evalEqual(t, c.name, &i.Params, i.Formats, i.K, c.d, c.want)
	}
}
