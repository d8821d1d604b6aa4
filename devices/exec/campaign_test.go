package exec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// campaign compares a child with the simulator that it computes by.
func campaign(t *testing.T, mode string, workers int, generators ...string) *fuzz.PairState {
	t.Helper()
	pairs, err := devices.Pairs(open(t, command(mode)), open(t, "sim:ampere"), inst, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: 6_000, Workers: workers, Generators: generators})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.State().Pairs[0]
}

// TestCampaign finds the unit that keeps a bit more, whatever the number of
// workers, and knows why.
func TestCampaign(t *testing.T) {
	t.Parallel()
	var first string
	for _, workers := range []int{1, 3} {
		p := campaign(t, "wide", workers)
		if p.Verdict == nil || !p.Verdict.Found() || len(p.Verdict.Changes) != 1 || p.Verdict.Changes[0].Path != "join.align.f" {
			t.Fatalf("verdict %+v", p.Verdict)
		}
		text := fmt.Sprint(p.Classes, p.Verdict.Changes)
		for _, f := range p.Findings {
			text += fmt.Sprintln(f.Bucket, f.Origin, f.A, f.B, *f.Dot)
		}
		if first == "" {
			first = text
		}
		if diff := cmp.Diff(first, text); diff != "" {
			t.Errorf("with %d workers:\n%s", workers, diff)
		}
	}
}

// TestGuilty has children that die, or refuse, on some inputs: those are counted
// as faults, the same ones each time, and all others are compared.
func TestGuilty(t *testing.T) {
	t.Parallel()
	want := [oracle.Fault + 1]uint64{}
	for _, tc := range []struct {
		mode    string
		workers int
	}{{"picky", 1}, {"fragile", 4}, {"picky", 4}, {"fragile", 1}}[:tier.Of(2, 2, 4)] {
		began := time.Now()
		p := campaign(t, tc.mode, tc.workers, "raw@1")
		t.Logf("%s: %d faults in %s", tc.mode, p.Classes[oracle.Fault], time.Since(began))
		if want == [oracle.Fault + 1]uint64{} {
			want = p.Classes
		}
		if p.Classes != want || p.Classes[oracle.Fault] < 5 || p.Classes[oracle.Fault]+p.Classes[oracle.Same] != p.Dots {
			t.Errorf("%s with %d workers: classes %v, want %v", tc.mode, tc.workers, p.Classes, want)
		}
		if p.Buckets["fault"] == nil || len(p.Findings) == 0 {
			t.Errorf("%s: buckets %v, %d findings", tc.mode, p.Buckets, len(p.Findings))
		}
	}
}

// TestGuiltyAndDifferent has a child that computes differently and dies on the
// inputs that minimizing comes across: the difference is found anyway.
func TestGuiltyAndDifferent(t *testing.T) {
	tier.LongOnly(t)
	t.Parallel()
	p := campaign(t, "worse", 2, "cut@1")
	if p.Classes[oracle.Fault] == 0 || p.Buckets["truncation-width"] == nil {
		t.Errorf("classes %v, buckets %v", p.Classes, p.Buckets)
	}
}
