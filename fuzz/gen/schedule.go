package gen

// Schedule decides whose turn it is: each source has Weight turns in a cycle, spread out. A
// fast pair of units takes variations of most sources from some turn on, since designing an
// input takes many times as long as computing it. From then on a turn takes about as long
// for every source, whatever its inputs cost.
type Schedule struct {
	sources []scheduled
	cycle   uint64 // turns
	step    uint64
}

type scheduled struct {
	source    Source
	name      string
	around    Source // its variations; the zero Source: none
	nameAll   string // of around
	expensive bool   // to make, on a fast pair
}

// ScheduleVersion changes whenever a Schedule gives other turns than before.
const ScheduleVersion = 3

const (
	openingTurns = 160 // in which every pair takes sources as they are
	designedIn   = 4   // after these, one cycle in so many has no variations
	designedCost = 16  // in such a cycle, by how much an expensive source makes fewer dot products
)

// NewSchedule returns the schedule of some sources for pairs that are fast or not. Turns
// do not depend on formats, so that the pairs of a campaign proceed evenly.
func NewSchedule(sources []Source, fast bool) *Schedule {
	s := &Schedule{}
	for _, src := range sources {
		e := scheduled{source: src, name: src.String()}
		if around, ok := src.Around(); fast && ok && !src.Generator.rare {
			e.around, e.nameAll = around, around.String()
		}
		e.expensive = fast && src.Generator.dot != nil
		s.sources = append(s.sources, e)
		s.cycle += uint64(src.Generator.Weight)
	}
	// Step through the cycle by about its golden section, so that neighbours differ.
	s.step = max(s.cycle*5/8, 1)
	for gcd(s.step, s.cycle) > 1 {
		s.step++
	}
	return s
}

// Turn returns the source of a turn, its name, and how many of n dot products it makes:
// about, since it makes whole tiles. next is how many each source has made so far, by name.
// Without sources it returns false.
func (s *Schedule) Turn(turn uint64, n int, next map[string]uint64) (source Source, name string, dots int, ok bool) {
	if len(s.sources) == 0 {
		return Source{}, "", 0, false
	}
	e := s.at(turn)
	source, name = e.source, e.name
	switch designed := turn/s.cycle%designedIn == 0; {
	case turn < openingTurns:
	case e.nameAll != "" && !designed:
		source, name = e.around, e.nameAll
	case e.expensive && next[name] >= source.Generator.Once:
		n = max(n/designedCost, 1)
	}
	tile := source.Generator.M * source.Generator.N
	return source, name, max(n/tile, 1) * tile, true
}

// at returns whose turn it is.
func (s *Schedule) at(turn uint64) *scheduled {
	at := int(turn % s.cycle * s.step % s.cycle)
	for i := range s.sources {
		if at -= s.sources[i].source.Generator.Weight; at < 0 {
			return &s.sources[i]
		}
	}
	return &s.sources[0]
}
