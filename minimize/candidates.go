package minimize

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// proposals collects the candidates that passes make from the best dot product
// so far: only simpler ones, and each once.
type proposals struct {
	*layout
	base   candidate
	limit  candidate
	terms  []int   // positions of products of which a factor is not +0
	values []int   // elements that are not zero; scales only if they are not 1.0
	groups [][]int // values of one magnitude, in order of their first
	list   []candidate
	seen   map[string]bool
	edited vector
}

func newProposals(l *layout, base candidate) *proposals {
	p := &proposals{layout: l, base: base, limit: base, seen: map[string]bool{}, edited: make(vector, len(base.v))}
	p.terms = l.occupied(base.v)
	index := map[uint64]int{}
	for i, code := range base.v {
		x := number{}
		if code != l.plain[i] {
			x = l.number(base.v, i)
		}
		if x.class == fp.Zero {
			continue
		}
		p.values = append(p.values, i)
		g, ok := index[x.magnitude()]
		if !ok {
			g = len(p.groups)
			index[x.magnitude()] = g
			p.groups = append(p.groups, nil)
		}
		p.groups[g] = append(p.groups[g], i)
	}
	return p
}

// try edits a copy of the base and keeps it if edit returns true and it is
// simpler.
func (p *proposals) try(edit func(v vector) bool) {
	copy(p.edited, p.base.v)
	if edit(p.edited) && !slices.Equal(p.edited, p.base.v) {
		p.add(p.candidate(p.edited))
	}
}

func (p *proposals) add(c candidate) {
	if c.compare(p.limit) >= 0 {
		return
	}
	if c.id = p.id(c.v); !p.seen[c.id] {
		p.seen[c.id] = true
		c.v = slices.Clone(c.v)
		p.list = append(p.list, c)
	}
}

// take returns what was collected, in the order of candidates.
func (p *proposals) take() []candidate {
	list := p.list
	p.list = nil
	slices.SortFunc(list, candidate.compare)
	return list
}
