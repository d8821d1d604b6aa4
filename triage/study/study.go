// Package study makes the studies of the papers with any units: how often units
// differ, how large their errors can be, whether they are biased, what becomes of
// whole matrices and of chains of products.
//
// A Study is asked with a Request and answers with a Result: tables and plots as
// data, which are written as text, JSON, CSV or a page. A study that takes long works
// through items, each of which is kept in a journal when it is done (see each), so
// that an interrupted study goes on where it was. Results depend on the seed, the
// settings and the units, not on the number of workers.
//
// Where a paper prints figures, ours stand beside them; where they differ, the reason
// does.
//
// # Adding a study
//
// Write NAME.go with a type that has a method Run, and add a row to studies.
//
// The API of this package is not promised: it may change in any version.
//
// # JSON
//
// In the tables, a ? marks a field that is not always there, a * one that has any JSON
// below it; go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common. Numbers that
// JSON does not have are strings: +Inf, -Inf and NaN, which in a heat map means that there
// is nothing.
//
// A result is an object, which mmafuzz study NAME --json writes, and which is also in the
// file result.json of its directory.
//
// study:
//
//	study              string    its name
//	seed               number    of all inputs
//	count              number    what it counts depends on the study: see its help
//	targets[]          string?   that were named
//	settings           object*?  flags of the study that were set, with their values
//	tables[].name      string    of its file
//	tables[].title     string
//	tables[].note      string?   what its columns are
//	tables[].head[]    string    names of the columns
//	tables[].rows[][]  object*   a cell: a string or a number
//	plots[].name       string?   of its picture
//	plots[].title      string?
//	plots[].kind       string?   lines, bars or heat
//	plots[].x          string?   what the axes are
//	plots[].y          string?
//	plots[].log_x      bool?     the axis is logarithmic
//	plots[].log_y      bool?
//	plots[].series     object*?  of lines and bars: objects with a name, x and y
//	plots[].rows       object*?  of a heat map: what its rows are
//	plots[].columns    object*?  of a heat map
//	plots[].values     object*?  of a heat map: rows of numbers from 0 to 1
//	orders             object*?  of gemm, for each schedule: the products of each accumulator, and how their sums are added (go doc ./triage/kernel Order)
//	unstable[]         string?   units that change their answers, and how often
//	remarks[]          string?   sentences that sum it up
//	failures[]         string?   what should not be
//
// probe --profile, an object for each row:
//
//	operation          string
//	init_low           number  mean absolute error against FP32, operands drawn in the format of a and b
//	init_fp32          number  as init_low, with operands drawn in FP32
//	rounded_init_low   number  as init_low, against the reference rounded to d
//	rounded_init_fp32  number  as init_fp32, against the reference rounded to d
package study

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
)

// Study is a row of the table of studies.
type Study struct {
	Name  string
	Short string // what it finds out, in a line
	Long  string // its help
	Count int    // default of Request.Count
	Most  int    // largest Request.Count, where memory grows with it; 0: any
	Of    string // what Count counts; "": it counts nothing
	// TargetOf, if not nil, returns the target of a word of Request.Targets, "" if it names none.
	TargetOf func(word string) string
	// New makes a runner and the flags of its own settings.
	New func(f *pflag.FlagSet) Runner
}

// Runner makes a study, with the settings of its flags.
type Runner interface {
	Run(ctx context.Context, r *Request) (*Result, error)
}

// studies is the table.
var studies = []Study{
	discrepancyStudy,
	boundsStudy,
	biasStudy,
	operationsStudy,
	chainStudy,
	refineStudy,
	multiwordStudy,
	solveStudy,
}

// All returns the table of studies.
func All() []Study { return studies }

// Request is what a study is asked for.
type Request struct {
	Targets []string // TARGET or TARGET/INSTRUCTION; none: what the study takes then
	Seed    uint64   // of all inputs
	Count   int      // see Study.Of; positive
	Workers int      // goroutines; 0: one for each processor
	Dir     string   // directory of the journal and of files; "": none are written
	// Progress, if not nil, is told how many items are done, of how many.
	Progress func(done, of int, what string)

	study    string
	journal  *kept
	unstable *[]string // units that change their answers
}

// Run makes a study. settings are what its flags are set to: an interrupted study
// goes on only with the same ones.
func (s *Study) Run(ctx context.Context, runner Runner, r Request, settings map[string]string) (*Result, error) {
	r.study = s.Name
	if r.Count == 0 {
		r.Count = s.Count
	}
	if s.Most > 0 && r.Count > s.Most {
		return nil, fmt.Errorf("--count is %d, and there are %d at most: they are kept in memory", r.Count, s.Most)
	}
	if err := r.openJournal(settings); err != nil {
		return nil, err
	}
	defer r.journal.close()
	var unstable []string
	r.unstable = &unstable
	res, err := runner.Run(ctx, &r)
	if err == nil {
		err = r.journal.begin() // it shows who has written the files of the result
	}
	if err != nil {
		return nil, err
	}
	res.Study, res.Seed, res.Count, res.Targets, res.Settings, res.Unstable = s.Name, r.Seed, r.Count, r.Targets, settings, unstable
	return res, nil
}
