package defect

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Separate returns the simplest condition, in words, that some dot products meet and others do not,
// of at most two parts, and a function that says of any dot product whether it does; "": there is
// none. The program is what features of sums are about.
func Separate(f mma.Formats, k int, program mma.Params, yes, no []*mma.Dot) (string, func(d *mma.Dot) bool, error) {
	m, err := sim.New(f, k, program)
	if err != nil || len(yes) == 0 {
		return "", nil, err
	}
	s := &search{viewer: &viewer{f: f, m: m}}
	for parts := 1; parts <= 2; parts++ {
		for _, scope := range []Scope{OfCase, OfProduct, OfPair, OfSum} {
			l := &lesson{scope: scope, cases: len(yes)}
			for n, d := range append(append([]*mma.Dot{}, yes...), no...) {
				v := s.view(d)
				s.add(v, scope)
				if s.samples == nil {
					s.samples = []*sample{{view: v}}
				}
				for i := range v.of[scope] {
					if n < len(yes) {
						l.yes, l.caseOf = append(l.yes, v.instance(scope, i)), append(l.caseOf, n)
					} else {
						l.no = append(l.no, v.instance(scope, i))
					}
				}
			}
			if all := l.separate(s.widthOf, parts, nil); len(all) > 0 {
				r := &Rule{Scope: scope, When: all[0]}
				r.setDigits(s.f)
				r.setSums(m, yes[0])
				product, words := r.conditions(scope == OfSum)
				return inScope(scope, product, words), func(d *mma.Dot) bool { return len(s.meeting(r, s.view(d))) > 0 }, nil
			}
		}
	}
	return "", nil, nil
}
