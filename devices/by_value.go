package devices

import (
	"context"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ByValue returns a unit as one of Formats with Common, which FP8 of OCP and of FNUZ are compared in.
// A model computes the instruction that reads operands in another format; of any other unit the
// operands are translated. Of a recording it has those inputs which both formats have.
func ByValue(u Unit) (Unit, error) {
	i, err := byvalue.Instruction(u.Instruction())
	if err != nil {
		return nil, err
	}
	if m, ok := u.(interface {
		As(*mma.Instruction) (Unit, error)
	}); ok {
		return m.As(i)
	}
	t := &translated{Unit: u, inst: i}
	if r, ok := u.(Recorder); ok {
		return sharedPart(r, t)
	}
	return t, nil
}

// translated is a unit whose operands are translated.
type translated struct {
	Unit
	inst *mma.Instruction
}

func (t *translated) Instruction() *mma.Instruction { return t.inst }

// Model returns nil: the unit's own arithmetic, if it is known, is that of other operands.
func (t *translated) Model() *mma.Params { return nil }

func (t *translated) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return t.Unit.Run(ctx, byvalue.Own(in, t.Unit.Instruction().Formats), out)
}

// Renew returns the unit as a new worker computes it.
func (t *translated) Renew(ctx context.Context) (Unit, func(), error) {
	u, end, err := Renew(ctx, t.Unit)
	if u == nil || err != nil {
		return nil, nil, err
	}
	return &translated{u, t.inst}, end, nil
}

// translatedPart is that part of a recording whose operands can be translated.
type translatedPart struct {
	view
	*translated
}

func (p *translatedPart) Instruction() *mma.Instruction { return p.translated.Instruction() }
func (p *translatedPart) Model() *mma.Params            { return nil }

func (p *translatedPart) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return p.translated.Run(ctx, in, out)
}

// Environment returns the recorder's environment, if it has one.
func (p *translatedPart) Environment() map[string]string {
	if r, ok := p.Recorder.(Provenance); ok {
		return r.Environment()
	}
	return nil
}

func (p *translatedPart) Load(from int, in *mma.Batch, out []byte) error {
	err := p.view.Load(from, in, out)
	d := mma.NewDot(in.Formats, in.K)
	for n := range in.Tiles {
		in.Get(n, d)
		byvalue.Take(p.inst.Formats, p.Recorder.Instruction().Formats, d)
		in.Set(n, d)
	}
	return err
}

// sharedPart returns the part of a recording that has inputs which both formats have.
func sharedPart(r Recorder, t *translated) (Recorder, error) {
	p := &translatedPart{view{Recorder: r}, t}
	var err error
	p.dots, err = recordedWhere(r, func(d *mma.Dot) (bool, error) {
		return byvalue.Take(t.inst.Formats, r.Instruction().Formats, d), nil
	})
	return p, err
}
