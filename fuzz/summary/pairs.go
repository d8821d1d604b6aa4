package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage"
)

// pairTables shows for each two targets the instructions on which they differ; if short, only the
// one on which they differ most.
func (w *printer) pairTables(short bool) {
	for first := 0; first < len(w.state.Pairs); {
		end := first + 1
		for end < len(w.state.Pairs) && w.state.Pairs[end].TargetA == w.state.Pairs[first].TargetA && w.state.Pairs[end].TargetB == w.state.Pairs[first].TargetB {
			end++
		}
		pairs := w.state.Pairs[first:end]
		switch differ := w.headline(pairs); {
		case !differ || len(pairs) == 1:
		case short:
			w.worstPair(pairs)
		default:
			w.pairTable(pairs)
		}
		first = end
	}
}

// headline writes whether and how often two targets differ, and why if they have only one
// instruction in common.
func (w *printer) headline(pairs []*fuzz.PairState) (differ bool) {
	var dots, mismatches uint64
	n := 0
	for _, p := range pairs {
		dots += p.Dots
		mismatches += p.Mismatches()
		if p.Mismatches() > 0 {
			n++
		}
	}
	what := pairs[0].Name
	if len(pairs) > 1 {
		what = fmt.Sprintf("%d instructions", len(pairs))
	}
	text := w.noDifference(pairs[0].TargetA+" and "+pairs[0].TargetB, what, dots)
	if n > 0 {
		if len(pairs) > 1 {
			what = fmt.Sprintf("%d of %s", n, what)
		}
		text = fmt.Sprintf("%s and %s differ on %s: in %s of %s (%s)",
			pairs[0].TargetA, pairs[0].TargetB, what, readable.Thousands(mismatches), readable.Dots(dots), readable.Share(mismatches, dots))
	}
	if len(pairs) == 1 && n == 1 {
		text += ": " + w.explanation(pairs[0])
	}
	fmt.Fprint(w, readable.Hanging(text, w.Width))
	return n > 0
}

// noDifference says how much it means that two targets have not differed on what was
// compared: they agree only if all that was asked for was compared.
func (w *printer) noDifference(targets, what string, dots uint64) string {
	switch {
	case dots == 0:
		return fmt.Sprintf("%s: nothing was compared on %s", targets, what)
	case w.sum.in.Left != nil:
		return fmt.Sprintf("%s: no difference so far on %s, equal results in %s; this is not complete", targets, what, readable.Dots(dots))
	}
	text := fmt.Sprintf("%s agree on %s: equal results in %s", targets, what, readable.Dots(dots))
	if w.sum.in.LeftOut != "" {
		text += "; not compared: " + w.sum.in.LeftOut
	}
	return text
}

// sameText says the same of a pair, in a few words.
func sameText(p *fuzz.PairState, incomplete bool) string {
	switch {
	case p.Dots == 0:
		return "nothing was compared"
	case incomplete:
		return "equal results so far"
	}
	return "equal results"
}

// pairTable has a row for each instruction of two targets.
func (w *printer) pairTable(pairs []*fuzz.PairState) {
	g := readable.Table{Width: w.Width, Right: map[int]bool{1: true, 2: true}, Head: true}
	g.Add("INSTRUCTION", "MISMATCHES", "", "EXPLAINED BY")
	var same, differ []*fuzz.PairState
	for _, p := range pairs {
		if p.Mismatches() == 0 {
			same = append(same, p)
		} else {
			differ = append(differ, p)
		}
	}
	rows := len(differ)
	if rows > rowsMost && !w.Verbose {
		rows = rowsMost - 1
	}
	for _, p := range differ[:rows] {
		g.Add(p.Name, readable.Thousands(p.Mismatches()), readable.Share(p.Mismatches(), p.Dots), w.explanation(p))
	}
	if rest := differ[rows:]; len(rest) > 0 {
		var dots, mismatches uint64
		for _, p := range rest {
			dots, mismatches = dots+p.Dots, mismatches+p.Mismatches()
		}
		g.Add(fmt.Sprintf("%d others (-v lists them)", len(rest)), readable.Thousands(mismatches), readable.Share(mismatches, dots), "")
	}
	left := w.sum.in.Left != nil
	compared := !slices.ContainsFunc(same, func(p *fuzz.PairState) bool { return p.Dots == 0 })
	if len(same) > 1 && compared && !w.Verbose {
		g.Add(fmt.Sprintf("%d others (-v lists them)", len(same)), "none", "", sameText(same[0], left))
		same = nil
	}
	for _, p := range same {
		g.Add(p.Name, "none", "", sameText(p, left))
	}
	fmt.Fprintln(w)
	g.Write(w, w.Bold)
}

// rowsMost is the largest number of instructions that differ of which the table has rows, without
// -v: the summary is to fit a screen.
const rowsMost = 5

// explanation describes the verdict in a few words: the causes, and with -v the changes from A's
// arithmetic to B's.
func (w *printer) explanation(p *fuzz.PairState) string {
	const most = 4
	text := explanation(p, most)
	if v := p.Verdict; w.Verbose || v == nil || !v.Found() || len(v.Changes) == 0 || len(v.Changes) > most {
		return text
	}
	return alikeText(p) + mainCauses(p)
}

// explanation describes the verdict in a few words: the changes from A's arithmetic to B's,
// or the causes if there are more than most changes.
func explanation(p *fuzz.PairState, most int) string {
	if p.Verdict == nil && p.Unexamined > 0 && p.Unexamined == p.Mismatches() {
		return "not examined yet"
	}
	if p.Verdict == nil || !p.Verdict.Found() {
		switch {
		case p.Rounded > 0 && p.Rounded == p.Mismatches() && p.Differences() == 0:
			return "stochastic rounding"
		case p.Rounded > 0 && p.Rounded == p.Mismatches():
			return "stochastic rounding with a defect"
		case p.Unstable > 0 && p.Unstable == p.Mismatches():
			return fuzz.Unstable
		}
		if len(p.Buckets) > 1 || len(p.Buckets) == 1 && p.Buckets[string(triage.Unexplained)] == nil {
			return mainCauses(p) // such as layout, which no program explains
		}
		return string(triage.Unexplained)
	}
	if n := len(p.Verdict.Changes); n == 0 || n > most {
		return alikeText(p) + mainCauses(p)
	}
	base, err := p.Verdict.Base()
	if err != nil {
		return alikeText(p) + mainCauses(p)
	}
	return alikeText(p) + readable.Converted(formatsOf(p), readable.Changes(fromA(p, p.Verdict.Changes), most, &base, &p.Verdict.Program)) + unexplainedShare(p)
}

// unexplainedShare says how many of the differing cases changes do not explain; "" if they
// explain all.
func unexplainedShare(p *fuzz.PairState) string {
	b := p.Buckets[string(triage.Unexplained)]
	if b == nil {
		return ""
	}
	return fmt.Sprintf("; %s of the cases unexplained", readable.Share(b.Cases, p.Mismatches()))
}

// mainCauses names the largest causes of a pair.
func mainCauses(p *fuzz.PairState) string {
	const most = 3
	var names []string
	for _, b := range p.Sorted() {
		names = append(names, b.Name)
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// alikeMost is the largest number of known targets that may compute what a black box does:
// if there are more, the evidence says little about it.
const alikeMost = 9

// alikeText names the known targets that compute what a black box does, "" if there are
// none or both sides are known.
func alikeText(p *fuzz.PairState) string {
	if p.Verdict == nil || len(p.Verdict.Alike) == 0 || len(p.Verdict.Alike) > alikeMost || !fuzz.IsUnknown(p.TargetA) && !fuzz.IsUnknown(p.TargetB) {
		return ""
	}
	side := "A"
	if p.BaseA {
		side = "B"
	}
	return side + " computes as " + strings.Join(readable.First(p.Verdict.Alike, 2), ", ") + "; "
}
