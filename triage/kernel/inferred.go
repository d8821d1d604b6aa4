package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Sides is how the schedules of both sides differ, where no change of one or two fields explains
// the difference. The schedule of a black box is inferred from its answers, for one shape.
type Sides struct {
	Inferred []string       `json:"inferred,omitempty"` // the sides whose schedules were inferred; nil: both are known
	Shape    schedule.Shape `json:"shape,omitzero"`
	Checked  int            `json:"checked,omitempty"` // elements on which an inferred schedule was found to give the bits of its side
	Fields   []FieldChange  `json:"fields"`
	// Untold is not 0 if Fields leaves out fields that differ, because their values give the same bits: it is
	// the number of products of this run on which they were compared.
	Untold int `json:"untold"`

	kernels [2]*schedule.Kernel
}

// mostInferred is the largest K for which the schedule of a black box is inferred. If every K is larger, the
// smallest is taken.
const mostInferred = 2048

// compareFields compares the schedules of both sides field by field, and sets found.Sides if they
// differ. If the schedule of a black box is not found, it sets found.Unfound instead.
func (z *Fuzz) compareFields(ctx context.Context, shapes *shapeRange, found *Found, differ, agree []*drawn) error {
	kernels, products := [2]*schedule.Kernel{z.A.Kernel, z.B.Kernel}, slices.Concat(differ, agree)
	var s Sides
	for i, side := range []*Side{z.A, z.B} {
		if side.Kernel != nil {
			continue
		}
		if z.Infer == nil {
			return nil
		}
		size := func(p *drawn) int { // the least is the one to take: see mostInferred
			if p.a.K > mostInferred {
				return 1<<30 + p.a.K
			}
			return -p.a.K
		}
		s.Inferred, s.Shape = append(s.Inferred, side.Name), slices.MinFunc(differ, func(x, y *drawn) int { return size(x) - size(y) }).a.Shape
		var err error
		if kernels[i], s.Checked, err = z.Infer(ctx, side.Box[s.Shape.K], s.Shape); err != nil {
			return err
		}
		if kernels[i] == nil {
			found.Unfound = side.Name
			return nil
		}
	}
	for i, k := range kernels {
		if kernels[i] = portable(k); kernels[i] == nil {
			return nil
		}
		k := *kernels[i]
		k.When = schedule.When{}
		kernels[i] = &k
	}
	if s.Inferred != nil {
		b, told, err := z.alike(ctx, shapes, min(found.Products, mostTold), kernels, products)
		if err != nil {
			return err
		}
		s.Fields = fieldsOf(kernels[0], b)
		if len(s.Fields) < len(fieldsOf(kernels[0], kernels[1])) {
			s.Untold = told
		}
	} else {
		s.Fields = fieldsOf(kernels[0], kernels[1])
	}
	if len(s.Fields) > 0 {
		s.kernels, found.Sides = kernels, &s
	}
	return nil
}

// mostTold is the number of products of a run, at most, on which values of fields are compared to tell them
// apart.
const mostTold = 4096

// alike returns the second kernel with as many fields as possible set to the first one's values. The kernel
// that it returns gives the bits of side B wherever the second one does: on the given products, and on the
// first count products of this run. Where no input tells two values of a field apart, inference may find
// either of them, so such a field is not reported as a difference. The products are few: it is not claimed
// that side B computes what the returned kernel does.
func (z *Fuzz) alike(ctx context.Context, shapes *shapeRange, count int, kernels [2]*schedule.Kernel, products []*drawn) (*schedule.Kernel, int, error) {
	if !slices.ContainsFunc(products, func(p *drawn) bool { return !givesB(ctx, kernels[1], p) }) {
		for {
			best := kernels[1]
			for _, f := range fieldsOf(kernels[0], best) {
				k := withField(best, kernels[0], f.Path)
				if k != nil && !slices.ContainsFunc(products, func(p *drawn) bool { return !givesB(ctx, k, p) }) {
					best = k
				}
			}
			if best == kernels[1] {
				break
			}
			p, err := z.teller(ctx, shapes, count, kernels[1], best)
			if p == nil || err != nil {
				return best, count, err
			}
			products = append(slices.Clip(products), p)
		}
	}
	return kernels[1], count, nil // no field can be changed, or it is wrong for other shapes than the one it was inferred for
}

// givesB reports whether a kernel gives the bits of side B.
func givesB(ctx context.Context, k *schedule.Kernel, p *drawn) bool {
	d, id, err := gemm.Multiply(ctx, k, p.b, gemm.Options{Workers: 1})
	return err == nil && id == p.id && wrong(id, d, p.d[1]) == 0
}

// teller returns a product that tells two kernels apart: right gives the bits of side B, and other does not. It
// looks at the first count products of this run, and returns nil if none of them does.
func (z *Fuzz) teller(ctx context.Context, shapes *shapeRange, count int, right, other *schedule.Kernel) (*drawn, error) {
	for from := 0; from < count; from += perRound {
		for _, p := range z.round(ctx, shapes, from, min(perRound, count-from)) {
			if p.err != nil {
				return nil, p.err
			}
			if !givesB(ctx, other, p) && givesB(ctx, right, p) {
				return p, nil
			}
		}
		z.show(from, "products by which fields are told apart")
	}
	return nil, nil
}

// withField returns a kernel, one field of whose file has the value of another kernel's; nil if the result is
// no valid kernel.
func withField(k, other *schedule.Kernel, path string) *schedule.Kernel {
	var files [2]any
	for i, k := range []*schedule.Kernel{k, other} {
		if json.Unmarshal([]byte(textOf(k)), &files[i]) != nil {
			return nil
		}
	}
	at, field := path[:strings.LastIndex(path, ".")+1], path[strings.LastIndex(path, ".")+1:]
	to, ok := member(files[0], at).(map[string]any)
	from, also := member(files[1], at).(map[string]any)
	if !ok || !also {
		return nil
	}
	if value, has := from[field]; has {
		to[field] = value
	} else {
		delete(to, field)
	}
	text, err := json.Marshal(files[0])
	if err != nil {
		return nil
	}
	changed, err := schedule.Read(text)
	if err != nil {
		return nil
	}
	return changed
}

// member returns the value of JSON at a path such as schedules[0].unit., nil if there is none.
func member(v any, path string) any {
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		switch of := v.(type) {
		case map[string]any:
			v = of[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(of) {
				return nil
			}
			v = of[n]
		default:
			return nil
		}
	}
	return v
}

// Inference finds the kernel of a black box at a shape, nil if it finds none. checked is the number
// of elements on which the kernel was found to give the bits of the black box.
type Inference func(ctx context.Context, u devices.Unit, s schedule.Shape) (k *schedule.Kernel, checked int, err error)

// Label is the labels of all fields that differ.
func (s *Sides) Label() string {
	var all []string
	for _, f := range s.Fields {
		level, _, isCut := strings.Cut(f.Path, ".cut.")
		cut := "split-k"
		if isCut && s.dealsOut(level) {
			cut = "lanes"
		}
		for _, of := range []struct{ part, label string }{
			{"epilogue", "epilogue"}, {"scale", "scale"}, {".tail.", "tail"}, {".merge.order", "k-order"}, {".merge.start", "k-order"},
			{".where", "k-order"}, {".merge.", "promotion"}, {".cut.", cut}, {".cast_", "cast"}, {"unit", "unit"},
		} {
			if strings.Contains(f.Path, of.part) {
				all = append(all, of.label)
				break
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "+")
}

// dealsOut reports whether a level of one of the schedules deals products out to lanes.
func (s *Sides) dealsOut(level string) bool {
	for _, k := range s.kernels {
		var file any
		if k != nil && json.Unmarshal([]byte(textOf(k)), &file) == nil && member(file, level+".cut.by") == "lanes" {
			return true
		}
	}
	return false
}

// String says what was compared.
func (s *Sides) String() string {
	shape := fmt.Sprintf("%d x %d elements of %s", s.Shape.M, s.Shape.N, readable.Plural(s.Shape.K, "product"))
	untold := ""
	if s.Untold > 0 {
		untold = fmt.Sprintf(" Fields whose values give the same bits on %s of this run are left out.", readable.Plural(s.Untold, "product"))
	}
	checked := readable.Thousands(uint64(s.Checked)) + " fresh elements"
	switch len(s.Inferred) {
	case 0:
		return "The schedules of A and B differ in more than two fields, each of which may change bits."
	case 1:
		return fmt.Sprintf("The schedule of %s was inferred for %s, and has its bits on %s. It differs from the other's in these fields.", s.Inferred[0], shape, checked) + untold
	}
	return fmt.Sprintf("The schedules of both were inferred for %s; each has the bits of its side on %s. They differ in these fields.", shape, checked) + untold
}

func fieldTable(all []FieldChange) *document.Table {
	t := &document.Table{Name: "fields", Columns: document.Columns("field", "A", "B", "what it is")}
	for _, f := range all {
		t.Add(f.Path, f.A, f.B, meaning(f.Path))
	}
	return t
}

// meanings are what fields of a schedule are, by the ends of their paths.
var meanings = [][2]string{
	{".cut.n", "length of a block, or number of parts"},
	{".cut.by", "how K is cut"},
	{".cut.vector", "products that a part gets at a time"},
	{".cut.grain", "products of which parts have a multiple"},
	{".cut.rest", "where the shorter block is"},
	{".merge.order", "in which order the sums of the parts are added"},
	{".merge.start", "what the first of these sums is added to"},
	{".merge.format", "format in which they are added"},
	{".merge.parts", "format to which they are rounded before"},
	{".tail.into", "where the products left over are added"},
	{".tail.of", "left over are the last K mod this"},
	{".tail.last", "whether they go to the last parts"},
	{"unit.op", "how a product is added: mul-add rounds it first, fma does not"},
	{"unit.acc", "format of the accumulator"},
	{"unit.start", "what the first product is added to"},
}

// meaning returns what a field is, "" where its name says it.
func meaning(path string) string {
	for _, m := range meanings {
		if strings.HasSuffix(path, m[0]) {
			return m[1]
		}
	}
	return ""
}
