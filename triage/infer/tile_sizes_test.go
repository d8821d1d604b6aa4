package infer

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// sized is a unit that takes tiles of any size up to 256, and computes in another way if
// its tile has a size that counts as large.
type sized struct {
	*unit
	large func(m, n int) bool
}

func (u *sized) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	err := u.unit.Run(ctx, in, out)
	if w := in.D.Width(); err == nil && u.large(in.M, in.N) {
		for i := range in.Dots() {
			if code := mma.Load(out, w, i); code>>23&7 == 5 {
				mma.Store(out, w, i, code^1)
			}
		}
	}
	return err
}

// TestTileSizeMatters infers units whose results depend on the size of the tile: none may
// be found.
func TestTileSizeMatters(t *testing.T) {
	for _, tc := range []struct {
		name  string
		large func(m, n int) bool
		want  string // how the answers differ; "": the unit is found
	}{
		{"none", func(m, n int) bool { return false }, ""},
		{"more than 100 rows", func(m, n int) bool { return m > 100 }, "alone instead of in a tile of 127 x 1"},
		{"rows by columns", func(m, n int) bool { return m >= 64 && n >= 64 }, "alone instead of in a tile of 64 x 64"},
		{"two rows", func(m, n int) bool { return m == 2 }, "alone instead of in a tile of 2 x 1"},
		{"more than 100 columns", func(m, n int) bool { return n > 100 }, "alone instead of in a tile of 1 x 127"},
		{"odd", func(m, n int) bool { return m > 1 && m%16 != 0 }, "alone instead of in a tile of 2 x 1"},
	}[:tier.Of(2, 2, 6)] {
		t.Run(tc.name, func(t *testing.T) {
			u := &sized{volta(t), tc.large}
			u.inst.M, u.inst.N = mma.Range{Min: 1, Max: 256, Step: 1}, mma.Range{Min: 1, Max: 256, Step: 1}
			r, err := Infer(t.Context(), u, Options{Seed: 3, Checks: few})
			if err != nil {
				t.Fatal(err)
			}
			if tc.want == "" {
				if r.Verdict != Found || r.Tiles == nil || r.Tiles.Sizes[0] != "1 x 1" || r.Tiles.Asked < len(r.Tiles.Sizes)*tileCases {
					t.Errorf("%s, tiles %+v", r.Verdict, r.Tiles)
				}
				return
			}
			if r.Verdict != NotStable || r.Unstable.How != tc.want {
				t.Errorf("%s: %+v, want that it differs %s", r.Verdict, r.Unstable, tc.want)
			}
		})
	}
}
