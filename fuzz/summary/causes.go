package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// causes says how many cases each primary cause has, and what it means; if short, what differs in
// a line each.
func (w *printer) causes(short bool) {
	all := fuzz.Causes(w.state)
	switch {
	case len(all) == 0:
		return
	case w.Verbose:
		w.causeTable(all)
		w.causesInWords(all)
		return
	}
	fmt.Fprintln(w)
	if short {
		w.shortCauses(all)
	} else {
		w.wholeCauses(all)
	}
	if total, mismatches := totalOf(all), w.sum.Mismatches; total < mismatches {
		w.paragraph(fmt.Sprintf("SHARE: of the %s mismatches whose cause was looked for, of %s.", readable.Thousands(total), readable.Thousands(mismatches)))
	}
}

// wholeCauses has a row for each cause: its meaning, and the changes behind it.
func (w *printer) wholeCauses(all []fuzz.Cause) {
	words := map[string]string{}
	for _, r := range w.causeWords(all) {
		words[r[0]] = r[1]
	}
	g := readable.Table{Width: w.Width, Right: map[int]bool{0: true, 1: true}, Head: true}
	g.Add("CASES", "SHARE", causeHead(all), "WHAT DIFFERS")
	for _, c := range all {
		g.Add(readable.Thousands(c.Cases), readable.Share(c.Cases, totalOf(all)), c.Name, words[c.Name]+classesOf(&c))
	}
	g.Write(w, nil)
}

// causeHead is the heading of causes.
func causeHead(all []fuzz.Cause) string {
	if slices.ContainsFunc(all, func(c fuzz.Cause) bool { more, other := folded(&c); return more+other > 0 }) {
		return "FIRST CAUSE" // of the several that a case can have
	}
	return "CAUSE"
}

func totalOf(all []fuzz.Cause) (total uint64) {
	for _, c := range all {
		total += c.Cases
	}
	return total
}

// classesOf says in words if all cases of a cause are of a class that is not plain values.
func classesOf(c *fuzz.Cause) string {
	for _, s := range shownClasses {
		if c.Classes[s.class] == c.Cases {
			return " (all: " + s.doc + ")"
		}
	}
	return ""
}

// counted is the head of a column that counts pairs: those of one pair of targets are instructions.
func (w *printer) counted() string {
	for _, p := range w.state.Pairs {
		if first := w.state.Pairs[0]; p.TargetA != first.TargetA || p.TargetB != first.TargetB {
			return "PAIRS"
		}
	}
	return "INSTR"
}

// causeTable has a row for each primary cause, with numbers that a first look does not need.
func (w *printer) causeTable(all []fuzz.Cause) {
	total := totalOf(all)
	g := readable.Table{Width: w.Width, Right: map[int]bool{0: true, 1: true, 2: true, 3: true}, Head: true}
	g.Add("CASES", "SHARE", w.counted(), "MAX ULP", "CAUSE")
	for _, c := range all {
		g.Add(readable.Thousands(c.Cases), readable.Share(c.Cases, total), fmt.Sprintf("%d of %d", c.Pairs, len(w.state.Pairs)), readable.Ulps(c.MaxUlp), causeInWords(&c))
	}
	fmt.Fprintln(w)
	g.Write(w, nil)
	fmt.Fprintln(w)
	if mismatches := w.sum.Mismatches; total < mismatches {
		w.paragraph(fmt.Sprintf("SHARE: of the %s mismatches whose cause was looked for, of %s.", readable.Thousands(total), readable.Thousands(mismatches)))
	}
	if len(all) > 1 {
		w.paragraph("CAUSE: the part of the arithmetic that, made equal on both sides, makes them agree, in some cases together with a second part; where any of several parts would do, the first in the order of the list below.")
	}
	w.paragraph("MAX ULP: largest distance of the two results, in representable numbers. Infinities count, NaNs do not.")
	if text := classesInWords(all); text != "" {
		w.paragraph(text)
	}
}

// shownClasses are the classes of results that are counted beside a cause.
var shownClasses = []struct {
	class oracle.Class
	doc   string
}{
	{oracle.ZeroSign, "+0 on one side, -0 on the other"},
	{oracle.NaNCode, "two NaNs of different codes"},
	{oracle.NaN, "a NaN on one side only"},
	{oracle.Inf, "an infinity on one side only"},
}

// classesInWords says what the classes beside the causes mean; "" if there are none.
func classesInWords(all []fuzz.Cause) string {
	var texts []string
	for _, s := range shownClasses {
		if slices.ContainsFunc(all, func(c fuzz.Cause) bool { return c.Classes[s.class] > 0 }) {
			texts = append(texts, fmt.Sprintf("%s: %s", s.class, s.doc))
		}
	}
	return strings.Join(texts, "; ")
}

// causeInWords writes a cause with the classes of its cases that are not differences of plain
// values, and with how many cases need another part made equal too or would do with another.
func causeInWords(c *fuzz.Cause) string {
	var notes []string
	for _, s := range shownClasses {
		switch n := c.Classes[s.class]; n {
		case 0:
		case c.Cases:
			notes = append(notes, fmt.Sprintf("all %s", s.class))
		default:
			notes = append(notes, fmt.Sprintf("%s %s", readable.Thousands(n), s.class))
		}
	}
	if notes != nil {
		notes = []string{strings.Join(notes, ", ")}
	}
	more, other := folded(c)
	if more > 0 {
		notes = append(notes, atLeast(c, more)+" need another part made equal as well")
	}
	if other > 0 {
		notes = append(notes, "in "+atLeast(c, other)+" making another part equal instead would do")
	}
	if notes == nil {
		return c.Name
	}
	return c.Name + " (" + strings.Join(notes, "; ") + ")"
}

// atLeast writes a number of folded, which is a lower bound if there are further kinds of
// cases that were not counted one by one.
func atLeast(c *fuzz.Cause, n uint64) string {
	if c.More > 0 {
		return "at least " + readable.Thousands(n)
	}
	return readable.Thousands(n)
}

// folded counts the cases of a cause that need other labels too (more), and those that
// another label alone explains as well (other).
func folded(c *fuzz.Cause) (more, other uint64) {
	for _, d := range c.Details {
		switch {
		case strings.Contains(d.Name, "+"):
			more += d.Cases
		case strings.Contains(d.Name, "|"):
			other += d.Cases
		}
	}
	return more, other
}

// bucketList shows, with -v, the causes of each instruction, the kinds of cases beneath them,
// and the bundles.
func (w *printer) bucketList() {
	if !w.Verbose {
		return
	}
	fmt.Fprintln(w)
	w.paragraph("The kinds of cases beneath each cause: a+b needs both, a|b either, :CLASS is how the results differ where they are not both finite numbers.")
	for _, p := range w.state.Pairs {
		if len(p.Buckets) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", w.Bold(p.Name))
		for _, b := range p.Sorted() {
			fmt.Fprintf(w, "%11s  %7s  %s\n", readable.Thousands(b.Cases), readable.Ulps(b.MaxUlp), b.Name)
			for _, d := range b.SortedDetails() {
				fmt.Fprintf(w, "%13s  %7s    %s\n", readable.Thousands(d.Cases), readable.Ulps(d.MaxUlp), d.Name)
				if dir := p.Bundle(b.Name, d.Name); dir != "" {
					fmt.Fprintf(w, "%26s%s\n", "", dir)
				}
			}
			if b.More > 0 {
				fmt.Fprintf(w, "%13s  %7s    of other kinds\n", readable.Thousands(b.More), "")
			}
		}
	}
}

// causesInWords says what each cause of the campaign means, and each label of the kinds of cases
// beneath.
func (w *printer) causesInWords(all []fuzz.Cause) {
	g := readable.Table{Width: w.Width}
	for _, r := range w.causeWords(all) {
		g.Add(r...)
	}
	if g.Rows != nil {
		fmt.Fprintln(w)
		g.Write(w, w.Bold)
	}
}

// causeWords returns labels with what they mean, and the changes from A's arithmetic to B's that
// are behind them: those of the causes, with -v also of the kinds of cases beneath.
func (w *printer) causeWords(causes []fuzz.Cause) (rows [][]string) {
	labels := map[triage.Label]bool{}
	for _, c := range causes {
		labels[triage.Label(c.Name)] = true
	}
	most := changesMost
	write := writer(afterDoc)
	if w.Verbose {
		labels, most, write = labelsOf(causes), allChanges, ofAnyLabel(readable.NamedChanges)
	}
	behind := changesBehind(w.state, write)
	for _, l := range triage.Labels() {
		if labels[l.Label] {
			text := labelDoc(w.state, string(l.Label))
			var texts []string
			for _, c := range behind[l.Label] {
				texts = append(texts, c.whole())
			}
			if texts != nil {
				text += ": " + strings.Join(readable.First(texts, most), "; ")
			}
			rows = append(rows, []string{string(l.Label), text})
		}
	}
	if fault := oracle.Fault.String(); labels[triage.Label(fault)] {
		rows = append(rows, []string{fault, bundle.LabelDoc(fault)})
	}
	return rows
}

// writer writes the changes that are behind a label, of these programs.
type writer func(l triage.Label, changes []mma.Change, programs ...*mma.Params) string

// ofAnyLabel is a writer that writes the same whatever the label is.
func ofAnyLabel(write func([]mma.Change, ...*mma.Params) string) writer {
	return func(_ triage.Label, changes []mma.Change, programs ...*mma.Params) string {
		return write(changes, programs...)
	}
}

// afterDoc writes the first changes of a label behind what the label means. If it is that of the
// parameter, this says in words what L and F are: one of them alone is not named twice.
func afterDoc(l triage.Label, changes []mma.Change, programs ...*mma.Params) string {
	text := readable.Changes(changes, 3, programs...)
	if f, ok := mma.FindField(changes[0].Path); ok && len(changes) == 1 && triage.Label(f.Label) == l {
		if name, symbol, ok := strings.Cut(f.Brief, " ("); ok && strings.HasSuffix(symbol, ")") {
			return strings.TrimSuffix(symbol, ")") + strings.TrimPrefix(text, name+" ("+symbol)
		}
	}
	return text
}

// labelsOf returns the labels in causes and in the kinds of cases beneath them.
func labelsOf(causes []fuzz.Cause) map[triage.Label]bool {
	labels := map[triage.Label]bool{}
	for _, c := range causes {
		labels[triage.Label(c.Name)] = true
		for _, d := range c.Details {
			for _, l := range fuzz.LabelsIn(d.Name) {
				labels[triage.Label(l)] = true
			}
		}
	}
	return labels
}

// changesMost is the largest number of different changes that are shown for a label.
const changesMost = 4

// allChanges is more than a program can have, so that all are shown.
const allChanges = 1000

// behind is the changes of the arithmetic behind a label, what may be the cause as well, and the
// instructions with these changes.
type behind struct {
	text, instead string
	instructions  []string
}

// whole is the changes with what may be the cause as well.
func (b *behind) whole() string {
	if b.instead == "" {
		return b.text
	}
	return b.text + " (" + b.instead + ")"
}

// changesBehind lists for each label the changes of all verdicts that earned it, as write writes
// those of a verdict.
func changesBehind(s *fuzz.State, write writer) map[triage.Label][]behind {
	all := map[triage.Label][]behind{}
	add := func(l triage.Label, text, instead, instruction string) {
		list := all[l]
		i := slices.IndexFunc(list, func(b behind) bool { return b.text == text && b.instead == instead })
		if i < 0 {
			i, list = len(list), append(list, behind{text: text, instead: instead})
		}
		list[i].instructions = append(list[i].instructions, instruction)
		all[l] = list
	}
	for _, p := range s.Pairs {
		if d := p.Defect(); d != nil {
			add(triage.Defect, readable.Converted(formatsOf(p), bundle.DefectText(d)), "", p.Name)
		}
		if s := p.Sums(); s != nil {
			add(triage.Schedule, bundle.SumsText(s), "", p.Name)
		}
		for _, f := range p.Findings {
			if f.Spots != nil {
				add(triage.Layout, bundle.DefectText(f.Spots), "", p.Name)
			}
			if f.Bucket == string(triage.NaNCode) && f.Mismatch != nil {
				add(triage.NaNCode, "for example "+bundle.CodesText(f.Mismatch), "", p.Name)
			}
			if f.Past != nil {
				add(triage.Label(f.Bucket), bundle.DefectText(f.Past), "", p.Name)
			}
		}
		if p.Verdict == nil || !p.Verdict.Found() {
			continue
		}
		base, err := p.Verdict.Base()
		if err != nil {
			continue
		}
		for _, part := range withFormats(triage.Parts(&base, &p.Verdict.Program)) {
			text, f := write(part.Label, fromA(p, part.Changes), &base, &p.Verdict.Program), formatsOf(p)
			if f.Conversion() {
				text = readable.Converted(f, readable.Changes(fromA(p, part.Changes), changesMost, &base, &p.Verdict.Program))
			}
			add(part.Label, text, readable.Instead(p.Verdict.Instead(part.Changes, !p.BaseA)), p.Name)
		}
	}
	return all
}

// withFormats puts the range of a rounding together with its fraction bits where all of them are of one label, as
// those of integers are: they have one name, 16-bit integers.
func withFormats(parts []triage.Part) (all []triage.Part) {
	for _, part := range parts {
		path := part.Changes[0].Path
		place := strings.TrimSuffix(strings.TrimSuffix(path, ".emin"), ".emax")
		i := slices.IndexFunc(all, func(x triage.Part) bool { return x.Label == part.Label && x.Changes[0].Path == place+".frac" })
		if place == path || i < 0 {
			all = append(all, triage.Part{Label: part.Label, Changes: slices.Clone(part.Changes)})
			continue
		}
		all[i].Changes = append(all[i].Changes, part.Changes...)
	}
	return all
}

// fromA returns changes of a verdict, which are from its base to the other side, as changes
// from A to B.
func fromA(p *fuzz.PairState, changes []mma.Change) []mma.Change {
	if p.BaseA {
		return changes
	}
	return readable.Reversed(changes)
}
