package infer

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
)

// What is compared by class is not tested: which NaN a result is, or which zero. A
// report says so wherever it would else claim more.

// byClass says in words what a policy compares by class: "" if nothing.
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

// qualified adds to a claim that it is by class.
func (t *Report) qualified(claim string) string {
	if words := t.byClass(); words != "" {
		return claim + ", " + words
	}
	return claim
}

// The parameters that decide nothing but which NaN a result is, and which zero.
var (
	nanOnly  = []string{"special.nan", "special.cleft"}
	zeroOnly = []string{"special.negzero", "special.tinysign"}
)

// untested says why no value of a parameter was tested: "" if some were.
func untested(path string, p oracle.Policy) string {
	switch {
	case p.NaN == oracle.ByClass && slices.Contains(nanOnly, path):
		return byClass(oracle.Policy{NaN: p.NaN})
	case p.Zero == oracle.ByClass && slices.Contains(zeroOnly, path):
		return byClass(oracle.Policy{Zero: p.Zero})
	}
	return ""
}

// hidden returns the rivals that are told from the program found by bits, though not
// by the policy.
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
		all[v] = v.Dot == nil && c.differ(&v.p, oracle.Policy{}) > 0
	}
	return all, nil
}
