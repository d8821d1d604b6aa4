package report

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report/page"
)

// The words of the picture that is drawn: what the text says in letters, such as E, F and
// RZ, a reader who knows floating point understands here at first sight.

// power writes a power of two.
func power(n int32) string { return "2" + page.Superscript(int(n)) }

// modeWords say how a rounding mode rounds.
var modeWords = map[fp.Mode]string{
	fp.RNE: "to nearest, ties to even", fp.RNA: "to nearest, ties away from zero", fp.RZ: "toward zero",
	fp.RD: "down, toward minus infinity", fp.RU: "up, toward plus infinity", fp.RTO: "to odd",
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
	name := "Sum"
	switch {
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
		return append(lines, "No term is cut: this sum is exact.")
	}
	text := fmt.Sprintf("The largest exponent of a term is %d.", s.E)
	if !v.reachesE(s) {
		text = fmt.Sprintf("All terms are smaller than %s: they are aligned as if one had the exponent %d.", power(s.E), s.E)
	}
	for n, c := range cuts {
		who := "What lies below"
		if n > 0 || c.term != "" {
			who = "Of " + c.term + " what lies below"
		}
		text += fmt.Sprintf(" %s %s is cut off, rounding %s: %d bits stay below the leading one.", who, power(c.q), modeInWords(c.mode), c.f)
	}
	return append(lines, text)
}

// reachesE reports whether a term has the exponent that a sum is aligned to.
func (v *view) reachesE(s *sim.SumTrace) bool {
	return slices.ContainsFunc(s.Terms, func(t sim.TermTrace) bool { return t.Kind == sim.Finite && t.E == s.E })
}

var (
	modePrefix = regexp.MustCompile(`^(product )?(RNE|RNA|RZ|RD|RU|RTO) `)
	droppedBit = regexp.MustCompile(`drops ([.x]+)(…?)`)
	dropSmall  = regexp.MustCompile(`^dropped: e < E-(\d+)$`)
)

// noteInWords writes a note of a row or a rounding without letters that a reader would have
// to look up.
func noteInWords(note string) string {
	if m := dropSmall.FindStringSubmatch(note); m != nil {
		return "dropped: more than " + m[1] + " below the largest exponent"
	}
	what := "rounded "
	if m := modePrefix.FindStringSubmatch(note); m != nil {
		if m[1] != "" {
			what = "product rounded "
		}
		mode := fp.RNE
		if err := mode.UnmarshalText([]byte(strings.ToLower(m[2]))); err == nil {
			note = what + modeInWords(mode) + ": " + note[len(m[0]):]
		}
	}
	note = droppedBit.ReplaceAllStringFunc(note, func(s string) string {
		bits := "drops the bits "
		if len(s) == len("drops x") {
			bits = "drops the bit "
		}
		return strings.NewReplacer("drops ", bits, ".", "0", "x", "1").Replace(s)
	})
	return strings.NewReplacer("-1 ulp", "down by one unit in the last place (ulp)", "+1 ulp", "up by one unit in the last place (ulp)",
		"tie → even", "a tie, which goes to the even neighbour", "tie → away", "a tie, which goes away from zero").Replace(note)
}

// InWords tells what happens to a mismatch in a few sentences, in the order in which it
// happens.
func InWords(m *Mismatch) []string {
	a, b, panels := panelsOf(m, false)
	lines := []string{fmt.Sprintf("A is `%s`, B is `%s`. Both get the same input: %s.", m.A.Name, m.B.Name, inputInWords(&m.Input))}
	for i, v := range []*view{a, b} {
		if v.side.Trace == nil {
			lines = append(lines, fmt.Sprintf("No model explains how %s computes: only its result is known.", sideNames[i]))
		}
	}
	for i := range panels {
		if text := panels[i].inWords(); text != "" {
			lines = append(lines, text)
		}
	}
	lines = append(lines, decisive(a, b, panels))
	r := newResult(&m.Input, &m.A, &m.B)
	text := fmt.Sprintf("A gives `%s` (%s)", mma.FormatCode(r.format, r.codes[0]), decimal(r.format, r.codes[0]))
	text += fmt.Sprintf(" and B gives `%s` (%s)", mma.FormatCode(r.format, r.codes[1]), decimal(r.format, r.codes[1]))
	return append(lines, text+". The exact value is "+r.exact.Decimal()+": A's error is "+unitsText(r.exact.Ulps(r.codes[0]))+", B's "+unitsText(r.exact.Ulps(r.codes[1]))+".")
}

// inWords tells how a side computes the sum that decides.
func (p *panel) inWords() string {
	for i := range p.blocks {
		if words := p.blocks[i].words; len(words) > 1 {
			return p.letter + ": " + strings.Join(words[1:], " ")
		}
	}
	return ""
}

// unitsText writes an error in words.
func unitsText(u float64) string {
	if math.Abs(u) == 1 {
		return strings.Replace(ulps(u), "ulp", "unit in the last place (ulp)", 1)
	}
	return strings.Replace(ulps(u), "ulp", "units in the last place (ulp)", 1)
}

// inputInWords writes a short sum in decimal, of a long one how many terms it has.
func inputInWords(in *Input) string {
	const most = 3
	f, d := in.Formats, in.Dot
	var terms []string
	n := 0
	for k := range d.A {
		if d.A[k] == 0 || d.B[k] == 0 {
			continue
		}
		if n++; n <= most {
			terms = append(terms, fmt.Sprintf("(%s) × (%s)", decimal(f.A, d.A[k]), decimal(f.B, d.B[k])))
		}
	}
	if n > most {
		terms = []string{strconv.Itoa(n) + " products"}
	}
	if f.C != fp.None {
		terms = append(terms, "c = "+decimal(f.C, d.C))
	}
	text := strings.Join(terms, " + ")
	if left := len(d.A) - n; left > 0 {
		text += fmt.Sprintf(" (the other %d products are zero)", left)
	}
	return text
}

// decisive says which bits make the difference.
func decisive(a, b *view, panels []panel) string {
	if a.side.Trace == nil || b.side.Trace == nil {
		return "Which bits make the difference cannot be said without a model of both units."
	}
	var parts []string
	for i, p := range panels {
		other := sideNames[1-i]
		for _, k := range keptHere(p) {
			parts = append(parts, fmt.Sprintf("%s keeps %s, which %s drops", p.letter, k, other))
		}
	}
	const most = 4
	switch {
	case len(parts) > most:
		return strings.Join(parts[:most], "; ") + fmt.Sprintf("; and so in %d more terms.", len(parts)-most)
	case len(parts) > 0:
		return strings.Join(parts, "; ") + "."
	case !a.paired:
		return fmt.Sprintf("They add the same terms in different sums, each of which is rounded. A: %s. B: %s.", a.sumsInWords(), b.sumsInWords())
	}
	return "Both keep the same bits of every term. They differ in what is done with the sum: see the roundings."
}

// sumsInWords lists what a side adds with what, the last sum last.
func (v *view) sumsInWords() string {
	const most = 4
	var all []string
	for i := range v.sums {
		all = append(all, strings.Join(v.termNames(i), " + ")+" gives "+v.resultName(i))
	}
	if n := len(all) - most; n > 0 {
		all = slices.Concat(all[:most-1], []string{fmt.Sprintf("%d more sums", n)}, all[len(all)-1:])
	}
	return strings.Join(all, ", then ")
}

// keptHere names the bits of each term that only this side keeps.
func keptHere(p panel) []string {
	var all []string
	for i := range p.blocks {
		for _, e := range p.blocks[i].body {
			if e.row == nil || e.row.sum || !e.row.differs() {
				continue
			}
			ws := e.row.onlyHere()
			text := "the 1 at " + power(ws[0])
			if len(ws) > 1 {
				text = fmt.Sprintf("%d ones from %s on", len(ws), power(ws[0]))
			}
			all = append(all, text+" of "+e.row.label)
		}
	}
	return all
}
