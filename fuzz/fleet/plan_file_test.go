package fleet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// cutPlan makes a plan that is in no file.
func cutPlan(ctx context.Context, cfg fuzz.Config, rule Rule) (*Plan, error) {
	d, err := newDraft(cfg, rule)
	if err != nil {
		return nil, err
	}
	return d.finish(ctx)
}

// TestWritePlan makes a plan again and again: the same one, whose units would be measured anew,
// stays; another one does not replace it.
func TestWritePlan(t *testing.T) {
	_, pairs := newPlan(t, 1)
	cfg := fuzz.Config{Pairs: pairs[:1], Seed: 1, Count: 1e9, Generators: []string{"cut", "raw"}, PerBucket: 1, MaxFindings: 8}
	rule := Rule{Rounds: 3}
	file := filepath.Join(t.TempDir(), "plan.json")
	first, there, err := WritePlan(t.Context(), file, cfg, rule)
	if err != nil || there {
		t.Fatalf("the first time: there %v, %v", there, err)
	}
	// Measured on another day.
	for i := range first.Pairs[0].Sources {
		s := &first.Pairs[0].Sources[i]
		s.Unit *= 2
	}
	body, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, body, 0o666); err != nil {
		t.Fatal(err)
	}
	again, there, err := WritePlan(t.Context(), file, cfg, rule)
	if err != nil || !there {
		t.Fatalf("the second time: there %v, %v", there, err)
	}
	if have, err := ReadPlan(file); err != nil || have.Digest() != again.Digest() {
		t.Errorf("the file has plan %v, %v; want %s", have, err, again.Digest())
	}
	for what, change := range map[string]func(cfg *fuzz.Config, rule *Rule){
		"seed":       func(cfg *fuzz.Config, _ *Rule) { cfg.Seed = 2 },
		"count":      func(cfg *fuzz.Config, _ *Rule) { cfg.Count++ },
		"generators": func(cfg *fuzz.Config, _ *Rule) { cfg.Generators = []string{"cut"} },
		"pairs":      func(cfg *fuzz.Config, _ *Rule) { cfg.Pairs = pairs },
		"bundles":    func(cfg *fuzz.Config, _ *Rule) { cfg.MaxFindings = 9 },
		"rounds":     func(_ *fuzz.Config, rule *Rule) { rule.Rounds = 2 },
		"unit":       func(_ *fuzz.Config, rule *Rule) { rule.Unit = 1 << 20 },
	} {
		c, r := cfg, rule
		change(&c, &r)
		if _, _, err := WritePlan(t.Context(), file, c, r); err == nil || !strings.Contains(err.Error(), "exists and is another plan") {
			t.Errorf("with another %s: %v", what, err)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(body) {
		t.Error("the plan has changed")
	}
}

// TestAllow checks that commands for a plan whose targets are commands have the permission to
// run them.
func TestAllow(t *testing.T) {
	p, _ := newPlan(t, 1)
	if p.Allow() != "" {
		t.Errorf("simulators: %q", p.Allow())
	}
	pair := unknownPair()
	pair.TargetB = "exec:./unit"
	q, err := cutPlan(t.Context(), fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 1000}, Rule{Rounds: 1, Unit: 512})
	if err != nil {
		t.Fatal(err)
	}
	if q.Allow() != " --allow-exec" {
		t.Errorf("a command: %q", q.Allow())
	}
}
