package kernel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	Change   string         `json:"change,omitempty"`   // by which the other side has the schedule of the one that was inferred; "": its own was found
	Shape    schedule.Shape `json:"shape,omitzero"`
	Checked  int            `json:"checked,omitempty"` // elements on which an inferred schedule was found to give the bits of its side
	Fields   []FieldChange  `json:"fields"`
	// Untold is not 0 if Fields leaves out fields that differ, because their values give the same bits: it is
	// the number of products of this run on which they were compared.
	Untold int `json:"untold"`

	kernels [2]*schedule.Kernel
	label   string // of Change
}

// mostInferred is the largest K for which the schedule of a black box is inferred. If every K is larger, the
// smallest is taken.
const mostInferred = 2048

// compareFields compares the schedules of both sides field by field, and sets found.Sides if they
// differ. If the schedule of a black box is not found, it sets found.Unfound instead.
func (z *Fuzz) compareFields(ctx context.Context, shapes *shapeRange, found *Found, differ, agree []*drawn) error {
	kernels, products := [2]*schedule.Kernel{z.A.Kernel, z.B.Kernel}, slices.Concat(differ, agree)
	var s Sides
	if err := z.inferSides(ctx, shapes, found, &s, &kernels, products); err != nil || found.Unfound != "" || slices.Contains(kernels[:], nil) {
		return err
	}
	for i, k := range kernels {
		if kernels[i] = portable(k); kernels[i] == nil {
			return nil
		}
		k := *kernels[i]
		k.When = schedule.When{}
		kernels[i] = &k
	}
	near := likewise(kernels, cmp.Or(s.Shape.K, math.MaxInt))
	s.Fields = fieldsOf(near[0], near[1])
	for i, side := range []*Side{z.B, z.A} { // of two that were inferred the second stays near to what the first is then
		if side.Kernel != nil {
			continue
		}
		told, err := z.alike(ctx, shapes, min(found.Products, mostTold), &near, 1-i, products)
		if err != nil {
			return err
		}
		all := fieldsOf(near[0], near[1])
		if len(all) < len(s.Fields) {
			s.Untold = told
		}
		s.Fields = all
	}
	if len(s.Fields) > 0 {
		s.kernels, found.Sides = kernels, &s
	}
	return nil
}

// mostTold is the number of products of a run, at most, on which values of fields are compared to tell them
// apart.
const mostTold = 4096

// likewise returns kernels that are the same functions of up to depth products as those given. If one of them has a level
// that adds its products one after the other in a single accumulator, or has a single part, and is there only to say
// that some are lost or that the last ones come first, the other, if it has no such level, gets this one without what
// it says: then only that differs.
func likewise(kernels [2]*schedule.Kernel, depth int) [2]*schedule.Kernel {
	for i, own := range kernels {
		like := kernels[1-i]
		if len(own.Schedules) != len(like.Schedules) {
			return kernels
		}
		for n := range like.Schedules {
			levels := like.Schedules[n].Levels
			for at, l := range levels {
				if !l.Merge.Chain() || l.Cut.By != "size" || at < len(levels)-1 && l.Cut.N < depth || at > len(own.Schedules[n].Levels) {
					continue
				}
				near := clone(own)
				near.Schedules[n].Levels = slices.Insert(near.Schedules[n].Levels, at, schedule.Level{Cut: l.Cut, Merge: schedule.Merge{Order: "chain"}})
				if len(fieldsOf(near, like)) < len(fieldsOf(own, like)) {
					own = near
				}
			}
		}
		kernels[i] = own
	}
	return kernels
}

// alike sets as many fields as possible of the kernel of a side (1: of B) to the other kernel's values. The result gives
// the bits of its side wherever the kernel did: on the given products, and on the first count products of this run.
// Where no input tells two values of a field apart, inference may find either of them, so such a field is not reported
// as a difference. The products are few: it is not claimed that the side computes what the result does.
func (z *Fuzz) alike(ctx context.Context, shapes *shapeRange, count int, kernels *[2]*schedule.Kernel, side int, products []*drawn) (int, error) {
	right := func(k *schedule.Kernel) bool {
		return !slices.ContainsFunc(products, func(p *drawn) bool { return !gives(ctx, k, p, side) })
	}
	own, like := kernels[side], kernels[1-side]
	if !right(own) { // it is wrong for other shapes than the one it was inferred for
		return count, nil
	}
	for {
		best, found := own, true
		for found {
			found = false
			for _, k := range nearer(best, like) {
				if found = right(k); found {
					best = k
					break
				}
			}
		}
		if best == own {
			return count, nil
		}
		p, err := z.teller(ctx, shapes, count, side, own, best)
		if p == nil || err != nil {
			kernels[side] = best
			return count, err
		}
		products = append(slices.Clip(products), p)
	}
}

// nearer returns variants of a kernel that differ from another one in fewer fields than it does, those with the fewest
// first: each has a field of the other's file, or a whole part of that file such as a level or a unit.
func nearer(k, like *schedule.Kernel) (all []*schedule.Kernel) {
	differ := fieldsOf(like, k)
	left := map[*schedule.Kernel]int{}
	seen := map[string]bool{}
	for _, f := range differ {
		for path := f.Path; path != "" && !seen[path]; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
			seen[path] = true
			near := withField(k, like, path)
			if near == nil {
				continue
			}
			if left[near] = len(fieldsOf(like, near)); left[near] < len(differ) {
				all = append(all, near)
			}
		}
	}
	slices.SortStableFunc(all, func(x, y *schedule.Kernel) int { return left[x] - left[y] })
	if near := withFactor(k, like); near != nil {
		all = append(all, near)
	}
	return all
}

// withFactor returns a kernel whose epilogue multiplies by the number by which another one's does; nil if that is the
// same, or if one of them does not multiply.
func withFactor(k, like *schedule.Kernel) *schedule.Kernel {
	isFactor := func(s schedule.Step) bool { return s.Factor != 0 }
	from, to := slices.IndexFunc(like.Epilogue, isFactor), slices.IndexFunc(k.Epilogue, isFactor)
	if from < 0 || to < 0 || like.Epilogue[from].Factor == k.Epilogue[to].Factor {
		return nil
	}
	near := clone(k)
	near.Epilogue[to].Factor = like.Epilogue[from].Factor
	return near
}

// gives reports whether a kernel gives the bits of a side.
func gives(ctx context.Context, k *schedule.Kernel, p *drawn, side int) bool {
	d, id, err := gemm.Multiply(ctx, k, [2]*gemm.Operands{p.a, p.b}[side], gemm.Options{Workers: 1})
	return err == nil && id == p.id && wrong(id, d, p.d[side]) == 0
}

// teller returns a product of this run of which one kernel gives the bits of a side, and another does not; nil if
// there is none among the first ones.
func (z *Fuzz) teller(ctx context.Context, shapes *shapeRange, count, side int, right, other *schedule.Kernel) (*drawn, error) {
	for from := 0; from < count; from += perRound {
		for _, p := range z.round(ctx, shapes, from, min(perRound, count-from)) {
			if p.err != nil {
				return nil, p.err
			}
			if !gives(ctx, other, p, side) && gives(ctx, right, p, side) {
				return p, nil
			}
		}
		z.show(from, "products by which fields are told apart")
	}
	return nil, nil
}

// withField returns a kernel with another one's value of a field of its file, or of a part of it; nil if that is none.
func withField(k, other *schedule.Kernel, path string) *schedule.Kernel {
	file, otherFile := aligned(fileOf(k), fileOf(other))
	at := max(0, strings.LastIndex(path, "."))
	to, ok := member(file, path[:at]).(map[string]any)
	field := strings.TrimPrefix(path[at:], ".")
	if !ok || strings.HasSuffix(field, "]") { // there is no such part, or it is one of several
		return nil
	}
	if value := member(otherFile, path); value != nil {
		to[field] = value
	} else {
		delete(to, field)
	}
	text, err := json.Marshal(withoutNulls(file))
	if err != nil {
		return nil
	}
	changed, err := schedule.Read(text)
	if err != nil {
		return nil
	}
	return changed
}

// fileOf returns the file of a kernel as JSON, in which every operation has its format of operands.
func fileOf(k *schedule.Kernel) any {
	var file any
	if json.Unmarshal([]byte(textOf(k)), &file) != nil {
		return nil
	}
	var complete func(v any)
	complete = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if acc, ok := v["acc"]; ok && v["in"] == nil {
				v["in"] = acc
			}
			for _, x := range v {
				complete(x)
			}
		case []any:
			for _, x := range v {
				complete(x)
			}
		}
	}
	complete(file)
	return file
}

// member returns the value of JSON at a path such as schedules[0].unit, nil if there is none.
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

// Label is the label of the change, with that of formats which come with it, or else the labels of all fields that differ. Where a schedule holds is what differs
// only if nothing else does, and a level that one side lacks has an order of its own only if that is not the usual one, which may begin with zero.
func (s *Sides) Label() string {
	if s.label != "" {
		all := strings.Split(s.label, "+")
		if slices.ContainsFunc(s.Fields, func(f FieldChange) bool {
			return strings.HasSuffix(f.Path, ".merge.parts") || strings.HasSuffix(f.Path, ".merge.store")
		}) {
			all = append(all, "promotion") // of a level that the change adds or takes away
		}
		slices.Sort(all)
		return strings.Join(slices.Compact(all), "+")
	}
	var all []string
	for _, f := range s.Fields {
		if strings.Contains(f.Path, ".where") || strings.HasSuffix(f.Path, ".merge.order") && f.added("forward", "chain") || strings.HasSuffix(f.Path, ".merge.start") && f.added("zero") {
			continue
		}
		level, _, isCut := strings.Cut(f.Path, ".cut.")
		cut := "split-k"
		if isCut && s.dealsOut(level) {
			cut = "lanes"
		}
		for _, of := range []struct{ part, label string }{
			{".missing", "missing"}, {"epilogue", "epilogue"}, {"scale", "scale"}, {".tail.", "tail"}, {".merge.order", "k-order"}, {".merge.start", "k-order"},
			{".merge.", "promotion"}, {".cut.", cut}, {".cast_", "cast"}, {"unit", "unit"},
		} {
			if strings.Contains(f.Path, of.part) {
				all = append(all, of.label)
				break
			}
		}
	}
	if len(all) == 0 {
		return "k-order"
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "+")
}

// added reports whether a field has one of some values on one side and is none on the other.
func (f *FieldChange) added(values ...string) bool {
	return f.A == "-" && slices.Contains(values, f.B) || f.B == "-" && slices.Contains(values, f.A)
}

// dealsOut reports whether a level of one of the schedules deals products out to lanes.
func (s *Sides) dealsOut(level string) bool {
	x, y := filesOf(s.kernels[0], s.kernels[1])
	return member(x, level+".cut.by") == "lanes" || member(y, level+".cut.by") == "lanes"
}

// String says what was compared.
func (s *Sides) String() string {
	shape := fmt.Sprintf("%d x %d elements, K = %d", s.Shape.M, s.Shape.N, s.Shape.K)
	untold := ""
	if s.Untold > 0 {
		untold = fmt.Sprintf(" Fields whose values give the same bits on %s of this run are left out.", readable.Plural(s.Untold, "matrix product"))
	}
	checked := readable.Thousands(uint64(s.Checked)) + " fresh elements"
	switch {
	case s.Change != "":
		return fmt.Sprintf("The schedule of %s was inferred for %s. The other side has the same with a change: %s. Each schedule has the bits of its side on %s. They differ in these fields.", s.Inferred[0], shape, s.Change, checked) + untold
	case len(s.Inferred) == 0:
		return "The schedules of A and B differ in more than two fields, each of which may change bits."
	case len(s.Inferred) == 1:
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
	{".missing", "products that are not added"},
	{".cut.n", "length of a block, or number of parts"},
	{".cut.by", "how K is cut"},
	{".cut.vector", "products that a part gets at a time"},
	{".cut.grain", "products of which parts have a multiple"},
	{".cut.rest", "where the shorter block is"},
	{".merge.order", "in which order the sums of the parts are added"},
	{".merge.start", "what the first of these sums is added to"},
	{".merge.format", "format in which they are added"},
	{".merge.parts", "format to which each of these sums is rounded before they are added"},
	{".merge.store", "format to which these sums are rounded"},
	{".merge.only", "the parts of which this is true, alone"},
	{".merge.scale", "in which order a partial sum p is multiplied by the scales sa and sb"},
	{".tail.into", "where the products left over are added"},
	{".tail.of", "left over are the last K mod this"},
	{".tail.last", "whether they go to the last parts"},
	{".rows", "rows of D where this schedule holds (-: all)"},
	{".columns", "columns of D where this schedule holds (-: all)"},
	{"epilogue", "what becomes of the sum"},
	{"unit.op", "how a product is added: mul-add rounds it first, fma does not"},
	{"unit.acc", "format of the accumulator"},
	{"unit.sum", "format to which a sum is rounded before that of the accumulator"},
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
