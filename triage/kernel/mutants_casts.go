package kernel

import (
	"cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// castFormats are those to which operands are cast.
var castFormats = []fp.ID{fp.BF16, fp.TF32, fp.FP16, fp.E5M2, fp.E4M3, fp.FP32}

// casts changes how the operands of a unit are cast; put replaces the unit.
func (m *mutator) casts(field string, u *schedule.Unit, put func(k *schedule.Kernel, u *schedule.Unit)) {
	set := func(name string, was, value any, a, b *schedule.Cast, words string, args ...any) {
		if name != "" {
			name = field + "." + name
		}
		m.try("cast", name, was, value, func(k *schedule.Kernel) {
			c := *u
			c.CastA, c.CastB = a, b
			put(k, &c)
		}, words, args...)
	}
	for _, of := range []struct {
		name, words string
		cast        *schedule.Cast
		set         func(c *schedule.Cast) (a, b *schedule.Cast)
	}{
		{"cast_a", "A", u.CastA, func(c *schedule.Cast) (a, b *schedule.Cast) { return c, u.CastB }},
		{"cast_b", "B", u.CastB, func(c *schedule.Cast) (a, b *schedule.Cast) { return u.CastA, c }},
	} {
		if of.cast == nil {
			continue
		}
		change := func(name string, was, value any, c *schedule.Cast, words string, args ...any) {
			a, b := of.set(c)
			set(of.name+name, was, value, a, b, of.words+words, args...)
		}
		change("", "there is one", "no cast", nil, " is not rounded")
		for _, f := range castFormats {
			c := *of.cast
			c.Format = f
			change(".format", of.cast.Format, f, &c, " is rounded to %s", f)
		}
		for _, round := range []string{"", "away", "zero", "drop"} {
			c := *of.cast
			c.Round = round
			change(".round", cmp.Or(of.cast.Round, "nearest"), cmp.Or(round, "nearest"), &c, " is rounded to %s", cmp.Or(round, "nearest"))
		}
		c := *of.cast
		c.Saturate = !c.Saturate
		change(".saturate", of.cast.Saturate, c.Saturate, &c, " saturates, or does not")
	}
	for _, f := range castFormats {
		c := &schedule.Cast{Format: f}
		set("", nil, nil, c, c, "A and B are rounded to %s", f)
		set("", nil, nil, c, u.CastB, "A is rounded to %s", f)
		set("", nil, nil, u.CastA, c, "B is rounded to %s", f)
	}
}
