package report

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestAdderText says how terms are added: all at once, in steps, and in several accumulators.
func TestAdderText(t *testing.T) {
	for _, tc := range []struct {
		p    mma.Params
		want string
	}{
		{mma.Params{}, "adds all 8 products at once"},
		{mma.Params{L: 4}, "adds 4 products at a time; 2 steps, each of which goes on with the result of the one before"},
		{mma.Params{L: 2, Lanes: 2}, "adds 2 products at a time; 4 steps, dealt to 2 accumulators in turn"},
		{mma.Params{Lanes: 2, Stage0: mma.Stage{Sum: mma.Fused, Group: 4}}, "deals 8 products to 2 accumulators in turn; each adds the partial sums of all of its own at once"},
	} {
		if got := adderText(8, tc.p.Step(8), &tc.p); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
