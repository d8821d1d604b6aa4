package infer

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestScaleOfZero infers a unit of MXFP4 that takes the scale 00, which is 2^-127, for zero. It is not
// taken for one that does not, and the witness has such a scale.
func TestScaleOfZero(t *testing.T) {
	if tier.Of(0, 0, 1) == 0 {
		t.Skip("takes long")
	}
	mx := mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	plain := mma.TFDPA(0, 24, mma.To(fp.FP32, fp.RZ), 0)
	u := newUnit(t, mx, 32, plain)
	m, err := sim.New(mx, 32, plain)
	if err != nil {
		t.Fatal(err)
	}
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if d.SA[0] != 0 && d.SB[0] != 0 {
			return code, nil
		}
		zero := *d
		zero.A = make([]uint64, len(d.A))
		return m.Dot(&zero, nil), nil
	}
	r := inferred(t, u, Options{Effort: 2})
	if r.Verdict != Unexplained || r.Witness == nil {
		t.Fatalf("%s", r.Verdict)
	}
	checkSame(t, r, &plain)
	if d := r.Witness.Dot; !slices.Contains(append(slices.Clone(d.SA), d.SB...), 0) {
		t.Errorf("%s", mma.FormatDot(mx, d))
	}
}
