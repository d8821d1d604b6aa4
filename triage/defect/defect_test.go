package defect

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
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
	differ := 0
	for round := 0; round < 7 && differ < 100; round++ {
		dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 7, round, &i.Params)
		got, _ := u.Ask(t.Context(), dots)
		for n, d := range dots {
			if u.Cases = append(u.Cases, Case{d, got[n]}); got[n] != m.Dot(d, nil) {
				differ++
			}
		}
	}
	return u
}

// TestPlanted looks for the rule of each broken unit. Whatever it finds must predict inputs that
// the search has not seen.
func TestPlanted(t *testing.T) {
	tier.SkipUnderRace(t)
	golden, err := os.ReadFile("testdata/planted.txt")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]string{}
	for line := range strings.Lines(string(golden)) {
		name, rule, _ := strings.Cut(strings.TrimSpace(line), ": ")
		rules[name] = rule
	}
	for _, x := range slices.Concat(units, unseen)[:tier.Of(1, 3, len(units), len(units)+len(unseen))] {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			u := x.open(t)
			c, err := Find(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			text := "no rule"
			if c != nil {
				text = c.String()
			}
			t.Log(x.name + ": " + text)
			if want := rules[x.name]; text != want {
				t.Errorf("%s, want %s", text, want)
			}
			if c == nil {
				return
			}
			p, err := NewPredictor(u.Formats, u.K, u.Program, c.Rule)
			if err != nil {
				t.Fatal(err)
			}
			dots := gen.Probe(gen.Spec{Formats: u.Formats, K: u.K}, 99, 5, &u.Program)
			for _, c := range u.Cases {
				if edge := edges[x.name]; edge != nil {
					d := c.Dot.Clone()
					edge(d)
					dots = append(dots, d)
				}
			}
			want, _ := u.Ask(t.Context(), dots)
			for i, d := range dots {
				if got, _, known := p.Predict(d); known && got != want[i] {
					t.Fatalf("%s: %x, the unit %x", mma.FormatDot(u.Formats, d), got, want[i])
				}
			}
		})
	}
}
