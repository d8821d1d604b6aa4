package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// testConfig is a campaign over two instructions.
func testConfig(t *testing.T) *fuzz.Config {
	t.Helper()
	cfg := &fuzz.Config{Seed: 1}
	for _, inst := range []string{"mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"} {
		p := devices.Pair{TargetA: "sim:ampere", TargetB: "sim:hopper"}
		for target, u := range map[string]*devices.Unit{p.TargetA: &p.A, p.TargetB: &p.B} {
			var err error
			if *u, err = devices.OpenUnit(target, inst, ""); err != nil {
				t.Fatal(err)
			}
		}
		p.K = p.A.Instruction().K
		cfg.Pairs = append(cfg.Pairs, p)
	}
	return cfg
}

// finding is an ordinary one.
func finding(cfg *fuzz.Config, pair int, detail string) *fuzz.Case {
	p := &cfg.Pairs[pair]
	dot, err := mma.ParseDot(p.Formats(), p.K, false, []string{"3c00", "3c00", "b3000000"})
	if err != nil {
		panic(err)
	}
	labels, _, _ := strings.Cut(detail, ":")
	return &fuzz.Case{Pair: pair, Number: 1, Bucket: string(triage.PrimaryIn(labels)), Detail: detail, Class: oracle.Value, Dot: dot, Start: dot, A: 0x3f800000, B: 0x3f7fffff, Stable: 3}
}

// TestShowcase checks which finding is shown: of the cause of most differences of values,
// the one with the fewest labels.
func TestShowcase(t *testing.T) {
	p := &printer{sum: &Summary{in: Input{Config: testConfig(t)}}}
	shown := &p.sum.in.Findings
	bucket := func(name string, values, infs uint64) *fuzz.Bucket {
		b := &fuzz.Bucket{Name: name, Cases: values + infs}
		b.Classes[oracle.Value], b.Classes[oracle.Inf] = values, infs
		return b
	}
	s := &fuzz.State{Pairs: []*fuzz.PairState{
		{Sum: fuzz.Sum{Buckets: map[string]*fuzz.Bucket{"overflow": bucket("overflow", 1, 100), "fusion-width": bucket("fusion-width", 9, 0)}}},
		{Sum: fuzz.Sum{Buckets: map[string]*fuzz.Bucket{"truncation-width": bucket("truncation-width", 8, 0), "fusion-width": bucket("fusion-width", 1, 0), "unexplained": bucket("unexplained", 99, 0)}}},
	}}
	p.state = s
	if f := p.showcase(); f != nil {
		t.Errorf("%s of no findings", f.Detail)
	}
	for _, detail := range []string{"unexplained", "overflow", "truncation-width", "fusion-width+summation-order", "fusion-width|output-rounding", "fusion-width"} {
		*shown = append(*shown, finding(p.sum.in.Config, 1, detail))
	}
	if f := p.showcase(); f.Detail != "fusion-width" {
		t.Errorf("%s is shown", f.Detail)
	}
	*shown = (*shown)[:3]
	if f := p.showcase(); f.Detail != "truncation-width" {
		t.Errorf("without the most frequent cause, %s is shown", f.Detail)
	}
	*shown = (*shown)[:1]
	if f := p.showcase(); f.Detail != "unexplained" {
		t.Errorf("of the one finding that there is, %s is shown", f.Detail)
	}
}

// TestNotApart counts what has no distance, by what it is.
func TestNotApart(t *testing.T) {
	st := &fuzz.PairState{}
	st.Classes[oracle.Same], st.Classes[oracle.Value], st.Classes[oracle.Inf], st.Classes[oracle.NaN], st.Classes[oracle.ZeroSign] = 9000, 30, 1200, 3, 4
	st.Where.Ulps = []uint64{0, 10, 20}
	for _, c := range []struct {
		pairs []*fuzz.PairState
		want  string
	}{
		{[]*fuzz.PairState{st, st}, " 2,414 of 2,474 differing dot products are not here: 2,400 with an infinity and a number, 6 with a NaN and none, 8 with zeros of two signs."},
		{nil, ""},
	} {
		if got := notApart(c.pairs); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestCauseInWords checks what stands beside a cause, and that numbers are called lower
// bounds where further kinds of cases were not counted one by one.
func TestCauseInWords(t *testing.T) {
	classes := func(n ...uint64) (c [oracle.Fault + 1]uint64) { copy(c[oracle.Value:], n); return c }
	for _, tc := range []struct {
		b    fuzz.Bucket
		want string
	}{
		{fuzz.Bucket{Cases: 9, Classes: classes(9)}, "overflow"},
		{fuzz.Bucket{Cases: 9, Classes: classes(0, 0, 0, 9)}, "overflow (all nan)"},
		{fuzz.Bucket{Cases: 9000, Classes: classes(1000, 1500, 1500, 2000, 3000)}, "overflow (1,500 zero-sign, 1,500 nan-code, 2,000 nan, 3,000 inf)"},
		{fuzz.Bucket{Cases: 9, Classes: classes(9), Details: []fuzz.Detail{{Name: "overflow+fusion-width", Cases: 2}, {Name: "overflow|fusion-width", Cases: 3}}},
			"overflow (2 need another part made equal as well; in 3 making another part equal instead would do)"},
		{fuzz.Bucket{Cases: 9, Classes: classes(9), More: 1, Details: []fuzz.Detail{{Name: "overflow+fusion-width", Cases: 2}, {Name: "overflow|fusion-width", Cases: 3}}},
			"overflow (at least 2 need another part made equal as well; in at least 3 making another part equal instead would do)"},
	} {
		tc.b.Name = "overflow"
		if got := causeInWords(&fuzz.Cause{Bucket: tc.b}); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.b, got, tc.want)
		}
	}
}

// TestUnstableOnly checks the explanation of a pair whose mismatches do not repeat
// themselves: it has none, and is not unexplained.
func TestUnstableOnly(t *testing.T) {
	p := &fuzz.PairState{Sum: fuzz.Sum{Dots: 100, Unstable: 7}}
	p.Classes[oracle.Value] = 7
	if got := explanation(p, 4); got != fuzz.Unstable {
		t.Errorf("7 unstable mismatches of 7: %s", got)
	}
	if p.Unstable = 6; explanation(p, 4) != string(triage.Unexplained) {
		t.Errorf("6 unstable mismatches of 7: %s", explanation(p, 4))
	}
}

// TestBeyondLists: where all causes are known, what no list covers is said beside the exit status.
func TestBeyondLists(t *testing.T) {
	p := &fuzz.PairState{Sum: fuzz.Sum{Dots: 100, Unstable: 4, Unexamined: 1}}
	p.Classes[oracle.Value] = 20
	w := &printer{sum: &Summary{Counts: &Counts{Known: 1}}, state: &fuzz.State{Pairs: []*fuzz.PairState{p}}}
	w.Exit = 1
	const want = ", because of mismatches that no list covers: 4 not repeatable, 1 not examined"
	if got := w.beyondLists(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if w.sum.Counts.New = 1; w.beyondLists() != "" {
		t.Error("a new cause is reason enough")
	}
}

// TestOverview holds that many instructions with many causes leave room for a picture on a screen
// of 40 lines, that few are written in whole, and that all are with -v.
func TestOverview(t *testing.T) {
	state := &fuzz.State{}
	for i, causes := range []string{"overflow output-rounding truncation-width fusion-width", "truncation-width zero-exponent output-ftz summation-order", "input-ftz", "overflow"} {
		p := &fuzz.PairState{TargetA: "sim:hopper", TargetB: "sim:cdna3", Name: fmt.Sprintf("inst%d", i)}
		p.Dots, p.Buckets = 1000, map[string]*fuzz.Bucket{}
		for j, name := range strings.Fields(causes) {
			b := &fuzz.Bucket{Name: name, Cases: uint64(100 - 10*i - j)}
			b.Classes[oracle.Value] = b.Cases
			p.Buckets[name] = b
			p.Classes[oracle.Value] += b.Cases
		}
		state.Pairs = append(state.Pairs, p)
	}
	text := func(pairs int, verbose bool) string {
		s := &fuzz.State{Pairs: state.Pairs[:pairs]}
		w := &printer{TextOptions: TextOptions{Width: 100, Verbose: verbose, Bold: func(s string) string { return s }}, sum: &Summary{}, state: s}
		return string(w.written((*printer).overview))
	}
	want := `sim:hopper and sim:cdna3 differ on 4 of 4 instructions: in 898 of 4,000 dot products (22.4%)
  most often on inst0: 39.4% (-v lists all)

CASES  SHARE  INSTR  CAUSE             WHAT DIFFERS
  188  20.9%      2  truncation-width  bits kept below the largest exponent of a sum
  170  18.9%      2  overflow          where and to what operands, products, sums or results
                                       overflow
   99    11%      1  output-rounding   mode or width of the rounding to the result
   97  10.8%      1  fusion-width      number of products added in one fused sum
   89  9.91%      1  zero-exponent     exponent of terms that are zero or subnormal: floor of the
                                       alignment
   88   9.8%      1  output-ftz        subnormal products, sums or results flushed to zero
  167  18.6%         2 others          summation-order, input-ftz
`
	if got := text(4, false); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := text(1, false); !strings.Contains(got, "where and to what operands") || strings.Contains(got, "INSTR") {
		t.Errorf("few causes:\n%s", got)
	}
	if got := text(4, true); !strings.Contains(got, "inst3") || strings.Contains(got, "others") {
		t.Errorf("with -v:\n%s", got)
	}
}

// TestOverflowByRounding checks that what a cause says of an overflow depends on the programs, on
// whichever side the arithmetic is that is known.
func TestOverflowByRounding(t *testing.T) {
	base := mma.Params{Acc: mma.To(fp.FP16, fp.RNE)}
	base.Join.Post.Emax, base.Acc.Over = 15, mma.OverMax
	program := base
	program.Acc.Over = mma.OverInf
	v := &triage.Verdict{Program: program, Changes: mma.Diff(&base, &program)}
	for _, tc := range []struct {
		baseA bool
		want  string
	}{
		{true, "overflow of the result by rounding alone max→inf"},
		{false, "overflow of the result by rounding alone inf→max"},
	} {
		p := &fuzz.PairState{BaseA: tc.baseA}
		p.Verdict = v
		all := changesBehind(&fuzz.State{Pairs: []*fuzz.PairState{p}}, afterDoc)[triage.Overflow]
		if len(all) != 1 || all[0].text != tc.want {
			t.Errorf("%+v, want %s", all, tc.want)
		}
		if got := explanation(p, 4); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

// TestAfterDoc: what a label means says what the symbol of a parameter of that label is. Of integers,
// the products in a step decide what overflows, and that label's meaning says nothing of L.
func TestAfterDoc(t *testing.T) {
	floats := mma.Params{L: 4, Acc: mma.To(fp.FP32, fp.RNE)}
	integers := mma.Params{L: 4, Acc: mma.Round{Frac: 31, Mode: fp.RZ, Emin: 31, Emax: 30, Over: mma.OverSat}}
	for _, tc := range []struct {
		base  mma.Params
		label triage.Label
		want  string
	}{
		{floats, triage.FusionWidth, "L 4→2"},
		{integers, triage.Overflow, "products in a step (L) 4→2"},
	} {
		program := tc.base
		program.L = 2
		v := &triage.Verdict{Program: program, Changes: mma.Diff(&tc.base, &program)}
		p := &fuzz.PairState{BaseA: true}
		p.Verdict = v
		all := changesBehind(&fuzz.State{Pairs: []*fuzz.PairState{p}}, afterDoc)[tc.label]
		if len(all) != 1 || all[0].text != tc.want {
			t.Errorf("%+v, want %s", all, tc.want)
		}
	}
}
