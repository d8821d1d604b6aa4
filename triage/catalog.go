package triage

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// listed is a program of the catalogue or of reference arithmetic, with the name of a
// target that computes it: sim:ARCH/INSTRUCTION or ref:NAME.
type listed struct {
	name string
	p    mma.Params
	how  relation
}

// relation is how close a listed program's instruction is to the unit's, in ascending
// order.
type relation int

const (
	otherFormats relation = iota // of an instruction for other operands
	sameFormats                  // of one for the same operands, with another K
	aReference
	sameShape // of an instruction with the unit's formats and K
)

// listedPrograms returns the programs of the catalogue and of reference arithmetic that
// are valid for the unit's formats, except for the base. Of several targets with the same
// program it names the closest one, of several such the first.
func (pr *Unknown) listedPrograms() []listed {
	var all []listed
	space := change.Space{Formats: pr.Formats, K: pr.K}
	add := func(name string, p mma.Params, how relation) {
		p = pr.sameSteps(p)
		n := slices.IndexFunc(all, func(k listed) bool { return k.p == p })
		switch {
		case p == pr.Base || p.Validate(pr.Formats, pr.K) != nil || space.Sums(&pr.Base, &p):
		case n < 0:
			all = append(all, listed{name, p, how})
		case how > all[n].how:
			all[n].name, all[n].how = name, how
		}
	}
	for _, i := range mma.Catalog() {
		if common, err := byvalue.Instruction(&i); pr.Formats.Common && err == nil && common.Formats == pr.Formats {
			i = *common // as the unit is compared
		}
		if i.Refuse == "" && !strings.HasPrefix(i.Name, "wmma.") { // whose steps are those of others
			add("sim:"+i.FullName(), i.Params, pr.relation(&i))
		}
	}
	for i := range oracle.References {
		ref := &oracle.References[i]
		if ref.Supports(pr.Formats) == nil {
			add("ref:"+ref.Name, ref.Program(pr.Formats), aReference)
		}
	}
	return all
}

// relation returns how close an instruction is to the unit's.
func (pr *Unknown) relation(i *mma.Instruction) relation {
	switch {
	case i.Formats != pr.Formats:
		return otherFormats
	case i.K != pr.K:
		return sameFormats
	}
	return sameShape
}

// sameSteps writes a program with the base's L if that means the same, else with an L
// that is not beyond K.
func (pr *Unknown) sameSteps(p mma.Params) mma.Params {
	switch {
	case p.Step(pr.K) == pr.Base.Step(pr.K):
		p.L = pr.Base.L
	case int(p.L) > pr.K:
		p.L = uint8(pr.K)
	}
	return p
}

// programs returns the programs alone.
func programs(all []listed) []mma.Params {
	ps := make([]mma.Params, len(all))
	for i := range all {
		ps[i] = all[i].p
	}
	return ps
}

// alikeRounds is how many rounds of inputs must not tell a listed program from the one
// that explains.
const alikeRounds = 3

// alike names the listed programs that explain all evidence and that no input
// distinguishes from p, which explains it and has passed the tests. An instruction for
// other formats is not named: no unit computes its program with the formats of this one.
// The closest come first.
func (s *explainer) alike(p *mma.Params) []string {
	var names []string
	all, exactly := s.pr.listedPrograms(), s.ev.Exactly()
	slices.SortStableFunc(all, func(x, y listed) int { return int(y.how) - int(x.how) })
	for _, k := range all {
		if k.how != otherFormats && exactly.Explains(&k.p) && !s.tellsApart(p, &k.p) {
			names = append(names, k.name)
		}
	}
	return names
}

// tellsApart reports whether an input tells two programs apart. A recording has its own inputs
// only: nothing new tells them apart.
func (s *explainer) tellsApart(p, q *mma.Params) bool {
	if s.pr.Ask == nil || *p == *q {
		return false
	}
	for round := range alikeRounds {
		dots := s.pr.inputs(round, p, q)
		if len(dots) == 0 {
			break
		}
		c := s.ev.Pack(dots, nil)
		x, y := s.ev.Results(p, c), s.ev.Results(q, c)
		if x == nil || y == nil || differ(s.pr.Formats, s.pr.Policy, x, y) {
			return true
		}
	}
	return false
}

// StillAlike returns those of a verdict's Alike that explain all cases of a unit.
func StillAlike(pr *Unknown, v *Verdict) []string {
	if len(v.Alike) == 0 {
		return nil
	}
	ev := newEvidence(pr).Exactly()
	right := map[string]bool{}
	for _, k := range pr.listedPrograms() {
		right[k.name] = slices.Contains(v.Alike, k.name) && ev.Explains(&k.p)
	}
	return slices.DeleteFunc(slices.Clone(v.Alike), func(name string) bool { return !right[name] })
}
