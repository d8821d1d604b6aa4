package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// cause is the buckets of one set of labels, over all pairs and classes.
type cause struct {
	labels  string
	cases   uint64
	pairs   int
	maxUlp  float64
	classes [oracle.Fault + 1]uint64
}

// causes merges buckets, the largest first.
func causes(s *fuzz.State) []*cause {
	var all []*cause
	index := map[string]*cause{}
	for _, p := range s.Pairs {
		here := map[string]bool{}
		for _, b := range p.Sorted() {
			set := labelSet(b.Name)
			c := index[set]
			if c == nil {
				c = &cause{labels: set}
				index[set], all = c, append(all, c)
			}
			if !here[set] {
				here[set] = true
				c.pairs++
			}
			c.cases += b.Cases
			c.maxUlp = max(c.maxUlp, b.MaxUlp)
			c.classes[b.Class] += b.Cases
		}
	}
	slices.SortFunc(all, func(x, y *cause) int {
		return cmp.Or(cmp.Compare(y.cases, x.cases), cmp.Compare(x.labels, y.labels))
	})
	return all
}

// causeRows is the number of causes in the summary; all with -v.
const causeRows = 12

// causeTable has a row for each set of labels.
func (u *runUI) causeTable(s *fuzz.State) {
	all := causes(s)
	if len(all) == 0 {
		return
	}
	total := uint64(0)
	for _, c := range all {
		total += c.cases
	}
	shown := all
	if !u.verbose {
		shown = all[:min(len(all), causeRows)]
	}
	g := grid{width: u.width, right: map[int]bool{0: true, 1: true, 2: true, 3: true}, head: true}
	g.add("CASES", "SHARE", "INSTR", "MAX ULP", "CAUSE")
	for _, c := range shown {
		g.add(thousands(c.cases), share(c.cases, total), fmt.Sprintf("%d of %d", c.pairs, len(s.Pairs)), ulps(c.maxUlp), inWordsOf(c))
	}
	fmt.Fprintln(u.stdout)
	g.write(u.stdout, func(s string) string { return s })
	if n := len(all) - len(shown); n > 0 {
		fmt.Fprintf(u.stdout, "and %d more causes (all: -v)\n", n)
	}
	for _, l := range wrap("MAX ULP: largest distance of the two results, in representable numbers", u.width) {
		fmt.Fprintln(u.stdout, l)
	}
}

// inWordsOf writes a set of labels as a phrase, with the classes of the cases
// that are not differences of plain values.
func inWordsOf(c *cause) string {
	alternatives := strings.Split(c.labels, "|")
	for i, a := range alternatives {
		if labels := strings.Split(a, "+"); len(labels) > 1 {
			last := len(labels) - 1
			alternatives[i] = strings.Join(labels[:last], ", ") + " and " + labels[last] + " together"
		}
	}
	text := strings.Join(alternatives, ", or ")
	if len(alternatives) > 1 {
		text = "either: " + text
	}
	var notes []string
	for class, n := range c.classes {
		if n > 0 && oracle.Class(class) != oracle.Value && oracle.Class(class).String() != c.labels {
			notes = append(notes, fmt.Sprintf("%s %s", thousands(n), oracle.Class(class)))
		}
	}
	if notes != nil {
		text += " (of these " + strings.Join(notes, ", ") + ")"
	}
	return text
}

// ulps writes a distance, a large one as a power of two.
func ulps(n float64) string {
	if n < 10_000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("2^%.0f", math.Log2(n))
}

// bucketList shows with -v every bucket and its bundle.
func (u *runUI) bucketList(s *fuzz.State) {
	if !u.verbose {
		return
	}
	fmt.Fprintln(u.stdout)
	for i, p := range s.Pairs {
		for _, b := range p.Sorted() {
			fmt.Fprintf(u.stdout, "%11s  %7s  %s\n", thousands(b.Cases), ulps(b.MaxUlp), b.Name)
			if f := u.firstFinding(i, b.Name); f != nil {
				fmt.Fprintf(u.stdout, "    %s\n", u.bundleDir(f))
			}
		}
	}
}

// causesInWords says what each label of the campaign means, and which changes of
// the arithmetic stand behind it.
func (u *runUI) causesInWords(s *fuzz.State) {
	labels := map[triage.Label]bool{}
	for _, c := range causes(s) {
		for _, l := range bucketLabels(c.labels) {
			labels[triage.Label(l)] = true
		}
	}
	behind := changesBehind(s)
	g := grid{width: u.width}
	for _, l := range triage.Labels() {
		if labels[l.Label] {
			text := l.Doc
			if c := behind[l.Label]; len(c) > 0 {
				text += ": " + strings.Join(c, ", ")
			}
			g.add(string(l.Label), text)
		}
	}
	if g.rows != nil {
		fmt.Fprintln(u.stdout)
		g.write(u.stdout, u.bolden)
	}
}

// changesBehind lists for each label the changes of all verdicts that earned it.
func changesBehind(s *fuzz.State) map[triage.Label][]string {
	behind := map[triage.Label][]string{}
	for _, p := range s.Pairs {
		if p.Verdict == nil || !p.Verdict.Found() {
			continue
		}
		base := p.Verdict.Program
		if base.Apply(reversed(p.Verdict.Changes)) != nil {
			continue
		}
		for _, part := range triage.Parts(&base, &p.Verdict.Program) {
			text := briefChanges(part.Changes, 3)
			if !slices.Contains(behind[part.Label], text) {
				behind[part.Label] = append(behind[part.Label], text)
			}
		}
	}
	return behind
}

// reversed turns changes round.
func reversed(changes []mma.Change) []mma.Change {
	back := slices.Clone(changes)
	for i := range back {
		back[i].From, back[i].To = back[i].To, back[i].From
	}
	return back
}
