package evidence

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

var update = flag.Bool("update", false, "measure every row, and write table.tsv")

// The mutants of a row, and the inputs that tell them from it.
const (
	valuesOfField = 12  // most values that a parameter gets, half of them those nearest to its own
	aimedAtRow    = 400 // inputs of each generator
	aimedAtPair   = 100 // more, if these do not tell the two apart
)

// results are dot products of one length with what hardware gave, of one source.
type results struct {
	from  string
	k     int // of the instruction that gave them; the dot products may be longer
	batch *mma.Batch
	want  []byte
}

// unit is what rows have in common that differ in their shape alone.
type unit struct {
	arch    string
	kind    string // mma, wgmma, v_mfma, or the name of a processor's instruction without modes
	formats mma.Formats
	params  mma.Params
}

func unitOf(i *mma.Instruction) unit {
	kind, _, _ := strings.Cut(i.Name, ".")
	if strings.HasPrefix(kind, "v_mfma_") {
		kind = "v_mfma"
	}
	return unit{i.Arch, kind, i.Formats, i.Params}
}

// TestTable measures rows again: all with -update, else some. A row that the table does not have
// yet is no failure, and neither are other numbers if there are other parameters now: then all
// has to be measured again.
func TestTable(t *testing.T) {
	about := fmt.Sprintf("# mutants of %d parameters: go test ./fuzz/evidence -update", len(mma.Fields()))
	all, here := recorded(t)
	if *update && !here {
		t.Fatal("the table is measured only where ../shared/hwvectors is")
	}
	text, _, _ := strings.Cut(table, "\n")
	if !*update && text != about {
		t.Skipf("the table is of other parameters (%s): measure it anew with -update", text)
	}
	var rows []string
	type rule struct { // of which the mutants are
		mma.Formats
		k       int
		params  mma.Params
		unknown mma.Facets
	}
	mutants := map[rule][]mma.Params{}
	step := tier.Of(400, 200, 60, 1)
	n := 0
	for _, i := range mma.Catalog() {
		given := all[unitOf(&i)]
		of := campaignOf(&i)
		if !i.Checked() || given == nil && of == "" {
			continue
		}
		if n++; !*update && n%step != 0 {
			continue
		}
		old, ok := figures()[i.FullName()]
		if !*update && strings.Contains(old.from, "_") && !here { // a file of hwvectors
			t.Logf("NOT MEASURED: %s: its results are in ../shared/hwvectors, which is not here", i.FullName())
			continue
		}
		key := rule{i.Formats, i.K, i.Params, i.Unknown}
		if mutants[key] == nil {
			mutants[key] = separable(t, &i)
		}
		if of != "" {
			given = append(slices.Clone(given), compared(t, &i, of))
		}
		f := measure(t, &i, given, mutants[key])
		rows = append(rows, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\n", i.FullName(), f.results, f.mutants, f.refuted, f.from))
		switch {
		case *update:
		case !ok:
			t.Logf("%s has no row yet: -update adds it", i.FullName())
		case f != old:
			t.Errorf("%s: %+v, the table says %+v", i.FullName(), f, old)
		}
	}
	if *update {
		if err := os.WriteFile("table.tsv", []byte(about+"\n"+heads+"\n"+strings.Join(rows, "")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// separable returns the mutants of a row that inputs made for it tell from it.
func separable(t *testing.T, i *mma.Instruction) []mma.Params {
	t.Helper()
	sp := gen.Spec{Formats: i.Formats, K: i.K}
	fill := func(seed uint64, n int, ps ...*mma.Params) *results {
		var dots []*mma.Dot
		for _, g := range gen.All() {
			dots = append(dots, gen.Independent(sp, g.Aimed(sp, ps...), seed, 0, n)...)
		}
		return answered(t, i, dots)
	}
	aimed := fill(1, aimedAtRow, &i.Params)
	var all []mma.Params
	for _, q := range mutantsOf(i) {
		if refutes(i, &q, aimed) || refutes(i, &q, fill(2, aimedAtPair, &i.Params, &q)) {
			all = append(all, q)
		}
	}
	return all
}

// answered packs dot products with the results of a row itself.
func answered(t *testing.T, i *mma.Instruction, dots []*mma.Dot) *results {
	t.Helper()
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	r := &results{k: i.K, batch: mma.BatchOf(i.Formats, i.K, dots)}
	r.want = make([]byte, len(dots)*i.D.Width())
	m.Run(r.batch, r.want)
	return r
}

// mutantsOf returns every valid program that differs from a row's by one parameter. Of a
// parameter with many values it takes those nearest to its own, and draws others.
func mutantsOf(i *mma.Instruction) []mma.Params {
	space := change.SpaceOf(i)
	r := rand.New(rand.NewPCG(1, 0))
	seen := map[mma.Params]bool{i.Params: true}
	var all []mma.Params
	for _, f := range mma.Fields() {
		now := f.Int(&i.Params)
		vals := space.Range(&i.Params, f)
		slices.SortStableFunc(vals, func(x, y int) int { return cmp.Compare(max(x-now, now-x), max(y-now, now-y)) })
		if far := valuesOfField / 2; len(vals) > valuesOfField {
			r.Shuffle(len(vals)-far, func(x, y int) { vals[far+x], vals[far+y] = vals[far+y], vals[far+x] })
		}
		taken := 0
		for _, v := range vals {
			q := i.Params
			if f.SetInt(&q, v); f.Int(&q) != v || seen[q] || !space.Valid(&q) {
				continue
			}
			seen[q] = true
			all = append(all, q)
			if taken++; taken == valuesOfField {
				break
			}
		}
	}
	return all
}

// measure counts the mutants that results refute. The row itself has to agree with all of them.
func measure(t *testing.T, i *mma.Instruction, all []*results, mutants []mma.Params) figure {
	t.Helper()
	f := figure{mutants: len(mutants)}
	var from []string
	for _, r := range all {
		f.results += r.batch.Dots()
		from = append(from, r.from)
		if refutes(i, &i.Params, r) {
			t.Errorf("%s: results of %s refute the row itself", i.FullName(), r.from)
		}
	}
	slices.Sort(from)
	f.from = strings.Join(slices.Compact(from), ", ")
	for _, q := range mutants {
		if slices.ContainsFunc(all, func(r *results) bool { return refutes(i, &q, r) }) {
			f.refuted++
		}
	}
	return f
}

// refutes reports whether a program differs from a result, in what is known of the row. It
// runs parts of growing size: most mutants differ soon. A program that is not valid for
// the K of the results is not refuted by them.
func refutes(i *mma.Instruction, p *mma.Params, r *results) bool {
	m, err := sim.New(i.Formats, r.k, *p)
	if err != nil {
		return false
	}
	compare := oracle.NewComparer(i.D, oracle.DefaultPolicy(i.Unknown, 0))
	w := i.D.Width()
	for from, n := 0, 64; from < r.batch.Dots(); n *= 4 {
		n = min(n, r.batch.Dots()-from)
		got := make([]byte, n*w)
		m.Run(r.batch.Part(from, n), got)
		for x := range n {
			if compare.Compare(mma.Load(got, w, x), mma.Load(r.want, w, from+x)) != oracle.Same {
				return true
			}
		}
		from += n
	}
	return false
}

// recorded returns all results that are here, and whether those of ../shared are.
func recorded(t *testing.T) (all map[unit][]*results, here bool) {
	t.Helper()
	all = map[unit][]*results{}
	gpus, _ := filepath.Glob("../../../shared/hwvectors/*.txt.gz")
	if len(gpus) == 0 {
		t.Log("NOT MEASURED: recorded results of GPUs are not here (../shared/hwvectors beside the repository)")
	}
	files, _ := filepath.Glob("../../corpus/recordings/*.rec")
	for _, file := range slices.Concat(gpus, files) {
		addRecording(t, all, file)
	}
	for file, counts := range published {
		addPublished(t, all, file, counts)
	}
	for _, rs := range all {
		slices.SortFunc(rs, func(x, y *results) int {
			return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.k, y.k), cmp.Compare(x.batch.K, y.batch.K))
		})
	}
	return all, len(gpus) > 0
}

// campaignOf names the campaign in which hardware or an emulator agreed with a row, "" if there was
// none: a command in the row's evidence, or TestEmulated of package cpu.
func campaignOf(i *mma.Instruction) string {
	switch {
	case strings.Contains(i.Evidence, "QEMU"):
		return "qemu"
	case strings.Contains(i.Evidence, "of all generators"):
		return "campaign"
	}
	return ""
}

// campaignResults is how many results of a campaign count: as many as TestEmulated compares of an
// instruction under modes. Others have more.
const campaignResults = 50_000

// compared returns results of a campaign, which are a row's own.
func compared(t *testing.T, i *mma.Instruction, from string) *results {
	t.Helper()
	row, err := devices.OpenUnit("sim:"+i.Arch, i.Name, "")
	if err != nil {
		t.Fatal(err)
	}
	u := &asked{Unit: row}
	c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{{A: u, B: row, K: i.K}}, Seed: 1, Count: campaignResults, Workers: 1})
	if err == nil {
		err = c.Run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := answered(t, i, u.dots)
	r.from = from
	return r
}

// asked is a black box that keeps what it was asked.
type asked struct {
	devices.Unit
	dots []*mma.Dot
}

func (a *asked) Model() *mma.Params { return nil }

func (a *asked) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	for n := range in.Dots() {
		d := mma.NewDot(in.Formats, in.K)
		in.Get(n, d)
		a.dots = append(a.dots, d)
	}
	return a.Unit.Run(ctx, in, out)
}

func addRecording(t *testing.T, all map[unit][]*results, file string) {
	t.Helper()
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	target, err := devices.Open("replay:" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	for _, i := range target.Instructions() {
		row, err := mma.Lookup(i.Arch, i.Name)
		if err != nil || row.Refuse != "" {
			continue
		}
		u, err := target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		rec := u.(devices.Recorder)
		n := rec.Recorded()
		r := &results{from: name, k: i.K, batch: mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: rec.Length(), Tiles: n}), want: make([]byte, n*i.D.Width())}
		if err := rec.Load(0, r.batch, r.want); err != nil {
			t.Fatal(err)
		}
		all[unitOf(row)] = append(all[unitOf(row)], r)
	}
}

// published are the files of published results in sim/testdata, and which of their lines
// are what hardware has given: others are predictions of a model. The single input of table8.txt
// is not what its authors' evidence ("001") rests on.
var published = map[string]func(id string) bool{
	"fasi":    func(id string) bool { return !strings.Contains(id, "predicted") },
	"fttn":    func(id string) bool { return !strings.Contains(id, "model") },
	"geforce": func(string) bool { return true },
	"b200":    func(string) bool { return true },
}

func addPublished(t *testing.T, all map[unit][]*results, file string, counts func(id string) bool) {
	t.Helper()
	f, err := os.Open("../../sim/testdata/" + file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vs, err := vectors.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	type part struct {
		unit
		k, length int
	}
	dots, want := map[part][]*mma.Dot{}, map[part][]byte{}
	for _, v := range vs {
		if v.AnyNaN || !counts(v.ID) {
			continue
		}
		k := part{unitOf(v.Inst), v.Inst.K, len(v.Dot.A)}
		w := v.Inst.D.Width()
		dots[k] = append(dots[k], v.Dot)
		want[k] = append(want[k], make([]byte, w)...)
		mma.Store(want[k], w, len(dots[k])-1, v.Want)
	}
	for k, ds := range dots {
		all[k.unit] = append(all[k.unit], &results{from: file + ".txt", k: k.k, batch: mma.BatchOf(k.formats, k.length, ds), want: want[k]})
	}
}
