package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scale draws the scales that the sides need. Where both sides have scales, an element has the same
// one on both. Those of kernels are near 1 but not powers of two: powers of two would hide where they
// are multiplied in. So are those of a black box, unless the other side's instruction has them, too.
func (z *Fuzz) scale(rng *rand.Rand, p *drawn) {
	for _, s := range []*Side{z.A, z.B} {
		if u := s.Unit; s.Kernel != nil && u.Scale != fp.None && p.a.SA == nil {
			f, blocks := u.Scale.Get(), unitBlocks(u)
			one := func(lines int) []byte {
				out := make([]byte, blocks.Count(lines, p.a.K)*u.Scale.Width())
				for i := range len(out) / u.Scale.Width() {
					mma.Store(out, u.Scale.Width(), i, f.FromFloat64(math.Ldexp(1, rng.IntN(5)-2)))
				}
				return out
			}
			p.a.SA, p.a.SB = one(p.a.M), one(p.a.N)
		}
	}
	own := p.a.SA != nil
	if z.B.Unit.Scale != fp.None {
		p.b.SA, p.b.SB = p.a.SA, p.a.SB
	}
	if z.A.Unit.Scale == fp.None {
		p.a.SA, p.a.SB = nil, nil
	}
	sides := [2]fp.ID{schedule.Side(z.A.Unit.D), schedule.Side(z.B.Unit.D)}
	narrow := sides[0] // has numbers that both have
	for _, id := range []fp.ID{sides[1], z.A.boxScale(), z.B.boxScale()} {
		if id != fp.None && id.Width() < narrow.Width() {
			narrow = id
		}
	}
	draw := func(which, lines int) (a, b []uint64) {
		of := [2]*schedule.Blocks{z.A.blocks(which), z.B.blocks(which)}
		for i, s := range []*Side{z.A, z.B} {
			if own && s.Kernel == nil {
				of[i] = nil
			}
		}
		common := common(of[0], of[1])
		if common == nil {
			return nil, nil
		}
		all := make([]uint64, common.Count(lines, p.a.K))
		for i := range all {
			all[i] = narrow.Get().FromFloat64(0.5 + rng.Float64())
		}
		return in(spread(all, common, of[0], lines, p.a.K), narrow, sides[0]), in(spread(all, common, of[1], lines, p.a.K), narrow, sides[1])
	}
	p.a.ScaleA, p.b.ScaleA = draw(0, p.a.M)
	p.a.ScaleB, p.b.ScaleB = draw(1, p.a.N)
}

// in returns numbers of a format in another one that has them.
func in(codes []uint64, from, to fp.ID) []uint64 {
	if from != to {
		for i, code := range codes {
			codes[i] = to.Get().FromFloat64(from.Get().Float64(code))
		}
	}
	return codes
}

// checkScales returns an error if one side has scales that the other cannot have.
func checkScales(a, b *Side) error {
	for _, s := range [][2]*Side{{a, b}, {b, a}} {
		if s[0].boxScale() != fp.None && s[1].Unit.Scale == fp.None && s[1].blocks(0) != nil && s[1].blocks(1) != nil {
			return nil
		}
		if s[0].Unit.Scale != fp.None && s[1].Unit.Scale == fp.None {
			return hint.New(`where its schedule multiplies by scales, the fields "scale_a" and "scale_b" say so (go doc ./sim/schedule Kernel)`,
				"%s has scales in %s for %d products, and %s has none: they cannot be compared", s[0].Name, s[0].Unit.Scale, s[0].Unit.Block, s[1].Name)
		}
	}
	if a, b, x, y := a.Unit, b.Unit, a.Name, b.Name; a.Scale != b.Scale || a.Block != b.Block {
		return fmt.Errorf("%s has scales in %s for %d products, and %s in %s for %d: no scales are the same for both", x, a.Scale, a.Block, y, b.Scale, b.Block)
	}
	return nil
}

// blocks are those of a side's scales of A (which 0) or B, but for those of a kernel's instruction; nil: it has none.
func (s *Side) blocks(which int) *schedule.Blocks {
	switch {
	case s.Kernel != nil:
		return [2]*schedule.Blocks{s.Kernel.ScaleA, s.Kernel.ScaleB}[which]
	case s.Unit.Scale != fp.None:
		return unitBlocks(s.Unit)
	}
	return nil
}

// boxScale is the format of the scales of a black box; None: it has none, or is a kernel.
func (s *Side) boxScale() fp.ID {
	if s.Kernel != nil {
		return fp.None
	}
	return s.Unit.Scale
}

// unitBlocks are those of an instruction's scales.
func unitBlocks(u *mma.Instruction) *schedule.Blocks {
	return &schedule.Blocks{Lines: 1, K: int(u.Block)}
}

// common returns the smallest blocks that consist of whole blocks of both.
func common(a, b *schedule.Blocks) *schedule.Blocks {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	multiple := func(x, y int) int {
		if x == 0 || y == 0 {
			return 0 // all
		}
		n := x
		for n%y != 0 {
			n += x
		}
		return n
	}
	return &schedule.Blocks{Lines: multiple(a.Lines, b.Lines), K: multiple(a.K, b.K)}
}

// spread returns a scale for each block of to: that of the block of from in which it lies. It
// returns nil if to is nil.
func spread(codes []uint64, from, to *schedule.Blocks, lines, depth int) (all []uint64) {
	if to == nil {
		return nil
	}
	along := to.Along(depth)
	for n := range to.Count(lines, depth) {
		all = append(all, codes[from.Index(n/along*to.Lines, n%along*to.K, depth)])
	}
	return all
}

// ScaleFlags are the flags of mmafuzz gemm for files of scales of A and B: those that a schedule
// multiplies by, and those that are operands of an instruction.
var ScaleFlags = [4]string{"scale-a", "scale-b", "unit-scale-a", "unit-scale-b"}

// scaleNames are the files of a bundle for them.
var scaleNames = [4]string{"scale-A.npy", "scale-B.npy", "unit-scale-A.npy", "unit-scale-B.npy"}

// scaleFile is the scales of a matrix for a file. Those of a schedule, whose blocks may differ
// between the sides, are one for each element of A or B; those of an instruction are one for each
// block. They lie as A or B does.
type scaleFile struct {
	rows, columns int
	id            fp.ID
	codes         []byte
}

// scaleFiles returns the scales of the smallest product; nil for those that neither side has.
func (f *Found) scaleFiles() (files [4]*scaleFile) {
	c := f.Smallest
	for side, o := range c.Operands {
		k, u := c.kernels[side], c.units[side]
		own := [2][]byte{o.SA, o.SB}
		for which, codes := range [2][]uint64{o.ScaleA, o.ScaleB} {
			if len(codes) > 0 && u.Scale != fp.None && own[which] == nil { // a black box
				own[which] = boxScales(codes, u)
			}
			if k == nil || len(codes) == 0 {
				continue
			}
			id, lines := schedule.Side(u.D), [2]int{o.M, o.N}[which]
			b, each := [2]*schedule.Blocks{k.ScaleA, k.ScaleB}[which], &schedule.Blocks{Lines: 1, K: 1}
			all := spread(codes, b, each, lines, o.K)
			files[which] = newScaleFile(which, packed(all, id), id, o.K)
		}
		for which, codes := range own {
			if len(codes) > 0 {
				files[2+which] = newScaleFile(which, codes, u.Scale, unitBlocks(u).Along(o.K))
			}
		}
	}
	return files
}

// packed writes codes into containers of the width of their format.
func packed(codes []uint64, id fp.ID) []byte {
	out := make([]byte, len(codes)*id.Width())
	for i, code := range codes {
		mma.Store(out, id.Width(), i, code)
	}
	return out
}

// boxScales returns drawn scales as a black box takes them; nil for none.
func boxScales(codes []uint64, u *mma.Instruction) []byte {
	if codes == nil {
		return nil
	}
	return packed(in(slices.Clone(codes), schedule.Side(u.D), u.Scale), u.Scale)
}

// newScaleFile makes a file of scales that lie line after line; a line has as many as along says.
func newScaleFile(which int, codes []byte, id fp.ID, along int) *scaleFile {
	lines := len(codes) / id.Width() / along
	if which == 0 {
		return &scaleFile{lines, along, id, codes}
	}
	return &scaleFile{along, lines, id, transposed(codes, id, lines, along)}
}

// saveScales writes the files of scales into a bundle, and removes others.
func (f *Found) saveScales(dir string) error {
	for i, s := range f.scaleFiles() {
		name := filepath.Join(dir, scaleNames[i])
		if s == nil {
			if err := corpus.ReplaceOrRemoveFile(name, nil); err != nil {
				return err
			}
		} else if err := WriteMatrix(name, s.id, s.rows, s.columns, s.codes); err != nil {
			return err
		}
	}
	return nil
}
