package study

import (
	"encoding/json"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// Result is what a study found.
type Result struct {
	Study    string            `json:"study"`
	Seed     uint64            `json:"seed"`
	Count    int               `json:"count"`
	Targets  []string          `json:"targets,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	Tables   []Table           `json:"tables"`
	Plots    []Plot            `json:"plots,omitempty"`
	Orders   []*kernel.Order   `json:"orders,omitempty"`   // of gemm: in which order products are added
	Unstable []string          `json:"unstable,omitempty"` // units that change their answers, and how often
	Remarks  []string          `json:"remarks,omitempty"`  // sentences that sum it up
	Failures []string          `json:"failures,omitempty"` // what should not be: a bound exceeded, a figure of a paper missed
}

// Table is a table of a study.
type Table struct {
	Name  string   `json:"name"` // of its file
	Title string   `json:"title"`
	Note  string   `json:"note,omitempty"` // what its columns are, for people
	Head  []string `json:"head"`
	Rows  [][]Cell `json:"rows"` // as long as Head
}

// Cell is a string, an int, a Number or agrees.
type Cell any

// agrees is whether ours is what a paper has, or agrees with it.
type agrees bool

// String writes it for people.
func (a agrees) String() string {
	if a {
		return "yes"
	}
	return "no"
}

// MarshalText writes it as it is shown.
func (a agrees) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Number is a number as JSON, which has no infinities and no NaNs, and as tables have it.
type Number float64

// MarshalJSON writes infinities and NaNs as strings.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsInf(v, 0) && !math.IsNaN(v) {
		return json.Marshal(v)
	}
	return json.Marshal(n.exactly())
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (n *Number) UnmarshalJSON(body []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(body), `"`), 64)
	*n = Number(v)
	return err
}

var nan = Number(math.NaN())

// exactly writes the number with as many digits as tell it from others.
func (n Number) exactly() string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }

// String writes the number for people: three digits.
func (n Number) String() string {
	v := float64(n)
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Plot is a plot of a study: lines, bars or a heat map.
type Plot struct {
	Name  string `json:"name"` // of its picture
	Title string `json:"title"`
	Kind  string `json:"kind"` // lines, bars or heat
	X     string `json:"x"`    // what the axes are, with units
	Y     string `json:"y"`
	LogX  bool   `json:"log_x,omitempty"`
	LogY  bool   `json:"log_y,omitempty"`
	// Of lines and bars.
	Series []Series `json:"series,omitempty"`
	// Of a heat map: values from 0 to 1, NaN where there is none, and what its rows
	// and columns are.
	Rows    []string   `json:"rows,omitempty"`
	Columns []string   `json:"columns,omitempty"`
	Values  [][]Number `json:"values,omitempty"`
}

// Series is the points of a line, or the bars of a histogram by their middles.
type Series struct {
	Name string   `json:"name"`
	X    []Number `json:"x"`
	Y    []Number `json:"y"`
}

// add adds a row of strings, ints, float64s and Numbers.
func (t *Table) add(cells ...any) {
	row := make([]Cell, len(cells))
	for i, c := range cells {
		if v, ok := c.(float64); ok {
			c = Number(v)
		}
		row[i] = c
	}
	t.Rows = append(t.Rows, row)
}

// warnings are sentences on the units that change their answers.
func (r *Result) warnings() []string {
	var all []string
	for _, s := range r.Unstable {
		all = append(all, "WARNING: "+s+". Figures of such a unit prove nothing.")
	}
	return all
}

// sortedKeys returns the keys of settings in order.
func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Save writes the result to a directory: result.json, its page as page.html, its tables as
// tables.md, each table as NAME.csv and each plot as plot-NAME.svg, its points as plot-NAME.csv.
// made is the program that made it.
func (r *Result) Save(dir, made string) error {
	body, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := corpus.ReplaceFile(filepath.Join(dir, resultFile), append(body, '\n')); err != nil {
		return err
	}
	d := r.Document(dir)
	d.Made = made
	return d.Save(dir)
}
