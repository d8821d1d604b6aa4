package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestDefectPolicy holds that the codes of NaNs are no evidence of a defect where NaNs stand against
// numbers: what a program does not say of the signs of NaNs that overflow makes is none of the unit.
func TestDefectPolicy(t *testing.T) {
	i, err := mma.Lookup("ada", "cvt.rn.satfinite.e4m3x2.f32")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		operand, want uint64
		nan           oracle.Strictness
	}{
		{0xc4000000, 0xff, oracle.ByClass}, // -512: a NaN in place of -448
		{0xc4000000, 0xf0, oracle.Bits},
		{0x7fc00000, 0xff, oracle.Bits}, // two NaNs
	} {
		d := &mma.Dot{A: []uint64{tc.operand}, B: []uint64{0}}
		pr := &triage.Unknown{Formats: i.Formats, K: i.K, Base: i.Params, Differ: []triage.Case{{Dot: d, Want: tc.want}}}
		if got := defectPolicy(pr); got.NaN != tc.nan {
			t.Errorf("%+v: NaNs by %v", tc, got.NaN)
		}
	}
}
