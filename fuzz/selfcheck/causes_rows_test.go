package selfcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// PairCauses counts the differences of two architectures, on all instructions that they
// share, by primary cause.
type PairCauses struct {
	A, B         string
	Instructions int
	Dots         uint64
	Mismatches   uint64
	Causes       []CauseCases // the most frequent first
	Turned       bool         // comparing B with A gives the same
}

// CauseCases is the cases of a primary cause.
type CauseCases struct {
	Label triage.Label
	Cases uint64
}

// catchAll returns the number of cases that no cause explains.
func (p *PairCauses) catchAll() uint64 {
	n := uint64(0)
	for _, c := range p.Causes {
		if c.Label.Open() {
			n += c.Cases
		}
	}
	return n
}

// The requirements on every pair in the table of causes.
const (
	CausesMost   = 12      // largest number of primary causes
	CatchAllMost = 5       // mismatches without a cause must be less than so many percent
	CausesCount  = 100_000 // dot products of each instruction
)

// Fault describes the requirement that a pair does not meet, "" if it meets all.
func (p *PairCauses) Fault() string {
	switch {
	case len(p.Causes) > CausesMost:
		return fmt.Sprintf("%d primary causes, at most %d are allowed", len(p.Causes), CausesMost)
	case 100*p.catchAll() >= CatchAllMost*p.Mismatches && p.Mismatches > 0:
		return fmt.Sprintf("%d of %d mismatches in catch-alls, less than %d %% are allowed", p.catchAll(), p.Mismatches, CatchAllMost)
	case !p.Turned:
		return "other causes with the sides swapped"
	}
	return ""
}

// gpuArchs lists the architectures of GPUs that have a model which was compared with anything.
func gpuArchs() []string {
	var names []string
	for _, a := range mma.Archs {
		gpu := strings.HasPrefix(a.Chip, "sm_") || strings.HasPrefix(a.Chip, "gfx")
		if gpu && slices.ContainsFunc(mma.Of(a.Name), func(i mma.Instruction) bool { return i.Checked() }) {
			names = append(names, a.Name)
		}
	}
	return names
}

// causesOf compares two architectures in both orders, on count dot products of each
// instruction that they share. It returns nil if they share none.
func causesOf(ctx context.Context, a, b string, count uint64) (*PairCauses, error) {
	there, err := causesIn(ctx, a, b, count)
	if err != nil || there == nil {
		return nil, err
	}
	back, err := causesIn(ctx, b, a, count)
	if err != nil {
		return nil, err
	}
	p := &PairCauses{A: a, B: b, Instructions: len(there.Pairs), Turned: slices.Equal(bucketTexts(there), bucketTexts(back))}
	p.Dots, p.Mismatches, _ = there.Totals()
	all := fuzz.Causes(there)
	for i := range all {
		p.Causes = append(p.Causes, CauseCases{triage.Label(all[i].Name), all[i].Cases})
	}
	return p, nil
}

// sharedPairs returns the pairs of instructions that two architectures share, nil if there
// is none.
func sharedPairs(a, b string) ([]devices.Pair, error) {
	var targets [2]devices.Target
	for i, arch := range []string{a, b} {
		t, err := devices.Open("sim:" + arch)
		if err != nil {
			return nil, err
		}
		targets[i] = t
	}
	pairs, err := devices.Pairs(targets[0], targets[1], "", "")
	if err != nil {
		return nil, nil // no formats in common
	}
	return pairs, nil
}

func causesIn(ctx context.Context, a, b string, count uint64) (*fuzz.State, error) {
	pairs, err := sharedPairs(a, b)
	if err != nil || pairs == nil {
		return nil, err
	}
	none := func(int, *fuzz.Bucket, *triage.Verdict) bool { return false }
	c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: count, Keep: none})
	if err != nil {
		return nil, err
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	return c.State(), ctx.Err()
}

// bucketTexts writes all that a campaign has counted, in an order that does not depend on
// which side is the first.
func bucketTexts(s *fuzz.State) []string {
	var texts []string
	for _, p := range s.Pairs {
		names := strings.Split(p.Name, " ~ ")
		slices.Sort(names)
		text := fmt.Sprint(names, p.Dots, p.Classes)
		for _, b := range p.Sorted() {
			text += fmt.Sprintf(" %+v", *b)
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

// refinementLabels are the labels of flags, schedules and black boxes' NaNs, and of parameters that no program of the catalogue uses:
// no difference between two of them has one.
var refinementLabels = []triage.Label{triage.OperandRounding, triage.ComplementNegation, triage.LostInfinity, triage.ZeroPoint, triage.Schedule, triage.NaNCode,
	triage.FlagInvalid, triage.FlagDivideByZero, triage.FlagOverflow, triage.FlagUnderflow, triage.FlagInexact}

// causesDigest identifies what a row of the table of causes depends on: the pairs of
// instructions, the generators, the order of the labels that it can have, and the count.
func causesDigest(pairs []devices.Pair) string {
	parts := []any{CausesCount}
	for _, p := range pairs {
		for _, u := range []devices.Unit{p.A, p.B} {
			i := u.Instruction()
			parts = append(parts, i.Name, arithmeticDigest(i), i.Checked(), i.Unknown)
		}
	}
	for _, g := range Generators() {
		parts = append(parts, g.Name, g.Version)
	}
	for _, l := range triage.Labels() {
		if !slices.Contains(refinementLabels, l.Label) {
			parts = append(parts, l.Label)
		}
	}
	return digest(parts...)
}

// CausesTable compares every two architectures of GPUs that share instructions, except for
// rows of the old table that are not stale. done is called for each measured row.
func CausesTable(ctx context.Context, old *Table, done func(*PairCauses)) (*Table, error) {
	t := old.after("CausesTable", []string{"digest", "a", "b", "instructions", "dots", "mismatches", "causes", "in catch-alls", "turned", "cases by cause"})
	archs := gpuArchs()
	for i, a := range archs {
		for _, b := range archs[i+1:] {
			pairs, err := sharedPairs(a, b)
			if err != nil {
				return nil, err
			}
			if pairs == nil {
				continue
			}
			d := causesDigest(pairs)
			if row := old.fresh(d, a, b); row != nil {
				t.Rows = append(t.Rows, row)
				continue
			}
			p, err := causesOf(ctx, a, b, CausesCount)
			if err != nil {
				return nil, err
			}
			if err := t.add(append([]string{d}, p.Cells()...)); err != nil {
				return nil, err
			}
			done(p)
		}
	}
	return t, nil
}

// ParsePairCauses reads a row of CausesTable.
func ParsePairCauses(cells []string) (*PairCauses, error) {
	p := &PairCauses{A: cells[1], B: cells[2], Turned: cells[8] == "same"}
	_, err := fmt.Sscan(strings.Join(cells[3:6], " "), &p.Instructions, &p.Dots, &p.Mismatches)
	if err != nil {
		return nil, err
	}
	if cells[9] == "-" {
		return p, nil
	}
	for text := range strings.SplitSeq(cells[9], ", ") {
		var c CauseCases
		if _, err := fmt.Sscan(text, &c.Label, &c.Cases); err != nil {
			return nil, err
		}
		p.Causes = append(p.Causes, c)
	}
	return p, nil
}

// Cells returns the counts as a row of the table, without the digest.
func (p *PairCauses) Cells() []string {
	turned := "same"
	if !p.Turned {
		turned = "other"
	}
	var causes []string
	for _, c := range p.Causes {
		causes = append(causes, fmt.Sprintf("%s %d", c.Label, c.Cases))
	}
	return []string{p.A, p.B, fmt.Sprint(p.Instructions), fmt.Sprint(p.Dots), fmt.Sprint(p.Mismatches), fmt.Sprint(len(p.Causes)),
		fmt.Sprint(p.catchAll()), turned, orDash(strings.Join(causes, ", "))}
}
