package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/npy"
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
	units, done, err := r.askable(ctx, func(i *mma.Instruction) bool { return chains(i) })
	if err != nil {
		return nil, err
	}
	defer done()
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
	found, err := r.journal.find(u.name, &was, func() error { return nil })
	if err != nil {
		return nil, err
	}
	if found {
		if m, err := readMatrix(file); err == nil && m.Rows == g.m && m.Columns == g.n && m.Width == f.Width() && digest(m.Data) == was {
			return &product{f, m.Data}, nil
		}
	}
	d, err := g.multiply(ctx, u, r)
	if err != nil {
		return nil, err
	}
	if err := r.journal.begin(); err != nil { // it shows who has written the file
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

// blockSide is the number of rows and of columns of the blocks of D that a goroutine
// computes at a time.
const blockSide = 64

// multiply computes D, row after row.
func (g *gemm) multiply(ctx context.Context, u *unit, r *Request) ([]byte, error) {
	i := u.inst()
	parts := g.slices((g.k + i.K - 1) / i.K)
	a, err := g.arrange(ctx, 0, i, parts)
	if err != nil {
		return nil, err
	}
	b, err := g.arrange(ctx, 1, i, parts)
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

// addCodes adds the numbers of y to those of x, each sum rounded once to nearest. For
// formats narrower than FP64, a float64 holds the sum exactly or has so many more bits than
// the format that rounding twice gives the same as rounding once (Figueroa 1995).
func addCodes(x, y []byte, id fp.ID) {
	f, w := id.Get(), id.Width()
	for n := range len(x) / w {
		sum := f.Float64(mma.Load(x, w, n)) + f.Float64(mma.Load(y, w, n))
		mma.Store(x, w, n, encode(f, sum))
	}
}
