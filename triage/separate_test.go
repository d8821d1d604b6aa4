package triage

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestDivisionOfMany divides more programs than a byte can number: only the last one differs.
func TestDivisionOfMany(t *testing.T) {
	s := &explainer{pr: &Unknown{Formats: mma.Formats{D: fp.FP32}}}
	outs := make([][]byte, 257)
	for i := range outs {
		outs[i] = make([]byte, 4)
	}
	if key := s.division(outs, 4, 0); key != "" {
		t.Errorf("equal results are divided: %q", key)
	}
	outs[256][0] = 1
	if s.division(outs, 4, 0) == "" {
		t.Error("the result of program 256 differs, but the programs are not divided")
	}
}
