package summary

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/compare"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// TextOptions say how a summary is written for people.
type TextOptions struct {
	Width     int                 // columns
	Verbose   bool                // whole lists
	Bold      func(string) string // marks up headings and names; nil: nothing is marked up
	Color     bool                // in the picture
	Command   string              // how the reader calls mmafuzz, for commands to copy
	Dir       string              // of the campaign
	KnownFile string              // the file with the list of known differences
	Resumed   uint64              // dot products that were compared before the campaign was resumed
	Exit      int                 // the exit status
}

// printer writes a summary.
type printer struct {
	io.Writer
	TextOptions
	sum   *Summary
	state *fuzz.State
}

// Write writes which instructions differ, how many cases each cause has and what it means, the
// picture of one finding, and how to go on: a screen, and more if it is verbose. The text may
// change with every version.
func (s *Summary) Write(w io.Writer, o TextOptions) error {
	if o.Bold == nil {
		o.Bold = func(s string) string { return s }
	}
	p := &printer{w, o, s, s.in.State}
	p.overview()
	if err := p.example(); err != nil {
		return err
	}
	p.bucketList()
	p.unexplained()
	if err := p.knownSection(); err != nil {
		return err
	}
	p.inferredList()
	p.constantList()
	p.unstableList()
	p.total()
	p.codesList()
	p.hints()
	return nil
}

// paragraph writes text to the width of the output.
func (w *printer) paragraph(text string) {
	for _, l := range readable.Wrap(text, w.Width) {
		fmt.Fprintln(w, l)
	}
}

// example draws one finding.
func (w *printer) example() error {
	f := w.showcase()
	if f == nil {
		return nil
	}
	cfg := w.sum.in.Config
	p := &cfg.Pairs[f.Pair]
	fmt.Fprintln(w)
	switch {
	case f.Bucket == fuzz.Unstable:
		w.paragraph(fmt.Sprintf("An input on which %s or %s does not repeat its answer, as it was drawn, not made smaller:", p.TargetA, p.TargetB))
	case f.Class == oracle.Value && f.Bucket != string(triage.Unexplained):
		w.paragraph(fmt.Sprintf("The smallest input found that shows %s, A being %s and B %s:", f.Bucket, p.TargetA, p.TargetB))
	default:
		w.paragraph(fmt.Sprintf("The smallest input found on which A, %s, and B, %s, differ:", p.TargetA, p.TargetB))
	}
	if w.Verbose {
		fmt.Fprintln(w)
	}
	pic, err := bundle.Picture(f.Mismatch, "") // hints says how to run it again
	if err != nil {
		return fmt.Errorf("drawing a finding: %w", err)
	}
	brief := !w.Verbose
	if w.sum.in.Unexplained(f.Pair) != nil {
		pic.Notes, pic.Next = nil, nil // unexplained says both, with what is known by now
	} else if f.Bucket == string(triage.Unexplained) {
		brief = false // nobody else says what comes next
	}
	return report.Text(printable.Raw(w.Writer), pic, report.TextOptions{Width: w.Width, Color: w.Color, Brief: brief})
}

// showcase chooses the finding whose picture is shown: one of the cause with the most
// differences of ordinary values, and of these the first with the fewest labels and terms.
// Unexplained findings come last.
func (w *printer) showcase() *fuzz.Case {
	values := map[string]uint64{}
	for _, c := range fuzz.Causes(w.state) {
		values[c.Name] = c.Classes[oracle.Value]
	}
	var best *fuzz.Case
	var key [5]int64
	for _, f := range w.shown() {
		k := [5]int64{1, 0, -int64(values[f.Bucket]), int64(strings.Count(f.Detail, "+") + 2*strings.Count(f.Detail, "|")),
			int64(minimize.Terms(w.sum.in.Config.Pairs[f.Pair].Formats(), f.Dot))}
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

// shown returns the findings of which one is drawn: those that are not known, or all if all
// are known.
func (w *printer) shown() []*fuzz.Case {
	in := &w.sum.in
	news := slices.DeleteFunc(slices.Clone(in.Findings), func(f *fuzz.Case) bool {
		return in.Known.Covers(&in.Config.Pairs[f.Pair], f, w.state.Pairs[f.Pair].Rule(f.Bucket))
	})
	if len(news) == 0 {
		return in.Findings
	}
	return news
}

// unexplainedMost is the number of pairs that nothing explains on which the summary has a
// paragraph, without -v.
const unexplainedMost = 3

// unexplained says, for each pair that nothing explains, how near a known program comes and
// how to go on.
func (w *printer) unexplained() {
	left := 0
	for i, p := range w.state.Pairs {
		if p.Buckets[string(triage.Unexplained)] == nil {
			continue
		}
		x := w.sum.in.Unexplained(i)
		if x == nil {
			continue
		}
		if left++; left > unexplainedMost && !w.Verbose {
			continue
		}
		fmt.Fprintln(w)
		w.writeUnexplained(x)
	}
	if left -= unexplainedMost; left > 0 && !w.Verbose {
		fmt.Fprintf(w, "and %s more that nothing explains (all: -v)\n", readable.Plural(left, "pair"))
	}
}

// writeUnexplained writes what is known of a pair that nothing explains.
func (w *printer) writeUnexplained(x *fuzz.Unexplained) {
	for _, l := range readable.Wrap(x.Why, w.Width) {
		fmt.Fprintln(w, l)
	}
	if n := x.Nearest; n != nil {
		g := readable.Table{Width: w.Width}
		g.Add("  nearest", bundle.NearestText(n))
		g.Add("  wrong", bundle.WitnessText(n))
		g.Write(w, nil)
	}
	for _, c := range x.Next {
		fmt.Fprintf(w, "  next     %s\n", strings.Replace(c, "mmafuzz", w.Command, 1))
	}
	if len(x.Next) > 0 {
		g := readable.Table{Width: w.Width}
		g.Add("         ", "searches many more programs, and reports the best one with the smallest input on which it fails; not for a condition under which a unit errs")
		g.Write(w, nil)
	}
}

// knownSection counts the known differences, and lists those that are not known.
func (w *printer) knownSection() error {
	n := w.sum.Counts
	if n == nil {
		return nil
	}
	var known, news uint64
	for i := range w.sum.differences {
		if d := &w.sum.differences[i]; d.State == compare.StateKnown {
			known += d.Cases
		} else {
			news += d.Cases
		}
	}
	fmt.Fprintf(w, "\n%s  %s with %s, by %s\n", w.Bold("KNOWN"), readable.Plural(n.Known, "difference"), readable.Mismatches(known), w.KnownFile)
	g := readable.Table{Width: w.Width}
	for _, e := range w.sum.Known {
		if e.State != "used" || w.Verbose {
			g.Add("  "+e.ID, e.State, e.Text())
		}
	}
	g.Write(w, nil)
	left := n.New + n.Expired
	if left == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s  %s with %s\n", w.Bold("NEW"), readable.Plural(left, "difference"), readable.Mismatches(news))
	return compare.WriteUnknown(w, w.sum.differences, compare.TextOptions{Width: w.Width, Verbose: w.Verbose, Bold: w.Bold, Command: w.Command})
}

// inferredList says which program each side computes of which nothing was known. That none was
// found is worth no word where the causes are known without it, as of a unit with a defect.
func (w *printer) inferredList() {
	for i, st := range w.state.Pairs {
		first := true
		for _, x := range st.Inferred {
			if x.Arithmetic == "" && st.Verdict != nil && st.Verdict.Settled() {
				continue
			}
			if first {
				fmt.Fprintln(w)
				first = false
			}
			unit := x.Target
			if p := &w.sum.in.Config.Pairs[i]; len(w.state.Pairs) > 1 && x.Side == "b" {
				unit += "/" + p.B.Instruction().Name
			} else if len(w.state.Pairs) > 1 {
				unit += "/" + p.A.Instruction().Name
			}
			tested := readable.Thousands(uint64(x.Tested))
			text := fmt.Sprintf("inferred: a program that agrees with %s on all of %s inputs (-v shows it)", unit, tested)
			switch {
			case x.Arithmetic != "" && w.Verbose:
				text = fmt.Sprintf("inferred: %s computes %s: none of %s inputs differs", unit, x.Arithmetic, tested)
			case x.Arithmetic == "":
				text = fmt.Sprintf("inferred: no program was found that computes what %s does (%s)", unit, x.Verdict)
			}
			if x.ByClass && x.Arithmetic != "" {
				text += ", NaNs compared by class"
			}
			if x.Late {
				text += ": the half of --time that was left for it is spent; a longer run may find one"
			}
			fmt.Fprint(w, readable.Hanging(text, w.Width))
		}
	}
}

// codesList counts what differs in codes alone and is no mismatch: for each pair with -v, else
// together.
func (w *printer) codesList() {
	var sum readable.Uncompared
	for i, st := range w.state.Pairs {
		if st.Codes == 0 {
			continue
		}
		policy := w.sum.in.Config.Policy(&w.sum.in.Config.Pairs[i])
		one := readable.Uncompared{Codes: st.Codes, NaN: policy.NaN == oracle.ByClass, Zero: policy.Zero == oracle.ByClass}
		if w.Verbose {
			one.Of = st.Name
			fmt.Fprint(w, "codes:    ", readable.Hanging(one.String(), w.Width-10))
		}
		sum.Add(one)
	}
	if sum.Codes > 0 && !w.Verbose {
		fmt.Fprint(w, "codes:    ", readable.Hanging(sum.String(), w.Width-10))
	}
}

// constantFrom is how many results that are kept must be equal before they are worth a remark: an
// arithmetic gives the same result to so many inputs of all generators by no chance.
const constantFrom = 32

// constantList names the pairs that agree because both sides give one and the same result to all
// inputs, as children do that misread what they are asked.
func (w *printer) constantList() {
	for i, st := range w.state.Pairs {
		f := w.sum.in.Config.Pairs[i].Formats()
		if st.Mismatches() > 0 || len(st.Agree) < constantFrom || alike(st.Agree, f) {
			continue
		}
		first := st.Agree[0].A
		if slices.ContainsFunc(st.Agree, func(s fuzz.Sample) bool { return s.A != first }) {
			continue
		}
		fmt.Fprintln(w)
		fmt.Fprint(w, readable.Hanging(fmt.Sprintf("constant: both sides of %s gave %0*x to all of %d inputs that were looked at. Do they read what they are asked?",
			st.Name, 2*f.D.Width(), first, len(st.Agree)), w.Width))
	}
}

// alike reports whether samples are the first ones of all codes of more than 16 bits, which lie close
// together, and may well have one result.
func alike(samples []fuzz.Sample, f mma.Formats) bool {
	return f.A.Get().CodeBits() > 16 && !slices.ContainsFunc(samples, func(s fuzz.Sample) bool {
		name, _, _ := strings.Cut(s.Source, "@")
		return name != "codes"
	})
}

// unstableList counts the mismatches that are no evidence of anything, because a unit gave
// another result when it was asked again.
func (w *printer) unstableList() {
	for _, st := range w.state.Pairs {
		x := newUnstable(st)
		if x == nil {
			continue
		}
		text := fmt.Sprintf("unstable: %s of the mismatches of %s do not repeat themselves: %s its answers. They show nothing of its arithmetic, and count as no cause.", readable.Thousands(x.Cases), st.Name, x.who())
		if x.Bundle != "" {
			text += fmt.Sprintf(" One of them, asked again, gave the same two results %d of %d times: %s", x.Repeated, x.Of, x.Bundle)
		}
		fmt.Fprintln(w)
		fmt.Fprint(w, readable.Hanging(text, w.Width))
	}
	for i := range w.sum.Pairs {
		for _, r := range w.sum.Pairs[i].Stochastic {
			fmt.Fprintln(w)
			fmt.Fprint(w, readable.Hanging("stochastic: "+r.Text, w.Width))
		}
		for _, text := range w.sum.Pairs[i].Unjudged {
			fmt.Fprintln(w)
			fmt.Fprint(w, readable.Hanging("not judged: "+text, w.Width))
		}
		for _, h := range w.sum.Pairs[i].History {
			if h.Kept != "" && saidOfCase(w.state.Pairs[i].Findings, h.Kept) {
				continue
			}
			fmt.Fprintln(w)
			fmt.Fprint(w, readable.Hanging("history: "+h.Text, w.Width))
		}
		for _, d := range w.sum.Pairs[i].Drift {
			fmt.Fprintln(w)
			fmt.Fprint(w, readable.Hanging(d.text(w.sum.Pairs[i].Names.Instruction), w.Width))
		}
	}
	for _, text := range w.sum.recordedUnstable() {
		fmt.Fprintln(w)
		fmt.Fprint(w, readable.Hanging("unstable: "+text, w.Width))
	}
}

// saidOfCase reports whether the table of causes says what a unit keeps.
func saidOfCase(findings []*fuzz.Case, kept string) bool {
	return slices.ContainsFunc(findings, func(f *fuzz.Case) bool { return f.Spots != nil && strings.HasSuffix(f.Spots.Rule, kept) })
}

// text says that a target has changed.
func (d *Drift) text(instruction string) string {
	return fmt.Sprintf("drift: %s has changed. Of %d inputs of %s it answers %d otherwise than at the beginning, the same each time; seen after %s dot products. Its mismatches are those of more than one arithmetic: believe no cause before it is mended.",
		d.Target, d.Of, instruction, d.Changed, readable.Thousands(d.Dots))
}

// who says which of the two units changes its answers.
func (x *Unstable) who() string {
	switch len(x.Changing) {
	case 1:
		return x.Changing[0] + " changes"
	case 2:
		return "each of the two units changes"
	}
	return "a unit changes"
}

// recordedUnstable returns a sentence for each recording whose unit changed its answers when it was
// recorded.
func (s *Summary) recordedUnstable() (texts []string) {
	pairs := s.in.Config.Pairs
	for i := range pairs {
		p := &pairs[i]
		for _, side := range []struct {
			target string
			unit   devices.Unit
		}{{p.TargetA, p.A}, {p.TargetB, p.B}} {
			if note := devices.WhenRecorded(side.unit, corpus.UnstableKey); note != "" {
				texts = append(texts, fmt.Sprintf("some differences may be chance; noted when %s was recorded: %s", side.target, note))
			}
		}
	}
	return texts
}

// writeUnfinished says what was not compared or not examined, and how to go on.
func (w *printer) writeUnfinished() {
	left := w.sum.in.Left
	lines := []string{}
	unexamined := uint64(0)
	for _, st := range w.state.Pairs {
		unexamined += st.Unexamined
	}
	if left != nil {
		lines = append(lines, left.String())
	}
	merged := w.sum.in.Time == 0
	switch {
	case unexamined > 0 && merged:
		lines = append(lines, readable.Thousands(unexamined)+" of the mismatches have no cause: they came before there was a verdict on the unit, and only a few of them were kept")
	case unexamined > 0:
		lines = append(lines, readable.Thousands(unexamined)+" of the mismatches were not examined yet: their causes were not looked for")
	}
	partial := left != nil && left.Why == w.sum.in.Config.Partial
	if lines != nil && !merged && !partial && (left == nil || left.Why != fuzz.NothingCompared) {
		lines = append(lines, fmt.Sprintf("to go on: the same command with --out %s", readable.ShellPath(w.Dir)))
	}
	if left != nil && left.Why == fuzz.NothingCompared {
		lines = append(lines, "to go on: give more --time or --count, other generators, or a recording that has inputs")
	}
	if unexamined == 0 && left == nil {
		return
	}
	for _, text := range lines {
		fmt.Fprint(w, readable.Hanging(text, w.Width))
	}
}

// total writes the line of totals, and how to get the same findings without a clock.
func (w *printer) total() {
	sum := w.sum
	fmt.Fprintln(w)
	w.writeUnfinished()
	pace := ""
	if sum.in.Time > 0 && sum.Dots > w.Resumed { // else nothing was left to do
		pace = fmt.Sprintf(" (%.1f s, %s/s)", sum.Seconds, readable.Count(readable.Rate(sum.Dots-w.Resumed, sum.in.Time)))
	}
	rounded := uint64(0)
	for _, p := range w.state.Pairs {
		rounded += p.Rounded
	}
	by := ""
	if rounded > 0 {
		by = fmt.Sprintf(", %s of them by stochastic rounding", readable.Thousands(rounded))
	}
	lost := ""
	if w.Exit == 2 {
		lost = ", without those of the round that an error has ended"
	}
	w.paragraph(fmt.Sprintf("%s, %s in %s%s%s%s; exit %d%s",
		readable.Plural(sum.Causes, "cause"), readable.Mismatches(sum.Mismatches), readable.Dots(sum.Dots), by, lost, pace, w.Exit, w.beyondLists()))
	if sum.in.Config.Time == 0 || len(sum.Sequence) == 0 {
		return
	}
	fmt.Fprintf(w, "the same findings without a clock: --count %d", sum.Sequence[0])
	for _, n := range sum.Sequence[1:] {
		fmt.Fprintf(w, ", then --count %d with the same --out", n)
	}
	fmt.Fprintln(w)
}

// beyondLists says why the exit status is 1 though all causes are on the list of known differences; "":
// it is another, or a cause is not.
func (w *printer) beyondLists() string {
	if n := w.sum.Counts; n == nil || n.New+n.Expired > 0 || w.Exit != 1 {
		return ""
	}
	unstable, unexamined := uint64(0), uint64(0)
	for _, p := range w.state.Pairs {
		unstable += p.Unstable - (p.Mismatches() - p.Differences())
		unexamined += p.Unexamined
	}
	var parts []string
	for _, x := range []struct {
		n    uint64
		text string
	}{{unstable, "not repeatable"}, {unexamined, "not examined"}} {
		if x.n > 0 {
			parts = append(parts, readable.Thousands(x.n)+" "+x.text)
		}
	}
	return ", because of mismatches that no list covers: " + strings.Join(parts, ", ")
}

// hints says how to go on. Its last line is the command that runs the finding of the picture
// again.
func (w *printer) hints() {
	f := w.showcase()
	if f == nil {
		w.proveHint()
		return
	}
	more := ""
	if n := w.sum.NotKept; n > 0 {
		more = fmt.Sprintf("; %s of cases without one", readable.Plural(n, "more kind"))
		if w.state.Full(w.sum.in.Config.MaxFindings) {
			more += " (--max-bundles)"
		}
	}
	dir, p := readable.ShellPath(f.Dir), &w.sum.in.Config.Pairs[f.Pair]
	fmt.Fprint(w, readable.Hanging(fmt.Sprintf("findings: %s in %s%s", readable.Plural(len(w.sum.in.Findings), "bundle"), w.Dir, more), w.Width))
	fmt.Fprintf(w, "page:     %s report %s\n", w.Command, readable.ShellPath(w.Dir))
	fmt.Fprintf(w, "picture:  %s show %s\n", w.Command, dir)
	allow := ""
	if bundle.RunsCommand(p.TargetA, p.TargetB) {
		allow = " --allow-exec"
	}
	fmt.Fprintf(w, "re-run:   %s replay %s%s\n", w.Command, dir, allow)
}

// proveHint says how to find out whether two arithmetics that are known, are not the same and have not
// differed are the same function.
func (w *printer) proveHint() {
	if len(w.state.Pairs) != 1 || w.state.Pairs[0].Dots == 0 || w.state.Pairs[0].Differences() > 0 {
		return
	}
	p := &w.sum.in.Config.Pairs[0]
	a, b := p.A.Model(), p.B.Model()
	if a == nil || b == nil || *a == *b {
		return
	}
	unit := func(target string, u devices.Unit) string {
		if strings.HasPrefix(target, "model:") {
			return readable.ShellWord(target)
		}
		return readable.ShellWord(target + "/" + u.Instruction().Name)
	}
	fmt.Fprintf(w, "prove:    %s prove %s %s\n", w.Command, unit(p.TargetA, p.A), unit(p.TargetB, p.B))
}
