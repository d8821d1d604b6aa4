// Package evidence has, for the rows of the catalogue, how much the results with which they
// were compared could have shown: of all mutants of a row that differ from it by one parameter
// and that inputs made for it tell from it, how many those results refute. Recorded results on
// ordinary numbers refute fewer than one would think.
//
// The table is measured by the test of this package with -update, from the recordings of GPUs
// in ../shared/hwvectors, those in corpus/recordings, the published results in sim/testdata, and
// the campaigns that the rows name, whose inputs are made again. Evidence whose inputs are not there,
// as a paper's text, is not measured.
//
// The API of this package is not promised: it may change in any version.
package evidence

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// table has a line about the mutants, one of names of columns, and a line for each row of the
// catalogue that was measured.
//
//go:embed table.tsv
var table string

// heads are the names of the columns.
const heads = "row\tresults\tmutants\trefuted\tfrom"

// figure is how much the results that a row was compared with could have shown.
type figure struct {
	results int    // dot products with results of hardware, or of what stands in for it
	mutants int    // that differ from the row by one parameter, and that some input tells from it
	refuted int    // of these, by the results
	from    string // files that have the results
}

var figures = sync.OnceValue(func() map[string]figure {
	all := map[string]figure{}
	for n, line := range strings.Split(strings.TrimSpace(table), "\n") {
		if n < 2 { // about the table, and its heads
			continue
		}
		cells := strings.Split(line, "\t")
		var f figure
		for i, at := range []*int{&f.results, &f.mutants, &f.refuted} {
			v, err := strconv.Atoi(cells[1+i])
			if err != nil {
				panic(fmt.Sprintf("evidence: line %d of the table: %v", n+1, err))
			}
			*at = v
		}
		f.from = cells[4]
		all[cells[0]] = f
	}
	return all
})

// of returns the figure of a row of the catalogue; false if it was not measured.
func of(i *mma.Instruction) (figure, bool) {
	f, ok := figures()[i.FullName()]
	return f, ok
}

// Text describes the figure of an instruction in one line.
func Text(i *mma.Instruction) string {
	f, ok := of(i)
	switch {
	case ok:
		return f.String()
	case i.Params == (mma.Params{}) || !i.Checked():
		return "-"
	}
	return "not measured: the results that it was compared with are not here"
}

// String says how many mutants are refuted, and whether these are fewer than half.
func (f figure) String() string {
	text := fmt.Sprintf("%d of %d mutants, by %d results (%s)", f.refuted, f.mutants, f.results, f.from)
	if 2*f.refuted < f.mutants {
		text = "less than half: " + text
	}
	return text
}
