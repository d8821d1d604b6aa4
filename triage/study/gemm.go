package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var gemmStudy = Study{
	Name:  "gemm",
	Short: "whole matrix products, from .npy files or distributions, on units side by side",
	Long: `gemm computes D = A*B + C on each of the units that are named, of any M, N and K, and
compares the results: norms of the difference, how many elements differ, by how many
representable numbers, and where.

  mmafuzz study gemm sim:hopper/mma.m16n8k16.f32.f16.f16.f32 sim:cdna3/v_mfma_f32_32x32x8_f16 --m 512 --n 512 --k 4096
  mmafuzz study gemm sim:hopper/wgmma.m64n8k16.f32.f16.f16 ref:exact --a A.npy --b B.npy --out product

A is M x K, B is K x N and C is M x N: NumPy arrays of floating-point numbers, which are
rounded to the unit's formats, or of unsigned integers of the format's width, which are
its codes. Without --a and --b the matrices are drawn. With --out the results are written
as D0.npy, D1.npy and so on, in the order of the units.

K is cut into steps of the instruction's K, the last one filled up with zeros. What a
library chooses can be chosen here:

  --order       in which order the steps are taken
  --split-k     the steps are divided among so many accumulators, which start from zero,
                the first one from C; each is rounded as the instruction does
  --split       how: contiguous runs, or interleaved (every n-th step)
  --promote     instead, a new accumulator after so many steps: what libraries do for FP8
  --reduce      how accumulators are added, to nearest in D's format: sequential, pairwise`,
	Count: 1,
	New: func(f *pflag.FlagSet) Runner {
		g := &gemm{}
		f.StringVar(&g.files[0], "a", "", "`file` of A")
		f.StringVar(&g.files[1], "b", "", "`file` of B")
		f.StringVar(&g.files[2], "c", "", "`file` of C (default: zeros)")
		f.StringVar(&g.dist, "dist", "normal", "`distribution` of A and B: "+strings.Join(matrixDistributions(), ", "))
		f.IntVar(&g.m, "m", 256, "`rows` of A that are drawn")
		f.IntVar(&g.n, "n", 256, "`columns` of B that are drawn")
		f.IntVar(&g.k, "k", 1024, "`columns` of A that are drawn")
		f.StringVar(&g.order, "order", "ascending", "`order` of the steps of K: ascending or descending")
		f.IntVar(&g.splits, "split-k", 1, "`number` of accumulators that share the steps")
		f.StringVar(&g.split, "split", "contiguous", "`how` the steps are shared: contiguous or interleaved")
		f.IntVar(&g.promote, "promote", 0, "`steps` after which a new accumulator begins (0: none)")
		f.StringVar(&g.reduce, "reduce", "sequential", "`how` accumulators are added: sequential or pairwise")
		return g
	},
}

// gemm are the settings.
type gemm struct {
	files          [3]string // of A, B and C
	dist           string
	m, n, k        int
	order          string
	splits         int
	split          string
	promote        int
	reduce         string
	matrices       [3]*npy.Matrix
	distributionOf distribution
	seed           uint64
}

// maxElements bounds each of the matrices.
const maxElements = 1 << 28

// matrixKinds are the distributions of --dist.
var matrixKinds = []distribution{
	standardNormal,
	{"uniform", func(rng *rand.Rand) float64 { return 2*rng.Float64() - 1 }},
	positive,
	{"dnn", func(rng *rand.Rand) float64 {
		v := rng.NormFloat64()
		if rng.IntN(1000) == 0 {
			v += 10 * rng.NormFloat64()
		}
		return v
	}},
}

func matrixDistributions() []string {
	var names []string
	for _, d := range matrixKinds {
		names = append(names, d.name)
	}
	return names
}

// check checks the settings.
func (g *gemm) check() error {
	word := func(flag, value string, words ...string) error {
		if slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("--%s is %q, not %s", flag, value, strings.Join(words, " or "))
	}
	for _, err := range []error{
		word("dist", g.dist, matrixDistributions()...), word("order", g.order, "ascending", "descending"),
		word("split", g.split, "contiguous", "interleaved"), word("reduce", g.reduce, "sequential", "pairwise"),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case (g.files[0] == "") != (g.files[1] == ""):
		return errors.New("--a and --b go together")
	case g.m < 1 || g.n < 1 || g.k < 1 || g.m*g.k > maxElements || g.n*g.k > maxElements || g.m*g.n > maxElements || max(g.m, g.n, g.k) > maxElements:
		return fmt.Errorf("--m %d, --n %d and --k %d: each is at least 1, and each matrix has at most %d elements", g.m, g.n, g.k, maxElements)
	case g.splits < 1 || g.promote < 0:
		return fmt.Errorf("--split-k is %d and --promote %d; at least 1 and 0 are needed", g.splits, g.promote)
	case g.splits > 1 && g.promote > 0:
		return errors.New("--split-k and --promote exclude each other")
	}
	return nil
}

// load reads the files and sets the sizes.
func (g *gemm) load() error {
	for i, name := range g.files {
		if name == "" {
			continue
		}
		var err error
		if g.matrices[i], err = readMatrix(name); err != nil {
			return err
		}
	}
	if a, b := g.matrices[0], g.matrices[1]; a != nil {
		if a.Columns != b.Rows {
			return fmt.Errorf("%s is %d x %d and %s is %d x %d: they have no product", g.files[0], a.Rows, a.Columns, g.files[1], b.Rows, b.Columns)
		}
		g.m, g.n, g.k = a.Rows, b.Columns, a.Columns
	}
	if c := g.matrices[2]; c != nil && (c.Rows != g.m || c.Columns != g.n) {
		return fmt.Errorf("%s is %d x %d, but the product is %d x %d", g.files[2], c.Rows, c.Columns, g.m, g.n)
	}
	if g.m < 1 || g.n < 1 || g.k < 1 {
		return fmt.Errorf("a product of %d x %d and %d x %d has no elements, or no terms", g.m, g.k, g.k, g.n)
	}
	return nil
}

// readMatrix reads a matrix from a file.
func readMatrix(name string) (*npy.Matrix, error) {
	f, err := corpus.Open(name, "matrix", maxElements*8+1<<17)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := npy.Read(f, maxElements*8)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// Run makes the study.
func (g *gemm) Run(ctx context.Context, r *Request) (*Result, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	g.seed = r.Seed
	g.distributionOf = matrixKinds[slices.Index(matrixDistributions(), g.dist)]
	if len(r.Targets) == 0 {
		return nil, errors.New("name the units, such as sim:hopper/mma.m16n8k16.f32.f16.f16.f32 and ref:exact")
	}
	units, done, err := r.units(func(i *mma.Instruction) bool { return chains(i) })
	if err != nil {
		return nil, err
	}
	defer done()
	if err := asked(units); err != nil {
		return nil, err
	}
	const most = 16
	if len(units) > most {
		return nil, fmt.Errorf("these are %d units; name instructions, %d at most", len(units), most)
	}
	if err := g.load(); err != nil {
		return nil, err
	}
	products := make([]*product, len(units))
	for n := range units {
		if products[n], err = g.kept(ctx, &units[n], n, r); err != nil {
			return nil, fmt.Errorf("%s: %w", units[n].name, err)
		}
	}
	return g.report(units, products), nil
}

// product is the codes of a result, row after row, in a format.
type product struct {
	f     fp.ID
	codes []byte
}

// kept returns a unit's product: that of an earlier run, if its file is what it was.
func (g *gemm) kept(ctx context.Context, u *unit, n int, r *Request) (*product, error) {
	f := u.inst().D
	if r.Dir == "" {
		d, err := g.multiply(ctx, u, r)
		return &product{f, d}, err
	}
	file := filepath.Join(r.Dir, fmt.Sprintf("D%d.npy", n))
	inputs, err := g.digest()
	if err != nil {
		return nil, err
	}
	digest := func(d []byte) string {
		h := sha256.New()
		h.Write([]byte(inputs))
		h.Write(d)
		return hex.EncodeToString(h.Sum(nil)[:16])
	}
	var was string
	if r.journal.find(u.name, &was) {
		if m, err := readMatrix(file); err == nil && m.Rows == g.m && m.Columns == g.n && m.Width == f.Width() && digest(m.Data) == was {
			return &product{f, m.Data}, nil
		}
	}
	d, err := g.multiply(ctx, u, r)
	if err != nil {
		return nil, err
	}
	out, err := corpus.Replace(file)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	if err := npy.Write(out, &npy.Matrix{Rows: g.m, Columns: g.n, Float: true, Width: f.Width(), Data: d}); err != nil {
		return nil, err
	}
	if err := out.Commit(); err != nil {
		return nil, err
	}
	return &product{f, d}, r.journal.keep(u.name, digest(d))
}

// digest identifies the contents of the files.
func (g *gemm) digest() (string, error) {
	h := sha256.New()
	for _, m := range g.matrices {
		if m != nil {
			fmt.Fprintln(h, m.Rows, m.Columns, m.Float, m.Width)
			h.Write(m.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// slices returns, for each accumulator, the numbers of the steps that it takes, in order.
func (g *gemm) slices(steps int) [][]int {
	n := min(g.splits, steps)
	if g.promote > 0 {
		n = (steps + g.promote - 1) / g.promote
	}
	all := make([][]int, n)
	for s := range steps {
		at := s
		if g.order == "descending" {
			at = steps - 1 - s
		}
		i := s * n / steps
		switch {
		case g.promote > 0:
			i = s / g.promote
		case g.split == "interleaved":
			i = s % n
		}
		all[i] = append(all[i], at)
	}
	return all
}

// arranged is a matrix as a unit takes it: for each accumulator, rows of its steps.
type arranged struct {
	codes, scales [][]byte // by accumulator
}

// sides of the blocks of D that a goroutine computes at a time.
const blockSide = 64

// multiply computes D, row after row.
func (g *gemm) multiply(ctx context.Context, u *unit, r *Request) ([]byte, error) {
	i := u.inst()
	parts := g.slices((g.k + i.K - 1) / i.K)
	a, err := g.arrange(0, i, parts)
	if err != nil {
		return nil, err
	}
	b, err := g.arrange(1, i, parts)
	if err != nil {
		return nil, err
	}
	w := i.D.Width()
	d := make([]byte, g.m*g.n*w)
	type block struct{ row, column int }
	var blocks []block
	for row := 0; row < g.m; row += blockSide {
		for column := 0; column < g.n; column += blockSide {
			blocks = append(blocks, block{row, column})
		}
	}
	workers := r.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	work := make(chan block)
	for range min(workers, len(blocks)) {
		wait.Go(func() {
			for at := range work {
				if ctx.Err() != nil {
					continue
				}
				if err := g.block(ctx, u, a, b, parts, at.row, at.column, d); err != nil {
					cancel(err)
				}
				mu.Lock()
				if done++; r.Progress != nil {
					r.Progress(done, len(blocks), u.name)
				}
				mu.Unlock()
			}
		})
	}
	for _, at := range blocks {
		work <- at
	}
	close(work)
	wait.Wait()
	return d, context.Cause(ctx)
}

// block computes a block of D.
func (g *gemm) block(ctx context.Context, u *unit, a, b *arranged, parts [][]int, row, column int, d []byte) error {
	i := u.inst()
	rows, columns := min(blockSide, g.m-row), min(blockSide, g.n-column)
	w := i.D.Width()
	sums := make([][]byte, len(parts))
	for s := range parts {
		k := len(parts[s]) * i.K
		in := &mma.Batch{Formats: i.Formats, Shape: mma.Shape{M: rows, N: columns, K: k, Tiles: 1}}
		wa, wb := k*i.A.Width(), k*i.B.Width()
		in.A, in.B = a.codes[s][row*wa:][:rows*wa], b.codes[s][column*wb:][:columns*wb]
		if i.Scale != fp.None {
			ws := i.Blocks(k) * i.Scale.Width()
			in.SA, in.SB = a.scales[s][row*ws:][:rows*ws], b.scales[s][column*ws:][:columns*ws]
		}
		if i.C != fp.None {
			in.C = make([]byte, rows*columns*i.C.Width())
			if m := g.matrices[2]; m != nil && s == 0 {
				if err := g.putC(in.C, i.C, row, column, rows, columns); err != nil {
					return err
				}
			}
		} else if g.matrices[2] != nil {
			return errors.New("the instruction takes no C: leave --c out")
		}
		sums[s] = make([]byte, rows*columns*w)
		if err := u.Run(ctx, in, sums[s]); err != nil {
			return err
		}
	}
	sum := g.reduced(sums, i.D)
	for n := range rows {
		copy(d[((row+n)*g.n+column)*w:][:columns*w], sum[n*columns*w:])
	}
	return nil
}

// putC writes a block of C.
func (g *gemm) putC(buf []byte, id fp.ID, row, column, rows, columns int) error {
	m := g.matrices[2]
	read, err := elementsOf(m, id)
	if err != nil {
		return fmt.Errorf("%s: %w", g.files[2], err)
	}
	for x := range rows * columns {
		mma.Store(buf, id.Width(), x, read(row+x/columns, column+x%columns))
	}
	return nil
}

// elementsOf returns what reads elements of a matrix as codes of a format.
func elementsOf(m *npy.Matrix, id fp.ID) (func(row, column int) uint64, error) {
	f := id.Get()
	switch {
	case m.Float:
		return func(row, column int) uint64 { return encode(f, m.Float64(row, column)) }, nil
	case m.Width != int(f.Width):
		return nil, fmt.Errorf("integers of %d bytes are no codes of %s, which have %d", m.Width, f.Name, f.Width)
	}
	return func(row, column int) uint64 { return m.Code(row, column) & f.CodeMask() }, nil
}

// reduced adds the results of the accumulators.
func (g *gemm) reduced(sums [][]byte, id fp.ID) []byte {
	for len(sums) > 1 {
		if g.reduce == "sequential" {
			addCodes(sums[0], sums[1], id)
			sums = append(sums[:1], sums[2:]...)
			continue
		}
		var next [][]byte
		for n := 0; n < len(sums); n += 2 {
			if n+1 < len(sums) {
				addCodes(sums[n], sums[n+1], id)
			}
			next = append(next, sums[n])
		}
		sums = next
	}
	return sums[0]
}

// addCodes adds the numbers of y to those of x, each sum rounded once to nearest. Formats
// narrower than FP64 have sums that float64 holds exactly, or with so many bits more that
// rounding twice is rounding once (Figueroa 1995).
func addCodes(x, y []byte, id fp.ID) {
	f, w := id.Get(), id.Width()
	for n := range len(x) / w {
		sum := f.Float64(mma.Load(x, w, n)) + f.Float64(mma.Load(y, w, n))
		mma.Store(x, w, n, encode(f, sum))
	}
}

// arrange makes A (which 0) or B (1) ready for a unit.
func (g *gemm) arrange(which int, i *mma.Instruction, parts [][]int) (*arranged, error) {
	lines, id := g.m, i.A
	if which == 1 {
		lines, id = g.n, i.B
	}
	padded := (g.k + i.K - 1) / i.K * i.K
	q := quantizer{id.Get(), i.Scale, int(i.Block)}
	w, perStep, scales := id.Width(), i.K*id.Width(), 0
	if i.Scale != fp.None {
		scales = i.Blocks(i.K) * i.Scale.Width()
	}
	line := make([]byte, padded*w)
	lineScales := make([]byte, padded/i.K*scales)
	values := make([]float64, padded)
	out := &arranged{make([][]byte, len(parts)), make([][]byte, len(parts))}
	for s, steps := range parts {
		out.codes[s] = make([]byte, lines*len(steps)*perStep)
		out.scales[s] = make([]byte, lines*len(steps)*scales)
	}
	m := g.matrices[which]
	var read func(row, column int) uint64
	if m != nil && !m.Float {
		var err error
		if read, err = elementsOf(m, id); err != nil {
			return nil, fmt.Errorf("%s: %w", g.files[which], err)
		}
		if scales > 0 {
			return nil, fmt.Errorf("%s has codes, but no scales for them: give floating-point numbers", g.files[which])
		}
	}
	for n := range lines {
		if read != nil {
			for k := range g.k {
				row, column := n, k
				if which == 1 {
					row, column = k, n
				}
				mma.Store(line, w, k, read(row, column))
			}
		} else {
			g.line(which, n, values[:g.k])
			putQuantized(&q, line, lineScales, values, false)
		}
		for s, steps := range parts {
			for x, step := range steps {
				copy(out.codes[s][(n*len(steps)+x)*perStep:], line[step*perStep:][:perStep])
				copy(out.scales[s][(n*len(steps)+x)*scales:], lineScales[step*scales:][:scales])
			}
		}
	}
	return out, nil
}

// line fills values with row n of A, or column n of B.
func (g *gemm) line(which, n int, values []float64) {
	if m := g.matrices[which]; m != nil {
		for k := range values {
			if which == 0 {
				values[k] = m.Float64(n, k)
			} else {
				values[k] = m.Float64(k, n)
			}
		}
		return
	}
	rng := rand.New(rand.NewPCG(g.seed, uint64(which)<<32+uint64(n)))
	for k := range values {
		values[k] = g.distributionOf.draw(rng)
	}
}

// difference is how two products of a format differ.
type difference struct {
	differ        int     // elements
	max           float64 // of |x - y|, of numbers
	norm          float64 // Frobenius norm of x - y, divided by that of x
	classes       [20]int // by distance in representable numbers: 0, 1, 2..3, 4..7, ...
	most          uint64  // distance
	heat          [][]Number
	rows, columns int // of heat
}

// heatSide is the most rows and columns of a heat map.
const heatSide = 12

// compareProducts compares two products.
func (g *gemm) compareProducts(x, y *product) *difference {
	d := &difference{rows: min(heatSide, g.m), columns: min(heatSide, g.n)}
	count := make([][]int, d.rows)
	d.heat = make([][]Number, d.rows)
	for i := range d.heat {
		d.heat[i], count[i] = make([]Number, d.columns), make([]int, d.columns)
	}
	f, w := x.f.Get(), x.f.Width()
	var num, den float64
	for n := range g.m * g.n {
		cx, cy := mma.Load(x.codes, w, n), mma.Load(y.codes, w, n)
		i, j := n/g.n*d.rows/g.m, n%g.n*d.columns/g.n
		count[i][j]++
		vx := f.Float64(cx)
		if !math.IsNaN(vx) && !math.IsInf(vx, 0) {
			den += vx * vx
		}
		if cx == cy {
			d.classes[0]++
			continue
		}
		d.differ++
		d.heat[i][j]++
		if v := math.Abs(vx - f.Float64(cy)); !math.IsNaN(v) && !math.IsInf(v, 0) {
			d.max = max(d.max, v)
			num += v * v
		}
		steps := distance(f, cx, cy)
		d.most = max(d.most, steps)
		class := 0
		for s := steps; s > 0 && class < len(d.classes)-1; s >>= 1 {
			class++
		}
		d.classes[class]++
	}
	for i := range d.heat {
		for j := range d.heat[i] {
			d.heat[i][j] /= Number(max(1, count[i][j]))
		}
	}
	if num > 0 {
		d.norm = math.Sqrt(num / den)
	}
	return d
}

// distance is how many representable numbers two codes are apart; zeros of both signs are
// one number.
func distance(f *fp.Format, x, y uint64) uint64 {
	place := func(c uint64) int64 {
		if c&f.SignBit() != 0 {
			return -int64(c &^ f.SignBit())
		}
		return int64(c)
	}
	a, b := place(x), place(y)
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// report compares the products.
func (g *gemm) report(units []unit, products []*product) *Result {
	res := &Result{}
	t := Table{Name: "products", Title: fmt.Sprintf("Products of %d x %d and %d x %d", g.m, g.k, g.k, g.n), Head: []string{"unit", "formats", "k of a step", "steps", "accumulators", "Frobenius norm", "no numbers"}}
	for n, u := range units {
		norm, lost := norms(products[n])
		steps := (g.k + u.inst().K - 1) / u.inst().K
		t.add(u.name, u.inst().Formats.String(), u.inst().K, steps, len(g.slices(steps)), norm, lost)
	}
	c := Table{Name: "differences", Title: "How the products differ", Note: "norm: that of A's product minus B's, divided by that of A's. ulp: representable numbers between two elements.",
		Head: []string{"A", "B", "differ %", "largest |A-B|", "norm", "largest ulp"}}
	for i := range units {
		for j := i + 1; j < len(units); j++ {
			if products[i].f != products[j].f {
				continue
			}
			d := g.compareProducts(products[i], products[j])
			c.add(units[i].name, units[j].name, 100*float64(d.differ)/float64(g.m*g.n), d.max, d.norm, readable.Ulps(float64(d.most)))
			res.Remarks = append(res.Remarks, fmt.Sprintf("%s and %s differ in %s of %s elements, by %s of the norm.", units[i].name, units[j].name,
				readable.Count(uint64(d.differ)), readable.Count(uint64(g.m*g.n)), Number(d.norm)))
			res.Plots = append(res.Plots, d.plots(units[i].name, units[j].name, g)...)
		}
	}
	res.Tables = []Table{t}
	if len(c.Rows) > 0 {
		res.Tables = append(res.Tables, c)
	}
	return res
}

// plots are the histogram in ulp and the heat map of two products.
func (d *difference) plots(a, b string, g *gemm) []Plot {
	between := a + " and " + b
	bars := Series{Name: "elements"}
	for n, count := range d.classes {
		bars.X, bars.Y = append(bars.X, Number(n)), append(bars.Y, Number(count))
	}
	last := len(d.classes) - 1
	for last > 1 && d.classes[last] == 0 {
		last--
	}
	bars.X, bars.Y = bars.X[:last+1], bars.Y[:last+1]
	heat := Plot{Name: "where", Title: "Where " + between + " differ", Kind: "heat", X: "share of elements that differ, per cent; rows and columns by their first one", Values: d.heat}
	for i := range d.rows {
		heat.Rows = append(heat.Rows, fmt.Sprintf("row %d", (i*g.m+d.rows-1)/d.rows))
	}
	for j := range d.columns {
		heat.Columns = append(heat.Columns, fmt.Sprint((j*g.n+d.columns-1)/d.columns))
	}
	return []Plot{
		{Name: "ulp", Title: "By how much " + between + " differ", Kind: "bars", X: "bits of the distance in ulp (0: equal, n: from 2^(n-1))", Y: "elements", Series: []Series{bars}},
		heat,
	}
}

// norms returns the Frobenius norm of a product's numbers, and how many of its elements
// are none.
func norms(p *product) (norm float64, lost int) {
	f, w := p.f.Get(), p.f.Width()
	for n := range len(p.codes) / w {
		v := f.Float64(mma.Load(p.codes, w, n))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			lost++
			continue
		}
		norm += v * v
	}
	return math.Sqrt(norm), lost
}
