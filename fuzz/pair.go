package fuzz

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// targetUnit is one side of a pair.
type targetUnit struct {
	Target string
	Unit   devices.Unit
}

// pairRun is what a campaign needs to run one pair.
type pairRun struct {
	devices.Pair
	spec       gen.Spec
	policy     oracle.Policy
	sources    []gen.Source
	schedule   *gen.Schedule
	recorder   devices.Recorder   // not nil: the pair's inputs are a recording's
	swapped    bool               // the recorder is B
	known      []*mma.Params      // arithmetics of the sides that are known or believed
	attributor *triage.Attributor // of the verdict before the epoch; without one given, which may be nil
	named      triage.Program     // the verdict's
	given      *triage.Attributor // of the programs of two sides that are both known; else nil
	other      mma.Params         // if given is not nil: the program of unknown
	baseK      int                // if given is not nil: the K of base
	otherK     int                // if given is not nil: the K of other

	// Hypotheses start from base, the program of baseUnit, and are about unknown.
	// baseUnit is nil if neither side is known.
	base       mma.Params
	baseUnit   devices.Unit
	unknown    devices.Unit
	unknownIsB bool
}

func newPairRun(cfg *Config, pair devices.Pair) (*pairRun, error) {
	a, b := pair.A.Instruction(), pair.B.Instruction()
	p := &pairRun{Pair: pair, spec: gen.Spec{Formats: a.Formats, K: pair.K}, policy: oracle.DefaultPolicy(a.Unknown, b.Unknown)}
	if cfg.NaN != nil {
		p.policy.NaN = *cfg.NaN
	}
	if cfg.Zero != nil {
		p.policy.Zero = *cfg.Zero
	}
	for _, u := range []devices.Unit{pair.A, pair.B} {
		if params := believed(u); params != nil {
			p.known = append(p.known, params)
		}
	}
	if r, ok := pair.A.(devices.Recorder); ok {
		p.recorder = r
	} else if r, ok := pair.B.(devices.Recorder); ok {
		p.recorder, p.swapped = r, true
	}
	p.chooseSides()
	p.chooseGiven()
	var err error
	p.sources, err = p.chooseSources(cfg.Generators)
	return p, err
}

// believed returns a unit's arithmetic if it is known, or what the catalogue
// says of it; nil if it says nothing.
func believed(u devices.Unit) *mma.Params {
	if p := u.Model(); p != nil {
		return p
	}
	i := u.Instruction()
	if i.Params == (mma.Params{}) {
		return nil
	}
	return &i.Params
}

func (p *pairRun) chooseSources(names []string) ([]gen.Source, error) {
	if p.recorder != nil {
		return nil, nil
	}
	chosen := make([]*gen.Generator, len(names))
	for i, n := range names {
		var err error
		if chosen[i], err = gen.Find(n); err != nil {
			return nil, err
		}
	}
	var sources []gen.Source
	for _, g := range gen.Versions() {
		if len(names) == 0 && g.Current() || slices.Contains(chosen, g) {
			sources = append(sources, g.Aimed(p.spec, p.known...))
		}
	}
	return sources, nil
}

// chooseSides decides which side's program hypotheses start from: a simulator's,
// A's if both are, or what is believed of a unit that computes elsewhere.
func (p *pairRun) chooseSides() {
	a, b := believed(p.A), believed(p.B)
	switch {
	case p.A.Model() != nil || a != nil && p.B.Model() == nil:
		p.base, p.baseUnit, p.unknown, p.unknownIsB = *a, p.A, p.B, true
	case b != nil:
		p.base, p.baseUnit, p.unknown = *b, p.B, p.A
	}
}

// given returns the program of a unit that is known: a simulator's, a reference's, or the one
// that explains all of a recording.
func given(u devices.Unit) *mma.Params {
	if r, ok := u.(devices.Explained); ok && r.Explained() {
		return &u.Instruction().Params
	}
	return u.Model()
}

// chooseGiven makes the attributor of two sides whose programs are known: it depends on the
// programs alone. If their K differ and both can be written with the same K, they are.
func (p *pairRun) chooseGiven() {
	a, b := given(p.A), given(p.B)
	if a == nil || b == nil {
		return
	}
	from, to := triage.Program{Params: *a, K: p.A.Instruction().K}, triage.Program{Params: *b, K: p.B.Instruction().K}
	p.given = triage.NewAttributor(p.spec.Formats, p.K, p.policy, from, to)
	p.given.ExactFrom, p.given.ExactTo = exact(p.A), exact(p.B)
	if from.K != to.K {
		if x, y := triage.SameForm(p.spec.Formats, p.K, from, to); x.K == y.K {
			from, to = x, y
		}
	}
	if !p.unknownIsB {
		from, to = to, from
	}
	p.base, p.baseK, p.other, p.otherK = from.Params, from.K, to.Params, to.K
}

// exact reports whether a unit gives the results of its program in every case.
func exact(u devices.Unit) bool {
	_, ok := u.(interface{ Simulator() *sim.Model })
	return ok
}

// attributorOf returns the attributor that a verdict makes, nil if there is none. For two known
// programs it leaves out labels that made no difference on any input tried; given has all.
func (p *pairRun) attributorOf(v *triage.Verdict) *triage.Attributor {
	if p.given != nil && (v == nil || v.Known || !v.Found()) {
		if v == nil {
			return p.given
		}
		return p.given.Without(v.Idle)
	}
	if v == nil || !v.Found() {
		return nil
	}
	from, to := triage.Program{Params: p.base, K: v.K}, programOf(v)
	if !p.unknownIsB {
		from, to = to, from
	}
	return triage.NewAttributor(p.spec.Formats, p.K, p.policy, from, to)
}

// rename replaces the attributor by that of a verdict.
func (p *pairRun) rename(v *triage.Verdict) {
	if p.attributor != nil && p.attributor != p.given && v != nil && programOf(v) == p.named {
		return
	}
	if p.attributor = p.attributorOf(v); p.attributor != nil && v != nil {
		p.named = programOf(v)
	}
}

func programOf(v *triage.Verdict) triage.Program {
	return triage.Program{Params: v.Program, K: v.K}
}

// want returns the result of the side that is to be explained, and the other's.
func (p *pairRun) want(f *Case) (unknown, base uint64) {
	if p.unknownIsB {
		return f.B, f.A
	}
	return f.A, f.B
}

// certain reports whether both sides are models or recordings, whose results never change.
func (p *pairRun) certain() bool {
	return (p.A.Model() != nil || devices.IsRecording(p.A)) && (p.B.Model() != nil || devices.IsRecording(p.B))
}

// targets are the two targets of a pair.
type targets [2]string

func (p *pairRun) targets() targets { return targets{p.TargetA, p.TargetB} }
