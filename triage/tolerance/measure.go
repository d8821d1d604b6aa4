package tolerance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Measured is the tolerance with which a unit is within a reference on inputs of a distribution.
type Measured struct {
	Target    string  `json:"target"`
	Against   string  `json:"against"`
	K         int     `json:"k"`
	Source    string  `json:"source"`
	Seed      uint64  `json:"seed"`
	Count     int     `json:"count"`
	Unjudged  int     `json:"unjudged"`
	Rtol      float64 `json:"rtol"`
	Atol      float64 `json:"atol"`
	RtolAlone float64 `json:"rtol_alone"`
	Norm      float64 `json:"norm"` // the root mean square of the errors, divided by that of the references
	Worst     string  `json:"worst"`
	Fresh     int     `json:"fresh"`
	Zeros     int     `json:"zeros"`

	Command string `json:"-"` // that measures the same
}

// Measurement says what is measured.
type Measurement struct {
	Unit, Against devices.Unit // Against: what Unit is compared with; nil: the exact value
	K             int          // a multiple of the unit's
	Generator     *gen.Generator
	Seed          uint64
	Count         int
	Rtol          float64        // 0: 2u, which a single rounding in any direction needs
	Progress      func(done int) // may be nil
}

// pairOf is the error of a result, and the absolute value of what it is compared with.
type pairOf struct{ err, reference float64 }

// Measure finds the least atol for an rtol, and tries both on as many other inputs.
func (m *Measurement) Measure(ctx context.Context) (*Measured, error) {
	i := m.Unit.Instruction()
	if i.D.Flags() != 0 {
		return nil, fmt.Errorf("%s are no numbers: there is no tolerance of them", i.D)
	}
	source := m.Generator.Aimed(gen.Spec{Formats: i.Formats, K: m.K})
	res := &Measured{K: m.K, Source: source.String(), Seed: m.Seed, Count: m.Count, Worst: "-"}
	res.Rtol = cmp.Or(m.Rtol, math.Ldexp(1, -int(i.D.Get().FracBits)))
	done := 0
	each := func(seed uint64, take func(d *mma.Dot, p pairOf)) error {
		return m.each(ctx, source, seed, func(d *mma.Dot, p *pairOf) {
			if p != nil {
				take(d, *p)
			} else if seed == m.Seed {
				res.Unjudged++
			}
			if done++; m.Progress != nil {
				m.Progress(done)
			}
		})
	}
	var errs, references float64 // sums of squares
	err := each(m.Seed, func(d *mma.Dot, p pairOf) {
		errs, references = errs+p.err*p.err, references+p.reference*p.reference
		if p.err > 0 {
			res.RtolAlone = max(res.RtolAlone, p.err/p.reference)
		}
		if over := p.err - res.Rtol*p.reference; over > res.Atol {
			res.Atol, res.Worst = over, mma.FormatDot(i.Formats, d)
		}
	})
	if err != nil {
		return nil, err
	}
	res.Rtol, res.Atol, res.RtolAlone = up(res.Rtol), up(res.Atol), up(res.RtolAlone)
	if references > 0 && !math.IsInf(references, 1) {
		res.Norm = min(math.Sqrt(errs/references), math.MaxFloat64)
	}
	return res, each(m.Seed+1, func(_ *mma.Dot, p pairOf) {
		allowed := res.Atol + res.Rtol*p.reference
		if p.err > allowed {
			res.Fresh++
		}
		if p.reference <= allowed {
			res.Zeros++
		}
	})
}

// up rounds a number up to two decimal digits.
func up(v float64) float64 {
	if v <= 0 || math.IsInf(v, 1) {
		return min(v, math.MaxFloat64)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64)
	if err == nil && short < v {
		unit := math.Pow(10, math.Floor(math.Log10(v))-1)
		short, err = strconv.ParseFloat(strconv.FormatFloat(short+unit, 'e', 1, 64), 64)
	}
	if err != nil {
		return v
	}
	return short
}

// perCall is how many dot products a unit is asked for at a time.
const perCall = 256

// each calls take for each input of a seed: with nil where a result is no number.
func (m *Measurement) each(ctx context.Context, source gen.Source, seed uint64, take func(*mma.Dot, *pairOf)) error {
	f := m.Unit.Instruction().Formats
	for from := 0; from < m.Count; from += perCall {
		dots := gen.Independent(gen.Spec{Formats: f, K: m.K}, source, seed, uint64(from), min(perCall, m.Count-from))
		x, err := results(ctx, m.Unit, f, dots)
		if err != nil {
			return err
		}
		var y []uint64
		if m.Against != nil {
			if y, err = results(ctx, m.Against, f, dots); err != nil {
				return err
			}
		}
		for i, d := range dots {
			if len(y) > 0 {
				take(d, pairOfCodes(f, x[i], y[i]))
			} else {
				take(d, pairOfExact(f, d, x[i]))
			}
		}
	}
	return nil
}

// pairOfCodes compares two codes.
func pairOfCodes(f mma.Formats, x, y uint64) *pairOf {
	format := f.D.Get()
	if !isNumber(format, x) || !isNumber(format, y) {
		return nil
	}
	err, _ := difference(format, x, y).Float64()
	return &pairOf{err, math.Abs(format.Float64(y))}
}

// pairOfExact compares a code with the exact value.
func pairOfExact(f mma.Formats, d *mma.Dot, x uint64) *pairOf {
	format, exact := f.D.Get(), oracle.ExactDot(f, d)
	if !isNumber(format, x) || exact.Kind != oracle.Finite {
		return nil
	}
	v := valueOf(&exact)
	diff := new(big.Float).SetPrec(4096)
	err, _ := diff.Abs(diff.Sub(codeValue(format, x), v)).Float64()
	reference, _ := v.Abs(v).Float64()
	return &pairOf{err, reference}
}

// Lengths are measurements for several K, of which there is at least one.
type Lengths struct {
	Lengths []*Measured `json:"lengths"`
}

// Document is the table of the measurements.
func (l Lengths) Document() *document.Document {
	first := l.Lengths[0]
	number := func(name string) document.Column { return document.Column{Name: name, Number: true} }
	g := document.Table{Name: "tolerance", Columns: []document.Column{number("K"), number("error"), number("atol"), number("rtol, atol being 0")}}
	g.Caption = fmt.Sprintf("%s against %s, %s dot products of each K, %s, seed %d. The error is the root mean square of the errors, divided by that of the results; atol is the least that all need, with an rtol of %g.",
		first.Target, first.Against, readable.Thousands(uint64(first.Count)), first.Source, first.Seed, first.Rtol)
	for _, m := range l.Lengths {
		g.Add(readable.Thousands(uint64(m.K)), fmt.Sprintf("%.2g", m.Norm), fmt.Sprintf("%g", m.Atol), fmt.Sprintf("%g", m.RtolAlone))
	}
	d := document.New("Tolerances of "+first.Target, "")
	d.Add("Error and tolerances by K", &g)
	return d
}

// Write writes the measurement for people.
func (m *Measured) Write(w io.Writer, width int) {
	n := func(v int) string { return readable.Thousands(uint64(v)) }
	g := readable.Table{Width: width}
	g.Add("unit", m.Target)
	g.Add("against", m.Against)
	g.Add("inputs", fmt.Sprintf("%s dot products of %s products, %s, seed %d", n(m.Count), n(m.K), m.Source, m.Seed))
	if m.Unjudged > 0 {
		g.Add("", fmt.Sprintf("%s of them are left out: a result is no number", n(m.Unjudged)))
	}
	g.Add("rtol", fmt.Sprintf("%g", m.Rtol))
	g.Add("atol", fmt.Sprintf("%g", m.Atol))
	alone := fmt.Sprintf("%g with an atol of 0", m.RtolAlone)
	if m.RtolAlone > m.Rtol {
		alone += ", because of cancellation"
	}
	g.Add("rtol alone", alone)
	g.Add("error", fmt.Sprintf("%.2g: root mean square, divided by that of the results", m.Norm))
	g.Add("fresh", fmt.Sprintf("%s of %s other inputs are not within rtol and atol", n(m.Fresh), n(m.Count)))
	g.Add("zeros", fmt.Sprintf("%s of these would pass a unit that always gives 0", n(m.Zeros)))
	g.Add("again", m.Command)
	g.Write(w, nil)
}
