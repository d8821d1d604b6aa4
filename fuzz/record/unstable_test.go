package record_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// changing is a target whose units change the answers to one instruction.
type changing struct{ devices.Target }

func (c *changing) Open(i *mma.Instruction) (devices.Unit, error) {
	u, err := c.Target.Open(i)
	return &changingUnit{Unit: u}, err
}

type changingUnit struct {
	devices.Unit
	runs atomic.Uint64
}

func (u *changingUnit) Model() *mma.Params { return nil }

func (u *changingUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	err := u.Unit.Run(ctx, in, out)
	if u.Instruction().Name == half {
		out[0] ^= byte(u.runs.Add(1) & 1)
	}
	return err
}

// TestUnstable records a target that changes its answers. What the recording says of it stays
// when the recording goes on, and is added only before the first results.
func TestUnstable(t *testing.T) {
	cfg := config(t)
	cfg.Target = &changing{cfg.Target}
	cfg.Workers = 1
	res, err := record.Run(t.Context(), cfg)
	if err != nil || len(res.Unstable) != 1 || !strings.HasPrefix(res.Unstable[0], half+" is unstable: it changed its answers to 1 of ") {
		t.Fatalf("%+v, %v", res, err)
	}
	complete, err := os.ReadFile(cfg.File)
	if err != nil || bytes.Count(complete, []byte(" is unstable: ")) != 1 {
		t.Fatalf("%d notes, %v", bytes.Count(complete, []byte(" is unstable: ")), err)
	}
	for part := range 10 {
		if err := os.WriteFile(cfg.File, complete[:len(complete)*part/10], 0o666); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time it is complete
			res, err := record.Run(t.Context(), cfg)
			if err != nil || !res.Complete || len(res.Unstable) != 1 {
				t.Errorf("from %d tenths: %+v, %v", part, res, err)
			}
		}
	}
}
