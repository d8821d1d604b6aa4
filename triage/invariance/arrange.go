package invariance

import (
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ask returns the results of dot products that are asked for in a way.
func (q *Questions) ask(a arrangement, dots []*mma.Dot) ([]uint64, error) {
	if a.alone {
		var all []uint64
		for i := range dots {
			codes, err := q.tiles(a, dots[i:i+1])
			if err != nil {
				return nil, err
			}
			all = append(all, codes...)
		}
		return all, nil
	}
	codes, err := q.tiles(a, dots)
	if err != nil {
		return nil, err
	}
	size := a.m * a.n
	for i := range dots {
		codes[i] = codes[i*size+a.place]
	}
	return codes[:len(dots)], nil
}

// tiles returns the results of all outputs of a tile for each dot product, which has all places of
// it, or one beside neighbours.
func (q *Questions) tiles(a arrangement, dots []*mma.Dot) ([]uint64, error) {
	f := q.inst.Formats
	in := mma.NewBatch(f, mma.Shape{M: a.m, N: a.n, K: q.inst.K, Tiles: len(dots)})
	for t, d := range dots {
		if a.neighbours == "" {
			fill(in, t, func(int) *mma.Dot { return d })
			continue
		}
		sp := gen.Spec{Formats: f, K: q.inst.K}
		g, err := gen.Find(a.neighbours)
		if err != nil {
			return nil, err
		}
		src := g.Aimed(sp)
		fill(in, t, func(o int) *mma.Dot { return src.Dot(sp, q.Seed+1, uint64(o)) })
		in.Set(t*a.m*a.n+a.place, d)
	}
	w := f.D.Width()
	out := make([]byte, in.Dots()*w)
	if err := a.unit.Run(q.ctx, in, out); err != nil {
		return nil, err
	}
	codes := make([]uint64, in.Dots())
	for o := range codes {
		codes[o] = mma.Load(out, w, o)
	}
	return codes, q.ctx.Err()
}

// fill fills a tile: its rows, its columns and every c with those of dot products, by the number
// of a row or a column.
func fill(in *mma.Batch, tile int, dot func(int) *mma.Dot) {
	first := tile * in.M * in.N
	for m := range in.M {
		in.Set(first+m*in.N, dot(m))
	}
	for n := range in.N {
		d := dot(n)
		in.Set(first+n, d)
		for m := range in.M {
			mma.Store(in.C, in.Formats.C.Width(), first+m*in.N+n, d.C)
		}
	}
}
