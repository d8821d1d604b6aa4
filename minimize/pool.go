package minimize

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// maxPoolBytes is the largest size of the candidates in a pool.
const maxPoolBytes = 256 << 20

// pool collects the candidates of a round: those simpler than the best that no round has proposed
// before. One that was proposed before is not simpler, or it is known not to be in the bucket.
type pool struct {
	*asker
	ctx  context.Context // when it ends, no more are collected
	best *candidate
	list []*candidate
	size int  // candidates that were ever in the list
	full bool // there would have been more than maxPoolBytes
}

// arena is memory for what is dropped together.
type arena[T any] struct {
	all  []T
	used int
}

// take returns n values, of any content.
func (a *arena[T]) take(n int) []T {
	const together = 64
	if a.used+n > len(a.all) {
		a.all, a.used = make([]T, max(together*n, min(2*len(a.all), 1<<16))), 0
	}
	a.used += n
	return a.all[a.used-n : a.used : a.used]
}

// closed reports whether the pool takes no more candidates.
func (p *pool) closed() bool { return p.full || p.ctx.Err() != nil }

// has reports whether a candidate was proposed before, and notes that it is proposed now.
func (p *pool) has(x id) bool {
	before := len(p.seen)
	if p.seen[x] = true; len(p.seen) > before {
		return false
	}
	p.hits++
	return true
}

// add takes a copy of a candidate that is new to the pool, if it is simpler than the best.
func (p *pool) add(v vector, key key, x id) {
	c := candidate{v, key, x}
	if c.compare(p.best) >= 0 {
		return
	}
	if (p.size+1)*p.bytes() > maxPoolBytes {
		p.full = true
		delete(p.seen, x)
		return
	}
	p.size++
	c.v = p.vectors.take(len(v))
	copy(c.v, v)
	kept := &p.candidates.take(1)[0]
	*kept = c
	p.list = append(p.list, kept)
}

// take empties the pool and returns what was in it, the simplest first.
func (p *pool) take() []*candidate {
	list := p.list
	p.list = nil
	slices.SortFunc(list, (*candidate).compare)
	return list
}

// proposals is what passes work on: the best dot product so far, and the pool that
// takes its simpler variants.
type proposals struct {
	*pool
	base   vector   // of the best, unless on has made another one of it
	id     id       // of base
	x      []number // what base stands for
	terms  []int    // positions of products of which a factor is not +0
	values []int    // elements that are not zero; scales only if they are not 1
	groups [][]int  // values of one magnitude, in order of their first
	edited vector   // scratch of try
	reread []number // is x between two calls of try
	edits  []int    // the elements that the last call of try has changed
	same   [][]int  // see alike
	all    [][]int  // see sets
}

func newProposals(pool *pool) *proposals {
	p := (&proposals{pool: pool}).on(pool.best.v)
	p.id = pool.best.id
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

// on returns proposals of the same pool that edit another vector.
func (p *proposals) on(base vector) *proposals {
	x := p.numbers(base)
	return &proposals{pool: p.pool, base: base, id: p.idOf(base), x: x, terms: p.occupied(base), edited: make(vector, len(base)), reread: slices.Clone(x)}
}

// try proposes an edited copy of the base, unless edit returns false.
func (p *proposals) try(edit func(v vector) bool) {
	if p.closed() {
		return
	}
	copy(p.edited, p.base)
	if !edit(p.edited) {
		return
	}
	x := p.id
	p.edits = p.edits[:0]
	for i, code := range p.edited {
		if code != p.base[i] {
			p.edits = append(p.edits, i)
			x = x.with(i, p.base[i]).with(i, code)
		}
	}
	if len(p.edits) == 0 || p.has(x) {
		return
	}
	for _, i := range p.edits {
		p.reread[i] = p.number(p.edited, i)
	}
	p.add(p.edited, p.key(p.edited, p.reread), x)
	for _, i := range p.edits {
		p.reread[i] = p.x[i]
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
	if p.same == nil {
		p.same = slices.Clone(p.groups)
		for n := range p.values {
			p.same = append(p.same, p.values[n:n+1])
		}
	}
	return p.same
}

// sets returns the sets of values that are changed together: everything, all
// factors, those of a and of b, and those of alike.
func (p *proposals) sets() [][]int {
	if p.all != nil {
		return p.all
	}
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
	p.all = append([][]int{p.values, factors, as, bs}, p.alike()...)
	return p.all
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
