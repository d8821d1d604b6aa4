package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// operands makes the matrices ready for a kernel.
func (g *gemmStudy) operands(ctx context.Context, k *gemmKernel) (*gemm.Operands, error) {
	u := k.unit
	side := schedule.Side(u.D).Get()
	o := &gemm.Operands{Shape: g.shape(), D: u.D, Alpha: side.FromFloat64(g.alpha), Beta: side.FromFloat64(g.beta)}
	var err error
	of := k.kernel
	if of == nil { // a black box
		of = &schedule.Kernel{}
	}
	if o.A, o.SA, o.ScaleA, err = g.lines(ctx, 0, u, of.ScaleA); err != nil {
		return nil, err
	}
	if o.B, o.SB, o.ScaleB, err = g.lines(ctx, 1, u, of.ScaleB); err != nil {
		return nil, err
	}
	c := g.matrices[fileC]
	if c == nil {
		return o, nil
	}
	read, err := c.in(u.D)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.files[fileC], err)
	}
	if !of.AddsC() {
		return nil, fmt.Errorf(`it adds no C: leave --c out, or give the schedule "c_first" or an epilogue with a step that adds C`)
	}
	w := u.D.Width()
	o.C = make([]byte, g.m*g.n*w)
	for n := range g.m * g.n {
		mma.Store(o.C, w, n, read(n/g.n, n%g.n))
	}
	return o, nil
}

// lines returns the rows of A (which 0) or the columns of B (1) as codes of a unit, with its
// scales and those of the kernel.
func (g *gemmStudy) lines(ctx context.Context, which int, u *mma.Instruction, blocks *schedule.Blocks) (codes, scales []byte, kernel []uint64, err error) {
	count, id := g.m, u.A
	if which == 1 {
		count, id = g.n, u.B
	}
	q := quantizer{id.Get(), u.Scale, max(1, int(u.Block))}
	padded := (g.k + q.block - 1) / q.block * q.block
	line, w := make([]byte, padded*id.Width()), id.Width()
	lineScales := make([]byte, padded/q.block*u.Scale.Width())
	values := make([]float64, padded)
	m := g.matrices[which]
	var given []uint64 // scales of files
	if blocks != nil {
		if kernel, err = g.scales(fileScale+which, blocks, count, schedule.Side(u.D)); err != nil {
			return nil, nil, nil, err
		}
	}
	if u.Scale != fp.None {
		if given, err = g.scales(fileUnitScale+which, &schedule.Blocks{Lines: 1, K: q.block}, count, u.Scale); err != nil {
			return nil, nil, nil, err
		}
	}
	var read func(row, column int) uint64
	if m != nil && (m.id == fp.None || m.id == id || kernel != nil || given != nil) {
		if u.Scale != fp.None && given == nil {
			return nil, nil, nil, fmt.Errorf("%s has codes, but no scales for them: give floating-point numbers, or --%s", g.files[which], scaleFlags[fileUnitScale-fileScale+which][0])
		}
		if read, err = m.in(id); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", g.files[which], err)
		}
	}
	s := newScaler(blocks, id, schedule.Side(u.D), count, g.k, read == nil)
	if s.measures() {
		for n := range count {
			s.measure(n, g.line(which, n, values[:g.k]))
		}
	}
	codes = make([]byte, 0, count*g.k*w)
	for n := range count {
		if ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		if read != nil {
			for k := range g.k {
				row, column := n, k
				if which == 1 {
					row, column = k, n
				}
				mma.Store(line, w, k, read(row, column))
			}
		} else {
			s.divide(n, g.line(which, n, values[:g.k]))
			putQuantized(&q, line, lineScales, values, false)
		}
		for i := 0; given != nil && i < padded/q.block; i++ {
			mma.Store(lineScales, u.Scale.Width(), i, given[n*padded/q.block+i])
		}
		codes = append(codes, line[:g.k*w]...)
		scales = append(scales, lineScales...)
	}
	if kernel == nil {
		kernel = s.codes()
	}
	return codes, scales, kernel, nil
}

// scales returns the scales of a file as codes, in the order of schedule.Blocks.Index; nil without a
// file. Rows and columns of the file are as many as blocks, or as elements, or one.
func (g *gemmStudy) scales(file int, b *schedule.Blocks, lines int, id fp.ID) (codes []uint64, err error) {
	m := g.matrices[file]
	if m == nil {
		return nil, nil
	}
	read, err := m.in(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.files[file], err)
	}
	rows, columns := m.sides()
	of, along := read, b.Along(g.k)
	if (file-fileScale)%2 == 1 { // of B: its columns are lines
		of = func(line, k int) uint64 { return read(k, line) }
		rows, columns = columns, rows
	}
	place := func(have, blocks, elements, block int) func(int) int {
		switch {
		case have == 1:
			return func(int) int { return 0 }
		case have == blocks:
			return func(n int) int { return n / max(block, 1) }
		case have == elements:
			return func(n int) int { return n }
		}
		err = fmt.Errorf("%s has %d rows and %d columns: neither 1 nor %d, as many as blocks, nor %d, as many as elements", g.files[file], m.Rows, m.Columns, blocks, elements)
		return nil
	}
	line, k := place(rows, b.Count(lines, g.k)/along, lines, b.Lines), place(columns, along, g.k, b.K)
	if err != nil {
		return nil, err
	}
	codes = make([]uint64, b.Count(lines, g.k))
	set := make([]bool, len(codes))
	for i := range lines {
		for j := range g.k {
			n, code := b.Index(i, j, g.k), of(line(i), k(j))
			if set[n] && codes[n] != code {
				return nil, fmt.Errorf("%s has different scales for elements that share one: those of line %d and k = %d are among them", g.files[file], i, j)
			}
			codes[n], set[n] = code, true
		}
	}
	return codes, nil
}

// unusedScales returns an error if scales of a file are those of no kernel.
func (g *gemmStudy) unusedScales(kernels []*gemmKernel) error {
	has := []func(k *gemmKernel) bool{
		func(k *gemmKernel) bool { return k.kernel != nil && k.kernel.ScaleA != nil },
		func(k *gemmKernel) bool { return k.kernel != nil && k.kernel.ScaleB != nil },
		func(k *gemmKernel) bool { return k.unit.Scale != fp.None },
		func(k *gemmKernel) bool { return k.unit.Scale != fp.None },
	}
	for i, f := range scaleFlags {
		if g.files[fileScale+i] != "" && !slices.ContainsFunc(kernels, has[i]) {
			return fmt.Errorf("--%s: no kernel has %s", f[0], f[1])
		}
	}
	return nil
}

// line fills values with row n of A, or column n of B.
func (g *gemmStudy) line(which, n int, values []float64) []float64 {
	if m := g.matrices[which]; m != nil {
		f := m.id.Get()
		for k := range values {
			if which == 0 {
				values[k] = f.Float64(m.code(n, k))
			} else {
				values[k] = f.Float64(m.code(k, n))
			}
		}
		return values
	}
	rng := rand.New(rand.NewPCG(g.seed, uint64(which)<<32+uint64(n)))
	for k := range values {
		values[k] = g.distributionOf.draw(rng)
	}
	return values
}

// scaler has the scales of a matrix that a kernel multiplies by: those that make the largest
// magnitude of a block the largest number of the operands' format.
type scaler struct {
	b        *schedule.Blocks // nil: there are none
	f, side  *fp.Format
	depth    int
	most     []float64 // largest magnitudes
	of       []float64 // scales
	measured bool
}

// newScaler returns the scaler of a matrix. Without measuring all scales are 1.
func newScaler(b *schedule.Blocks, id, side fp.ID, lines, depth int, measuring bool) *scaler {
	s := &scaler{b: b, f: id.Get(), side: side.Get(), depth: depth, measured: !measuring}
	if b != nil {
		s.most, s.of = make([]float64, b.Count(lines, depth)), make([]float64, b.Count(lines, depth))
		for i := range s.of {
			s.of[i] = 1
		}
	}
	return s
}

// measures reports whether scales depend on magnitudes.
func (s *scaler) measures() bool { return s.b != nil && !s.measured }

func (s *scaler) measure(line int, values []float64) {
	for k, v := range values {
		i := s.b.Index(line, k, s.depth)
		if v = math.Abs(v); v > s.most[i] && !math.IsInf(v, 0) {
			s.most[i] = v
		}
	}
	for i, m := range s.most {
		if m > 0 {
			scale := s.side.Float64(s.side.FromFloat64(m / s.f.Float64(s.f.MaxFinite())))
			s.of[i] = max(scale, s.side.Float64(1)) // not zero
		}
	}
}

// divide divides values by their scales.
func (s *scaler) divide(line int, values []float64) {
	if s.b == nil {
		return
	}
	for k := range values {
		values[k] /= s.of[s.b.Index(line, k, s.depth)]
	}
}

// codes returns the scales as codes.
func (s *scaler) codes() []uint64 {
	var all []uint64
	for _, v := range s.of {
		all = append(all, s.side.FromFloat64(v))
	}
	return all
}
