package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestConversionsOfZero converts zeros of both signs from every format to every other by every
// reference that supports it, by its own way and as a program: the sign stays where there is one.
func TestConversionsOfZero(t *testing.T) {
	tried := 0
	for _, a := range fp.All() {
		for _, d := range fp.All() {
			f := mma.Formats{A: a, B: fp.One, D: d}
			if a.Get().NoZero || f.Validate() != nil {
				continue
			}
			for i := range References {
				r := &References[i]
				if r.Supports(f) != nil {
					continue
				}
				tried++
				p := r.Program(f)
				m, err := sim.New(f, 1, p)
				if err != nil {
					t.Errorf("%s from %s to %s: %v", r.Name, a, d, err)
					continue
				}
				for _, neg := range []bool{false, true} {
					dot := mma.NewDot(f, 1)
					want := uint64(0)
					if neg && a.Get().HasNegZero() {
						dot.A[0] = a.Get().SignBit()
						if d.Get().HasNegZero() {
							want = d.Get().SignBit()
						}
					}
					if got := r.Eval(f, dot); got != want {
						t.Errorf("%s from %s to %s: %x gives %x, want %x", r.Name, a, d, dot.A[0], got, want)
					}
					for by, got := range map[string]uint64{"oracle": Eval(&p, f, 1, dot), "sim": m.Dot(dot, nil)} {
						if got != want {
							t.Errorf("%s of %s from %s to %s: %x gives %x, want %x", by, r.Name, a, d, dot.A[0], got, want)
						}
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d conversions were tried", tried)
	}
}
