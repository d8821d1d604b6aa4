package schedule

import (
	"cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// epilogue appends the steps after the sum, and returns the format of the result.
func (p *planner) epilogue(x value) fp.ID {
	side := func(kind RefKind) value { return value{Ref: Ref{Kind: kind}, id: p.side} }
	own := func(given value, s *Step) value { // or a number of the code's own
		if s.Factor != 0 {
			given.Ref = Ref{Kind: Factor, Code: p.side.Get().FromFloat64(s.Factor)}
		}
		return given
	}
	c := value{Ref: Ref{Kind: C}, id: p.unit.D}
	none := Ref{Kind: NegZero}
	for _, s := range p.k.Epilogue {
		d := cmp.Or(s.Format, x.id)
		what := "epilogue: " + s.Op
		op := func(x, y value, z Ref) value { return p.arithmetic(x, y, z, d, s.Rounding, what) }
		switch s.Op {
		case "cast":
			x = op(x, value{Ref: Ref{Kind: One}, id: x.id}, none)
		case "relu":
			x = op(x, value{Ref: Ref{Kind: One}, id: x.id}, none)
			p.ops[x.N].Relu = s.relu()
		case "alpha":
			x = op(x, own(side(Alpha), &s), none)
		case "scale-a":
			x = op(x, side(ScaleA), none)
		case "scale-b":
			x = op(x, side(ScaleB), none)
		case "scale-ab":
			x = op(p.arithmetic(side(ScaleA), side(ScaleB), none, d, Rounding{}, what), x, none)
		case "alpha-beta":
			beta := Ref{Kind: NegZero}
			if p.given.C {
				beta = p.arithmetic(c, side(Beta), none, d, Rounding{}, what).Ref
			}
			x = op(x, side(Alpha), beta)
		case "bias":
			if p.given.Bias {
				x = op(side(Bias), value{Ref: Ref{Kind: One}, id: p.side}, p.convert(x, d, what).Ref)
			}
		default:
			if p.given.C {
				x = p.withC(&s, c, own(side(Beta), &s), p.convert(x, d, what), what)
			}
		}
	}
	if x.Kind != Value || x.N != len(p.ops)-1 { // the last value is the result
		p.arithmetic(x, value{Ref: Ref{Kind: One}, id: x.id}, none, x.id, Rounding{}, "result")
	}
	return x.id
}

// withC appends a step that adds C to x.
func (p *planner) withC(s *Step, c, beta, x value, what string) value {
	y := value{Ref: Ref{Kind: One}, id: c.id}
	switch s.Op {
	case "beta-c":
		y = beta
	case "beta-c-mul":
		c = p.arithmetic(c, beta, Ref{Kind: NegZero}, x.id, Rounding{}, what)
		y.id = c.id
	}
	return p.arithmetic(c, y, x.Ref, x.id, s.Rounding, what)
}
