package infer

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// flakyVolta flips the low bit of some answers, others with every seed.
func flakyVolta(t *testing.T, seed uint64, oneIn int) *unit {
	u := volta(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	u.spoil = func(_ *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if rng.IntN(oneIn) == 0 {
			code ^= 1
		}
		return code, nil
	}
	return u
}

// TestFlakyAgain infers a unit that changes its answers several times with one journal: the
// verdict is that of the first time.
func TestFlakyAgain(t *testing.T) {
	o := Options{Checks: few, Journal: filepath.Join(t.TempDir(), "journal")}
	first := inferred(t, flakyVolta(t, 1, 100), o)
	if first.Verdict != NotStable {
		t.Fatalf("the first time: %s", first.Verdict)
	}
	for seed := range uint64(5) {
		u := flakyVolta(t, seed+2, 20)
		r := inferred(t, u, o)
		if r.Verdict != NotStable || r.Unstable.Error() != first.Unstable.Error() || r.Stats.Denied == 0 {
			t.Errorf("seed %d: %s, %v with %+v, at first %v", seed, r.Verdict, r.Unstable, r.Stats, first.Unstable)
		}
	}
}

// TestFlakyResumed goes on from a journal that does not tell yet that the unit changes its
// answers, or that another unit stands behind the name.
func TestFlakyResumed(t *testing.T) {
	complete := filepath.Join(t.TempDir(), "journal")
	inferred(t, flakyVolta(t, 1, 100), Options{Checks: few, Journal: complete})
	body, err := os.ReadFile(complete)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(body), "\n")
	cut := filepath.Join(t.TempDir(), "journal")
	begun := func() Options { // with the header and the first answers
		if err := os.WriteFile(cut, []byte(lines[0]+lines[1]), 0o666); err != nil {
			t.Fatal(err)
		}
		return Options{Checks: few, Journal: cut}
	}
	if r := inferred(t, flakyVolta(t, 2, 10), begun()); r.Verdict != NotStable || r.Unstable.Changed == 0 || r.Unstable.Asked != 200 {
		t.Errorf("a flaky unit: %s, %v", r.Verdict, r.Unstable)
	}
	other := newUnit(t, half, 4, mma.TFDPA(0, 22, mma.To(fp.FP32, fp.RZ), 0))
	if _, err := Infer(t.Context(), other, begun()); !errors.Is(err, ErrOtherInference) || !strings.Contains(err.Error(), "the unit has changed: for ") {
		t.Errorf("another unit: %v", err)
	}
}
