package kernel

import (
	"context"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// gridded is about how many elements validate gives a model at a time, at most.
const gridded = 4096

// validate compares a kernel with fresh products of all kinds, and returns an element of
// each position at which it is wrong. Where products are small, many of them are put together into
// one large product, which a model computes in one go: see loop.gridded.
func (l *loop) validate(ctx context.Context, r *Result, round uint64) (map[int]*counter, error) {
	g := max(1, int(math.Sqrt(float64(min(gridded, l.o.Checks/len(kinds)))/float64(l.M*l.N))))
	n := max(len(kinds), (l.o.Checks+g*g*l.M*l.N-1)/(g*g*l.M*l.N))
	k := grid(r.Kernel, l.M, l.N, g)
	wrong := map[int]*counter{}
	r.Validated, r.ValidatedProducts, r.Kinds = 0, 0, kinds
	for t := range n {
		l.enter("validated on %d of %d elements", r.Validated, n*g*g*l.M*l.N)
		s, err := l.gridded(ctx, g, t%len(kinds), l.o.Seed+seedValidation+round<<24+uint64(t))
		if err != nil {
			return nil, err
		}
		at, got, err := l.judge.differs(ctx, k, s)
		if err != nil {
			return nil, err
		}
		r.Validated += s.M * s.N
		r.ValidatedProducts += g * g
		for _, i := range at {
			row, column := i/s.N, i%s.N
			if p := row%l.M*l.N + column%l.N; wrong[p] == nil {
				wrong[p] = &counter{l.witness(row%l.M, column%l.N, row, column, s, got), l.element(s, i)}
			}
		}
	}
	return wrong, nil
}

// gridded asks for the products of each of g matrices A with each of g matrices B, and returns them
// side by side as one matrix.
func (l *loop) gridded(ctx context.Context, g, kind int, seed uint64) (*sample, error) {
	s := &sample{kind: kind, Shape: schedule.Shape{M: g * l.M, N: g * l.N, K: l.K}}
	w, sizes := l.D.Width(), l.lineSizes()
	s.d = make([]byte, s.M*s.N*w)
	if l.drawsC {
		s.c = make([]byte, s.M*s.N*l.C.Width())
	}
	beside := func(t, row, w int) int { return ((t/g*l.M+row)*s.N + t%g*l.N) * w } // where a row of product t begins
	for n, lines := range s.all() {
		sizes[n] *= [2]int{l.M, l.N}[n%2]
		*lines = make([]byte, g*sizes[n])
	}
	part := func(row, column int) (m matrices) { // matrix A number row and matrix B number column
		to := m.all()
		for n, lines := range s.all() {
			*to[n] = (*lines)[[2]int{row, column}[n%2]*sizes[n]:][:sizes[n]]
		}
		return m
	}
	for i := range g {
		l.draw(newDrawer(seed, uint64(i)), kind, part(i, i))
	}
	return s, l.each(ctx, g*g, func(t int, m matrices) {
		from := part(t/g, t%g)
		from.copyTo(m)
		if l.drawsC {
			l.drawC(newDrawer(seed, uint64(g+t)), m)
		}
	}, func(t int, m matrices, d []byte) {
		for row := range l.M {
			copy(s.d[beside(t, row, w):], d[row*l.N*w:][:l.N*w])
			if w := l.C.Width(); l.drawsC {
				copy(s.c[beside(t, row, w):], m.c[row*l.N*w:][:l.N*w])
			}
		}
	})
}

// grid returns a kernel that computes g x g products side by side as k computes each of them.
func grid(k *schedule.Kernel, rows, columns, g int) *schedule.Kernel {
	repeated := func(s schedule.Set, n int) schedule.Set {
		if len(s) == 0 {
			return s
		}
		var all []int
		for i := range g * n {
			if s.Has(i % n) {
				all = append(all, i)
			}
		}
		return schedule.SetOf(all)
	}
	big := *k
	big.When = schedule.When{}
	big.Schedules = nil
	for _, s := range k.Schedules {
		where := s.Where
		s.Where = nil
		for _, w := range where {
			s.Where = append(s.Where, schedule.Where{Rows: repeated(w.Rows, rows), Columns: repeated(w.Columns, columns)})
		}
		big.Schedules = append(big.Schedules, s)
	}
	return &big
}
