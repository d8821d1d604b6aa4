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
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/safetensors"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// GEMM is mmafuzz gemm: a study that is a command of its own.
var GEMM = Study{
	Name:  "gemm",
	Short: "whole matrix products as kernels compute them, bit for bit, and why a product differs",
	Long: `gemm computes D = A*B + C, of any M, N and K, as kernels do: a unit, and a schedule that
says in which order, in which accumulators and in which formats the K products are added.

  mmafuzz gemm sim:hopper/mma.m16n8k16.f32.f16.f16.f32 sim:cdna3/v_mfma_f32_32x32x8_f16 --m 512 --n 512 --k 4096
  mmafuzz gemm sim:hopper/wgmma.m64n8k16.f32.f16.f16@split-k ref:exact --a A.npy --b B.npy --out product
  mmafuzz gemm deepgemm cutlass-2xacc fp8-fast --k 7168
  mmafuzz gemm mine.json --a model.safetensors:up --b x.npy --expect D.npy

A kernel is TARGET/INSTRUCTION (one accumulator, K ascending), TARGET/INSTRUCTION@SCHEDULE, or
a SCHEDULE that names its own unit. A SCHEDULE is one of the literature (mmafuzz gemm --list)
or FILE.json; mmafuzz help schedules says what is in the file, and --print NAME prints one to
start from.

A is M x K, B is K x N and C is M x N: NumPy arrays (.npy) or .safetensors files, as FILE or
FILE:NAME. Floating-point numbers and signed integers are rounded to the unit's formats, unless
they have them; unsigned integers of the format's width are codes. Without --a and --b the matrices are
drawn. Scales that a schedule multiplies by are those of the largest magnitude of each
block, or those of --scale-a and --scale-b: matrices with a number for each block, as A and B
lie; what the elements are multiplied by is then in the files, and they are not divided. --unit-scale-a
and --unit-scale-b are the same for the scales that an instruction has (M x K/32 of MX). With
--out the results are written as D0.npy, D1.npy and so on, in the order of the
kernels.

With --expect D.npy every product is compared with D: how many elements differ, by how much
and where; and why: the kernel among those given that has D's bits and the first partial sum
in which another leaves it, or the field of a schedule, or two joined by +, whose change gives the bits of D:

` + labelWords() + `
If there is none, it is unexplained. Two NaNs count as equal here.

Exit status: 0 all products are the same, or with --expect what is expected; 1 some differ.

A target exec: whose instructions have no C is a black box that multiplies whole matrices: each
instruction is a product of its K. mmafuzz run compares kernels and black boxes on products of
many shapes.`,
	Count: 1,
	TargetOf: func(word string) string {
		if nearSchedules(word) != nil {
			return "" // a misspelt schedule, of which the error says so
		}
		target, _ := splitKernel(word)
		return target
	},
	New: func(f *pflag.FlagSet) Runner {
		g := &gemmStudy{}
		f.StringVar(&g.files[0], "a", "", "`file` of A")
		f.StringVar(&g.files[1], "b", "", "`file` of B")
		f.StringVar(&g.files[fileC], "c", "", "`file` of C (default: there is none)")
		f.StringVar(&g.files[fileD], "expect", "", "`file` of D to compare with")
		for i, name := range scaleFlags {
			f.StringVar(&g.files[fileScale+i], name[0], "", "`file` of "+name[1])
		}
		f.BoolVar(&g.transposed, "transpose-b", false, "the file of B has its columns as rows, as the weights of a linear layer have")
		f.Float64Var(&g.alpha, "alpha", 1, "`factor` of A*B, where the schedule has one")
		f.Float64Var(&g.beta, "beta", 1, "`factor` of C, where the schedule has one")
		f.StringVar(&g.dist, "dist", "normal", "`distribution` of A and B: "+strings.Join(matrixDistributions(), ", "))
		f.IntVar(&g.m, "m", 256, "`rows` of A that are drawn")
		f.IntVar(&g.n, "n", 256, "`columns` of B that are drawn")
		f.IntVar(&g.k, "k", 1024, "`columns` of A that are drawn")
		f.StringVar(&g.schedule, "schedule", "plain", "`schedule` of kernels that name none")
		return g
	},
}

// labelWords lists the labels of differences.
func labelWords() string {
	var b strings.Builder
	for _, l := range kernel.Labels {
		fmt.Fprintf(&b, "  %-10s %s\n", l[0], l[1])
	}
	return b.String()
}

// The files of a product: those of A and B come first.
const (
	fileC = 2 + iota
	fileD
	fileScale     // of A that a schedule multiplies by; that of B follows
	fileScaleB    //
	fileUnitScale // of A that are operands of an instruction; that of B follows
	fileUnitScaleB
	fileCount
)

// scaleFlags are the flags of the files of scales, and what is in these.
var scaleFlags = [][2]string{
	{kernel.ScaleFlags[0], "the scales of A that a schedule multiplies by"},
	{kernel.ScaleFlags[1], "the scales of B that a schedule multiplies by"},
	{kernel.ScaleFlags[2], "the scales of A that an instruction has"},
	{kernel.ScaleFlags[3], "the scales of B that an instruction has"},
}

// gemmStudy are the settings.
type gemmStudy struct {
	files          [fileCount]string
	transposed     bool
	alpha, beta    float64
	dist           string
	m, n, k        int
	schedule       string
	matrices       [fileCount]*fileMatrix
	distributionOf distribution
	seed           uint64
}

// mostDrawn is the largest K of which the order of summation is drawn.
const mostDrawn = 1 << 16

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
func (g *gemmStudy) check() error {
	switch {
	case !slices.Contains(matrixDistributions(), g.dist):
		return fmt.Errorf("--dist is %q, not %s", g.dist, strings.Join(matrixDistributions(), " or "))
	case (g.files[0] == "") != (g.files[1] == ""):
		return errors.New("--a and --b go together")
	case g.transposed && g.files[1] == "":
		return errors.New("--transpose-b is about the file of --b")
	case g.files[0] == "" && slices.ContainsFunc(g.files[fileScale:], func(name string) bool { return name != "" }):
		return errors.New("scales of files go with matrices of files: give --a and --b, too")
	case g.m < 1 || g.n < 1 || g.k < 1 || g.m*g.k > maxElements || g.n*g.k > maxElements || g.m*g.n > maxElements || max(g.m, g.n, g.k) > maxElements:
		return fmt.Errorf("--m %d, --n %d and --k %d: each is at least 1, and each matrix has at most %d elements", g.m, g.n, g.k, maxElements)
	}
	return nil
}

// load reads the files and sets the sizes.
func (g *gemmStudy) load() error {
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
		b.turned = g.transposed
		for _, i := range []int{fileScaleB, fileUnitScaleB} {
			if m := g.matrices[i]; m != nil {
				m.turned = g.transposed
			}
		}
		rows, columns := b.sides()
		if a.Columns != rows {
			err := fmt.Errorf("%s is %d x %d and %s is %d x %d: they have no product", g.files[0], a.Rows, a.Columns, g.files[1], rows, columns)
			if a.Columns == columns && !g.transposed {
				return hint.Add(err, "--transpose-b takes the rows of %s as its columns", g.files[1])
			}
			return err
		}
		g.m, g.n, g.k = a.Rows, columns, a.Columns
	}
	for _, i := range []int{fileC, fileD} {
		if d := g.matrices[i]; d != nil && (d.Rows != g.m || d.Columns != g.n) {
			return fmt.Errorf("%s is %d x %d, but the product is %d x %d", g.files[i], d.Rows, d.Columns, g.m, g.n)
		}
	}
	if g.m < 1 || g.n < 1 || g.k < 1 {
		return fmt.Errorf("a product of %d x %d and %d x %d has no elements, or no terms", g.m, g.k, g.k, g.n)
	}
	return nil
}

// fileMatrix is a matrix of a file.
type fileMatrix struct {
	*npy.Matrix
	id     fp.ID // format of its elements; None: they are codes
	turned bool  // its columns are rows
}

// sides returns the rows and columns.
func (m *fileMatrix) sides() (rows, columns int) {
	if m.turned {
		return m.Columns, m.Rows
	}
	return m.Rows, m.Columns
}

// code returns the bits of an element.
func (m *fileMatrix) code(row, column int) uint64 {
	if m.turned {
		row, column = column, row
	}
	return m.Code(row, column)
}

// in returns what reads elements as codes of a format.
func (m *fileMatrix) in(id fp.ID) (func(row, column int) uint64, error) {
	f := id.Get()
	switch {
	case m.id == id:
		return m.code, nil
	case m.id != fp.None:
		from := m.id.Get()
		return func(row, column int) uint64 { return encode(f, from.Float64(m.code(row, column))) }, nil
	case m.Width != int(f.Width):
		return nil, fmt.Errorf("%d-byte integers are no codes of %s, which have %d bytes", m.Width, f.Name, f.Width)
	}
	return func(row, column int) uint64 { return m.code(row, column) & f.CodeMask() }, nil
}

// readMatrix reads a matrix from FILE or FILE.safetensors:NAME.
func readMatrix(name string) (*fileMatrix, error) {
	const kind = ".safetensors"
	file, tensor := name, ""
	if at := strings.Index(name, kind+":"); at >= 0 {
		file, tensor = name[:at+len(kind)], name[at+len(kind)+1:]
	}
	limit := int64(maxElements*8 + 1<<17)
	if strings.HasSuffix(file, kind) {
		limit = math.MaxInt64 // one matrix of it is read
	}
	f, err := corpus.Open(file, "matrix", limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &fileMatrix{}
	if strings.HasSuffix(file, kind) {
		m.Matrix, m.id, err = safetensors.Read(f, tensor, maxElements*8)
	} else if m.Matrix, err = npy.Read(f, maxElements*8); err == nil {
		m.id, err = m.Format()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// Run makes the study.
func (g *gemmStudy) Run(ctx context.Context, r *Request) (*Result, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	g.seed = r.Seed
	g.distributionOf = matrixKinds[slices.Index(matrixDistributions(), g.dist)]
	kernels, done, err := g.kernels(ctx, r)
	if err != nil {
		return nil, err
	}
	defer done()
	const most = 16
	if len(kernels) > most {
		return nil, fmt.Errorf("these are %d kernels; name instructions, %d at most", len(kernels), most)
	}
	if err := g.load(); err != nil {
		return nil, err
	}
	if err := g.unusedScales(kernels); err != nil {
		return nil, err
	}
	for n, k := range kernels {
		if k.product, err = g.kept(ctx, k, n, r); err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
	}
	res := g.report(kernels)
	for _, k := range kernels {
		if k.kernel != nil && g.k <= mostDrawn {
			res.Orders = append(res.Orders, kernel.Orders(k.name, k.kernel, g.shape())...)
		}
	}
	return res, g.expected(ctx, r, kernels, res)
}

// product is the codes of a result, row after row, in a format.
type product struct {
	f     fp.ID
	codes []byte
}

// kept returns a kernel's product: that of an earlier run, if its file is what it was.
func (g *gemmStudy) kept(ctx context.Context, k *gemmKernel, n int, r *Request) (*product, error) {
	if r.Dir == "" {
		return g.multiply(ctx, k, r)
	}
	file := filepath.Join(r.Dir, fmt.Sprintf("D%d.npy", n))
	inputs, err := g.digest(k)
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
	found, err := r.journal.find(k.name, &was, func() error { return nil })
	if err != nil {
		return nil, err
	}
	f := k.result()
	if found {
		if m, err := readMatrix(file); err == nil && m.Rows == g.m && m.Columns == g.n && m.Width == f.Width() && digest(m.Data) == was {
			return &product{f, m.Data}, nil
		}
	}
	d, err := g.multiply(ctx, k, r)
	if err != nil {
		return nil, err
	}
	if err := r.journal.begin(); err != nil { // it shows who has written the file
		return nil, err
	}
	if err := kernel.WriteMatrix(file, f, g.m, g.n, d.codes); err != nil {
		return nil, err
	}
	return d, r.journal.keep(k.name, digest(d.codes))
}

// digest identifies the schedule and the contents of the files.
func (g *gemmStudy) digest(k *gemmKernel) (string, error) {
	h := sha256.New()
	if k.kernel != nil {
		if err := k.kernel.Write(h); err != nil {
			return "", err
		}
	}
	for i, m := range g.matrices {
		if m != nil && i != fileD {
			fmt.Fprintln(h, i, m.Rows, m.Columns, m.id, m.Width)
			h.Write(m.Data)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func (g *gemmStudy) shape() schedule.Shape { return schedule.Shape{M: g.m, N: g.n, K: g.k} }

// multiply computes a product.
func (g *gemmStudy) multiply(ctx context.Context, k *gemmKernel, r *Request) (*product, error) {
	o, err := g.operands(ctx, k)
	if err != nil {
		return nil, err
	}
	if k.kernel == nil {
		d, id, err := k.side(r).Multiply(ctx, o)
		return &product{id, d}, err
	}
	opt := k.options(r)
	if r.Progress != nil {
		opt.Progress = func(done, of int) { r.Progress(done, of, k.name) }
	}
	d, id, err := gemm.Multiply(ctx, k.kernel, o, opt)
	return &product{id, d}, err
}
