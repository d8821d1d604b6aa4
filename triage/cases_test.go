package triage_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A file LABEL.case of testdata holds regression cases of a label, separated by
// blank lines:
//
//	# what this is about
//	a ARCH/INSTRUCTION       the known side
//	b ARCH/INSTRUCTION       the unit to be explained: that of another architecture,
//	set PATH=VALUE ...       or a with parameters changed,
//	box NAME                 or one of the boxes below, which are no programs
//	case A B C = DA DB       minimized inputs, with both results
//	labels LABEL+LABEL       of the verdict
//	changes CHANGE, ...      that explain it; none if it is unexplained
//	equal CHANGE, ...        other changes that no input told apart
type regression struct {
	where   string
	a, b    *mma.Instruction
	box     box
	cases   []oneCase
	labels  string
	changes string
	equal   []string
}

// oneCase is an input and both results as text.
type oneCase struct {
	dot  *mma.Dot
	a, b uint64
}

// box is a unit that no program describes. run gets a tile's operands and what a
// computes from them, and changes that.
type box func(in *mma.Batch, out []byte)

// eachDot calls change for every output of a batch.
func eachDot(change func(d *mma.Dot, out uint64) uint64) box {
	return func(in *mma.Batch, out []byte) {
		d, w := mma.NewDot(in.Formats, in.K), in.Formats.D.Width()
		for i := range in.Dots() {
			in.Get(i, d)
			mma.Store(out, w, i, change(d, mma.Load(out, w, i)))
		}
	}
}

// boxes by name. The first two depend on the place in the tile.
func boxes(a *mma.Instruction) map[string]box {
	narrow := a.Params
	narrow.Join.Align.F--
	narrower, err := sim.New(a.Formats, a.K, narrow)
	if err != nil {
		narrower = nil // the box that needs it is for other instructions
	}
	same, err := sim.New(a.Formats, a.K, a.Params)
	if err != nil {
		panic(err)
	}
	return map[string]box{
		"column": func(in *mma.Batch, out []byte) {
			for i := range in.Dots() {
				if i%in.N == 5 {
					mma.Store(out, 4, i, mma.Load(out, 4, i)^1)
				}
			}
		},
		"neighbour": func(in *mma.Batch, out []byte) {
			for i := range in.Dots() {
				if row := i / in.N % in.M; row == 3 && mma.Load(in.A, 4, (i/in.N-1)*in.K) != 0 {
					mma.Store(out, 4, i, mma.Load(out, 4, i)^1)
				}
			}
		},
		"wire": eachDot(func(_ *mma.Dot, d uint64) uint64 {
			if d&7 == 5 {
				d ^= 2
			}
			return d
		}),
		"window": eachDot(func(dot *mma.Dot, d uint64) uint64 {
			if dot.C&1 != 0 {
				d = narrower.Dot(dot, nil)
			}
			return d
		}),
		"lost": eachDot(func(dot *mma.Dot, _ uint64) uint64 {
			dot.A[len(dot.A)-1] = 0
			return same.Dot(dot, nil)
		}),
		"payload": eachDot(func(dot *mma.Dot, d uint64) uint64 {
			if d&0x7fffffff > 0x7f800000 { // a NaN whose payload nobody can foretell
				h := uint64(1)
				for k := range dot.A {
					h = (h ^ dot.A[k]<<17 ^ dot.B[k]) * 0x9e3779b97f4a7c15
				}
				return d ^ h>>52&0x3ff
			}
			return d
		}),
		"clamp": eachDot(func(_ *mma.Dot, d uint64) uint64 {
			const limit = 0x5f812345 // no power of two, which is where a range can end
			if m := d &^ (1 << 31); m > limit && m <= 0x7f800000 {
				d = d&(1<<31) | limit
			}
			return d
		}),
	}
}

// readCases reads a file of regression cases.
func readCases(t testing.TB, file string) []*regression {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []*regression
	var r *regression
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, where := lines.Text(), fmt.Sprintf("%s:%d", filepath.Base(file), n)
		word, rest, _ := strings.Cut(text, " ")
		switch word {
		case "#":
			continue
		case "":
			r = nil
			continue
		case "a":
			r = &regression{where: where, a: find(t, rest)}
			all = append(all, r)
			continue
		}
		if r == nil {
			t.Fatalf("%s: %q outside a case", where, text)
		}
		if err := r.line(t, word, rest); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func (r *regression) line(t testing.TB, word, rest string) (err error) {
	switch word {
	case "b":
		r.b = find(t, rest)
	case "set":
		r.b = changed(t, r.a, rest)
	case "box":
		if r.box = boxes(r.a)[rest]; r.box == nil {
			return fmt.Errorf("there is no box %q", rest)
		}
	case "case":
		operands, results, _ := strings.Cut(rest, " = ")
		var c oneCase
		if c.dot, err = mma.ParseDot(r.a.Formats, r.a.K, false, strings.Fields(operands)); err != nil {
			return err
		}
		da, db, _ := strings.Cut(results, " ")
		if c.a, err = mma.ParseCode("a's result", r.a.D, da); err != nil {
			return err
		}
		c.b, err = mma.ParseCode("b's result", r.a.D, db)
		r.cases = append(r.cases, c)
	case "labels":
		r.labels = rest
	case "changes":
		r.changes = rest
	case "equal":
		r.equal = append(r.equal, rest)
	default:
		return fmt.Errorf("unknown line %q", word)
	}
	return err
}

// find looks an instruction up.
func find(t testing.TB, name string) *mma.Instruction {
	t.Helper()
	arch, inst, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// changed returns an instruction with parameters set: PATH=VALUE PATH=VALUE.
func changed(t testing.TB, i *mma.Instruction, set string) *mma.Instruction {
	t.Helper()
	c := *i
	for s := range strings.FieldsSeq(set) {
		path, value, _ := strings.Cut(s, "=")
		if err := c.Params.Apply([]mma.Change{{Path: path, To: value}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Params.Validate(c.Formats, c.K); err != nil {
		t.Fatal(err)
	}
	return &c
}

// model returns a simulator.
func model(t testing.TB, i *mma.Instruction) *sim.Model {
	t.Helper()
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// run returns the unit's results on dot products alone in their tiles.
func (r *regression) run(t testing.TB, dots []*mma.Dot) []uint64 {
	i := r.a
	if r.b != nil {
		i = r.b
	}
	b := mma.BatchOf(r.a.Formats, len(dots[0].A), dots)
	w := r.a.D.Width()
	out := make([]byte, len(dots)*w)
	model(t, i).Run(b, out)
	if r.box != nil {
		r.box(b, out)
	}
	codes := make([]uint64, len(dots))
	for n := range codes {
		codes[n] = mma.Load(out, w, n)
	}
	return codes
}

// askRounds is how many rounds of inputs a search gets in tests: enough to tell
// apart what the cases tell apart.
const askRounds = 5

// probe returns a round of inputs for an instruction.
func probe(i *mma.Instruction, round int, ps ...*mma.Params) []*mma.Dot {
	return gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, round, ps...)
}

// effort leaves out the search over whole ranges, which takes seconds, where nothing is found.
func effort() int { return tier.Of(-1, -1, -1, 12) }

// problem asks for the explanation of a unit by its cases.
func (r *regression) problem(t testing.TB) *triage.Unknown {
	pr := &triage.Unknown{Formats: r.a.Formats, K: r.a.K, Base: r.a.Params, Seed: 1, Rounds: askRounds, Effort: effort()}
	pr.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) { return r.run(t, dots), nil }
	for _, c := range r.cases {
		if c.a == c.b {
			pr.Agree = append(pr.Agree, triage.Case{Dot: c.dot, Want: c.b})
		} else {
			pr.Differ = append(pr.Differ, triage.Case{Dot: c.dot, Want: c.b})
		}
	}
	return pr
}

// checkResults runs both sides on the cases.
func (r *regression) checkResults(t *testing.T) {
	for n, c := range r.cases {
		a, b := model(t, r.a).Dot(c.dot, nil), r.run(t, []*mma.Dot{c.dot})[0]
		if a != c.a || b != c.b {
			t.Errorf("case %d, %s: results %x and %x, want %x and %x", n, mma.FormatDot(r.a.Formats, c.dot), a, b, c.a, c.b)
		}
	}
}

func changeText(changes []mma.Change) string {
	s := make([]string, len(changes))
	for i, c := range changes {
		s[i] = c.String()
	}
	return strings.Join(s, ", ")
}

// TestCases explains the regression cases of every label.
func TestCases(t *testing.T) {
	tier.SkipUnderRace(t)
	// No change of a program has these: package defect has cases of defects, devices/reference of flags.
	labels := slices.DeleteFunc(slices.Clone(triage.Labels()), func(l triage.LabelDoc) bool {
		return l.Label == triage.Defect || l.Label == triage.Schedule || strings.HasPrefix(string(l.Label), "flag-")
	})
	for _, l := range labels {
		t.Run(string(l.Label), func(t *testing.T) {
			cases := readCases(t, filepath.Join("testdata", string(l.Label)+".case"))
			if len(cases) == 0 {
				t.Fatal("there is no case")
			}
			for _, r := range cases {
				t.Run(r.where, func(t *testing.T) {
					if !slices.Contains(strings.Split(r.labels, "+"), string(l.Label)) {
						t.Errorf("labels %s", r.labels)
					}
					r.checkResults(t)
					switch l.Label {
					case triage.Layout:
						r.checkLayout(t)
						return
					case triage.NaNCode:
						r.checkNaNs(t)
						return
					}
					r.check(t)
				})
			}
		})
	}
	files, err := filepath.Glob("testdata/*.case")
	if err != nil || len(files) != len(labels) {
		t.Errorf("%d files for %d labels, %v", len(files), len(labels), err)
	}
}

func (r *regression) check(t *testing.T) {
	v, err := triage.Explain(t.Context(), r.problem(t))
	if err != nil {
		t.Fatal(err)
	}
	var equal []string
	for _, e := range v.Equivalent {
		equal = append(equal, changeText(e))
	}
	if got := triage.Join(v.Labels); got != r.labels {
		t.Errorf("labels %s, want %s", got, r.labels)
	}
	if diff := cmp.Diff(r.changes, changeText(v.Changes)); diff != "" {
		t.Errorf("changes:\n%s", diff)
	}
	if diff := cmp.Diff(r.equal, equal); diff != "" {
		t.Errorf("equal changes:\n%s", diff)
	}
	want := len(r.cases)
	if !v.Found() {
		want = v.Agree
	}
	if v.Explained+v.Kept != want {
		t.Errorf("%d cases of %d explained, %d of %d kept", v.Explained, v.Differ, v.Kept, v.Agree)
	}
}

// boxed is a's unit with its results changed by a box.
type boxed struct {
	devices.Unit
	box box
}

func (u *boxed) Model() *mma.Params { return nil }

func (u *boxed) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if err := u.Unit.Run(ctx, in, out); err != nil {
		return err
	}
	if in.N == 1 && in.M == 1 {
		return nil // alone, everything is right
	}
	u.box(in, out)
	return nil
}

// checkNaNs runs a campaign: what nothing else explains of two NaNs is counted as their codes.
func (r *regression) checkNaNs(t *testing.T) {
	unit, err := simulated.Open(r.a)
	if err != nil {
		t.Fatal(err)
	}
	nan := oracle.Bits
	box := devices.Func(&mma.Instruction{Name: "box", Formats: r.a.Formats, K: r.a.K}, func(d *mma.Dot) uint64 {
		in, out := mma.BatchOf(r.a.Formats, r.a.K, []*mma.Dot{d}), make([]byte, r.a.D.Width())
		if err := unit.Run(t.Context(), in, out); err != nil {
			panic(err)
		}
		r.box(in, out)
		return mma.Load(out, r.a.D.Width(), 0)
	})
	pair := devices.Pair{A: unit, B: box, TargetA: "sim:" + r.a.Arch, TargetB: "box", K: r.a.K}
	c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 4000, NaN: &nan})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := c.State().Pairs[0]
	if b := p.Buckets["nan-code"]; len(p.Buckets) != 1 || b == nil || b.Cases != p.Classes[oracle.NaNCode] || len(p.Findings) == 0 {
		t.Errorf("classes %v, buckets %v, %d findings", p.Classes, p.Buckets, len(p.Findings))
	}
}

// checkLayout runs a campaign: what depends on the place in a tile shows in whole
// tiles only.
func (r *regression) checkLayout(t *testing.T) {
	unit, err := simulated.Open(r.a)
	if err != nil {
		t.Fatal(err)
	}
	pair := devices.Pair{A: unit, B: &boxed{unit, r.box}, TargetA: "sim:" + r.a.Arch, TargetB: "box", K: r.a.K}
	c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 4000})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := c.State().Pairs[0]
	if p.Classes[oracle.Value] == 0 || p.Buckets["layout"] == nil || p.Verdict != nil {
		t.Errorf("classes %v, buckets %v, verdict %+v", p.Classes, p.Buckets, p.Verdict)
	}
	if len(p.Findings) == 0 {
		t.Error("nothing was found")
	}
	for _, f := range p.Findings {
		if f.Bucket != "layout" || f.Place == "" {
			t.Errorf("a finding in %s at %q", f.Bucket, f.Place)
		}
	}
}
