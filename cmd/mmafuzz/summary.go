package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// finish shows the summary: which instructions differ, the picture of one
// finding, how many cases each cause has and what it means, and how to go on.
func (u *runUI) finish(s *fuzz.State, interrupted, failed bool) {
	u.clearStatus()
	if u.json {
		u.event(u.summaryEvent(s, interrupted))
		return
	}
	u.pairTables(s)
	u.example()
	u.causeTable(s)
	u.bucketList(s)
	u.causesInWords(s)
	u.total(s, interrupted, failed)
}

// example draws one finding.
func (u *runUI) example() {
	f := u.showcase()
	if f == nil {
		return
	}
	p := &u.cfg.Pairs[f.Pair]
	if len(u.cfg.Pairs) == 1 || u.severalTargets() {
		fmt.Fprintln(u.stdout)
	}
	fmt.Fprintf(u.stdout, "The smallest input found on which %s and %s differ:\n\n", p.TargetA, p.TargetB)
	if err := u.picture(u.stdout, f); err != nil {
		u.log.Error().Err(err).Msg("drawing a finding")
	}
}

// showcase chooses the finding whose picture is shown: of ordinary values, with
// the fewest labels and terms, the earliest.
func (u *runUI) showcase() *fuzz.Finding {
	var best *fuzz.Finding
	var key [3]int
	for _, f := range u.findings {
		k := [3]int{0, strings.Count(f.Bucket, "+") + 2*strings.Count(f.Bucket, "|"), minimize.Terms(u.cfg.Pairs[f.Pair].Formats(), f.Dot)}
		if f.Class != oracle.Value || strings.HasPrefix(f.Bucket, string(triage.Unexplained)) {
			k[0] = 1
		}
		if best == nil || slices.Compare(k[:], key[:]) < 0 {
			best, key = f, k
		}
	}
	return best
}

// pairTables shows for each two targets the instructions on which they differ.
func (u *runUI) pairTables(s *fuzz.State) {
	for first := 0; first < len(s.Pairs); {
		end := first + 1
		for end < len(s.Pairs) && s.Pairs[end].TargetA == s.Pairs[first].TargetA && s.Pairs[end].TargetB == s.Pairs[first].TargetB {
			end++
		}
		if pairs := s.Pairs[first:end]; u.headline(pairs) && len(pairs) > 1 {
			u.pairTable(pairs)
		}
		first = end
	}
}

// headline says whether and how much two targets differ, on one instruction also
// why.
func (u *runUI) headline(pairs []*fuzz.PairState) (differ bool) {
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
	text := fmt.Sprintf("%s and %s agree on %s: equal bits in %s dot products", pairs[0].TargetA, pairs[0].TargetB, what, thousands(dots))
	if n > 0 {
		if len(pairs) > 1 {
			what = fmt.Sprintf("%d of %s", n, what)
		}
		text = fmt.Sprintf("%s and %s differ on %s: in %s of %s dot products (%s)",
			pairs[0].TargetA, pairs[0].TargetB, what, thousands(mismatches), thousands(dots), share(mismatches, dots))
	}
	if len(pairs) == 1 && n == 1 {
		text += ": " + explanation(pairs[0], 4)
	}
	for i, l := range wrap(text, u.width-2) {
		if i > 0 {
			l = "  " + l
		}
		fmt.Fprintln(u.stdout, l)
	}
	return n > 0
}

// pairTable has a row for each instruction of two targets.
func (u *runUI) pairTable(pairs []*fuzz.PairState) {
	g := grid{width: u.width, right: map[int]bool{1: true, 2: true}, head: true}
	g.add("INSTRUCTION", "MISMATCHES", "", "EXPLAINED BY")
	most := 4
	if len(pairs) > 12 {
		most = 2 // a line for each
	}
	var same []*fuzz.PairState
	for _, p := range pairs {
		if p.Mismatches() == 0 {
			same = append(same, p)
			continue
		}
		g.add(p.Name, thousands(p.Mismatches()), share(p.Mismatches(), p.Dots), explanation(p, most))
	}
	if len(same) > 1 && !u.verbose {
		g.add(fmt.Sprintf("%d others", len(same)), "none", "", "equal bits")
		same = nil
	}
	for _, p := range same {
		g.add(p.Name, "none", "", "equal bits")
	}
	fmt.Fprintln(u.stdout)
	g.write(u.stdout, u.bolden)
	fmt.Fprintln(u.stdout)
}

func (a *app) bolden(s string) string { return a.paint(s, bold) }

// share writes a part as a percentage.
func share(n, of uint64) string {
	if of == 0 {
		return "0%"
	}
	return fmt.Sprintf("%.3g%%", 100*float64(n)/float64(of))
}

// thousands writes a number with commas.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// explanation says in a few words what the verdict is, with at most so many
// changes.
func explanation(p *fuzz.PairState, most int) string {
	if p.Verdict == nil || !p.Verdict.Found() {
		return string(triage.Unexplained)
	}
	return briefChanges(p.Verdict.Changes, most)
}

// briefChanges writes the first most changes.
func briefChanges(changes []mma.Change, most int) string {
	var s []string
	for _, c := range changes {
		s = append(s, c.Brief())
	}
	if len(s) > most {
		s = append(s[:most], fmt.Sprintf("and %d more", len(s)-most))
	}
	return strings.Join(s, ", ")
}

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

func (u *runUI) total(s *fuzz.State, interrupted, failed bool) {
	dots, mismatches, buckets := s.Totals()
	t := time.Since(u.began)
	fmt.Fprintln(u.stdout)
	if interrupted {
		fmt.Fprintf(u.stdout, "interrupted: the same command with --out %s goes on from here\n", u.dir)
	}
	status := exitAgree
	switch {
	case failed:
		status = exitTrouble
	case mismatches > 0:
		status = exitMismatch
	}
	fmt.Fprintf(u.stdout, "%s, %s mismatches in %s dot products (%.1f s, %s/s); exit %d\n",
		plural(buckets, "bucket"), thousands(mismatches), thousands(dots), t.Seconds(), count(rate(dots-u.startDots, t)), status)
	if u.cfg.Time > 0 {
		fmt.Fprintf(u.stdout, "the same findings without a clock: --count %d\n", equivalentCount(s))
	}
	u.hints()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// hints says how to go on. The last line of all runs the finding of the picture
// again.
func (u *runUI) hints() {
	f := u.showcase()
	if f == nil {
		return
	}
	dir := u.bundleDir(f)
	fmt.Fprintf(u.stdout, "findings: %s in %s\n", plural(len(u.findings), "bundle"), u.dir)
	fmt.Fprintf(u.stdout, "picture:  %s show %s\n", command(), dir)
	fmt.Fprintf(u.stdout, "re-run:   %s replay %s\n", command(), dir)
}
