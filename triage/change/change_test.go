package change

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
)

// TestDecisions checks that the decisions about every arithmetic of the catalogue are
// valid, and different from it and from each other; and that every row with decisions
// makes one somewhere.
func TestDecisions(t *testing.T) {
	made := map[string]bool{}
	for _, i := range mma.Arithmetics() {
		seen := map[mma.Params]bool{i.Params: true}
		for _, m := range (Space{i.Formats, i.K}).Mutants(&i.Params, Decisions) {
			made[m.Change] = true
			if seen[m.Params] {
				t.Errorf("%s: %s gives %v, which was there", i.FullName(), m.Change, mma.Diff(&i.Params, &m.Params))
			}
			seen[m.Params] = true
			if err := m.Params.Validate(i.Formats, i.K); err != nil {
				t.Errorf("%s: %s: %v", i.FullName(), m.Change, err)
			}
		}
	}
	for _, r := range table() {
		if r.by[Decisions] != nil && !made[r.name] {
			t.Errorf("%s changes no arithmetic", r.name)
		}
	}
}

// TestDecisionsOfOne lists mutants that the tables of the generators and of triage are
// made of, for one arithmetic.
func TestDecisionsOfOne(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	var got []string
	for _, m := range (Space{f, 16}).Mutants(&p, Decisions) {
		if c := mma.Diff(&p, &m.Params); len(c) == 1 {
			got = append(got, c[0].String())
		}
	}
	for _, want := range []string{
		"join.align.f 24→21", "join.align.f 24→22", "join.align.f 24→23", "join.align.f 24→25", "join.align.f 24→26", "join.align.f 24→27",
		"l 8→4", "l 8→16", "l 8→1",
		"order ascending→descending", "order ascending→halves",
		"acc.mode rz→rd", "acc.mode rz→rne", "join.align.mode rz→rd", "join.align.mode rz→rne",
		"join.align.floor -132→-131", "join.align.floor -132→-133", "join.align.floor -132→none",
		"in.sub keep→zero", "in.c keep→plus-zero", "acc.flush keep→before",
		"special.nan ones→quiet", "special.negzero false→true", "special.tinysign false→true",
		"acc.over inf→max", "join.cdrop exact→24", "prod.exp field-sum→normalised",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among the mutants", want)
		}
	}
	if len(got) < 60 {
		t.Errorf("only %d mutants of one field", len(got))
	}
}

// TestTogether checks that Exhaustive sets fields together which do not show alone.
func TestTogether(t *testing.T) {
	s := Space{mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, 16}
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	got := map[string]bool{}
	for _, m := range s.Mutants(&p, Exhaustive) {
		var changes []string
		for _, c := range mma.Diff(&p, &m.Params) {
			changes = append(changes, c.String())
		}
		got[strings.Join(changes, ", ")] = true
	}
	for _, want := range []string{
		"in.b.mode →rd, in.b.to none→fp16",
		"in.narrowc.frac exact→10, in.narrowc.mode →ru, in.narrowc.over inf→max",
		"prod.round.frac exact→64, prod.round.mode →rne, prod.round.emin none→-267, prod.round.emax none→15, prod.round.over inf→max",
		"join.post.frac exact→64, join.post.mode →rne, join.post.emax none→15, join.post.over inf→max",
		"stage0.sum off→sequential, stage0.sort none→falling, stage0.align.f exact→100, stage0.align.mode →rz",
		"stage0.sum off→pairwise, stage0.group 0→4, stage0.round.frac exact→6, stage0.round.mode →rne, stage0.round.emin none→-126, stage0.round.emax none→127",
		"join.align.f 24→30, join.align.mode rz→rto",
		"join.align.f 24→58, join.align.mode rz→rna, join.align.sticky off→below",
		"join.align.f 24→62, join.align.bits 0→8, join.align.saturate false→true",
		"join.align.f 24→60, join.align.bits 0→59",
		"acc.emin -126→77, acc.flush keep→before",
		"out.frac exact→9, out.mode →rne, out.emin none→-126, out.emax none→127",
	} {
		if !got[want] {
			t.Errorf("%s is not among the %d mutants", want, len(got))
		}
	}
}

// TestWidened checks that c is rounded to every width of its own format where A and B are widened.
func TestWidened(t *testing.T) {
	s := Space{mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}, 16}
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	p.In.Widen = fp.FP16
	most := map[string]mma.Frac{}
	for _, m := range s.Mutants(&p, Exhaustive) {
		most["a"], most["c"] = max(most["a"], m.Params.In.A.Frac), max(most["c"], m.Params.In.NarrowC.Frac)
	}
	if most["a"] != 9 || most["c"] != 22 {
		t.Errorf("rounded to at most %d and %d bits, want 9 and 22", most["a"], most["c"])
	}
}

// TestStepsReach checks that for every field of a program there is a step that sets it, and
// to every value of an enumeration but the one that means absent: what no step sets is
// never found.
func TestStepsReach(t *testing.T) {
	reached := map[string]map[int]bool{}
	for _, f := range mma.Fields() {
		reached[f.Path] = map[int]bool{}
	}
	cut := mma.Stage{Sum: mma.Fused, Group: 2, Align: mma.Align{F: 20, Mode: fp.RZ}, Round: mma.To(fp.FP32, fp.RNE)}
	units := []mma.Instruction{{K: 8, Formats: mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}, Params: mma.Params{
		In: mma.Input{A: mma.Narrow{Frac: 7, Mode: fp.RZ}, B: mma.Narrow{Frac: 7, Mode: fp.RZ}, NarrowC: mma.Narrow{Frac: 7, Mode: fp.RZ}}, Stage0: cut, Stage1: cut, Acc: mma.To(fp.FP32, fp.RNE),
	}}}
	units = append(units, mma.Instruction{K: 8, Formats: mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 8}, Params: mma.Params{
		ScaleRound: mma.To(fp.BF16, fp.RNE), Acc: mma.To(fp.FP32, fp.RNE),
	}})
	for seed := range uint64(40) {
		units = append(units, madeup.Unit(seed))
	}
	for _, name := range []string{"mma.m8n8k16.s32.s8.s8.s32", "mma.m8n8k128.s32.b1.b1.s32.and.popc"} {
		i, err := mma.Lookup("ampere", name)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, *i)
	}
	for n, i := range units {
		steps := []Breadth{Steps, TermSteps}
		if n == 1 {
			steps = append(steps, RareSteps)
		}
		for _, m := range (Space{i.Formats, i.K}).Mutants(&i.Params, steps...) {
			for _, f := range mma.Fields() {
				if v := f.Int(&m.Params); v != f.Int(&i.Params) {
					reached[f.Path][v] = true
				}
			}
		}
	}
	for _, f := range mma.Fields() {
		if len(reached[f.Path]) == 0 {
			t.Errorf("no step sets %s", f.Path)
		}
		for _, v := range f.Values() {
			if f.Path == "acc.mode" && fp.Mode(v) == fp.RS {
				continue // inference of a unit with random bits begins with it
			}
			if !reached[f.Path][v] && v != 0 {
				var p mma.Params
				f.SetInt(&p, v)
				t.Errorf("no step makes %s %q", f.Path, f.Text(&p))
			}
		}
	}
}

// TestJointSteps checks that steps make changes of several parts at once, of which none alone
// brings a search nearer.
func TestJointSteps(t *testing.T) {
	space := Space{mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, 8}
	round := mma.To(fp.FP16, fp.RD)
	alone := mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: 8}
	for _, tc := range []struct {
		name     string
		from, to func(p *mma.Params)
	}{
		{"a rounding of sums in a stage of its own",
			func(p *mma.Params) { p.Stage0 = mma.Stage{Sum: mma.Fused, Group: 2, Round: round} },
			func(p *mma.Params) { p.Stage0.Round, p.Stage1, p.Stage1.Round = mma.Round{}, alone, round }},
		{"a rounding of sums as a cut of its own",
			func(p *mma.Params) { p.Stage0 = mma.Stage{Sum: mma.Fused, Group: 2, Round: round} },
			func(p *mma.Params) {
				p.Stage0.Round, p.Stage1, p.Stage1.Align = mma.Round{}, alone, mma.Align{F: 10, Mode: fp.RD}
			}},
		{"a rounding of products in a stage of its own",
			func(p *mma.Params) {
				p.Prod.Round, p.Stage0 = round, mma.Stage{Sum: mma.Fused, Group: 2, Align: p.Join.Align}
			},
			func(p *mma.Params) {
				p.Prod.Round, p.Stage0, p.Stage1 = mma.Round{}, alone, p.Stage0
				p.Stage0.Round = round
			}},
		{"c as the first of the lanes",
			func(p *mma.Params) { p.Lanes = 4 },
			func(p *mma.Params) { p.Start, p.Leaf, p.Late = mma.StartEmpty, mma.LeafFirst, p.Acc }},
		{"a rounding for a bare range that flushes",
			func(p *mma.Params) {
				p.Stage0 = mma.Stage{Sum: mma.Fused, Align: p.Join.Align, Round: mma.Round{Emin: -14, Flush: mma.FlushBefore}}
			},
			func(p *mma.Params) { p.Stage0.Round = mma.To(fp.FP16, fp.RZ) }},
		{"a sign of exact zeros",
			func(p *mma.Params) { p.In.Sub = mma.FlushSign },
			func(p *mma.Params) {
				p.In.Sub, p.Special.NegZero, p.Join.Post = mma.FlushPlus, true, mma.Round{Frac: mma.MaxFrac, Mode: fp.RD}
			}},
	} {
		p := mma.Params{Acc: mma.To(fp.FP32, fp.RZ), Join: mma.Join{Align: mma.Align{F: 24, Mode: fp.RZ}}}
		if tc.from(&p); p.Lanes > 0 {
			p.Late = p.Acc
		}
		want := p
		tc.to(&want)
		if !slices.ContainsFunc(space.Mutants(&p, Steps, TermSteps, RareSteps), func(m Mutant) bool { return m.Params == want }) {
			t.Errorf("%s: no step makes it", tc.name)
		}
	}
}

// TestNumbers checks which fields are numbers: all of mma.Params but enumerations, formats,
// a merge and passes; and that no program that does not use a number has a value of it.
func TestNumbers(t *testing.T) {
	for _, f := range mma.Fields() {
		if want := f.Values() == nil && !strings.HasSuffix(f.Path, ".widen") && !strings.HasSuffix(f.Path, ".to") && f.Path != "merge" && f.Path != "passes"; f.Numeric() != want {
			t.Errorf("%s is a number: %v", f.Path, !want)
		}
	}
	used := map[string]bool{"join.clost": true} // which is never drawn: mma.TestMadeUp
	units := mma.Arithmetics()
	for seed := range uint64(5000) {
		units = append(units, madeup.Unit(seed))
	}
	for _, i := range units {
		for _, f := range mma.Fields() {
			v := f.Int(&i.Params)
			if !f.Numeric() || v == 0 {
				continue
			}
			used[f.Path] = true
			if _, _, ok := f.Range(&i.Params, i.Formats, i.K); !ok {
				t.Errorf("%s: %s is %d, where it is said not to be used", i.FullName(), f.Path, v)
			}
		}
	}
	for _, f := range mma.Fields() {
		if f.Numeric() && !madeup.Newer(f) && !used[f.Path] {
			t.Errorf("no program uses %s", f.Path)
		}
	}
}

// TestExhaustive checks that a program takes every value of the range of some of its numbers
// and none beyond, where Validate is what limits them.
func TestExhaustive(t *testing.T) {
	i, err := mma.Lookup("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3")
	if err != nil {
		t.Fatal(err)
	}
	o := &original{Space{i.Formats, i.K}, i.Params}
	for _, path := range []string{"join.align.bits", "acc.frac"} {
		f, _ := mma.FindField(path)
		lo, hi, _ := f.Range(&o.p, o.Formats, o.K)
		for v := lo; v <= hi+1; v++ {
			q := i.Params
			f.SetInt(&q, v)
			if got, want := q.Validate(i.Formats, i.K) == nil, v <= hi; got != want {
				t.Errorf("%s = %d is valid: %v", path, v, got)
			}
		}
		if n := len(allInRange(o, f)); n != hi-lo+1 {
			t.Errorf("%s has %d values in %d..%d", path, n, lo, hi)
		}
	}
}

// TestRemovals checks that what removals make says less.
func TestRemovals(t *testing.T) {
	for seed := range uint64(40) {
		i := madeup.Unit(seed)
		s := Space{i.Formats, i.K}
		for _, m := range s.Mutants(&i.Params, Removals) {
			if s.Size(&m.Params) >= s.Size(&i.Params) {
				t.Errorf("%d: %s: %s", seed, m.Change, mma.Brief(mma.Diff(&i.Params, &m.Params)))
			}
		}
	}
}

// TestConversionsAndIntegers checks what the explanations of conversions and of integers begin with, and
// that each row of these has its mutants.
func TestConversionsAndIntegers(t *testing.T) {
	seen := map[mma.Params]bool{}
	for _, i := range mma.Catalog() {
		if i.Refuse != "" || !i.Conversion() && !i.D.Integer() || seen[i.Params] {
			continue
		}
		seen[i.Params] = true
		if len((Space{i.Formats, i.K}).Mutants(&i.Params, Refinements, Mistakes)) == 0 && !i.D.Get().PowersOfTwo() {
			t.Errorf("%s has no mutants", i.FullName())
		}
	}
	for _, tc := range []struct{ arch, name, change, want string }{
		{"ada", "cvt.rn.satfinite.e4m3x2.f32", "rounded twice", "[in.a.frac exact→10 in.a.mode →rne in.a.to none→fp16]"},
		{"x86", "vpdpbusd", "sums of 16 bits", "[stage0.sum off→fused stage0.group 0→2 stage0.round.frac exact→15 stage0.round.mode →rz stage0.round.emin none→15 stage0.round.emax none→14 stage0.round.over inf→wrap]"},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range (Space{i.Formats, i.K}).Mutants(&i.Params, Refinements) {
			if m.Change == tc.change {
				got = append(got, fmt.Sprint(mma.Diff(&i.Params, &m.Params)))
			}
		}
		if !slices.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q among them", i.FullName(), got, tc.want)
		}
	}
}
