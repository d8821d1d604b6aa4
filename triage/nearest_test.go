package triage

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestWitnessAsked checks that a program which is right in all cases of a campaign, and wrong
// only in one that the search has asked, is shown with that one.
func TestWitnessAsked(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	base := mma.TFDPA(1, 25, mma.To(fp.FP32, fp.RZ), -133)
	pr := &Unknown{Formats: f, K: 1, Base: base}
	s := newExplainer(pr)
	one := &mma.Dot{A: []uint64{0x3c00}, B: []uint64{0x3c00}}
	two := &mma.Dot{A: []uint64{0x4000}, B: []uint64{0x3c00}}
	s.ev.Add("cases", []*mma.Dot{one}, []uint64{0x3f800000})
	s.ev.Add("asked", []*mma.Dot{two}, []uint64{0x40000001})
	n := &Nearest{Program: base}
	if err := s.shrinkFailure(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if n.Witness.Dot != two || n.Witness.Want != 0x40000001 || n.Would != 0x40000000 {
		t.Errorf("witness %+v, would be %x", n.Witness, n.Would)
	}
}
