package triage

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// nothing is a program to which fields are added.
var nothing mma.Params

// otherTexts are values, as text, to which tests change a field.
func otherTexts(f mma.Field) []string {
	var texts []string
	for _, v := range f.Values() {
		var p mma.Params
		f.SetInt(&p, v)
		texts = append(texts, f.Text(&p))
	}
	if texts == nil {
		texts = []string{"7"}
		switch f.Path {
		case "in.widen", "in.a.to", "in.b.to", "in.narrowc.to":
			texts = []string{"fp16"}
		case "passes":
			texts = []string{"10-01-00"}
		case "merge":
			texts = []string{"2-1"}
		}
	}
	return texts
}

// TestMutantLabels checks that every mutant of every arithmetic of the catalogue has
// labels, of which none is the one for what is unknown.
func TestMutantLabels(t *testing.T) {
	for _, i := range mma.Arithmetics() {
		for _, m := range change.SpaceOf(&i).Mutants(&i.Params, change.Decisions) {
			if ls := LabelsOf(&i.Params, &m.Params); len(ls) == 0 || slices.Contains(ls, Unexplained) {
				t.Errorf("%s: %s has labels %v", i.FullName(), m.Change, ls)
			}
		}
	}
}

// TestFieldLabels checks that a change of any field, alone, has a label of its
// own and not the one for what is unknown.
func TestFieldLabels(t *testing.T) {
	earned := map[Label]bool{}
	for _, f := range mma.Fields() {
		for _, text := range otherTexts(f) {
			p, q := nothing, nothing
			if err := q.Apply([]mma.Change{{Path: f.Path, To: text}}); err != nil {
				t.Fatal(err)
			}
			if p == q {
				continue
			}
			for _, l := range append(LabelsOf(&p, &q), LabelsOf(&q, &p)...) {
				if l.Open() || l == Layout || l == Defect || l == Schedule {
					t.Errorf("%s = %s earns %s", f.Path, text, l)
				}
				earned[l] = true
			}
		}
	}
	for _, l := range Labels() {
		if wanted := !l.Label.Open() && l.Label != Layout && l.Label != Defect && l.Label != Schedule && !strings.HasPrefix(string(l.Label), "flag-"); earned[l.Label] != wanted {
			t.Errorf("%s: earned by a field %v, want %v", l.Label, earned[l.Label], wanted)
		}
	}
}

// TestFieldRules checks that the label of every parameter's row is one of the labels.
func TestFieldRules(t *testing.T) {
	for _, f := range mma.Fields() {
		if !slices.ContainsFunc(Labels(), func(l LabelDoc) bool { return string(l.Label) == f.Label }) {
			t.Errorf("%s: no label %q", f.Path, f.Label)
		}
	}
}

// TestLabelList checks the list that people see.
func TestLabelList(t *testing.T) {
	if n := len(Labels()); n < 21 {
		t.Errorf("%d labels, want 21 or more", n)
	}
	seen := map[Label]bool{}
	for _, l := range Labels() {
		if seen[l.Label] || l.Doc == "" || strings.ToLower(string(l.Label)) != string(l.Label) {
			t.Errorf("%s: twice, undocumented or not in lower case", l.Label)
		}
		seen[l.Label] = true
	}
}

func TestLabelsOf(t *testing.T) {
	hopper := mma.TFDPA(16, 25, mma.To(fp.FP32, fp.RZ), -133)
	for _, tc := range []struct{ name, set, want string }{
		{"nothing", "", "unexplained"},
		{"width", "join.align.f=24", "truncation-width"},
		{"two", "l=8 join.align.f=24", "fusion-width+truncation-width"},
		{"one label of two fields", "join.align.f=24 join.cf=23", "truncation-width"},
		{"alignment", "join.align.mode=rne", "alignment-rounding"},
		{"alignment to one side", "join.align.mode=ru", "rounding-asymmetry"},
		{"result", "acc.mode=rto", "output-rounding"},
		{"result to one side", "acc.mode=rd", "rounding-asymmetry"},
		{"a stage of all", "stage0.sum=fused stage0.align.f=25 stage0.align.mode=rz", "accumulate-placement"},
		{"a stage of groups", "stage0.sum=fused stage0.group=4 stage0.align.f=25 stage0.align.mode=rd", "fusion-width"},
		{"a stage of interleaved groups", "stage0.sum=fused stage0.split=interleaved stage0.group=2 stage0.align.f=25 stage0.align.mode=rz", "summation-order"},
		{"a tree", "stage0.sum=pairwise stage0.round.frac=23 stage0.round.mode=rd stage0.round.emin=-126", "summation-order"},
		{"a second stage of all", "stage0.sum=fused stage0.group=2 stage0.align.f=9 stage0.align.mode=rz stage1.sum=fused stage1.align.f=9 stage1.align.mode=rz", "accumulate-placement+fusion-width"},
		{"c last", "start=zero late.frac=23 late.mode=rd late.emin=-126 late.emax=127", "accumulate-placement"},
		{"lanes", "lanes=2 late.frac=23 late.mode=rne late.emin=-126 late.emax=127", "summation-order"},
		{"lanes and c last", "lanes=2 start=zero late.frac=23 late.mode=rne late.emin=-126 late.emax=127", "accumulate-placement+summation-order"},
		{"rounded products", "prod.round.frac=23 prod.round.mode=rd prod.round.emin=-126 prod.round.emax=127 prod.round.flush=after", "product-handling"},
		{"overflowing products", "prod.round.emax=127", "overflow"},
		{"a rounding before the last", "join.post.frac=31 join.post.mode=rd join.post.emin=-126", "intermediate-rounding"},
		{"c cut elsewhere", "join.cf=20 join.cmode=rd", "truncation-width"},
		{"c cut otherwise", "join.cmode=rd", "rounding-asymmetry"},
		{"no cut", "join.align.f=exact join.align.mode=", "truncation-width"},
	} {
		p := hopper
		for s := range strings.FieldsSeq(tc.set) {
			path, value, _ := strings.Cut(s, "=")
			if err := p.Apply([]mma.Change{{Path: path, To: value}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, got := range []string{Join(LabelsOf(&hopper, &p)), Join(LabelsOf(&p, &hopper))} {
			if got != tc.want {
				t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
			}
		}
		parts := Parts(&hopper, &p)
		n := 0
		for _, part := range parts {
			n += len(part.Changes)
		}
		if n != len(mma.Diff(&hopper, &p)) {
			t.Errorf("%s: the parts %v do not have every change once", tc.name, parts)
		}
	}
}

// TestOverflowFollows: what an overflow becomes is no change of its own where it is what IEEE 754 has
// for another mode.
func TestOverflowFollows(t *testing.T) {
	chain := mma.FMA(fp.FP32)
	for _, tc := range []struct {
		mode fp.Mode
		over mma.Over
		want string
	}{
		{fp.RZ, mma.OverIEEE, "output-rounding"},
		{fp.RZ, mma.OverMax, "output-rounding"},
		{fp.RZ, mma.OverSat, "output-rounding+overflow"},
		{fp.RNE, mma.OverMax, "overflow"},
		{fp.RNA, mma.OverMax, "output-rounding+overflow"},
		{fp.RU, mma.OverIEEE, "rounding-asymmetry"},
		{fp.RU, mma.OverMax, "overflow+rounding-asymmetry"},
	} {
		p := chain
		p.Acc.Mode, p.Acc.Over = tc.mode, tc.over
		for _, got := range []string{Join(LabelsOf(&chain, &p)), Join(LabelsOf(&p, &chain))} {
			if got != tc.want {
				t.Errorf("%s, %s: %s, want %s", tc.mode, tc.over, got, tc.want)
			}
		}
	}
}

// TestLabelsOfSteps changes the number of products in a step: of sums that round after each
// addition this changes the order, of fused ones how many products one sum has.
func TestLabelsOfSteps(t *testing.T) {
	chain := mma.FMA(fp.FP32)
	tree := mma.Stage{Sum: mma.Pairwise, Round: chain.Acc}
	pairs := mma.Stage{Sum: mma.Pairwise, Group: 2, Round: chain.Acc}
	fused := mma.Stage{Sum: mma.Fused, Group: 2, Round: chain.Acc}
	for _, tc := range []struct {
		name     string
		from, to int
		stage    mma.Stage
		want     Label
	}{
		{"an accumulator of a fused sum", 1, 8, mma.Stage{}, FusionWidth},
		{"a tree", 1, 8, tree, SummationOrder},
		{"a larger tree", 4, 8, tree, SummationOrder},
		{"pairs, two of which a sum has", 2, 4, pairs, FusionWidth},
		{"fused pairs", 2, 4, fused, FusionWidth},
	} {
		p, q := chain, chain
		p.L, q.L, q.Stage0 = uint8(tc.from), uint8(tc.to), tc.stage
		if tc.from > 1 {
			p.Stage0 = tc.stage
		}
		for _, got := range [][]Label{LabelsOf(&p, &q), LabelsOf(&q, &p)} {
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
			}
		}
	}
}

// TestIntegerLabels: the order of a sum of integers decides nothing but which partial sums saturate.
func TestIntegerLabels(t *testing.T) {
	of := func(instruction string, set ...mma.Change) *mma.Params {
		i, err := mma.Lookup("x86", instruction)
		if err == nil {
			err = i.Params.Apply(set)
		}
		if err != nil {
			t.Fatal(err)
		}
		return &i.Params
	}
	short := []mma.Change{{Path: "acc.frac", To: "15"}, {Path: "acc.emin", To: "15"}, {Path: "acc.emax", To: "14"}, {Path: "acc.over", To: "sat"}}
	steps := append([]mma.Change{{Path: "l", To: "2"}}, short...)
	for _, tc := range []struct {
		name string
		p, q *mma.Params
	}{
		{"saturated pairs", of("vpdpbusd"), of("avx2-u8s8")},
		{"interleaved pairs", of("vpdpbusd"), of("avx2-u8s8", mma.Change{Path: "stage0.split", To: "interleaved"})},
		{"another order of pairs", of("avx2-u8s8"), of("avx2-u8s8", mma.Change{Path: "stage0.split", To: "interleaved"})},
		{"steps that saturate", of("vpdpbusd"), of("vpdpbusd", steps...)},
		{"other steps that saturate", of("vpdpbusd", short...), of("vpdpbusd", steps...)},
	} {
		for _, got := range [][]Label{LabelsOf(tc.p, tc.q), LabelsOf(tc.q, tc.p)} {
			if !slices.Equal(got, []Label{Overflow}) {
				t.Errorf("%s: %v", tc.name, got)
			}
		}
	}
}

// TestLimits checks that the mode of a rounding that has nothing to round is one of overflow.
func TestLimits(t *testing.T) {
	p := mma.Params{Acc: mma.To(fp.FP16, fp.RU)}
	p.Join.Post = mma.To(fp.FP16, fp.RNE)
	q := p
	q.Acc.Mode = fp.RNE
	if got := LabelsOf(&p, &q); !slices.Equal(got, []Label{Overflow}) {
		t.Errorf("%v, want %v", got, Overflow)
	}
	p.Join.Post.Frac++
	q.Join.Post.Frac++
	if got := LabelsOf(&p, &q); slices.Contains(got, Overflow) {
		t.Errorf("%v though a bit is rounded", got)
	}
}

// TestFlushOfTheResult: a rounding of the final result that changes nothing but what it flushes is a flush.
func TestFlushOfTheResult(t *testing.T) {
	p := mma.Params{Acc: mma.To(fp.FP32, fp.RNE)}
	flushed, narrower := p, p
	flushed.Out = p.Acc
	flushed.Out.Flush = mma.FlushBefore
	narrower.Out = mma.To(fp.FP16, fp.RNE)
	narrower.Out.Flush = mma.FlushBefore
	for want, q := range map[Label]*mma.Params{OutputFTZ: &flushed, OutputRounding: &narrower} {
		for _, got := range [][]Label{LabelsOf(&p, q), LabelsOf(q, &p)} {
			if !slices.Equal(got, []Label{want}) {
				t.Errorf("%v: %v", want, got)
			}
		}
	}
}
