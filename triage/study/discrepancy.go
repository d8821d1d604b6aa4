package study

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

var discrepancyStudy = Study{
	Name:  "discrepancy",
	Short: "one input on all units, and how often every two of them differ",
	Long: `discrepancy gives the input of Xie et al. (arXiv:2511.10909, equation 10) to every
unit that can hold it; without targets, which means the whole catalogue, it prints the
results beside those of their Table 8, too. E4M3 and narrower formats cannot hold it. Then it
compares every two units that take the same operands: the share of dot products on
which their results differ, for each distribution, and the smallest input found on
which they do.

Two results are the same if their bits are, or if both are NaNs (or zeros) and nobody
has shown which NaN (or zero) one of the units gives.`,
	Count: 16384, Most: 1 << 20, Of: "dot products of each distribution",
	New: func(f *pflag.FlagSet) Runner {
		d := &discrepancy{}
		f.BoolVar(&d.rates, "rates-only", false, "look for no smallest inputs, which takes most of the time")
		return d
	},
}

type discrepancy struct{ rates bool }

// Run makes the study.
func (s *discrepancy) Run(ctx context.Context, r *Request) (*Result, error) {
	units, done, err := r.units(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	res := &Result{}
	if err := equation10(ctx, units, len(r.Targets) == 0, res); err != nil {
		return nil, err
	}
	compared := units
	if len(r.Targets) > 0 {
		if compared, err = byValue(units, res); err != nil {
			return nil, err
		}
	}
	pairs, err := each(ctx, r, groups(compared), func(g *group) string {
		return fmt.Sprintf("%s %d", g.formats, g.k)
	}, checkRates, func(ctx context.Context, g *group) ([]pairRates, error) { return s.compare(ctx, g, r) })
	if err != nil {
		return nil, err
	}
	s.report(units, slices.Concat(pairs...), res)
	return res, nil
}

// byValue adds, to units of FP8 of OCP and of FNUZ, the same ones with operands that can be compared
// by value.
func byValue(units []unit, res *Result) ([]unit, error) {
	all := slices.Clone(units)
	for _, u := range units {
		common, ok := mma.Formats{}, false
		for _, v := range units {
			if common, ok = byvalue.Formats(u.inst().Formats, v.inst().Formats); ok {
				break
			}
		}
		if !ok {
			continue
		}
		other, err := devices.ByValue(u.Unit)
		if err != nil {
			return nil, err
		}
		u.Unit = other
		all = append(all, u)
		for _, note := range byvalue.Notes(common) {
			if !slices.Contains(res.Remarks, note+".") {
				res.Remarks = append(res.Remarks, note+".")
			}
		}
	}
	return all, nil
}

// equation10 adds the results of all units on equation (10) of arXiv:2511.10909,
//
//	a = (-2^13, -0.5, -0.25, -0.125), b = (2^10, 1, 1, 1), c = 2^23,
//
// and with all, which means the whole catalogue, Table 8.
func equation10(ctx context.Context, units []unit, all bool, res *Result) error {
	t := Table{Name: "equation10", Title: "Results for the input of equation (10) of arXiv:2511.10909, exactly -0.875",
		Head: []string{"unit", "result", "more units like it", "formats"}}
	results := map[string]Number{}
	for _, u := range units {
		d := equation10Dot(u.inst())
		if d == nil {
			continue
		}
		if devices.IsRecording(u.Unit) {
			continue
		}
		codes, err := u.run(ctx, mma.BatchOf(u.inst().Formats, len(d.A), []*mma.Dot{d}))
		if err != nil {
			return err
		}
		v := u.inst().D.Get().Float64(codes[0])
		results[arithmeticKey(u.inst())] = Number(v)
		t.add(u.name, v, u.like, u.inst().Formats.String())
	}
	if len(t.Rows) > 0 {
		res.Tables = append(res.Tables, t)
	}
	if all {
		table8(results, res)
	}
	return nil
}

// arithmeticKey tells the arithmetics that equation10 was run with from others.
func arithmeticKey(i *mma.Instruction) string {
	return fmt.Sprint(canonical(i.Formats), i.Params, i.Params.Step(i.K))
}

// equation10Dot returns the input for an instruction; nil if its formats cannot hold it.
func equation10Dot(i *mma.Instruction) *mma.Dot {
	k := i.K
	for k < 4 {
		if !chains(i) {
			return nil
		}
		k += i.K
	}
	d := mma.NewDot(i.Formats, k)
	if i.Down != 0 || i.C == fp.None {
		return nil
	}
	ok := true
	put := func(id fp.ID, v float64) uint64 {
		f := id.Get()
		code := f.FromFloat64(v)
		ok = ok && f.Float64(code) == v
		return code
	}
	for n, v := range []struct{ a, b float64 }{{-0x1p13, 0x1p10}, {-0.5, 1}, {-0.25, 1}, {-0.125, 1}} {
		d.A[n], d.B[n] = put(i.A, v.a), put(i.B, v.b)
	}
	d.C = put(i.C, 0x1p23)
	for n := range d.SA {
		d.SA[n], d.SB[n] = put(i.Scale, 1), put(i.Scale, 1)
	}
	if !ok {
		return nil
	}
	return d
}

// printed8 is Table 8 of arXiv:2511.10909: architectures by kinds of instructions.
var printed8 = []struct {
	arch                    string
	tf32bf16, fp16, fp8, fp []float64 // nil: N/A
}{
	{"volta", nil, []float64{0}, nil, nil},
	{"turing", nil, []float64{-0.5}, nil, nil},
	{"ampere", []float64{-0.5}, []float64{-0.5}, nil, []float64{-0.875}},
	{"ada", []float64{-0.5}, []float64{-0.5}, []float64{0}, []float64{-0.875}},
	{"hopper", []float64{-0.75}, []float64{-0.75}, []float64{0}, []float64{-0.875}},
	{"blackwell", []float64{-0.75}, []float64{-0.75}, []float64{-0.75}, []float64{-0.875}},
	{"rtx-blackwell", []float64{-0.75}, []float64{-0.75}, []float64{-0.75}, []float64{-0.875}},
	{"cdna1", []float64{-0.875}, []float64{-0.875}, nil, []float64{-0.875}},
	{"cdna2", []float64{-0.375, 0}, []float64{0}, nil, []float64{-0.875}},
	{"cdna3", []float64{-0.5}, []float64{-0.5}, []float64{-1}, []float64{-0.875}},
}

// kindOf is the column of Table 8 that an instruction belongs to, "" if to none. What
// the compiler makes of FP8 mma.sync on Hopper and Blackwell is not an instruction of
// their FP8 units, which the table lists; m8n8k4 is an instruction of Volta that its
// successors emulate.
func kindOf(i *mma.Instruction) string {
	switch {
	case i.Params.In.Widen != fp.None || i.Arch != "volta" && strings.Contains(i.Name, "m8n8k4.f32"):
		return ""
	}
	switch i.A {
	case fp.TF32, fp.XF32, fp.BF16:
		return "TF32/BF16"
	case fp.FP16:
		return "FP16"
	case fp.E5M2, fp.E5M2FNUZ:
		return "FP8"
	case fp.FP32, fp.FP64:
		return "FP32/FP64"
	}
	return ""
}

// table8 adds Table 8 as the catalogue has it beside what is printed: the different
// results of all instructions of an entry.
func table8(results map[string]Number, res *Result) {
	t := Table{Name: "table8", Title: "Table 8 of arXiv:2511.10909: the results of each architecture, ours beside theirs",
		Head: []string{"architecture", "instructions", "ours", "theirs", "equal"}}
	equal, entries := 0, 0
	for _, p := range printed8 {
		for _, kind := range []struct {
			name   string
			theirs []float64
		}{{"TF32/BF16", p.tf32bf16}, {"FP16", p.fp16}, {"FP8", p.fp8}, {"FP32/FP64", p.fp}} {
			var ours []float64
			for _, i := range mma.Of(p.arch) {
				v, ok := results[arithmeticKey(&i)]
				if i.Refuse == "" && ok && kindOf(&i) == kind.name && equation10Dot(&i) != nil && !slices.Contains(ours, float64(v)) {
					ours = append(ours, float64(v))
				}
			}
			if len(ours)+len(kind.theirs) == 0 {
				continue
			}
			slices.Sort(ours)
			same := slices.Equal(ours, kind.theirs)
			if entries++; same {
				equal++
			} else {
				res.Failures = append(res.Failures, fmt.Sprintf("Table 8, %s, %s: %s, the paper has %s", p.arch, kind.name, listed(ours), listed(kind.theirs)))
			}
			t.add(p.arch, kind.name, listed(ours), listed(kind.theirs), agrees(same))
		}
	}
	res.Tables = append(res.Tables, t)
	res.Remarks = append(res.Remarks, fmt.Sprintf("%d of the %d entries of Table 8 are equal.", equal, entries))
}

// listed writes numbers with "or" between them.
func listed(vs []float64) string {
	var words []string
	for _, v := range vs {
		words = append(words, Number(v).String())
	}
	if len(words) == 0 {
		return "N/A"
	}
	return strings.Join(words, " or ")
}

// distributions are the generators by which inputs are drawn.
var distributions = []string{"normal", "uniform", "dnn", "raw"}

// pairRates is how two units of a group differ.
type pairRates struct {
	A, B     string // names
	Formats  string
	K        int
	Of       []int    // dot products of each distribution; of recordings one, of recorded inputs
	Differ   []int    // of these, those that differ
	Witness  string   `json:",omitempty"` // the smallest input found, as eval reads it; "": none was found
	ResultsW []string `json:",omitempty"` // of A and B on it
}

// rate returns the share that differs, over all distributions.
func (p *pairRates) rate() float64 {
	n, of := 0, 0
	for i := range p.Of {
		n, of = n+p.Differ[i], of+p.Of[i]
	}
	return float64(n) / float64(max(1, of))
}

// checkRates returns what is impossible about what a journal has of a group.
func checkRates(g *group, pairs []pairRates) error {
	drawn := len(distributions)
	if slices.ContainsFunc(g.units, func(u unit) bool { return devices.IsRecording(u.Unit) }) {
		drawn = 1
	}
	next := 0
	for i := range g.units {
		for j := i + 1; j < len(g.units); j++ {
			if next == len(pairs) {
				return errors.New("a pair is missing")
			}
			p := &pairs[next]
			next++
			if p.A != g.units[i].name || p.B != g.units[j].name || p.Formats != g.formats.String() || p.K != g.k {
				return fmt.Errorf("%s and %s are not the next pair of its units", p.A, p.B)
			}
			if err := p.check(g, drawn); err != nil {
				return fmt.Errorf("%s and %s: %w", p.A, p.B, err)
			}
		}
	}
	if next < len(pairs) {
		return errors.New("it has more pairs than its units")
	}
	return nil
}

// check returns what is impossible about a pair of a group.
func (p *pairRates) check(g *group, drawn int) error {
	if len(p.Of) != drawn || len(p.Differ) != drawn {
		return fmt.Errorf("%d and %d numbers, of %d distributions", len(p.Of), len(p.Differ), drawn)
	}
	for n, of := range p.Of {
		if of < 1 || p.Differ[n] < 0 || of < p.Differ[n] {
			return fmt.Errorf("%d of %d dot products differ", p.Differ[n], of)
		}
	}
	if p.Witness == "" && p.ResultsW == nil {
		return nil
	}
	if _, err := mma.ParseDot(g.formats, g.k, false, strings.Fields(p.Witness)); err != nil {
		return fmt.Errorf("the smallest input: %w", err)
	}
	if len(p.ResultsW) != 2 {
		return fmt.Errorf("%d results on the smallest input", len(p.ResultsW))
	}
	for _, code := range p.ResultsW {
		if _, err := mma.ParseCode("the result", g.formats.D, code); err != nil {
			return err
		}
	}
	return nil
}

// compare compares every two units of a group.
func (s *discrepancy) compare(ctx context.Context, g *group, r *Request) ([]pairRates, error) {
	var pairs []pairRates
	if len(g.units) < 2 {
		return nil, nil
	}
	inputs, err := g.inputs(ctx, r.Seed, r.Count)
	if err != nil {
		return nil, err
	}
	results := make([][][]uint64, len(g.units)) // by unit and distribution
	for n, u := range g.units {
		for _, in := range inputs {
			codes, err := u.run(ctx, in)
			if err != nil {
				return nil, err
			}
			results[n] = append(results[n], codes)
		}
	}
	seen := map[[2]program]*pairRates{}
	for i := range g.units {
		for j := i + 1; j < len(g.units); j++ {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			a, b := &g.units[i], &g.units[j]
			p := pairRates{A: a.name, B: b.name, Formats: g.formats.String(), K: g.k}
			same := sameResults(a, b)
			for n, in := range inputs {
				differ := 0
				for x := range results[i][n] {
					if !same(results[i][n][x], results[j][n][x]) {
						differ++
					}
				}
				p.Of, p.Differ = append(p.Of, in.Dots()), append(p.Differ, differ)
			}
			if !s.rates && len(inputs) > 1 {
				if err := p.witnessOnce(ctx, g, a, b, r.Seed, seen); err != nil {
					return nil, err
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// sameResults returns what tells whether two results of two units are the same.
func sameResults(a, b *unit) func(x, y uint64) bool {
	d := a.inst().D
	policy := oracle.DefaultPolicy(a.inst().Unknown, b.inst().Unknown)
	return func(x, y uint64) bool { return x == y || oracle.Compare(d, policy, x, y) == oracle.Same }
}

// inputs returns n dot products of each distribution; or if a unit is a recording, as
// many of its inputs.
func (g *group) inputs(ctx context.Context, seed uint64, n int) ([]*mma.Batch, error) {
	for _, u := range g.units {
		if rec, ok := u.Unit.(devices.Recorder); ok {
			n = min(n, rec.Recorded())
			in := mma.NewBatch(g.formats, mma.Shape{M: 1, N: 1, K: rec.Length(), Tiles: n})
			if rec.Length()%g.k != 0 {
				return nil, fmt.Errorf("%s has dot products of %d elements, which are not steps of %d", u.name, rec.Length(), g.k)
			}
			return []*mma.Batch{in}, rec.Load(0, in, make([]byte, n*g.formats.D.Width()))
		}
	}
	var all []*mma.Batch
	for _, name := range distributions {
		b, err := drawn(ctx, name, g.formats, g.k, seed, n)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// drawn returns a batch of at least n dot products that a generator draws.
func drawn(ctx context.Context, generator string, f mma.Formats, k int, seed uint64, n int) (*mma.Batch, error) {
	g, err := gen.Find(generator)
	if err != nil {
		panic(err) // it is a name of this package
	}
	per := g.M * g.N
	b := mma.NewBatch(f, mma.Shape{M: g.M, N: g.N, K: k, Tiles: (n + per - 1) / per})
	at := 0
	err = inParts(b.Tiles, per*k, func(part int) error {
		gen.Source{Generator: g}.Fill(b.Part(at, part), seed, uint64(at*per))
		at += part
		return ctx.Err()
	})
	return b, err
}

// program is all that the results of a simulated unit depend on, for operands of a group.
type program struct {
	params  mma.Params
	k       int
	unknown mma.Facets
}

// programOf returns the program of a unit; ok is false if it is not known.
func programOf(u *unit) (p program, ok bool) {
	i, m := u.inst(), u.Model()
	if m == nil || *m != i.Params {
		return program{}, false
	}
	return program{i.Params, i.K, i.Unknown}, true
}

// witnessOnce is witness, but for a unit and itself, and for programs of which a pair was seen:
// many instructions have the same one, and where no input shows a difference the search takes
// longest.
func (p *pairRates) witnessOnce(ctx context.Context, g *group, a, b *unit, seed uint64, seen map[[2]program]*pairRates) error {
	x, okA := programOf(a)
	y, okB := programOf(b)
	if !okA || !okB {
		return p.witness(ctx, g, a, b, seed)
	}
	if x == y {
		return nil
	}
	if q := seen[[2]program{x, y}]; q != nil {
		p.Witness, p.ResultsW = q.Witness, q.ResultsW
		return nil
	}
	err := p.witness(ctx, g, a, b, seed)
	seen[[2]program{x, y}] = p
	return err
}

// witness looks for the smallest input on which two units differ: among those that aim
// at the decisions of both, the first one that differs, shrunk.
func (p *pairRates) witness(ctx context.Context, g *group, a, b *unit, seed uint64) error {
	same := sameResults(a, b)
	differ := func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		in := mma.BatchOf(g.formats, g.k, dots)
		x, err := a.run(ctx, in)
		if err != nil {
			return nil, err
		}
		y, err := b.run(ctx, in)
		if err != nil {
			return nil, err
		}
		yes := make([]bool, len(dots))
		for i := range yes {
			yes[i] = !same(x[i], y[i])
		}
		return yes, nil
	}
	var programs []*mma.Params
	for _, u := range []*unit{a, b} {
		if q := &u.inst().Params; q.Validate(g.formats, g.k) == nil {
			programs = append(programs, q)
		}
	}
	for round := 0; ; round++ {
		dots := gen.Probe(gen.Spec{Formats: g.formats, K: g.k}, seed, round, programs...)
		if len(dots) == 0 {
			return nil
		}
		yes, err := differ(ctx, dots)
		if err != nil {
			return err
		}
		n := slices.Index(yes, true)
		if n < 0 {
			continue
		}
		d, err := evidence.Shrink(ctx, g.formats, dots[n], differ, minimize.Options{})
		if errors.Is(err, minimize.ErrStart) || errors.As(err, new(*minimize.FlakyError)) {
			return nil // a unit changes its answers: no input shows the difference again
		}
		if err != nil {
			return fmt.Errorf("%s and %s: %w", a.name, b.name, err)
		}
		p.Witness = mma.FormatDot(g.formats, d)
		for _, u := range []*unit{a, b} {
			codes, err := u.run(ctx, mma.BatchOf(g.formats, g.k, []*mma.Dot{d}))
			if err != nil {
				return err
			}
			p.ResultsW = append(p.ResultsW, mma.FormatCode(g.formats.D, codes[0]))
		}
		return nil
	}
}

// report adds the table of pairs and the heat map.
func (s *discrepancy) report(units []unit, pairs []pairRates, res *Result) {
	if len(pairs) == 0 {
		var takes []string
		for _, u := range units {
			takes = append(takes, fmt.Sprintf("%s takes %s", u.name, u.inst().Formats))
		}
		res.Remarks = append(res.Remarks, "No two of these units take the same operands, so none are compared: "+strings.Join(readable.First(takes, 8), "; ")+".")
		return
	}
	t := Table{Name: "pairs", Title: "How often every two units differ", Note: "Per cent of the dot products of each distribution, and the smallest input found on which they differ.",
		Head: []string{"A", "B", "formats", "k"}}
	recorded := slices.ContainsFunc(pairs, func(p pairRates) bool { return len(p.Of) == 1 })
	drawn := slices.ContainsFunc(pairs, func(p pairRates) bool { return len(p.Of) > 1 })
	if recorded {
		t.Head = append(t.Head, "recorded %")
	}
	if drawn {
		for _, d := range distributions {
			t.Head = append(t.Head, d+" %")
		}
	}
	t.Head = append(t.Head, "result of A", "result of B", "smallest input")
	never := 0
	for _, p := range pairs {
		row := []any{p.A, p.B, p.Formats, p.K}
		var rates []any
		for n := range p.Of {
			rates = append(rates, 100*float64(p.Differ[n])/float64(p.Of[n]))
		}
		switch {
		case len(rates) == 1:
			row = append(row, rates...)
			if drawn {
				row = append(row, "", "", "", "")
			}
		case recorded:
			row = append(append(row, ""), rates...)
		default:
			row = append(row, rates...)
		}
		a, b := "", ""
		if p.Witness != "" {
			a, b = p.ResultsW[0], p.ResultsW[1]
		} else if p.rate() == 0 {
			never++
		}
		t.add(append(row, a, b, p.Witness)...)
	}
	res.Tables = append(res.Tables, t)
	res.Remarks = append(res.Remarks, fmt.Sprintf("%s take the same operands as another: %s; %d of these were not seen to differ.",
		readable.Plural(paired(pairs), "unit"), readable.Plural(len(pairs), "pair"), never))
	res.Plots = append(res.Plots, overview(units, pairs))
	res.Plots = append(res.Plots, heatMaps(pairs)...)
}

// paired counts the units that are in a pair.
func paired(pairs []pairRates) int {
	in := map[string]bool{}
	for _, p := range pairs {
		in[p.A], in[p.B] = true, true
	}
	return len(in)
}
