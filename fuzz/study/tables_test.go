package study

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// anyTable reads a table of testdata.
func anyTable(t *testing.T, name string) (digest string, rows [][]string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	digest, rows, err = ReadTable(f)
	if err != nil {
		t.Fatal(err)
	}
	return digest, rows
}

// readTable reads a table of testdata and checks that it is of the present
// arithmetics, mutants, generators and limits.
func readTable(t *testing.T, name, command string) [][]string {
	t.Helper()
	digest, rows := anyTable(t, name)
	if digest != Digest() {
		t.Errorf("testdata/%s was made from other arithmetics, mutants, generators or limits: %s --out fuzz/study/testdata/%s", name, command, name)
	}
	return rows
}

func TestDigests(t *testing.T) {
	readTable(t, "separation.tsv", SeparationCommand)
	readTable(t, "confusion.tsv", ConfusionCommand)
	readTable(t, "minimizer.tsv", MinimizerCommand)
	readTable(t, "models.tsv", ModelsCommand)
}

// separationRow is a row of the separation table with what it is about.
type separationRow struct {
	Separation
	change string
	base   *mma.Instruction
	other  mma.Params
}

// separationRows reads the separation table beside what should be in it.
func separationRows(t *testing.T) []separationRow {
	t.Helper()
	cells := readTable(t, "separation.tsv", SeparationCommand)
	var rows []separationRow
	add := func(i *mma.Instruction, name string, other mma.Params) {
		n := len(rows)
		if n >= len(cells) {
			t.Fatalf("row %d: want %s, %s; the table ends", n+1, i.FullName(), name)
		}
		s, change, err := ParseSeparation(cells[n])
		if err != nil {
			t.Fatalf("row %d: %v", n+1, err)
		}
		if want := changeText(mma.Diff(&i.Params, &other)); s.Base != i.FullName() || s.Other != name || change != want {
			t.Fatalf("row %d: %s, %s, %s; want %s, %s, %s", n+1, s.Base, s.Other, change, i.FullName(), name, want)
		}
		rows = append(rows, separationRow{s, change, i, other})
	}
	all := Arithmetics()
	for n := range all {
		i := &all[n]
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			add(i, s.Knob, s.Params)
		}
		for _, o := range all[n+1:] {
			if takesSame(i, &o) {
				add(i, o.FullName(), o.Params)
			}
		}
	}
	if len(rows) != len(cells) {
		t.Fatalf("%d rows, want %d", len(cells), len(rows))
	}
	return rows
}

// TestSeparations checks that the table has every mutant and every pair of
// architectures, each of them separated or argued to be the same function, and
// never both.
func TestSeparations(t *testing.T) {
	for _, r := range separationRows(t) {
		if r.Separated() == (r.Argument != "") {
			t.Errorf("%s, %s (%s): separated by %v, argument %q", r.Base, r.Other, r.change, r.First, r.Argument)
		}
		if r.Argument != Equivalent(r.base, &r.other) {
			t.Errorf("%s, %s (%s): argument %q, want %q", r.Base, r.Other, r.change, r.Argument, Equivalent(r.base, &r.other))
		}
	}
}

// TestSeparationSample makes a sample of the separation table anew.
func TestSeparationSample(t *testing.T) {
	const upTo = 4096
	stride := 61
	if testing.Short() {
		stride = 997
	}
	rows := separationRows(t)
	for n := 0; n < len(rows); n += stride {
		r := &rows[n]
		m, err := sim.New(r.base.Formats, r.base.K, r.other)
		if err != nil {
			t.Fatal(err)
		}
		got := &Separation{}
		if err := separateWithin(r.base, []rival{{got, m}}, upTo, upTo); err != nil {
			t.Fatal(err)
		}
		for g, first := range r.First {
			if first > upTo {
				first = 0
			}
			if got.First[g] != first {
				t.Errorf("%s, %s (%s): %s needs %d inputs, the table says %d", r.Base, r.Other, r.change, gen.All()[g].Name, got.First[g], r.First[g])
			}
		}
	}
}

// TestConfusion checks that the table has every mutant, that at least 95 % of
// those that can be told from their base are named exactly, and none wrongly.
func TestConfusion(t *testing.T) {
	cells := readTable(t, "confusion.tsv", ConfusionCommand)
	count := map[Result]int{}
	n := 0
	for _, i := range Arithmetics() {
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			if n >= len(cells) {
				t.Fatal("the table ends early")
			}
			c := cells[n]
			if change := changeText(mma.Diff(&i.Params, &s.Params)); c[0] != i.FullName() || c[1] != s.Knob || c[2] != change {
				t.Fatalf("row %d: %q, want %s, %s, %s", n+1, c[:3], i.FullName(), s.Knob, change)
			}
			if r := Result(c[4]); r == Wrong {
				t.Errorf("wrong verdict: %q", c)
			} else if r != Equal {
				count[r]++
			}
			n++
		}
	}
	if n != len(cells) {
		t.Errorf("%d rows, want %d", len(cells), n)
	}
	scored := count[Exact] + count[Ambiguous] + count[NotFound]
	if 100*count[Exact] < 95*scored {
		t.Errorf("%d of %d exact, want 95 %%", count[Exact], scored)
	}
}

// TestConfusionSample makes a sample of the confusion table anew.
func TestConfusionSample(t *testing.T) {
	cells := readTable(t, "confusion.tsv", ConfusionCommand)
	stride := 331
	if testing.Short() {
		stride = 1999
	}
	for n := 0; n < len(cells); n += stride {
		i, err := Find(cells[n][0])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			if s.Knob != cells[n][1] || changeText(mma.Diff(&i.Params, &s.Params)) != cells[n][2] {
				continue
			}
			o, err := Confuse(t.Context(), i, s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(cells[n], o.cells()); diff != "" {
				t.Errorf("row %d (-table +now):\n%s", n+1, diff)
			}
		}
	}
}

// TestMinimizerTable makes the first row anew and checks that everything was
// shrunk to a minimum.
func TestMinimizerTable(t *testing.T) {
	cells := readTable(t, "minimizer.tsv", MinimizerCommand)
	if len(cells) != len(shrinkPairs) {
		t.Fatalf("%d rows, want %d", len(cells), len(shrinkPairs))
	}
	for n, c := range cells {
		if c[0] != shrinkPairs[n][0] || c[1] != shrinkPairs[n][1] || c[2] != c[8] {
			t.Errorf("row %d: %q: want %q, all findings 1-minimal", n+1, c, shrinkPairs[n])
		}
	}
	s, err := shrinkPair(t.Context(), shrinkPairs[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(cells[0], s.cells()); diff != "" {
		t.Errorf("row 1 (-table +now):\n%s", diff)
	}
}

// TestModelsTable checks that the table has every operation with at least 10^7
// dot products of raw bits and no mismatch.
func TestModelsTable(t *testing.T) {
	want := map[string]bool{}
	for _, i := range Arithmetics() {
		want[Operation(&i)] = true
	}
	for _, c := range readTable(t, "models.tsv", ModelsCommand) {
		if len(c[2]) < len("10000000") || c[4] != "0" || !want[c[0]] {
			t.Errorf("%q", c)
		}
		delete(want, c[0])
	}
	if len(want) > 0 {
		t.Errorf("not in the table: %v", want)
	}
}
