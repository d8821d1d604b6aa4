package infer

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
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

// The parameters whose tested values only decide which NaN a result is, and those that only
// decide which zero.
var (
	nanOnly  = []string{"special.nan", "special.cleft", "special.bfirst", "special.ones"}
	zeroOnly = []string{"special.negzero", "special.tinysign"}
)

// untested returns the reason why no value of a parameter was tested: "" if one was.
func untested(path string, p oracle.Policy) string {
	switch {
	case p.NaN == oracle.ByClass && slices.Contains(nanOnly, path):
		return byClass(oracle.Policy{NaN: p.NaN})
	case p.Zero == oracle.ByClass && slices.Contains(zeroOnly, path):
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
