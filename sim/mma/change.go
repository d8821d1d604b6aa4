package mma

import (
	"cmp"
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
// is, is left out, and so are the parts of a rounding that one of the programs does not have.
func Brief(changes []Change) string {
	var all []string
	for _, c := range changes {
		before, after := c.value(changes, from), c.value(changes, to)
		switch bits, ok := c.wholeRounding(changes); {
		case ok && bits == nil: // said with the mode
			continue
		case ok:
			before, after = withBits(bits.From, cmp.Or(c.integers(changes, from), before)), withBits(bits.To, cmp.Or(c.integers(changes, to), after))
		}
		if before != after {
			all = append(all, c.name(changes)+" "+before+"→"+after)
		}
	}
	return strings.Join(all, ", ")
}

// wholeRounding reports whether a parameter is part of a rounding that only one of the programs
// has. With the mode it returns the change of the fraction bits.
func (c Change) wholeRounding(all []Change) (bits *Change, ok bool) {
	dot := strings.LastIndexByte(c.Path, '.')
	if dot < 0 || !slices.Contains([]string{".frac", ".mode", ".emin", ".emax", ".flush", ".over"}, c.Path[dot:]) {
		return nil, false
	}
	of := func(part string) int {
		return slices.IndexFunc(all, func(d Change) bool { return d.Path == c.Path[:dot]+part })
	}
	frac, mode := of(".frac"), of(".mode")
	if frac < 0 || mode < 0 || (all[mode].From == "") == (all[mode].To == "") {
		return nil, false
	}
	if c.Path[dot:] == ".mode" {
		return &all[frac], true
	}
	return nil, true
}

// integers is what becomes of integers outside of their range, if a mode is that of a rounding to
// integers, of which the least exponent is above the largest one; else "". The mode says nothing.
func (c Change) integers(all []Change, side func(Change) string) string {
	of := func(part string) string {
		path := strings.TrimSuffix(c.Path, ".mode") + part
		if i := slices.IndexFunc(all, func(d Change) bool { return d.Path == path }); i >= 0 {
			return side(all[i])
		}
		return ""
	}
	emin, err := strconv.Atoi(of(".emin"))
	emax, err2 := strconv.Atoi(of(".emax"))
	if err != nil || err2 != nil || emax >= emin {
		return ""
	}
	return map[string]string{OverSat.String(): "saturating", OverWrap.String(): "wrapping"}[of(".over")]
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
