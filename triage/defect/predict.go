package defect

import (
	"cmp"
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
		w := &viewer{f: f, m: m}
		hypothesisOf := func(r Rule) *hypothesis {
			return &hypothesis{p: &proposal{runner: newRunner(w, k, &program, r.Effect)}, rule: r}
		}
		if r.Before != nil {
			w.before = hypothesisOf(*r.Before)
		}
		return &ruled{w, hypothesisOf(r)}
	}
	return p, nil
}

type ruled struct {
	w *viewer
	h *hypothesis
}

// Predict returns the unit's result, and that of the program. It reports whether the rule says what
// the unit's is: with a condition in doubt it may not.
func (p *Predictor) Predict(d *mma.Dot) (unit, program uint64, known bool) {
	x := p.pool.Get().(*ruled)
	defer p.pool.Put(x)
	v := x.w.view(d)
	got, met := x.w.predict(x.h, v)
	return got, x.w.m.Dot(d, nil), x.w.known(x.h, v, met)
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
	if b := r.Before; b != nil {
		if err := b.validate(f, k, program); err != nil || b.Before != nil || b.Effect.On != OnResult && !b.Effect.onInputs() {
			return cmp.Or(err, fmt.Errorf("a defect comes after %s, which is none that comes first", &b.Effect))
		}
	}
	if o := find(e.Do); o != nil && o.bit && (e.N < 0 || e.N > 63) {
		return fmt.Errorf("the effect of a defect has bit %d", e.N)
	}
	if e.ofProducts() && r.Scope != e.scope() && (r.Scope != OfCase || len(r.When) > 0) || newRunner(&viewer{f: f, m: m}, k, &program, *e) == nil {
		return fmt.Errorf("a defect has the unknown effect %s", e)
	}
	return nil
}
