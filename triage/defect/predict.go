package defect

import (
	"fmt"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Predictor says what a unit with a defect computes. It is safe for use by several goroutines.
type Predictor struct{ pool sync.Pool }

// NewPredictor returns the predictor of a rule about a unit of which else a program is true. The
// error says what is wrong with a rule that was read from a file.
func NewPredictor(f mma.Formats, k int, program mma.Params, r Rule) (*Predictor, error) {
	if err := r.validate(f, k, program); err != nil {
		return nil, err
	}
	p := &Predictor{}
	p.pool.New = func() any {
		m, err := sim.New(f, k, program)
		if err != nil {
			panic(err) // validate has made one
		}
		s := &search{viewer: &viewer{f: f, m: m}}
		return &ruled{s, &hypothesis{p: &proposal{runner: newRunner(s.viewer, k, &program, r.Effect)}, rule: r}}
	}
	return p, nil
}

type ruled struct {
	s *search
	h *hypothesis
}

// Predict returns the unit's result, and that of the program.
func (p *Predictor) Predict(d *mma.Dot) (unit, program uint64) {
	x := p.pool.Get().(*ruled)
	defer p.pool.Put(x)
	v := x.s.view(d)
	got, _ := x.s.predict(x.h, v)
	return got, v.right
}

func (r *Rule) validate(f mma.Formats, k int, program mma.Params) error {
	m, err := sim.New(f, k, program)
	if err != nil {
		return err
	}
	if scopes[r.Scope] == nil {
		return fmt.Errorf("a defect has the unknown scope %q", r.Scope)
	}
	for i := range r.When {
		c := &r.When[i]
		if column(r.Scope, c.Feature) < 0 {
			return fmt.Errorf("the condition of a defect has the unknown feature %q", c.Feature)
		}
		if class := featureOf(c.Feature).kind == class; class && (c.Value < isZero || c.Value > isNaN) {
			return fmt.Errorf("the condition of a defect has the unknown class %d", c.Value)
		}
	}
	e := &r.Effect
	if o := find(e.Do); o != nil && o.bit && (e.N < 0 || e.N > 63) {
		return fmt.Errorf("the effect of a defect has bit %d", e.N)
	}
	if e.ofProducts() && r.Scope != e.scope() && (r.Scope != OfCase || len(r.When) > 0) || newRunner(&viewer{f: f, m: m}, k, &program, *e) == nil {
		return fmt.Errorf("a defect has the unknown effect %s", e)
	}
	return nil
}
