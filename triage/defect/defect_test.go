package defect

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// open returns a broken unit with cases of all generators, as a campaign has them.
func (x *planted) open(t *testing.T) *Unit {
	arch, name, _ := strings.Cut(x.target, "/")
	i, err := mma.Lookup(arch, name)
	if x.target == exactHalf {
		i, err = &mma.Instruction{Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}, K: 4}, nil
		i.Params.Acc = mma.Round{Frac: 10, Mode: fp.RNE, Emin: -14, Emax: 15}
	}
	if x.target == roundedBrain {
		i, err = &mma.Instruction{Formats: mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, K: 8}, nil
		i.Params.Join.Align = mma.Align{F: 28, Mode: fp.RZ}
		i.Params.Acc = mma.Round{Frac: 23, Mode: fp.RNE, Emin: -126, Emax: 127}
	}
	if err != nil {
		t.Fatal(err)
	}
	return x.of(t, i)
}

// of is open of an instruction that has no target.
func (x *planted) of(t *testing.T, i *mma.Instruction) *Unit {
	m, err := sim.New(i.Formats, i.K, i.Params)
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

// TestRandomBits looks for what is wrong with the random bits of conversions, which are an operand but
// no number: it is one defect of these, and nothing about products.
func TestRandomBits(t *testing.T) {
	const e4m3 = "blackwell/cvt.rs.satfinite.e4m3x4.f32"
	for _, tc := range []struct {
		target string
		read   func(bits uint64) uint64
		rule   string
	}{
		{"blackwell/cvt.rs.bf16x2.f32", func(r uint64) uint64 { return r &^ 0xff }, "the low 8 bits of the random operand are zero"},
		{"blackwell/cvt.rs.bf16x2.f32", func(r uint64) uint64 { return ^r & 0xffff }, "the bits ffff of the random operand are inverted"},
		{e4m3, func(r uint64) uint64 { return bits.Reverse64(r) >> 48 }, "the bits of the random operand are in reverse"},
		{e4m3, func(r uint64) uint64 { return r >> 3 }, "the random operand is shifted right by 3"},
		{e4m3, func(r uint64) uint64 { return r | 1<<14 }, "bit 14 of the random operand is stuck at 1"},
		{"cdna3/v_cvt_sr_fp8_f32", func(r uint64) uint64 { return r ^ 1<<19 }, "bit 19 of the random operand is inverted"},
		{"blackwell/cvt.rs.bf16x2.f32", func(uint64) uint64 { return 0 }, "the random operand is 0"}, // RZ
		{"blackwell/cvt.rs.bf16x2.f32", func(r uint64) uint64 { return (r + 1) & 0xffff }, "1 is added to the random bits"},
		{"blackwell/cvt.rs.bf16x2.f32", func(r uint64) uint64 { return (r - 1) & 0xffff }, "1 is subtracted from the random bits"},
		{e4m3, func(r uint64) uint64 { return (r * 40503) & 0xffff }, ""},
	} {
		x := planted{target: tc.target, dot: func(u *unit) uint64 {
			w := u.with()
			w.B[0] = tc.read(w.B[0])
			return w.right()
		}}
		u := x.open(t)
		u.Random = true
		claim, err := Find(t.Context(), u)
		got := ""
		if claim != nil {
			got = claim.Rule.String()
		}
		if err != nil || got != tc.rule {
			t.Errorf("%s: %q, %v, want %q", tc.target, got, err, tc.rule)
		}
	}
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
	slow := []string{"last-lost", "power-of-two", "rare-pair", "all-ones", "table", "neighbour", "high-lanes-table"} // half of the time of all
	for _, x := range slices.Concat(units, unseen, machinery)[:tier.Of(1, 3, len(units), len(units)+len(unseen)+len(machinery))] {
		if !tier.Nightly() && slices.Contains(slow, x.name) {
			continue
		}
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			u := x.open(t)
			u.Budget = &Budget{}
			c, err := Find(t.Context(), u)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("work %.2f", float64(u.Budget.Spent)/1e9)
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

// TestStop interrupts a search between two questions: what it would have done until the next one is left out.
func TestStop(t *testing.T) {
	tier.SkipUnderRace(t)
	x := planted{"", cdnaSingle, func(u *unit) uint64 { return u.m.Dot(u.Dot, nil) ^ u.A[1]>>3&u.B[0]&1 }}
	spent := map[bool]int64{}
	for _, interrupted := range []bool{false, true} {
		u := x.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		u.Budget = &Budget{Most: 1e9, Show: func(b *Budget) {
			if interrupted && b.Spent > 0 {
				cancel()
				time.Sleep(time.Millisecond) // until that is known
			}
		}}
		_, err := Find(ctx, u)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		spent[interrupted] = u.Budget.Spent
	}
	if spent[true] > spent[false]/10 {
		t.Errorf("work of %d when interrupted, %d else", spent[true], spent[false])
	}
}

// TestFewCases begins with one case that differs: most effects explain it, of which a few are kept.
func TestFewCases(t *testing.T) {
	tier.SkipUnderRace(t)
	x := planted{"", cdnaSingle, func(u *unit) uint64 { // an adder with two guard bits and no sticky bit
		return u.m.DotChanged(u.Dot, sim.Change{Term: func(sum, _ int, x fp.Dyadic, e int32) fp.Dyadic {
			if sum == 1 {
				x = x.Round(e-25, fp.RZ)
			}
			return x
		}})
	}}
	u := x.open(t)
	m, err := sim.New(u.Formats, u.K, u.Program)
	if err != nil {
		t.Fatal(err)
	}
	some := false
	u.Cases = slices.DeleteFunc(u.Cases, func(c Case) bool {
		differs := c.Want != m.Dot(c.Dot, nil)
		again := differs && some
		some = some || differs
		return again
	})
	u.Budget = &Budget{}
	c, err := Find(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("work %.2f", float64(u.Budget.Spent)/1e9)
	if want := "the terms of the sum that adds product 1 (step 1) are cut 25 bits below the largest exponent"; c == nil || c.String() != want {
		t.Errorf("%v, want %s", c, want)
	}
}

// TestMet compares the sets of values that meet a condition with what holds says of each.
func TestMet(t *testing.T) {
	vs := []int64{absent, math.MaxInt64, -3, -1, 0, 1, 2, 5, 8}
	for v := range int64(60) {
		vs = append(vs, v-30)
	}
	for _, is := range []Is{Equal, Unequal, AtLeast, AtMost, HasBits} {
		for _, c := range []Condition{{Is: is}, {Is: is, Value: -3}, {Is: is, Value: 5}, {Is: is, Value: 1, Mask: 3}, {Is: is, Mask: 4}} {
			set := met(&c, vs)
			for i, v := range vs {
				if got := set[i/64]>>(i%64)&1 == 1; got != c.holds(v) {
					t.Errorf("%+v: %d: %v, want %v", c, v, got, !got)
				}
			}
		}
	}
}
