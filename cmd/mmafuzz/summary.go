package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// finish shows the summary: which instructions differ, the picture of one
// finding, how many cases each cause has and what it means, and how to go on.
func (u *runUI) finish(s *fuzz.State, failed bool) {
	u.line.clear()
	if u.json {
		u.event(u.summaryEvent(s))
		return
	}
	u.pairTables(s)
	u.example(s)
	u.causeTable(s)
	u.bucketList(s)
	u.causesInWords(s)
	u.unexplained(s)
	u.knownSection(s)
	u.unstableList(s)
	u.total(s, failed)
}

// example draws one finding.
func (u *runUI) example(s *fuzz.State) {
	f := u.showcase(s)
	if f == nil {
		return
	}
	p := &u.cfg.Pairs[f.Pair]
	if len(u.cfg.Pairs) == 1 || u.cfg.SeveralTargets() {
		fmt.Fprintln(u.stdout)
	}
	cause := ""
	if f.Class == oracle.Value && f.Bucket != string(triage.Unexplained) {
		cause = fmt.Sprintf(" by %s, the most frequent cause of differing numbers (infinities and NaNs aside)", f.Bucket)
	}
	u.paragraph(fmt.Sprintf("The smallest input found on which %s and %s differ%s:", p.TargetA, p.TargetB, cause))
	fmt.Fprintln(u.stdout)
	pic, err := bundle.Picture(f.Mismatch, "") // how to run it again stands at the end
	if err == nil {
		err = report.Text(printable.Raw(u.stdout), pic, u.textOptions())
	}
	if err != nil {
		u.log.Error().Err(err).Msg("drawing a finding")
	}
}

// showcase chooses the finding whose picture is shown: of the cause of most differences
// of ordinary values, with the fewest labels and terms, the earliest. What is unexplained
// comes last.
func (u *runUI) showcase(s *fuzz.State) *fuzz.Case {
	values := map[string]uint64{}
	for _, c := range fuzz.Causes(s) {
		values[c.Name] = c.Classes[oracle.Value]
	}
	var best *fuzz.Case
	var key [5]int64
	for _, f := range u.shownFindings() {
		k := [5]int64{1, 0, -int64(values[f.Bucket]), int64(strings.Count(f.Detail, "+") + 2*strings.Count(f.Detail, "|")),
			int64(minimize.Terms(u.cfg.Pairs[f.Pair].Formats(), f.Dot))}
		if f.Class == oracle.Value && f.Bucket != fuzz.Unstable {
			k[0] = 0
		}
		if f.Bucket == string(triage.Unexplained) {
			k[1] = 1
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
	text := fmt.Sprintf("%s and %s agree on %s: equal bits in %s dot products", pairs[0].TargetA, pairs[0].TargetB, what, readable.Thousands(dots))
	if n > 0 {
		if len(pairs) > 1 {
			what = fmt.Sprintf("%d of %s", n, what)
		}
		text = fmt.Sprintf("%s and %s differ on %s: in %s of %s dot products (%s)",
			pairs[0].TargetA, pairs[0].TargetB, what, readable.Thousands(mismatches), readable.Thousands(dots), readable.Share(mismatches, dots))
	}
	if len(pairs) == 1 && n == 1 {
		text += ": " + explanation(pairs[0], 4)
	}
	fmt.Fprint(u.stdout, readable.Hanging(text, u.width))
	return n > 0
}

// pairTable has a row for each instruction of two targets.
func (u *runUI) pairTable(pairs []*fuzz.PairState) {
	g := readable.Table{Width: u.width, Right: map[int]bool{1: true, 2: true}, Head: true}
	g.Add("INSTRUCTION", "MISMATCHES", "", "EXPLAINED BY")
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
		g.Add(p.Name, readable.Thousands(p.Mismatches()), readable.Share(p.Mismatches(), p.Dots), explanation(p, most))
	}
	if len(same) > 1 && !u.verbose {
		g.Add(fmt.Sprintf("%d others", len(same)), "none", "", "equal bits")
		same = nil
	}
	for _, p := range same {
		g.Add(p.Name, "none", "", "equal bits")
	}
	fmt.Fprintln(u.stdout)
	g.Write(u.stdout, u.bolden)
	fmt.Fprintln(u.stdout)
}

func (a *app) bolden(s string) string { return a.paint(s, bold) }

// explanation says in a few words what the verdict is: at most so many changes from A's
// arithmetic to B's, or the causes if there are more.
func explanation(p *fuzz.PairState, most int) string {
	if p.Verdict == nil && p.Unexamined > 0 && p.Unexamined == p.Mismatches() {
		return "not examined yet"
	}
	if p.Verdict == nil || !p.Verdict.Found() {
		return string(triage.Unexplained)
	}
	if n := len(p.Verdict.Changes); n == 0 || n > most {
		return alikeText(p) + mainCauses(p)
	}
	return alikeText(p) + readable.Changes(fromA(p, p.Verdict.Changes), most)
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

func (u *runUI) total(s *fuzz.State, failed bool) {
	dots, mismatches, causes := s.Totals()
	t := time.Since(u.began)
	fmt.Fprintln(u.stdout)
	u.writeUnfinished(s)
	status := exitAgree
	switch {
	case failed:
		status = exitTrouble
	case u.left != nil:
		status = exitIncomplete
	case u.hasNews(s):
		status = exitMismatch
	}
	fmt.Fprintf(u.stdout, "%s, %s mismatches in %s dot products (%.1f s, %s/s); exit %d\n",
		readable.Plural(causes, "cause"), readable.Thousands(mismatches), readable.Thousands(dots), t.Seconds(), readable.Count(readable.Rate(dots-u.startDots, t)), status)
	if u.cfg.Time > 0 {
		u.writeCounts(s)
	}
	u.hints(s)
}

// hints says how to go on. The last line of all runs the finding of the picture
// again.
func (u *runUI) hints(s *fuzz.State) {
	f := u.showcase(s)
	if f == nil {
		return
	}
	dir := f.Dir
	more := ""
	if n := s.NotKept(); n > 0 {
		more = fmt.Sprintf(", and %d more not kept (--max-bundles)", n)
	}
	fmt.Fprintf(u.stdout, "findings: %s in %s%s\n", readable.Plural(len(u.findings), "bundle"), u.dir, more)
	p := &u.cfg.Pairs[f.Pair]
	fmt.Fprintf(u.stdout, "picture:  %s show %s\n", command(), readable.ShellPath(dir))
	fmt.Fprintf(u.stdout, "re-run:   %s replay %s%s\n", command(), readable.ShellPath(dir), allowance(p.TargetA, p.TargetB))
}
