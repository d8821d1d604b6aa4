package defect

import (
	"fmt"
	"math"

	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The limits of a search. They depend on no clock: the same seed finds the same rule.
const (
	mostRounds  = 32
	perRound    = 256  // inputs that are asked
	candidates  = 1024 // of which these are chosen
	calmRounds  = 4    // in which nothing contradicts the simplest rule, before the last test
	mostPool    = 16   // rules that are left, whose predictions are compared
	enough      = 16   // inputs on either side of the condition that must confirm a rule
	lastRound   = 2    // of gen.Probe: the last test
	borders     = 2048 // inputs at borders of results, for an operation of one operand alone
	besideAsked = 512  // then, with a product of special codes beside what differs
	mostDiffer  = 384
	focusOn     = 1600 // cases of which those are taken that rules are learned from
	spared      = 64   // of so many instances that conditions should exclude one is spared
	farFetched  = 12   // the cost of conditions beside which more conditions are tried
	mostSamples = 8000 // with up to 16 products, else fewer
)

// sample is a case with what the program makes of it.
type sample struct {
	*view
	asked   *mma.Dot
	want    uint64
	differs bool
	effects map[*proposal][]int8 // by instance: see effectAt
	tests   *Claim               // that this input was asked to test; nil: none
	shows   bool                 // it met the condition, and shows the effect
	beside  bool                 // the effect would show where the condition is not met, and does not
}

// search is the state of a search.
type search struct {
	*viewer
	u       *Unit
	maker   *maker
	samples []*sample
	asked   map[string]bool
	against map[string][]*sample // by effect and scope: the cases that contradicted its rules

	proposed   map[string]*proposal // by effect
	left       []*proposal
	proposedOn int             // differing cases that there were then
	refused    map[string]bool // effects that do not explain the first cases
	few        []*sample       // which these are
	tried      []*view         // of inputs near the border of a rule
	before     int             // cases that were known before
	// partial: there are two defects, of which one is looked for
	partial bool
	// lenient: no rule covers all cases that seem to show its effect in one product. Where several
	// products have it and some of them hide it, it may seem to be in another one.
	lenient bool
	guessed bool                 // the first of them is a guess, which is given up where no rule is left
	allowed func(e *Effect) bool // effects that are looked for; nil: any
}

// hypothesis is a rule that no case contradicts.
type hypothesis struct {
	p    *proposal
	rule Rule
	when int // the cost of the conditions
	// where is the part of it for the number of a product or a sum, which is a place like any other.
	where int
	cost  int
	seen  int // cases on which it was tried
	odd   int // of these, those that contradict it
	// moved is 1 + the number of the condition of which a rival has another bound; 0: of none
	moved int
}

// Find looks for the rule of a unit's defect. It returns nil if there is none that all answers
// of the unit agree with.
func Find(ctx context.Context, u *Unit) (*Claim, error) {
	m, err := sim.New(u.Formats, u.K, u.Program)
	if err != nil {
		return nil, err
	}
	if u.Budget != nil {
		defer context.AfterFunc(ctx, u.Budget.Stop)()
	}
	s := &search{viewer: &viewer{f: u.Formats, m: m, budget: u.Budget}, u: u, asked: map[string]bool{}, against: map[string][]*sample{}, proposed: map[string]*proposal{}}
	s.maker = &maker{u.Formats, rand.New(rand.NewPCG(u.Seed, 0x6465666563740001))}
	if u.Random {
		s.allowed = func(e *Effect) bool { return e.On == OnRandom }
	}
	kept := map[bool]int{}
	for _, c := range u.Cases {
		x := s.learn(c.Dot, c.Want)
		if kept[x.differs]++; kept[x.differs] > mostDiffer {
			s.samples = s.samples[:len(s.samples)-1]
		}
	}
	if kept[true] == 0 {
		return nil, nil
	}
	c, err := s.oneOrTwo(ctx)
	if c != nil {
		c.setDigits(u.Formats)
		c.setSums(m, u.Cases[0].Dot)
		s.withAnyNaN(c)
	}
	return c, err
}

// withAnyNaN makes a claim that a result is the code of a NaN one of any NaN if the unit gives others, too:
// where a NaN stands against a number, its code is not compared.
func (s *search) withAnyNaN(c *Claim) {
	d := s.f.D.Get()
	if c.Effect.On != OnResult || c.Effect.Do != "code" || classOf(d, uint64(c.Effect.N)) != isNaN {
		return
	}
	p, err := NewPredictor(s.f, s.u.K, s.u.Program, c.Rule)
	if err != nil {
		return
	}
	for _, x := range s.samples {
		if got, program, known := p.Predict(x.asked); known && got != program && got == uint64(c.Effect.N) && x.want != got {
			c.Effect = Effect{On: OnResult, Do: anyNaN}
			return
		}
	}
}

// oneOrTwo looks for a defect, and then for two of them.
func (s *search) oneOrTwo(ctx context.Context) (*Claim, error) {
	if u := s.u; !u.Double {
		if c, err := s.find(ctx); c != nil || err != nil || u.Random {
			return c, err
		}
		// Every defect of a product looks like one of any term under more conditions.
		s.restart(nil, func(e *Effect) bool { return e.On == OnEach })
		s.partial = false
		if c, err := s.find(ctx); c != nil || err != nil || u.Single {
			return c, err
		}
	}
	return s.two(ctx)
}

func (s *search) same(x, y uint64) bool {
	return x == y || oracle.Compare(s.f.D, s.u.Policy, x, y) == oracle.Same
}

// learn takes in a case.
func (s *search) learn(d *mma.Dot, want uint64) *sample {
	c := &sample{view: s.view(d), asked: d, want: want}
	c.differs = !s.same(want, c.right)
	s.samples = append(s.samples, c)
	s.asked[mma.FormatDot(s.f, d)] = true
	return c
}

// differing returns cases that differ, at most so many.
func (s *search) differing(most int) (some []*sample) {
	for _, c := range s.samples {
		if c.differs && len(some) < most {
			some = append(some, c)
		}
	}
	return some
}

// find asks about inputs until one rule is left that nothing contradicts for some rounds, and puts
// it to the last test.
func (s *search) find(ctx context.Context) (*Claim, error) {
	if len(s.differing(1)) == 0 {
		return nil, nil
	}
	var claim *Claim
	var pool []*hypothesis
	calm, hopeless := 0, 0
	s.before = len(s.samples)
	// Where an effect happens to several products at once, these hide each other.
	if _, err := s.test(ctx, nil, nil, s.alone()); err != nil {
		return nil, err
	}
	// Of few cases that differ nearly every effect is an explanation, each under many conditions.
	for tries := 0; tries < calmRounds && len(s.differing(learnDiffer)) < learnDiffer; tries++ {
		if _, err := s.test(ctx, nil, nil, s.inputs(nil)); err != nil {
			return nil, err
		}
	}
	room := func() bool { // a rule without conditions looks at results alone, which are small
		return len(s.samples)-s.before < mostSamples*16/max(16, s.u.K) || claim != nil && len(claim.When) == 0
	}
	for round := 0; round < mostRounds && room() && ctx.Err() == nil && !s.budget.Over(); round++ {
		if pool = s.stillConsistent(pool); pool == nil {
			pool = s.hypotheses()
		}
		if len(pool) == 0 {
			s.left = nil // others may explain the cases since
			hopeless++
			if many := len(s.differing(learnDiffer)) == learnDiffer; hopeless > 2 || many || s.partial || s.guessed { // more would be as these
				return nil, nil
			}
		}
		if claim == nil || len(pool) == 0 || !equal(&claim.Rule, &pool[0].rule) {
			claim, calm = nil, 0
			if len(pool) > 0 {
				claim = &Claim{Rule: pool[0].rule}
			}
		}
		inputs := s.inputs(pool)
		switch {
		case calm >= calmRounds:
			if inputs = s.exam(); len(pool) > 0 && pool[0].rule.Effect.ofProducts() {
				inputs = append(inputs, s.beside()...)
			}
		case calm == calmRounds-1 && len(pool) > 0:
			inputs = s.border(pool[0])
		}
		contradicted, err := s.test(ctx, claim, pool, inputs)
		if err != nil {
			return nil, err
		}
		if contradicted {
			claim = nil
			continue
		}
		if calm++; calm > calmRounds && claim != nil && claim.Confirmed >= enough && (claim.Beside >= enough || len(claim.When) == 0) {
			return s.sure(claim, pool[0]), nil
		} else if calm > calmRounds+2 {
			return nil, nil // too few inputs show anything
		}
	}
	return nil, ctx.Err()
}

// sure returns a claim with what is not known of its conditions; nil if nothing shows them.
func (s *search) sure(claim *Claim, h *hypothesis) *Claim {
	if h = s.doubt(h); h == nil {
		return nil
	}
	sure := &Claim{Rule: h.rule}
	for _, c := range s.samples {
		got, met := s.predict(h, c.view)
		if !s.known(h, c.view, met) {
			continue
		}
		if sure.Tested++; s.contradicts(c, got) && !s.partial {
			return nil
		}
		if c.tests == claim {
			sure.count(c)
		}
	}
	return sure
}

// test asks the unit about inputs, and counts those that confirm a claim.
func (s *search) test(ctx context.Context, claim *Claim, pool []*hypothesis, inputs []*mma.Dot) (contradicted bool, err error) {
	if len(inputs) == 0 {
		return false, nil
	}
	asked := slices.Clone(inputs)
	answers, err := s.u.Ask(ctx, asked)
	if err != nil {
		return false, err
	}
	for i, d := range inputs {
		if asked[i] != d {
			continue // the unit fails on it
		}
		c := s.learn(d, answers[i])
		if claim == nil {
			continue
		}
		h := pool[0]
		got, met := s.predict(h, c.view)
		switch {
		case s.contradicts(c, got):
			contradicted = s.contradiction(h) != nil
		case len(met) > 0 && c.differs && s.same(got, c.want):
			c.shows = true
		}
		c.tests, c.beside = claim, s.visible(h, c.view, met)
		claim.count(c)
	}
	return contradicted, nil
}

// count adds an input that tests the claim.
func (c *Claim) count(x *sample) {
	if x.shows {
		c.Confirmed++
	}
	if x.beside {
		c.Beside++
	}
	if x.shows && x.beside {
		c.Both++
	}
}

// predict returns what a rule predicts, and the instances that meet its conditions.
func (w *viewer) predict(h *hypothesis, v *view) (result uint64, met []int) {
	met = w.meeting(&h.rule, v)
	if len(met) > 0 && w.runs(h) {
		met = w.inOrder(h, v, met[0])
	}
	if len(met) > 0 {
		if got, ok := h.p.run(v, met); ok {
			return got, met
		}
	}
	return v.right, nil
}

// meeting returns the instances that meet the conditions of a rule.
func (w *viewer) meeting(r *Rule, v *view) (places []int) {
	w.add(v, r.Scope)
	if w.rule != r {
		w.rule, w.columns = r, w.columns[:0]
		for n := range r.When {
			w.columns = append(w.columns, column(r.Scope, r.When[n].Feature))
		}
	}
	columns := w.columns
	w.budget.add(len(v.of[r.Scope]) * ofInstance)
	for i, own := range v.of[r.Scope] {
		meets := true
		for n := range r.When {
			if !r.When[n].holds(valueOf(v.whole, own, columns[n])) {
				meets = false
				break
			}
		}
		if meets {
			places = append(places, i)
		}
	}
	return places
}

// visible reports whether the effect of a rule would be seen where its condition is not met: of an
// effect on single products, in any other than those that meet it.
func (s *search) visible(h *hypothesis, v *view, met []int) bool {
	if !h.p.effect.ofProducts() && len(met) > 0 {
		return false
	}
	for k := range s.instances(h.p, v) {
		if slices.Contains(met, k) {
			continue
		}
		if got, ok := h.p.run(v, []int{k}); ok && !s.same(got, v.right) {
			return true
		}
	}
	return false
}

// hypotheses returns the simplest rules that no case contradicts.
func (s *search) hypotheses() []*hypothesis {
	pool := s.simplest()
	if len(pool) == 0 && !s.lenient && !s.partial {
		s.lenient = true
		pool = s.simplest()
	}
	return pool
}

// simplest returns the simplest rules of all effects that are left. Where one in a single product, or sum,
// explains all of many cases, others of which products would hide each other are tried only in vain.
func (s *search) simplest() []*hypothesis {
	proposals := s.proposals()
	elsewhere := func(p *proposal) bool { return p.effect.ofProducts() && !s.inOne(p) }
	if slices.ContainsFunc(proposals, s.inOne) {
		if pool := s.fewest(slices.DeleteFunc(slices.Clone(proposals), elsewhere)); len(pool) > 0 {
			return pool
		}
	}
	return s.fewest(proposals)
}

// inOne reports whether an effect explains many cases, and all of them in the same one of several products
// or sums alone.
func (s *search) inOne(p *proposal) bool {
	differ := s.differing(filterOn)
	return p.effect.ofProducts() && len(differ) == filterOn && s.instances(p, differ[0].view) > 1 && s.place(p) >= 0
}

// fewest returns the rules with the fewest conditions. Where these need a far-fetched one, such as a
// pattern of bits, one more condition may be simpler.
func (s *search) fewest(proposals []*proposal) []*hypothesis {
	var pool []*hypothesis
	for parts := range s.mostParts() + 1 {
		before := len(pool)
		for _, p := range proposals {
			only := s.inOne(p) || p.effect.ofProducts() && parts > 1 && s.place(p) >= 0
			for _, scope := range scopesOf(p, parts) {
				if s.budget.Over() {
					return nil
				}
				if only {
					continue // see inOneProduct: of most conditions there may be one more, beside the number
				}
				pool = append(pool, s.consistent(p, scope, -1, parts)...)
			}
			pool = append(pool, s.inOneProduct(p, parts)...)
		}
		slices.SortStableFunc(pool, func(x, y *hypothesis) int { return x.cost - y.cost })
		if before > 0 || len(pool) > 0 && pool[0].when-pool[0].where <= farFetched {
			break
		}
	}
	return pool[:min(len(pool), mostPool)]
}

// stillConsistent returns those of some rules that predict the cases since; nil if the simplest
// does not.
func (s *search) stillConsistent(pool []*hypothesis) (left []*hypothesis) {
	for i, h := range pool {
		if s.contradiction(h) == nil {
			left = append(left, h)
		} else if i == 0 {
			return nil
		}
	}
	return left
}

// inOneProduct returns rules with conditions on a product of a certain number, for effects on
// other things than products.
func (s *search) inOneProduct(p *proposal, parts int) (pool []*hypothesis) {
	if p.effect.ofProducts() && (parts > 1 || parts == 1 && s.inOne(p)) {
		if k := s.place(p); k >= 0 {
			if pool = s.consistent(p, p.effect.scope(), k, parts); len(pool) == 0 && parts == s.mostParts() {
				pool = s.consistent(p, p.effect.scope(), k, parts+1)
			}
			return pool
		}
	}
	if p.effect.ofProducts() || parts < 2 {
		return nil
	}
	for k := range min(len(s.samples[0].dot.A), mostPaired) {
		if s.budget.Over() {
			return nil
		}
		pool = append(pool, s.consistent(p, OfProduct, k, parts)...)
	}
	return pool
}

// numbers are the features that number the instances of scopes.
var numbers = map[Scope]string{OfProduct: "k", OfSum: "step"}

// place returns the number of the only product, or sum, to which an effect may happen such that it
// explains all cases; -1: there is none, or several.
func (s *search) place(p *proposal) int {
	if numbers[p.effect.scope()] == "" {
		return -1
	}
	var left []int
	for n, c := range s.differing(filterOn) {
		wanted := func(k int) bool { return k < s.instances(p, c.view) && s.effectAt(p, c, k) == asWanted }
		if n == 0 {
			for k := range s.instances(p, c.view) {
				left = append(left, k)
			}
		}
		left = slices.DeleteFunc(left, func(k int) bool { return !wanted(k) })
	}
	if len(left) == 1 {
		return left[0]
	}
	return -1
}

// scopesOf are the scopes that the conditions of an effect may have.
func scopesOf(p *proposal, parts int) []Scope {
	switch {
	case p.effect.ofProducts():
		return []Scope{p.effect.scope()}
	case parts == 0:
		return []Scope{OfCase}
	}
	return []Scope{OfCase, OfProduct, OfPair, OfSum}
}

// scopeCosts prefers conditions on the case as a whole.
var scopeCosts = map[Scope]int{OfCase: 0, OfProduct: 1, OfOperand: 1, OfSum: 2, OfPair: 3}

// consistent returns rules with an effect that predict every case. They are learned from a few
// cases, to which those that contradict a rule are added. only is the number of the only product
// that is looked at; -1: all are.
func (s *search) consistent(p *proposal, scope Scope, only, parts int) []*hypothesis {
	if all := s.consistentBut(p, scope, only, parts, 0); len(all) > 0 || !p.effect.ofProducts() || parts < 2 {
		return all
	}
	return s.consistentBut(p, scope, only, parts, spared)
}

// isSeen reports whether a rule explains enough cases that differ.
func (s *search) isSeen(h *hypothesis) bool {
	n, differ := 0, s.differing(filterOn)
	for _, c := range differ {
		if got, _ := s.predict(h, c.view); s.same(got, c.want) {
			n++
		}
	}
	return s.share()*n >= len(differ)
}

// consistentBut does so with a share of instances that are not excluded: one of so many; 0: none.
func (s *search) consistentBut(p *proposal, scope Scope, only, parts, one int) []*hypothesis {
	const tries = 6
	s.shed()
	if h := (&hypothesis{p: p, rule: Rule{Scope: scope, Effect: p.effect}, cost: 3*p.cost + scopeCosts[scope]}); parts == 0 && p.effect.ofProducts() && s.contradiction(h) == nil && s.isSeen(h) {
		return []*hypothesis{h}
	}
	key := fmt.Sprint(scope, only, p.effect.String())
	for range tries {
		if s.budget.Over() {
			return nil
		}
		l := s.lesson(p, scope, only, s.focused(p, only, key))
		if l.cases == 0 {
			return nil
		}
		if one > 0 {
			l.spare = 1 + len(l.no)/one
		}
		if s.partial || s.lenient && one > 0 {
			l.miss = l.cases / 8
		}
		var fixed []Condition
		if only >= 0 {
			fixed = []Condition{{Feature: numbers[scope], Is: Equal, Value: int64(only)}}
		}
		var all []*hypothesis
		var against []*sample
		for _, when := range l.separate(s.widthOf, parts-len(fixed), s.budget) {
			h := &hypothesis{p: p, rule: Rule{Scope: scope, Effect: p.effect, When: slices.Concat(fixed, when)}}
			s.setCost(h)
			if c := s.contradiction(h); c == nil {
				if one > 0 || parts > 2 {
					h = s.shorter(h)
				}
				all = append(all, h)
			} else if !slices.Contains(against, c) && !slices.Contains(s.against[key], c) {
				against = append(against, c)
			}
		}
		if len(all) > 0 || len(against) == 0 {
			return all
		}
		s.against[key] = append(s.against[key], against...)
	}
	return nil
}

// setCost sets what a rule costs.
func (s *search) setCost(h *hypothesis) {
	scope := h.rule.Scope
	h.when, h.where = 0, 0
	for i := range h.rule.When {
		c := &h.rule.When[i]
		cost := conditionCost(&scopes[scope][column(scope, c.Feature)], c)
		if h.when += cost; c.Feature == numbers[scope] {
			h.where += cost
		}
	}
	h.cost = h.when + 3*h.p.cost + scopeCosts[scope]
	if s.partial { // prefer what explains many cases
		h.cost += filterOn - h.p.hits
	}
}

// shorter returns a rule without the conditions that it does not need. It has some where a condition looks
// as if it did not hold in each case, since other instances hide it: such a one is found only together
// with others. And of two conditions only the cheapest pairs are tried, which leaves a dear one to three.
func (s *search) shorter(h *hypothesis) *hypothesis {
	for i := len(h.rule.When) - 1; i >= 0 && len(h.rule.When) > 1; i-- {
		if x := h.without(i); s.contradiction(x) == nil {
			h = x
		}
	}
	s.setCost(h)
	return h
}

// mostHeld is the number of features that are kept, of all samples together.
const mostHeld = 24 << 20

// shed forgets the features of all samples but those of the case if there are many: they are made
// again where they are asked for.
func (s *search) shed() {
	if s.held <= mostHeld {
		return
	}
	s.held = 0
	for _, c := range s.samples {
		c.shed()
	}
	for _, v := range s.tried {
		v.shed()
	}
}

// focused returns the cases that rules with an effect are learned from: the first that differ, and
// of the others the first in which the effect would show; of an effect on single products first
// those in which it would show in one alone.
func (s *search) focused(p *proposal, only int, key string) []*sample {
	var chosen, rest []*sample
	n := map[bool]int{}
	most := map[bool]int{true: learnDiffer, false: learnAgree}
	for _, c := range s.samples[:min(len(s.samples), focusOn)] {
		if n[c.differs] == most[c.differs] {
			continue
		}
		switch seen := s.seen(p, only, c); {
		case seen == 1:
			n[c.differs]++
			chosen = append(chosen, c)
		case seen > 1 && len(rest) < learnDiffer+learnAgree:
			rest = append(rest, c)
		}
	}
	for _, c := range rest {
		if n[c.differs] < most[c.differs] {
			n[c.differs]++
			chosen = append(chosen, c)
		}
	}
	return append(chosen, s.against[key]...)
}

// contradiction returns a case that a rule does not predict; nil if there is none, or too few.
func (s *search) contradiction(h *hypothesis) *sample {
	for _, c := range slices.Backward(s.samples[h.seen:]) {
		if got, _ := s.predict(h, c.view); s.contradicts(c, got) {
			if h.odd++; h.odd > s.mostOdd() {
				return c
			}
		}
	}
	h.seen = len(s.samples)
	return nil
}

// inputs chooses inputs that tell the rules apart that are left, that meet the condition of the
// simplest, and that do not although its effect would show, by as little as possible: a bit that a
// condition asks for in vain is found out so.
func (s *search) inputs(pool []*hypothesis) []*mma.Dot {
	const each = perRound / 4
	var apart, met, beside, others []*mma.Dot
	distances := map[*mma.Dot]int{}
	differ := s.differing(mostDiffer)
	for range candidates {
		d := s.input()
		if len(pool) > 0 && s.maker.r.IntN(4) == 0 {
			if b := s.beyond(&pool[0].rule, differ[s.maker.r.IntN(len(differ))]); b != nil {
				d = b
			}
		}
		key := mma.FormatDot(s.f, d)
		if s.asked[key] {
			continue
		}
		s.asked[key] = true
		v := s.view(d)
		if len(pool) == 0 {
			others = append(others, d)
			continue
		}
		got, yes := s.predict(pool[0], v)
		switch {
		case slices.ContainsFunc(pool[1:], func(h *hypothesis) bool { x, _ := s.predict(h, v); return !s.same(x, got) }):
			apart = append(apart, d)
		case len(yes) > 0 && !s.same(got, v.right):
			met = append(met, d)
		case s.visible(pool[0], v, yes):
			beside, distances[d] = append(beside, d), s.distance(&pool[0].rule, v)
		default:
			others = append(others, d)
		}
	}
	beside = nearest(beside, distances)
	first := func(ds []*mma.Dot, n int) []*mma.Dot { return ds[:min(len(ds), n)] }
	chosen := slices.Concat(first(apart, 2*each), first(met, each), first(beside, each))
	return append(chosen, first(others, perRound-len(chosen))...)
}

// nearest sorts inputs by their distances.
func nearest(dots []*mma.Dot, distances map[*mma.Dot]int) []*mma.Dot {
	slices.SortStableFunc(dots, func(x, y *mma.Dot) int { return distances[x] - distances[y] })
	return dots
}

// distance is by how much the conditions of a rule are missed: of all instances, by the one that
// misses them by the least.
func (s *search) distance(r *Rule, v *view) int {
	least := math.MaxInt
	for i := range v.of[r.Scope] {
		sum := 0
		for n := range r.When {
			sum += r.When[n].distance(v.value(r.Scope, i, column(r.Scope, r.When[n].Feature)))
		}
		least = min(least, sum)
	}
	return least
}

// input makes an input near a known case, mostly near one that differs.
func (s *search) input() *mma.Dot {
	r := s.maker.r
	differ := s.differing(mostDiffer)
	x, y := differ[r.IntN(len(differ))], s.samples[r.IntN(len(s.samples))]
	switch r.IntN(5) {
	case 0:
		return s.maker.transplant(y.dot, x.dot)
	case 1:
		return s.maker.near(y.dot, x.dot)
	}
	return s.maker.near(x.dot, y.dot)
}

// alone returns products of differing cases alone, with their c and without it.
func (s *search) alone() (dots []*mma.Dot) {
	for _, c := range s.differing(perRound) {
		for k := range c.dot.A {
			if len(dots) >= 2*perRound {
				return dots
			}
			d := mma.NewDot(s.f, len(c.dot.A))
			copy(d.SA, c.dot.SA)
			copy(d.SB, c.dot.SB)
			if d.A[k], d.B[k] = c.dot.A[k], c.dot.B[k]; len(dots)%2 == 0 {
				d.C = c.dot.C
			}
			if key := mma.FormatDot(s.f, d); !s.asked[key] {
				s.asked[key] = true
				dots = append(dots, d)
			}
		}
	}
	return dots
}

// exam returns inputs of every generator, and some near those that differ.
func (s *search) exam() []*mma.Dot {
	k := len(s.samples[0].dot.A)
	sp := gen.Spec{Formats: s.f, K: k}
	dots := gen.Probe(sp, s.u.Seed+1, lastRound, &s.u.Program)
	if s.f.B == fp.One && k == 1 { // whose ties are few, and all at borders of results
		border, _ := gen.Find("border")
		dots = append(dots, gen.Independent(sp, gen.Source{Generator: border}, s.u.Seed+1, 0, borders)...)
	}
	for range perRound {
		dots = append(dots, s.input())
	}
	return dots
}

// beside returns differing cases with a product of special codes beside what differs: what a rule
// about each product would do to that, and the unit does not.
func (s *search) beside() (dots []*mma.Dot) {
	differ := s.differing(mostDiffer)
	for range besideAsked {
		d := differ[s.maker.r.IntN(len(differ))].dot.Clone()
		k := s.maker.r.IntN(len(d.A))
		x, y := d.A, d.B
		fx, fy := s.f.A, s.f.B
		if s.maker.r.IntN(2) == 0 {
			x, y, fx, fy = y, x, fy, fx
		}
		x[k], y[k] = s.maker.corner(fx), s.maker.corner(fy)
		if f := fy.Get(); fy != fp.One && f.HasInf() && s.maker.r.IntN(3) == 0 { // where most bits of the other matter little
			y[k] = f.InfCode(false)
		}
		dots = append(dots, d)
	}
	return dots
}

func equal(x, y *Rule) bool {
	return x.Scope == y.Scope && x.Effect.String() == y.Effect.String() && slices.Equal(x.When, y.When)
}
