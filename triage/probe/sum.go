package probe

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// width is the number of bits to which something is kept, with the inputs that
// show it: the last that is kept and the first that is not.
type width struct {
	bits int
	all  bool // everything that the formats can show is kept
	why  string
	ok   bool
	seen []Seen
}

// cutWidth finds the bits below a large term to which a small one is kept in the
// sum of both and of the large one's opposite: with U at i, -U at j and e at k the
// result is e as long as e is not below the cut (FusedSum(U, -U, e), step 3).
// large is U, of nominal exponent 0.
func (p *Prober) cutWidth(i, j, k int, large number) width {
	at := p.scaleFor(k)
	var dots []*mma.Dot
	var small []number
	for s := 0; s < 140; s++ {
		e := pow(at - s)
		d, ok := p.dot(map[int]number{i: large.scaled(at), j: large.minus().scaled(at), k: e})
		if !ok || at-s < p.least() {
			break
		}
		dots, small = append(dots, d), append(small, e)
	}
	if len(dots) == 0 {
		return width{why: "no such numbers in these formats"}
	}
	return p.last(p.ask(dots...), small)
}

// last returns how many results in a row, from the first, are what they should
// be.
func (p *Prober) last(seen []Seen, want []number) width {
	for s := range seen {
		if !p.is(seen[s], want[s]) {
			if s == 0 {
				return width{why: "not even the first term is kept", seen: seen[:1]}
			}
			return width{bits: s - 1, ok: true, seen: []Seen{seen[s-1], seen[s]}}
		}
	}
	return width{bits: len(seen) - 1, all: true, ok: true, seen: seen[len(seen)-1:]}
}

// least is the exponent of d's smallest number.
func (p *Prober) least() int { return int(p.d.Emin()) - int(p.d.FracBits) }

// scaleFor returns the exponent of U in cutWidth: as high as products go, up to
// one that leaves the small term a long way down. It is 0 for formats so narrow
// that only c reaches below a cut: their sums may be fixed point, and their cut is
// counted from 1.
func (p *Prober) scaleFor(k int) int {
	lo, hi := p.reach(false)
	if hi-lo < 16 {
		return 0
	}
	hi = min(hi, int(p.a.Emax())+int(p.b.Emax())-2)
	if k == p.k && p.c != nil {
		hi = min(hi, int(p.c.Emax())-2)
	}
	return min(hi, 60)
}

// String writes "24", "at least 58" or "-".
func (w width) String() string {
	switch {
	case !w.ok:
		return "-"
	case w.all:
		return fmt.Sprintf("at least %d", w.bits)
	}
	return fmt.Sprint(w.bits)
}

// rule is a rounding direction as outcomes: whether a magnitude of quarters q
// between base and base+1 goes up, for an even and an odd base and both signs.
type rule struct {
	name string
	up   func(q int, odd, neg bool) bool
}

// rules are the directions of arXiv:2511.10909, section 3.1.3, and round to odd.
var rules = []rule{
	{"RZ", func(int, bool, bool) bool { return false }},
	{"RNE", func(q int, odd, _ bool) bool { return q > 2 || q == 2 && odd }},
	{"RD", func(_ int, _, neg bool) bool { return neg }},
	{"RU", func(_ int, _, neg bool) bool { return !neg }},
	{"RNA", func(q int, _, _ bool) bool { return q >= 2 }},
	{"RNZ", func(q int, _, _ bool) bool { return q > 2 }},
	{"RND", func(q int, _, neg bool) bool { return q > 2 || q == 2 && neg }},
	{"RNU", func(q int, _, neg bool) bool { return q > 2 || q == 2 && !neg }},
	{"RNO", func(q int, odd, _ bool) bool { return q > 2 || q == 2 && !odd }},
	{"RTO", func(_ int, odd, _ bool) bool { return !odd }},
	{"RA", func(int, bool, bool) bool { return true }},
}

// trial is an input of a rounding test: a sum of (base+q/4) units, negated if neg.
// want gives the result for n units.
type trial struct {
	q        int
	odd, neg bool
	dot      *mma.Dot
	want     func(n uint64) number
}

// direction finds the rounding direction that explains trials of build, which
// returns the terms of a sum of quarters/4 units and what n whole units give.
func (p *Prober) direction(build func(quarters uint64, neg bool) (terms map[int]number, want func(n uint64) number)) finding {
	var trials []trial
	for _, base := range []uint64{0, 1} {
		for q := 1; q <= 3; q++ {
			for _, neg := range []bool{false, true} {
				terms, want := build(4*base+uint64(q), neg)
				d, ok := p.dot(terms)
				if !ok {
					return undecided("the formats have no sum that ends within a quarter of the last bit")
				}
				trials = append(trials, trial{q, base == 1, neg, d, want})
			}
		}
	}
	dots := dotsOf(trials)
	return p.explainTrials(trials, p.ask(dots...))
}

func dotsOf(trials []trial) []*mma.Dot {
	dots := make([]*mma.Dot, len(trials))
	for i, t := range trials {
		dots[i] = t.dot
	}
	return dots
}

// explainTrials returns the one rule that all results obey.
func (p *Prober) explainTrials(trials []trial, seen []Seen) finding {
	ups := make([]bool, len(trials))
	for i, t := range trials {
		base := uint64(0)
		if t.odd {
			base = 1
		}
		switch {
		case p.is(seen[i], t.want(base)):
		case p.is(seen[i], t.want(base+1)):
			ups[i] = true
		default:
			return finding{value: "other", why: "a result is neither neighbour", seen: seen[i : i+1]}
		}
	}
	for _, r := range rules {
		fits := true
		for i, t := range trials {
			fits = fits && r.up(t.q, t.odd, t.neg) == ups[i]
		}
		if fits {
			return finding{value: r.name, seen: seen}
		}
	}
	return finding{value: "other", why: "what is rounded up: " + raised(trials, ups), seen: seen}
}

// raised lists the trials whose magnitude was rounded up, in quarters of a unit.
func raised(trials []trial, ups []bool) string {
	var words []string
	for i, t := range trials {
		if !ups[i] {
			continue
		}
		q := t.q
		if t.odd {
			q += 4
		}
		sign := "+"
		if t.neg {
			sign = "-"
		}
		words = append(words, fmt.Sprintf("%s%d/4", sign, q))
	}
	return strings.Join(words, " ")
}
