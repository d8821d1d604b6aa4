package gen

// Schedule decides whose turn it is: each source has Weight turns in a cycle, spread out. A
// fast pair of units takes variations of most sources from some turn on, since designing an
// input takes many times as long as computing it. From then on a turn takes about as long
// for every source, whatever its inputs cost.
type Schedule struct {
	sources []scheduled
	first   rota // of the opening
	later   rota
	opening uint64 // turns of it
}

type scheduled struct {
	source  Source
	name    string
	around  Source // its variations; the zero Source: none
	nameAll string // of around
	cost    int    // after the opening, by how much it makes fewer dot products
}

// rota is the turns of a cycle.
type rota struct {
	turns       []uint64 // of each source
	cycle, step uint64   // of all turns
}

// Speed is how fast a pair of units is, beside the generators.
type Speed uint8

const (
	Slow   Speed = iota // to compute a dot product can take longer than to design it
	Fast                // both sides compute as fast as simulators
	Device              // at least one is many times as fast as that
)

// rules are what depends on the speed. All but slow pairs take variations.
var rules = [...]struct {
	opening  uint64 // turns in which sources are taken as they are
	around   int    // version
	designed int    // by how much fewer dot products a turn has whose inputs are designed one by one
	sampled  int    // the same where every element is drawn from a distribution
	raw      int    // by how much more turns raw bits have, which cost next to nothing
}{
	Slow:   {opening: 160, designed: 1, sampled: 1, raw: 1},
	Fast:   {opening: 160, around: 1, designed: 16, sampled: 1, raw: 1},
	Device: {opening: 96, around: 2, designed: 64, sampled: 2, raw: 12},
}

// ScheduleVersion changes whenever a Schedule gives other turns than before.
const ScheduleVersion = 4

const designedIn = 4 // after the opening, one cycle in so many has no variations

// NewSchedule returns the schedule of some sources for pairs of a speed. Turns do not depend
// on formats, so that the pairs of a campaign proceed evenly.
func NewSchedule(sources []Source, speed Speed) *Schedule {
	rule := &rules[speed]
	s := &Schedule{opening: rule.opening}
	for _, src := range sources {
		g := src.Generator
		e := scheduled{source: src, name: src.String(), cost: 1}
		turns := uint64(g.Weight)
		switch {
		case g.dot != nil:
			e.cost = rule.designed
			if rule.around == 0 || g.rare {
				break
			}
			if around, ok := src.aroundBy(rule.around); ok {
				e.around, e.nameAll = around, around.String()
			}
		case g.bits:
			turns *= uint64(rule.raw)
		default:
			e.cost = rule.sampled
		}
		s.sources = append(s.sources, e)
		s.first.add(uint64(g.Weight))
		s.later.add(turns)
	}
	s.first.spread()
	s.later.spread()
	return s
}

func (r *rota) add(turns uint64) {
	r.turns = append(r.turns, turns)
	r.cycle += turns
}

// spread chooses the step through the cycle: about its golden section, so that neighbours
// differ.
func (r *rota) spread() {
	r.step = max(r.cycle*5/8, 1)
	for gcd(r.step, r.cycle) > 1 {
		r.step++
	}
}

// Turn returns the source of a turn, its name, and how many of n dot products it makes:
// about, since it makes whole tiles. next is how many each source has made so far, by name.
// Without sources it returns false.
func (s *Schedule) Turn(turn uint64, n int, next map[string]uint64) (source Source, name string, dots int, ok bool) {
	if len(s.sources) == 0 {
		return Source{}, "", 0, false
	}
	r := &s.later
	if turn < s.opening {
		r = &s.first
	}
	e := &s.sources[r.at(turn)]
	source, name = e.source, e.name
	switch designed := turn/r.cycle%designedIn == 0; {
	case turn < s.opening:
	case e.nameAll != "" && !designed:
		source, name = e.around, e.nameAll
	case next[name] >= source.Generator.Once:
		n = max(n/e.cost, 1)
	}
	tile := source.Generator.M * source.Generator.N
	return source, name, max(n/tile, 1) * tile, true
}

// at returns the number of the source whose turn it is.
func (r *rota) at(turn uint64) int {
	at := turn % r.cycle * r.step % r.cycle
	for i, n := range r.turns {
		if at < n {
			return i
		}
		at -= n
	}
	return 0
}
