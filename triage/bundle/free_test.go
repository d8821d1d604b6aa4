package bundle

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestFree has operands with the same freedom share a line.
func TestFree(t *testing.T) {
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	scaled := mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	single := minimize.Free{Bits: 0x7fff, Set: 0x7e}
	together := minimize.Free{Bits: 0x3ff, Set: 0x3ff}
	most := minimize.Free{Bits: 0x7ff, Set: 0x3ff}
	low := minimize.Free{Bits: 0xf, Set: 0xf}
	sign := minimize.Free{Bits: 0x8000, Set: 0x8000}
	anything := minimize.Free{Bits: 0xffff, Set: 0xffff}
	anyC := minimize.Free{Bits: 0xffffffff, Set: 0xffffffff}
	bit := func(n int) minimize.Free { return minimize.Free{Bits: 1 << n, Set: 1 << n} }
	for _, tc := range []struct {
		name string
		f    mma.Formats
		m    *minimize.Mask
		want []string
	}{
		{"not asked for", half, nil, nil},
		{"nothing is free", half, &minimize.Mask{A: make([]minimize.Free, 2), B: make([]minimize.Free, 2)}, nil},
		{"all alike", half, &minimize.Mask{A: []minimize.Free{single, single, single}, B: []minimize.Free{single, single, single}},
			[]string{"A and B still differ if any one of the bits 7fff of a or b of p0..p2 is flipped, all else equal"}},
		{"c has another width", half, &minimize.Mask{A: []minimize.Free{together}, B: []minimize.Free{together}, C: together},
			[]string{"A and B still differ whatever the bits 03ff of a or b of p0 are (not both), all else equal",
				"A and B still differ whatever the bits 000003ff of c are, all else equal"}},
		{"most of the bits, at once", half, &minimize.Mask{A: []minimize.Free{most}, B: []minimize.Free{{}}},
			[]string{"A and B still differ whatever the bits 03ff of a of p0 are, all else equal"}},
		{"factors unlike", half, &minimize.Mask{A: []minimize.Free{sign, anything, sign}, B: []minimize.Free{{}, sign, {}}, C: anyC},
			[]string{"A and B still differ if the bit 8000 of a of p0 p2, or b of p1 is flipped (in one operand only), all else equal",
				"A and B still differ whatever a of p1 is, all else equal", "A and B still differ whatever c is, all else equal"}},
		{"scales", scaled, &minimize.Mask{SA: []minimize.Free{low, low}, SB: []minimize.Free{low, low}},
			[]string{"A and B still differ whatever the bits 0f of a's or b's scale of block 0 1 are (in one operand only), all else equal"}},
		{"too many kinds", half, &minimize.Mask{
			A: []minimize.Free{bit(0), bit(1), bit(2), bit(3), {Bits: 5}}, B: []minimize.Free{{}, {}, {}, bit(3), {Bits: 5}}},
			[]string{"A and B still differ if the bit 0008 of a or b of p3 is flipped (not both), all else equal",
				"A and B still differ if any one of the bits 0005 of a or b of p4 is flipped, all else equal",
				"A and B still differ if the bit 0001 of a of p0 is flipped, all else equal",
				"A and B still differ if the bit 0002 of a of p1 is flipped, all else equal", "and likewise for bits of 1 more operand"}},
	} {
		if got := Free(tc.f, tc.m); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
