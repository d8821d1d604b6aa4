package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestTileSizes lists the sizes that are tried.
func TestTileSizes(t *testing.T) {
	any257 := mma.Range{Min: 1, Max: 257, Step: 1}
	for _, tc := range []struct {
		name string
		m, n mma.Range
		want string
	}{
		{"says nothing", mma.Range{}, mma.Range{}, ""},
		{"one size", mma.Range{Min: 16, Max: 16, Step: 1}, mma.Range{Min: 8, Max: 8, Step: 1}, "16x8"},
		{"columns", mma.Range{Min: 64, Max: 64, Step: 1}, mma.Range{Min: 8, Max: 256, Step: 8}, "64x8 64x16 64x32 64x64 64x128 64x256"},
		{"an end of its own", mma.Range{Min: 2, Max: 12, Step: 5}, mma.Range{Min: 1, Max: 1, Step: 1}, "2x1 7x1 12x1"},
		{"both", mma.Range{Min: 1, Max: 3, Step: 1}, mma.Range{Min: 1, Max: 2, Step: 1}, "1x1 2x1 3x1 1x2 2x2 3x2"},
		{"too large", mma.Range{Min: 4096, Max: 4096, Step: 1}, mma.Range{Min: 4, Max: 4096, Step: 4}, "4096x4"},
	} {
		var got []string
		for _, s := range TileSizes(&mma.Instruction{M: tc.m, N: tc.n, K: 4}, 1<<14) {
			got = append(got, fmt.Sprintf("%dx%d", s.M, s.N))
		}
		if d := cmp.Diff(tc.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: (-want +got):\n%s", tc.name, d)
		}
	}
	most := 0
	for _, s := range TileSizes(&mma.Instruction{M: any257, N: any257, K: 4}, 1<<14) {
		most = max(most, s.M*s.N)
	}
	if most != 128*128 {
		t.Errorf("a tile has up to %d dot products", most)
	}
}
