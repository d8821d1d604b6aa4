package selfcheck

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// TestInfer infers a few units that are quick to infer: of the catalogue and made up,
// with seeds that found mistakes.
func TestInfer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	var units []mma.Instruction
	for _, name := range []string{"volta/mma.m8n8k4.f16.f16.f16.f16", "cdna2/v_mfma_f32_16x16x8bf16", "x86/vdpbf16ps", "zen4/dppd"} {
		i, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		units = append(units, *i)
	}
	units = append(units, MadeUpUnits(33, 2)...)[:tier.Of(0, 1, 4, 6)]
	n := 0
	err := inferAll(t.Context(), &Table{}, units, infer.Options{Seed: 1, Checks: 2000, Workers: 1}, 4096, func(i *Inference) {
		n++
		if !i.Recovered() {
			t.Errorf("%s: %s, differs in %q; found %s", i.Unit, i.Verdict, i.Differ, mma.Brief(mma.Diff(&i.True, &i.Found)))
		}
	})
	if err != nil || n != len(units) {
		t.Errorf("%d of %d units, %v", n, len(units), err)
	}
}

// inferenceRows measures and reads a table of inferences, and checks that each row is of a
// unit and limits that are still the same.
func inferenceRows(t *testing.T, test, name string, units []mma.Instruction, dots int, unit func(name string) (*mma.Instruction, error)) [][]string {
	t.Helper()
	table := tableOf(t, name, func(ctx context.Context, old *Table) (*Table, error) {
		return inferenceTableOf(ctx, old, test, units, dots, func(i *Inference) {
			detail(t, i.Cells())
			if !i.Recovered() && !i.Kept() {
				t.Logf("%s is not recovered: found %s, true %s", i.Unit, programText(&i.Found), programText(&i.True))
			}
		})
	})
	for _, r := range table.Rows {
		i, err := unit(r[colName])
		if err != nil {
			t.Fatal(err)
		}
		if r[colDigest] != inferenceDigest(i) {
			t.Errorf("%s, %s: the row is stale: %s", name, r[colName], remedy(test))
		}
	}
	return table.Rows
}

// madeUpUnit returns the unit of a name made-up/SEED.
func madeUpUnit(name string) (*mma.Instruction, error) {
	seed, err := strconv.ParseUint(strings.TrimPrefix(name, "made-up/"), 10, 64)
	if err != nil {
		return nil, err
	}
	return &MadeUpUnits(seed, 1)[0], nil
}

// TestInferenceTable checks that the rows of the catalogue's table are of its
// arithmetics, in order, and that all are recovered; and makes a sample of quick ones
// anew, except for the seconds and what was compared in the end.
func TestInferenceTable(t *testing.T) {
	all := mma.Arithmetics()
	rows := inferenceRows(t, "InferenceTable", "inference.tsv", all, 1_000_000, Find)
	var missing []string
	for _, i := range all {
		if !slices.ContainsFunc(rows, func(r []string) bool { return r[colName] == i.FullName() }) {
			missing = append(missing, i.FullName())
		}
	}
	notMeasured(t, "InferenceTable", missing...)
	var sample []mma.Instruction
	var want [][]string
	at := 0
	for n, row := range rows {
		for at < len(all) && all[at].FullName() != row[colName] {
			at++
		}
		if at == len(all) {
			t.Fatalf("row %d: %s is no arithmetic, or not in order", n+1, row[colName])
		}
		if row[4] != string(infer.Found) || row[10] != "-" {
			t.Errorf("%q", row)
		}
		if all[at].K == 1 && n%50 == 0 && tier.Long() {
			sample, want = append(sample, all[at]), append(want, row)
		}
	}
	checkInferences(t, sample, want)
}

// The made-up units that are inferred.
var (
	firstSeed = flag.Uint64("first", 13_000_000, "seed of the first made-up unit")
	unitCount = flag.Int("units", 300, "number of made-up units")
)

// TestMadeUpTable checks that the rows of the made-up units' table are of seeds in a
// row, and makes a quick one anew.
func TestMadeUpTable(t *testing.T) {
	units := MadeUpUnits(*firstSeed, *unitCount)
	rows := inferenceRows(t, "MadeUpTable", "madeup.tsv", units, 50_000, madeUpUnit)
	if len(rows) != len(units) {
		t.Fatalf("%d rows, want %d: %s", len(rows), len(units), remedy("MadeUpTable"))
	}
	quick := -1
	for n := range rows {
		if rows[n][1] != units[n].FullName() || rows[n][2] != units[n].Formats.String() || rows[n][3] != fmt.Sprint(units[n].K) {
			t.Errorf("row %d: %q, want %s", n+1, rows[n], units[n].FullName())
		}
		if quick < 0 || units[n].K < units[quick].K {
			quick = n
		}
	}
	if tier.Long() {
		checkInferences(t, units[quick:quick+1], rows[quick:quick+1])
	}
}

// checkInferences makes rows anew and compares them except for how much was asked, the
// seconds, and what was compared in the end: every new kind of input changes these.
func checkInferences(t *testing.T, units []mma.Instruction, want [][]string) {
	t.Helper()
	n := 0
	err := inferAll(t.Context(), &Table{}, units, infer.Options{Seed: 1, Workers: 1}, 4096, func(i *Inference) {
		got := i.Cells()
		for _, column := range []int{5, 6, 8, 9} {
			got[column] = want[n][column]
		}
		if diff := cmp.Diff(want[n], got); diff != "" {
			t.Errorf("%s (-table +now):\n%s", i.Unit, diff)
		}
		n++
	})
	if err != nil {
		t.Error(err)
	}
}
