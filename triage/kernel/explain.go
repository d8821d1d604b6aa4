package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Product is a product of a kernel and somebody else's of the same operands.
type Product struct {
	Operands *gemm.Operands
	Got      []byte // what the kernel gives, row after row
	Want     []byte // what somebody else does
	D        fp.ID

	spread [][][2]int // elements that differ, and that do not
}

// Question is products that are not all what a kernel gives.
type Question struct {
	Kernel   *schedule.Kernel
	Options  gemm.Options
	Products []Product
	Progress func(done, of int)
	// Wide: where no change of one field explains them, the schedules of the literature are tried, and every
	// change beside each usual length of parts.
	Wide bool
}

// Answer is why products are not what a kernel gives.
type Answer struct {
	Label   string           `json:"label"` // "unexplained": no mutant of the kernel gives the other products
	Words   string           `json:"words,omitempty"`
	Kernel  *schedule.Kernel `json:"-"`                 // that gives them
	Checked int              `json:"checked,omitempty"` // elements on which it does
	Others  []string         `json:"others,omitempty"`  // labels of other mutants that give them on these elements
	Alike   []string         `json:"-"`                 // words of other mutants of this label that do
	First   string           `json:"first,omitempty"`   // the first partial sum that differs, in words
}

// Elements of each kind that are looked at: on the first every mutant is tried, on the
// second those that pass.
const (
	firstLook  = 24
	secondLook = 400
)

// Explain looks for a field of the kernel that explains the products: a mutant that gives
// their bits where the kernel does, and where it does not. If there is none, for two fields.
func (q *Question) Explain(ctx context.Context) (*Answer, error) {
	a := &Answer{Label: "unexplained"}
	all := Mutants(q.Kernel)
	if err := q.among(ctx, a, q.Kernel, all); err != nil {
		return nil, err
	}
	if a.Kernel == nil && q.Wide {
		if err := q.among(ctx, a, q.Kernel, listed(q.Kernel)); err != nil {
			return nil, err
		}
	}
	if a.Kernel == nil {
		near := q.nearest(ctx, all)
		if q.Wide {
			near = append(near, cutInParts(q.Kernel, all)...)
		}
		for _, m := range near {
			twice := Mutants(m.Kernel)
			for i := range twice {
				t := &twice[i]
				t.Words = m.Words + "; and " + t.Words
				if labels := []string{m.Label, t.Label}; t.Label != m.Label {
					slices.Sort(labels)
					t.Label = strings.Join(labels, "+")
				}
			}
			if err := q.among(ctx, a, m.Kernel, twice); err != nil {
				return nil, err
			}
		}
	}
	if a.Kernel == nil {
		return a, nil
	}
	for i := range q.Products {
		p := &q.Products[i]
		if at := p.sample(1); p.differs(at[0]) {
			var err error
			a.First, err = Diverge(ctx, [2]*schedule.Kernel{q.Kernel, a.Kernel}, p.Operands, at[0], [2]gemm.Options{q.Options, q.Options})
			return a, err
		}
	}
	return a, nil
}

// among looks for the answer among the mutants of a kernel.
func (q *Question) among(ctx context.Context, a *Answer, of *schedule.Kernel, all []Mutant) error {
	// Most mutants are wrong where the kernel is: such a product is tried first, a small one.
	cost := map[*gemm.Operands]int{}
	for i := range q.Products {
		p := &q.Products[i]
		cost[p.Operands] = p.Operands.K
		if p.gives(ctx, of, p.sample(1), q.Options) {
			cost[p.Operands] += 1 << 30
		}
	}
	slices.SortStableFunc(q.Products, func(x, y Product) int { return cost[x.Operands] - cost[y.Operands] })
	for n, m := range all {
		if q.Progress != nil {
			q.Progress(n, len(all))
		}
		checked, err := q.explains(ctx, m.Kernel)
		switch {
		case err != nil:
			return err
		case checked == 0:
		case a.Kernel == nil:
			if checked, err = q.explainsAll(ctx, m.Kernel); err != nil {
				return err
			}
			if checked > 0 {
				a.Label, a.Words, a.Kernel, a.Checked = m.Label, m.Words, m.Kernel, checked
			}
		case sameFunction(m.Kernel, a.Kernel):
		case m.Label == a.Label && m.Words != a.Words && !slices.Contains(a.Alike, m.Words):
			a.Alike = append(a.Alike, m.Words)
		case m.Label != a.Label && !slices.Contains(a.Others, m.Label):
			a.Others = append(a.Others, m.Label)
		}
	}
	return nil
}

const (
	nearestAll   = 4    // mutants of which a second field is changed
	nearestLabel = 1    // of these, of each label
	mostScored   = 1024 // K of the products on which they are chosen
)

// nearest returns the mutants that are right on the most elements on which the kernel is wrong.
func (q *Question) nearest(ctx context.Context, all []Mutant) (best []Mutant) {
	right := map[*schedule.Kernel]int{}
	for _, m := range all {
		for i := range q.Products {
			p := &q.Products[i]
			if i > 0 && p.Operands.K > mostScored {
				break
			}
			for _, at := range p.sample(2) {
				if p.differs(at) && p.gives(ctx, m.Kernel, [][2]int{at}, q.Options) {
					right[m.Kernel]++
				}
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Mutant) int { return right[y.Kernel] - right[x.Kernel] })
	labels := map[string]int{}
	for _, m := range all {
		if labels[m.Label]++; right[m.Kernel] > 0 && labels[m.Label] <= nearestLabel && len(best) < nearestAll {
			best = append(best, m)
		}
	}
	return best
}

// explainsAll is explains on all elements.
func (q *Question) explainsAll(ctx context.Context, k *schedule.Kernel) (checked int, err error) {
	for i := range q.Products {
		p := &q.Products[i]
		d, id, err := gemm.Multiply(ctx, k, p.Operands, q.Options)
		if err != nil || id != p.D || wrong(id, d, p.Want) > 0 {
			return 0, ctx.Err()
		}
		checked += p.Operands.M * p.Operands.N
	}
	return checked, nil
}

// wrong returns how many elements of two products differ.
func wrong(id fp.ID, x, y []byte) (n int) {
	w := id.Width()
	for i := range len(x) / w {
		if !sameCode(id, mma.Load(x, w, i), mma.Load(y, w, i)) {
			n++
		}
	}
	return n
}

// explains returns on how many elements a mutant gives the other products, 0 if there are
// some on which it does not. A mutant may be of no use for a shape.
func (q *Question) explains(ctx context.Context, k *schedule.Kernel) (checked int, err error) {
	for _, look := range []int{1, firstLook, secondLook} {
		checked = 0
		for i := range q.Products {
			p := &q.Products[i]
			at := p.sample(max(1, look/len(q.Products)))
			if !p.gives(ctx, k, at, q.Options) {
				return 0, ctx.Err()
			}
			checked += len(at)
		}
	}
	return checked, nil
}

// differs reports whether an element is not what the kernel gives. Two NaNs are the same.
func (p *Product) differs(at [2]int) bool {
	w, n := p.D.Width(), at[0]*p.Operands.N+at[1]
	return !sameCode(p.D, mma.Load(p.Got, w, n), mma.Load(p.Want, w, n))
}

// sameCode reports whether two codes are equal, or both NaNs.
func sameCode(d fp.ID, x, y uint64) bool {
	f := d.Get()
	return x == y || f.Decode(x).Class == fp.NaN && f.Decode(y).Class == fp.NaN
}

// First returns the first element that differs, or the first of all.
func (p *Product) First() [2]int { return p.sample(1)[0] }

// sample returns up to n elements that differ and as many that do not, spread over D; the
// former come first.
func (p *Product) sample(n int) (at [][2]int) {
	if p.spread == nil {
		p.choose()
	}
	for _, all := range p.spread {
		step := max(1, len(all)/n)
		for i := 0; i < len(all) && i/step < n; i += step {
			at = append(at, all[i])
		}
	}
	return at
}

// choose sets spread: up to secondLook elements of each kind, the first of them and others.
func (p *Product) choose() {
	p.spread = make([][][2]int, 2)
	var count [2]int
	for range 2 { // the first time they are counted
		step := [2]int{max(1, count[0]/secondLook), max(1, count[1]/secondLook)}
		counted := count != [2]int{}
		count = [2]int{}
		for i := range p.Operands.M * p.Operands.N {
			e, kind := [2]int{i / p.Operands.N, i % p.Operands.N}, 1
			if p.differs(e) {
				kind = 0
			}
			if counted && count[kind]%step[kind] == 0 {
				p.spread[kind] = append(p.spread[kind], e)
			}
			count[kind]++
		}
	}
}

// gives reports whether a kernel gives the other product in some elements.
func (p *Product) gives(ctx context.Context, k *schedule.Kernel, at [][2]int, opt gemm.Options) bool {
	codes, id, err := gemm.Elements(ctx, k, p.Operands, at, opt)
	if err != nil || id != p.D {
		return false
	}
	for i, c := range codes {
		if !sameCode(id, c, mma.Load(p.Want, id.Width(), at[i][0]*p.Operands.N+at[i][1])) {
			return false
		}
	}
	return true
}

// Diverge says in words which is the first partial sum of an element by which the first of two kernels differs from the
// second; "none" if there is none. A sum that the second does not form, and that is what it was before, is the first if
// there is no other.
func Diverge(ctx context.Context, k [2]*schedule.Kernel, o *gemm.Operands, at [2]int, opt [2]gemm.Options) (string, error) {
	traces, err := tracesOf(ctx, k, o, at, opt)
	if err != nil {
		return "", err
	}
	first, same := diverge(traces)
	return cmp.Or(first, same, "none"), nil
}

// tracesOf returns the partial sums that two kernels form.
func tracesOf(ctx context.Context, k [2]*schedule.Kernel, o *gemm.Operands, at [2]int, opt [2]gemm.Options) (traces [2][]gemm.Partial, err error) {
	for i := range traces {
		if traces[i], err = gemm.Trace(ctx, k[i], o, at, opt[i]); err != nil {
			return traces, err
		}
	}
	return traces, nil
}

// diverge says what Diverge does; same is a sum that is what it was before.
func diverge(traces [2][]gemm.Partial) (first, same string) {
	in := map[uint64][]gemm.Partial{} // the second kernel's, by what they are the sums of
	for _, p := range traces[1] {
		in[p.Set] = append(in[p.Set], p)
	}
	before := "nothing is added before it"
	for _, p := range traces[0] {
		other, ok := in[p.Set]
		equal := slices.ContainsFunc(other, func(x gemm.Partial) bool { return x.Code == p.Code && x.D == p.D })
		switch {
		case equal:
			before = "before it both have " + sumOf(p)
		case !ok && p.Same:
			same = cmp.Or(same, sumOf(p)+notFormed+before)
		case !ok:
			return sumOf(p) + notFormed + before, same
		default:
			x := other[len(other)-1]
			return fmt.Sprintf("%s, where the other has %s; %s", sumOf(p), number(x), before), same
		}
	}
	return "", same
}

const notFormed = ", which the other does not form; "

// sumOf writes a partial sum.
func sumOf(p gemm.Partial) string {
	what := p.What
	if n := len(p.Step); n > 0 {
		what += fmt.Sprintf(", %s to k %d", map[bool]string{false: "up", true: "down"}[p.Down], p.Step[n-1])
	}
	return fmt.Sprintf("%s (%s, %s)", number(p), what, readable.Plural(p.N, "product"))
}

func number(p gemm.Partial) string {
	f := p.D.Get()
	return fmt.Sprintf("%s = %.9g", mma.FormatCode(p.D, p.Code), f.Float64(p.Code))
}
