package change

import (
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sized are the parameters whose rows have a size.
var sized = sync.OnceValue(func() []mma.Field {
	return slices.DeleteFunc(slices.Clone(mma.Fields()), func(f mma.Field) bool { return f.Size == 0 })
})

// Size measures how complicated a program is: it adds up what the rows of the parameters that
// it has say, and what depends on others. Of several that explain the same, the one of least
// size is preferred.
func (s Space) Size(p *mma.Params) int {
	n, all := 0, sized()
	for i := range all {
		if all[i].Int(p) != 0 {
			n += all[i].Size
		}
	}
	in, d, w := p.In, s.D.Get(), s.wide().Get()
	for _, x := range []struct {
		weight  int
		present bool
	}{
		{2, in.Acc != in.C},
		{2, in.A != mma.Narrow{}}, {1, in.A.To != fp.None}, {1, in.A.Over != mma.OverInf}, {2, in.B != in.A},
		{2, in.NarrowC != mma.Narrow{}}, {1, in.NarrowC.To != fp.None}, {1, in.NarrowC.Over != mma.OverInf},
		{2, p.Lanes > 1}, {2, p.Lanes > 2},
		{1, p.Special.NaN > mma.NaNLarger}, {1, p.Special.OperandNaN()},
		{1, p.Stage0.Sum > mma.Fused}, {1, p.Stage1.Sum > mma.Fused},
	} {
		if x.present {
			n += x.weight
		}
	}
	for i := range alignments {
		if alignments[i].at(p).F > mma.MaxFrac {
			n++
		}
	}
	for i := range roundings {
		r := roundings[i].at(p)
		if *r == (mma.Round{}) {
			continue
		}
		n += 2
		if e := int32(r.Emax); e != 0 && e != d.Emax() && e != w.Emax() {
			n++
		}
		if e := int32(r.Emin); e != 0 && e != d.Emin() && e != w.Emin() {
			n++
		}
	}
	return n
}
