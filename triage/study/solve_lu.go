package study

import (
	"context"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// factors are L, below the diagonal, and U of P*A = L*U: FP32 numbers. Row i of the product is
// row order[i] of A.
type factors struct {
	lu    *square
	order []int
}

// factorize factorizes a matrix with partial pivoting, some columns at a time. The updates of the
// rest are the unit's.
func factorize(ctx context.Context, u *unit, a *square) (*factors, error) {
	n := a.n
	f := &factors{lu: &square{n, make([]float64, n*n)}, order: make([]int, n)}
	for i := range f.order {
		f.order[i] = i
	}
	for i, v := range a.at {
		f.lu.at[i] = float64(float32(v))
	}
	columns := lcm(u.inst().K, blockRows)
	for from := 0; from < n; from += columns {
		to := min(from+columns, n)
		f.panel(from, to)
		if to < n {
			f.upper(from, to)
			if err := f.update(ctx, u, from, to); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// panel factorizes columns from..to of the rows from on, in FP32.
func (f *factors) panel(from, to int) {
	lu := f.lu
	for k := from; k < to; k++ {
		pivot := k
		for i := k + 1; i < lu.n; i++ {
			if math.Abs(lu.row(i)[k]) > math.Abs(lu.row(pivot)[k]) {
				pivot = i
			}
		}
		if pivot != k {
			f.order[k], f.order[pivot] = f.order[pivot], f.order[k]
			x, y := lu.row(k), lu.row(pivot)
			for j := range x {
				x[j], y[j] = y[j], x[j]
			}
		}
		top := lu.row(k)
		if top[k] == 0 {
			continue // singular: the solution will not converge
		}
		for i := k + 1; i < lu.n; i++ {
			row := lu.row(i)
			row[k] = float64(float32(row[k]) / float32(top[k]))
			for j := k + 1; j < to; j++ {
				row[j] = minus32(row[j], row[k], top[j])
			}
		}
	}
}

// upper makes the rows from..to of U right of column to, in FP32.
func (f *factors) upper(from, to int) {
	for k := from; k < to; k++ {
		for i := k + 1; i < to; i++ {
			row := f.lu.row(i)
			for j := to; j < f.lu.n; j++ {
				row[j] = minus32(row[j], row[k], f.lu.row(k)[j])
			}
		}
	}
}

// minus32 is x - y*z in FP32 arithmetic.
func minus32(x, y, z float64) float64 {
	return float64(float32(x) - float32(float32(y)*float32(z)))
}

// update subtracts L21*U12 from the rest of the matrix: as a tile of the unit, of which C is the
// rest and A the negative of L21. Columns that the unit's K leaves over are zero.
func (f *factors) update(ctx context.Context, u *unit, from, to int) error {
	i, rest := u.inst(), f.lu.n-to
	d, a, b := i.D.Get(), i.A.Get(), i.B.Get()
	in := mma.NewBatch(i.Formats, mma.Shape{M: rest, N: rest, K: i.K, Tiles: 1})
	for y := range rest {
		for x := range rest {
			mma.Store(in.C, int(d.Width), y*rest+x, d.FromFloat64(f.lu.row(to + y)[to+x]))
		}
	}
	for k := from; k < to; k += i.K {
		for y := range rest {
			for x := range i.K {
				l, r := 0.0, 0.0
				if k+x < to {
					l, r = -f.lu.row(to + y)[k+x], f.lu.row(k + x)[to+y]
				}
				mma.Store(in.A, int(a.Width), y*i.K+x, encode(a, l))
				mma.Store(in.B, int(b.Width), y*i.K+x, encode(b, r))
			}
		}
		codes, err := u.run(ctx, in)
		if err != nil {
			return err
		}
		for n, code := range codes {
			mma.Store(in.C, int(d.Width), n, code)
		}
	}
	for y := range rest {
		for x := range rest {
			f.lu.row(to + y)[to+x] = float64(float32(d.Float64(mma.Load(in.C, int(d.Width), y*rest+x))))
		}
	}
	return nil
}

// error is |P*A - L*U| / |A|.
func (f *factors) error(a *square) float64 {
	n := a.n
	r := &square{n, make([]float64, n*n)}
	for i := range n {
		row, lu := r.row(i), f.lu.row(i)
		copy(row, a.row(f.order[i]))
		subtract(row[i:], lu[i:], 1)
		for k := range i {
			subtract(row[k:], f.lu.row(k)[k:], lu[k])
		}
	}
	return r.norm() / a.norm()
}

// solve is what the factors say of A*x = b, in FP64.
func (f *factors) solve(b []float64) []float64 {
	n := f.lu.n
	x := make([]float64, n)
	for i := range n {
		x[i] = b[f.order[i]] - dot(f.lu.row(i)[:i], x[:i])
	}
	for i := n - 1; i >= 0; i-- {
		x[i] = (x[i] - dot(f.lu.row(i)[i+1:], x[i+1:])) / f.lu.row(i)[i]
	}
	return x
}

// correct is the correction of IR.
func (f *factors) correct(r []float64) ([]float64, int) { return f.solve(r), 0 }

// refine solves A*x = b by refinement. correct returns the correction for a residual and how many
// steps of its own it took.
func (a *square) refine(b []float64, f *factors, correct func(r []float64) ([]float64, int)) solution {
	norm, enough := a.norm(), math.Sqrt(float64(a.n))*0x1p-53
	x := f.solve(b)
	s := solution{Error: Number(math.Inf(1))}
	for step := 1; step <= mostSteps; step++ {
		r := a.times(x)
		for i := range r {
			r[i] = b[i] - r[i]
		}
		last := s.Error
		s.Error = Number(largest(r) / (float64(norm*largest(x)) + largest(b)))
		switch {
		case float64(s.Error) <= enough:
			s.Steps = step
			return s
		case !(s.Error <= last/2): // also if it is a NaN
			if last < s.Error {
				s.Error = last
			}
			return s
		}
		d, inner := correct(r)
		s.Inner += inner
		for i := range x {
			x[i] += d[i]
		}
	}
	return s
}

// gmres solves A*d = r by GMRES without restarts, with the factors as preconditioner from the
// left, to a relative residual of 10^-4 (Carson and Higham, SISC 2018).
func (f *factors) gmres(a *square, r []float64) (d []float64, steps int) {
	start := f.solve(r)
	norm := math.Sqrt(dot(start, start))
	d = make([]float64, a.n)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return d, 0
	}
	scale(start, 1/norm)
	basis := [][]float64{start}
	var columns [][]float64      // of the triangular matrix
	var cosines, sines []float64 // of the rotations that made it
	right := []float64{norm}     // of the least squares problem
	for steps < mostInner && math.Abs(right[steps]) > 1e-4*norm {
		w := f.solve(a.times(basis[steps]))
		h := make([]float64, steps+2)
		for i, v := range basis {
			h[i] = dot(w, v)
			subtract(w, v, h[i])
		}
		length := math.Sqrt(dot(w, w))
		for i := range cosines {
			c, s := cosines[i], sines[i]
			h[i], h[i+1] = float64(c*h[i])+float64(s*h[i+1]), float64(c*h[i+1])-float64(s*h[i])
		}
		size := math.Hypot(h[steps], length)
		if size == 0 || math.IsNaN(size) {
			break
		}
		c, s := h[steps]/size, length/size
		h[steps] = size
		cosines, sines, columns = append(cosines, c), append(sines, s), append(columns, h)
		right = append(right, -s*right[steps])
		right[steps] *= c
		steps++
		if length == 0 {
			break
		}
		scale(w, 1/length)
		basis = append(basis, w)
	}
	y := make([]float64, steps)
	for i := steps - 1; i >= 0; i-- {
		y[i] = right[i]
		for j := i + 1; j < steps; j++ {
			y[i] -= float64(columns[j][i] * y[j])
		}
		y[i] /= columns[i][i]
		subtract(d, basis[i], -y[i])
	}
	return d, steps
}
