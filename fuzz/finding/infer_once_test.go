package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// forgetful remembers no inference.
type forgetful struct{ Memory }

func (forgetful) Inferred(int, uint64, string, int) *Inferred { return nil }
func (forgetful) KeepInferred(int, uint64, *Inferred)         {}

// TestInferredAllTheSame holds that a unit of which nothing is known is inferred once, quickly, whatever the
// searches for a change and for a defect have taken before, such as beside a change that explains a part of the
// cases. Only an effort that is less than the usual one, or than so many products take, leaves it out.
func TestInferredAllTheSame(t *testing.T) {
	i := &mma.Instruction{Name: "fma", K: 1, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	fma, err := sim.New(i.Formats, i.K, mma.FMA(fp.FP32))
	if err != nil {
		t.Fatal(err)
	}
	unit := devices.Func(i, func(d *mma.Dot) uint64 { return fma.Dot(d, nil) })
	known := *i
	known.Params = mma.TFDPA(1, 24, mma.To(fp.FP32, fp.RZ), -132)
	for _, tc := range []struct {
		effort, k int
		learned   bool
	}{{0, 1, true}, {2, 1, false}, {freeEffort, 1, true}, {2 * freeEffort, 1, true}, {0, 128, false}} {
		p := NewPair(devices.Pair{A: devices.Func(&known, nil), B: unit, TargetA: "model:a", TargetB: "exec:b", K: 1}, nil, nil)
		p.K = tc.k
		x := &pairTriage{t: &Finder{Options: Options{Infer: true, Effort: tc.effort}}, p: p, st: p.NewState(), d: &Gathered{}, verdict: &triage.Verdict{Quick: true, Sought: quickChanges + quickDefects + moreBeside}}
		x.t.Memory = forgetful{}
		if got, err := x.inferUnknown(t.Context(), true); got != tc.learned || err != nil {
			t.Errorf("effort %d, K = %d: learned %v, %v", tc.effort, tc.k, got, err)
		}
	}
}
