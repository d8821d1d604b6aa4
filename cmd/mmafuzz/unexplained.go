package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// puzzle is what is known of a pair that no change explains, and how to go on.
type puzzle struct {
	units   []fuzz.Side // whose arithmetic is to be found out
	why     string      // a sentence
	nearest *corpus.Nearest
	next    []string // commands
}

// puzzleOf returns what is known of a pair with a verdict that explains nothing; nil
// if it explains, or if there is nothing to explain.
func (u *runUI) puzzleOf(pair int, v *triage.Verdict) *puzzle {
	if v != nil && v.Found() {
		return nil
	}
	p := &u.cfg.Pairs[pair]
	base, box, known := fuzz.Sides(p)
	z := &puzzle{}
	switch {
	case !known:
		z.units = []fuzz.Side{base, box}
		z.why = fmt.Sprintf("Nothing is known of how either side computes %s, so the comparison alone does not give the cause.", p.Name())
	case v == nil:
		return nil // no case was looked into: they depend on their place, or are faults
	case v.BaseFails:
		z.units = []fuzz.Side{base}
		z.why = fmt.Sprintf("%s does not compute %s as its model says, so nothing can be said about %s.", base.Target, base.Unit.Instruction().Name, box.Target)
	default:
		z.units = []fuzz.Side{box}
		z.why = fmt.Sprintf("No known program, and no change of one that was tried, computes %s as %s does.", box.Unit.Instruction().Name, box.Target)
		z.nearest = nearestOf(v.Nearest, base.Target, p.Formats())
	}
	for i, s := range z.units {
		if c := u.inferCommand(s, pair, len(z.units) > 1, i); c != "" {
			z.next = append(z.next, c)
		}
	}
	return z
}

// nearestOf writes the nearest program for people and programs; nil: there is none.
func nearestOf(n *triage.Nearest, base string, f mma.Formats) *corpus.Nearest {
	if n == nil {
		return nil
	}
	from := n.From
	if from == "" {
		from = base
	}
	return &corpus.Nearest{
		From: from, Changes: append([]mma.Change{}, n.Changes...), Differ: n.Differ, Explained: n.Explained, Agree: n.Agree, Kept: n.Kept,
		Case: mma.FormatDot(f, n.Witness.Dot), Unit: mma.FormatCode(f.D, n.Witness.Want), Program: mma.FormatCode(f.D, n.Would),
	}
}

// knownKinds are the kinds of targets whose arithmetic needs no inference.
var knownKinds = []string{"sim", "ref", "model", "oracle"}

// isBlackBox reports whether a target's arithmetic is to be found out.
func isBlackBox(target string) bool {
	kind, _, ok := strings.Cut(target, ":")
	return ok && !slices.Contains(knownKinds, kind)
}

// inferCommand returns the command that looks for a unit's arithmetic; "" if there is
// none that does. A recording cannot be asked: the command is for where it was made.
func (u *runUI) inferCommand(s fuzz.Side, pair int, both bool, side int) string {
	target := s.Target
	if _, ok := s.Unit.(devices.Recorder); ok {
		target = u.targetEnvironment(target)["recorded from"]
	}
	i := s.Unit.Instruction()
	if !isBlackBox(target) || i.K > mma.MaxK {
		return ""
	}
	out := "infer-" + readable.Slug(i.Name)
	if u.severalTargets() {
		out = fmt.Sprintf("infer-%d-%s", pair+1, readable.Slug(i.Name))
	}
	if both {
		out += "-" + string("ab"[side])
	}
	if u.dir != "" {
		out = filepath.Clean(u.dir) + "-" + out
	}
	return readable.ShellCommand("mmafuzz", "infer", "--target", target, "--inst", i.Name, "--out", out)
}

// isUnexplained reports whether a bucket's cases are those that nothing explains.
func isUnexplained(bucket string) bool {
	return slices.Contains(fuzz.LabelsIn(bucket), string(triage.Unexplained))
}

// nearestText says how near the nearest program comes.
func nearestText(n *corpus.Nearest) string {
	what := n.From
	if len(n.Changes) > 0 {
		what += " with " + readable.Changes(n.Changes, 6)
	}
	if n.Explained == 0 {
		return fmt.Sprintf("%s itself: no change that was tried explains more of the %d differing cases looked into than it breaks of %d agreeing ones", what, n.Differ, n.Agree)
	}
	return fmt.Sprintf("%s explains %d of the %d differing cases looked into (%s) and breaks %d of %d agreeing ones",
		what, n.Explained, n.Differ, readable.Share(uint64(n.Explained), uint64(n.Differ)), n.Agree-n.Kept, n.Agree)
}

// witnessText says where the nearest program fails.
func witnessText(n *corpus.Nearest) string {
	return fmt.Sprintf("for example on %s: it gives %s, the unit %s", n.Case, n.Program, n.Unit)
}

// puzzleMost is the number of pairs that nothing explains of which the summary tells
// more; all with -v.
const puzzleMost = 3

// unexplained says of the pairs that nothing explains how near a known program comes,
// and how to go on.
func (u *runUI) unexplained(s *fuzz.State) {
	left := 0
	for i, p := range s.Pairs {
		z := u.puzzleOf(i, p.Verdict)
		if z == nil || !slices.ContainsFunc(p.Sorted(), func(b *fuzz.Bucket) bool { return isUnexplained(b.Name) }) {
			continue
		}
		if left++; left > puzzleMost && !u.verbose {
			continue
		}
		fmt.Fprintln(u.stdout)
		z.write(u.app)
	}
	if left -= puzzleMost; left > 0 && !u.verbose {
		fmt.Fprintf(u.stdout, "and %s more that nothing explains (all: -v)\n", readable.Plural(left, "pair"))
	}
}

// write shows a puzzle.
func (z *puzzle) write(a *app) {
	for _, l := range readable.Wrap(z.why, a.width) {
		fmt.Fprintln(a.stdout, l)
	}
	if n := z.nearest; n != nil {
		g := readable.Table{Width: a.width}
		g.Add("  nearest", nearestText(n))
		g.Add("  wrong", witnessText(n))
		g.Write(a.stdout, nil)
	}
	for _, c := range z.next {
		fmt.Fprintf(a.stdout, "  next     %s\n", strings.Replace(c, "mmafuzz", command(), 1))
	}
	if len(z.next) > 0 {
		fmt.Fprintln(a.stdout, "           searches many more programs, and reports the best one with the smallest input on which it fails")
	}
}

// puzzleNotes are the lines of the picture about a mismatch that nothing explains.
func puzzleNotes(m *corpus.Mismatch) []string {
	if m.Nearest == nil {
		return nil
	}
	return []string{"nearest " + nearestText(m.Nearest), "wrong   " + witnessText(m.Nearest)}
}

// puzzleText is the part of a bundle's README about a mismatch that nothing explains.
func puzzleText(m *corpus.Mismatch) string {
	if m.Nearest == nil && len(m.Next) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Nothing explains the difference.")
	if n := m.Nearest; n != nil {
		fmt.Fprintf(&b, " The program that comes nearest is %s; %s.", nearestText(n), witnessText(n))
	}
	if len(m.Next) > 0 {
		b.WriteString(" To find out how the unit computes, from a larger space of programs:\n\n")
		for _, c := range m.Next {
			fmt.Fprintf(&b, "    %s\n", c)
		}
	} else {
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

// alikeMost is the number of known targets that may compute what a black box does: if
// more do, the evidence says little about it.
const alikeMost = 9

// alikeText says of a black box which known targets compute what it does; "" of one
// that nobody knows, or of two known sides.
func alikeText(p *fuzz.PairState) string {
	if p.Verdict == nil || len(p.Verdict.Alike) == 0 || len(p.Verdict.Alike) > alikeMost || !isBlackBox(p.TargetA) && !isBlackBox(p.TargetB) {
		return ""
	}
	side := "A"
	switch {
	case isBlackBox(p.TargetA) && isBlackBox(p.TargetB):
		side = "one of them"
	case isBlackBox(p.TargetB):
		side = "B"
	}
	return side + " computes as " + strings.Join(readable.First(p.Verdict.Alike, 2), ", ") + "; "
}
