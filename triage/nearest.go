package triage

import (
	"context"
	"errors"
	"slices"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Nearest is the program that comes nearest to a unit that no program explains.
type Nearest struct {
	From    string       // the program that was changed: sim:ARCH/INSTRUCTION, ref:NAME, or "" for the base
	Changes []mma.Change // from that program; empty: it is that program itself
	Program mma.Params

	// Of all cases of the unit, the base is wrong in Differ and right in Agree; of these,
	// the program is right in Explained and Kept.
	Differ, Explained int
	Agree, Kept       int

	// Witness is an input on which the unit gives another result than the program,
	// which gives Would: the smallest that was found.
	Witness Case
	Would   uint64
}

// The limits of the search for the smallest witness.
const (
	witnessQueries = 4096
	witnessBatches = 64
)

// withNearest adds to the verdict on a unit that no program explains what comes nearest.
func (s *explainer) withNearest(ctx context.Context, v *Verdict) error {
	if err := s.explainPart(ctx, v, s.mayExplainPart()); err != nil {
		return err
	}
	if v.Nearest == nil {
		v.Nearest = s.nearest()
	}
	return s.withWitness(ctx, v)
}

// withWitness adds to the verdict an input on which its nearest program is wrong. Without one there is no
// such program.
func (s *explainer) withWitness(ctx context.Context, v *Verdict) error {
	near := v.Nearest
	shown, err := s.shrinkFailure(ctx, near)
	if !shown && err == nil {
		// A search that has ended early has not put it to the test.
		if _, err = s.confirm(ctx, near.Program); err == nil {
			shown, err = s.shrinkFailure(ctx, near)
		}
	}
	if !shown {
		v.Nearest, v.Partial = nil, false // there is no case that it does not explain
	}
	return err
}

// nearest returns the program that comes nearest of all that were tried and are near (near); of
// several equally near, the one with the fewest changes from a listed program or the base. If
// none is near it is the base itself. What was asked for the search alone does not count: it was
// chosen to show differences.
func (s *explainer) nearest() *Nearest {
	all := append([]listed{{p: s.pr.Base}}, s.pr.listedPrograms()...)
	cases := s.ev.First(1).All()
	base := s.ev.Hits(&s.pr.Base, cases)
	var best *Nearest
	fewest := 0
	for _, p := range s.tried(programs(all)) {
		n := count(p, s.ev.Hits(&p, cases), base)
		if best != nil && (!n.near() || n.score() < best.score()) {
			continue
		}
		from, parts := closest(all, &p)
		if best == nil || n.score() > best.score() || parts < fewest {
			n.From, n.Changes = from.name, mma.Diff(&from.p, &p)
			best, fewest = n, parts
		}
	}
	return best
}

// tried returns programs that the search has tried, and others, each once.
func (s *explainer) tried(others ...[]mma.Params) []mma.Params {
	seen := map[mma.Params]bool{}
	return slices.DeleteFunc(slices.Concat(slices.Concat(others...), s.mutants(change.Decisions), s.leaders, s.near), func(p mma.Params) bool {
		if seen[p] {
			return true
		}
		seen[p] = true
		return false
	})
}

// count counts in how many cases a program is right, those in which the base is and those in
// which it is not.
func count(p mma.Params, right, base []bool) *Nearest {
	n := &Nearest{Program: p}
	for i := range right {
		all, explained := &n.Differ, &n.Explained
		if base[i] {
			all, explained = &n.Agree, &n.Kept
		}
		*all++
		if right[i] {
			*explained++
		}
	}
	return n
}

// near reports whether a program says anything about the unit: it explains half of the cases in
// which the base is wrong, and keeps half of the others. Of many wrong programs some explain a
// few cases by chance.
func (n *Nearest) near() bool { return 2*n.Explained >= n.Differ && 2*n.Kept >= n.Agree }

// score is the share of the differing cases that is explained plus the share of the
// agreeing ones that is kept, times the numbers of both, which makes it an integer. Shares
// count because the numbers depend on which evidence was kept, not on the unit.
func (n *Nearest) score() int { return n.Explained*max(n.Agree, 1) + n.Kept*max(n.Differ, 1) }

// Nearer reports whether a program explains more of the same unit than another one.
func (n *Nearest) Nearer(than *Nearest) bool { return n.near() && n.score() > than.score() }

// closest returns the listed program from which p has the fewest changed parts.
func closest(all []listed, p *mma.Params) (from listed, parts int) {
	for i, x := range all {
		if n := len(changedParts(&x.p, p)); i == 0 || n < parts {
			from, parts = x, n
		}
	}
	return from, parts
}

// shrinkFailure finds the smallest witness: the smallest of the known cases, shrunk further
// if the unit answers new inputs. It reports whether there is one.
func (s *explainer) shrinkFailure(ctx context.Context, n *Nearest) (bool, error) {
	f := s.pr.Formats
	m, err := sim.New(f, s.pr.K, n.Program)
	if err != nil {
		return false, err
	}
	comparer := oracle.NewComparer(f.D, s.pr.Policy)
	wrong := func(d *mma.Dot, answer uint64) bool {
		return !comparer.Explains(m.Dot(d, nil), answer, s.ev.Base.Dot(d, nil))
	}
	// The program may be right in all cases of the campaign and wrong only in what the
	// search has asked.
	for _, cases := range s.ev.Families {
		for i, d := range cases.Dots {
			if wrong(d, cases.Want[i]) && (n.Witness.Dot == nil || minimize.Less(f, d, n.Witness.Dot)) {
				n.Witness = Case{d, cases.Want[i]}
			}
		}
		if n.Witness.Dot != nil {
			break
		}
	}
	if n.Witness.Dot == nil {
		return false, nil
	}
	if err := s.askSmaller(ctx, n, wrong); err != nil {
		return true, err
	}
	n.Would = m.Dot(n.Witness.Dot, nil)
	return true, nil
}

// askSmaller makes the witness smaller by asking the unit.
func (s *explainer) askSmaller(ctx context.Context, n *Nearest, wrong func(*mma.Dot, uint64) bool) error {
	if s.pr.Ask == nil {
		return nil
	}
	test := func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		out := make([]bool, len(dots))
		asked := slices.Clone(dots) // Ask may replace some
		answers, err := s.ask(ctx, asked)
		if err != nil {
			return nil, err
		}
		for i, d := range dots {
			out[i] = asked[i] == d && wrong(d, answers[i])
		}
		return out, nil
	}
	small, err := evidence.Shrink(ctx, s.pr.Formats, n.Witness.Dot, test, minimize.Options{MaxQueries: witnessQueries, MaxBatches: witnessBatches})
	var flaky *minimize.FlakyError
	if errors.As(err, &flaky) || errors.Is(err, minimize.ErrStart) {
		return nil // the unit changes its answers: the witness stays as it was found
	}
	if err != nil {
		return err
	}
	answers, err := s.ask(ctx, []*mma.Dot{small})
	if err != nil {
		return err
	}
	if wrong(small, answers[0]) {
		n.Witness = Case{small, answers[0]}
	}
	return nil
}
