package mma

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestMerge(t *testing.T) {
	for _, tc := range []struct {
		m    Merge
		want string
		n    []int // of terms
	}{
		{0, "sequential", []int{1, 2, 3, 9, 255}},
		{MergeHalves(8), "4-2-1", []int{5, 6, 7, 8}},
		{MergeHalves(3), "2-1", []int{3, 4}},
		{MergeNeighbours(16), "1-2-4-8", []int{9, 16}},
		{MergeNeighbours(5), "1-2-4", []int{5, 8}},
		{MergeBy(8, 16, 4, 1, 2), "8-16-4-1-2", []int{17, 32}},
		{MergeHalves(256), "128-64-32-16-8-4-2-1", []int{129, 256}},
	} {
		if got := tc.m.String(); got != tc.want {
			t.Errorf("%d is %s, want %s", tc.m, got, tc.want)
		}
		var back Merge
		if err := back.UnmarshalText([]byte(tc.want)); err != nil || back != tc.m {
			t.Errorf("%s is %d, %v, want %d", tc.want, back, err, tc.m)
		}
		for n := 1; n <= 256; n++ {
			ok := tc.m == 0 || len(tc.n) == 2 && tc.n[0] <= n && n <= tc.n[1] || slices.Contains(tc.n, n)
			if err := tc.m.check(n); (err == nil) != ok {
				t.Errorf("%s of %d terms: %v", tc.want, n, err)
			}
		}
	}
}

// TestValidateShape breaks programs with lanes, leaves and deep groups in every way that
// is noticed.
func TestValidateShape(t *testing.T) {
	rounded := To(fp.FP32, fp.RNE)
	noC := Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}
	nvf4 := Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	lanes := func(n uint8, s Start) func(p *Params) {
		return func(p *Params) { *p = FMA(fp.FP32); p.Lanes, p.Start, p.Late = n, s, rounded }
	}
	pairs := func(p *Params) { p.Stage0 = Stage{Sum: Pairwise, Round: rounded} }
	scaled := func(p *Params) { *p = gstFDPA(32, 16, 35, To(fp.FP32, fp.RZ), -139) }
	for _, tc := range []struct {
		name   string
		f      Formats
		base   func(p *Params)
		change func(p *Params)
		want   string
	}{
		{"halves", half, lanes(8, StartC), func(p *Params) { p.Merge = MergeHalves(8) }, ""},
		{"of too few", half, lanes(4, StartC), func(p *Params) { p.Merge = MergeHalves(8) },
			"merge: 4-2-1 does not add 4 terms, of at least 3: it must have each power of two below their number once"},
		{"of two", half, lanes(2, StartC), func(p *Params) { p.Merge = MergeBy(1) },
			"merge: 1 does not add 2 terms, of at least 3: it must have each power of two below their number once"},
		{"twice", half, lanes(4, StartC), func(p *Params) { p.Merge = MergeBy(1, 1) },
			"merge: 1-1 does not add 4 terms, of at least 3: it must have each power of two below their number once"},
		{"with c", half, lanes(2, StartZero), func(p *Params) { p.Leaf, p.Merge = LeafLast, MergeNeighbours(3) }, ""},
		{"without lanes", half, pairs, func(p *Params) { p.Merge = MergeNeighbours(4) },
			"merge: 1-2 does not add 1 terms, of at least 3: it must have each power of two below their number once"},

		{"tail", half, lanes(3, StartEmpty), func(p *Params) { p.Tail = true }, ""},
		{"tail of one lane", half, pairs, func(p *Params) { p.Tail = true }, "tail: it needs several lanes"},

		{"c first", half, pairs, func(p *Params) { p.Leaf = LeafFirst }, ""},
		{"c unknown", half, pairs, func(p *Params) { p.Leaf = 5 }, "leaf: unknown value 5"},
		{"c without a stage", half, func(*Params) {}, func(p *Params) { p.Leaf = LeafFirst }, "leaf: first needs the stage of which c is a term"},
		{"c without a second stage", half, pairs, func(p *Params) { p.Leaf = SumLast }, "leaf: sum-last needs the stage of which c is a term"},
		{"c in the second", half, pairs, func(p *Params) { p.Leaf, p.Stage1 = SumLast, p.Stage0 }, ""},
		{"c of no rounding", half, func(*Params) {}, func(p *Params) { p.Leaf, p.Stage0.Sum = LeafFirst, Pairwise },
			"stage0: an exact sum of 300 bits is neither aligned nor rounded"},
		{"c in fixed point", half, pairs, func(p *Params) {
			p.Leaf, p.Stage1 = SumFirst, Stage{Sum: Fused, Fixed: true, Align: Align{F: 9, Mode: fp.RZ}}
		},
			"stage1: a sum with c is not fixed point"},
		{"c cut apart", half, pairs, func(p *Params) { p.Leaf, p.Join.CF = LeafFirst, 20 },
			"leaf: join has rules for an accumulator, but adds none"},
		{"c scaled", nvf4, scaled, func(p *Params) { p.Leaf = LeafLast }, "leaf: c cannot be a term of groups that are scaled"},
		{"c among lanes", half, lanes(4, StartZero), func(p *Params) { p.Leaf = LeafFirst }, ""},
		{"c of one lane", half, lanes(1, StartZero), func(p *Params) { p.Leaf = LeafFirst },
			"leaf: with a start other than c, c is a leaf of several lanes only, first or last of them"},
		{"c among sums", half, lanes(4, StartZero), func(p *Params) { p.Leaf = SumFirst },
			"leaf: with a start other than c, c is a leaf of several lanes only, first or last of them"},
		{"no c", noC, lanes(4, StartZero), func(p *Params) { p.Leaf = LeafFirst },
			"leaf: with a start other than c, c is a leaf of several lanes only, first or last of them"},
		{"c left", half, lanes(4, StartZero), func(p *Params) { p.Leaf, p.Special = LeafFirst, Special{NaN: NaNFirst, CLeft: true} },
			"special.cleft: leaf gives the order of c and the lanes"},

		{"deep", half, pairs, func(p *Params) { p.Stage0.Deep, p.Stage0.Group = true, 2 }, ""},
		{"deep of all", half, pairs, func(p *Params) { p.Stage0.Deep = true }, "stage0: deep needs groups of at least 2 terms"},
		{"deep and scaled", nvf4, scaled, func(p *Params) { p.Stage0.Deep = true },
			"scale: group scales need adjacent groups of a given size in ascending order and one lane"},
		{"sorted", half, pairs, func(p *Params) { p.Stage0.Sort = Falling }, ""},
		{"sorted how", half, pairs, func(p *Params) { p.Stage0.Sort = 3 }, "stage0.sort: unknown value 3"},
		{"sorted for nothing", half, pairs, func(p *Params) { p.Stage0.Sum, p.Stage0.Sort = Fused, Rising },
			"stage0: the order of the terms of a fused sum has no meaning"},
		{"sorted nothing", half, func(*Params) {}, func(p *Params) { p.Stage0.Sort = Rising }, "stage0: sum is off but other fields are set"},
	} {
		p := sound()
		tc.base(&p)
		tc.change(&p)
		checkError(t, tc.name, p.Validate(tc.f, 64), tc.want)
	}
}
