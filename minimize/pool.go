package minimize

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// maxPoolBytes is the largest size of the candidates in a pool.
const maxPoolBytes = 256 << 20

// pool collects the candidates of a round: those simpler than the best, each
// once.
type pool struct {
	*layout
	ctx   context.Context // when it ends, no more are collected
	best  candidate
	known map[string]string // answers by id
	seen  map[string]bool
	list  []candidate
	fresh int  // candidates in the list that the test has not seen
	full  bool // there would have been more than maxPoolBytes
}

// closed reports whether the pool takes no more candidates.
func (p *pool) closed() bool { return p.full || p.ctx.Err() != nil }

func (p *pool) add(c candidate) {
	if c.compare(p.best) >= 0 {
		return
	}
	id := p.bytesOf(c.v)
	if p.seen[string(id)] { // without an allocation
		return
	}
	if (len(p.seen)+1)*p.bytes() > maxPoolBytes {
		p.full = true
		return
	}
	c.id = string(id)
	p.seen[c.id] = true
	if _, ok := p.known[c.id]; !ok {
		p.fresh++
	}
	c.v = slices.Clone(c.v)
	p.list = append(p.list, c)
}

// take empties the pool and returns what was in it, the simplest first.
func (p *pool) take() []candidate {
	list := p.list
	p.list, p.fresh = nil, 0
	slices.SortFunc(list, candidate.compare)
	return list
}

// proposals is what passes work on: the best dot product so far, and the pool that
// takes its simpler variants.
type proposals struct {
	*pool
	base   vector   // of the best
	x      []number // what it stands for
	terms  []int    // positions of products of which a factor is not +0
	values []int    // elements that are not zero; scales only if they are not 1
	groups [][]int  // values of one magnitude, in order of their first
	edited vector   // scratch of try
	reread []number // is x between two calls of try
}

func newProposals(pool *pool) *proposals {
	base := pool.best.v
	p := &proposals{pool: pool, base: base, x: pool.numbers(base), terms: pool.occupied(base)}
	p.edited, p.reread = make(vector, len(p.base)), slices.Clone(p.x)
	group := map[uint64]int{}
	for i, code := range p.base {
		if code == p.plain[i] || p.x[i].class == fp.Zero {
			continue
		}
		p.values = append(p.values, i)
		g, ok := group[p.x[i].magnitude()]
		if !ok {
			g = len(p.groups)
			group[p.x[i].magnitude()] = g
			p.groups = append(p.groups, nil)
		}
		p.groups[g] = append(p.groups[g], i)
	}
	return p
}

// try proposes an edited copy of the base, unless edit returns false.
func (p *proposals) try(edit func(v vector) bool) {
	if p.closed() {
		return
	}
	copy(p.edited, p.base)
	if !edit(p.edited) || slices.Equal(p.edited, p.base) {
		return
	}
	for i, code := range p.edited {
		if code != p.base[i] {
			p.reread[i] = p.number(p.edited, i)
		}
	}
	p.add(candidate{v: p.edited, key: p.key(p.edited, p.reread)})
	for i, code := range p.edited {
		if code != p.base[i] {
			p.reread[i] = p.x[i]
		}
	}
}

// change is a change of a single value.
type change func(x number) number

// each proposes a change of all elements of a set. Those whose format lacks the
// new value keep the old one.
func (p *proposals) each(set []int, f change) {
	p.try(func(v vector) bool {
		for _, i := range set {
			p.set(v, i, f(p.x[i]))
		}
		return true
	})
}

// finite makes a change leave infinities, NaNs and zeros alone.
func finite(f change) change {
	return func(x number) number {
		if x.class == fp.Finite {
			x = f(x)
		}
		return x
	}
}

// to changes a value to y with the old sign.
func to(y number) change {
	return func(x number) number {
		y.neg = x.neg
		return y
	}
}

// alike returns the sets of values of one magnitude, and each value alone.
func (p *proposals) alike() [][]int {
	sets := slices.Clone(p.groups)
	for _, i := range p.values {
		sets = append(sets, []int{i})
	}
	return sets
}

// sets returns the sets of values that are changed together: everything, all
// factors, those of a and of b, and those of alike.
func (p *proposals) sets() [][]int {
	var factors, as, bs []int
	for _, i := range p.values {
		switch {
		case i >= p.c():
			continue
		case i%2 == 0:
			as = append(as, i)
		default:
			bs = append(bs, i)
		}
		factors = append(factors, i)
	}
	return append([][]int{p.values, factors, as, bs}, p.alike()...)
}

// few is the number of values up to which passes try much at once.
const few = 16

// steps returns distances 1..n to try on the way to a target n away, n first.
// With few values they are the 16 smallest and evenly spaced ones, so that two
// rounds find any threshold of up to 512; with many values n, n/2, ..., 1.
func (p *proposals) steps(n int) []int {
	const smallest, spaced = 16, 32
	stride := (n + spaced - 1) / spaced
	var list []int
	for d := n; d > 0; {
		list = append(list, d)
		switch {
		case len(p.values) > few:
			d /= 2
		case d > smallest:
			d = max(d-stride, smallest)
		default:
			d--
		}
	}
	return list
}
