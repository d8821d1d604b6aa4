package change

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func anyField(string) bool { return true }

// anyValue proposes every other value that a field can have: of its range, of its
// enumeration, or every format.
func anyValue(o *original, f mma.Field) []int {
	switch {
	case isNumber(f.Path):
		return wholeOrAbsent(o, f)
	case f.Values() != nil:
		return others(o, f)
	case f.Path == "merge":
		var vals []int
		for _, m := range mergesOf(o.p.Merged()) {
			vals = append(vals, int(m))
		}
		return vals
	case f.Path == "passes":
		vals := []int{0}
		for _, list := range mma.PassLists {
			vals = append(vals, int(list))
		}
		return vals
	}
	return formats(fp.All()...)(o, f)
}

// Range returns the values that a field can have in a program: those of its enumeration or
// of its range, 0 or None included, as mma.Field.Int returns them; nil if the program has no
// use for it. Not all need be valid without a change of other fields.
func (s Space) Range(p *mma.Params, f mma.Field) []int {
	o := &original{s, *p}
	if isNumber(f.Path) && !numbers[f.Path].used(o) {
		return nil
	}
	return append(anyValue(o, f), f.Int(p))
}

// anyRounding rounds, at every place, to every width and in every direction with the
// range of each format.
func anyRounding(c *changer) {
	for _, r := range c.used(roundings) {
		c.next()
		for _, id := range fp.All() {
			f := id.Get()
			if f.Specials != fp.IEEE || f.Low != 0 {
				continue
			}
			for _, frac := range c.fracs(r.path + ".frac") {
				for _, m := range modes {
					c.to(func(p *mma.Params) {
						*r.at(p) = mma.To(id, m)
						r.at(p).Frac = frac
					})
				}
			}
		}
	}
}

// anyFlush flushes, at every place, what is below any exponent, and rounds otherwise as
// before.
func anyFlush(c *changer) {
	for _, r := range c.used(roundings) {
		c.next()
		emin, _ := mma.FindField(r.path + ".emin")
		bounds := whole(&c.original, emin)
		if now := r.at(&c.p).Emin; now != 0 {
			bounds = slices.Insert(bounds, 0, int(now))
		}
		for _, e := range bounds {
			for f := mma.FlushBefore; f <= mma.FlushResult; f++ {
				c.to(func(p *mma.Params) { r.at(p).Emin, r.at(p).Flush = mma.Exp(e), f })
			}
		}
	}
}
