package kernel

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// The verdicts of a Difference.
const (
	SameFunction = "same"      // for every K up to maxOrderK
	Differs      = "different" // with a witness
	Undecided    = "undecided" // no product differs, and the operations do
)

// Difference is how two kernels differ.
type Difference struct {
	A        string        `json:"a"`
	B        string        `json:"b"`
	Verdict  string        `json:"verdict"`
	Fields   []FieldChange `json:"fields"`
	Same     string        `json:"same,omitempty"`     // for which K they are the same function
	Smallest *Case         `json:"smallest,omitempty"` // the smallest product found that differs
	Measured []Distances   `json:"measured,omitempty"` // by how much they differ
}

// FieldChange is a field of the kernels' files that has two values, "-" where there is none.
type FieldChange struct {
	Path string `json:"path"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Distances is by how much the elements of products of normal operands differ.
type Distances struct {
	K        int    `json:"k"`
	Elements int    `json:"elements"`
	Differ   int    `json:"differ"`
	Most     uint64 `json:"most"` // ulp between two elements
	// Counts are elements by their distance: 0, 1, 2..3, 4..7 ulp and so on.
	Counts []int `json:"counts"`
}

const (
	searched     = 512 // products in which a difference is looked for
	measuredSide = 64  // rows and columns of the products that are measured
)

// measuredK are the K that are measured.
var measuredK = []int{16, 64, 256, 1024, 4096}

// Compare says how two kernels differ, with the smallest product found, and measures by how much.
func Compare(ctx context.Context, a, b *Side, seed uint64) (*Difference, error) {
	if a.Kernel == nil || b.Kernel == nil {
		return nil, hint.New("mmafuzz run compares anything", "schedules are compared, and %s and %s are not both known", a.Name, b.Name)
	}
	d := &Difference{A: a.Name, B: b.Name, Fields: fieldsOf(portable(a.Kernel), portable(b.Kernel)), Same: same(a, b)}
	z := &Fuzz{A: a, B: b, Seed: seed, Count: searched}
	shapes, err := shapesOf(a, b)
	if err == nil {
		err = checkScales(a, b)
	}
	if err != nil {
		return nil, err
	}
	if k, ok := firstK(a, b); ok && k == 0 {
		d.Verdict = SameFunction
		return d, nil
	}
	d.Verdict = Undecided
	for from := 0; from < searched && d.Smallest == nil; from += perRound {
		var differ []*drawn
		for _, p := range z.round(ctx, shapes, from, perRound) {
			if p.err != nil {
				return nil, p.err
			}
			if wrong(p.id, p.d[0], p.d[1]) > 0 {
				differ = append(differ, p)
			}
		}
		if differ != nil {
			d.Verdict = Differs
			if d.Smallest, err = z.shrink(ctx, shapes, plainest(differ)); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range measuredK {
		if d.Smallest != nil && shapes.takes(0, measuredSide) && shapes.takes(1, measuredSide) && shapes.takes(2, k) {
			m, err := z.measure(ctx, k)
			if err != nil {
				return nil, err
			}
			d.Measured = append(d.Measured, *m)
		}
	}
	return d, nil
}

// measure compares a product of normal operands.
func (z *Fuzz) measure(ctx context.Context, k int) (*Distances, error) {
	rng := rand.New(rand.NewPCG(z.Seed, uint64(k)))
	p := z.draw(rng, 0, schedule.Shape{M: measuredSide, N: measuredSide, K: k})
	if z.compute(ctx, p); p.err != nil {
		return nil, p.err
	}
	m := &Distances{K: k, Elements: measuredSide * measuredSide}
	f, w := p.id.Get(), p.id.Width()
	for n := range m.Elements {
		x, y := mma.Load(p.d[0], w, n), mma.Load(p.d[1], w, n)
		if sameCode(p.id, x, y) {
			y = x
		} else {
			m.Differ++
		}
		apart := f.Distance(x, y)
		m.Most = max(m.Most, apart)
		for len(m.Counts) <= bits.Len64(apart) {
			m.Counts = append(m.Counts, 0)
		}
		m.Counts[bits.Len64(apart)]++
	}
	return m, nil
}

// fieldsOf compares the files of two kernels, but for names and sources.
func fieldsOf(a, b *schedule.Kernel) []FieldChange {
	x, y := filesOf(a, b)
	all := fieldsThatDiffer(x, y)
	return slices.DeleteFunc(all, func(f FieldChange) bool { return f.Path == "name" || f.Path == "source" })
}

// filesOf returns the files of two kernels, aligned. A schedule that holds everywhere is there for each of the other's.
func filesOf(a, b *schedule.Kernel) (x, y any) {
	most := max(len(a.Schedules), len(b.Schedules))
	var files [2]any
	for i, k := range []*schedule.Kernel{a, b} {
		if len(k.Schedules) == 1 && len(k.Schedules[0].Where) == 0 {
			everywhere := *k
			everywhere.Schedules = slices.Repeat(k.Schedules, most)
			k = &everywhere
		}
		files[i] = fileOf(k)
	}
	return aligned(files[0], files[1])
}

// fieldsThatDiffer compares two values of JSON field by field.
func fieldsThatDiffer(a, b any) []FieldChange {
	all := []FieldChange{}
	var values [2]map[string]string
	var paths []string
	for i, v := range []any{a, b} {
		values[i] = map[string]string{}
		flatten("", v, func(path, value string) {
			values[i][path] = value
			paths = append(paths, path)
		})
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		x, okX := values[0][path]
		y, okY := values[1][path]
		if !okX {
			x = "-"
		}
		if !okY {
			y = "-"
		}
		if x != y {
			all = append(all, FieldChange{path, x, y})
		}
	}
	return all
}

// flatten visits the values of JSON by their paths.
func flatten(path string, v any, visit func(path, value string)) {
	switch v := v.(type) {
	case map[string]any:
		if steps, ok := v["epilogue"].([]any); ok && path == "" { // one field: its steps are not told apart by their numbers
			visit("epilogue", stepsText(steps))
			delete(v, "epilogue")
		}
		for name, x := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), x, visit)
		}
	case []any:
		for i, x := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), x, visit)
		}
	case nil: // what a list lacks
	default:
		visit(path, fmt.Sprint(v))
	}
}

// stepsText writes steps of an epilogue, such as "alpha factor 0.3; cast format fp16".
func stepsText(steps []any) string {
	var all []string
	for _, step := range steps {
		s, ok := step.(map[string]any)
		if !ok { // the other epilogue has more
			continue
		}
		words := []string{fmt.Sprint(s["op"])}
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if name != "op" {
				words = append(words, fmt.Sprintf("%s %v", name, s[name]))
			}
		}
		all = append(all, strings.Join(words, " "))
	}
	return strings.Join(all, "; ")
}

// Document is the difference for people.
func (d *Difference) Document() *document.Document {
	title := fmt.Sprintf("%s and %s: %s", d.A, d.B, map[string]string{
		SameFunction: fmt.Sprintf("the same function for K up to %d", maxOrderK), Differs: "they differ", Undecided: "no difference found, and no proof that there is none",
	}[d.Verdict])
	doc := document.New(title, "Two schedules of a matrix product: which fields differ, and by how much the results do.")
	doc.Untitled = true
	blocks := []document.Block{document.OnTerminal(document.Text(title)), document.Text(d.Same)}
	if d.Smallest != nil {
		blocks = append(blocks, document.Text(d.Smallest.String()))
	}
	doc.Add("Whether they differ", blocks...)
	doc.Add("Fields that differ", fieldTable(d.Fields))
	if d.Smallest != nil {
		doc.Add("In which order", figures([2]string{d.A, d.B}, d.Smallest.kernels, d.Smallest.K)...)
	}
	measured := &document.Table{Name: "measured", Columns: document.Columns("K", "elements", "differ", "1 ulp", "2..3", "4..7", "more", "largest ulp")}
	for i := range measured.Columns {
		measured.Columns[i].Number = true
	}
	for _, m := range d.Measured {
		counts := append(slices.Clone(m.Counts), make([]int, 5)...)
		more := 0
		for _, n := range counts[4:] {
			more += n
		}
		measured.Add(fmt.Sprint(m.K), fmt.Sprint(m.Elements), fmt.Sprint(m.Differ), fmt.Sprint(counts[1]), fmt.Sprint(counts[2]), fmt.Sprint(counts[3]), fmt.Sprint(more), readable.Ulps(float64(m.Most)))
	}
	doc.Add(fmt.Sprintf("By how much: products of %d x %d elements, operands normal", measuredSide, measuredSide), measured)
	return doc
}
