package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rerun runs the case of a bundle on both of its units. They stay open between runs, because
// results that change may depend on a unit's state.
type rerun struct {
	a, b   rerunSide
	dots   []*mma.Dot // the case is the last one
	tile   *tile      // in which it is asked instead; nil: it is asked alone
	d      fp.ID      // format of the results
	policy oracle.Policy
}

type rerunSide struct {
	unit  devices.Unit
	model *sim.Model // of the program that explains the unit; nil: none
}

// openRerun opens the units of a mismatch.
func openRerun(m *corpus.Mismatch) (*rerun, error) {
	dots, err := m.Questions()
	if err != nil {
		return nil, err
	}
	r := &rerun{dots: dots, d: m.Formats.D, policy: Policy(m)}
	if r.a, err = openSide(m, &m.A, "a"); err != nil {
		return nil, err
	}
	r.b, err = openSide(m, &m.B, "b")
	return r, err
}

func openSide(m *corpus.Mismatch, s *corpus.SideRecord, which string) (r rerunSide, err error) {
	if r.unit, err = Unit(m, which); err != nil {
		return r, err
	}
	if err := devices.Comparable(m.Formats, r.unit.Instruction().Formats); err != nil {
		return r, fmt.Errorf("%s %s no longer takes the bundle's operands: %w", s.Target, s.Instruction, err)
	}
	if all := explainingPrograms(m, which); len(all) > 0 {
		r.model, _ = sim.New(m.Formats, all[0].k, *all[0].params) // nil for a program of another version
	}
	return r, nil
}

// results are the results of a run.
type results struct {
	A, B  uint64
	Class oracle.Class
	// OnModel is the side whose result was computed by the program that explains it, because
	// the side is a recording that has no answer: "a", "b", "both" or "".
	OnModel string
	// FaultA and FaultB are how a side failed on the input, "" if it did not. The class is then
	// oracle.Fault, and the result means nothing.
	FaultA, FaultB string
}

// run runs the case.
func (r *rerun) run(ctx context.Context) (res results, err error) {
	var onModelA, onModelB bool
	if res.A, onModelA, res.FaultA, err = r.runSide(ctx, &r.a); err != nil {
		return res, err
	}
	if res.B, onModelB, res.FaultB, err = r.runSide(ctx, &r.b); err != nil {
		return res, err
	}
	switch {
	case onModelA && onModelB:
		res.OnModel = "both"
	case onModelA:
		res.OnModel = "a"
	case onModelB:
		res.OnModel = "b"
	}
	if res.Class = oracle.Compare(r.d, r.policy, res.A, res.B); res.FaultA+res.FaultB != "" {
		res.Class = oracle.Fault
	}
	return res, nil
}

// runSide runs the case on a side. A failure of the target on this input is a result: fault says
// how it failed.
func (r *rerun) runSide(ctx context.Context, s *rerunSide) (code uint64, throughModel bool, fault string, err error) {
	f, last := s.unit.Instruction().Formats, len(r.dots)-1
	in, at := mma.BatchOf(f, len(r.dots[last].A), r.dots), last
	if r.tile != nil {
		in, at = r.tile.batch, r.tile.output
	}
	out := make([]byte, in.Dots()*f.D.Width())
	err = s.unit.Run(ctx, in, out)
	var failed *devices.FaultError
	switch {
	case errors.Is(err, devices.ErrNoRecording) && s.model != nil:
		return s.model.Dot(r.dots[last], nil), true, "", nil
	case errors.As(err, &failed):
		return 0, false, cmp.Or(failed.What, "it failed"), nil
	}
	return mma.Load(out, f.D.Width(), at), false, "", err
}
