package report

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Steps is how a side computed its result, for machines: trace-a.json of a bundle,
// and eval --json --explain. Values are exact, as %a of C writes them.
type Steps struct {
	Name     string      `json:"name"`
	Inferred bool        `json:"inferred"` // the program that explains the unit was traced, not the unit
	Params   *mma.Params `json:"params"`
	Products []Product   `json:"products"`
	Sums     []Sum       `json:"sums"`
	D        string      `json:"d"` // code
}

// Product is a product as it enters the sums.
type Product struct {
	K         int    `json:"k"`
	Subnormal string `json:"subnormal,omitempty"` // the factors that are subnormal: a, b, ab
	Flushed   string `json:"flushed,omitempty"`   // the subnormal factors that count as zero: a, b, ab
	Value     string `json:"value"`
	E         *int32 `json:"e,omitempty"` // nominal exponent, if it has one
}

// Sum is one fused sum and the roundings after it.
type Sum struct {
	Place  string     `json:"place"`       // stage0, stage1, join or late: see package mma
	Exec   int        `json:"exec"`        // number of the instruction's execution, if the dot product is longer than its K
	Lane   int        `json:"lane"`        // accumulator
	Step   int        `json:"step"`        // number of the first product of the step
	Group  int        `json:"group"`       // number of the sum among the step's sums in this place
	E      *int32     `json:"e,omitempty"` // exponent that the terms are aligned with
	Terms  []Term     `json:"terms"`
	Value  string     `json:"value"` // of the sum of the cut terms
	Rounds []Rounding `json:"rounds"`
}

// Term is a summand.
type Term struct {
	From  string `json:"from"` // product, group, partial, c, acc, zero, lane
	K     int    `json:"k"`    // number of the product, group, sum or lane
	Value string `json:"value"`
	E     *int32 `json:"e,omitempty"`
	Cut   *Cut   `json:"cut,omitempty"`
}

// Cut is the alignment of a term: bits below 2^Q are rounded off.
type Cut struct {
	Q     int32   `json:"q"`
	Mode  fp.Mode `json:"mode"`
	Value string  `json:"value"`
}

// Rounding is a rounding of a sum.
type Rounding struct {
	Name  string    `json:"name"` // post, acc, late, out or round
	Round mma.Round `json:"round"`
	Value string    `json:"value"` // after it
}

var fromNames = map[sim.From]string{
	sim.FromProduct: "product", sim.FromGroup: "group", sim.FromPartial: "partial", sim.FromC: "c",
	sim.FromAcc: "acc", sim.FromZero: "zero", sim.FromLane: "lane",
}

// StepsOf returns the steps of a side; nil if they are not known. d is the format
// of the result.
func StepsOf(s *Side, d fp.ID) *Steps {
	if s == nil || s.Trace == nil {
		return nil
	}
	out := &Steps{Name: s.Name, Inferred: s.Inferred, Params: s.Params, D: mma.FormatCode(d, s.Trace.Result)}
	for i := range s.Trace.Products {
		p := &s.Trace.Products[i]
		out.Products = append(out.Products, Product{
			K: p.K, Subnormal: factors(p.SubA, p.SubB), Flushed: factors(p.FlushedA, p.FlushedB),
			Value: valueText(&p.Term), E: nominal(&p.Term),
		})
	}
	for i := range s.Trace.Sums {
		out.Sums = append(out.Sums, sumOf(&s.Trace.Sums[i]))
	}
	return out
}

// factors names those of two factors for which something holds.
func factors(a, b bool) string {
	name := ""
	if a {
		name = "a"
	}
	if b {
		name += "b"
	}
	return name
}

// nominal returns a term's exponent, nil if it has none.
func nominal(t *sim.TermTrace) *int32 {
	if t.Kind != sim.Finite {
		return nil
	}
	return &t.E
}

func sumOf(s *sim.SumTrace) Sum {
	out := Sum{
		Place: s.Place.String(), Exec: s.Exec, Lane: s.Lane, Step: s.Step, Group: s.Group,
		Value: valueText(&s.Sum), Rounds: []Rounding{},
	}
	if s.HasE {
		out.E = &s.E
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		term := Term{From: fromNames[t.From], K: t.K, Value: valueText(t), E: nominal(t)}
		if t.IsCut {
			term.Cut = &Cut{t.Q, t.Mode, valueText(&sim.TermTrace{Kind: t.Kind, Value: t.Cut})}
		}
		out.Terms = append(out.Terms, term)
	}
	for i := range s.Rounds {
		r := &s.Rounds[i]
		out.Rounds = append(out.Rounds, Rounding{r.Name, r.Round, valueText(&r.After)})
	}
	return out
}
