package sim

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Sweep runs many programs, one after the other, on the same few inputs. It is the
// general interpreter without what a Model prepares for long runs, and decodes the
// operands of a batch once for all programs that read them in the same way. It is for
// one goroutine, and a batch that it has run must not change.
type Sweep struct {
	m       Model
	x       *machine
	orders  map[mma.Order][]int
	decoded map[reading][]tile
}

// reading is a batch and everything on which the decoding of its operands depends.
type reading struct {
	batch *mma.Batch
	in    mma.Input // without what concerns c, accumulators or parts
	exp   mma.ProdExp
	parts bool
}

// readingOf is how a program reads the operands of a batch.
func readingOf(in *mma.Batch, p *mma.Params) reading {
	how := reading{in, p.In, p.Prod.Exp, p.Passes != 0}
	how.in.C, how.in.Acc, how.in.NarrowC, how.in.Rest = mma.KeepSub, mma.KeepSub, mma.Narrow{}, false
	return how
}

// NewSweep returns a Sweep for programs of k products. It has no program yet.
func NewSweep(f mma.Formats, k int) *Sweep {
	s := &Sweep{m: Model{formats: f, k: k}, orders: map[mma.Order][]int{}, decoded: map[reading][]tile{}}
	s.x = newMachine(&s.m)
	return s
}

// Use makes p the program of the next Run, or returns an error if it is not valid.
func (s *Sweep) Use(p *mma.Params) error {
	if err := p.Validate(s.m.formats, s.m.k); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	x := s.x
	s.m.params = *p
	if s.orders[p.Order] == nil {
		s.orders[p.Order] = mma.Sequence(p.Order, s.m.k)
	}
	s.m.order, s.m.merge = s.orders[p.Order], p.Merge.Distances()
	s.m.passes = p.Passes.List()
	x.prepare()
	lanes := max(1, int(p.Lanes))
	if cap(x.lanes) < lanes {
		x.lanes = make([]term, lanes)
	}
	x.lanes = x.lanes[:lanes]
	return nil
}

// Run is Model.Run of the program in use.
func (s *Sweep) Run(in *mma.Batch, out []byte) {
	how := readingOf(in, &s.m.params)
	tiles := s.decoded[how]
	if tiles == nil {
		tiles = make([]tile, in.Tiles)
		for t := range tiles {
			s.x.rows = tile{}
			s.x.loadTile(in, t)
			tiles[t] = s.x.rows
		}
		s.decoded[how] = tiles
	}
	width, n := s.m.formats.D.Width(), in.M*in.N
	for t := range tiles {
		s.x.rows = tiles[t]
		for i := range n {
			s.x.loadOutput(in, t, i)
			mma.Store(out, width, t*n+i, s.x.run())
		}
	}
}
