package infer

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

var errDied = &devices.FaultError{Target: "test", What: "the unit has died"}

// restarting is a unit that dies now and then, is started again and answers.
type restarting struct{ *unit }

func (m restarting) Restarts() (int, string) { return int(m.calls.Load()) / 10, "the unit has died" }

// TestFailures infers units that fail on calls, but on no input of these alone: the
// failures are counted and reported with their first inputs, and change nothing else.
func TestFailures(t *testing.T) {
	tier.LongOnly(t)
	onBatches := volta(t)
	onBatches.spoil = func(_ *mma.Dot, code uint64, first, n int, _ bool) (uint64, error) {
		if onBatches.calls.Load() == 3 {
			return 0, errDied
		}
		return code, nil
	}
	complete := voltaInferred(t)
	for _, c := range []struct {
		name string
		u    devices.Unit
		what string
	}{
		{"a batch", onBatches, "test: the unit has died"},
		{"deaths", restarting{volta(t)}, "the unit has died; a new one answered"},
	} {
		path := filepath.Join(t.TempDir(), "journal")
		r, err := Infer(t.Context(), c.u, Options{Seed: 3, Checks: few, Journal: path})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != Found || r.Params != complete.Params || r.Stats.Failures == 0 || len(r.Faults) > 0 {
			t.Fatalf("%s: %s, %+v", c.name, r.Verdict, r.Stats)
		}
		if f := r.Failures[0]; len(r.Failures) != r.Stats.Failures || f.Inputs < 2 || f.What != c.what {
			t.Errorf("%s: %d, the first %+v", c.name, len(r.Failures), f)
		}
		again, err := Infer(t.Context(), volta(t), Options{Seed: 3, Checks: few, Journal: path})
		if err != nil || !reflect.DeepEqual(again.Failures, r.Failures) || again.Stats.Failures != r.Stats.Failures {
			t.Errorf("%s: %v, from the journal %+v", c.name, err, again)
		}
		report, err := r.Report(t.Context(), "test", "unit", 3)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := report.Document().Write(&text, "text", document.Options{Width: 1 << 20}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"that it answered when they were asked again, first on a batch of ", mma.FormatDot(r.Formats, r.Failures[0].Dot) + ": " + c.what} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: %q is not in %s", c.name, want, &text)
			}
		}
	}
}

// TestGone infers units that die for good: that is found out in few calls.
func TestGone(t *testing.T) {
	for _, after := range []int64{0, 1, 20} {
		u := volta(t)
		u.spoil = func(_ *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
			if u.calls.Load() > after {
				return 0, errDied
			}
			return code, nil
		}
		_, err := Infer(t.Context(), u, Options{Checks: few})
		if !errors.Is(err, ErrGone) || devices.IsFault(err) || !strings.HasSuffix(err.Error(), "it fails on zeros: test: the unit has died") {
			t.Errorf("after %d: %v", after, err)
		}
		if n := u.calls.Load(); n != after+rowOfFailures+1 {
			t.Errorf("after %d: %d calls", after, n)
		}
	}
}
