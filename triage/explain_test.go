package triage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// evidence runs inputs of a generator on both sides of a pair and returns the problem, with
// a unit that cannot be asked: a recording.
func evidence(t testing.TB, r *regression, generator string, n int) *triage.Unknown {
	t.Helper()
	g, err := gen.Find(generator)
	if err != nil {
		t.Fatal(err)
	}
	sp := gen.Spec{Formats: r.a.Formats, K: r.a.K}
	src := g.Aimed(sp, &r.a.Params)
	pr := &triage.Unknown{Formats: r.a.Formats, K: r.a.K, Base: r.a.Params, Effort: effort()}
	dots := make([]*mma.Dot, n)
	for i := range dots {
		dots[i] = src.Dot(sp, 1, uint64(i))
	}
	base := model(t, r.a)
	for i, want := range r.run(t, dots) {
		c := triage.Case{Dot: dots[i], Want: want}
		if base.Dot(dots[i], nil) == want {
			pr.Agree = append(pr.Agree, c)
		} else {
			pr.Differ = append(pr.Differ, c)
		}
	}
	return pr
}

// answering lets a unit answer.
func answering(t testing.TB, r *regression, pr *triage.Unknown) *triage.Unknown {
	pr.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) { return r.run(t, dots), nil }
	pr.Seed, pr.Rounds = 1, askRounds
	return pr
}

func explain(t testing.TB, pr *triage.Unknown) *triage.Verdict {
	t.Helper()
	v, err := triage.Explain(t.Context(), pr)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const ampere16, hopper16 = "ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"

// TestNothingToExplain gives units that do not differ.
func TestNothingToExplain(t *testing.T) {
	i := find(t, ampere16)
	for name, r := range map[string]*regression{
		"one unit twice":      {a: i, b: i},
		"of two generations":  {a: i, b: find(t, "ada/mma.m16n8k16.f32.f16.f16.f32")},
		"a change not to see": {a: i, b: changed(t, i, "acc.over=ieee prod.round.emax=127")},
	} {
		pr := answering(t, r, evidence(t, r, "normal", 512))
		if len(pr.Agree) != 512 {
			t.Errorf("%s: %d agreeing cases of 512", name, len(pr.Agree))
		}
		if v, err := triage.Explain(t.Context(), pr); err == nil || err.Error() != "triage: no differing cases" {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestTwoCauses has units that differ in several parameters at once, with
// evidence that shows all of them.
func TestTwoCauses(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, tc := range []struct{ a, b, set, generator, changes, labels string }{
		{ampere16, hopper16, "", "normal", "l 8→16, join.align.f 24→25", "fusion-width+truncation-width"},
		{hopper16, ampere16, "", "normal", "l 16→8, join.align.f 25→24", "fusion-width+truncation-width"},
		{ampere16, "", "acc.mode=rne join.align.f=26", "cut", "join.align.f 24→26, acc.mode rz→rne", "output-rounding+truncation-width"},
		{ampere16, "", "join.align.mode=rne special.nan=quiet", "special", "join.align.mode rz→rne, special.nan ones→quiet", "alignment-rounding+nan-encoding"},
		{ampere16, "", "acc.over=max join.align.mode=rne", "normal", "join.align.mode rz→rne", "alignment-rounding"}, // the other does not show
		{"cdna3/v_mfma_f32_32x32x8_f16", "", "join.cmode=rz stage0.align.mode=rne", "cut", "stage0.align.mode rz→rne, join.cmode rd→rz", "alignment-rounding+rounding-asymmetry"},
	} {
		r := &regression{a: find(t, tc.a)}
		if r.b = changed(t, r.a, tc.set); tc.b != "" {
			r.b = find(t, tc.b)
		}
		v := explain(t, evidence(t, r, tc.generator, 2000))
		if got := changeText(v.Changes); got != tc.changes || triage.Join(v.Labels) != tc.labels {
			t.Errorf("%s, %s%s: %s (%v), want %s (%s)", tc.a, tc.b, tc.set, got, v.Labels, tc.changes, tc.labels)
		}
		if v.Explained != v.Differ || v.Kept != v.Agree || v.Asked != 0 {
			t.Errorf("%s, %s%s: %+v", tc.a, tc.b, tc.set, v)
		}
	}
}

// TestKnownProgram has units as far apart as two vendors' or two generations of
// AMD: what explains one is the other's program.
func TestKnownProgram(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, tc := range []struct{ a, b, generator, hidden string }{
		// Both L are beyond K; the rounding at 31 bits hides what is below the floor.
		{"hopper/mma.m16n8k8.f32.bf16.bf16.f32", "cdna3/v_mfma_f32_32x32x8_bf16", "cut", "l 16→8, join.align.floor -133→-126"},
		// FP16 products need no rounding and are never subnormal in FP32, and the first
		// term of every sum is +0 or a normal number.
		{"cdna3/v_mfma_f32_32x32x8_f16", "cdna2/v_mfma_f32_32x32x8f16", "spread",
			"prod.round.frac exact→23, prod.round.mode →rne, prod.round.emin none→-126, prod.round.flush keep→result, " +
				"join.align.floor -126→none, acc.flush keep→result, special.negzero false→true"},
	} {
		r := &regression{a: find(t, tc.a), b: find(t, tc.b)}
		v := explain(t, answering(t, r, evidence(t, r, tc.generator, 2000)))
		if len(v.Equivalent) != 0 || v.Explained != v.Differ || v.Kept != v.Agree {
			t.Errorf("%s, %s: %+v", tc.a, tc.b, v)
		}
		if diff := changeText(mma.Diff(&v.Program, &r.b.Params)); diff != tc.hidden {
			t.Errorf("%s, %s: from the program that was found to the other's: %s, want %s", tc.a, tc.b, diff, tc.hidden)
		}
	}
}

// TestUnexplainable gives boxes that are no programs, some of which answer: there
// is no verdict.
func TestUnexplainable(t *testing.T) {
	tier.SkipUnderRace(t)
	tier.LongOnly(t)
	units, effort := 3, 2
	if tier.Nightly() {
		units, effort = 6, 12
	}
	for _, tc := range []struct {
		inst, box, generator string
		asked                bool
	}{
		{hopper16, "wire", "normal", true},
		{hopper16, "window", "cut", false},
		{"cdna1/v_mfma_f32_16x16x4f32", "lost", "normal", true},
		{"blackwell/mma.m16n8k8.f32.tf32.tf32.f32", "clamp", "raw", true},
		{ampere16, "lost", "normal", false},
		{"cdna3/v_mfma_f32_32x32x8_f16", "wire", "cut", false},
	}[:units] {
		r := &regression{a: find(t, tc.inst)}
		r.box = boxes(r.a)[tc.box]
		pr := evidence(t, r, tc.generator, 400)
		if tc.asked {
			pr = answering(t, r, pr)
		}
		pr.Effort = effort
		v := explain(t, pr)
		if v.Found() || !slices.Equal(v.Labels, []triage.Label{triage.Unexplained}) || v.Program != pr.Base || v.Explained != 0 || v.Kept != v.Agree {
			t.Errorf("%s %s: %+v", tc.inst, tc.box, v)
		}
		if len(pr.Differ) == 0 || v.Differ != len(pr.Differ) {
			t.Errorf("%s %s: %d differing cases, the verdict has %d", tc.inst, tc.box, len(pr.Differ), v.Differ)
		}
	}
}

// TestAmbiguous has one case that many changes explain: without answers all of
// them are reported, with answers the one that was made is left.
func TestAmbiguous(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, set := range []string{"join.align.f=24", "join.align.mode=rne", "acc.mode=rne", "l=8", "order=halves l=4"} {
		a := find(t, hopper16)
		r := &regression{a: a, b: changed(t, a, set)}
		w, err := triage.FindWitness(t.Context(), a.Formats, a.K, a.Params, r.b.Params, 1)
		if err != nil || w == nil {
			t.Fatalf("%s: %v, %v", set, w, err)
		}
		pr := &triage.Unknown{Formats: a.Formats, K: a.K, Base: a.Params, Differ: []triage.Case{{Dot: w.Dot, Want: w.After}}}
		before := explain(t, pr)
		if !before.Found() || len(before.Equivalent) == 0 {
			t.Errorf("%s: from one case %+v", set, before)
		}
		for _, changes := range append(before.Equivalent, before.Changes) {
			q := a.Params
			if err := q.Apply(changes); err != nil || !triage.Holds(pr, &q) {
				t.Errorf("%s: %s is said to explain the case but does not (%v)", set, changeText(changes), err)
			}
		}
		pr = answering(t, r, pr)
		after := explain(t, pr)
		if len(after.Equivalent) != 0 || after.Asked == 0 || after.Program != r.b.Params {
			t.Errorf("%s: with answers %s, or %v (asked %d)", set, changeText(after.Changes), after.Equivalent, after.Asked)
		}
	}
}

// TestNoInputs can ask but has nothing to ask about: the same as not asking.
func TestNoInputs(t *testing.T) {
	a := find(t, hopper16)
	r := &regression{a: a, b: changed(t, a, "join.align.f=24")}
	silent := explain(t, evidence(t, r, "normal", 20))
	pr := answering(t, r, evidence(t, r, "normal", 20))
	pr.Rounds = -1
	if diff := cmp.Diff(silent, explain(t, pr)); diff != "" {
		t.Error(diff)
	}
}

// TestDeterminism explains twice.
func TestDeterminism(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, file := range []string{"fusion-width", "accumulate-placement"} {
		for _, r := range readCases(t, "testdata/"+file+".case") {
			first := explain(t, r.problem(t))
			if diff := cmp.Diff(first, explain(t, r.problem(t))); diff != "" {
				t.Errorf("%s:\n%s", r.where, diff)
			}
		}
	}
}

// TestPolicy leaves NaN codes and zero signs open: they are no differences.
func TestPolicy(t *testing.T) {
	tier.SkipUnderRace(t)
	a := find(t, hopper16)
	r := &regression{a: a, b: changed(t, a, "special.nan=quiet join.align.f=24")}
	pr := answering(t, r, evidence(t, r, "special", 500))
	cut := evidence(t, r, "cut", 500)
	pr.Differ, pr.Agree = append(pr.Differ, cut.Differ...), append(pr.Agree, cut.Agree...)
	if got := changeText(explain(t, pr).Changes); got != "join.align.f 25→24, special.nan ones→quiet" {
		t.Errorf("by bits: %s", got)
	}
	pr.Policy = oracle.Policy{NaN: oracle.ByClass}
	if got := changeText(explain(t, pr).Changes); got != "join.align.f 25→24" {
		t.Errorf("by class: %s", got)
	}
}

// TestChained explains dot products that are longer than K: the instruction is
// executed repeatedly.
func TestChained(t *testing.T) {
	a := find(t, "ampere/mma.m16n8k8.f32.f16.f16.f32")
	b := find(t, "hopper/mma.m16n8k8.f32.f16.f16.f32")
	g, err := gen.Find("normal")
	if err != nil {
		t.Fatal(err)
	}
	sp := gen.Spec{Formats: a.Formats, K: 3 * a.K}
	pr := &triage.Unknown{Formats: a.Formats, K: a.K, Base: a.Params}
	for n := range uint64(300) {
		d := gen.Source{Generator: g}.Dot(sp, 1, n)
		c := triage.Case{Dot: d, Want: model(t, b).Dot(d, nil)}
		if model(t, a).Dot(d, nil) == c.Want {
			pr.Agree = append(pr.Agree, c)
		} else {
			pr.Differ = append(pr.Differ, c)
		}
	}
	if v := explain(t, pr); changeText(v.Changes) != "join.align.f 24→25" || len(v.Equivalent) != 0 {
		t.Errorf("%s, or %v", changeText(v.Changes), v.Equivalent)
	}
}

// TestTrouble has a unit that fails and a search that is broken off.
func TestTrouble(t *testing.T) {
	a := find(t, hopper16)
	r := &regression{a: a, b: changed(t, a, "join.align.f=24")}
	pr := answering(t, r, evidence(t, r, "normal", 20))
	broken := errors.New("the device is gone")
	pr.Ask = func(context.Context, []*mma.Dot) ([]uint64, error) { return nil, broken }
	if v, err := triage.Explain(t.Context(), pr); !errors.Is(err, broken) {
		t.Errorf("a unit that fails: %+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := triage.Explain(ctx, answering(t, r, pr)); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %+v, %v", v, err)
	}
}

// TestTime ends a search whose processor time is spent: what takes several changes is not
// found, and the nearest program is named.
func TestTime(t *testing.T) {
	tier.SkipUnderRace(t)
	a := find(t, ampere16)
	pr := evidence(t, &regression{a: a, b: changed(t, a, "acc.mode=rne join.align.f=26")}, "cut", 500)
	pr.Effort, pr.Time = -1, time.Nanosecond
	if v := explain(t, pr); v.Found() || v.Nearest == nil || v.Spent != 0 {
		t.Errorf("%+v", v)
	}
	if pr.Time = time.Hour; !explain(t, pr).Found() {
		t.Error("not found in an hour")
	}
}

// TestFindWitness finds the smallest input that shows a change.
func TestFindWitness(t *testing.T) {
	tier.SkipUnderRace(t)
	a := find(t, "ampere/mma.m16n8k8.f32.f16.f16.f32")
	for _, tc := range []struct{ set, want string }{
		{"join.align.f=25", "3c00 3c00 b3000000: 3f800000 3f7fffff"},
		{"special.nan=quiet", "7c00 0000 00000000: 7fffffff 7fc00000"},
		{"special.tinysign=true", ""}, // FP16 products are too large to vanish
		{"", ""},
	} {
		b := changed(t, a, tc.set)
		w, err := triage.FindWitness(t.Context(), a.Formats, a.K, a.Params, b.Params, 1)
		got := ""
		if w != nil {
			got = strings.Join([]string{mma.FormatDot(a.Formats, w.Dot) + ":", mma.FormatCode(a.D, w.Before), mma.FormatCode(a.D, w.After)}, " ")
		}
		if err != nil || got != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.set, got, err, tc.want)
		}
	}
	bad := a.Params
	bad.Acc.Mode = 0
	if _, err := triage.FindWitness(t.Context(), a.Formats, a.K, a.Params, bad, 1); err == nil {
		t.Error("an invalid program is accepted")
	}
	if _, err := triage.FindWitness(t.Context(), a.Formats, a.K, bad, a.Params, 1); err == nil {
		t.Error("an invalid program is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := triage.FindWitness(ctx, a.Formats, a.K, a.Params, a.Params, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
}
