package stability_test

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// flaky is a unit that changes its first answer in every third run.
type flaky struct {
	devices.Unit
	runs int
}

func (u *flaky) Model() *mma.Params { return nil }

func (u *flaky) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	err := u.Unit.Run(ctx, in, out)
	if u.runs++; u.runs%3 == 0 {
		out[0] ^= 1
	}
	return err
}

// TestSample checks that a unit which changes its answers is named, and that a model is not
// asked.
func TestSample(t *testing.T) {
	u, err := devices.OpenUnit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		unit                  devices.Unit
		changed, same, inRuns int // 0: it is stable
	}{{u, 0, 0, 0}, {&flaky{Unit: u}, 1, 2, 3}} {
		got, err := stability.Sample(t.Context(), "unit", c.unit)
		if err != nil || (got != nil) != (c.changed > 0) {
			t.Fatalf("%v, %v; want %d inputs", got, err, c.changed)
		}
		if got != nil && (got.Changed != c.changed || got.Same != c.same || got.Of != c.inRuns) {
			t.Errorf("%v; want %d of %d", got, c.same, c.inRuns)
		}
	}
}
