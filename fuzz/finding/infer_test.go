package finding

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mortal is a unit that stops answering after some calls.
type mortal struct {
	devices.Unit
	left atomic.Int64
}

func (u *mortal) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if u.left.Add(-1) < 0 {
		return errors.New("it has stopped answering")
	}
	return u.Unit.Run(ctx, in, out)
}

// TestInferMortal: a unit that stops answering while it is inferred ends nothing but that: the
// campaign goes on, and says what it meets itself.
func TestInferMortal(t *testing.T) {
	i := &mma.Instruction{Name: "add", K: 1, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	a := devices.Func(i, func(d *mma.Dot) uint64 { return d.C })
	b := devices.Func(i, func(d *mma.Dot) uint64 { return d.C ^ 1 })
	for _, calls := range []int64{0, 2, 20} {
		u := &mortal{Unit: a}
		u.left.Store(calls)
		p := devices.Pair{A: u, B: b, TargetA: "a", TargetB: "b", K: 1}
		if found, err := InferSides(t.Context(), &p, oracle.Policy{}, 1, 1, nil); err != nil || len(found) != 0 {
			t.Errorf("%d calls: %v, %v", calls, found, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := InferSides(ctx, &devices.Pair{A: a, B: b, K: 1}, oracle.Policy{}, 1, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
}
