package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The questions of this file ask for the same dot products again, later and at other
// places of a tile.

// random returns n dot products of random codes: they are meant to be hard, not
// typical.
func (p *Prober) random(n int) []*mma.Dot {
	r := rand.New(rand.NewPCG(1, 2))
	code := func(f *fp.Format) uint64 { return r.Uint64() & f.CodeMask() }
	dots := make([]*mma.Dot, n)
	for i := range dots {
		d := p.blank()
		for k := range d.A {
			d.A[k] = code(p.a)
		}
		for k := range d.B {
			d.B[k] = code(p.b)
		}
		if p.c != nil {
			d.C = code(p.c)
		}
		dots[i] = d
	}
	return dots
}

// deterministic asks for the same results twice, the second time in the opposite
// order and behind others.
func (p *Prober) deterministic() finding {
	return once(p, "determinism", func() finding {
		dots := p.random(256)
		first := p.ask(dots...)
		others := p.random(4) // after an even number of them no input has its place modulo 2, 4, ... again
		slices.Reverse(dots)
		again := p.ask(append(others, dots...)...)[len(others):]
		slices.Reverse(again)
		codes := nanCodes{p: p}
		for i, s := range first {
			if t := again[i]; codes.differ(s, t) {
				return finding{value: "no", why: fmt.Sprintf("%s, then %s", p.hex(s.Got), p.hex(t.Got)), seen: []Seen{s, t}}
			}
		}
		return codes.finding("256 random inputs")
	})
}

// codesChange is the answer where only the codes of NaNs are others.
const codesChange = "numbers yes, codes of NaNs no"

// nanCodes counts pairs of results of one dot product that are NaNs of different codes.
type nanCodes struct {
	p     *Prober
	count int
	first []Seen
}

// differ reports whether two results of a dot product differ in more than the code of a NaN.
func (n *nanCodes) differ(s, t Seen) bool {
	nan := isClass(fp.NaN, "").is
	if s.Got == t.Got || !nan(n.p, s) || !nan(n.p, t) {
		return s.Got != t.Got
	}
	if n.count++; n.count == 1 {
		n.first = []Seen{s, t}
	}
	return false
}

// finding is the finding of inputs on which no results differ in more than that.
func (n *nanCodes) finding(inputs string) finding {
	if n.count == 0 {
		return finding{value: "yes", why: inputs}
	}
	return finding{codesChange, fmt.Sprintf("%s; %s of another code at another place, such as %s and %s",
		inputs, readable.Plural(n.count, "NaN"), n.p.hex(n.first[0].Got), n.p.hex(n.first[1].Got)), n.first}
}

// positions puts a dot product into every place of tiles of all sizes of the instruction.
func (p *Prober) positions() finding {
	sizes, why := tilesOfSeveral(p.unit.Instruction())
	if why != "" {
		return undecided("%s", why)
	}
	dots := p.random(32)
	if len(sizes) > 1 || sizes[0].M*sizes[0].N > positionsMost {
		dots = dots[:8]
	}
	alone := p.ask(dots...)
	nans := nanCodes{p: p}
	for _, s := range sizes {
		s.K, s.Tiles = p.k, len(dots)
		codes := p.run(s, func(b *mma.Batch) {
			for o := range b.Dots() {
				b.Set(o, dots[o/(s.M*s.N)])
			}
		})
		for o, c := range codes {
			if d := o / (s.M * s.N); nans.differ(alone[d], Seen{dots[d], c}) {
				return finding{value: "no", why: fmt.Sprintf("tile of %d x %d, row %d, column %d: %s", s.M, s.N, o%(s.M*s.N)/s.N, o%s.N, p.hex(c)), seen: alone[d : d+1]}
			}
		}
	}
	where := fmt.Sprintf("%d x %d outputs", sizes[0].M, sizes[0].N)
	if len(sizes) > 1 {
		where = fmt.Sprintf("outputs of tiles of %d sizes", len(sizes))
	}
	return nans.finding(fmt.Sprintf("%d random inputs, all %s", len(dots), where))
}

// tilesOfSeveral returns sizes of tiles with more than one output: those of up to positionsMost,
// or the smallest one if that has more. Without any it says why.
func tilesOfSeveral(i *mma.Instruction) (sizes []mma.Shape, why string) {
	if i.M.Min < 1 || i.N.Min < 1 {
		return nil, "it is not known how many outputs a tile has"
	}
	for _, s := range TileSizes(i, max(positionsMost, i.M.Min*i.N.Min)) {
		if s.M*s.N > 1 {
			sizes = append(sizes, s)
		}
	}
	if sizes == nil {
		return nil, "a tile has one output"
	}
	return sizes, ""
}

// positionsMost is the number of outputs of a tile that is tried, at most, where an instruction
// has tiles of several sizes.
const positionsMost = 512
