package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// result is the results of the sides beside the exact value.
type result struct {
	format fp.ID
	sides  []*Side
	exact  oracle.Exact
	// exactOf says of what the exact value is, where that is not what the sides compute.
	exactOf string
}

func newResult(in *Input, sides ...*Side) *result {
	r := &result{format: in.Formats.D, sides: sides, exact: oracle.ExactDot(in.Formats, in.Dot), exactOf: in.ExactOf}
	for _, s := range sides {
		if s.Params != nil && (s.Params.In.ZeroA != 0 || s.Params.In.ZeroB != 0) { // which a side subtracts first
			r.exactOf = "without the zero points"
		}
	}
	return r
}

// comparable reports whether there are two results.
func (r *result) comparable() bool {
	return len(r.sides) == 2 && !r.sides[0].Failed && !r.sides[1].Failed
}

// xor returns the bits in which the results differ; 0 if there are not two.
func (r *result) xor() uint64 {
	if !r.comparable() {
		return 0
	}
	return r.sides[0].Result ^ r.sides[1].Result
}

// difference says how the results differ, in words.
func (r *result) difference() string {
	x, y := r.sides[0].Result, r.sides[1].Result
	if r.format.Flags() != 0 {
		return "A and B differ in the flags " + fp.Flags(x^y).String()
	}
	c := oracle.Compare(r.format, oracle.Policy{}, x, y)
	text := fmt.Sprintf("A and B differ in %s: XOR %s", differences[c], mma.FormatCode(r.format, x^y))
	if c == oracle.Value {
		text += fmt.Sprintf(", codes %d apart", r.format.Get().Distance(x, y))
	}
	return text
}

var differences = map[oracle.Class]string{
	oracle.Value:    "value",
	oracle.ZeroSign: "the sign of zero",
	oracle.NaNCode:  "the code of NaN",
	oracle.NaN:      "kind (NaN or not)",
	oracle.Inf:      "kind (infinite or not)",
}

// allFailed reports whether no side has a result.
func (r *result) allFailed() bool {
	return !slices.ContainsFunc(r.sides, func(s *Side) bool { return !s.Failed })
}

// cells returns a row of the table for each side, and for the exact value.
func (r *result) cells() [][]string {
	var rows [][]string
	for i, s := range r.sides {
		name, code := "  d", s.Result
		if len(r.sides) > 1 {
			name = "  " + sideNames[i]
		}
		if s.Failed {
			rows = append(rows, []string{name, "-", "no result", "", "", ""})
			continue
		}
		if r.format.Flags() != 0 {
			rows = append(rows, []string{name, mma.FormatCode(r.format, code), "", "", "", "(" + Decimal(r.format, code) + ")"})
			continue
		}
		v := codeValue(r.format, code)
		rows = append(rows, []string{
			name, mma.FormatCode(r.format, code), valueText(&v), fields(r.format, code),
			r.errorCell(code), "(" + Decimal(r.format, code) + ")",
		})
	}
	return append(rows, []string{"  exact", "", exactText(r.exact), "", r.exactOf, "(" + r.exact.Decimal() + ")"})
}

// ulps returns the error of a result. A NaN has none, also where the exact value is one: their
// codes may differ.
func (r *result) ulps(code uint64) float64 {
	if v := codeValue(r.format, code); isNaN(&v) {
		return math.NaN()
	}
	return r.exact.Ulps(code)
}

// errorCell is the error of a result in the table, if the exact value is known.
func (r *result) errorCell(code uint64) string {
	if r.exactOf != "" {
		return ""
	}
	return "error " + r.errorText(code)
}

// errorText writes the error of a result. A zero has lost all of a value: in ulps of the value
// that would be a large number that says nothing.
func (r *result) errorText(code uint64) string {
	u := r.ulps(code)
	if v := codeValue(r.format, code); math.Abs(u) > 1 && !math.IsInf(u, 0) && isFinite(&v) && v.Value.IsZero() {
		return "-100%"
	}
	return ulps(u)
}

// exactText writes the exact value in hexadecimal; of very many digits the first
// ones.
func exactText(x oracle.Exact) string {
	text := x.String()
	if strings.HasSuffix(text, "0x0p+0") {
		return valueText(&sim.TermTrace{Value: fp.Dyadic{Neg: x.Neg}})
	}
	return firstDigits(text, 29)
}

// ulps writes an error with its sign.
func ulps(u float64) string {
	switch {
	case math.IsNaN(u):
		return "nan"
	case math.IsInf(u, 0):
		return fmt.Sprintf("%+.0f", u)
	case u == 0:
		return "0"
	case u == math.Trunc(u) && math.Abs(u) < 1e7:
		return fmt.Sprintf("%+.0f ulp", u)
	}
	return fmt.Sprintf("%+.4g ulp", u)
}
