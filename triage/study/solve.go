package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var solveStudy = Study{
	Name:  "solve",
	Short: "linear systems: iterative refinement and GMRES on factors that a unit has computed",
	Long: `solve is mixed-precision iterative refinement with tensor cores (Haidar et al., SC18),
which Li et al. (FTTN, section V) name as what suffers from differences between units. A
matrix is factorized as P*A = L*U in blocks; the updates of the rest of the matrix,
C - L21*U12, are the unit's, with L21 and U12 rounded to its formats, and everything
else is in FP32. Then A*x = b is solved by refinement in FP64: the correction of x comes
from the residual and the factors alone (IR), or from GMRES with the factors as
preconditioner (GMRES-IR).

Matrices are random, with singular values in geometric progression from 1 to 1 over the
condition, or one is given. A solution has converged if |b - A*x| <= sqrt(n) * 2^-53 *
(|A|*|x| + |b|) in maximum norms, within 50 steps; one that no longer halves its error
stagnates, and the table has the error at which it does. IR converges about as long as the
condition times the relative error of the factors, |P*A - L*U| / |A|, is at most some
units, which is why that is a table of its own. A unit that flushes subnormal operands, as
CDNA2's, loses the small updates of an ill-conditioned matrix: its factors get worse.`,
	Count: 1, Most: 64, Of: "matrices of each condition, or right sides of the one that is given",
	New: func(f *pflag.FlagSet) Runner {
		s := &solve{}
		f.IntVar(&s.size, "size", 128, "`rows` of the matrices")
		f.StringVar(&s.matrix, "matrix", "", "`file` of a square matrix, .npy, instead")
		return s
	},
}

type solve struct {
	size   int
	matrix string
	given  *square
}

// solveUnits are what is compared without targets: the formats of one generation, and
// generations of one format.
var solveUnits = []string{
	"sim:hopper/mma.m16n8k8.f32.tf32.tf32.f32",
	"sim:hopper/mma.m16n8k16.f32.bf16.bf16.f32",
	"sim:hopper/mma.m16n8k16.f32.f16.f16.f32",
	"sim:volta/mma.m8n8k4.f32.f16.f16.f32",
	"sim:cdna3/v_mfma_f32_16x16x16_f16",
	"sim:cdna2/v_mfma_f32_16x16x16f16",
	"sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3",
}

// Limits of a solution.
const (
	mostSteps = 50 // of refinement
	mostInner = 50 // steps of GMRES for one of refinement
	mostSize  = 1024
	blockRows = 32 // columns that are factorized at a time, at least
	digits    = 8  // the largest condition is 10^digits
)

// solved is what was measured of a unit, for each condition or of the matrix that is given: the
// mean error of the factors, and the worst solutions.
type solved struct {
	Factors   []Number
	IR, GMRES []solution
}

// solution is how refinement has ended.
type solution struct {
	Steps int    // that it took; 0: it has not converged
	Inner int    // steps of GMRES in all
	Error Number // backward error at the end
}

// Run makes the study.
func (s *solve) Run(ctx context.Context, r *Request) (*Result, error) {
	if s.size < 2 || s.size > mostSize {
		return nil, fmt.Errorf("--size is %d; it can be 2 to %d", s.size, mostSize)
	}
	request := *r
	if len(r.Targets) == 0 {
		request.Targets = solveUnits
	}
	if s.matrix != "" {
		var err error
		if s.given, err = readSquare(s.matrix); err != nil {
			return nil, err
		}
		s.size = s.given.n
	}
	units, done, err := request.askable(ctx, func(i *mma.Instruction) bool {
		return chains(i) && i.Scale == fp.None && i.K <= 64 && (i.D == fp.FP32 || i.D == fp.FP64)
	})
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, s.check, func(ctx context.Context, u *unit) (solved, error) {
		return s.measure(ctx, u, r)
	})
	if err != nil {
		return nil, err
	}
	return s.report(units, all), nil
}

// matrices are the heads of the columns of the tables.
func (s *solve) matrices() []string {
	if s.given != nil {
		return []string{filepath.Base(s.matrix)}
	}
	var all []string
	for e := 1; e <= digits; e++ {
		all = append(all, fmt.Sprintf("1e%d", e))
	}
	return all
}

// check returns what is impossible about what a journal has of a unit.
func (s *solve) check(_ *unit, m solved) error {
	if n := len(s.matrices()); len(m.Factors) != n || len(m.IR) != n || len(m.GMRES) != n {
		return fmt.Errorf("%d matrices, of %d", len(m.Factors), n)
	}
	return nil
}

func (s *solve) measure(ctx context.Context, u *unit, r *Request) (m solved, err error) {
	for e := range s.matrices() {
		rng := rand.New(rand.NewPCG(r.Seed, uint64(e))) // the same matrices for all units
		var factors float64
		var ir, gmres solution
		for n := range r.Count {
			a := s.given
			if a == nil {
				a = randomMatrix(rng, s.size, math.Pow(10, float64(e+1)))
			}
			b := make([]float64, s.size)
			for i := range b {
				b[i] = rng.NormFloat64()
			}
			f, err := factorize(ctx, u, a)
			if err != nil {
				return m, err
			}
			factors += f.error(a) / float64(r.Count)
			ir.worse(n == 0, a.refine(b, f, f.correct))
			gmres.worse(n == 0, a.refine(b, f, func(r []float64) ([]float64, int) { return f.gmres(a, r) }))
		}
		m.Factors, m.IR, m.GMRES = append(m.Factors, Number(factors)), append(m.IR, ir), append(m.GMRES, gmres)
	}
	return m, nil
}

// worse makes s the worse of two solutions: one that has not converged, or takes more steps.
func (s *solution) worse(first bool, t solution) {
	if first || (s.Steps > 0 && (t.Steps == 0 || t.Steps > s.Steps)) || s.Steps == 0 && t.Steps == 0 && t.Error > s.Error {
		*s = t
	}
}

// String is the solution in a table.
func (s solution) String() string {
	steps := fmt.Sprint(s.Steps)
	if s.Inner > 0 {
		steps = fmt.Sprintf("%d/%d", s.Steps, s.Inner)
	}
	if s.Steps == 0 {
		steps = "at " + s.Error.String()
	}
	return steps
}

// report makes the tables and the plots.
func (s *solve) report(units []unit, all []solved) *Result {
	columns := s.matrices()
	const note = "at ...: it stagnates with this backward error."
	of := "of matrices by their condition"
	if s.given != nil {
		of = "of the matrix"
	}
	table := func(name, title, note string, cell func(m *solved, n int) any) Table {
		t := Table{Name: name, Title: fmt.Sprintf("%s %s, %d rows", title, of, s.size), Note: note, Head: append([]string{"unit"}, columns...)}
		for i, u := range units {
			row := []any{u.name}
			for n := range columns {
				row = append(row, cell(&all[i], n))
			}
			t.add(row...)
		}
		return t
	}
	res := &Result{Tables: []Table{
		table("ir", "Steps of iterative refinement", note, func(m *solved, n int) any { return m.IR[n].String() }),
		table("gmres", "Steps of GMRES-IR / of GMRES in all,", note, func(m *solved, n int) any { return m.GMRES[n].String() }),
		table("factors", "Relative error of the factors", "", func(m *solved, n int) any { return m.Factors[n] }),
	}}
	if s.given != nil {
		return res
	}
	ends := Plot{Name: "ir", Title: "Iterative refinement: backward error at the end", Kind: "lines", X: "condition", Y: "backward error", LogX: true, LogY: true}
	steps := Plot{Name: "gmres", Title: "GMRES-IR: steps of GMRES in all, where it converges", Kind: "lines", X: "condition", Y: "steps", LogX: true}
	for i, u := range units {
		end, inner := Series{Name: u.inst().A.String() + " " + u.name}, Series{Name: u.inst().A.String() + " " + u.name}
		for n := range columns {
			condition := Number(math.Pow(10, float64(n+1)))
			end.X, end.Y = append(end.X, condition), append(end.Y, all[i].IR[n].Error)
			if g := all[i].GMRES[n]; g.Steps > 0 {
				inner.X, inner.Y = append(inner.X, condition), append(inner.Y, Number(g.Inner))
			}
		}
		ends.Series, steps.Series = append(ends.Series, end), append(steps.Series, inner)
	}
	res.Plots = []Plot{ends, steps}
	return res
}

// readSquare reads a matrix from a .npy file.
func readSquare(name string) (*square, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	m, err := npy.Read(file, 8*mostSize*mostSize)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case m.Kind != 'f' || m.Rows != m.Columns || m.Rows < 2 || m.Rows > mostSize:
		return nil, fmt.Errorf("%s: it has to be a square matrix of floating-point numbers, of 2 to %d rows", name, mostSize)
	}
	a := &square{m.Rows, make([]float64, m.Rows*m.Rows)}
	for i := range a.n {
		for j := range a.n {
			v := m.Float64(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%s: row %d, column %d is not finite", name, i, j)
			}
			a.row(i)[j] = v
		}
	}
	return a, nil
}

// square is a matrix by rows.
type square struct {
	n  int
	at []float64
}

func (a *square) row(i int) []float64 { return a.at[i*a.n:][:a.n] }

// times is A*x.
func (a *square) times(x []float64) []float64 {
	y := make([]float64, a.n)
	for i := range y {
		y[i] = dot(a.row(i), x)
	}
	return y
}

// norm is the maximum norm: the largest sum of magnitudes of a row.
func (a *square) norm() float64 {
	most := 0.0
	for i := range a.n {
		sum := 0.0
		for _, v := range a.row(i) {
			sum += math.Abs(v)
		}
		most = max(most, sum)
	}
	return most
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i] * y[i]) // not fused, on no processor
	}
	return sum
}

func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}

// randomMatrix is a matrix of a condition: singular values in geometric progression between
// two random orthogonal matrices (Higham, Accuracy and Stability, 28.3, mode 3).
func randomMatrix(rng *rand.Rand, n int, condition float64) *square {
	u, v := randomOrthogonal(rng, n), randomOrthogonal(rng, n)
	a := &square{n, make([]float64, n*n)}
	for k := range n {
		sigma := math.Pow(condition, -float64(k)/float64(n-1))
		for i := range n {
			row, w := a.row(i), u.row(k)[i]*sigma
			for j := range n {
				row[j] += float64(w * v.row(k)[j])
			}
		}
	}
	return a
}

// randomOrthogonal orthogonalizes random rows, each twice, which is enough (Kahan; Parlett).
func randomOrthogonal(rng *rand.Rand, n int) *square {
	q := &square{n, make([]float64, n*n)}
	for i := range n {
		row := q.row(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for range 2 {
			for k := range i {
				subtract(row, q.row(k), dot(row, q.row(k)))
			}
			scale(row, 1/math.Sqrt(dot(row, row)))
		}
	}
	return q
}

// subtract subtracts a multiple of y from x.
func subtract(x, y []float64, times float64) {
	for i := range x {
		x[i] -= float64(times * y[i])
	}
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}
