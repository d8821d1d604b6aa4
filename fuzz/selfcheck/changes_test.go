package selfcheck

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// changesGoal is the share of the units of one change, and of two, in percent, that triage
// must explain of those that some input tells from their arithmetic.
var changesGoal = []int{95, 90}

// late is the arithmetic whose first unit takes longer to explain than those of all others
// together.
const late = "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e5m2.e5m2.ue8m0"

// TestChanges checks that triage explains as many drawn changes as it is meant to and none
// wrongly, and presents some units again.
func TestChanges(t *testing.T) {
	all := ChangesArithmetics()
	var names, digests []string
	for n := range all {
		names, digests = append(names, all[n].FullName()), append(digests, changesDigest(&all[n]))
	}
	rows := alignedRows(t, "TestChanges", tableOf(t, "changes.tsv", func(ctx context.Context, old *Table) (*Table, error) {
		return ChangesTable(ctx, old, all, func(_ string, outs []*Changed) {
			for _, o := range outs {
				detail(t, o.FullCells())
			}
		})
	}), names, digests)
	for count, goal := range changesGoal {
		n := map[Result]int{}
		for i, r := range rows {
			if r == nil {
				continue
			}
			results, err := ParseLetters(r[2+count])
			if err != nil || len(results) != changesCases {
				t.Fatalf("%s: %q: %v, want %d letters", names[i], r[2+count], err, changesCases)
			}
			for _, x := range results {
				n[x]++
			}
		}
		scored := n[Exact] + n[Unexplained] + n[Wrong]
		if n[Wrong] > 0 || 100*n[Exact] < goal*scored {
			t.Errorf("%d changes: %d of %d explained, %d of them wrongly; want %d %% and none", count+1, n[Exact]+n[Wrong], scored, n[Wrong], goal)
		}
	}
	for i := range tier.Of(0, 1, len(all)/4, len(all)) {
		if rows[i] == nil {
			continue
		}
		unit := 0
		if names[i] == late && !tier.Nightly() {
			unit = 1
		}
		o, err := changed(t.Context(), &all[i], 1, unit)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := resultLetters[o.Result], rows[i][2][unit]; got != want && (got != '=' || want != '?') {
			t.Errorf("%s, %s: %c, the table says %c", names[i], changeText(o.Changes), got, want)
		}
	}
}
