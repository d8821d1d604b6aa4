package change

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Size measures how complicated a program is. Of several that explain the same, the one
// of least size is preferred.
func (s Space) Size(p *mma.Params) int {
	n := 0
	add := func(weight int, present bool) {
		if present {
			n += weight
		}
	}
	add(2, p.In.Widen != fp.None)
	add(2, p.In.Sub != mma.KeepSub)
	add(2, p.In.C != mma.KeepSub)
	add(2, p.In.Acc != p.In.C)
	add(2, p.Prod.Exp != mma.FieldSum)
	add(2, p.In.A != mma.Narrow{})
	add(2, p.In.B != p.In.A)
	add(2, p.In.NarrowC != mma.Narrow{})
	add(1, p.In.A.To != fp.None)
	add(1, p.In.A.Over != mma.OverInf)
	add(1, p.In.NarrowC.To != fp.None)
	add(1, p.In.NarrowC.Over != mma.OverInf)
	add(1, p.In.Rest)
	add(3, p.Passes != 0)
	add(1, p.Together)
	add(2, p.Prod.Up)
	add(2, p.Prod.Zeros)
	add(1, p.Prod.FirstOver)
	add(2, p.Prod.Gate != mma.GateOff)
	add(2, p.Join.CNorm)
	add(2, p.Join.CBeside)
	add(2, p.Join.CLost != 0)
	add(2, p.Join.CGrid)
	add(2, p.Join.Apart)
	add(2, p.In.NaNInf)
	add(2, p.Scale != mma.ScaleProduct)
	add(2, p.Order != mma.Ascending)
	add(2, p.L != 0)
	add(2, p.Lanes > 1)
	add(2, p.Lanes > 2)
	add(2, p.Merge != 0)
	add(2, p.Tail)
	add(2, p.Start != mma.StartC)
	add(2, p.Leaf != mma.NoLeaf)
	add(2, p.Join.CF != 0)
	add(2, p.Join.CMode != 0)
	add(2, p.Join.CDrop != 0)
	add(1, p.Special.CLeft)
	add(1, p.Special.BFirst)
	add(1, p.Special.Ones != 0)
	add(1, p.Special.NaN > mma.NaNLarger)
	add(1, p.Special.NaN.Operand())
	for _, stage := range []*mma.Stage{&p.Stage0, &p.Stage1} {
		add(6, stage.Sum != mma.Off)
		add(1, stage.Sum > mma.Fused)
		add(1, stage.Group != 0)
		add(1, stage.Split != mma.Adjacent)
		add(1, stage.Fixed)
		add(1, stage.Plus)
		add(1, stage.Deep)
		add(2, stage.Sort != mma.Unsorted)
	}
	for i := range alignments {
		a := alignments[i].at(p)
		add(3, a.F != 0)
		add(2, a.Floor != 0)
		add(1, a.F > mma.MaxFrac)
		add(2, a.Sticky != mma.StickyOff)
		add(2, a.Negate != mma.NegateExact)
		add(2, a.Bits != 0)
		add(1, a.Saturate)
		add(2, a.Drop != 0)
	}
	d, w := s.D.Get(), s.wide().Get()
	for i := range roundings {
		r := roundings[i].at(p)
		add(2, *r != mma.Round{})
		add(2, r.Frac != 0)
		add(1, r.Flush != mma.NoFlush)
		add(1, r.Over != mma.OverInf)
		add(1, r.Emax != 0 && int32(r.Emax) != d.Emax() && int32(r.Emax) != w.Emax())
		add(1, r.Emin != 0 && int32(r.Emin) != d.Emin() && int32(r.Emin) != w.Emin())
	}
	return n
}
