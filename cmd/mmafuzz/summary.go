package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// finish shows the summary: a table of the pairs and their causes, the largest
// buckets, the picture of one finding, and how to see the others.
func (u *runUI) finish(s *fuzz.State, interrupted bool) {
	u.clearStatus()
	if u.json {
		u.event("summary", u.summaryEvent(s, interrupted))
		return
	}
	u.pairTable(s)
	u.bucketTable(s)
	u.example()
	u.total(s, interrupted)
}

// example draws one finding.
func (u *runUI) example() {
	f := u.showcase()
	if f == nil {
		return
	}
	p := &u.cfg.Pairs[f.Pair]
	fmt.Fprintf(u.stdout, "\nFor example, the smallest input found on which %s and %s differ:\n\n", p.TargetA, p.TargetB)
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

// pairTable has a row for each pair.
func (u *runUI) pairTable(s *fuzz.State) {
	w := tabwriter.NewWriter(u.stdout, 0, 0, 2, ' ', 0)
	several := u.severalTargets()
	head := "INSTRUCTION\tMISMATCHES\tOF\tEXPLAINED BY"
	if several {
		head = "A\tB\t" + head
	}
	fmt.Fprintln(w, head)
	for _, p := range s.Pairs {
		if several {
			fmt.Fprintf(w, "%s\t%s\t", p.TargetA, p.TargetB)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, mismatchRate(p), count(p.Dots), explanation(p))
	}
	w.Flush()
}

func mismatchRate(p *fuzz.PairState) string {
	n := p.Mismatches()
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%.3g%%)", count(n), 100*float64(n)/float64(p.Dots))
}

// explanation says in a few words what the verdict is.
func explanation(p *fuzz.PairState) string {
	switch {
	case p.Mismatches() == 0:
		return "equal bits"
	case p.Verdict == nil || !p.Verdict.Found():
		return string(triage.Unexplained)
	}
	return briefChanges(p.Verdict.Changes, 4)
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

// bucketRows is the number of buckets in the summary; all with -v.
const bucketRows = 12

// bucketTable has a row for each of the largest buckets.
func (u *runUI) bucketTable(s *fuzz.State) {
	type row struct {
		pair int
		*fuzz.Bucket
	}
	var rows []row
	for i, p := range s.Pairs {
		for _, b := range p.Sorted() {
			rows = append(rows, row{i, b})
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortStableFunc(rows, func(x, y row) int { return int(int64(y.Cases) - int64(x.Cases)) })
	total := len(rows)
	if !u.verbose {
		rows = rows[:min(total, bucketRows)]
	}
	fmt.Fprintln(u.stdout)
	w := tabwriter.NewWriter(u.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "BUCKET\tINSTRUCTION\tEXAMINED\tMAX STEPS\tBUNDLE")
	for _, r := range rows {
		dir := ""
		if f := u.firstFinding(r.pair, r.Name); f != nil {
			dir = u.bundleDir(f)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", u.paint(r.Name, bold), s.Pairs[r.pair].Name, r.Cases, steps(r.MaxUlp), dir)
	}
	w.Flush()
	if n := total - len(rows); n > 0 {
		fmt.Fprintf(u.stdout, "and %d more buckets (all: -v)\n", n)
	}
}

// steps writes a distance in steps between neighbouring numbers.
func steps(n float64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.2g", n)
}

func (u *runUI) total(s *fuzz.State, interrupted bool) {
	dots, mismatches, buckets := s.Totals()
	t := time.Since(u.began)
	fmt.Fprintln(u.stdout)
	if interrupted {
		fmt.Fprintf(u.stdout, "interrupted; the same command goes on from here with --out %s\n", u.dir)
	}
	status := exitAgree
	if mismatches > 0 {
		status = exitMismatch
	}
	fmt.Fprintf(u.stdout, "%d buckets, %d mismatches in %d dot products (%.1f s, %s/s); exit %d\n",
		buckets, mismatches, dots, t.Seconds(), count(rate(dots-u.startDots, t)), status)
	if u.cfg.Time > 0 {
		fmt.Fprintf(u.stdout, "the same findings without a clock: --count %d\n", equivalentCount(s))
	}
	u.hints()
}

// hints says how to go on.
func (u *runUI) hints() {
	f := u.showcase()
	if f == nil {
		return
	}
	dir := u.bundleDir(f)
	fmt.Fprintf(u.stdout, "picture:  mmafuzz show %s\nre-run:   mmafuzz replay %s\n", dir, dir)
}

// printEquivalents notes changes that no input tells from the verdict's.
func printEquivalents(w io.Writer, v *triage.Verdict) {
	for _, e := range v.Equivalent {
		fmt.Fprintf(w, "no input tells this from: %s\n", briefChanges(e, 8))
	}
}
