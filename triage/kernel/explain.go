package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Question is a product that is not what a kernel gives.
type Question struct {
	Kernel   *schedule.Kernel
	Operands *gemm.Operands
	Options  gemm.Options
	Got      []byte // what the kernel gives, row after row
	Want     []byte // what somebody else does
	D        fp.ID
	Progress func(done, of int)
}

// Answer is why a product is not what a kernel gives.
type Answer struct {
	Label   string // "unexplained": no mutant of the kernel gives the other product
	Words   string
	Kernel  *schedule.Kernel // that gives it
	Checked int              // elements on which it does
	Others  []string         // labels of other mutants that give it on these elements
	First   string           // the first partial sum that differs, in words
}

const (
	firstLook  = 24  // elements of each kind on which every mutant is tried
	secondLook = 400 // and on which those are that pass
)

// Explain looks for a field of the kernel that explains a product: a mutant that gives the
// bits of the product where the kernel does, and where it does not.
func (q *Question) Explain(ctx context.Context) (*Answer, error) {
	first, second := q.sample(firstLook), q.sample(secondLook)
	mutants := Mutants(q.Kernel)
	var right []Mutant
	for n, m := range mutants {
		if q.Progress != nil {
			q.Progress(n, len(mutants))
		}
		for _, at := range [][][2]int{first[:min(len(first), 2)], first, second} {
			same, err := q.same(ctx, m.Kernel, at)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil || !same { // a mutant may be of no use for the shape
				m.Kernel = nil
				break
			}
		}
		if m.Kernel != nil {
			right = append(right, m)
		}
	}
	if len(right) == 0 {
		return &Answer{Label: "unexplained"}, nil
	}
	a := &Answer{Label: right[0].Label, Words: right[0].Words, Kernel: right[0].Kernel, Checked: len(second)}
	for _, m := range right[1:] {
		if !slices.Contains(a.Others, m.Label) && m.Label != a.Label {
			a.Others = append(a.Others, m.Label)
		}
	}
	var err error
	a.First, err = Diverge(ctx, [2]*schedule.Kernel{q.Kernel, a.Kernel}, q.Operands, first[0], [2]gemm.Options{q.Options, q.Options})
	return a, err
}

// differs reports whether element n is not what the kernel gives. Two NaNs are the same.
func (q *Question) differs(n int) bool {
	w := q.D.Width()
	return !sameCode(q.D, mma.Load(q.Got, w, n), mma.Load(q.Want, w, n))
}

func sameCode(d fp.ID, x, y uint64) bool {
	f := d.Get()
	return x == y || f.Decode(x).Class == fp.NaN && f.Decode(y).Class == fp.NaN
}

// First returns the first element that differs.
func (q *Question) First() [2]int { return q.sample(1)[0] }

// sample returns up to n elements that differ and as many that do not, spread over D; the
// former come first.
func (q *Question) sample(n int) (at [][2]int) {
	var kinds [2][]int
	for i := range q.Operands.M * q.Operands.N {
		kind := 1
		if q.differs(i) {
			kind = 0
		}
		kinds[kind] = append(kinds[kind], i)
	}
	for _, all := range kinds {
		step := max(1, len(all)/n)
		for i := 0; i < len(all) && i/step < n; i += step {
			at = append(at, [2]int{all[i] / q.Operands.N, all[i] % q.Operands.N})
		}
	}
	return at
}

// same reports whether a kernel gives the other product in some elements.
func (q *Question) same(ctx context.Context, k *schedule.Kernel, at [][2]int) (bool, error) {
	codes, id, err := gemm.Elements(ctx, k, q.Operands, at, q.Options)
	if err != nil || id != q.D {
		return false, err
	}
	for i, c := range codes {
		if !sameCode(id, c, mma.Load(q.Want, id.Width(), at[i][0]*q.Operands.N+at[i][1])) {
			return false, nil
		}
	}
	return true, nil
}

// Diverge says in words which is the first partial sum of an element by which the first of two
// kernels differs from the second.
func Diverge(ctx context.Context, k [2]*schedule.Kernel, o *gemm.Operands, at [2]int, opt [2]gemm.Options) (string, error) {
	var traces [2][]gemm.Partial
	for i := range traces {
		var err error
		if traces[i], err = gemm.Trace(ctx, k[i], o, at, opt[i]); err != nil {
			return "", err
		}
	}
	in := map[uint64][]gemm.Partial{} // the second kernel's, by what they are the sums of
	for _, p := range traces[1] {
		in[p.Set] = append(in[p.Set], p)
	}
	before := "nothing is added before it"
	for _, p := range traces[0] {
		other, ok := in[p.Set]
		same := slices.ContainsFunc(other, func(x gemm.Partial) bool { return x.Code == p.Code && x.D == p.D })
		switch {
		case same:
			before = "before it both have " + sumOf(p)
			continue
		case !ok:
			return fmt.Sprintf("%s, which the other does not form; %s", sumOf(p), before), nil
		default:
			x := other[len(other)-1]
			return fmt.Sprintf("%s, where the other has %s; %s", sumOf(p), number(x), before), nil
		}
	}
	return "none", nil
}

// sumOf writes a partial sum.
func sumOf(p gemm.Partial) string {
	what := p.What
	if n := len(p.Step); n > 0 {
		what += fmt.Sprintf(", up to k %d", p.Step[n-1])
	}
	return fmt.Sprintf("%s (%s, %d products)", number(p), what, p.N)
}

func number(p gemm.Partial) string {
	f := p.D.Get()
	return fmt.Sprintf("%s = %.9g", mma.FormatCode(p.D, p.Code), f.Float64(p.Code))
}
