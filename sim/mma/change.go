package mma

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Change is a field that has one value in a program and another in a second.
type Change struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// String writes PATH FROM->TO with an arrow.
func (c Change) String() string { return c.Path + " " + c.From + "→" + c.To }

// Brief writes changes in words, with commas between them: Row.Brief and the two values of each. A
// change that says nothing, as an accumulator's rule that becomes what that of the other terms
// is, is left out, and so are the parts of a rounding that one of the programs does not have. A
// rounding to one format that becomes one to another is one change, and bounds of exponents come
// last: they seldom matter, and lists are cut at their end. The two programs that have all of the
// changes, and maybe others, are given where they are known: what they have besides may decide what
// a change means.
func Brief(changes []Change, programs ...*Params) string {
	var all, bounds []string
	for _, c := range changes {
		before, after, name := c.value(changes, from), c.value(changes, to), c.name(changes)
		bits, whole := c.wholeRounding(changes)
		formats, format := c.format(changes)
		switch {
		case whole && (c.part() == "flush" || c.part() == "over" && cmp.Or(c.integers(changes, from), c.integers(changes, to)) == ""): // which no rounding has by itself
		case whole && bits == nil, format && formats == nil: // said with the mode, or with the fraction bits
			continue
		case whole:
			before, after = cmp.Or(c.integers(changes, from), withBits(bits.From, before)), cmp.Or(c.integers(changes, to), withBits(bits.To, after))
		case format:
			before, after, name = formats.From, formats.To, strings.Replace(name, "fraction bits", "format", 1)
		case roundsBeyond(programs, c.Path):
			name += " by rounding alone"
		case onlyLimits(programs, c.Path):
			name += " where it overflows"
		}
		before, after = overflowValue(programs, 0, c.Path, before), overflowValue(programs, 1, c.Path, after)
		switch text := name + " " + before + "→" + after; {
		case before == after:
		case strings.HasSuffix(c.Path, ".emin"), strings.HasSuffix(c.Path, ".emax"):
			bounds = append(bounds, text)
		default:
			all = append(all, text)
		}
	}
	return strings.Join(append(all, bounds...), ", ")
}

// wholeRounding reports whether a parameter is part of a rounding that only one of the programs
// has. With the mode it returns the change of the fraction bits.
func (c Change) wholeRounding(all []Change) (bits *Change, ok bool) {
	if !slices.Contains([]string{"frac", "mode", "emin", "emax", "flush", "over"}, c.part()) {
		return nil, false
	}
	frac, mode := c.beside(all, "frac"), c.beside(all, "mode")
	if frac == nil || mode == nil || (mode.From == "") == (mode.To == "") {
		return nil, false
	}
	if c.part() == "mode" {
		return frac, true
	}
	return nil, true
}

// format reports whether a parameter is part of the format of a rounding that becomes another
// format in all of its parts. With the fraction bits it returns the change of the format.
func (c Change) format(all []Change) (formats *Change, ok bool) {
	if !slices.Contains([]string{"frac", "emin", "emax"}, c.part()) {
		return nil, false
	}
	frac, emin, emax := c.beside(all, "frac"), c.beside(all, "emin"), c.beside(all, "emax")
	if frac == nil || emin == nil || emax == nil {
		return nil, false
	}
	x := &Change{From: formatOf(frac.From, emin.From, emax.From), To: formatOf(frac.To, emin.To, emax.To)}
	switch {
	case x.From == "" || x.To == "":
		return nil, false
	case c.part() == "frac":
		return x, true
	}
	return nil, true
}

// formatOf names the format of so many fraction bits and this range, "" if there is none.
func formatOf(frac, emin, emax string) string {
	for _, id := range fp.All() {
		f := id.Get()
		if f.Signed && !f.Integer() && frac == Frac(f.FracBits).String() && emin == Exp(f.Emin()).String() && emax == Exp(f.Emax()).String() {
			return f.Name
		}
	}
	return integersOf(frac, emin, emax)
}

// part is the last word of a path.
func (c Change) part() string { return c.Path[strings.LastIndexByte(c.Path, '.')+1:] }

// beside returns the change of another part of the same structure, nil if there is none.
func (c Change) beside(all []Change, part string) *Change {
	path := strings.TrimSuffix(c.Path, c.part()) + part
	i := slices.IndexFunc(all, func(d Change) bool { return d.Path == path })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// roundsBeyond reports whether a parameter is the overflow of a rounding that differs only for
// numbers which rounding itself makes too large: those that are too large before are infinities
// in both programs.
func roundsBeyond(programs []*Params, path string) bool {
	place, ok := strings.CutSuffix(path, ".over")
	if !ok || len(programs) < 2 || slices.Contains(programs, nil) {
		return false
	}
	p, q := programs[0], programs[1]
	i := slices.IndexFunc(Roundings, func(x Place[Round]) bool { return x.Path == place })
	bounded := func(p *Params) bool {
		before, at := p.roundedBefore(place), Roundings[i].At(p)
		return before.Over == OverInf && before.Emax != 0 && before.Emax <= at.Emax && at.Over < OverSat
	}
	infinite := func(p *Params) bool { return Roundings[i].At(p).Over == OverInf }
	return i >= 0 && (bounded(p) && (bounded(q) || infinite(q)) || bounded(q) && infinite(p))
}

// overflowValue writes the value of an overflow: an infinity is a NaN in a format without infinities.
func overflowValue(programs []*Params, side int, path, value string) string {
	place, ok := strings.CutSuffix(path, ".over")
	if !ok || value != OverInf.String() || side >= len(programs) || programs[side] == nil {
		return value
	}
	i := slices.IndexFunc(Roundings, func(x Place[Round]) bool { return x.Path == place })
	if i < 0 {
		return value
	}
	r := Roundings[i].At(programs[side])
	id, err := fp.Parse(formatOf(r.Frac.String(), r.Emin.String(), r.Emax.String()))
	if err != nil || id == fp.None || id.Get().HasInf() || !id.Get().HasNaN() {
		return value
	}
	return value + " (in " + id.String() + ": NaN)"
}

// roundedBefore is the rounding that makes the numbers which another one takes; the zero Round if
// there is none, or if it is not known.
func (p *Params) roundedBefore(place string) Round {
	switch {
	case place == "acc" && !p.Join.Apart:
		return p.Join.Post
	case place == "out":
		return cmp.Or(p.Late, p.Acc)
	}
	return Round{}
}

// limitsAlone reports whether all that a rounding, such as acc, does is to decide what becomes of numbers
// that are too large: the one before it leaves no bits for it to round.
func (p *Params) limitsAlone(place string) bool {
	i := slices.IndexFunc(Roundings, func(x Place[Round]) bool { return x.Path == place })
	if i < 0 {
		return false
	}
	before, at := p.roundedBefore(place), Roundings[i].At(p)
	return before.Frac != 0 && before.Frac <= at.Frac && (!at.HasEmin() || before.HasEmin() && before.Emin >= at.Emin)
}

// onlyLimits reports whether a parameter is the mode of such a rounding in both programs.
func onlyLimits(programs []*Params, path string) bool {
	place, ok := strings.CutSuffix(path, ".mode")
	return ok && len(programs) == 2 && programs[0] != nil && programs[1] != nil && programs[0].limitsAlone(place) && programs[1].limitsAlone(place)
}

// integers is a rounding to integers, of which the least exponent is above the largest one, with what
// becomes of those outside of their range; "" if a mode is not that of one. The mode says nothing.
func (c Change) integers(all []Change, side func(Change) string) string {
	of := func(part string) string {
		if d := c.beside(all, part); d != nil {
			return side(*d)
		}
		return ""
	}
	format := integersOf(of("frac"), of("emin"), of("emax"))
	if format == "" {
		return ""
	}
	return strings.TrimSpace(format + " " + map[string]string{OverSat.String(): "saturating", OverWrap.String(): "wrapping"}[of("over")])
}

// integersOf names the signed integers of this range, "" if there are none: their last place is 1.
func integersOf(frac, emin, emax string) string {
	n, err := strconv.Atoi(frac)
	if err != nil || emin != frac || emax != strconv.Itoa(n-1) {
		return ""
	}
	return fmt.Sprintf("%d-bit integers", n+1)
}

// withBits puts the fraction bits before a mode: 23 bits to nearest even.
func withBits(bits, mode string) string {
	if bits == Frac(0).String() {
		return mode
	}
	return bits + " bits " + mode
}

// name is the parameter in words.
func (c Change) name(all []Change) string {
	f, ok := FindField(c.Path)
	switch {
	case !ok:
		return c.Path
	case c.Path == "join.align.f" && slices.ContainsFunc(all, func(d Change) bool { return d.Path == "join.cf" }):
		return f.Brief + " of all but c"
	}
	return f.Brief
}

// from and to are the two sides of a change.
func from(c Change) string { return c.From }
func to(c Change) string   { return c.To }

// likeOthers is the value of a parameter of c that is that of the other terms.
const likeOthers = "as of the other terms"

// modesInWords are the rounding modes in lists of changes.
var modesInWords = map[string]string{
	fp.RNE.String(): "to nearest even", fp.RNA.String(): "to nearest away", fp.RZ.String(): "toward zero",
	fp.RD.String(): "down", fp.RU.String(): "up", fp.RTO.String(): "to odd", fp.RS.String(): "by random bits",
}

// absentInWords are the values of numbers that mean that a program has no such thing.
var absentInWords = map[string]string{"l": "all", "lanes": "1", "join.align.drop": "none", "stage0.align.drop": "none", "stage1.align.drop": "none", "join.cdrop": "none", "join.align.bits": "none", "stage0.align.bits": "none", "stage1.align.bits": "none"}

// value writes a change's value on one side, as what the unit does: an accumulator without a
// rule of its own is cut like the other terms, and a sum that is off has no parameters.
func (c Change) value(all []Change, side func(Change) string) string {
	of := func(path string) string {
		if i := slices.IndexFunc(all, func(d Change) bool { return d.Path == path }); i >= 0 {
			return cmp.Or(side(all[i]), "none")
		}
		return ""
	}
	s := side(c)
	stage, _, _ := strings.Cut(c.Path, ".")
	switch {
	case c.Path == "join.cf" && s == Frac(0).String():
		return cmp.Or(of("join.align.f"), likeOthers)
	case c.Path == "join.cmode" && s == "":
		if s = of("join.align.mode"); s == "" {
			return likeOthers
		}
	case s == "", of(stage+".sum") == Off.String(): // "" is the name of no rounding mode
		return "none"
	case s == "0" || s == Frac(0).String():
		return cmp.Or(absentInWords[c.Path], s)
	case s == "true":
		return "yes"
	case s == "false":
		return "no"
	}
	return cmp.Or(modesInWords[s], s)
}
