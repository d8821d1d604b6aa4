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
)

// causeTable has a row for each primary cause.
func (w *printer) causeTable() {
	all := fuzz.Causes(w.state)
	if len(all) == 0 {
		return
	}
	total := uint64(0)
	for _, c := range all {
		total += c.Cases
	}
	g := readable.Table{Width: w.Width, Right: map[int]bool{0: true, 1: true, 2: true, 3: true}, Head: true}
	g.Add("CASES", "SHARE", "INSTR", "MAX ULP", "CAUSE")
	for _, c := range all {
		g.Add(readable.Thousands(c.Cases), readable.Share(c.Cases, total), fmt.Sprintf("%d of %d", c.Pairs, len(w.state.Pairs)), readable.Ulps(c.MaxUlp), causeInWords(&c))
	}
	fmt.Fprintln(w)
	g.Write(w, nil)
	fmt.Fprintln(w)
	if len(all) > 1 {
		w.paragraph("CAUSE: the part of the arithmetic that, made equal on both sides, makes them agree; where any of several would do, the one that comes first in the computation.")
	}
	w.paragraph("MAX ULP: largest distance of the two results, in representable numbers; NaNs do not count.")
}

// causeInWords writes a cause with the classes of its cases that are not differences of plain
// values, and with how many cases need another cause too or are explained by another as well.
func causeInWords(c *fuzz.Cause) string {
	var notes []string
	for class, n := range c.Classes {
		if n > 0 && oracle.Class(class) != oracle.Value && oracle.Class(class) != oracle.Fault {
			notes = append(notes, fmt.Sprintf("%s %s", readable.Thousands(n), oracle.Class(class)))
		}
	}
	if notes != nil {
		notes = []string{"of these " + strings.Join(notes, ", ")}
	}
	more, other := folded(c)
	if more > 0 {
		notes = append(notes, readable.Thousands(more)+" need another part made equal as well")
	}
	if other > 0 {
		notes = append(notes, "in "+readable.Thousands(other)+" making another part equal would do")
	}
	if notes == nil {
		return c.Name
	}
	return c.Name + " (" + strings.Join(notes, "; ") + ")"
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

// causesInWords says what each label of the campaign means, and which changes from A's
// arithmetic to B's are behind it.
func (w *printer) causesInWords() {
	labels := labelsOf(fuzz.Causes(w.state))
	each, most := 3, changesMost
	if w.Verbose {
		each, most = allChanges, allChanges
	}
	behind := changesBehind(w.state, each)
	g := readable.Table{Width: w.Width}
	for _, l := range triage.Labels() {
		if labels[l.Label] {
			text := l.Doc
			var texts []string
			for _, c := range behind[l.Label] {
				texts = append(texts, c.text)
			}
			if texts != nil {
				text += ": " + strings.Join(readable.First(texts, most), "; ")
			}
			g.Add(string(l.Label), text)
		}
	}
	if g.Rows != nil {
		fmt.Fprintln(w)
		g.Write(w, w.Bold)
	}
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

// behind is the changes of the arithmetic behind a label, and the instructions with these
// changes.
type behind struct {
	text         string
	instructions []string
}

// changesBehind lists for each label the changes of all verdicts that earned it, of each
// verdict at most a given number.
func changesBehind(s *fuzz.State, each int) map[triage.Label][]behind {
	all := map[triage.Label][]behind{}
	for _, p := range s.Pairs {
		if p.Verdict == nil || !p.Verdict.Found() {
			continue
		}
		base := p.Verdict.Program
		if base.Apply(mma.Reversed(p.Verdict.Changes)) != nil {
			continue
		}
		for _, part := range triage.Parts(&base, &p.Verdict.Program) {
			text := readable.Changes(fromA(p, part.Changes), each)
			list := all[part.Label]
			i := slices.IndexFunc(list, func(b behind) bool { return b.text == text })
			if i < 0 {
				i, list = len(list), append(list, behind{text: text})
			}
			list[i].instructions = append(list[i].instructions, p.Name)
			all[part.Label] = list
		}
	}
	return all
}

// fromA returns changes of a verdict, which are from its base to the other side, as changes
// from A to B.
func fromA(p *fuzz.PairState, changes []mma.Change) []mma.Change {
	if p.BaseA {
		return changes
	}
	return mma.Reversed(changes)
}
