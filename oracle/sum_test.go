package oracle

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestPermutations(t *testing.T) {
	for _, c := range []struct {
		order mma.Order
		want  []int
	}{
		{mma.Ascending, []int{0, 1, 2, 3, 4}},
		{mma.Descending, []int{4, 3, 2, 1, 0}},
		{mma.SwapPairs, []int{1, 0, 3, 2}},
		{mma.SwapPairs, []int{1, 0, 3, 2, 4}}, // nothing to swap with
		{mma.Split4, []int{0, 1, 4, 5, 2, 3, 6, 7}},
		{mma.Split4, []int{0, 1, 4, 2, 3}},
		{mma.EvenOdd, []int{0, 2, 4, 1, 3}},
		{mma.Halves, []int{0, 3, 1, 4, 2, 5}},
		{mma.Halves, []int{0, 2, 1, 3, 4}}, // K/2 = 2, the last is left over
		{mma.Halves, []int{0}},
	} {
		if got := permutation(c.order, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s of %d: %v, want %v", c.order, len(c.want), got, c.want)
		}
	}
}

// staged is one stage with the rounding of an FP32 addition, before a join that
// adds c; c is +0 where the stage is tested.
func staged(s mma.Stage) mma.Params {
	s.Round = rne32
	return mma.Params{Stage0: s, Acc: rne32, Special: ieee}
}

func TestSums(t *testing.T) {
	sequential := staged(mma.Stage{Sum: mma.Sequential})
	pairwise := staged(mma.Stage{Sum: mma.Pairwise})
	halves := staged(mma.Stage{Sum: mma.PairHalves})
	fused := staged(mma.Stage{Sum: mma.Fused})
	const (
		big1111 = "4B80 3F80 3F80 3F80 3F80"
		big011  = "4B80 3F80 3F80"
		onesBig = "3F80 3F80 4B80"
	)
	runEval(t, bf16, []evalTest{
		// Each 1 is lost on its own: the tie goes to the even 2^24.
		{"sequential", sequential, big1111, "", "", 0x4B800000},
		// ((2^24+1) + (1+1)) + 1: 2^24+2, and the tie 2^24+3 goes up to even.
		{"pairwise", pairwise, big1111, "", "", 0x4B800002},
		// ((2^24+1) + 1) + (1+1).
		{"halves", halves, big1111, "", "", 0x4B800001},
		{"fused", fused, big1111, "", "", 0x4B800002},
		// Three terms: an odd last one is carried up by pairwise, the middle
		// one by halves.
		{"sequential of 3", sequential, onesBig, "", "", 0x4B800001},
		{"pairwise of 3", pairwise, onesBig, "", "", 0x4B800001},
		{"halves of 3", halves, onesBig, "", "", 0x4B800000}, // (1+2^24)+1
		{"halves of 3, big first", halves, big011, "", "", 0x4B800000},
		{"pairwise of 3, big in the middle", pairwise, "3F80 4B80 3F80", "", "", 0x4B800000},
		{"halves of 3, big in the middle", halves, "3F80 4B80 3F80", "", "", 0x4B800001},
	})
}

func TestGroupsAndSplits(t *testing.T) {
	with := func(how mma.Split, n uint8, sum mma.Sum) mma.Params {
		return staged(mma.Stage{Sum: sum, Split: how, Group: n})
	}
	runEval(t, bf16, []evalTest{
		// (2^24+1) and (1+1) joined in one exact sum: 2^24+2.
		{"adjacent", with(mma.Adjacent, 2, mma.Fused), "4B80 3F80 3F80 3F80", "", "", 0x4B800001},
		// A group of all: 2^24+3 ties up.
		{"adjacent, all", with(mma.Adjacent, 0, mma.Fused), "4B80 3F80 3F80 3F80", "", "", 0x4B800002},
		// The last group is shorter: (2^24+1), (1+1), 1: 2^24+3 at the join.
		{"adjacent, shorter last", with(mma.Adjacent, 2, mma.Fused), "4B80 3F80 3F80 3F80 3F80", "", "", 0x4B800002},
		// {0,2,4} and {1,3}: 2^24+2 and 2.
		{"interleaved", with(mma.Interleaved, 2, mma.Fused), "4B80 3F80 3F80 3F80 3F80", "", "", 0x4B800002},
		// {0,2} = 2^24 by the tie, {1,3} = 2.
		{"interleaved, tie", with(mma.Interleaved, 2, mma.Fused), "4B80 3F80 3F80 3F80", "", "", 0x4B800001},
		// {0,2}, {1}: more groups than would be full.
		{"interleaved, more groups than terms", with(mma.Interleaved, 7, mma.Fused), "4B80 3F80 3F80", "", "", 0x4B800001},
	})
}

func TestTwoStages(t *testing.T) {
	p := staged(mma.Stage{Sum: mma.Fused, Group: 2})
	p.Stage1 = mma.Stage{Sum: mma.Sequential, Round: rne32}
	runEval(t, bf16, []evalTest{
		// (1+0), (0+1), (2^24+0) in sequence: 2 + 2^24. Exact pairs of pairs
		// would give the same for any order, so the next line reverses it.
		{"small first", p, "3F80 0000 0000 3F80 4B80 0000", "", "", 0x4B800001},
		{"big first", p, "4B80 0000 0000 3F80 3F80 0000", "", "", 0x4B800000},
	})
}

// TestGroupOfOne: a sum of one term is that term for the sums made of additions
// of two, but a fused sum (aligned, rounded) for Fused.
func TestGroupOfOne(t *testing.T) {
	stage := func(s mma.Sum, a mma.Align, r mma.Round) mma.Params {
		return mma.Params{Stage0: mma.Stage{Sum: s, Align: a, Round: r}, Acc: rne32, Special: ieee}
	}
	coarse := mma.Round{Frac: 3, Mode: fp.RZ}
	cut := mma.Align{F: 3, Mode: fp.RZ}
	const square = 0x3F804008 // (1+2^-10)^2 = 1 + 2^-9 + 2^-20
	for _, s := range []mma.Sum{mma.Sequential, mma.Pairwise, mma.PairHalves} {
		runEval(t, fp16, []evalTest{
			{s.String() + " round", stage(s, mma.Align{}, coarse), "3C01", "3C01", "", square},
			{s.String() + " align", stage(s, cut, mma.Round{}), "3C01", "3C01", "", square},
			// A second term, though 0, makes it an addition.
			{s.String() + " of two", stage(s, mma.Align{}, coarse), "3C01 0000", "3C01 0000", "", 0x3F800000},
		})
	}
	runEval(t, fp16, []evalTest{
		{"fused round", stage(mma.Fused, mma.Align{}, coarse), "3C01", "3C01", "", 0x3F800000},
		{"fused align", stage(mma.Fused, cut, mma.Round{}), "3C01", "3C01", "", 0x3F800000},
		// What is carried up a tree is that term, too: 2^-4 + (1+2^-4).
		{"last of three", stage(mma.Pairwise, mma.Align{}, coarse), "2C00 0000 3C40", "", "", 0x3F900000},
		{"middle of three", stage(mma.PairHalves, mma.Align{}, coarse), "2C00 3C40 0000", "", "", 0x3F900000},
	})
}

// TestNominalExponents: what a sum of a stage counts as having in the join,
// which here keeps 2 fraction bits.
func TestNominalExponents(t *testing.T) {
	p := mma.Params{Join: mma.Join{Align: mma.Align{F: 2, Mode: fp.RZ}}, Acc: rne32, Special: ieee}
	stage := func(s mma.Stage) mma.Params {
		q := p
		q.Stage0 = s
		return q
	}
	pairs := stage(mma.Stage{Sum: mma.Fused, Group: 2})
	rounded := stage(mma.Stage{Sum: mma.Fused, Group: 2, Round: rne32})
	bounded := stage(mma.Stage{Sum: mma.Fused, Group: 2, Round: mma.Round{Emax: 100}})
	fixed := stage(mma.Stage{Sum: mma.Fused, Group: 2, Fixed: true})
	floor := stage(mma.Stage{Sum: mma.Fused, Group: 2, Align: mma.Align{F: 60, Mode: fp.RZ, Floor: 4}})
	runEval(t, fp16, []evalTest{
		// 1-1 is 0 with exponent 0: 2^-3 from the other pair is cut at 2^-2.
		{"cancelled", pairs, "3C00 BC00 3000 0000", "", "", 0},
		// 0+0 is null.
		{"null", pairs, "0000 8000 3000 0000", "", "", 0x3E000000},
		// Normalised by its rounding, a cancelled sum is null, too.
		{"rounded", rounded, "3C00 BC00 3000 0000", "", "", 0x3E000000},
		// A Round without Frac is not a rounding.
		{"bounded", bounded, "3C00 BC00 3000 0000", "", "", 0},
		// 1 + (-1+2^-3) is 2^-3 with exponent 0: cut; rounded it counts as -3.
		{"kept", pairs, "3C00 BB00 0000 0000", "", "", 0},
		{"normalised", rounded, "3C00 BB00 0000 0000", "", "", 0x3E000000},
		// Fixed point has exponent 0 whatever the terms: 2^10 + 2^-2 is kept
		// but 2^-3 is cut; without it the exponent is 10.
		{"fixed", fixed, "6400 3400 0000 3000", "", "", 0x44800800},
		{"not fixed", pairs, "6400 3400 0000 3000", "", "", 0x44800000},
		{"fixed null", fixed, "0000 0000 0000 0000", "", "3E000000", 0x3E000000},
		// The floor of the stage's alignment is part of the sum's exponent:
		// cut at 2^(4-2).
		{"floor", floor, "3C00 0000", "", "40C00000", 0x40800000},
		// It is not if all terms are null.
		{"floor, null", floor, "0000 0000", "", "40C00000", 0x40C00000},
	})
}

func TestProductExponents(t *testing.T) {
	with := func(e mma.ProdExp) mma.Params {
		return mma.Params{Prod: mma.Product{Exp: e}, Join: mma.Join{Align: mma.Align{F: 1, Mode: fp.RZ}}, Acc: rne32, Special: ieee}
	}
	// 1.5*1.5 = 2.25 has exponent 0 or 1; c = 0.5 is kept or cut.
	const x15, half32 = "3E00", "3F000000"
	// 2^-24 * 2^15 = 2^-9 has exponent -14+15 = 1 or -9; c = 2^-9.
	const tiny, large, c = "0001", "7800", "3B000000"
	runEval(t, fp16, []evalTest{
		{"field-sum", with(mma.FieldSum), x15, x15, half32, 0x40200000},
		{"operand-sum", with(mma.OperandSum), x15, x15, half32, 0x40200000},
		{"normalised", with(mma.Normalised), x15, x15, half32, 0x40000000},
		{"field-sum of subnormal", with(mma.FieldSum), tiny, large, c, 0},
		{"operand-sum of subnormal", with(mma.OperandSum), tiny, large, c, 0x3B800000},
		{"normalised of subnormal", with(mma.Normalised), tiny, large, c, 0x3B800000},
	})
}

func TestOrderInChains(t *testing.T) {
	with := func(o mma.Order) mma.Params { return fma(func(p *mma.Params) { p.Order = o }) }
	const c = "3F800000" // 1
	runEval(t, bf16, []evalTest{
		{"ascending", with(mma.Ascending), "3F80 4B80", "", c, 0x4B800001},    // (1+1)+2^24
		{"descending", with(mma.Descending), "3F80 4B80", "", c, 0x4B800000},  // (1+2^24)+1
		{"swap-pairs", with(mma.SwapPairs), "4B80 3F80", "", c, 0x4B800001},   // as ascending, swapped
		{"even-odd", with(mma.EvenOdd), "3F80 4B80 3F80", "", "", 0x4B800001}, // (1+1)+2^24
		{"halves", with(mma.Halves), "3F80 4B80 3F80 0000", "", "", 0x4B800001},
		{"split4", with(mma.Split4), "3F80 0000 4B80 0000 3F80 0000 0000 0000", "", "", 0x4B800001},
		{"not split4", with(mma.Ascending), "3F80 0000 4B80 0000 3F80 0000 0000 0000", "", "", 0x4B800000},
	})
}

func TestStepsOfL(t *testing.T) {
	with := func(l uint8) mma.Params { return fma(func(p *mma.Params) { p.L = l }) }
	const a = "4B80 3F80 3F80 3F80 3F80"
	runEval(t, bf16, []evalTest{
		{"1", with(1), a, "", "", 0x4B800000},
		{"2", with(2), a, "", "", 0x4B800002}, // 2^24+1 ties down, +2, then 2^24+3 ties up
		{"3", with(3), a, "", "", 0x4B800002}, // 2^24+2, then 2
		{"4", with(4), a, "", "", 0x4B800002}, // 2^24+3 ties up, then 2^24+5 ties down
		{"all", with(0), a, "", "", 0x4B800002},
		{"more than all", with(9), a, "", "", 0x4B800002},
		{"2, last step of one", with(2), "4B80 0000 3F80", "", "", 0x4B800000},
	})
}

func TestLanes(t *testing.T) {
	lanes := func(n, l uint8, s mma.Start) mma.Params {
		return fma(func(p *mma.Params) { p.L, p.Lanes, p.Start, p.Late = l, n, s, rne32 })
	}
	runEval(t, bf16, []evalTest{
		// {0,2} = 2^24 by the tie, {1,3} = 2.
		{"two", lanes(2, 1, mma.StartZero), "4B80 3F80 3F80 3F80", "", "", 0x4B800001},
		// c is added last: (2+2) + 2^24.
		{"c last", lanes(2, 1, mma.StartZero), "3F80 3F80 3F80 3F80", "", "4B800000", 0x4B800002},
		// c starts lane 0: 2^24+1+1 = 2^24, and 1+1.
		{"c first", lanes(2, 1, mma.StartC), "3F80 3F80 3F80 3F80", "", "4B800000", 0x4B800001},
		// A step of a lane takes L products of that lane: {0,2} and {4,6}.
		{"L of a lane", lanes(2, 2, mma.StartZero), "4B80 0000 3F80 0000 3F80 0000 0000 0000", "", "", 0x4B800000},
		{"all of a lane", lanes(2, 0, mma.StartZero), "4B80 0000 3F80 0000 3F80 0000 0000 0000", "", "", 0x4B800001},
		// Lanes are added one after the other: (2^24+1)+1.
		{"three", lanes(3, 1, mma.StartZero), "4B80 3F80 3F80", "", "", 0x4B800000},
		{"three, big last", lanes(3, 1, mma.StartZero), "3F80 3F80 4B80", "", "", 0x4B800001},
		// A lane without products is +0.
		{"idle", lanes(3, 1, mma.StartZero), "3F80 3F80", "", "", 0x40000000},
		{"idle and empty", lanes(3, 1, mma.StartEmpty), "3F80 3F80", "", "", 0x40000000},
		{"-0", lanes(2, 1, mma.StartEmpty), "8000 8000", "", "80000000", 0x80000000},
		{"idle is +0", lanes(2, 1, mma.StartEmpty), "8000", "", "80000000", 0},
	})
}

func TestStarts(t *testing.T) {
	start := func(s mma.Start) mma.Params {
		return fma(func(p *mma.Params) {
			if p.Start = s; s != mma.StartC {
				p.Late = rne32
			}
		})
	}
	runEval(t, bf16, []evalTest{
		// Between 2^24 and 2^24+4 in steps of 1.
		{"c first", start(mma.StartC), "3F80 3F80", "", "4B800000", 0x4B800000},
		{"zero: c last", start(mma.StartZero), "3F80 3F80", "", "4B800000", 0x4B800001},
		{"empty: c last", start(mma.StartEmpty), "3F80 3F80", "", "4B800000", 0x4B800001},
		{"c", start(mma.StartC), "8000", "", "80000000", 0x80000000},
		{"zero counts for the sign", start(mma.StartZero), "8000", "", "80000000", 0},
		{"empty does not", start(mma.StartEmpty), "8000", "", "80000000", 0x80000000},
	})
	runEval(t, c0(bf16), []evalTest{
		{"no c", fma(nil), "8000", "", "", 0}, // -0 + +0
		{"no c, empty", fma(func(p *mma.Params) { p.Start = mma.StartEmpty }), "8000", "", "", 0x80000000},
		{"no c, zero", fma(func(p *mma.Params) { p.Start = mma.StartZero }), "8000", "", "", 0},
	})
}

// TestRepeated: more elements than K mean the repeated execution of the
// instruction.
func TestRepeated(t *testing.T) {
	fused := mma.Params{Acc: rne32, Special: ieee}
	empty := mma.Params{Start: mma.StartEmpty, Acc: rne32, Special: ieee}
	last := mma.Params{Start: mma.StartEmpty, Acc: rne32, Late: rne32, Special: ieee}
	out := mma.Params{Acc: rne32, Out: mma.To(fp.FP16, fp.RNE), Special: ieee}
	mixed := half
	mixed.C = fp.FP32
	for _, c := range []struct {
		name string
		p    mma.Params
		f    mma.Formats
		k    int
		d    evalTest
		want uint64
	}{
		// One at a time each 1 is lost, three at a time none.
		{"k=1", fused, bf16, 1, evalTest{a: "3F80 3F80 3F80", c: "4B800000"}, 0x4B800000},
		{"k=3", fused, bf16, 3, evalTest{a: "3F80 3F80 3F80", c: "4B800000"}, 0x4B800002},
		// Without C the previous D is still added.
		{"no c", fused, c0(bf16), 1, evalTest{a: "3F80 3F80 4B80"}, 0x4B800001},
		{"no c, empty start", empty, c0(bf16), 1, evalTest{a: "3F80 3F80 4B80"}, 0x4B800001},
		{"no c, empty start, rounded", empty, c0(bf16), 1, evalTest{a: "4B80 3F80"}, 0x4B800000},
		// ((c + 2^24) + (1+1)): the first sum of each execution is exact.
		{"c last", last, bf16, 2, evalTest{a: "4B80 0000 3F80 3F80", c: "3F800000"}, 0x4B800001},
		// D is FP16: 2048+1 = 2048, twice; in FP32 it would be 2050.
		{"narrow d", out, half, 1, evalTest{a: "6800 3C00 3C00"}, 0x6800},
		// Only the first C is FP32 here.
		{"c and d differ", out, mixed, 1, evalTest{a: "0000 3C00 3C00", c: "45000000"}, 0x6800},
	} {
		evalEqual(t, c.name, &c.p, c.f, c.k, testDot(t, c.f, c.d), c.want)
	}
}

// TestGroupScales: NVIDIA's GST-FDPA is in the specification vectors; here are
// the nominal exponents of its sums, and scales that it does not have.
func TestGroupScales(t *testing.T) {
	f := mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 2}
	p := mma.TFDPA(4, 4, mma.To(fp.FP32, fp.RZ), 0)
	p.Scale, p.Stage0 = mma.ScaleGroup, mma.Stage{Sum: mma.Fused, Group: 2, Fixed: true}
	const one, two, minus, max6, least = "02", "04", "0A", "07", "01"
	for _, c := range []struct {
		name, a, b, sa, sb string
		want               uint64
	}{
		// UE4M3: 38 is 1, 3C 1.5, 01 2^-9 with exponent -6, 7F NaN.
		{"ones", one + " " + one + " 00 00", one + " " + one + " 00 00", "38 38", "38 38", 0x40000000},
		{"two blocks", one + " 00 " + one + " 00", one + " 00 " + one + " 00", "38 3C", "38 3C", 0x40500000}, // 1 + 2.25
		{"order of scales", one + " 00 00 00", one + " 00 00 00", "3C 38", "38 40", 0x3FC00000},
		// 1-1 with scale 2^6 (68) keeps exponent 6: 2^1 is cut at 2^2.
		{"cancelled", one + " " + minus + " " + two + " 00", one + " " + one + " " + one + " 00", "68 38", "38 38", 0},
		// A zero scale makes a group null: nothing is cut.
		{"zero scale", max6 + " 00 " + two + " 00", max6 + " 00 " + one + " 00", "00 38", "68 38", 0x40000000},
		// A zero group is null, its scale does not count.
		{"zero group", "00 00 " + two + " 00", max6 + " 00 " + one + " 00", "68 38", "68 38", 0x40000000},
		// The subnormal scale 2^-9 counts as -6: with F = 4 the unit is 2^-10.
		{"subnormal scale", one + " 00 00 00", one + " 00 00 00", "01 38", "38 38", 0x3B000000},
		{"subnormal scale, cut", least + " 00 00 00", least + " 00 00 00", "01 38", "38 38", 0},
		{"nan scale of a null group", "00 00 00 00", "00 00 00 00", "38 38", "38 7F", 0x7FFFFFFF},
	} {
		d := &mma.Dot{A: hexCodes(t, c.a), B: hexCodes(t, c.b), SA: hexCodes(t, c.sa), SB: hexCodes(t, c.sb)}
		evalEqual(t, c.name, &p, f, 4, d, c.want)
	}
}
