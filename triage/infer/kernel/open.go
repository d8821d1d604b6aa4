package kernel

import (
	"context"
	"math"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// openValue is a value of a field with which a kernel gives the results of all samples.
type openValue struct {
	field  int // its number among those of the schedule
	value  string
	kernel *schedule.Kernel
	plan   []schedule.Op
}

const (
	openElements = 1 << 14 // of the products on which open values are tried, at most
	openTerms    = 1 << 23 // of these elements, at most
	openShare    = 8       // of the elements that are validated so many times fewer are asked
	openSample   = 1 << 8  // elements that a model computes at a time
)

// tryOpen tries values that samples leave open on more products of a class, and puts each into its field: of
// ordinary numbers, because what a later rounding hides shows in few elements, and of a few numbers far apart,
// because these show in which order they are added. It returns elements that the finding itself does not give:
// then it tries nothing.
func (l *loop) tryOpen(ctx context.Context, c *class, f *finding, open []openValue, fields []Field) (map[int]*counter, error) {
	more, asked, err := l.askOpen(ctx, c)
	if err != nil {
		return nil, err
	}
	rows, columns := c.sampled()
	wrong := map[int]*counter{}
	for _, s := range more {
		at, got, err := l.judge.differs(ctx, f.kernel(), s)
		if err != nil {
			return nil, err
		}
		for _, i := range at {
			row, column := rows[i/s.N%len(rows)], columns[i%s.N%len(columns)]
			wrong[row*l.N+column] = &counter{l.witness(row, column, i/s.N, i%s.N, s, got), l.element(s, i)}
		}
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	judged := &search{loop: l, samples: more}
	right := make([]bool, len(open))
	for i, o := range open {
		of := &fields[o.field]
		l.enter("trying other values of %s", of.Name)
		tried := func(other openValue) bool {
			return other.kernel.Preparation() == o.kernel.Preparation() && sameValues(other.plan, o.plan)
		}
		known := false
		for n, other := range open[:i] {
			if known = tried(other); known { // as 300 and 400 lanes of 100 products
				right[i] = right[n]
				break
			}
		}
		if !known {
			right[i] = judged.right(ctx, o.kernel, &judged.signs)
		}
		to := &of.Ruled
		if right[i] {
			to, of.Products = &of.Open, len(f.samples)+asked
		}
		*to = append(*to, o.value)
	}
	return nil, nil
}

// askOpen asks for products by which values that are open may be told apart, and keeps some elements of a class.
func (l *loop) askOpen(ctx context.Context, c *class) (more []*sample, products int, err error) {
	rows, columns := c.sampled()
	each := len(rows) * len(columns)
	g := max(1, int(math.Sqrt(openSample/float64(each)))) // matrices of a sample: see gridded
	n := min(openElements, openTerms/l.K)/(g*g*each) + 1
	n = max(2, min(n, l.o.Checks/openShare/(g*g*l.M*l.N)))
	for t := range n {
		kind := 0
		if t%2 == 1 && !l.A.Integer() && !l.B.Integer() {
			kind = far
		}
		s, err := l.gridded(ctx, g, kind, l.o.Seed+seedOpen+uint64(c.positions[0])<<40+uint64(t))
		if err != nil {
			return nil, 0, err
		}
		more = append(more, l.part(s, repeated(rows, l.M, g), repeated(columns, l.N, g)))
	}
	return more, n * g * g, nil
}

// repeated returns lines of each of g matrices that lie side by side.
func repeated(lines []int, of, g int) (all []int) {
	for i := range g {
		for _, line := range lines {
			all = append(all, i*of+line)
		}
	}
	return all
}

// drawFar fills the rows of A with zeros but for a large number, its negative and a few small numbers, at any k or
// at some that are near to each other: small ones are lost in a sum that has only one of the large ones. In a column
// of B all numbers are equal, but for zeros that leave out some products.
func (b *box) drawFar(d *drawer, m matrices) {
	d.Formats = b.drawn.drawn(d, b.Formats)
	f, g, sum := d.A.Get(), d.B.Get(), d.D.Get()
	if b.placed() {
		fill(m.sa, b.Scale, 1)
		fill(m.sb, b.Scale, 1)
	}
	top := min(int(min(f.Emax(), sum.Emax())), 40) - 1
	least := max(int(f.Emin())-int(f.FracBits), int(sum.Emin()))
	apart := int(max(sum.FracBits, fp.FP32.Get().FracBits)) + 12
	for row := range b.M {
		n, within := min(3+d.IntN(4), b.K), b.K
		if d.IntN(2) == 0 {
			within = max(n, b.K>>d.IntN(bits.Len(uint(b.K))))
		}
		from, large := d.IntN(b.K-within+1), math.Ldexp(1, top-d.IntN(4))
		for i, k := range d.Perm(within)[:n] {
			v := math.Ldexp(d.NormFloat64(), max(top-d.IntN(apart), least))
			if i < 2 {
				v = large * float64(1-2*i)
			}
			b.setA(m, row, from+k, f.Float64(f.FromFloat64(v)))
		}
	}
	for column := range b.N {
		v := g.Float64(g.FromFloat64(math.Copysign(1+d.Float64(), d.Float64()-0.5)))
		for k := range b.K {
			if d.IntN(4) > 0 {
				b.setB(m, column, k, v)
			}
		}
	}
}
