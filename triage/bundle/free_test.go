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
	single := minimize.Free{Bits: 0x7fff}
	together := minimize.Free{Bits: 0x3ff, Together: true}
	low := minimize.Free{Bits: 0xf, Together: true}
	sign := minimize.Free{Bits: 0x8000}
	anything := minimize.Free{Bits: 0xffff, Together: true, Any: true}
	for _, tc := range []struct {
		name string
		f    mma.Formats
		m    *minimize.Mask
		want []string
	}{
		{"not asked for", half, nil, nil},
		{"nothing is free", half, &minimize.Mask{A: make([]minimize.Free, 2), B: make([]minimize.Free, 2)}, nil},
		{"all alike", half, &minimize.Mask{A: []minimize.Free{single, single, single}, B: []minimize.Free{single, single, single}},
			[]string{"a or b of p0..p2: any one of the bits 7fff can be flipped, all else equal"}},
		{"c has another width", half, &minimize.Mask{A: []minimize.Free{together}, B: []minimize.Free{together}, C: together},
			[]string{"a or b of p0: the bits 03ff can be anything, all else equal", "c: the bits 000003ff can be anything, all else equal"}},
		{"factors unlike", half, &minimize.Mask{A: []minimize.Free{sign, anything, sign}, B: []minimize.Free{{}, sign, {}}, C: anything},
			[]string{"a of p0 p2, or b of p1: the bit 8000 can be anything, all else equal", "a of p1: any value, all else equal", "c: any value, all else equal"}},
		{"scales", scaled, &minimize.Mask{SA: []minimize.Free{low, low}, SB: []minimize.Free{low, low}},
			[]string{"a's or b's scale of block 0 1: the bits 0f can be anything, all else equal"}},
		{"too many kinds", half, &minimize.Mask{
			A: []minimize.Free{{Bits: 1}, {Bits: 2}, {Bits: 3}, {Bits: 4}, {Bits: 5}}, B: []minimize.Free{{}, {}, {}, {Bits: 4}, {Bits: 5}}},
			[]string{"a or b of p3: the bit 0004 can be anything, all else equal", "a or b of p4: any one of the bits 0005 can be flipped, all else equal",
				"a of p0: the bit 0001 can be anything, all else equal", "a of p1: the bit 0002 can be anything, all else equal", "and in 1 more operand"}},
	} {
		if got := Free(tc.f, tc.m); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
