package selfcheck

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The tables of separations: one of mutants, with a row for each arithmetic and a column for
// each generator, and one of pairs of arithmetics.

// MutantSummary is how well the generators separate an arithmetic from its mutants.
type MutantSummary struct {
	Base      string // ARCH/INSTRUCTION
	Mutants   int
	Separated int            // mutants that at least one generator separates
	Arguments map[string]int // number of mutants that compute the same function, by the argument
	Hardest   string         // the change that made the mutant for which the best generator needs the most inputs
	Inputs    uint64         // how many it needs
	Reach     []Reach        // by generator
}

// Reach is how many mutants of an arithmetic a generator separates.
type Reach struct {
	All      int // mutants that it separates at all
	Ten      int // with its first 10 inputs
	Thousand int // with its first 1,000
}

// Open returns the number of mutants that are neither separated nor argued to be equal.
func (s *MutantSummary) Open() int { return s.Mutants - s.Separated - s.Argued() }

// Argued returns the number of mutants that compute the same function by an argument.
func (s *MutantSummary) Argued() int {
	n := 0
	for _, c := range s.Arguments {
		n += c
	}
	return n
}

// summarize sums up the separations of one arithmetic's mutants.
func summarize(base string, seps []*Separation, generators int) *MutantSummary {
	s := &MutantSummary{Base: base, Mutants: len(seps), Arguments: map[string]int{}, Reach: make([]Reach, generators)}
	for _, sep := range seps {
		if sep.Separated() {
			s.Separated++
		}
		if sep.Argument != "" {
			s.Arguments[sep.Argument]++
		}
		if n := sep.fewest(); n > s.Inputs {
			s.Hardest, s.Inputs = sep.Other, n
		}
		for g, n := range sep.First {
			s.Reach[g].add(n)
		}
	}
	return s
}

// add counts a mutant that is separated by the n-th input, or by none if n is 0.
func (r *Reach) add(n uint64) {
	if n == 0 {
		return
	}
	r.All++
	if n <= 10 {
		r.Ten++
	}
	if n <= 1000 {
		r.Thousand++
	}
}

// fewest returns the number of inputs that the best generator needs, 0 if none separates.
func (s *Separation) fewest() uint64 {
	best := uint64(0)
	for _, n := range s.First {
		if n > 0 && (best == 0 || n < best) {
			best = n
		}
	}
	return best
}

// mutantColumns are the columns of the table of mutants before those of the generators.
var mutantColumns = []string{"digest", "base", "mutants", "separated", "arguments", "hardest", "inputs"}

// generatorColumns returns the columns of generators. Another version of a generator has
// another column.
func generatorColumns(gens []gen.Generator) []string {
	names := make([]string, len(gens))
	for i, g := range gens {
		names[i] = fmt.Sprintf("%s@%d", g.Name, g.Version)
	}
	return names
}

func (s *MutantSummary) cells() []string {
	var arguments []string
	for _, name := range slices.Sorted(maps.Keys(s.Arguments)) {
		arguments = append(arguments, fmt.Sprintf("%s:%d", name, s.Arguments[name]))
	}
	cells := []string{s.Base, fmt.Sprint(s.Mutants), fmt.Sprint(s.Separated), orDash(strings.Join(arguments, " ")), orDash(s.Hardest), fmt.Sprint(s.Inputs)}
	for _, r := range s.Reach {
		cells = append(cells, fmt.Sprintf("%d/%d/%d", r.Ten, r.Thousand, r.All))
	}
	return cells
}

// ParseMutantSummary reads a row of the table of mutants.
func ParseMutantSummary(row []string) (*MutantSummary, error) {
	if len(row) < len(mutantColumns) {
		return nil, fmt.Errorf("%d columns, at least %d are needed", len(row), len(mutantColumns))
	}
	s := &MutantSummary{Base: row[1], Hardest: row[5]}
	var errs [3]error
	s.Mutants, errs[0] = strconv.Atoi(row[2])
	s.Separated, errs[1] = strconv.Atoi(row[3])
	s.Inputs, errs[2] = strconv.ParseUint(row[6], 10, 64)
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	var err error
	if s.Arguments, err = parseCounts(row[4]); err != nil {
		return nil, err
	}
	for _, cell := range row[len(mutantColumns):] {
		var r Reach
		if _, err := fmt.Sscanf(cell, "%d/%d/%d", &r.Ten, &r.Thousand, &r.All); err != nil {
			return nil, fmt.Errorf("%q is not TEN/THOUSAND/ALL", cell)
		}
		s.Reach = append(s.Reach, r)
	}
	return s, nil
}

// parseCounts reads ARGUMENT:COUNT ..., or "-" for none.
func parseCounts(cell string) (map[string]int, error) {
	counts := map[string]int{}
	for word := range strings.FieldsSeq(strings.TrimPrefix(cell, "-")) {
		name, count, _ := strings.Cut(word, ":")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("%q is not ARGUMENT:COUNT", word)
		}
		counts[name] = n
	}
	return counts, nil
}

// MutantTable measures what the old table lacks: rows that are missing or stale, and columns
// of generators. done is called for every row, with the single separations if the row was
// measured.
func MutantTable(ctx context.Context, old *Table, all []mma.Instruction, done func(*MutantSummary, []*Separation)) (*Table, error) {
	gens := Generators()
	t := old.after("Separations", slices.Concat(mutantColumns, generatorColumns(gens)))
	for n := range all {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i := &all[n]
		d := mutantsDigest(i)
		s, seps, err := mutantRow(ctx, i, old, old.fresh(d, i.FullName()), gens)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", i.FullName(), err)
		}
		if err := t.add(append([]string{d}, s.cells()...)); err != nil {
			return nil, err
		}
		done(s, seps)
	}
	return t, nil
}

// mutantRow returns the summary of an arithmetic's mutants. It takes what it can from a row
// of the old table, if that is not nil, and measures the rest.
func mutantRow(ctx context.Context, i *mma.Instruction, old *Table, row []string, gens []gen.Generator) (*MutantSummary, []*Separation, error) {
	if row == nil {
		seps, err := separateMutants(ctx, i, gens)
		return summarize(i.FullName(), seps, len(gens)), seps, err
	}
	s, err := ParseMutantSummary(row)
	if err != nil {
		return nil, nil, err
	}
	have := s.Reach
	s.Reach = make([]Reach, len(gens))
	var missing []gen.Generator
	var at []int
	for g, column := range generatorColumns(gens) {
		c := slices.Index(old.Columns, column)
		if c < 0 {
			missing, at = append(missing, gens[g]), append(at, g)
			continue
		}
		s.Reach[g] = have[c-len(mutantColumns)]
	}
	if len(missing) == 0 {
		return s, nil, nil
	}
	seps, err := separateMutants(ctx, i, missing)
	if err != nil {
		return nil, nil, err
	}
	for m, r := range summarize(i.FullName(), seps, len(missing)).Reach {
		s.Reach[at[m]] = r
	}
	return s, seps, nil
}

// pairColumns are the columns of the table of pairs before those of the generators.
var pairColumns = []string{"digest", "a", "b", "argument"}

// PairTable measures the pairs that the old table lacks. If a generator is new, all
// pairs are measured again, which takes a minute. done is called for each measured pair.
func PairTable(ctx context.Context, old *Table, all []mma.Instruction, done func(*Separation)) (*Table, error) {
	gens := Generators()
	t := old.after("Pairs", slices.Concat(pairColumns, generatorColumns(gens)))
	if !slices.Equal(t.Columns, old.Columns) {
		old = &Table{}
	}
	for n := range all {
		i := &all[n]
		for _, o := range all[n+1:] {
			if !takesSame(i, &o) {
				continue
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			d := pairDigest(i, &o)
			at := slices.IndexFunc(old.Rows, func(r []string) bool { return r[0] == d && r[1] == i.FullName() && r[2] == o.FullName() })
			if at >= 0 {
				t.Rows = append(t.Rows, old.Rows[at])
				continue
			}
			seps, err := separatePairs(ctx, i, []mma.Instruction{o}, gens)
			if err != nil {
				return nil, err
			}
			if err := t.add(append([]string{d}, seps[0].pairCells()...)); err != nil {
				return nil, err
			}
			done(seps[0])
		}
	}
	return t, nil
}

func (s *Separation) pairCells() []string {
	return append([]string{s.Base, s.Other, orDash(s.Argument)}, s.firstCells()...)
}

func (s *Separation) firstCells() []string {
	cells := make([]string, len(s.First))
	for g, n := range s.First {
		cells[g] = "-"
		if n > 0 {
			cells[g] = fmt.Sprint(n)
		}
	}
	return cells
}

// FullCells returns the separation as a row of the full data.
func (s *Separation) FullCells() []string {
	return append([]string{s.Base, s.Other, changeText(s.Change), orDash(s.Argument), fmt.Sprint(s.Limit)}, s.firstCells()...)
}

// ArgumentCounts adds up the arguments of summaries, the most frequent first.
func ArgumentCounts(all []*MutantSummary) (names []string, count map[string]int) {
	count = map[string]int{}
	for _, s := range all {
		for name, n := range s.Arguments {
			count[name] += n
		}
	}
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	}), count
}
