package defect

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A part of an operand, its sign, exponent or significand, that is read from elsewhere: the same part of
// an operand of a neighbouring product, or of the other factor.

// part is a field of a code.
type part struct {
	name   string
	mask   func(f *fp.Format) uint64
	beside bool // it is the other factor's
}

// parts are the fields by the names of the effects.
var parts = map[string]*part{
	"reads-sign":  {"the sign", (*fp.Format).SignBit, false},
	"reads-exp":   {"the exponent", exponentField, false},
	"reads-frac":  {"the fraction", fractionField, false},
	"sign-beside": {"the sign", (*fp.Format).SignBit, true},
	"exp-beside":  {"the exponent", exponentField, true},
	"frac-beside": {"the fraction", fractionField, true},
	"code-beside": {"the code", (*fp.Format).CodeMask, true},
}

func fractionField(f *fp.Format) uint64 { return 1<<(f.FracBits+f.Low) - 1 }

func exponentField(f *fp.Format) uint64 { return f.CodeMask() &^ f.SignBit() &^ fractionField(f) }

// readPart makes a part of an operand of product k that of the operand from which it is read.
func (e *Effect) readPart(p *part, from, d *mma.Dot, k int, a, b *fp.Format) bool {
	own, other, f := d.A, from.A, a
	if e.On == OnB {
		own, other, f = d.B, from.B, b
	}
	j := k + int(e.N)
	if p.beside {
		if j, other = k, from.B; e.On == OnB {
			other = from.A
		}
	}
	if j < 0 || j >= len(other) {
		return false
	}
	mask := p.mask(f)
	own[k] = own[k]&^mask | other[j]&mask
	return mask != 0
}

// partEffects are those of an operand.
func (s *search) partEffects(on Place) (all []Effect) {
	if s.f.A == s.f.B {
		all = append(all, Effect{On: on, Do: "code-beside"})
	}
	if s.f.A.Get().Integer() || s.f.B.Get().Integer() {
		return all
	}
	for _, do := range []string{"reads-sign", "reads-exp", "reads-frac"} {
		for _, n := range []int64{1, -1, 2, -2, 4, -4} {
			if max(n, -n) < int64(s.u.K) {
				all = append(all, Effect{On: on, Do: do, N: n})
			}
		}
	}
	if s.f.A == s.f.B {
		for _, do := range []string{"sign-beside", "exp-beside", "frac-beside"} {
			all = append(all, Effect{On: on, Do: do})
		}
	}
	return all
}

// partSource is from where a part is read.
func (e *Effect) partSource() string {
	if parts[e.Do].beside {
		return map[Place]string{OnA: "b", OnB: "a"}[e.On]
	}
	return fmt.Sprintf("%s of %s", e.On, (&Effect{Do: readsOther, N: e.N}).source())
}
