package finding

import (
	"cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TargetUnit is one side of a pair.
type TargetUnit struct {
	Target string
	Unit   devices.Unit
}

// Pair is what a campaign needs to run one pair.
type Pair struct {
	devices.Pair
	Spec       gen.Spec
	Policy     oracle.Policy
	Recorder   devices.Recorder   // not nil: the pair's inputs are a recording's
	Swapped    bool               // the recorder is B
	Known      []*mma.Params      // arithmetics of the sides that are known or believed
	Attributor *triage.Attributor // of the verdict before the epoch; without one Programs, which may be nil
	Defect     *Defect            // of the verdict before the epoch
	named      triage.Program     // the verdict's
	byClass    bool               // the program of a side was inferred by class: see Inferred.ByClass
	Programs   *triage.Attributor // of the programs of two sides that are both known; else nil
	other      mma.Params         // if Programs is not nil: the program of unknown
	baseK      int                // if Programs is not nil: the K of base
	otherK     int                // if Programs is not nil: the K of other

	// Hypotheses start from base, the program of baseUnit, and are about unknown.
	// baseUnit is nil if neither side is known.
	base       mma.Params
	baseUnit   devices.Unit
	unknown    devices.Unit
	unknownIsB bool
}

// NewPair prepares a pair. nan and zero override the policy of the catalogue, if not nil.
func NewPair(of devices.Pair, nan, zero *oracle.Strictness) *Pair {
	a := of.A.Instruction()
	p := &Pair{Pair: of, Spec: gen.Spec{Formats: a.Formats, K: of.K}, Policy: PolicyOf(&of, nan, zero)}
	knownA, knownB := p.Believed()
	for _, params := range []*mma.Params{knownA, knownB} {
		if params != nil {
			p.Known = append(p.Known, params)
		}
	}
	if r, ok := of.A.(devices.Recorder); ok {
		p.Recorder = r
	} else if r, ok := of.B.(devices.Recorder); ok {
		p.Recorder, p.Swapped = r, true
	}
	p.chooseSides()
	p.choosePrograms()
	return p
}

// PolicyOf returns how the results of a pair are compared: those of two recordings, whose codes are
// known, by bits if they have the same format, others as the two instructions suggest, unless
// nan or zero is not nil.
func PolicyOf(p *devices.Pair, nan, zero *oracle.Strictness) oracle.Policy {
	policy := oracle.DefaultPolicy(p.A.Instruction().Unknown, p.B.Instruction().Unknown)
	if devices.IsRecording(p.A) && devices.IsRecording(p.B) && !p.Formats().Common {
		policy = oracle.Policy{}
	}
	if nan != nil {
		policy.NaN = *nan
	}
	if zero != nil {
		policy.Zero = *zero
	}
	return policy
}

// policy returns how the results of a side are compared with those of a program.
func (p *Pair) policy() oracle.Policy {
	policy := p.Policy
	if p.byClass {
		policy.NaN = oracle.ByClass
	}
	return policy
}

// Equal reports whether two codes of d are the same result by the pair's policy.
func (p *Pair) Equal(x, y uint64) bool {
	return x == y || oracle.Compare(p.Spec.D, p.Policy, x, y) == oracle.Same
}

// Replace replaces the units of both sides by others that give the same results.
func (p *Pair) Replace(by func(side int, u devices.Unit) devices.Unit) {
	for side, u := range []*devices.Unit{&p.A, &p.B} {
		other := by(side, *u)
		if p.baseUnit == *u {
			p.baseUnit = other
		}
		if p.unknown == *u {
			p.unknown = other
		}
		*u = other
	}
}

// Believed returns a unit's arithmetic if it is known, or what the catalogue
// says of it; nil if it says nothing.
func Believed(u devices.Unit) *mma.Params {
	if p := u.Model(); p != nil {
		return p
	}
	i := u.Instruction()
	if i.Params == (mma.Params{}) {
		return nil
	}
	return &i.Params
}

// Believed returns what is believed of the two units: what their targets say, or what was found
// out about them.
func (p *Pair) Believed() (a, b *mma.Params) {
	return cmp.Or(Believed(p.A), p.ProgramA), cmp.Or(Believed(p.B), p.ProgramB)
}

// chooseSides decides which side's program hypotheses start from: a simulator's,
// A's if both are, or what is believed of a unit that computes elsewhere.
func (p *Pair) chooseSides() {
	a, b := p.Believed()
	switch {
	case p.A.Model() != nil || a != nil && p.B.Model() == nil:
		p.base, p.baseUnit, p.unknown, p.unknownIsB = *a, p.A, p.B, true
	case b != nil:
		p.base, p.baseUnit, p.unknown = *b, p.B, p.A
	}
}

// knownProgram returns the program of a unit that is known: a simulator's, a reference's, or the one
// that explains all of a recording.
func knownProgram(u devices.Unit) *mma.Params {
	if r, ok := u.(devices.Explained); ok && r.Explained() {
		return &u.Instruction().Params
	}
	return u.Model()
}

// choosePrograms makes the attributor of two sides whose programs are known: it depends on the
// programs alone. If their K differ and both can be written with the same K, they are.
func (p *Pair) choosePrograms() {
	a, b := cmp.Or(knownProgram(p.A), p.ProgramA), cmp.Or(knownProgram(p.B), p.ProgramB)
	if a == nil || b == nil {
		return
	}
	from, to := triage.Program{Params: *a, K: p.A.Instruction().K}, triage.Program{Params: *b, K: p.B.Instruction().K}
	if p.byClass { // which codes NaNs have is not known, and is no difference
		same := to.Params
		same.Special.NaN, same.Special.Ones = a.Special.NaN, a.Special.Ones
		if same.Validate(p.Spec.Formats, to.K) == nil {
			to.Params = same
		}
	}
	nearFrom, nearTo := from, to
	switch {
	case p.ProgramA == nil && p.ProgramB == nil:
	case p.unknownIsB:
		nearFrom, nearTo, to = p.closest(from, to)
	default:
		nearTo, nearFrom, from = p.closest(to, from)
	}
	p.Programs = triage.NewAttributor(p.Spec.Formats, p.K, p.Policy, nearFrom, nearTo)
	p.Programs.ExactFrom, p.Programs.ExactTo = exact(p.A) && nearFrom.Params == *a, exact(p.B) && nearTo.Params == *b
	if from.K != to.K {
		if x, y := triage.SameForm(p.Spec.Formats, p.K, from, to); x.K == y.K {
			from, to = x, y
		}
	}
	if !p.unknownIsB {
		from, to = to, from
	}
	p.base, p.baseK, p.other, p.otherK = from.Params, from.K, to.Params, to.K
}

// closest returns programs for the base and for a side whose program was inferred which compute the
// same and have the fewest labels between them: the causes that any two such programs must have. At
// most one of the two is another than before. other is the program that is closest to the base as
// it is.
func (p *Pair) closest(base, inferred triage.Program) (nearBase, near, other triage.Program) {
	other, labels := triage.Closest(p.Spec.Formats, p.K, p.Policy, base, inferred)
	if nearBase, fewer := triage.Closest(p.Spec.Formats, p.K, p.Policy, inferred, base); fewer < labels {
		return nearBase, inferred, other
	}
	return base, other, other
}

// exact reports whether a unit gives the results of its program in every case.
func exact(u devices.Unit) bool {
	_, ok := u.(interface{ Simulator() *sim.Model })
	return ok
}

// attributorOf returns the attributor that a verdict makes, nil if there is none. For two known
// programs it leaves out labels that made no difference on any input tried; Programs has all.
func (p *Pair) attributorOf(v *triage.Verdict) *triage.Attributor {
	if p.Programs != nil && (v == nil || v.Known || !v.Found()) {
		if v == nil {
			return p.Programs
		}
		return p.Programs.Without(v.Idle)
	}
	if v == nil || !v.Found() {
		return nil
	}
	from, to := triage.Program{Params: p.base, K: v.K}, programOf(v)
	ofBase := exact(p.baseUnit) && v.K == p.baseUnit.Instruction().K
	if !p.unknownIsB {
		a := triage.NewAttributor(p.Spec.Formats, p.K, p.Policy, to, from)
		a.ExactTo = ofBase
		return a
	}
	a := triage.NewAttributor(p.Spec.Formats, p.K, p.Policy, from, to)
	a.ExactFrom = ofBase
	return a
}

// SetVerdict replaces the attributor by that of a verdict.
func (p *Pair) SetVerdict(v *triage.Verdict) {
	p.Defect = p.defectOf(v)
	if p.Attributor != nil && p.Attributor != p.Programs && v != nil && programOf(v) == p.named {
		return
	}
	if p.Attributor = p.attributorOf(v); p.Attributor != nil && v != nil {
		p.named = programOf(v)
	}
}

func programOf(v *triage.Verdict) triage.Program {
	return triage.Program{Params: v.Program, K: v.K}
}

// want returns the result of the side that is to be explained, and the other's.
func (p *Pair) want(f *Case) (unknown, base uint64) {
	if p.unknownIsB {
		return f.B, f.A
	}
	return f.A, f.B
}

// certain reports whether both sides are models or recordings, whose results never change.
func (p *Pair) certain() bool {
	return (p.A.Model() != nil || devices.IsRecording(p.A)) && (p.B.Model() != nil || devices.IsRecording(p.B))
}

// side returns the unit of a side, 0 for A.
func (p *Pair) side(n int) devices.Unit { return []devices.Unit{p.A, p.B}[n] }

// targets are the two targets of a pair.
type targets [2]string

func (p *Pair) targets() targets { return targets{p.TargetA, p.TargetB} }

// Fitting returns a dot product of a pair's size: d, or a new one.
func (p *Pair) Fitting(d *mma.Dot) *mma.Dot {
	if d != nil && len(d.A) == p.K && len(d.SA) == p.Spec.Blocks(p.K) {
		return d
	}
	return mma.NewDot(p.Spec.Formats, p.K)
}
