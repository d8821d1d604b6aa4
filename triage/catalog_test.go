package triage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// reference makes an unknown unit that computes with reference arithmetic of the oracle
// and differs from an instruction's model.
func reference(t *testing.T, i *mma.Instruction, name string, n int) *triage.Unknown {
	t.Helper()
	ref, ok := oracle.FindReference(name)
	if !ok {
		t.Fatalf("no reference %s", name)
	}
	return computing(t, i, n, func(d *mma.Dot) uint64 { return ref.Eval(i.Formats, d) })
}

// computing makes an unknown unit that computes a function and differs from an instruction's model.
func computing(t *testing.T, i *mma.Instruction, n int, unit func(d *mma.Dot) uint64) *triage.Unknown {
	t.Helper()
	base := model(t, i)
	pr := &triage.Unknown{Formats: i.Formats, K: i.K, Base: i.Params, Policy: oracle.Policy{NaN: oracle.ByClass}, Seed: 1, Rounds: askRounds}
	pr.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
		codes := make([]uint64, len(dots))
		for n, d := range dots {
			codes[n] = unit(d)
		}
		return codes, nil
	}
	for _, g := range gen.All() {
		for at := range n {
			d := g.Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params).Dot(gen.Spec{Formats: i.Formats, K: i.K}, 1, uint64(at))
			c := triage.Case{Dot: d, Want: unit(d)}
			if oracle.Compare(i.D, pr.Policy, base.Dot(d, nil), c.Want) == oracle.Same {
				pr.Agree = append(pr.Agree, c)
			} else {
				pr.Differ = append(pr.Differ, c)
			}
		}
	}
	return pr
}

// TestReferences explains units that compute with reference arithmetic: its name is among
// what explains them.
func TestReferences(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, tc := range []struct{ inst, ref, changes string }{
		{hopper16, "fma64", "l 16→1, join.align.f 25→exact, join.align.mode rz→, acc.frac 23→52, acc.mode rz→rne, acc.emin -126→-1022, acc.emax 127→1023, " +
			"out.frac exact→23, out.mode →rne, out.emin none→-126, out.emax none→127, special.negzero false→true"},
		{hopper16, "fma32", "l 16→1, join.align.f 25→exact, join.align.mode rz→, acc.mode rz→rne, special.negzero false→true"},
		{hopper16, "exact", "join.align.f 25→exact, join.align.mode rz→, acc.mode rz→rne, special.negzero false→true"},
		{"hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "fma32-rev", "order ascending→descending, l 32→1, join.align.f 13→exact, join.align.mode rz→, acc.frac 13→23, acc.mode rz→rne, special.negzero false→true"},
		{"cdna3/v_mfma_f32_32x32x8_f16", "mul64", "l 8→1, join.align.f 32→exact, join.align.mode rd→, join.cf 24→exact, join.cmode rd→, " +
			"join.post.frac 31→exact, join.post.mode rd→, join.post.emin -126→none, acc.frac 23→52, acc.emin -126→-1022, acc.emax 127→1023, " +
			"out.frac exact→23, out.mode →rne, out.emin none→-126, out.emax none→127, special.negzero false→true"},
	} {
		v := explain(t, reference(t, find(t, tc.inst), tc.ref, 64))
		if got := changeText(v.Changes); got != tc.changes {
			t.Errorf("%s, ref:%s: %s, want %s", tc.inst, tc.ref, got, tc.changes)
		}
		if !slices.Contains(v.Alike, "ref:"+tc.ref) {
			t.Errorf("%s, ref:%s: alike %s", tc.inst, tc.ref, v.Alike)
		}
	}
}

// TestAlike names the instructions that compute what a unit does, and no others.
func TestAlike(t *testing.T) {
	tier.SkipUnderRace(t)
	r := &regression{a: find(t, ampere16), b: find(t, hopper16)}
	pr := answering(t, r, evidence(t, r, "normal", 1000))
	v := explain(t, pr)
	if !slices.Equal(v.Alike, []string{"sim:" + hopper16}) {
		t.Errorf("alike %s", v.Alike)
	}
	if got := triage.StillAlike(pr, v); !slices.Equal(got, v.Alike) {
		t.Errorf("still alike: %s", got)
	}
	// A result that hopper does not give.
	pr.Differ = append(pr.Differ, triage.Case{Dot: pr.Agree[0].Dot, Want: pr.Agree[0].Want ^ 1})
	if got := triage.StillAlike(pr, v); len(got) != 0 {
		t.Errorf("still alike: %s", got)
	}
}

// TestKnownFirst has a recording with a single case that any of many changes explains,
// and a known program as well: a change on the way to that goes first.
func TestKnownFirst(t *testing.T) {
	i := find(t, hopper16)
	i.Params = oracle.References[0].Program(i.Formats) // exact
	pr := reference(t, i, "fma32", 64)
	pr.Ask, pr.Differ, pr.Agree = nil, pr.Differ[:1], nil
	v := explain(t, pr)
	ref, _ := oracle.FindReference("fma32")
	p := ref.Program(i.Formats)
	if n := len(mma.Diff(&v.Program, &p)); n != len(mma.Diff(&pr.Base, &p))-len(v.Changes) || !slices.Contains(v.Alike, "ref:fma32") {
		t.Errorf("%s is not on the way to fma32; alike %s", changeText(v.Changes), v.Alike)
	}
}

// TestNearest says of units that are no programs how near one comes, and where the
// nearest fails.
func TestNearest(t *testing.T) {
	tier.SkipUnderRace(t)
	for n, tc := range []struct {
		inst, box, generator string
		want                 string // changes of the base, cases, and the witness with the unit's result and the program's
	}{
		// The unit has one width or another, as the last bit of c says.
		{hopper16, "window", "cut", "join.align.f 25→24: 21 of 21, 291 of 379; 3c00 3c00 b3000000: 3f7fffff, not 3f800000"},
		{hopper16, "wire", "normal", ": 0 of 40, 360 of 360; 3c00 3c00 bc0000c0: 3f7dffff, not 3f7dfffd"},
		{"blackwell/mma.m16n8k8.f32.tf32.tf32.f32", "clamp", "raw", ": 0 of 349, 51 of 51; 00000000 00000000 60000000: 5f812345, not 60000000"},
	} {
		if n >= tier.Of(1, 1, 3) {
			break
		}
		r := &regression{a: find(t, tc.inst)}
		r.box = boxes(r.a)[tc.box]
		v := explain(t, answering(t, r, evidence(t, r, tc.generator, 400)))
		near := v.Nearest
		if near == nil {
			t.Errorf("%s: found, as %s", tc.box, changeText(v.Changes))
			continue
		}
		got := fmt.Sprintf("%s%s: %d of %d, %d of %d; %s: %s, not %s", near.From, changeText(near.Changes), near.Explained, near.Differ, near.Kept, near.Agree,
			mma.FormatDot(r.a.Formats, near.Witness.Dot), mma.FormatCode(r.a.D, near.Witness.Want), mma.FormatCode(r.a.D, near.Would))
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.box, got, tc.want)
		}
		if answer := r.run(t, []*mma.Dot{near.Witness.Dot})[0]; answer != near.Witness.Want {
			t.Errorf("%s: the unit gives %x on the witness, not %x", tc.box, answer, near.Witness.Want)
		}
	}
}

// TestNearestRecorded has nobody to ask: the witness is a case that is there.
func TestNearestRecorded(t *testing.T) {
	tier.SkipUnderRace(t)
	tier.LongOnly(t)
	r := &regression{a: find(t, hopper16)}
	r.box = boxes(r.a)["wire"]
	pr := evidence(t, r, "normal", 200)
	near := explain(t, pr).Nearest
	if !slices.ContainsFunc(pr.Differ, func(c triage.Case) bool { return c.Dot == near.Witness.Dot && c.Want == near.Witness.Want }) {
		t.Errorf("the witness is %+v", near.Witness)
	}
}
