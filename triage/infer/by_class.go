package infer

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Where NaNs or zeros are compared by class, nothing shows which NaN or which zero the
// unit gives. The report must not claim that: it says "by class" with every claim.

// byClass names what a policy compares by class: "" if nothing.
func byClass(p oracle.Policy) string {
	switch nan, zero := p.NaN == oracle.ByClass, p.Zero == oracle.ByClass; {
	case nan && zero:
		return "NaNs and zeros compared by class"
	case nan:
		return "NaNs compared by class"
	case zero:
		return "zeros compared by class"
	}
	return ""
}

func (t *Report) byClass() string {
	var p oracle.Policy
	if t.NaN == oracle.ByClass.String() {
		p.NaN = oracle.ByClass
	}
	if t.Zero == oracle.ByClass.String() {
		p.Zero = oracle.ByClass
	}
	return byClass(p)
}

// qualified adds to a claim what was compared by class.
func (t *Report) qualified(claim string) string {
	if words := t.byClass(); words != "" {
		return claim + ", " + words
	}
	return claim
}

// untested returns the reason why no value of a parameter was tested: "" if one was. Those of
// special values only decide which NaN, or which zero, a result is.
func untested(f mma.Field, p oracle.Policy) string {
	switch special, label := strings.HasPrefix(f.Path, "special."), triage.Label(f.Label); {
	case special && label == triage.NaNEncoding && p.NaN == oracle.ByClass:
		return byClass(oracle.Policy{NaN: p.NaN})
	case special && label == triage.SignedZero && p.Zero == oracle.ByClass:
		return byClass(oracle.Policy{Zero: p.Zero})
	}
	return ""
}

// hidden returns the mutants that give other bits than the program found, though the
// same results by the policy.
func (r *Result) hidden(seed uint64) (map[*Mutant]bool, error) {
	if r.Policy == (oracle.Policy{}) || len(r.Mutants) == 0 {
		return nil, nil
	}
	c, err := r.compare(seed)
	if err != nil {
		return nil, err
	}
	all := map[*Mutant]bool{}
	for _, v := range r.Mutants {
		all[v] = v.Dot == nil && c.differ(&v.p, oracle.Policy{}, c.Cases) > 0
	}
	return all, nil
}
