package defect

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// open returns a broken unit with cases of all generators, as a campaign has them.
func (x *planted) open(t *testing.T) *Unit {
	arch, name, _ := strings.Cut(x.target, "/")
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	u := &Unit{Formats: i.Formats, K: i.K, Program: i.Params, Seed: 1}
	u.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
		out := make([]uint64, len(dots))
		for n, d := range dots {
			out[n] = x.dot(&unit{d, i.Formats, m})
		}
		return out, nil
	}
	for round := range 7 {
		dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 7, round, &i.Params)
		got, _ := u.Ask(t.Context(), dots)
		for n, d := range dots {
			if got[n] == m.Dot(d, nil) {
				if len(u.Agree) < mostDiffer {
					u.Agree = append(u.Agree, Case{d, got[n]})
				}
			} else if len(u.Differ) < mostDiffer {
				u.Differ = append(u.Differ, Case{d, got[n]})
			}
		}
		if len(u.Differ) > 100 {
			break
		}
	}
	return u
}

// TestPlanted looks for the rule of each broken unit.
func TestPlanted(t *testing.T) {
	only := os.Getenv("ONLY")
	for i := range units {
		x := &units[i]
		if only != "" && x.name != only {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			u := x.open(t)
			asked := 0
			ask := u.Ask
			u.Ask = func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
				asked += len(dots)
				return ask(ctx, dots)
			}
			debugRule = map[string]*Rule{
				"all-ones":          {OfProduct, Effect{On: OnProduct, Do: "plus-zero"}, []Condition{{"k", Equal, 0, 0}, {"a.frac", HasBits, 0x3ff, 0x3ff}, {"b.frac", HasBits, 0x3ff, 0x3ff}}},
				"odd-lanes-halved":  {OfProduct, Effect{On: OnProduct, Do: "scale", N: -1}, []Condition{{"k.bits", HasBits, 1, 1}, {"a.frac", HasBits, 0, 0x3ff}, {"b.frac", HasBits, 0, 0x3ff}}},
				"shift-of-twelve":   {OfProduct, Effect{On: OnResult, Do: "flip", N: 0}, []Condition{{"k", Equal, 0, 0}, {"p.top-c", Equal, -12, 0}}},
				"long-cancellation": {OfCase, Effect{On: OnResult, Do: "cut", N: 8}, []Condition{{"last.lost", AtLeast, 3, 0}}},
				"rare-pair":         {OfProduct, Effect{On: OnResult, Do: "flip", N: 0}, []Condition{{"k", Equal, 0, 0}, {"a.code", HasBits, 5, 15}, {"b.code", HasBits, 10, 15}}},
			}[x.name]
			from := time.Now()
			c, err := Find(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			text := "NONE"
			if c != nil {
				text = c.String()
			}
			t.Logf("%d differ; %d asked, %.1fs: %s", len(u.Differ), asked, time.Since(from).Seconds(), text)
			if c != nil {
				t.Logf("%d confirm, %d beside, %d tested", c.Confirmed, c.Beside, c.Tested)
			}
		})
	}
}
