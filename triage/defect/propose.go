package defect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// The limits of proposing.
const (
	proposeOn    = 12 // differing cases on which every effect is tried
	filterOn     = 64 // and those that explain these, on so many
	mostEffects  = 8  // of each place
	mostAlike    = 3  // of these, of one operation
	allEffects   = 24 // in all
	otherEffects = 8  // of adders, exchanges and infinities
	termEffects  = 2  // of terms of any kind
)

// proposal is an effect that explains differing cases: all of them, or for an effect on single
// products, which may happen to several at once, a part.
type proposal struct {
	*runner
	cost int
	hits int // of the cases on which it was tried
}

// proposals returns the effects that are left: they are looked for again when none is.
func (s *search) proposals() []*proposal {
	differ := s.differing(filterOn)
	s.left = slices.DeleteFunc(s.left, func(p *proposal) bool {
		p.hits = s.explained(p.runner, differ)
		return !s.inPart(&p.effect) && p.hits < len(differ)
	})
	tooFew := s.proposedOn < proposeOn && len(differ) >= proposeOn // so that many an effect explained all
	if len(s.left) == 0 || tooFew {
		s.left, s.proposedOn = s.propose(), len(differ)
	}
	return s.left
}

// propose returns the effects that explain the differing cases, the simplest first.
func (s *search) propose() []*proposal {
	differ := s.differing(filterOn)
	// Sums in a narrower format are few to try, and long dot products leave no time for them behind all others
	// but those of the result, which are simpler.
	all := s.best(differ, allEffects, s.resultEffects(differ), s.storedEffects())
	explainsAll := func(p *proposal) bool { return p.effect.On == OnStep && p.hits == len(differ) }
	if len(differ) >= proposeOn && slices.ContainsFunc(all, explainsAll) {
		return all
	}
	all = s.best(differ, allEffects, s.storedEffects(), s.resultEffects(differ), s.operandEffects(OnC), s.operandEffects(OnA), s.operandEffects(OnB), s.operandEffects(OnOperand), s.productEffects(differ), s.significandEffects(), s.shiftEffects(), s.programEffects())
	// Many of these have the same effect as others, which they must not displace.
	all = append(all, s.best(differ, otherEffects, s.adderEffects(OnSum), s.adderEffects(OnTerm), s.adderEffects(OnTermC), s.stepEffects(), s.swapEffects(), s.pairEffects(), s.infEffects())...)
	if s.allowed != nil { // see oneOrTwo
		all = append(all, s.best(differ, termEffects, s.eachEffects())...)
	}
	return all
}

// best returns the effects of several places that explain the differing cases, the simplest first,
// at most so many.
func (s *search) best(differ []*sample, most int, places ...[]Effect) []*proposal {
	few := differ[:min(len(differ), proposeOn)]
	if !slices.Equal(few, s.few) { // else what was refused is not tried again
		s.few, s.refused = slices.Clone(few), map[string]bool{}
	}
	var all []*proposal
	for _, effects := range places {
		var some []*proposal
		for _, e := range effects {
			if s.allowed != nil && !s.allowed(&e) {
				continue
			}
			if s.budget.Over() {
				return nil
			}
			name := e.String()
			if s.refused[name] {
				continue
			}
			r := newRunner(s.viewer, s.u.K, &s.u.Program, e)
			if r == nil || !s.mayExplain(r, few) {
				s.refused[name] = true
				continue
			}
			p := &proposal{runner: r, cost: costOf(&e), hits: s.explained(r, differ)}
			if known := s.proposed[name]; known != nil {
				known.hits, p = p.hits, known
			} else {
				s.proposed[name] = p
			}
			if s.partial && p.hits == len(differ) { // it is not one of two
				continue
			}
			if p.hits == len(differ) || s.inPart(&e) && s.share()*p.hits >= len(differ) {
				some = append(some, p)
			}
		}
		slices.SortStableFunc(some, func(x, y *proposal) int { return cmp.Or(y.hits-x.hits, x.cost-y.cost) })
		of := map[string]int{}
		some = slices.DeleteFunc(some, func(p *proposal) bool { of[p.effect.Do]++; return of[p.effect.Do] > mostAlike })
		all = append(all, some[:min(len(some), mostEffects)]...)
	}
	slices.SortStableFunc(all, func(x, y *proposal) int { return cmp.Or(y.hits-x.hits, x.cost-y.cost) })
	return all[:min(len(all), most)]
}

// inPart reports whether an effect need not explain all cases.
func (s *search) inPart(e *Effect) bool { return s.partial || e.ofProducts() }

// share is the part of the cases that such an effect explains at least: one of so many.
func (s *search) share() int {
	if s.partial {
		return 8
	}
	return 4
}

// mayExplain is a first test of an effect on a few cases.
func (s *search) mayExplain(r *runner, few []*sample) bool {
	hits := s.explained(r, few)
	return hits == len(few) || s.inPart(&r.effect) && s.share()*hits >= len(few)
}

// explained counts the cases that an effect explains.
func (s *search) explained(r *runner, cases []*sample) int {
	n := 0
	for i, c := range cases {
		if s.explains(r, c) {
			n++
		} else if !s.inPart(&r.effect) || i-n > len(cases)-len(cases)/s.share() {
			break
		}
	}
	return n
}

// explains reports whether an effect gives the unit's result where it happens: to any one product,
// or to all.
func (s *search) explains(r *runner, c *sample) bool {
	if !r.effect.ofProducts() {
		got, ok := r.run(c.view, nil)
		return ok && s.same(got, c.want)
	}
	if got, ok := r.run(c.view, s.all(r, c.view)); ok && s.same(got, c.want) {
		return true
	}
	for _, k := range s.all(r, c.view) {
		if got, ok := r.run(c.view, []int{k}); ok && s.same(got, c.want) {
			return true
		}
	}
	return false
}

// all are all places where an effect may happen.
func (s *search) all(r *runner, v *view) (places []int) {
	for k := range s.instances(&proposal{runner: r}, v) {
		places = append(places, k)
	}
	return places
}

// costOf is how far-fetched an effect is.
func costOf(e *Effect) int {
	switch {
	case e.On == OnProgram && len(e.Changes) == 1 && strings.HasSuffix(e.Changes[0].Path, ".mode"): // ties that go another way look like a bit that is stuck
		return 1
	case e.On == OnProgram:
		return 4
	case onZero[e.Do].any: // what is wrong with cancellations alone is simpler
		return 6
	case e.inAdder(): // another program explains more simply what happens to all sums
		return 5
	case e.On == OnSwap || e.On == OnPair:
		return 2
	case e.On == OnInf:
		return 1
	case e.reads(), e.aligns():
		return 2
	case parts[e.Do] != nil, ofNeighbour[e.Do].do != nil:
		return 3
	case e.On == OnC || e.On == OnA || e.On == OnB:
		return find(e.Do).cost + 1
	case e.On == OnOperand || e.On == OnSignificand:
		return find(e.Do).cost + 2
	case e.Do == "scale" || e.Do == "field" || e.Do == "add" || e.Do == "up":
		return find(e.Do).cost + int(min(max(e.N, -e.N)/2, 4))
	}
	return find(e.Do).cost
}

// resultEffects are the operations that make the unit's result of the program's, in the first case.
func (s *search) resultEffects(differ []*sample) []Effect {
	f := s.f.D.Get()
	var all []Effect
	add := func(o string, n int64) {
		if e := (Effect{On: OnResult, Do: o, N: n}); !slices.ContainsFunc(all, func(x Effect) bool { return x.String() == e.String() }) {
			all = append(all, e)
		}
	}
	some := differ[:1]
	if s.partial {
		some = differ[:min(len(differ), proposeOn)]
	}
	for _, c := range some {
		for i := range operations {
			if o := &operations[i]; o.between != nil {
				if n, ok := o.between(f, c.right, c.want); ok {
					add(o.name, n)
				}
			}
		}
	}
	if s.f.C == s.f.D {
		all = append(all, Effect{On: OnResult, Do: bypass})
	}
	var away, set uint64
	for _, c := range differ {
		away, set = away|c.right&^c.want, set|c.want&^c.right
	}
	if set == 0 {
		add("and", int64(away))
	}
	if away == 0 {
		add("or", int64(set))
	}
	for _, n := range narrower(f) {
		add("narrow", n)
		add("narrow-sat", n)
	}
	for _, n := range byteCrossings(f) {
		add("cross-bytes", n)
	}
	for _, n := range lowParts(f) {
		add("cut", n)
		add("fill", n)
	}
	return all
}

// operandEffects are the operations on a, b or c.
func (s *search) operandEffects(on Place) []Effect {
	id := map[Place]fp.ID{OnA: s.f.A, OnB: s.f.B, OnC: s.f.C}[on]
	if on == OnOperand && s.f.A == s.f.B {
		id = s.f.A
	}
	if id == fp.None || id == fp.One {
		return nil
	}
	if id.RandomBits() != 0 {
		return randomEffects(id)
	}
	var all []Effect
	for _, o := range operations {
		if o.numbers != nil {
			for _, n := range o.numbers(id.Get()) {
				all = append(all, Effect{On: on, Do: o.name, N: n})
			}
		}
	}
	if on == OnA || on == OnB {
		all = append(all, s.readEffects(on)...)
		all = append(all, s.partEffects(on)...)
	}
	if on != OnC {
		all = append(all, misreadEffects(on, id)...)
	}
	return all
}

// productEffects are the operations on a product as a whole, which a conversion does not have.
func (s *search) productEffects(differ []*sample) []Effect {
	if s.f.B.IsOne() {
		return nil
	}
	all := []Effect{{On: OnProduct, Do: "plus-zero"}, {On: OnProduct, Do: "negate"}, {On: OnProduct, Do: "positive"}, {On: OnProduct, Do: "negative"}, {On: OnProduct, Do: "sign-and"}, {On: OnProduct, Do: "sign-or"}, {On: OnProduct, Do: "skip"}, {On: OnProduct, Do: "gate"}, {On: OnProduct, Do: "gate-nan"}, {On: OnProduct, Do: "gate-any"}, {On: OnProduct, Do: "ungated"}, {On: OnExact, Do: "plus-zero"}}
	for _, n := range []int64{-1, 1, -2, 2} {
		all = append(all, Effect{On: OnProduct, Do: "scale", N: n})
	}
	for n := range int64(significand(s.f.A) + significand(s.f.B)) {
		for _, o := range []string{"set", "clear", "flip", "cut"} {
			all = append(all, Effect{On: OnExact, Do: o, N: n})
		}
	}
	for _, n := range []int64{-1, 1, -2, 2} {
		all = append(all, Effect{On: OnExact, Do: "scale", N: n}, Effect{On: OnExact, Do: "add", N: n})
	}
	for _, n := range []int64{-3, 3, -4, 4, -8, 8} { // the distance of a shifter that lacks a bit
		all = append(all, Effect{On: OnExact, Do: "scale", N: n})
	}
	if overflows(s.f) {
		all = append(all, Effect{On: OnExact, Do: "saturate"})
	}
	for n := range int64(len(productModes)) {
		all = append(all, Effect{On: OnExact, Do: "rounded", N: n})
	}
	for _, n := range s.exponentModuli() {
		if !s.f.A.Get().Integer() && !s.f.D.Get().Integer() {
			all = append(all, Effect{On: OnExact, Do: "exp-modulo", N: n})
		}
	}
	all = append(append(all, s.factorEffects()...), s.neighbourEffects()...)
	all = append(all, exponentEffects(differ)...)
	return append(all, s.readEffects(OnProduct)...)
}

// significandEffects are those of significands whose exponents are right, such as that of a
// subnormal number that is shifted by one place too many.
func (s *search) significandEffects() (all []Effect) {
	if s.f.B.IsOne() || s.f.A.Get().Integer() || s.f.B.Get().Integer() {
		return nil
	}
	for _, n := range []int64{-1, 1} {
		all = append(all, Effect{On: OnSignificand, Do: "factor", N: n})
	}
	return all
}

// infEffects are what may become of infinities of opposite signs, beside constants.
func (s *search) infEffects() []Effect {
	return []Effect{{On: OnInf, Do: "first"}, {On: OnInf, Do: "last"}, {On: OnInf, Do: firstProduct}, {On: OnInf, Do: lastProduct}}
}

// readEffects are those of operands that are read from another product.
func (s *search) readEffects(on Place) []Effect {
	k := int64(s.u.K)
	all := []Effect{}
	for _, n := range []int64{1, -1, 2, -2, 4, -4} {
		all = append(all, Effect{On: on, Do: readsOther, N: n})
	}
	for n := int64(1); n < k; n *= 2 {
		all = append(all, Effect{On: on, Do: readsBeside, N: n})
		if n > 1 && 2*n <= k { // groups in reverse
			all = append(all, Effect{On: on, Do: readsBeside, N: 2*n - 1})
		}
	}
	for n := range min(k, 64) {
		all = append(all, Effect{On: on, Do: readsFixed, N: n})
	}
	return all
}

// programEffects are the decisions of a designer.
func (s *search) programEffects() []Effect {
	var all []Effect
	for _, m := range (change.Space{Formats: s.f, K: s.u.K}).Mutants(&s.u.Program, change.Decisions, change.Refinements) {
		all = append(all, Effect{On: OnProgram, Changes: mma.Diff(&s.u.Program, &m.Params)})
	}
	return all
}
