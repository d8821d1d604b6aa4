package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// In these tests 4B80 is 2^24, to which FP32 cannot add 1, CB80 is -2^24, and 3F80 is 1.

func TestMerge(t *testing.T) {
	merged := func(n uint8, m mma.Merge) mma.Params {
		return fma(func(p *mma.Params) { p.Lanes, p.Merge, p.Start, p.Late = n, m, mma.StartZero, rne32 })
	}
	with := func(p mma.Params, change func(p *mma.Params)) mma.Params { change(&p); return p }
	halves4, pairs4 := merged(4, mma.MergeHalves(4)), merged(4, mma.MergeNeighbours(4))
	const cancels = "4B80 3F80 CB80 3F80"
	runEval(t, bf16, []evalTest{
		{"one after the other", merged(4, 0), cancels, "", "", 0x3F800000}, // ((2^24+1)-2^24)+1
		{"halves", halves4, cancels, "", "", 0x40000000},                   // (2^24-2^24)+(1+1)
		{"neighbours", pairs4, cancels, "", "", 0x3F800000},                // (2^24+1)+(-2^24+1)
		{"lanes of two products", halves4, "4B80 3F80 3F80 3F80 3F80 3F80 3F80 3F80", "", "", 0x4B800003},
		{"c last", halves4, "3F80 3F80 3F80 3F80", "", "4B800000", 0x4B800002},
		// A term without a partner waits: (t0+t2)+t1 and (t0+t1)+t2.
		{"three by halves", merged(3, mma.MergeHalves(3)), "4B80 3F80 CB80", "", "", 0x3F800000},
		{"three neighbours", merged(3, mma.MergeNeighbours(3)), "4B80 3F80 CB80", "", "", 0},
		// ((t0+t4)+(t1+t5)) + ((t2+t6)+(t3+t7)): t4 meets t0 first, t1 then, t2 at the end.
		{"4-1-2, first", merged(8, mma.MergeBy(4, 1, 2)), "4B80 3F80 0 0 CB80 0 0 0", "", "", 0x3F800000},
		{"4-1-2, second", merged(8, mma.MergeBy(4, 1, 2)), "4B80 CB80 3F80 0 3F80 0 0 0", "", "", 0x3F800000},
		{"4-1-2, third", merged(8, mma.MergeBy(4, 1, 2)), "4B80 3F80 CB80 0 3F80 0 0 0", "", "", 0},

		// c is t0 or t4 of five: (t0+t1)+(t2+t3), then t4.
		{"c a leaf, last", with(merged(4, mma.MergeNeighbours(5)), func(p *mma.Params) { p.Leaf = mma.LeafLast }), "4B80 0 0 CB80", "", "3F800000", 0x3F800000},
		{"c a leaf, first", with(merged(4, mma.MergeNeighbours(5)), func(p *mma.Params) { p.Leaf = mma.LeafFirst }), "4B80 0 0 CB80", "", "3F800000", 0},
		{"c a leaf, one after the other", with(merged(2, 0), func(p *mma.Params) { p.Leaf = mma.LeafFirst }), "3F80 4B80", "", "3F800000", 0x4B800001},
	})
	tail := func(p *mma.Params) { p.Tail = true }
	runEval(t, bf16, []evalTest{
		{"no tail", merged(2, 0), "3F80 4B80 0 0 3F80", "", "", 0x4B800001},               // (1+0+1)+2^24
		{"tail", with(merged(2, 0), tail), "3F80 4B80 0 0 3F80", "", "", 0x4B800000},      // (1+2^24)+1
		{"nothing left", with(merged(2, 0), tail), "3F80 4B80", "", "", 0x4B800000},       //
		{"nothing but a tail", with(halves4, tail), "3F80 3F80 4B80", "", "", 0x4B800001}, // (1+1)+2^24
		{"c after the tail", with(halves4, tail), "3F80 3F80 3F80", "", "4B800000", 0x4B800002},
		{"c before the tail", with(halves4, func(p *mma.Params) { p.Tail, p.Start = true, mma.StartC }), "3F80 3F80 3F80", "", "4B800000", 0x4B800000},
		{"steps of two", with(halves4, func(p *mma.Params) { p.Tail, p.L = true, 2 }), "4B80 0 0 0 3F80 3F80", "", "", 0x4B800001},
	})
}

func TestLeaf(t *testing.T) {
	stage := func(sum mma.Sum, group uint8) mma.Stage { return mma.Stage{Sum: sum, Group: group, Round: rne32} }
	with := func(l mma.Leaf, s0, s1 mma.Stage) mma.Params {
		return fma(func(p *mma.Params) { p.L, p.Leaf, p.Stage0, p.Stage1 = 0, l, s0, s1 })
	}
	row, tree, none := stage(mma.Sequential, 0), stage(mma.Pairwise, 0), mma.Stage{}
	runEval(t, bf16, []evalTest{
		{"first", with(mma.LeafFirst, row, none), "3F80 4B80", "", "3F800000", 0x4B800001}, // (c+1)+2^24
		{"last", with(mma.LeafLast, row, none), "3F80 4B80", "", "3F800000", 0x4B800000},   // (1+2^24)+c
		{"a fourth", with(mma.LeafLast, tree, none), "4B80 0 3F80", "", "3F800000", 0x4B800001},
		{"no fourth", with(mma.NoLeaf, tree, none), "4B80 0 3F80", "", "3F800000", 0x4B800000},
		{"first of groups", with(mma.LeafFirst, stage(mma.Pairwise, 2), none), "3F80 4B80 0", "", "3F800000", 0x4B800001}, // (c+1), (2^24+0)
		{"first sum", with(mma.SumFirst, stage(mma.Pairwise, 1), row), "3F80 4B80", "", "3F800000", 0x4B800001},
		{"last sum", with(mma.SumLast, stage(mma.Pairwise, 1), row), "3F80 4B80", "", "3F800000", 0x4B800000},
		{"accumulators", fma(func(p *mma.Params) { p.L, p.Leaf, p.Stage0 = 2, mma.LeafFirst, row }), "3F80 0 3F80 4B80", "", "0", 0x4B800001},
		{"-0 alone", with(mma.LeafFirst, row, none), "8000 8000", "", "80000000", 0x80000000},
		{"and +0", with(mma.LeafFirst, row, none), "8000 8000", "", "0", 0},
	})
	p := with(mma.LeafLast, tree, none)
	p.Special.NaN = mma.NaNFirst
	runEval(t, bf16, []evalTest{{"NaNs in order", p, "7FC1 7FC2", "", "7FC00003", 0x7FC10000}})
	p.Leaf = mma.LeafFirst
	runEval(t, bf16, []evalTest{{"c before them", p, "7FC1 7FC2", "", "7FC00003", 0x7FC00003}})
}

func TestDeep(t *testing.T) {
	with := func(s mma.Stage) mma.Params {
		s.Group = 2
		return fma(func(p *mma.Params) { p.L, p.Stage0 = 0, s })
	}
	const ones = "4B80 0 3F80 0 3F80 0 0 0"
	runEval(t, bf16, []evalTest{
		{"one level", with(mma.Stage{Sum: mma.Fused, Round: rne32}), ones, "", "", 0x4B800001},
		{"deep", with(mma.Stage{Sum: mma.Fused, Round: rne32, Deep: true}), ones, "", "", 0x4B800000},
		{"neighbours", with(mma.Stage{Sum: mma.Fused, Round: rne32, Deep: true}), "4B80 3F80 CB80 3F80", "", "", 0x3F800000},
		{"halves", with(mma.Stage{Sum: mma.Fused, Round: rne32, Deep: true, Split: mma.Interleaved}), "4B80 3F80 CB80 3F80", "", "", 0x40000000},
		// Five terms are three groups, two, and one: {0,3} {1,4} {2}, then {0,2} {1}.
		{"halves of five", with(mma.Stage{Sum: mma.Fused, Round: rne32, Deep: true, Split: mma.Interleaved}), "4B80 3F80 CB80 0 0", "", "", 0x3F800000},
		// A fused group of one is rounded, at every level.
		{"alone", with(mma.Stage{Sum: mma.Fused, Align: mma.Align{F: 5, Mode: fp.RZ}, Deep: true}), "0 0 3F81", "", "3A800000", 0x3F802000},
	})
}

func TestSort(t *testing.T) {
	with := func(s mma.Sort) mma.Params {
		return fma(func(p *mma.Params) { p.L, p.Stage0 = 0, mma.Stage{Sum: mma.Sequential, Sort: s, Round: rne32} })
	}
	runEval(t, bf16, []evalTest{
		{"unsorted", with(mma.Unsorted), "3F80 4B80 3F80", "", "", 0x4B800000},
		{"rising", with(mma.Rising), "3F80 4B80 3F80", "", "", 0x4B800001},
		{"falling", with(mma.Falling), "3F80 4B80 3F80", "", "", 0x4B800000},
		{"falling, cancelled", with(mma.Falling), "4B80 3F80 CB80", "", "", 0x3F800000},
		{"rising, cancelled", with(mma.Rising), "4B80 3F80 CB80", "", "", 0},
		// 3 is larger than 2: the significands count, not the exponents alone.
		{"2, 3 and 2^24", with(mma.Rising), "4040 4B80 4000", "", "", 0x4B800002},
		{"infinities last", with(mma.Rising), "7F80 3F80 FF80", "", "", 0x7FC00000},
	})
	p := with(mma.Falling)
	p.Special.NaN = mma.NaNFirst
	runEval(t, bf16, []evalTest{{"NaNs and infinities as they come", p, "3F80 7F80 7FC1 7FC2", "", "", 0x7FC10000}})
}
