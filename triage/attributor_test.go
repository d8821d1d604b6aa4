package triage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// attributor returns the attributor of two instructions.
func attributor(a, b *mma.Instruction, policy oracle.Policy) *triage.Attributor {
	return triage.NewAttributor(a.Formats, max(a.K, b.K), policy, triage.Program{Params: a.Params, K: a.K}, triage.Program{Params: b.Params, K: b.K})
}

// causeOf returns the cause of one case.
func causeOf(n *triage.Attributor, f mma.Formats, d *mma.Dot, a, b uint64) *triage.Cause {
	var names triage.Attribution
	return names.Causes(n, mma.BatchOf(f, len(d.A), []*mma.Dot{d}), []int32{0}, []uint64{a}, []uint64{b})[0]
}

// TestCauses finds the causes of single cases of a pair that differs in L and in F.
func TestCauses(t *testing.T) {
	a, b := find(t, ampere16), find(t, hopper16)
	n := attributor(a, b, oracle.Policy{})
	zeros := strings.Repeat("0000,", 7) // to the second half of the products
	const l, f = "l 8→16", "join.align.f 24→25"
	for _, tc := range []struct{ dot, primary, detail, changes string }{
		// 1 - 2^-25: one bit more keeps the small term.
		{"3c00 3c00 b3000000", "truncation-width", "truncation-width", f},
		// 2^24 + 1 + 1: the ones count together or, each truncated to 2^24, not at all.
		{"3c00," + zeros + "3c00 3c00," + zeros + "3c00 4b800000", "fusion-width", "fusion-width", l},
		// 2.25 * 2^24 - 1: as one sum the window ends at 1, as the first sum's
		// result has the exponent 25, at 2. One bit more does as well.
		{"6e00," + zeros + "3c00 6e00," + zeros + "bc00 00000000", "truncation-width", "truncation-width|fusion-width", f},
		{"3c00 3c00 00000000", "unexplained", "unexplained", ""}, // equal on both
	} {
		d, err := mma.ParseDot(a.Formats, a.K, false, strings.Fields(tc.dot))
		if err != nil {
			t.Fatal(err)
		}
		x, y := model(t, a).Dot(d, nil), model(t, b).Dot(d, nil)
		if tc.primary == "unexplained" {
			y ^= 1 // and what a third unit gives
		}
		c := causeOf(n, a.Formats, d, x, y)
		var names triage.Attribution
		shown := names.Shown(n, mma.BatchOf(a.Formats, a.K, []*mma.Dot{d, d}), []int32{0, 1}, []uint64{x, x ^ 1}, []uint64{y, y})
		if want := []bool{tc.primary != "unexplained", false}; !slices.Equal(shown, want) {
			t.Errorf("%s: shown %v, want %v", tc.dot, shown, want)
		}
		changes, _ := n.Changes(c)
		if string(c.Primary) != tc.primary || c.Detail != tc.detail || changeText(changes) != tc.changes {
			t.Errorf("%s: %s, %s by %s; want %s, %s by %s", tc.dot, c.Primary, c.Detail, changeText(changes), tc.primary, tc.detail, tc.changes)
		}
	}
}

// TestCausesOfNaNs has programs that differ in where a conversion overflows and in the code of NaNs, which is
// another of the unit once more: it is the cause of no number, in either direction.
func TestCausesOfNaNs(t *testing.T) {
	i, err := mma.Lookup("ada", "cvt.rn.satfinite.e4m3x2.f32")
	if err != nil {
		t.Fatal(err)
	}
	other := changed(t, i, "acc.over=inf special.nan=quiet-neg")
	for _, turned := range []bool{false, true} {
		n := attributor(i, other, oracle.Policy{})
		if turned {
			n = attributor(other, i, oracle.Policy{})
		}
		for _, tc := range []struct {
			operand, sat, nan uint64
			want              triage.Label
		}{
			{0x44000000, 0x7e, 0xff, triage.Overflow}, // 512
			{0x44000000, 0x7e, 0x7f, triage.Overflow},
			{0x44000000, 0x7d, 0xff, triage.Unexplained},
			{0x7fc00000, 0x7f, 0xff, triage.NaNEncoding},
		} {
			x, y := tc.sat, tc.nan
			if turned {
				x, y = y, x
			}
			if c := causeOf(n, i.Formats, &mma.Dot{A: []uint64{tc.operand}, B: []uint64{0}}, x, y); c.Detail != string(tc.want) {
				t.Errorf("%+v, turned %v: %s", tc, turned, c.Detail)
			}
		}
	}
}

// TestEitherDirection has a case that one program explains only with a part of the other,
// and the other way round: 1 + 4 * 2^-25, half of them after the eighth product. With the
// bit more, steps of eight do not see them; without it, neither does one sum. Only
// together they make Ampere Hopper, but each alone makes Hopper Ampere.
func TestEitherDirection(t *testing.T) {
	a, b := find(t, ampere16), find(t, hopper16)
	d, err := mma.ParseDot(a.Formats, a.K, false, strings.Fields("3c00,0c00,0c00,0000,0000,0000,0000,0000,0c00,0c00 3c00,0800,0800,0000,0000,0000,0000,0000,0800,0800 00000000"))
	if err != nil {
		t.Fatal(err)
	}
	x, y := model(t, a).Dot(d, nil), model(t, b).Dot(d, nil)
	n := attributor(a, b, oracle.Policy{})
	c := causeOf(n, a.Formats, d, x, y)
	if c.Detail != "truncation-width|fusion-width" {
		t.Errorf("%s", c.Detail)
	}
	if changes, back := n.Changes(c); !back || changeText(changes) != "join.align.f 24→25" {
		t.Errorf("%s, back %v", changeText(changes), back)
	}
	n = attributor(b, a, oracle.Policy{})
	c = causeOf(n, a.Formats, d, y, x)
	if changes, back := n.Changes(c); c.Detail != "truncation-width|fusion-width" || back || changeText(changes) != "join.align.f 25→24" {
		t.Errorf("turned: %s by %s, back %v", c.Detail, changeText(changes), back)
	}
}

// with returns an instruction that computes by changed parameters.
func with(t *testing.T, i *mma.Instruction, changes []mma.Change) *mma.Instruction {
	t.Helper()
	c := *i
	if err := c.Params.Apply(changes); err != nil {
		t.Fatal(err)
	}
	return &c
}

func turned(changes []mma.Change) []mma.Change {
	back := slices.Clone(changes)
	for i := range back {
		back[i].From, back[i].To = back[i].To, back[i].From
	}
	return back
}

// manyChanges make a pair of more labels than are tried in all combinations, each of one
// change.
const manyChanges = "l=8 join.align.f=24 acc.mode=rne special.nan=quiet in.sub=zero prod.exp=normalised acc.flush=before join.align.floor=-131"

// TestManyLabels has a pair of many labels: the changes of each cause equalise its case in
// the direction that the cause states, and no cause of more than two labels has one that
// could be left out.
func TestManyLabels(t *testing.T) {
	tier.SkipUnderRace(t)
	a := find(t, hopper16)
	b := changed(t, a, manyChanges)
	n := attributor(a, b, oracle.Policy{})
	sizes := map[int]bool{}
	for _, d := range probe(a, 3, &a.Params, &b.Params) {
		x, y := model(t, a).Dot(d, nil), model(t, b).Dot(d, nil)
		if x == y {
			continue
		}
		c := causeOf(n, a.Formats, d, x, y)
		need := triage.NeededIn(c.Detail)
		sizes[len(need)] = true
		if c.Primary != need[0] || triage.PrimaryIn(c.Detail) != c.Primary {
			t.Fatalf("%s: primary cause %s", c.Detail, c.Primary)
		}
		changes, back := n.Changes(c)
		equal := func(changes []mma.Change) bool {
			if back {
				return model(t, with(t, b, turned(changes))).Dot(d, nil) == x
			}
			return model(t, with(t, a, changes)).Dot(d, nil) == y
		}
		if len(changes) != len(need) || !equal(changes) {
			t.Fatalf("%s: %s, back %v, do not equalise the two", c.Detail, changeText(changes), back)
		}
		for i := range changes {
			if len(changes) > 1 && equal(slices.Delete(slices.Clone(changes), i, i+1)) {
				t.Fatalf("%s: without %s it explains the case, too", c.Detail, changes[i])
			}
		}
	}
	if !sizes[1] || !sizes[2] || sizes[8] {
		t.Errorf("sizes of causes: %v", sizes)
	}
}

// TestTurned finds the causes of random pairs of programs for the same formats, and of
// programs and their mutants: they are the same with the two sides exchanged.
func TestTurned(t *testing.T) {
	tier.SkipUnderRace(t)
	r := rand.New(rand.NewPCG(1, 2))
	all := mma.Arithmetics()
	combined, backwards := 0, 0
	for range tier.Of(30, 50, 150) {
		a := all[r.IntN(len(all))]
		b := all[r.IntN(len(all))]
		if b.Formats != a.Formats || b.Params == a.Params {
			b = a
			mutants := change.SpaceOf(&b).Mutants(&b.Params, change.Decisions)
			b.Params = mutants[r.IntN(len(mutants))].Params
			if more := change.SpaceOf(&b).Mutants(&b.Params, change.Decisions); r.IntN(2) == 0 {
				b.Params = more[r.IntN(len(more))].Params
			}
		}
		k := max(a.K, b.K)
		if b.Params == a.Params || k%a.K != 0 || k%b.K != 0 || k != min(a.K, b.K) && a.C != a.D {
			continue
		}
		there, back := attributor(&a, &b, oracle.Policy{}), attributor(&b, &a, oracle.Policy{})
		in := mma.BatchOf(a.Formats, k, gen.Probe(gen.Spec{Formats: a.Formats, K: k}, 1, r.IntN(3), &a.Params, &b.Params))
		var at []int32
		var x, y []uint64
		d := mma.NewDot(in.Formats, in.K)
		for i := range in.Dots() {
			in.Get(i, d)
			if p, q := model(t, &a).Dot(d, nil), model(t, &b).Dot(d, nil); p != q {
				at, x, y = append(at, int32(i)), append(x, p), append(y, q)
			}
		}
		// The same without a label: the cases of it may be unexplained then.
		labels := triage.LabelsOf(&a.Params, &b.Params)
		if drop := labels[r.IntN(len(labels)):][:1]; len(labels) > 1 {
			var s1, s2 triage.Attribution
			one, two := s1.Causes(there.Without(drop), in, at, x, y), s2.Causes(back.Without(drop), in, at, y, x)
			for i := range at {
				if one[i].Detail != two[i].Detail || strings.Contains(one[i].Detail, string(drop[0])) {
					t.Fatalf("%s and %s without %s: %s, turned %s", a.FullName(), b.FullName(), drop, one[i].Detail, two[i].Detail)
				}
			}
		}
		var s1, s2 triage.Attribution
		one, two := s1.Causes(there, in, at, x, y), s2.Causes(back, in, at, y, x)
		for i := range at {
			if one[i].Primary != two[i].Primary || one[i].Detail != two[i].Detail {
				t.Fatalf("%s and %s: %s, turned %s\n%+v\n%+v", a.FullName(), b.FullName(), one[i].Detail, two[i].Detail, a.Params, b.Params)
			}
			if one[i].Primary == triage.Unexplained {
				t.Fatalf("%s and %s: a case is not explained by the two programs", a.FullName(), b.FullName())
			}
			if _, b := there.Changes(one[i]); b {
				backwards++
			}
			if len(triage.NeededIn(one[i].Detail)) > 1 {
				combined++
			}
		}
	}
	if combined == 0 || backwards == 0 {
		t.Errorf("%d combinations, %d cases that only one direction explains: too few to show anything", combined, backwards)
	}
}

// TestPartsTurned divides the differences of random pairs of programs into parts: with the
// programs exchanged, these are the same parts with the same labels.
func TestPartsTurned(t *testing.T) {
	tier.SkipUnderRace(t)
	r := rand.New(rand.NewPCG(3, 4))
	all := mma.Arithmetics()
	for range 2000 {
		a, b := all[r.IntN(len(all))], all[r.IntN(len(all))]
		mutants := change.SpaceOf(&b).Mutants(&b.Params, change.Decisions)
		p, q := a.Params, mutants[r.IntN(len(mutants))].Params
		there, back := triage.Parts(&p, &q), triage.Parts(&q, &p)
		for i := range back {
			back[i].Changes = turned(back[i].Changes)
		}
		if diff := cmp.Diff(there, back); diff != "" {
			t.Fatalf("%+v and %+v:\n%s", p, q, diff)
		}
		if triage.Join(triage.LabelsOf(&p, &q)) != triage.Join(triage.LabelsOf(&q, &p)) {
			t.Fatalf("%+v and %+v: other labels turned", p, q)
		}
	}
}

// TestExplainKnown reports the parts of a known difference that show, the same for both sides.
func TestExplainKnown(t *testing.T) {
	for _, tc := range []struct {
		a, b, changes string
	}{
		{"ampere/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k8.f32.f16.f16.f32", "join.align.f 24→25"},
		{ampere16, hopper16, "l 8→16, join.align.f 24→25"},
		{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "l 8→16, join.align.f 24→25, join.align.floor -132→-133"},
	} {
		a, b := find(t, tc.a), find(t, tc.b)
		known := func(a, b *mma.Instruction) []mma.Change {
			pr := &triage.Unknown{Formats: a.Formats, K: a.K, Base: a.Params, Seed: 1, Rounds: askRounds}
			v := triage.ExplainKnown(pr, b.Params)
			if v == nil || !v.Found() {
				t.Fatalf("%s: %+v", tc.a, v)
			}
			return v.Changes
		}
		if got := changeText(known(a, b)); got != tc.changes {
			t.Errorf("%s: %s, want %s", tc.a, got, tc.changes)
		}
		if got := changeText(turned(known(b, a))); got != tc.changes {
			t.Errorf("%s, turned: %s, want %s", tc.a, got, tc.changes)
		}
	}
}

// TestIdle finds the labels of a difference that never show: the exponent of zeros in FP16.
// A label that shows only beside another one is not idle.
func TestIdle(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{ampere16, hopper16, "zero-exponent"},
		{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "unexplained"},
		{"cdna1/v_mfma_f32_32x32x4bf16", "cdna3/v_mfma_f32_32x32x4_2b_bf16", "unexplained"},
	} {
		a, b := find(t, tc.a), find(t, tc.b)
		there, back := attributor(a, b, oracle.Policy{}).Idle(1), attributor(b, a, oracle.Policy{}).Idle(1)
		if got := triage.Join(there); got != tc.want || triage.Join(back) != got {
			t.Errorf("%s: %s, turned %s, want %s", tc.a, got, triage.Join(back), tc.want)
		}
	}
}

// TestCommonK writes instructions of different K with one.
func TestCommonK(t *testing.T) {
	volta, turing := find(t, "volta/mma.m8n8k4.f32.f16.f16.f32"), find(t, "turing/mma.m16n8k8.f32.f16.f16.f32")
	p, q := triage.SameForm(volta.Formats, 8, triage.Program{Params: volta.Params, K: 4}, triage.Program{Params: turing.Params, K: 8})
	if p.K != 8 || q.K != 8 || p.Params.L != 4 || q.Params.L != 8 {
		t.Errorf("K %d and %d, L %d and %d", p.K, q.K, p.Params.L, q.Params.L)
	}
	for name, change := range map[string]func(p *mma.Params){ // c is not what an accumulator is, or K is not taken step by step
		"flushed c":       func(p *mma.Params) { p.In.C = mma.FlushPlus },
		"narrowed c":      func(p *mma.Params) { p.In.NarrowC = mma.Narrow{Frac: 7, Mode: fp.RZ} },
		"infinite NaN":    func(p *mma.Params) { p.In.NaNInf = true },
		"NaN of infinity": func(p *mma.Params) { p.In.InfNaN, p.Acc.Over = true, mma.OverMax },
		"pass after pass": func(p *mma.Params) { p.Passes = mma.PassesOf(mma.Pass{A: 1}, mma.Pass{}) },
	} {
		other := turing.Params
		change(&other)
		if _, q := triage.SameForm(volta.Formats, 16, triage.Program{Params: volta.Params, K: 4}, triage.Program{Params: other, K: 8}); q.K != 8 {
			t.Errorf("%s: K %d", name, q.K)
		}
	}
}

// TestHolds checks programs against the evidence about a unit.
func TestHolds(t *testing.T) {
	r := &regression{a: find(t, ampere16), b: find(t, hopper16)}
	pr := evidence(t, r, "normal", 500)
	if !triage.Holds(pr, &r.b.Params) {
		t.Error("the unit's own program does not hold")
	}
	if triage.Holds(pr, &r.a.Params) {
		t.Error("the base holds, although cases differ")
	}
	pr.Differ = nil
	if !triage.Holds(pr, &r.a.Params) || triage.Holds(pr, &mma.Params{}) {
		t.Error("of agreeing cases alone the base holds, and an invalid program does not")
	}
}

// TestParts divides the difference of Ampere and Hopper into parts.
func TestParts(t *testing.T) {
	a, b := find(t, ampere16), find(t, hopper16)
	var got []string
	for _, p := range triage.Parts(&a.Params, &b.Params) {
		got = append(got, fmt.Sprintf("%s: %s", p.Label, changeText(p.Changes)))
	}
	want := []string{"fusion-width: l 8→16", "truncation-width: join.align.f 24→25", "zero-exponent: join.align.floor -132→-133"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAttribution finds the causes of cases of several pairs together, of many and of few
// outputs of a batch: each is the cause that is found for the case alone. If only one detail is
// asked about, the cases that have it are the same.
func TestAttribution(t *testing.T) {
	tier.SkipUnderRace(t)
	hopper, ampere := find(t, hopper16), find(t, ampere16)
	var together triage.Attribution
	for what, tc := range map[string]struct {
		b      *mma.Instruction
		policy oracle.Policy
	}{
		"two labels":  {ampere, oracle.Policy{}},
		"one label":   {changed(t, hopper, "join.align.f=24"), oracle.Policy{Zero: oracle.ByClass}},
		"many labels": {changed(t, hopper, manyChanges), oracle.Policy{}},
	} {
		n := attributor(hopper, tc.b, tc.policy)
		names := map[string]bool{}
		for _, b := range []*mma.Batch{mma.BatchOf(hopper.Formats, hopper.K, probe(hopper, 3, &hopper.Params, &tc.b.Params)), tiles(t, hopper)} {
			dot := mma.NewDot(b.Formats, b.K)
			for _, in := range []int{1, 2, 20, b.Dots() + 1} { // one case in so many
				var at []int32
				var x, y []uint64
				for i := in / 2; i < b.Dots(); i += in {
					b.Get(i, dot)
					code := model(t, tc.b).Dot(dot, nil)
					if i%16 == 0 {
						code ^= 1 // which nothing explains
					}
					at, x, y = append(at, int32(i)), append(x, model(t, hopper).Dot(dot, nil)), append(y, code)
				}
				got := together.Causes(n, b, at, x, y)
				if len(got) != len(at) {
					t.Fatalf("%s: %d causes of %d cases", what, len(got), len(at))
				}
				for i, c := range got {
					b.Get(int(at[i]), dot)
					if alone := causeOf(n, b.Formats, dot, x[i], y[i]); *c != *alone {
						t.Fatalf("%s: output %d of %d x %d is %s, alone %s", what, at[i], b.M, b.N, c.Detail, alone.Detail)
					}
					names[c.Detail] = true
				}
				if in > 1 {
					continue
				}
				all := slices.Clone(got)
				for name := range names {
					together.Only = name
					for i, c := range together.Causes(n, b, at, x, y) {
						if (c.Detail == name) != (all[i].Detail == name) {
							t.Fatalf("%s: output %d of %d x %d is %s, asked for %s alone %s", what, at[i], b.M, b.N, all[i].Detail, name, c.Detail)
						}
					}
				}
				together.Only = ""
			}
		}
		if len(names) < 2 || !names["unexplained"] {
			t.Errorf("%s: names %v", what, names)
		}
	}
}

// tiles returns some tiles of raw bits.
func tiles(t *testing.T, i *mma.Instruction) *mma.Batch {
	src, err := gen.ParseSource("raw")
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(i.Formats, mma.Shape{M: src.Generator.M, N: src.Generator.N, K: i.K, Tiles: 3})
	src.Fill(b, 1, 0)
	return b
}

// TestHiddenLabels changes which NaN and which zero programs give: by class no result differs,
// on inputs that aim at these changes, also where a result is the accumulator of the next
// execution. So Idle needs no inputs for them. Refined programs are left out, here and there.
func TestHiddenLabels(t *testing.T) {
	byClass := oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass}
	units := slices.Clone(mma.Arithmetics())
	for seed := range tier.Of[uint64](40, 80, 300, 1500) {
		units = append(units, madeup.Unit(seed))
	}
	compared := 0
	for n := range units {
		u := &units[n]
		p, q := u.Params, u.Params
		if p.Refined() {
			continue // a NaN may become a number, or an infinity of its sign
		}
		q.Special = mma.Special{NaN: mma.NaNLarger, NegZero: !p.Special.NegZero, TinySign: !p.Special.TinySign}
		if p.Special.NaN == mma.NaNLarger {
			q.Special.NaN = mma.NaNQuietNeg
		}
		k := u.K
		if u.C == u.D {
			k *= 2
		}
		x, errX := sim.New(u.Formats, u.K, p)
		y, errY := sim.New(u.Formats, u.K, q)
		if errX != nil || errY != nil {
			continue
		}
		for at, d := range gen.Probe(gen.Spec{Formats: u.Formats, K: k}, 1, 0, &p, &q) {
			if at%tier.Of(30, 15, 4, 1) != 0 {
				continue
			}
			if a, b := x.Dot(d, nil), y.Dot(d, nil); oracle.Compare(u.D, byClass, a, b) != oracle.Same {
				t.Fatalf("%s: %s: %x and %x", u.FullName(), mma.FormatDot(u.Formats, d), a, b)
			}
			compared++
		}
	}
	if compared < 1000 {
		t.Errorf("%d dot products compared", compared)
	}
}
