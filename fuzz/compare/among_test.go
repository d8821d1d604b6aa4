package compare

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
)

// marksOf returns marks of some inputs.
func marksOf(results uint32, inputs ...uint32) (m corpus.Marks) {
	for _, x := range inputs {
		m = m.Add(corpus.Mark{Input: x, Results: results})
	}
	return m
}

// TestAmong looks for an earlier difference among those of today.
func TestAmong(t *testing.T) {
	full := marksOf(1, 2, 4, 6) // and many more
	for i := range uint32(2 * corpus.MostMarks) {
		full = full.Add(corpus.Mark{Input: 100 + i, Results: 1})
	}
	last := full[len(full)-1].Input
	before := marksOf(1, 2, 4, 6, last+1)
	const where = "the cases of x, which no change of the arithmetic explains"
	for _, tc := range []struct {
		name        string
		marks       corpus.Marks
		now         []Difference
		state, what string
	}{
		{"all explained", before, []Difference{{ID: "x", B: "b", Changes: aDifference().Changes, Marks: full}}, "", ""},
		{"a machine alone", before, []Difference{{ID: "x"}}, "", ""},
		{"all there", before, []Difference{{ID: "x", B: "b", Marks: full}}, StateStill, "it is among " + where + ": of 3 sampled cases of it, there differ 3 as before"},
		{"in two", marksOf(1, 2, 8, 9), []Difference{{ID: "x", B: "b", Marks: full}, {ID: "y", B: "b", Marks: marksOf(1, 8)}}, StateStill,
			"it is among the cases of x, y, which no change of the arithmetic explains: of 3 sampled cases of it, there differ 2 as before, 1 no more"},
		{"other results", before, []Difference{{ID: "x", B: "b", Marks: marksOf(2, 2, 4)}}, stateUnclear, "it may be among " + where + ": of 4 sampled cases of it, there differ 2 in another way, 2 no more"},
		{"elsewhere", before, []Difference{{ID: "x", B: "b", Marks: marksOf(1, 3, 5)}}, "", ""},
		{"mostly gone", before, []Difference{{ID: "x", B: "b", Marks: marksOf(1, 2)}}, "", ""},
		{"without marks", nil, []Difference{{ID: "x", B: "b", Marks: full}}, stateUnclear, "it may be among " + where},
		{"beyond the sample", marksOf(1, last+1), []Difference{{ID: "x", B: "b", Marks: full}}, stateUnclear, "it may be among " + where},
	} {
		var ds []*Difference
		for i := range tc.now {
			ds = append(ds, &tc.now[i])
		}
		if state, what := among(tc.marks, ds); state != tc.state || what != tc.what {
			t.Errorf("%s: %s, %s", tc.name, state, what)
		}
	}
}

// TestSecondDefect adds a defect to one that is known or in the baseline: the first is not gone, and
// it is still there when the second has gone.
func TestSecondDefect(t *testing.T) {
	one := Difference{A: "a100", B: "h100", Instruction: "x", Bucket: "unexplained", Digest: "1", Marks: marksOf(1, 2, 4)}
	two := Difference{A: "a100", B: "h100", Instruction: "x", Bucket: "unexplained", Digest: "2", Marks: marksOf(1, 2, 3, 4, 5)}
	one.identify()
	two.identify()
	night := func(d Difference, last *Result, list *corpus.Known) *Result {
		c := &Comparison{Options: Options{Baseline: last, Known: Known{List: list}}}
		c.result.Differences = []Difference{d}
		c.result.Cells = []Cell{{A: "a100", B: "h100", Instruction: "x"}}
		c.judge()
		return reread(t, &c.result)
	}
	first := night(one, nil, nil)
	second := night(two, first, nil)
	if diff := cmp.Diff(Counts{New: 1, Still: 1}, second.Counts); diff != "" || second.Gone[0].There != StateStill {
		t.Errorf("%s%+v", diff, second.Gone)
	}
	var text strings.Builder
	if err := second.Write(&text, TextOptions{Width: 100}); err != nil || !strings.Contains(text.String(), "STILL THERE  1 difference\n  "+one.ID) || strings.Contains(text.String(), "GONE") {
		t.Errorf("%v\n%s", err, &text)
	}
	if third := night(one, second, nil); third.Differences[0].State != StateStill {
		t.Errorf("the first defect alone again is %s", third.Differences[0].State)
	}
	one.State = StateNew
	for _, list := range []*corpus.Known{
		(&Known{}).accept([]Difference{one}, "BUG-12", nil),
		{Entries: []corpus.KnownEntry{{ID: "k", Pair: []string{"h100", "a100"}, Difference: one.ID}}},
		{Entries: []corpus.KnownEntry{{ID: "k", Pair: []string{"h100", "a100"}, Changes: []string{"l 8→4"}}}},
		{Entries: []corpus.KnownEntry{{ID: "k", Pair: []string{"h100", "mi300"}, Difference: one.ID}}},
	} {
		want := map[bool]string{true: "used", false: stateUnclear}[list.Entries[0].Marks != nil]
		if list.Entries[0].Pair[1] == "mi300" {
			want = "unused"
		}
		if r := night(two, nil, list); r.Known[0].State != want || r.Counts.New != 1 {
			t.Errorf("%+v: %+v", list.Entries[0], r.Known)
		}
	}
}

// TestReplaced: a difference whose cause is gone while another cause makes some of its cases differ is gone, and
// both texts say that its cases are not.
func TestReplaced(t *testing.T) {
	was, now, other := aDifference(), aDifference(), aDifference()
	was.Bucket, was.Marks = "summation-order", marksOf(1, 2, 4, 6, 8)
	now.Bucket, now.Marks = "input-ftz", marksOf(1, 2, 3, 4).Add(corpus.Mark{Input: 6, Results: 7})
	other.Bucket, other.Marks = "input-ftz", marksOf(1, 3)
	for _, tc := range []struct {
		name            string
		now             []Difference
		replaced, table string
	}{
		{"some of its cases", []Difference{now}, "its cause is gone, not all of its cases: of 4 sampled cases of it, there differ 2 as before, 1 in another way, 1 no more, now of ID (input-ftz)",
			"compared again: its cause is gone, not all of its cases: of 4 sampled cases of it, there differ 2 as before, 1 in another way, 1 no more, now of ID (input-ftz)"},
		{"none of them", []Difference{other}, "", "compared again: no difference of this cause"},
		{"nothing", nil, "", "compared again: no difference"},
	} {
		night := func(ds []Difference, last *Result) *Result {
			c := &Comparison{Options: Options{Baseline: last}}
			for _, d := range ds {
				d.identify()
				c.result.Differences = append(c.result.Differences, d)
			}
			c.result.Cells = []Cell{{A: was.A, B: was.B, Instruction: was.Instruction}}
			c.judge()
			return reread(t, &c.result)
		}
		r := night(tc.now, night([]Difference{was}, nil))
		id := ""
		if len(tc.now) > 0 {
			id = r.Differences[0].ID
		}
		if len(r.Gone) != 1 || r.Counts.Gone != 1 || r.Gone[0].What != strings.ReplaceAll(tc.replaced, "ID", id) {
			t.Fatalf("%s: %+v", tc.name, r.Gone)
		}
		blocks := (&nightly{Night: Night{Result: r}, first: map[string]string{}}).states()
		rows := blocks[len(blocks)-2].(*document.Table).Rows
		if got := rows[0][len(rows[0])-1].Text; got != strings.ReplaceAll(tc.table, "ID", id) {
			t.Errorf("%s: the page says %q", tc.name, got)
		}
	}
}
