package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The words of the picture that is drawn: what the text says in letters, such as E, F and
// RZ, a reader who knows floating point understands here at first sight.

// power writes a power of two.
func power(n int32) string { return "2" + document.Superscript(int(n)) }

// modeWords say how a rounding mode rounds.
var modeWords = map[fp.Mode]string{
	fp.RNE: "to nearest, ties to even", fp.RNA: "to nearest, ties away from zero", fp.RZ: "toward zero",
	fp.RD: "down, toward minus infinity", fp.RU: "up, toward plus infinity", fp.RTO: "to odd",
	fp.RS: "up or down by random bits",
}

// modeInWords writes a mode with its name in the literature.
func modeInWords(m fp.Mode) string {
	if words := modeWords[m]; words != "" {
		return words + " (" + modeName(m) + ")"
	}
	return modeName(m)
}

// sumInWords says what a sum adds, and where its terms are cut.
func (v *view) sumInWords(i int) []string {
	s := &v.sums[i]
	name, exact, largest := "Sum", "No term is cut: the sum is exact before it is rounded.", "The largest exponent of a term is %d."
	switch {
	case v.in.converts():
		name, exact, largest = "Number", "It is exact before it is rounded.", "Its exponent is %d."
	case s.Place >= sim.Join && len(v.steps) > 1:
		name = "Sum of " + v.stepName(v.stepOf[i])
	case s.Place < sim.Join:
		name = "Partial sum " + v.sumName(i)
	}
	lines := []string{name + ": " + strings.Join(v.termNames(i), " + ")}
	if !isFinite(&s.Sum) || !s.HasE {
		return lines
	}
	cuts := v.cuts(i)
	if cuts == nil {
		return append(lines, exact)
	}
	text := fmt.Sprintf(largest, s.E)
	if !v.reachesE(s) {
		text = fmt.Sprintf("All terms are smaller than %s: they are aligned as if one had the exponent %d.", power(s.E), s.E)
	}
	for n, c := range cuts {
		who := "What lies below"
		if n > 0 || c.term != "" {
			who = "Of " + c.term + " what lies below"
		}
		text += fmt.Sprintf(" %s %s, %d places below that exponent, is cut off, rounding %s.", who, power(c.q), c.f, modeInWords(c.mode))
	}
	return append(lines, text)
}

// reachesE reports whether a term has the exponent that a sum is aligned to.
func (v *view) reachesE(s *sim.SumTrace) bool {
	return slices.ContainsFunc(s.Terms, func(t sim.TermTrace) bool { return t.Kind == sim.Finite && t.E == s.E })
}

// InWords tells what happens to a mismatch in a few sentences, in the order in which it
// happens.
func InWords(m *Mismatch) []string {
	a, b, panels := panelsOf(m, false)
	lines := []string{fmt.Sprintf("A is `%s`, B is `%s`. Both get the same input: %s.", m.A.Name, m.B.Name, inputInWords(&m.Input))}
	if n, m := len(a.steps), len(b.steps); n != m && n > 0 && m > 0 {
		lines = append(lines, fmt.Sprintf("A adds the products in %s, B in %s: what a step rounds off is lost to the next.", stepsInWords(a), stepsInWords(b)))
	}
	for i, v := range []*view{a, b} {
		switch {
		case v.side.Failed:
			lines = append(lines, sideNames[i]+" failed on this input and gave no result.")
		case v.side.Trace == nil:
			lines = append(lines, fmt.Sprintf("No model explains how %s computes: only its result is known.", sideNames[i]))
		}
	}
	for i := range panels {
		if text := panels[i].inWords(); text != "" {
			lines = append(lines, text)
		}
	}
	if text := addedOnOneSide(panels); text != "" {
		lines = append(lines, text)
	}
	r := newResult(&m.Input, &m.A, &m.B)
	return append(lines, r.inWords())
}

// inWords says what the sides give, and how far that is from the exact value.
func (r *result) inWords() string {
	var gives, off []string
	for i, s := range r.sides {
		if !s.Failed {
			gives = append(gives, fmt.Sprintf("%s gives `%s` (%s)", sideNames[i], mma.FormatCode(r.format, s.Result), Decimal(r.format, s.Result)))
			off = append(off, r.errorText(s.Result))
		}
	}
	exact := strings.TrimSpace("The exact value is " + r.exact.Decimal() + " " + r.exactOf)
	if r.format.Flags() != 0 || r.exactOf != "" {
		return strings.Join(append(gives, exact), ". ") + "."
	}
	switch len(gives) {
	case 0:
		return exact + "."
	case 1:
		return gives[0] + ". " + exact + ": the error is " + off[0] + " (ulp: unit in the last place, of the exact value)."
	}
	return strings.Join(gives, " and ") + ". " + exact + ": A's error is " + off[0] + ", B's " + off[1] + " (ulp: unit in the last place, of the exact value)."
}

// stepsInWords says in how many steps a side adds how many products, and what it adds after them.
func stepsInWords(v *view) string {
	var sizes []int
	after, withC := 0, false
	for i := range v.steps {
		st := &v.steps[i]
		if !st.late {
			sizes = append(sizes, len(st.products))
			continue
		}
		after++
		for _, s := range v.sums[st.first:st.end] {
			withC = withC || slices.ContainsFunc(s.Terms, func(t sim.TermTrace) bool { return t.From == sim.FromC })
		}
	}
	text := "one step"
	if len(sizes) != 1 {
		text = fmt.Sprintf("%d steps", len(sizes))
	}
	if len(sizes) > 0 {
		if most := slices.Max(sizes); most == slices.Min(sizes) {
			text += fmt.Sprintf(" of %d", most)
		} else {
			text += fmt.Sprintf(" of up to %d", most)
		}
	}
	switch {
	case after == 1 && withC:
		return text + " and then c"
	case after == 1:
		return text + " and then their sums"
	case after > 1:
		return text + fmt.Sprintf(", with %d more additions after steps", after)
	}
	return text
}

// inWords tells how a side computes the sum in which something happens first, and all that
// happens.
func (p *panel) inWords() string {
	var words []string
	for i := range p.blocks {
		b := &p.blocks[i]
		if len(b.words) > 1 && (words == nil || len(b.happenings()) > 0) {
			words = b.words[1:]
		}
		if len(b.happenings()) > 0 {
			break
		}
	}
	if len(p.blocks) == 0 {
		return ""
	}
	return p.letter + ": " + strings.TrimSpace(strings.Join(words, " ")+" Here "+p.happenings()) + "."
}

// unitsText writes an error with ulp in words.
func unitsText(err string) string {
	if err == "+1 ulp" || err == "-1 ulp" {
		return strings.Replace(err, "ulp", "unit in the last place (ulp)", 1)
	}
	return strings.Replace(err, "ulp", "units in the last place (ulp)", 1)
}

// inputInWords writes the operands that are not zero in decimal, with the names of their
// products; of many how many there are.
func inputInWords(in *Input) string {
	const most = 3
	f, d := in.Formats, in.Dot
	if in.converts() {
		text := "a = " + numberInWords(f.A, d.A[0])
		if name := readable.Beside(f); name != "" {
			text += fmt.Sprintf(", %s `%s`", name, mma.FormatCode(f.B, d.B[0]))
		}
		if !f.B.IsOne() {
			text += " (" + numberInWords(f.B, d.B[0]) + ")"
		}
		return text
	}
	var terms []string
	n := 0
	for k := range d.A {
		if d.A[k] == 0 || d.B[k] == 0 && !f.B.Get().NoZero {
			continue
		}
		if n++; n <= most {
			terms = append(terms, fmt.Sprintf("p%d = %s × %s", k, numberInWords(f.A, d.A[k]), numberInWords(f.B, d.B[k])))
		}
	}
	if n > most {
		terms = []string{strconv.Itoa(n) + " products"}
	}
	if f.C != fp.None {
		terms = append(terms, "c = "+numberInWords(f.C, d.C))
	}
	text := strings.Join(terms, ", ")
	switch left := len(d.A) - n; {
	case left == 0:
		return text
	case n == 0 && left == 1:
		return text + " (the product is zero)"
	case n == 0:
		return text + fmt.Sprintf(" (all %d products are zero)", left)
	case left == 1:
		return text + " (the other product is zero)"
	default:
		return text + fmt.Sprintf(" (the other %d products are zero)", left)
	}
}

// numberInWords writes a number exactly: in decimal, as a power of two if that is shorter,
// or as a multiple of one.
func numberInWords(id fp.ID, code uint64) string {
	x := id.Get().Float64(code)
	text := Decimal(id, code)
	rounded, err := strconv.ParseFloat(text, 64)
	frac, exp := math.Frexp(x)
	switch {
	case math.Abs(frac) == 0.5 && len(text) > 4:
		if text = power(int32(exp - 1)); x < 0 {
			text = "-" + text
		}
	case err == nil && rounded != x && !math.IsNaN(x):
		return strconv.FormatFloat(2*frac, 'g', -1, 64) + "·" + power(int32(exp-1))
	}
	return text
}

// decisive says which bits make the difference.
func decisive(a, b *view, panels []panel) string {
	if a.side.Failed || b.side.Failed {
		return "There are no two results to compare."
	}
	if a.side.Trace == nil || b.side.Trace == nil {
		return "Which bits make the difference cannot be said without a model of both units."
	}
	text := addedOnOneSide(panels)
	if text == "" {
		return fmt.Sprintf("In A %s. In B %s.", panels[0].happenings(), panels[1].happenings())
	}
	for _, p := range panels {
		for i := range p.blocks {
			for _, e := range p.blocks[i].body {
				if e.row != nil && e.row.raised() {
					text += " In " + p.letter + " " + e.row.cutInWords() + "."
				}
			}
		}
	}
	return text
}

// addedOnOneSide says which bits of terms one side adds and the other drops; "" if there
// are none, or if the side that adds them loses anything else before its last rounding.
func addedOnOneSide(panels []panel) string {
	var parts []string
	for i, p := range panels {
		added := addedHere(p)
		if added != nil && !p.losesOnlyLast() {
			return ""
		}
		for _, k := range added {
			text := "The sum of %s includes %s, which %s drops before it adds"
			if p.converts {
				text = "%s still has %s when it rounds to the result, which %s drops before"
			}
			parts = append(parts, fmt.Sprintf(text, p.letter, k, sideNames[1-i]))
		}
	}
	const most = 4
	switch {
	case len(parts) > most:
		return strings.Join(parts[:most], "; ") + fmt.Sprintf("; and so in %d more terms.", len(parts)-most)
	case len(parts) > 0:
		return strings.Join(parts, "; ") + "."
	}
	return ""
}

// losesOnlyLast reports whether a side loses nothing before its last rounding.
func (p *panel) losesOnlyLast() bool {
	all := p.events()
	return len(all) == 0 || len(all) == 1 && all[0].last
}

// happening is something that a side loses, or a number of it that is not finite.
type happening struct {
	words string
	last  bool // it is the rounding to the result
}

func (p *panel) events() (all []happening) {
	for i := range p.blocks {
		all = append(all, p.blocks[i].happenings()...)
	}
	return all
}

// happenings tells which bits a side loses and where, and which of its numbers are not
// finite.
func (p *panel) happenings() string {
	var all []string
	for _, h := range p.events() {
		all = append(all, h.words)
	}
	const most = 4
	switch n := len(all) - most; {
	case len(all) == 0:
		return "nothing is lost"
	case n > 0:
		return strings.Join(all[:most], "; ") + fmt.Sprintf("; and %d things more", n)
	}
	return strings.Join(all, "; ")
}

// happenings tells what happens in a sum: to its terms, and to the sum itself.
func (b *block) happenings() []happening {
	var all []happening
	name, that := "the sum", "sum"
	if len(b.words) > 0 {
		name, _, _ = strings.Cut(b.words[0], ":")
		name = "the " + strings.ToLower(name[:1]) + name[1:]
	}
	if name == "the number" {
		that = "number"
	}
	say := func(words string) { all = append(all, happening{words: words}) }
	var sum *row // the last one
	for i := range b.body {
		e := &b.body[i]
		switch n := &e.note; {
		case e.row != nil && e.row.sum:
			sum = e.row
		case e.row != nil && slices.Contains(e.row.bits, lostOne):
			say(e.row.cutInWords())
		case e.row != nil:
		case e.listed:
			say(n.text())
		case n.kind == atEnd && n.by == "":
			say(name + ": " + n.text())
		case n.loses():
			words := n.words()
			if sum != nil && n.outcome == droppedAll {
				words = n.roundingInWords() + ", which drops " + onesAt(sum.weights(lostOne)) + " of that " + that
			}
			all = append(all, happening{name + " is " + words, n.isLast()})
		}
	}
	return all
}

// raised reports whether a term was cut away from zero.
func (r *row) raised() bool { return !r.sum && len(r.marks) > 0 && r.note.kind == moved }

// cutInWords says what a cut does to a term.
func (r *row) cutInWords() string {
	if r.raised() {
		return fmt.Sprintf("the cut moves %s away from zero, to the next multiple of %s", r.label, power(r.marks[0].after))
	}
	return "the cut takes " + onesAt(r.weights(lostOne)) + " of " + r.label
}

// onesAt names the places of ones.
func onesAt(ws []int32) string {
	if len(ws) == 1 {
		return "the 1 at " + power(ws[0])
	}
	return fmt.Sprintf("%d ones from %s down", len(ws), power(ws[0]))
}

// addedHere names the bits of each term that only this side adds.
func addedHere(p panel) []string {
	var all []string
	for i := range p.blocks {
		for _, e := range p.blocks[i].body {
			if e.row == nil || e.row.sum || !e.row.differs() || e.row.raised() {
				continue
			}
			all = append(all, onesAt(e.row.onlyHere())+" of "+e.row.label)
		}
	}
	return all
}
