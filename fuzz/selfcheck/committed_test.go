package selfcheck

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// sampled reports whether row n is one of the sample that is measured again.
func sampled(n, stride int) bool { return n%(stride*tier.Of(16, 4, 1)) == 0 }

// TestSeparations checks that every mutant of every arithmetic is separated or argued
// to be the same function, and counts within the first 1,000 inputs of a sample again.
func TestSeparations(t *testing.T) {
	gens := Generators()
	rows := arithmeticRows(t, "Separations", "separation.tsv", mutantsDigest, func(ctx context.Context, old *Table) (*Table, error) {
		return MutantTable(ctx, old, argued.Arithmetics(), func(_ *MutantSummary, seps []*Separation) { separations(t, seps) })
	})
	table, err := ReadTableFile(filepath.Join(*tables, "separation.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generatorColumns(gens), table.Columns[len(mutantColumns):]); diff != "" {
		t.Fatalf("columns of generators (-want +table): %s\n%s", remedy("Separations"), diff)
	}
	for n, i := range argued.Arithmetics() {
		if rows[n] == nil {
			continue
		}
		s, err := ParseMutantSummary(rows[n])
		if err != nil {
			t.Fatalf("%s: %v", i.FullName(), err)
		}
		if diff := cmp.Diff(rows[n][1:], s.cells()); diff != "" {
			t.Fatal(diff)
		}
		mutants := change.SpaceOf(&i).Mutants(&i.Params, change.Decisions)
		arguments := map[string]int{}
		for _, m := range mutants {
			if a := argued.Equivalent(&i, &m.Params); a != "" {
				arguments[a]++
			}
		}
		if diff := cmp.Diff(arguments, s.Arguments); diff != "" || s.Mutants != len(mutants) || s.Open() != 0 {
			t.Errorf("%s: %d mutants, of which %d are open, want %d and 0; arguments (-want +table):\n%s", i.FullName(), s.Mutants, s.Open(), len(mutants), diff)
		}
		if sampled(n, 21) {
			checkReach(t, &i, s)
		}
	}
}

// separations logs each separation, and those that are neither separated nor argued to be the
// same function.
func separations(t *testing.T, seps []*Separation) {
	t.Helper()
	for _, sep := range seps {
		detail(t, sep.FullCells())
		if !sep.Separated() && sep.Argument == "" {
			t.Logf("not separated: %s, %s, %s", sep.Base, sep.Other, changeText(sep.Change))
		}
	}
}

// checkReach separates an arithmetic from its mutants again, with few inputs.
func checkReach(t *testing.T, i *mma.Instruction, s *MutantSummary) {
	t.Helper()
	gens := Generators()
	others, seps, err := mutantsOf(i)
	if err == nil {
		err = separateWithin(t.Context(), i, others, gens, separateChunk, separateChunk)
	}
	if err != nil {
		t.Fatal(err)
	}
	for g, got := range summarize(i.FullName(), seps, len(gens)).Reach {
		if want := s.Reach[g]; got.Ten != want.Ten || got.Thousand != want.Thousand {
			t.Errorf("%s: %s separates %d and %d mutants with 10 and 1,000 inputs, the table says %d and %d",
				i.FullName(), gens[g].Name, got.Ten, got.Thousand, want.Ten, want.Thousand)
		}
	}
}

// proofTime is how long to try, at most, to prove each argument about a mutant.
var proofTime = flag.Duration("prooftime", 10*time.Second, "with -update: how long to try for each proof")

// proveRows measures the table of proofs, for which it needs a SAT solver.
func proveRows(t *testing.T) func(ctx context.Context, old *Table) (*Table, error) {
	return func(ctx context.Context, old *Table) (*Table, error) {
		solver, builtin, err := prove.SolverWords(prove.DefaultSolver)
		if builtin {
			err = errors.New("there is no solver: apt-get install cadical")
		}
		if err != nil {
			return nil, err
		}
		return ProofTable(ctx, old, solver, *proofTime, func(p *Proofs) {
			detail(t, p.cells())
			for _, text := range p.Refuted {
				t.Errorf("%s: refuted: %s", p.Base, text)
			}
		})
	}
}

// TestProofs checks that no argument is refuted and enough of them are proved, and proves
// some again that need no solver.
func TestProofs(t *testing.T) {
	var rows [][]string
	all := arithmeticRows(t, "Proofs", "proofs.tsv", proofsDigest, proveRows(t))
	for n, i := range argued.Arithmetics() {
		if all[n] == nil {
			continue
		}
		rows = append(rows, all[n][1:])
		if !sampled(n, 7) {
			continue
		}
		p, err := proofsOf(t.Context(), &i, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.cells()[1], all[n][2]; got != want {
			t.Errorf("%s: ranges prove %s, the table says %s", i.FullName(), got, want)
		}
	}
	counts, err := ProofCounts(rows)
	if err != nil {
		t.Fatal(err)
	}
	if !Decided(counts) {
		t.Errorf("an argument is refuted, or less than %d %% are proved: %v", DecidedLeast, counts)
	}
}

// TestPairs checks that every two arithmetics that take the same operands are
// separated, or argued to be the same function, but not both.
func TestPairs(t *testing.T) {
	var names, digests, others []string
	var arguments []string
	all := argued.Arithmetics()
	for n := range all {
		for _, o := range all[n+1:] {
			if takesSame(&all[n], &o) {
				names, digests = append(names, all[n].FullName()), append(digests, pairDigest(&all[n], &o))
				others, arguments = append(others, o.FullName()), append(arguments, orDash(argued.Equivalent(&all[n], &o.Params)))
			}
		}
	}
	table := tableOf(t, "pairs.tsv", func(ctx context.Context, old *Table) (*Table, error) {
		return PairTable(ctx, old, all, func(sep *Separation) { separations(t, []*Separation{sep}) })
	})
	for n, r := range alignedRows(t, "Pairs", table, names, digests) {
		if r == nil {
			continue
		}
		separated := false
		for _, first := range r[len(pairColumns):] {
			separated = separated || first != "-"
		}
		if r[2] != others[n] || r[3] != arguments[n] || separated == (r[3] != "-") {
			t.Errorf("row %d: %q: want %s, argument %s, separated or argued", n+1, r, others[n], arguments[n])
		}
	}
}

// TestConfusion checks that at least 95 % of the mutants that can be told from their
// arithmetic are named exactly, and none wrongly, and presents a sample again.
func TestConfusion(t *testing.T) {
	rows := arithmeticRows(t, "Confusion", "confusion.tsv", confusionDigest, func(ctx context.Context, old *Table) (*Table, error) {
		return ConfusionTable(ctx, old, argued.Arithmetics(), func(_, _ string, outs []*Outcome) {
			for _, o := range outs {
				detail(t, o.FullCells())
			}
		})
	})
	count := map[Result]int{}
	at := 0
	for n, i := range argued.Arithmetics() {
		if rows[n] == nil {
			continue
		}
		results, err := ParseLetters(rows[n][2])
		if err != nil {
			t.Fatalf("%s: %v", i.FullName(), err)
		}
		mutants := change.SpaceOf(&i).Mutants(&i.Params, change.Decisions)
		if len(results) != len(mutants) {
			t.Fatalf("%s: %d results of %d mutants", i.FullName(), len(results), len(mutants))
		}
		for m, s := range mutants {
			count[results[m]]++
			if at++; !sampled(at, 331) {
				continue
			}
			o, err := confuse(t.Context(), &i, s)
			if err != nil {
				t.Fatal(err)
			}
			if o.Result != results[m] {
				t.Errorf("%s, %s: %s, the table says %s", i.FullName(), changeText(o.Change), o.Result, results[m])
			}
		}
	}
	scored := count[Exact] + count[Ambiguous] + count[Unexplained] + count[Wrong]
	if count[Wrong] > 0 || 100*count[Exact] < 95*scored {
		t.Errorf("%d of %d exact, %d wrong; want 95 %% and none", count[Exact], scored, count[Wrong])
	}
}

// TestMinimizerTable checks that everything was shrunk to a minimum, and makes the
// first row again.
func TestMinimizerTable(t *testing.T) {
	var names, digests []string
	for _, p := range shrinkPairs {
		d, err := shrinkDigest(p)
		if err != nil {
			t.Fatal(err)
		}
		names, digests = append(names, p[0]), append(digests, d)
	}
	rows := alignedRows(t, "MinimizerTable", tableOf(t, "minimizer.tsv", MinimizerTable), names, digests)
	for n, c := range rows {
		if c == nil {
			t.Fatalf("row %d is missing: %s", n+1, remedy("MinimizerTable"))
		}
		if c[2] != shrinkPairs[n][1] || c[3] != c[9] {
			t.Errorf("row %d: %q: want %q, all findings 1-minimal", n+1, c, shrinkPairs[n])
		}
	}
	s, err := shrinkPair(t.Context(), shrinkPairs[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows[0][1:], s.cells()); diff != "" {
		t.Errorf("row 1 (-table +now):\n%s", diff)
	}
}

// TestModelsTable checks that every operation was compared on 10^7 dot products of raw
// bits, without a mismatch. Each arithmetic has an equal share: it may be somewhat fewer
// where the operation had more of them when a row was measured.
func TestModelsTable(t *testing.T) {
	raw := map[string]int{}
	rows := arithmeticRows(t, "ModelsTable", "models.tsv", arithmeticDigest, func(ctx context.Context, old *Table) (*Table, error) {
		return ModelTable(ctx, old, 10_000_000, 20_000, func(c *ModelCheck) { equalModels(t, c) })
	})
	for n, i := range argued.Arithmetics() {
		c := rows[n]
		if c == nil {
			continue
		}
		count, err := strconv.Atoi(c[2])
		if err != nil || c[4] != "0" {
			t.Errorf("%q", c)
		}
		raw[Operation(&i)] += count
	}
	for op, n := range raw {
		if n < 8_000_000 {
			t.Errorf("%s: %d dot products of raw bits, want about 10^7", op, n)
		}
	}
}

// TestOneRow checks that an arithmetic of which a table knows nothing is measured
// alone, and that its row is the one that is committed.
func TestOneRow(t *testing.T) {
	tier.LongOnly(t) // measures the mutants of an arithmetic
	all := argued.Arithmetics()
	complete, err := ReadTableFile("testdata/confusion.tsv")
	if err != nil {
		t.Fatal(err)
	}
	const missing = 6
	if all[missing].FullName() != "hopper/mma.m16n8k16.f64.f64.f64.f64" {
		t.Fatalf("%s is not the arithmetic that is quick to measure", all[missing].FullName())
	}
	partial := &Table{Columns: complete.Columns}
	partial.Rows = append(append(partial.Rows, complete.Rows[:missing]...), complete.Rows[missing+1:]...)
	var measured []string
	again, err := ConfusionTable(t.Context(), partial, all, func(base, _ string, outs []*Outcome) {
		if outs != nil {
			measured = append(measured, base)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{all[missing].FullName()}, measured); diff != "" {
		t.Errorf("measured (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(complete.Rows, again.Rows); diff != "" {
		t.Errorf("the table (-committed +again):\n%s", diff)
	}
}
