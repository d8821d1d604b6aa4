package prove

import (
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/encode"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// Ranges decides by the ranges of numbers alone which programs compute the same function as
// one program. It takes a millisecond for each, and no solver.
type Ranges struct {
	f    mma.Formats
	k    int
	p    mma.Params
	base map[bool]*encodedBase // by whether operands must be finite
}

type encodedBase struct {
	in   *encode.Inputs
	code *graph.Node // nil: it is too hard
}

// NewRanges returns the decisions about a valid program. Its memory grows with the programs
// that it is asked about.
func NewRanges(f mma.Formats, k int, p *mma.Params) *Ranges {
	return &Ranges{f: f, k: k, p: *p, base: map[bool]*encodedBase{}}
}

// Same reports whether ranges decide that a valid program computes the same function. As in a
// Proof, operands must be finite if the NaN operands of either program decide its results.
func (r *Ranges) Same(q *mma.Params) bool {
	finite := r.p.Special.OperandNaN() || q.Special.OperandNaN()
	b := r.base[finite]
	if b == nil {
		b = &encodedBase{in: encode.NewInputs(graph.New(), r.f, r.k, finite)}
		b.code, _ = encode.Program(b.in, &r.p)
		r.base[finite] = b
	}
	if b.code == nil {
		return false
	}
	code, err := encode.Program(b.in, q)
	return err == nil && code == b.code
}
