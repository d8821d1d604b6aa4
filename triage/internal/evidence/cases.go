package evidence

import (
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Cases are dot products, packed for models, with the unit's results or others with which
// programs are compared.
type Cases struct {
	Batch  *mma.Batch // tiles of one dot product
	Want   []uint64
	base   []uint64 // results of Evidence.Base; nil: they do not matter
	family []int    // of each case of all evidence: the number of its family
}

// Pack packs cases.
func (e *Evidence) Pack(dots []*mma.Dot, want []uint64) *Cases {
	k := e.K
	if len(dots) > 0 {
		k = len(dots[0].A)
	}
	c := &Cases{Batch: mma.BatchOf(e.Formats, k, dots), Want: want}
	if e.Base != nil && e.Policy.NaN == oracle.Bits && len(want) > 0 {
		c.base = e.results(e.Base, c.Batch)
	}
	return c
}

// results returns what a model computes of a batch.
func (e *Evidence) results(m *sim.Model, b *mma.Batch) []uint64 {
	w, codes := e.D.Width(), make([]uint64, b.Dots())
	out := make([]byte, len(codes)*w)
	inParts{e, m}.Run(b, out)
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes
}

// Predicted packs dot products with the results of a program.
func (e *Evidence) Predicted(p *mma.Params, dots []*mma.Dot) (*Cases, error) {
	m, err := sim.New(e.Formats, e.K, *p)
	if err != nil {
		return nil, err
	}
	c := e.Pack(dots, nil)
	c.Want = e.results(m, c.Batch)
	return c, nil
}

// Pick packs chosen cases of all.
func (e *Evidence) Pick(index []int) *Cases {
	all := e.All()
	c := &Cases{Batch: mma.NewBatch(e.Formats, mma.Shape{M: 1, N: 1, K: all.Batch.K, Tiles: len(index)}), Want: make([]uint64, len(index))}
	for n, i := range index {
		c.Batch.Take(n, all.Batch, i)
		c.Want[n] = all.Want[i]
		if all.base != nil {
			c.base = append(c.base, all.base[i])
		}
	}
	return c
}

// Part returns n cases from a number on.
func (c *Cases) Part(from, n int) *Cases {
	part := &Cases{Batch: c.Batch.Part(from, n), Want: c.Want[from : from+n]}
	if c.base != nil {
		part.base = c.base[from : from+n]
	}
	return part
}

// growing returns the cases in batches of growing size.
func (c *Cases) growing() []*Cases {
	var parts []*Cases
	for from, n := 0, 8; from < len(c.Want); n *= 3 {
		part := c.Part(from, min(n, len(c.Want)-from))
		parts = append(parts, part)
		from += len(part.Want)
	}
	return parts
}

// Split returns, in batches of growing size, all cases that are marked and all others.
func (e *Evidence) Split(marked []bool) (those, others []*Cases) {
	var with, without []int
	for i, m := range marked {
		if m {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	return e.Pick(with).growing(), e.Pick(without).growing()
}
