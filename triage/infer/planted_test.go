package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestPlanted infers chains of FMAs that are wrong on few inputs, which is no program. The
// chain is the nearest one, and the witness shows the unit's fault, with nothing beside it.
func TestPlanted(t *testing.T) {
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	for _, c := range []struct {
		name    string
		f       mma.Formats
		k       int
		planted func(d *mma.Dot) bool
		spoil   func(code uint64) uint64
		terms   int // of the witness
	}{
		{"the payload of a NaN is lost", single, 1, func(d *mma.Dot) bool { return d.A[0] == 0x7fffffff }, func(uint64) uint64 { return 0x7fffffff }, 1},
		{"a constant of c that is off", half, 2, func(d *mma.Dot) bool { return d.C == 0x3f800000 }, func(code uint64) uint64 { return code + 1 }, 1},
		{"a lane halves -1", half, 4, func(d *mma.Dot) bool { return d.A[2]&0xffc0 == 0xbc00 }, func(code uint64) uint64 { return code ^ 0x800000 }, 1},
		{"one factor makes a NaN", half, 4, func(d *mma.Dot) bool { return d.A[1] == 0x7c01 }, func(uint64) uint64 { return 0x7f800000 }, 1},
		{"one factor is off", half, 2, func(d *mma.Dot) bool { return d.B[1] == 0x3c01 }, func(code uint64) uint64 { return code ^ 0x100 }, 1},
	}[:tier.Of(0, 1, 3, 5)] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fma := mma.FMA(fp.FP32)
			u := newUnit(t, c.f, c.k, fma)
			u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
				if c.planted(d) {
					code = c.spoil(code)
				}
				return code, nil
			}
			r := inferred(t, u, Options{Effort: 2})
			if r.Verdict != Unexplained || r.Witness == nil {
				t.Fatalf("%s", r.Verdict)
			}
			checkSame(t, r, &fma)
			if d := r.Witness.Dot; !c.planted(d) || minimize.Terms(c.f, d) > c.terms {
				t.Errorf("%s", mma.FormatDot(c.f, d))
			}
		})
	}
}
