package selfcheck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// Proofs counts what package prove decides about the mutants of an arithmetic that a written
// argument (Equivalent) claims compute the same function.
type Proofs struct {
	Base  string                    // ARCH/INSTRUCTION
	Count map[string]map[string]int // by status and argument
	// Refuted lists inputs on which a mutant differs although an argument says that it
	// cannot: the argument is wrong.
	Refuted []string
}

// proofStatus are the possible outcomes, which are columns of the table: proved by the
// ranges of numbers, proved by a solver, refuted, or too hard.
var proofStatus = []string{"ranges", "solver", "refuted", "hard"}

// DecidedLeast is how many percent of the mutants that arguments cover must be proved.
const DecidedLeast = 60

// arguedMutants returns the mutants of an arithmetic that have an argument, and the arguments.
func arguedMutants(i *mma.Instruction) (mutants []change.Mutant, arguments []string) {
	for _, m := range change.SpaceOf(i).Mutants(&i.Params, change.Decisions) {
		if a := argued.Equivalent(i, &m.Params); a != "" {
			mutants, arguments = append(mutants, m), append(arguments, a)
		}
	}
	return mutants, arguments
}

// proofsDigest identifies the mutants of an arithmetic that have an argument.
func proofsDigest(i *mma.Instruction) string {
	parts := []any{arithmeticDigest(i)}
	mutants, arguments := arguedMutants(i)
	for n, m := range mutants {
		parts = append(parts, programText(&m.Params), arguments[n])
	}
	return digest(parts...)
}

// ProofTable proves the arguments that the old table lacks, within a time limit for each
// mutant. done is called for each arithmetic that was tried.
func ProofTable(ctx context.Context, old *Table, solver []string, limit time.Duration, done func(*Proofs)) (*Table, error) {
	t := old.after("Proofs", slices.Concat([]string{"digest", "base"}, proofStatus))
	for _, i := range argued.Arithmetics() {
		d := proofsDigest(&i)
		row := old.fresh(d, i.FullName())
		if row == nil {
			p, err := proofsOf(ctx, &i, solver, limit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", i.FullName(), err)
			}
			row = append([]string{d}, p.cells()...)
			done(p)
		}
		if err := t.add(row); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func proofsOf(ctx context.Context, i *mma.Instruction, solver []string, limit time.Duration) (*Proofs, error) {
	p := &Proofs{Base: i.FullName(), Count: map[string]map[string]int{}}
	mutants, arguments := arguedMutants(i)
	for n, m := range mutants {
		r, err := prove.Programs(ctx, i.Formats, i.K, i.Params, m.Params, prove.Options{Solver: solver, Time: limit, Searched: true})
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		status := r.By
		switch r.Verdict {
		case prove.Open:
			status = "hard"
		case prove.Refuted:
			status = "refuted"
			p.Refuted = append(p.Refuted, fmt.Sprintf("%s, %s: %s", arguments[n], changeText(mma.Diff(&i.Params, &m.Params)), mma.FormatDot(i.Formats, r.Witness.Dot)))
		}
		if p.Count[status] == nil {
			p.Count[status] = map[string]int{}
		}
		p.Count[status][arguments[n]]++
	}
	return p, nil
}

func (p *Proofs) cells() []string {
	cells := []string{p.Base}
	for _, status := range proofStatus {
		var words []string
		for _, name := range slices.Sorted(maps.Keys(p.Count[status])) {
			words = append(words, fmt.Sprintf("%s:%d", name, p.Count[status][name]))
		}
		cells = append(cells, orDash(strings.Join(words, " ")))
	}
	return cells
}

// ProofCounts adds up the rows of a table of proofs, without their digests: the numbers of
// mutants by argument and status, in the order ranges, solver, refuted, too hard.
func ProofCounts(rows [][]string) (map[string][4]int, error) {
	all := map[string][4]int{}
	for _, row := range rows {
		if len(row) != 1+len(proofStatus) {
			return nil, fmt.Errorf("%d columns, %d are needed", len(row), 1+len(proofStatus))
		}
		for s, cell := range row[1:] {
			counts, err := parseCounts(cell)
			if err != nil {
				return nil, err
			}
			for name, n := range counts {
				c := all[name]
				c[s] += n
				all[name] = c
			}
		}
	}
	return all, nil
}

// Decided reports whether counts of proofs are good enough: nothing is refuted, and at least
// DecidedLeast percent are proved.
func Decided(counts map[string][4]int) bool {
	var sum [4]int
	for _, c := range counts {
		for s := range sum {
			sum[s] += c[s]
		}
	}
	proved := sum[0] + sum[1]
	return sum[2] == 0 && 100*proved >= DecidedLeast*(proved+sum[3])
}
