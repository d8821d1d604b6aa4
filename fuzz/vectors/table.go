package vectors

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
)

// TableFile is the file with a row for each set.
const TableFile = "table.tsv"

var columns = []string{"digest", "instruction", "also", "k", "tests", "chosen", "changes", "killed", "same", "undecided", "open", "values", "values-killed", "values-same", "values-undecided", "values-open", "refinements", "instructions", "references", "bytes"}

const (
	tableCommand = "# by mmafuzz vectors --all --out DIR"
	tableTitle   = tableCommand + "; a row with - is not measured yet: other values of its parameters were never tried\n"
)

// isTable reports whether a file is a table of sets.
func isTable(file string) bool {
	text, err := corpus.ReadFile(file, "table of sets", maxTable)
	return err == nil && bytes.HasPrefix(text, []byte(tableCommand))
}

// maxTable is more bytes than any table has.
const maxTable = 64 << 20

// table returns a table with a row for each set: its tests, how many of these were chosen,
// how many of the arithmetics that differ by one changed decision, and by another value of one
// parameter, fail some test, why the others do not, how many other arithmetics fail some test,
// and the bytes of the set as JSON.
func table(sets []*vectors.Set) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s%s\n", tableTitle, strings.Join(columns, "\t"))
	for _, s := range sets {
		text, err := s.JSON()
		if err != nil {
			return nil, err
		}
		tests, chosen := count(s)
		kinds := map[string]int{}
		for _, o := range s.Others {
			kinds[o.Kind]++
		}
		r, v := s.Rates, s.Values()
		fmt.Fprintf(&b, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", s.Digest, s.Instruction, len(s.Also), s.K, tests, chosen,
			r.Changes, r.Killed, r.Same, r.Undecided, r.Open, v.Changes, v.Killed, v.Same, v.Undecided, v.Open, kinds[vectors.KindRefinement], kinds[vectors.KindInstruction], kinds[vectors.KindReference], len(text))
	}
	return b.Bytes(), nil
}

func count(s *vectors.Set) (tests, chosen int) {
	for _, g := range s.Groups {
		tests += len(g.Tests)
		if g.Name != random {
			chosen += len(g.Tests)
		}
	}
	return tests, chosen
}

// Total sums up the sets of an architecture.
type Total struct {
	Arch            string `json:"arch"`
	Sets            int    `json:"sets"`
	Instructions    int    `json:"instructions"` // that the sets are for
	Tests           int    `json:"tests"`
	Chosen          int    `json:"chosen"`        // of these, those not drawn at random
	Changes         int    `json:"changes"`       // arithmetics with one changed decision
	Killed          int    `json:"killed"`        // of these, those that fail some test
	Same            int    `json:"same"`          // those that compute the same function, by an argument
	Undecided       int    `json:"undecided"`     // those that differ only in what is not known of the instruction
	Open            int    `json:"open"`          // those for which no input was found
	Values          int    `json:"values"`        // arithmetics with another value of one parameter or of two
	ValuesKilled    int    `json:"values_killed"` // and so on
	ValuesSame      int    `json:"values_same"`
	ValuesUndecided int    `json:"values_undecided"`
	ValuesOpen      int    `json:"values_open"`
	Bytes           int    `json:"bytes"` // as JSON
}

// Totals sums up sets by architecture, the sum of all at the end; a single set is its own sum.
func Totals(sets []*vectors.Set) ([]Total, error) {
	all := Total{Arch: "all"}
	var totals []Total
	for _, s := range sets {
		arch, _, _ := strings.Cut(s.Instruction, "/")
		n := slices.IndexFunc(totals, func(t Total) bool { return t.Arch == arch })
		if n < 0 {
			n = len(totals)
			totals = append(totals, Total{Arch: arch})
		}
		text, err := s.JSON()
		if err != nil {
			return nil, err
		}
		for _, t := range []*Total{&totals[n], &all} {
			tests, chosen := count(s)
			t.Sets++
			t.Instructions += 1 + len(s.Also)
			t.Tests += tests
			t.Chosen += chosen
			t.Changes += s.Rates.Changes
			t.Killed += s.Rates.Killed
			t.Same += s.Rates.Same
			t.Undecided += s.Rates.Undecided
			t.Open += s.Rates.Open
			v := s.Values()
			t.Values += v.Changes
			t.ValuesKilled += v.Killed
			t.ValuesSame += v.Same
			t.ValuesUndecided += v.Undecided
			t.ValuesOpen += v.Open
			t.Bytes += len(text)
		}
	}
	if len(sets) == 1 {
		return totals, nil
	}
	return append(totals, all), nil
}

// Document is the sums for people.
func Document(totals []Total) *document.Document {
	t := &document.Table{Columns: document.Columns("", "#sets", "#instructions", "#tests", "#chosen", "#bytes", "of", "#other", "#killed", "#same", "#undecided", "#open")}
	for _, x := range totals {
		row := []string{x.Arch}
		for _, n := range []int{x.Sets, x.Instructions, x.Tests, x.Chosen, x.Bytes} {
			row = append(row, fmt.Sprint(n))
		}
		for _, kind := range []struct {
			of string
			n  [5]int
		}{
			{"decisions", [5]int{x.Changes, x.Killed, x.Same, x.Undecided, x.Open}},
			{"values", [5]int{x.Values, x.ValuesKilled, x.ValuesSame, x.ValuesUndecided, x.ValuesOpen}},
		} {
			row = append(row, kind.of)
			for _, n := range kind.n {
				row = append(row, fmt.Sprint(n))
			}
			t.Add(row...)
			row = make([]string, 6)
		}
	}
	d := document.New("Test vectors", "")
	d.Add("", t, document.Note("tests: dot products with their results; chosen: those that other units fail, the rest being drawn at random; other: units with another decision or value; killed: they fail a test; same: proved to compute the same function; undecided: different only where nobody knows what is right; open: none of these is known"))
	return d
}
