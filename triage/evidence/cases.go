package evidence

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Cases are dot products, packed for models, with what the unit answered or another
// result that is to be compared with.
type Cases struct {
	Batch  *mma.Batch // tiles of one dot product
	Want   []uint64
	family []int // of each case of all evidence: the number of its family
}

// Pack packs cases.
func (e *Evidence) Pack(dots []*mma.Dot, want []uint64) *Cases {
	k := e.K
	if len(dots) > 0 {
		k = len(dots[0].A)
	}
	return &Cases{Batch: mma.BatchOf(e.Formats, k, dots), Want: want}
}

// Predicted packs dot products with the results of a program.
func (e *Evidence) Predicted(p *mma.Params, dots []*mma.Dot) (*Cases, error) {
	m, err := sim.New(e.Formats, e.K, *p)
	if err != nil {
		return nil, err
	}
	c := e.Pack(dots, make([]uint64, len(dots)))
	w := e.D.Width()
	out := make([]byte, len(dots)*w)
	m.Run(c.Batch, out)
	for i := range c.Want {
		c.Want[i] = mma.Load(out, w, i)
	}
	return c, nil
}

// Pick packs chosen cases of the whole.
func (e *Evidence) Pick(index []int) *Cases { return e.Whole().pick(index) }

func (c *Cases) pick(index []int) *Cases {
	picked := &Cases{Batch: mma.NewBatch(c.Batch.Formats, mma.Shape{M: 1, N: 1, K: c.Batch.K, Tiles: len(index)}), Want: make([]uint64, len(index))}
	for n, i := range index {
		picked.Batch.Take(n, c.Batch, i)
		picked.Want[n] = c.Want[i]
	}
	return picked
}

// part returns the cases from one number up to another.
func (c *Cases) part(from, to int) *Cases {
	index := make([]int, to-from)
	for i := range index {
		index[i] = from + i
	}
	return c.pick(index)
}
