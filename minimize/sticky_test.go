package minimize

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestLostSticky minimizes mismatches of a unit that rounds exact sums, but in one binade loses
// what is below the second bit after the last one of a result: c and one product show it.
func TestLostSticky(t *testing.T) {
	p := mma.Params{L: 16, Acc: mma.To(fp.FP32, fp.RNE), Special: mma.Special{NaN: mma.NaNQuiet, TinySign: true}}
	exact := model(t, p)
	p.Join.Post = mma.Round{Frac: 25, Mode: fp.RZ}
	lost := model(t, p)
	r := rand.New(rand.NewPCG(7, 7))
	for _, binade := range []uint64{127, 130, 134} {
		differ := func(d *mma.Dot) bool {
			x := exact.Dot(d, nil)
			return x>>23&255 == binade && lost.Dot(d, nil) != x
		}
		for n := tier.Of(4, 8, 100); n > 0; {
			start := draw(r, half, 16, "spread")
			if !differ(start) {
				continue
			}
			n--
			r := minimize(t, half, start, when(differ), Options{SkipMask: true})
			if terms := Terms(half, r.Dot); terms != 2 || r.Queries > 20_000 {
				t.Errorf("%d terms, %d queries: %s", terms, r.Queries, mma.FormatDot(half, r.Dot))
			}
		}
	}
}
