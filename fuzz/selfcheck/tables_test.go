package selfcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// committedTable reads a table of testdata, in which every row must be about the thing of
// its number, made from what identifies it now. What has no row, or a stale one, is named,
// and nothing else: a new arithmetic turns nothing red but its own rows.
func committedTable(t *testing.T, name string, names, digests []string) *Table {
	t.Helper()
	table, err := ReadTableFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	remedy := fmt.Sprintf("%s --out fuzz/selfcheck/testdata/%s", table.Command, name)
	for _, fault := range rowFaults(table.Rows, names, digests) {
		t.Errorf("testdata/%s, %s: %s", name, fault, remedy)
	}
	if t.Failed() {
		t.FailNow()
	}
	return table
}

// rowFaults compares rows with what they should be about, in order.
func rowFaults(rows [][]string, names, digests []string) []string {
	var faults []string
	at := 0
	for n := range names {
		switch {
		case at < len(rows) && rows[at][colDigest] == digests[n]:
			at++
		case at < len(rows) && rows[at][colName] == names[n] && !slices.Contains(digests, rows[at][colDigest]):
			faults = append(faults, names[n]+": the row is stale")
			at++
		default:
			faults = append(faults, names[n]+": there is no row")
		}
	}
	for _, r := range rows[at:] {
		faults = append(faults, r[colName]+": the row is of nothing that there is, or in the wrong place")
	}
	return faults
}

// TestRowFaults adds, changes, takes away and moves rows.
func TestRowFaults(t *testing.T) {
	for _, tc := range []struct{ rows, want, faults string }{
		{"1a 2b 3c", "1a 2b 3c", ""},
		{"1a 3c", "1a 2b 3c", "b: there is no row"},
		{"1a 2b", "1a 2b 3c", "c: there is no row"},
		{"1a 2b 3c", "1a 4b 3c", "b: the row is stale"},
		{"1a 2a 3c", "1a 4a 2a 3c", "a: there is no row"},
		{"1a 2b 3c", "1a 2b", "c: the row is of nothing that there is, or in the wrong place"},
		{"2b 1a", "1a 2b", "a: there is no row; a: the row is of nothing that there is, or in the wrong place"},
	} {
		var rows [][]string
		for _, r := range strings.Fields(tc.rows) {
			rows = append(rows, []string{r[:1], r[1:]})
		}
		var names, digests []string
		for _, w := range strings.Fields(tc.want) {
			names, digests = append(names, w[1:]), append(digests, w[:1])
		}
		if got := strings.Join(rowFaults(rows, names, digests), "; "); got != tc.faults {
			t.Errorf("rows %s, want %s: %q, want %q", tc.rows, tc.want, got, tc.faults)
		}
	}
}

// arithmeticTable reads a table that has a row for each arithmetic.
func arithmeticTable(t *testing.T, name string, identify func(*mma.Instruction) string) *Table {
	t.Helper()
	var names, digests []string
	for _, i := range Arithmetics() {
		names, digests = append(names, i.FullName()), append(digests, identify(&i))
	}
	return committedTable(t, name, names, digests)
}

// sampled reports whether row n is one of the sample that is measured again.
func sampled(n, stride int) bool { return n%(stride*tier.Of(16, 4, 1)) == 0 }

// TestSeparations checks that every mutant of every arithmetic is separated or argued
// to be the same function, and counts within the first 1,000 inputs of a sample again.
func TestSeparations(t *testing.T) {
	table := arithmeticTable(t, "separation.tsv", mutantsDigest)
	gens := Generators()
	if diff := cmp.Diff(generatorColumns(gens), table.Columns[len(mutantColumns):]); diff != "" {
		t.Fatalf("columns of generators (-want +table): %s --out fuzz/selfcheck/testdata/separation.tsv\n%s", separationCommand, diff)
	}
	for n, i := range Arithmetics() {
		s, err := ParseMutantSummary(table.Rows[n])
		if err != nil {
			t.Fatalf("%s: %v", i.FullName(), err)
		}
		if diff := cmp.Diff(table.Rows[n][1:], s.cells()); diff != "" {
			t.Fatal(diff)
		}
		mutants := change.SpaceOf(&i).Mutants(&i.Params, change.Decisions)
		arguments := map[string]int{}
		for _, m := range mutants {
			if a := Equivalent(&i, &m.Params); a != "" {
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

// TestProofs checks that no argument is refuted and enough of them are proved, and proves
// some again that need no solver.
func TestProofs(t *testing.T) {
	table := arithmeticTable(t, "proofs.tsv", proofsDigest)
	var rows [][]string
	for n, i := range Arithmetics() {
		rows = append(rows, table.Rows[n][1:])
		if !sampled(n, 7) {
			continue
		}
		p, err := proofsOf(t.Context(), &i, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.cells()[1], table.Rows[n][2]; got != want {
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
	all := Arithmetics()
	for n := range all {
		for _, o := range all[n+1:] {
			if takesSame(&all[n], &o) {
				names, digests = append(names, all[n].FullName()), append(digests, pairDigest(&all[n], &o))
				others, arguments = append(others, o.FullName()), append(arguments, orDash(Equivalent(&all[n], &o.Params)))
			}
		}
	}
	for n, r := range committedTable(t, "pairs.tsv", names, digests).Rows {
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
	table := arithmeticTable(t, "confusion.tsv", confusionDigest)
	count := map[Result]int{}
	at := 0
	for n, i := range Arithmetics() {
		results, err := ParseLetters(table.Rows[n][2])
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
	table := committedTable(t, "minimizer.tsv", names, digests)
	for n, c := range table.Rows {
		if c[2] != shrinkPairs[n][1] || c[3] != c[9] {
			t.Errorf("row %d: %q: want %q, all findings 1-minimal", n+1, c, shrinkPairs[n])
		}
	}
	s, err := shrinkPair(t.Context(), shrinkPairs[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table.Rows[0][1:], s.cells()); diff != "" {
		t.Errorf("row 1 (-table +now):\n%s", diff)
	}
}

// TestModelsTable checks that every operation was compared on 10^7 dot products of raw
// bits, without a mismatch. Each arithmetic has an equal share: it may be somewhat fewer
// where the operation had more of them when a row was measured.
func TestModelsTable(t *testing.T) {
	raw := map[string]int{}
	table := arithmeticTable(t, "models.tsv", arithmeticDigest)
	for n, i := range Arithmetics() {
		c := table.Rows[n]
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
	all := Arithmetics()
	whole := arithmeticTable(t, "confusion.tsv", confusionDigest)
	const missing = 6
	if all[missing].FullName() != "hopper/mma.m16n8k16.f64.f64.f64.f64" {
		t.Fatalf("%s is not the arithmetic that is quick to measure", all[missing].FullName())
	}
	partial := &Table{Command: whole.Command, Columns: whole.Columns}
	partial.Rows = append(append(partial.Rows, whole.Rows[:missing]...), whole.Rows[missing+1:]...)
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
	if diff := cmp.Diff(whole.Rows, again.Rows); diff != "" {
		t.Errorf("the table (-committed +again):\n%s", diff)
	}
}
