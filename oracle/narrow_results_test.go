package oracle

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNarrowResults rounds one product to each format without infinities, and compares
// both interpreters with the conversion of package fp, which has a rule of its own for the
// largest number.
func TestNarrowResults(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	half := fp.FP16.Get()
	for _, id := range []fp.ID{fp.E4M3, fp.E5M2FNUZ, fp.E4M3FNUZ} {
		f := mma.Formats{A: fp.FP16, B: fp.FP16, D: id}
		for _, mode := range fp.Modes() {
			for over, same := range map[mma.Over]fp.Overflow{mma.OverInf: fp.OverInf, mma.OverIEEE: fp.OverIEEE, mma.OverMax: fp.OverMax} {
				p := mma.Params{Acc: mma.To(id, mode), Special: mma.Special{NegZero: true, TinySign: true}}
				p.Acc.Over = over
				m, err := sim.New(f, 1, p)
				if err != nil {
					t.Fatal(err)
				}
				for range 400 {
					d := mma.NewDot(f, 1)
					d.A[0], d.B[0] = uint64(r.IntN(1<<16)), 0x3c00
					if r.IntN(2) == 0 { // around the largest numbers
						d.A[0] = uint64(0x5a00 + r.IntN(0x1000))
					}
					n := half.Decode(d.A[0])
					if n.Class >= fp.Inf {
						continue
					}
					want := id.Get().Encode(half.Dyadic(n), mode, same)
					if id == fp.E4M3 && want&0x7f == 0x7f {
						want = 0x7f // NaNs of overflows have no sign here
					}
					if got, fast := Eval(&p, f, 1, d), m.Dot(d, nil); got != want || fast != want {
						t.Fatalf("%s %v %v of %04x: %02x, sim %02x, want %02x", id, mode, over, d.A[0], got, fast, want)
					}
				}
			}
		}
	}
}

// TestCompareNarrow compares codes of formats without infinities.
func TestCompareNarrow(t *testing.T) {
	for _, tc := range []struct {
		id   fp.ID
		x, y uint64
		want Class
	}{
		{fp.E4M3, 0x7e, 0x7e, Same},
		{fp.E4M3, 0x7e, 0x7d, Value},
		{fp.E4M3, 0x7e, 0x7f, NaN},
		{fp.E4M3, 0xff, 0x7f, NaNCode},
		{fp.E4M3, 0x80, 0x00, ZeroSign},
		{fp.E4M3FNUZ, 0x80, 0x00, NaN},
		{fp.E4M3FNUZ, 0x7f, 0xff, Value},
		{fp.E4M3FNUZ, 0x7f, 0x01, Value},
	} {
		if got := Compare(tc.id, Policy{}, tc.x, tc.y); got != tc.want {
			t.Errorf("%s: %02x and %02x: %s, want %s", tc.id, tc.x, tc.y, got, tc.want)
		}
	}
}
