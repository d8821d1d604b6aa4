package defect

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// The limits of learning. What is learned is the conditions under which an effect happens: they separate
// the cases that differ from those that agree.
const (
	learnDiffer = 64  // differing cases that conditions must cover
	learnAgree  = 320 // agreeing cases, in which the effect would show, that they must not cover
	mostAtoms   = 2400
	mostRules   = 128 // with the same number of conditions, for an effect and a scope
	eachFeature = 10  // conditions on each feature of which three are combined
	strongAtoms = 240 // conditions on all features of which three are combined
	fewLeft     = 24  // if so few instances of agreeing cases meet two conditions, the third may be any
	maxParts    = 3   // of a condition
)

// instance is one of the products, pairs or sums of a case, or the case itself: its features, and
// those of its case.
type instance struct{ whole, own []int64 }

func (v *view) instance(s Scope, i int) instance { return instance{v.whole, v.of[s][i]} }

// lesson is what conditions are learned from: of each differing case the instances of which one
// must meet them, and the instances of agreeing cases that must not.
type lesson struct {
	scope  Scope
	yes    []instance
	caseOf []int // of each instance of yes: the number of its case
	cases  int
	no     []instance
	// spare is how many instances of no may meet the conditions all the same: an effect on several
	// products at once may be hidden.
	spare int
	// miss is how many differing cases need not meet the conditions: another defect is their cause.
	miss    int
	workers int // see Unit
}

// lesson makes the lesson of an effect for some samples. An effect on single products may happen to
// several of them at once, which then hide each other: where enough cases show it in one product
// alone, only such cases count. only is the number of the only instance that counts, -1: all do.
func (s *search) lesson(p *proposal, scope Scope, only int, some []*sample) *lesson {
	if p.effect.ofProducts() && only < 0 {
		const few = 6
		alone := slices.DeleteFunc(slices.Clone(some), func(c *sample) bool { return s.seen(p, only, c) != 1 })
		if l := s.lessonOf(p, scope, only, alone); l.cases >= few {
			return l
		}
	}
	return s.lessonOf(p, scope, only, some)
}

// seen returns in how many instances an effect would be seen; only is the number of the only one
// that counts, -1: all do.
func (s *search) seen(p *proposal, only int, c *sample) (n int) {
	if only >= 0 && p.effect.ofProducts() {
		return int(truth(only < s.instances(p, c.view) && s.effectAt(p, c, only) != invisible))
	}
	for i := range s.instances(p, c.view) {
		if s.effectAt(p, c, i) != invisible {
			n++
		}
	}
	return n
}

// instances is the number of places where an effect may happen.
func (s *search) instances(p *proposal, v *view) int {
	switch {
	case p.effect.scope() == OfOperand:
		return 2 * len(v.dot.A)
	case p.effect.scope() == OfSum, p.effect.On == OnEach:
		s.add(v, p.effect.scope())
		return len(v.of[p.effect.scope()])
	case p.effect.ofProducts():
		return len(v.dot.A)
	}
	return 1
}

func (s *search) lessonOf(p *proposal, scope Scope, only int, some []*sample) *lesson {
	l := &lesson{scope: scope, workers: s.u.Workers}
	for _, c := range some {
		s.add(c.view, scope)
		n := len(l.yes)
		for i := range c.of[scope] {
			if only >= 0 && i != only {
				continue
			}
			switch effect := s.effectAt(p, c, i); {
			case c.differs && effect == asWanted:
				l.yes, l.caseOf = append(l.yes, c.instance(scope, i)), append(l.caseOf, l.cases)
			case !c.differs && effect == wrong:
				l.no = append(l.no, c.instance(scope, i))
			}
		}
		if len(l.yes) > n {
			l.cases++
		}
	}
	return l
}

// What an effect does to a case that agrees or differs.
const (
	invisible = iota // the result is the program's
	asWanted         // it is the unit's, and not the program's
	wrong            // it is neither
)

// effectAt returns what an effect does if it happens to one instance. The outcomes of effects are
// kept: they are asked for again and again.
func (s *search) effectAt(p *proposal, c *sample, i int) int {
	key := 0
	if p.effect.ofProducts() {
		key = i
	}
	known := c.effects[p]
	if known == nil {
		if c.effects == nil {
			c.effects = map[*proposal][]int8{}
		}
		known = slices.Repeat([]int8{-1}, s.instances(p, c.view))
		c.effects[p] = known
	}
	if known[key] < 0 {
		known[key] = invisible
		if got, ok := p.run(c.view, []int{key}); ok && !s.same(got, c.right) {
			if known[key] = wrong; s.same(got, c.want) {
				known[key] = asWanted
			}
		}
	}
	return int(known[key])
}

// atom is a condition with the instances that meet it, as sets of bits.
type atom struct {
	Condition
	column  int
	cost    int
	yes, no []uint64
}

// separate returns the cheapest rules that separate the differing from the agreeing cases of a
// lesson. Each has the given number of conditions.
func (l *lesson) separate(width func(name string) int, parts int, b *Budget) [][]Condition {
	if parts == 0 {
		if len(l.no) <= l.spare {
			return [][]Condition{nil}
		}
		return nil
	}
	atoms := l.atoms(width, b)
	found := &cheapest{bound: math.MaxInt}
	switch parts {
	case 1:
		for _, a := range atoms {
			if l.excludes(a.no, a.no) {
				found.add(a)
			}
		}
	case 2:
		l.pairs(atoms, found, b)
	default:
		l.triples(atoms, found, b)
	}
	found.sort()
	var all [][]Condition
	for _, set := range found.sets {
		var conditions []Condition
		for _, a := range set {
			conditions = append(conditions, a.Condition)
		}
		all = append(all, conditions)
	}
	return all
}

// cheapest keeps the cheapest of the sets of conditions that are added.
type cheapest struct {
	sets  [][]*atom
	bound int // sets that cost this much, or more, are no longer kept
}

func (x *cheapest) add(set ...*atom) {
	if x.sets = append(x.sets, set); len(x.sets) == 8*mostRules {
		x.sort()
		x.bound = costs(x.sets[mostRules-1]...)
	}
}

func (x *cheapest) sort() {
	slices.SortStableFunc(x.sets, func(a, b []*atom) int { return costs(a...) - costs(b...) })
	x.sets = x.sets[:min(len(x.sets), mostRules)]
}

func costs(set ...*atom) int {
	n := 0
	for _, a := range set {
		n += a.cost
	}
	return n
}

// pairs finds pairs of conditions that no instance of an agreeing case meets and one of every
// differing case does.
func (l *lesson) pairs(atoms []*atom, found *cheapest, budget *Budget) {
	x := l.excluders(atoms, budget)
	l.rows(len(atoms), found, budget, func(i int, row *cheapest, budget *Budget) {
		a := atoms[i]
		x.each(a.no, i, l.spare, budget, new([]uint64), func(b *atom) {
			if a.cost+b.cost < row.bound && l.excludes(a.no, b.no) && l.covers(a.yes, b.yes) {
				row.add(b, a)
			}
		})
	})
}

// triples finds three conditions that do so. It combines the conditions that the fewest instances of
// agreeing cases meet, a few on each feature.
func (l *lesson) triples(atoms []*atom, found *cheapest, budget *Budget) {
	strong := slices.Clone(atoms)
	slices.SortStableFunc(strong, func(x, y *atom) int { return count(x.no) - count(y.no) })
	if of := map[int]int{}; len(strong) > strongAtoms {
		strong = slices.DeleteFunc(strong, func(a *atom) bool { of[a.column]++; return of[a.column] > eachFeature })
	}
	strong = strong[:min(len(strong), strongAtoms)]
	few, any := l.excluders(strong, budget), l.excluders(atoms, budget)
	l.rows(len(strong), found, budget, func(i int, row *cheapest, budget *Budget) {
		var buf []uint64
		a := strong[i]
		for j, b := range strong[:i] {
			budget.add(ofCombination)
			if a.column == b.column && a.Is != AtLeast && a.Is != AtMost || !l.covers(a.yes, b.yes) {
				continue
			}
			yes, no := both(a.yes, b.yes), both(a.no, b.no)
			third, most := few, j
			if n := count(no); n > l.spare && n <= l.spare+max(fewLeft, len(l.no)/4) { // two leave so little that any condition may exclude the rest
				third, most = any, len(atoms)
			}
			third.each(no, most, l.spare, budget, &buf, func(c *atom) {
				if a.cost+b.cost+c.cost < row.bound && l.excludes(no, c.no) && l.covers(yes, c.yes) {
					row.add(c, b, a)
				}
			})
		}
	})
}

// rows calls f for each of 0..n-1 on several goroutines, and adds what the calls find in the order of
// their numbers, so that the same is found whatever the number of goroutines. Each call spends a budget
// of its own, which counts towards the common one. Once that is spent, no more calls are begun, and what
// was found is of no use.
func (l *lesson) rows(n int, found *cheapest, budget *Budget, f func(i int, row *cheapest, budget *Budget)) {
	rows := make([]cheapest, n)
	var spent atomic.Int64
	parallel.For(l.workers, n, func(i int) {
		if budget.leaves(spent.Load()) {
			var own Budget
			rows[i].bound = found.bound
			f(i, &rows[i], &own)
			rows[i].sort()
			spent.Add(own.Spent)
		}
	})
	budget.add(int(spent.Load()))
	for i := range rows {
		for _, set := range rows[i].sets {
			if costs(set...) < found.bound {
				found.add(set...)
			}
		}
	}
}

// atoms returns the conditions that an instance of every differing case meets, and that some
// instance of an agreeing case does not, the cheapest first.
func (l *lesson) atoms(width func(name string) int, budget *Budget) []*atom {
	features := scopes[l.scope]
	of, spent := make([][]*atom, len(features)), make([]Budget, len(features))
	parallel.For(l.workers, len(features), func(n int) { of[n] = l.atomsOf(n, &features[n], width, &spent[n]) })
	for n := range spent {
		budget.add(int(spent[n].Spent))
	}
	all := slices.Concat(of...)
	slices.SortStableFunc(all, func(x, y *atom) int { return x.cost - y.cost })
	// Of conditions that no instance tells apart, a few are kept.
	const alike = 3
	seen := map[uint64]int{}
	all = slices.DeleteFunc(all, func(a *atom) bool {
		h := hash(a.yes, hash(a.no, 1))
		seen[h]++
		return seen[h] > alike
	})
	return all[:min(len(all), mostAtoms)]
}

// atomsOf returns the conditions on one feature, whose column is given.
func (l *lesson) atomsOf(column int, f *feature, width func(name string) int, budget *Budget) (all []*atom) {
	values := func(of []instance) []int64 {
		vs := make([]int64, len(of))
		for i, x := range of {
			vs[i] = valueOf(x.whole, x.own, column)
		}
		return vs
	}
	yes := values(l.yes)
	if allAbsent(yes) {
		return nil
	}
	no := values(l.no)
	for _, c := range slices.Concat(l.conditions(f, yes, width), l.exceptions(f, yes, no)) {
		a := &atom{Condition: c, column: column, cost: conditionCost(f, &c), yes: met(&c, yes)}
		budget.add(len(yes) * ofValue)
		if !l.covers(a.yes, a.yes) {
			continue // so most conditions end here, before the agreeing cases, which have several times as many instances
		}
		budget.add(2 * len(no) * ofValue)
		if a.no = met(&c, no); count(a.no) < len(no) {
			all = append(all, a)
		}
	}
	return all
}

// conditionCost prefers facts and equalities to thresholds and patterns of bits.
func conditionCost(f *feature, c *Condition) int {
	cost := 3 * f.cost
	switch {
	case f.kind == code && c.Is == Equal:
		cost += 3
	case c.Is == HasBits:
		if cost += min(bits.OnesCount64(uint64(c.Mask)), 8); f.kind == number {
			cost += 2
		}
	case c.Is == AtLeast || c.Is == AtMost:
		cost += 2
	case c.Is == Unequal:
		cost += 3
	case f.kind == flag && c.Value == 0:
		cost++
	}
	return cost
}

func allAbsent(vs []int64) bool {
	return !slices.ContainsFunc(vs, func(v int64) bool { return v != absent })
}

// mostValues is how many of the least values of a feature conditions compare with, and how many of the
// largest.
const mostValues = 20

// conditions returns conditions on a feature, from its values in differing cases.
func (l *lesson) conditions(f *feature, yes []int64, width func(string) int) []Condition {
	distinct := slices.Clone(yes)
	slices.Sort(distinct)
	distinct = slices.DeleteFunc(slices.Compact(distinct), func(v int64) bool { return v == absent })
	var all []Condition
	add := func(is Is, v int64) { all = append(all, Condition{Feature: f.name, Is: is, Value: v}) }
	switch f.kind {
	case flag, choice:
		for _, v := range distinct {
			add(Equal, v)
		}
	case class:
		for k := isZero; k <= isNaN; k++ {
			add(Equal, k)
			add(Unequal, k)
			if k > isZero && k < isNaN {
				add(AtLeast, k)
				add(AtMost, k)
			}
		}
	case number:
		some := distinct
		if len(some) > 2*mostValues {
			some = slices.Concat(some[:mostValues], some[len(some)-mostValues:])
		}
		for _, v := range some {
			add(Equal, v)
			add(AtLeast, v)
			add(AtMost, v)
		}
		add(Unequal, 0)
		for n := 1; n < distanceBits; n++ {
			if mask := int64(1)<<n - 1; n > 1 {
				for _, v := range residues(distinct, mask) {
					all = append(all, Condition{Feature: f.name, Is: HasBits, Value: v, Mask: mask})
				}
			}
			for _, v := range residues(distinct, 1<<(n-1)) {
				all = append(all, Condition{Feature: f.name, Is: HasBits, Value: v, Mask: 1 << (n - 1)})
			}
		}
		for d := int64(1); d <= 32; d *= 2 { // the true bounds may lie beyond the values that were seen
			add(AtLeast, distinct[0]-d)
			add(AtMost, distinct[len(distinct)-1]+d)
		}
	case lanes:
		for k := range width(f.name) {
			for _, v := range residues(distinct, 1<<k) {
				all = append(all, Condition{Feature: f.name, Is: HasBits, Value: v, Mask: 1 << k})
			}
		}
	case code:
		bit := func(mask, v int64) {
			if mask != 0 {
				all = append(all, Condition{Feature: f.name, Is: HasBits, Value: v & mask, Mask: mask})
			}
		}
		w := width(f.name)
		for i := range w {
			bit(1<<i, 0)
			bit(1<<i, 1<<i)
		}
		if l.miss > 0 {
			for _, v := range most(yes, nil) {
				add(Equal, v)
			}
		}
		for _, c := range l.common(yes, w) {
			if bits.OnesCount64(uint64(c[0])) == w {
				add(Equal, c[1])
			} else {
				bit(c[0], c[1])
			}
		}
	}
	return all
}

// residues are the different values that the bits of a mask have in some numbers; nil if they are many.
func residues(vs []int64, mask int64) (all []int64) {
	const few = 2
	for _, v := range vs {
		if r := v & mask; !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	if len(all) > few {
		return nil
	}
	return all
}

// exceptions are conditions that a code or a number is not a certain value: one of the most frequent in
// instances of agreeing cases that no instance of a differing case has.
func (l *lesson) exceptions(f *feature, yes, no []int64) (all []Condition) {
	if f.kind != code && f.kind != number {
		return nil
	}
	for _, v := range most(no, yes) {
		all = append(all, Condition{Feature: f.name, Is: Unequal, Value: v})
	}
	return all
}

// most returns the values that come most often, except those in but.
func most(vs, but []int64) []int64 {
	const few = 4
	counts := countsOf(vs)
	delete(counts, absent)
	for _, v := range but {
		delete(counts, v)
	}
	values := slices.SortedFunc(maps.Keys(counts), func(x, y int64) int { return cmp.Or(counts[y]-counts[x], cmp.Compare(x, y)) })
	return values[:min(len(values), few)]
}

// countsOf counts values, in an array where they are close together: they are asked for often.
func countsOf(vs []int64) map[int64]int {
	const most = 1 << 12
	counts := map[int64]int{}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range vs {
		if v != absent {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi || uint64(hi-lo) >= most {
		for _, v := range vs {
			counts[v]++
		}
		return counts
	}
	array := make([]int, hi-lo+1)
	for _, v := range vs {
		if v != absent {
			array[v-lo]++
		}
	}
	for i, n := range array {
		if n > 0 {
			counts[lo+int64(i)] = n
		}
	}
	return counts
}

// common returns the bits that instances of all differing cases have in common, and their values:
// one such pattern for each instance of the first case.
func (l *lesson) common(yes []int64, width int) [][2]int64 {
	const most = 16
	var all [][2]int64
	for i, first := range yes {
		if l.caseOf[i] > 0 || i >= most {
			break
		}
		if first == absent {
			continue
		}
		mask := int64(uint64(1)<<width - 1)
		for j := i + 1; j < len(yes); {
			best, n := int64(0), -1
			for c := l.caseOf[j]; j < len(yes) && l.caseOf[j] == c; j++ {
				if c == 0 || yes[j] == absent {
					continue
				}
				if m := mask &^ (first ^ yes[j]); bits.OnesCount64(uint64(m)) > n {
					best, n = m, bits.OnesCount64(uint64(m))
				}
			}
			if n >= 0 {
				mask = best
			}
		}
		all = append(all, [2]int64{mask, first & mask})
	}
	return all
}

// met returns the set of values that meet a condition, as holds does one by one.
func met(c *Condition, vs []int64) []uint64 {
	set := make([]uint64, (len(vs)+63)/64)
	keep := func(i int) { set[i/64] |= 1 << (i % 64) }
	from, to := absent+1, int64(math.MaxInt64)
	switch c.Is {
	case Unequal:
		for i, v := range vs {
			if v != c.Value && v != absent {
				keep(i)
			}
		}
		return set
	case HasBits:
		for i, v := range vs {
			if v&c.Mask == c.Value && v != absent {
				keep(i)
			}
		}
		return set
	case Equal:
		from, to = c.Value, c.Value
	case AtLeast:
		from = c.Value
	case AtMost:
		to = c.Value
	}
	for i, v := range vs {
		if v >= from && v <= to {
			keep(i)
		}
	}
	return set
}

// covers reports whether every differing case, but for those to miss, has an instance that is in both sets.
func (l *lesson) covers(a, b []uint64) bool {
	next, missed := 0, 0
	for w := range a {
		for x := a[w] & b[w]; x != 0; x &= x - 1 {
			if c := l.caseOf[w*64+bits.TrailingZeros64(x)]; c >= next {
				if missed += c - next; missed > l.miss {
					return false
				}
				next = c + 1
			}
		}
	}
	return missed+l.cases-next <= l.miss
}

// excludes reports whether no instance of an agreeing case is in both sets, but for those to spare.
func (l *lesson) excludes(a, b []uint64) bool {
	n := 0
	for i, x := range a {
		if x &= b[i]; x != 0 {
			if n += bits.OnesCount64(x); n > l.spare {
				return false
			}
		}
	}
	return true
}

func both(a, b []uint64) []uint64 {
	c := make([]uint64, len(a))
	for i := range a {
		c[i] = a[i] & b[i]
	}
	return c
}

func count(a []uint64) (n int) {
	for _, x := range a {
		n += bits.OnesCount64(x)
	}
	return n
}

func hash(a []uint64, h uint64) uint64 {
	for _, x := range a {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}
