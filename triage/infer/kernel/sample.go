package kernel

import (
	"cmp"
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// sample is some rows and columns of a product that was asked, with the elements of D that they gave.
// Kernels that may explain the black box are compared with samples: see judge.
type sample struct {
	kind int // of matrices: a number of kinds, or far
	schedule.Shape
	matrices
	d []byte
}

const (
	sampleSide = 8        // rows and columns of a sample, at most
	sampled    = 2048     // elements in all samples of a class, or fewer if their operands would be larger than sampleSize
	sampleSize = 64 << 20 // bytes
)

// sample asks for products of all kinds and keeps some elements of a class.
func (b *box) sample(ctx context.Context, c *class, seed uint64) ([]*sample, error) {
	rows, columns := c.sampled()
	size := b.K * (len(rows)*b.A.Width() + len(columns)*b.B.Width())
	n := max(2*len(kinds), min(sampled/(len(rows)*len(columns)), sampleSize/size))
	samples := make([]*sample, 0, n)
	err := b.each(ctx, n, func(t int, m matrices) {
		b.draw(newDrawer(seed, uint64(t)), t%len(kinds), m)
	}, func(t int, m matrices, d []byte) {
		samples = append(samples, b.part(&sample{t % len(kinds), b.Shape, m, d}, rows, columns))
	})
	return samples, err
}

// sampled returns the rows and columns of a class that its samples have.
func (c *class) sampled() (rows, columns []int) {
	return c.rows[:min(sampleSide, len(c.rows))], c.columns[:min(sampleSide, len(c.columns))]
}

// part returns some rows and columns of a sample.
func (b *box) part(s *sample, rows, columns []int) *sample {
	p := &sample{kind: s.kind, Shape: schedule.Shape{M: len(rows), N: len(columns), K: s.K}}
	for _, row := range rows {
		one := b.lines(s.matrices, row, 0)
		p.a, p.sa = append(p.a, one.a...), append(p.sa, one.sa...)
		for _, column := range columns {
			p.d = append(p.d, s.d[(row*s.N+column)*b.D.Width():][:b.D.Width()]...)
		}
	}
	for _, column := range columns {
		one := b.lines(s.matrices, 0, column)
		p.b, p.sb = append(p.b, one.b...), append(p.sb, one.sb...)
	}
	return p
}

// sampleOnes asks for products whose scales are all one.
func (b *box) sampleOnes(ctx context.Context, c *class, seed uint64) ([]*sample, error) {
	b.ones = true
	defer func() { b.ones = false }()
	return b.sample(ctx, c, seed)
}

// judge compares what kernels give with what was answered.
type judge struct {
	workers int
	id      fp.ID   // of D
	scale   fp.ID   // of the scales of A and B, if they have some
	c       fp.ID   // of C, if there is one
	beta    float64 // by which C may be multiplied
	same    oracle.Comparer
}

// differs returns the elements of a sample in which a kernel differs; an error if it cannot
// compute it.
func (j *judge) differs(ctx context.Context, k *schedule.Kernel, s *sample) ([]int, []byte, error) {
	o := &gemm.Operands{Shape: s.Shape, A: s.a, B: s.b, SA: s.sa, SB: s.sb}
	added := len(s.c) > 0 && k.AddsC()
	if k.ScaleA != nil || added {
		u, err := cmp.Or(k.Unit, k.Schedules[0].Unit).Resolve()
		if err != nil {
			return nil, nil, err
		}
		side := schedule.Side(u.D)
		if k.ScaleA != nil {
			o.ScaleA, o.ScaleB = sideCodes(s.sa, j.scale, side), sideCodes(s.sb, j.scale, side)
		}
		if added {
			if o.C, err = j.cCodes(u.D, s.c); err != nil {
				return nil, nil, err
			}
			o.Beta = side.Get().FromFloat64(j.beta)
		}
	}
	got, id, err := gemm.Multiply(ctx, k, o, gemm.Options{Workers: j.workers})
	if err != nil {
		return nil, nil, err
	}
	if id != j.id {
		return positions(s.M * s.N), nil, nil
	}
	var wrong []int
	w := id.Width()
	for i := range s.M * s.N {
		if x, y := mma.Load(got, w, i), mma.Load(s.d, w, i); x != y && j.same.Compare(x, y) != oracle.Same {
			wrong = append(wrong, i)
		}
	}
	return wrong, got, nil
}

// right reports whether a kernel gives the results of all samples of some kinds, or of all kinds if none is named.
func (j *judge) right(ctx context.Context, k *schedule.Kernel, samples []*sample, of ...int) bool {
	return j.wrongs(ctx, k, samples, 1, of...) == 0
}

// wrongs counts elements of samples in which a kernel differs. It stops at the sample with which it has enough.
func (j *judge) wrongs(ctx context.Context, k *schedule.Kernel, samples []*sample, enough int, of ...int) (n int) {
	for _, s := range samples {
		if len(of) > 0 && !slices.Contains(of, s.kind) {
			continue
		}
		wrong, _, err := j.differs(ctx, k, s)
		if err != nil {
			return s.M * s.N
		}
		if n += len(wrong); n >= enough {
			return n
		}
	}
	return n
}
