package probe_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// unit is a model as a unit, with a change of its results.
type unit struct {
	i     *mma.Instruction
	m     *sim.Model
	spoil func(in *mma.Batch, out []byte) error
}

func (u unit) Instruction() *mma.Instruction { return u.i }

func (u unit) Run(_ context.Context, in *mma.Batch, out []byte) error {
	u.m.Run(in, out)
	if u.spoil != nil {
		return u.spoil(in, out)
	}
	return nil
}

func open(t testing.TB, arch, name string) unit {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	return unit{i: i, m: m}
}

// TestCatalog writes what probe says of every arithmetic of the catalogue. Where
// the program has the same parameter, the two must agree.
func TestCatalog(t *testing.T) {
	var b strings.Builder
	for _, i := range mma.Arithmetics() {
		if _, modes := i.Mnemonic(); !i.Checked() || modes != nil {
			continue // what varies another one, by a mode of a processor: one of each is enough
		}
		u := open(t, i.Arch, i.Name)
		p := probe.New(context.Background(), u)
		answers, err := p.Ask("clfp")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, i.FullName())
		all := map[string]string{}
		for _, a := range answers {
			all[a.ID] = a.Value
			fmt.Fprintf(&b, "\t%s: %s\n", a.ID, a.Value)
		}
		agree(t, &i, all)
	}
	golden.Rows(t, "testdata/catalog.golden", b.String())
}

// agree compares answers with the program.
func agree(t *testing.T, i *mma.Instruction, answers map[string]string) {
	t.Helper()
	p := &i.Params
	is := func(id, want string) {
		if got := answers[id]; got != "-" && got != want && got != ">= "+want {
			t.Errorf("%s: %s is %s, the program says %s", i.FullName(), id, got, want)
		}
	}
	if p.Lanes <= 1 && p.Start == mma.StartC {
		is("2 L", fmt.Sprint(p.Step(i.K)))
	}
	if f := p.Join.Align.F; f != 0 && p.Stage0.Sum == mma.Off && p.Stage1.Sum == mma.Off && !strings.HasPrefix(answers["3 F"], "at least") {
		is("3 F", fmt.Sprint(f))
	}
	is("1 determinism", "yes")
	is("1 position", "yes")
}

// TestOrders probes units whose summation order no unit of the catalogue has.
func TestOrders(t *testing.T) {
	rne := mma.Round{Frac: 23, Mode: fp.RNE, Emin: -126, Emax: 127}
	exact := mma.Join{}
	cases := []struct {
		name string
		p    mma.Params
		want string
	}{
		{"descending chain", mma.Params{Order: mma.Descending, L: 1, Join: exact, Acc: rne},
			"((((((((p7 + c) + p6) + p5) + p4) + p3) + p2) + p1) + p0)"},
		{"pairs, high half first", mma.Params{Order: mma.SwapPairs, L: 1, Join: exact, Acc: rne},
			"((((((((p1 + c) + p0) + p3) + p2) + p5) + p4) + p7) + p6)"},
		{"pairwise, c late", mma.Params{Start: mma.StartEmpty, Stage0: mma.Stage{Sum: mma.Pairwise, Round: rne}, Acc: rne, Late: rne},
			"((((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7))) + c)"},
		{"halves", mma.Params{Start: mma.StartEmpty, Stage0: mma.Stage{Sum: mma.PairHalves, Round: rne}, Acc: rne, Late: rne},
			"((((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7))) + c)"},
		{"two lanes", mma.Params{L: 1, Lanes: 2, Start: mma.StartZero, Acc: rne, Late: rne},
			"(((((p0 + p2) + p4) + p6) + (((p1 + p3) + p5) + p7)) + c)"},
		{"a chain that is rounded up", mma.Params{L: 1, Join: exact, Acc: mma.To(fp.FP32, fp.RU)},
			"((((((((p0 + c) + p1) + p2) + p3) + p4) + p5) + p6) + p7)"},
		{"pairs that are rounded up", mma.Params{Start: mma.StartEmpty, Stage0: mma.Stage{Sum: mma.Pairwise, Round: mma.To(fp.FP32, fp.RU)}, Acc: rne, Late: rne},
			"((((p0 + p1) + (p2 + p3)) + ((p4 + p5) + (p6 + p7))) + c)"},
		{"exact groups of four in a swamping sum", mma.Params{Stage0: mma.Stage{Sum: mma.Fused, Group: 4, Round: rne},
			Join: mma.Join{Align: mma.Align{F: 24, Mode: fp.RZ}}, Acc: rne},
			"[{p0..p3} {p4..p7} c]"},
	}
	for _, c := range cases {
		i, err := mma.Lookup("cdna1", "v_mfma_f32_16x16x16f16")
		if err != nil {
			t.Fatal(err)
		}
		i.K, i.Params = 8, c.p
		m, err := sim.New(i.Formats, i.K, c.p)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p := probe.New(context.Background(), unit{i: i, m: m})
		tree, why := p.Tree()
		if tree == nil {
			t.Errorf("%s: no tree: %s", c.name, why)
			continue
		}
		if got := tree.Formula(8); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestBadUnits probes units that break the rules: every answer must say so.
func TestBadUnits(t *testing.T) {
	const inst = "mma.m16n8k16.f32.f16.f16.f32"
	ask := func(u unit) (map[string]probe.Answer, error) {
		p := probe.New(context.Background(), u)
		answers, err := p.Ask("clfp")
		more, _ := p.Ask("smt")
		all := map[string]probe.Answer{}
		for _, a := range append(answers, more...) {
			all[a.ID] = a
		}
		return all, err
	}
	calls := 0
	flaky := open(t, "ampere", inst)
	flaky.spoil = func(in *mma.Batch, out []byte) error {
		calls++
		if in.Dots() > 200 {
			out[4*(calls%in.Dots())] ^= 1
		}
		return nil
	}
	if a, _ := ask(flaky); a["1 determinism"].Value != "no" {
		t.Errorf("a flaky unit: %v", a["1 determinism"])
	}
	crooked := open(t, "ampere", inst)
	crooked.spoil = func(in *mma.Batch, out []byte) error {
		if in.M == 16 {
			out[4*(3*8+5)] ^= 1 // row 3, column 5 of the first tile
		}
		return nil
	}
	if a, _ := ask(crooked); a["1 position"].Value != "no" || !strings.Contains(a["1 position"].Why, "row 3, column 5") {
		t.Errorf("a unit that computes one output in another way: %v", a["1 position"])
	}
	lanes := open(t, "ampere", inst)
	lanes.spoil = func(in *mma.Batch, out []byte) error { // every other NaN is negative
		for o := 1; o < in.Dots(); o += 2 {
			if code := mma.Load(out, 4, o); math.IsNaN(float64(math.Float32frombits(uint32(code)))) {
				mma.Store(out, 4, o, code|1<<31)
			}
		}
		return nil
	}
	a, _ := ask(lanes)
	for _, id := range []string{"1 determinism", "1 position", "NaN Inf*0"} {
		want := "numbers yes, codes of NaNs no"
		if id == "NaN Inf*0" {
			want = "depends"
		}
		if got := a[id]; got.Value != want || !strings.Contains(got.Why, "NaNs of another code at another place, such as 7FFFFFFF and FFFFFFFF") || len(got.Evidence) != 2 {
			t.Errorf("a unit whose NaNs depend on their place: %s: %s (%s)", id, got.Value, got.Why)
		}
	}
	random := open(t, "ampere", inst)
	random.spoil = func(in *mma.Batch, out []byte) error { // the order depends on the data
		dot := mma.NewDot(in.Formats, in.K)
		for o := range in.Dots() {
			in.Get(o, dot)
			if i := slices.Index(dot.A, dot.A[3]); i != 3 && dot.A[0]&0x8000 == 0 {
				mma.Store(out, 4, o, 0)
			}
		}
		return nil
	}
	if a, _ := ask(random); a["2 order"].Value != "-" || a["2 order"].Why == "" {
		t.Errorf("a unit without an order: %v", a["2 order"])
	}
	broken := open(t, "ampere", inst)
	broken.spoil = func(*mma.Batch, []byte) error { return errors.New("no answer") }
	if _, err := ask(broken); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a broken unit: %v", err)
	}
}

// TestPictures draws one tree in all ways.
func TestPictures(t *testing.T) {
	p := probe.New(context.Background(), open(t, "cdna2", "v_mfma_f32_16x16x8bf16"))
	tree, why := p.Tree()
	if tree == nil {
		t.Fatal(why)
	}
	golden.File(t, "testdata/tree.txt", tree.Text(8))
	golden.File(t, "testdata/tree.dot", tree.Graphviz("cdna2/v_mfma_f32_16x16x8bf16", 8))
	golden.File(t, "testdata/tree.svg", tree.SVG("cdna2/v_mfma_f32_16x16x8bf16", 8))
}

// TestOneStory holds that answers of different papers do not contradict each other: the terms of
// one fused sum have no order, but c may be aligned in another way. And that a tile which is
// larger than those of most instructions is tried all the same.
func TestOneStory(t *testing.T) {
	p := probe.New(t.Context(), open(t, "cdna3", "v_mfma_f32_32x32x8_f16"))
	all := map[string]probe.Answer{}
	for _, paper := range []string{"fasi", "smt", "clfp"} {
		answers, err := p.Ask(paper)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			all[a.ID] = a
		}
	}
	const apart = "in the fused sum c is aligned in another way than products"
	for _, want := range []probe.Answer{
		{ID: "2 order", Value: "[c p0..p7]"},
		{ID: "3.1.2 order", Value: "yes", Why: apart},
		{ID: "3.1.2 roundings", Value: "depends on the place of the 1", Why: apart},
		{ID: "Step 5", Value: "yes", Why: apart},
		{ID: "1 position", Value: "yes", Why: "8 random inputs, all 32 x 32 outputs"},
	} {
		if got := all[want.ID]; got.Value != want.Value || got.Why != want.Why {
			t.Errorf("%s: %s (%s), want %s (%s)", want.ID, got.Value, got.Why, want.Value, want.Why)
		}
	}
}

// TestWidth holds that no line of answers is longer than the width.
func TestWidth(t *testing.T) {
	p := probe.New(t.Context(), open(t, "cdna3", "v_mfma_f32_32x32x8_f16"))
	for _, paper := range probe.Papers {
		answers, err := p.Ask(paper.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{40, 60, 80, 100, 200} {
			var b strings.Builder
			d := document.New("", "")
			d.Add(paper.Title, probe.Table(p.WithEvidence(answers)))
			if err := d.Write(&b, "text", document.Options{Width: width}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
		}
	}
}

// TestNarrow asks a unit whose products are all of nearly the same size for widths: no answer is
// a negative number of bits, or a bound below what another row shows.
func TestNarrow(t *testing.T) {
	u := open(t, "rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32")
	p := probe.New(t.Context(), u)
	got := map[string]string{}
	for _, paper := range []string{"fasi", "clfp"} {
		answers, err := p.Ask(paper)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			got[a.ID] = a.Value
		}
	}
	for id, want := range map[string]string{"3.1.4 extra bits": "-", "3 F": "-", "3 F of c": "25"} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
}
