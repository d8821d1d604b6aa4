package selfcheck

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// TestFewRaw checks that fewer raw dot products than an operation has arithmetics are
// rounded up to a chunk for each, not down to none.
func TestFewRaw(t *testing.T) {
	sharing := 0
	all := argued.Arithmetics()
	for _, i := range all {
		if Operation(&i) == "gst-fdpa" {
			sharing++
		}
	}
	for raw, want := range map[uint64]uint64{0: 0, 1: modelChunk, 3: modelChunk} {
		n := 0
		skip := func(i *mma.Instruction) bool { return Operation(i) != "gst-fdpa" }
		err := checkModels(t.Context(), raw, 0, skip, func(c *ModelCheck) {
			n++
			if c.Raw != want || c.Mismatches != 0 {
				t.Errorf("--raw %d: %d raw dot products of %s, want %d; %d mismatches", raw, c.Raw, c.Base, want, c.Mismatches)
			}
		})
		if err != nil || n != sharing {
			t.Errorf("%d arithmetics, want %d; %v", n, sharing, err)
		}
	}
}

// equalModels fails for a model that differs from the oracle.
func equalModels(t *testing.T, c *ModelCheck) {
	t.Helper()
	if c.Mismatches > 0 {
		t.Errorf("%s: model and oracle differ on %d of %d dot products, first on %s", c.Base, c.Mismatches, c.Raw+c.Directed, c.First)
	}
}

// TestModels compares the models with the oracle, each elementary operation on so many dot
// products of raw bits and each arithmetic on so many of every other generator.
func TestModels(t *testing.T) {
	tier.LongOnly(t) // TestFewRaw compares those of one operation on few
	none := func(*mma.Instruction) bool { return false }
	n := 0
	err := checkModels(t.Context(), uint64(tier.Of(0, 0, 20_000, 1_000_000)), uint64(tier.Of(0, 0, 100, 5_000)), none, func(c *ModelCheck) {
		n++
		equalModels(t, c)
	})
	if want := len(argued.Arithmetics()); err != nil || n != want {
		t.Errorf("%d arithmetics, want %d; %v", n, want, err)
	}
}

// TestModelsInterrupted interrupts a comparison that would not end, of either kind.
func TestModelsInterrupted(t *testing.T) {
	i := &argued.Arithmetics()[0]
	for _, n := range [][2]uint64{{math.MaxUint64, 0}, {0, math.MaxUint64}} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := checkModel(ctx, i, n[0], n[1]); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d and %d: %v", n[0], n[1], err)
		}
		cancel()
	}
}
