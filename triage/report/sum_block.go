package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// block is one sum, or a few words about sums that are not drawn.
type block struct {
	head  []string
	words []string // the same as head for people who do not know its letters
	body  []entry
	modes []fp.Mode // of the cuts that head names
	tail  []string  // what is not drawn: one line for each step or sum
}

// entry is a line of a block: a row of bits, or text.
type entry struct {
	row    *row   // nil: text
	note   note   // what happens
	result string // NAME = CODE, which it leaves; "": not said
	listed bool   // a term that is no number
}

// text writes an entry that is no row in letters.
func (e *entry) text() string {
	text := e.note.text()
	switch {
	case e.listed:
		return "  " + text
	case e.result == "":
		return text
	case text == "":
		return "→ " + e.result
	}
	return text + " → " + e.result
}

// maxRows is how many terms of a sum are drawn at most.
const maxRows = 24

// noExponent puts rows without an exponent after all others.
const noExponent = -1 << 30

// block draws a sum.
func (v *view) block(i int) block {
	s := &v.sums[i]
	b := block{head: []string{v.stepPrefix(i) + v.equation(i)}, words: v.sumInWords(i)}
	switch {
	case !isFinite(&s.Sum):
		v.specialBody(&b, i)
		return b
	case s.HasE:
		b.head = append(b.head, v.alignment(i))
		for _, c := range v.cuts(i) {
			b.modes = append(b.modes, c.mode)
		}
	}
	v.termBody(&b, i)
	for _, note := range v.adderNotes(i) {
		b.text(note)
	}
	v.sumBody(&b, i)
	return b
}

// equation writes a sum as S = p0..p7 + c.
func (v *view) equation(i int) string {
	return v.sumName(i) + " = " + strings.Join(v.termNames(i), " + ")
}

// cut is where the products of a sum, or its accumulator, are cut.
type cut struct {
	term string // the accumulator; "": all products
	q    int32  // the lowest weight kept is 2^q
	f    int32  // bits kept below the largest exponent
	mode fp.Mode
}

// cuts returns where the products of a sum are cut, and where the accumulator is, unless
// that is the same.
func (v *view) cuts(i int) []cut {
	s := &v.sums[i]
	var all []cut
	for _, isAcc := range []bool{false, true} {
		for j := range s.Terms {
			t := &s.Terms[j]
			if !t.IsCut || isAcc != isAccumulator(t) {
				continue
			}
			c := cut{q: t.Q, f: s.E - t.Q, mode: t.Mode}
			if isAcc {
				if len(all) == 1 && all[0] == c {
					break
				}
				c.term = v.termName(i, j)
			}
			all = append(all, c)
			break
		}
	}
	return all
}

// alignment says where the terms of a sum are cut.
func (v *view) alignment(i int) string {
	var texts []string
	for n, c := range v.cuts(i) {
		text := fmt.Sprintf(" 2^%d (F=%d %s)", c.q, c.f, modeName(c.mode))
		switch {
		case c.term == "":
			text = "cut" + text
		case n == 0:
			text = c.term + " cut" + text
		default:
			text = c.term + text
		}
		texts = append(texts, text)
	}
	switch {
	case texts == nil && v.in.converts():
		return "exact"
	case texts == nil:
		return "exact sum"
	}
	return largest(&v.sums[i]) + ", " + strings.Join(texts, ", ")
}

func isAccumulator(t *sim.TermTrace) bool {
	return t.From == sim.FromC || t.From == sim.FromAcc || t.From == sim.FromZero
}

// largest writes the exponent that a sum is aligned to.
func largest(s *sim.SumTrace) string {
	text := "E=" + strconv.Itoa(int(s.E))
	for j := range s.Terms {
		if t := &s.Terms[j]; t.Kind == sim.Finite && t.E == s.E {
			return text
		}
	}
	return text + " (the floor)"
}

// specialBody says which terms are not finite and what they make of the sum.
func (v *view) specialBody(b *block, i int) {
	s := &v.sums[i]
	var lines []string
	for j := range s.Terms {
		t := &s.Terms[j]
		if isFinite(t) {
			continue
		}
		text := v.termName(i, j) + " = " + v.special(t)
		if note := v.specialNote(i, j); note != "" {
			text += "  (" + note + ")"
		}
		lines = append(lines, text)
	}
	for _, l := range elide(lines) {
		b.body = append(b.body, entry{note: sayNote(l), listed: true})
	}
	b.text(v.sumName(i) + " = " + v.special(&s.Sum) + ": " + v.specialReason(i))
	b.result(note{}, v.resultText(i))
}

// special writes a value, of integers in decimal, and a NaN with its code where the result depends on it.
func (v *view) special(t *sim.TermTrace) string {
	if t.Kind == sim.NaN && v.p.Special.OperandNaN() {
		return "nan " + mma.FormatCode(v.in.Formats.D, t.Value.Lo)
	}
	if v.integers() && isFinite(t) {
		return scaled(t.Value, 0).String()
	}
	return brief(t)
}

// specialReason says why a sum is not finite, and of several NaNs which one it is.
func (v *view) specialReason(i int) string {
	s := &v.sums[i]
	var nan, plus, minus bool
	for j := range s.Terms {
		t := &s.Terms[j]
		nan = nan || isNaN(t)
		plus = plus || t.Kind == sim.Inf && !t.Value.Neg
		minus = minus || t.Kind == sim.Inf && t.Value.Neg
	}
	switch {
	case nan:
		return cmp.Or(v.taken(i), "a term is NaN")
	case plus && minus:
		return "infinities of both signs"
	case v.in.converts():
		return "no bits are rounded"
	}
	return "a term is infinite; no bits are summed"
}

// taken says which of several NaNs that are not the same a sum takes; "" if there is no choice.
func (v *view) taken(i int) string {
	s := &v.sums[i]
	var same []string
	others := false
	for j := range s.Terms {
		switch t := &s.Terms[j]; {
		case !isNaN(t):
		case sameValue(t, &s.Sum):
			same = append(same, v.termName(i, j))
		default:
			others = true
		}
	}
	if !v.p.Special.OperandNaN() || !others || same == nil {
		return ""
	}
	return "the NaN of " + strings.Join(same, " or ") + " is taken"
}

func (b *block) text(s string) { b.note(sayNote(s)) }

func (b *block) note(n note) { b.result(n, "") }

func (b *block) result(n note, result string) {
	b.body = append(b.body, entry{note: n, result: result})
}

func (b *block) row(r row) { b.body = append(b.body, entry{row: &r}) }

// termBody draws the terms of a sum, largest exponent first, and names those
// that are zero.
func (v *view) termBody(b *block, i int) {
	s := &v.sums[i]
	var rows []row
	var zeros, negative, skipped []string
	for j := range s.Terms {
		t := &s.Terms[j]
		switch {
		case !t.Value.IsZero():
			rows = append(rows, v.termRow(i, j))
		case t.Kind == sim.Finite:
			rows = append(rows, row{label: v.termName(i, j), exp: t.E, hasExp: !v.integers(), note: v.zeroNote(i, j)})
		default:
			if n := v.nullNote(i, j); n.kind != noNote {
				rows = append(rows, row{label: v.termName(i, j), exp: noExponent, neg: t.Value.Neg, note: n})
				continue
			}
			zeros = append(zeros, v.termName(i, j))
			switch {
			case v.skipped(t):
				skipped = append(skipped, v.termName(i, j))
			case t.Value.Neg && !v.integers():
				negative = append(negative, v.termName(i, j))
			}
		}
	}
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.exp, x.exp) })
	drawn := limit(rows)
	for _, r := range drawn {
		b.row(r)
	}
	if n := len(rows) - len(drawn); n > 0 {
		b.text(fmt.Sprintf("… %d more terms", n))
	}
	if len(zeros) > 0 && !v.in.converts() {
		b.text(zeroText(zeros, negative, skipped))
	}
}

// zeroNote says that a term with an exponent is zero, and of a sum that it is so because its terms cancel.
func (v *view) zeroNote(sum, term int) note {
	i := v.origin(sum, term)
	if i >= 0 && slices.ContainsFunc(v.sums[i].Terms, func(t sim.TermTrace) bool { return !t.Value.IsZero() }) {
		return sayNote("zero: its terms cancel")
	}
	return sayNote("zero")
}

// limit returns at most maxRows rows, in their order. Rows with bits that only this side
// keeps have precedence, then rows with the largest exponents.
func limit(rows []row) []row {
	differing := 0
	for i := range rows {
		if rows[i].differs() {
			differing++
		}
	}
	room := maxRows - differing // for the others
	var drawn []row
	for i := range rows {
		switch {
		case !rows[i].differs() && room > 0:
			room--
		case !rows[i].differs() || len(drawn) == maxRows:
			continue
		}
		drawn = append(drawn, rows[i])
	}
	return drawn
}

func (r *row) differs() bool { return slices.Contains(r.bits, onlyHere) }

func zeroText(zeros, negative, skipped []string) string {
	text := fmt.Sprintf("%d zero terms: ", len(zeros))
	if len(zeros) == 1 {
		text = "a zero term: "
	}
	text += strings.Join(joinNames(zeros), " ")
	for _, of := range []struct {
		names []string
		what  string
	}{{negative, "-0"}, {skipped, "counted as -0 whatever their sign"}} {
		switch {
		case len(of.names) == len(zeros):
			text += " (" + of.what + ")"
		case len(of.names) > 0:
			text += " (" + of.what + ": " + strings.Join(joinNames(of.names), " ") + ")"
		}
	}
	return text
}

// skipped reports whether a term is a product with a zero factor that counts as -0.
func (v *view) skipped(t *sim.TermTrace) bool {
	return t.From == sim.FromProduct && v.p.Prod.Gate >= mma.GateSkip && exactProduct(v.in, v.p, t.K).IsZero()
}

// sumBody draws a sum, and what its roundings leave where there are several.
func (v *view) sumBody(b *block, i int) {
	s := &v.sums[i]
	name, x := v.sumName(i), &s.Sum
	grid := lowestCut(s)
	for j := range s.Rounds {
		r := &s.Rounds[j]
		last := j == len(s.Rounds)-1
		if x.Value.IsZero() || !isFinite(x) {
			break
		}
		n := roundingNote(x.Value, &r.After, &r.Round)
		if n.kind == noNote || !last && n.kind == rounded && !n.loses() {
			continue // nothing happens
		}
		var q *int32
		if r.Round.Frac != 0 {
			at := roundingPoint(x.Value, &r.Round)
			q = &at
		}
		b.row(sumRow(name, x.Value, q, grid))
		if !last {
			b.note(n.roundedBy(r.Name))
		} else {
			b.result(n, v.resultText(i))
			return
		}
		name, x, grid = name+"'", &r.After, nil
	}
	v.plainSum(b, i, name, x, grid)
}

// plainSum draws a sum that nothing rounds, or that is zero.
func (v *view) plainSum(b *block, i int, name string, x *sim.TermTrace, grid *int32) {
	s := &v.sums[i]
	switch {
	case !x.Value.IsZero() && isFinite(x):
		b.row(sumRow(name, x.Value, nil, grid))
		b.result(note{}, v.resultText(i))
	case s.HasE && x == &s.Sum:
		w := s.E
		if grid != nil {
			w = *grid
		}
		b.row(zeroRow(name, x.Value.Neg, w))
		b.result(sayNote(v.zeroSign(s)), v.resultText(i))
	case x == &s.Sum:
		text := name + " = " + v.special(x) + ": all terms are "
		if v.in.converts() {
			text = name + " is "
		}
		b.result(sayNote(text+v.zeroSign(s)), v.resultText(i))
	default:
		b.result(note{}, v.resultText(i))
	}
}

// zeroSign says how a zero sum gets its sign.
func (v *view) zeroSign(s *sim.SumTrace) string {
	positive := func(t sim.TermTrace) bool { return !t.Value.Neg }
	switch {
	case v.integers():
		return "zero"
	case !v.p.Special.NegZero:
		return "zero, always +0 here"
	case !s.HasE && s.Sum.Value.Neg && slices.ContainsFunc(s.Terms, positive):
		return "zero, of both signs: rounding down gives -0"
	}
	if v.p.Special.ZerosOnly && slices.ContainsFunc(s.Terms, func(t sim.TermTrace) bool { return !t.Value.IsZero() }) {
		return "zero, with the sign of a cancellation: not all terms are zeros"
	}
	return "zero, sign as in IEEE 754"
}

// lowestCut returns the exponent of the lowest weight that the terms of a sum
// keep, nil if they are not cut.
func lowestCut(s *sim.SumTrace) *int32 {
	var low *int32
	for j := range s.Terms {
		if t := &s.Terms[j]; t.IsCut && (low == nil || t.Q < *low) {
			low = &t.Q
		}
	}
	return low
}
