package kernel

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Some products have results that are known without any model, because every partial sum of
// them is exact in every format that accumulators have: those of ones, and those of marks,
// which tell how often each of some k was summed.

// Lost says that a side did not sum every product once.
type Lost struct {
	Side string `json:"side"`
	K    int    `json:"k"`
	// Sum is a product of K ones: the products that were summed. 0, and Missing or Repeated: it
	// was seen by marks.
	Sum      float64 `json:"sum"`
	Missing  []int   `json:"missing,omitempty"`  // k that are not summed, ascending, of those that were marked
	Repeated []int   `json:"repeated,omitempty"` // k that are summed more than once
	Tail     bool    `json:"tail,omitempty"`     // all marked k after the first that is missing are
	From     int     `json:"from,omitempty"`     // the k after the last marked one that is summed once
}

const (
	mostOnes = 256 // BF16 has the whole numbers up to this
	markBits = 2   // of each mark: 0 to 3 times
	mostMark = 4   // marks of a row: sums have 8 bits, as many as BF16 has
)

// marks draws the marks of a row of A: by k, powers of 4, half of them near the end.
func marks(rng *rand.Rand, f *fp.Format, depth int) map[int]float64 {
	at := map[int]float64{}
	most := f.Float64(f.MaxFinite())
	for n := range mostMark {
		k := rng.IntN(depth)
		if n%2 == 0 {
			k = depth - 1 - rng.IntN(min(depth, 64))
		}
		if v := math.Ldexp(1, markBits*len(at)); at[k] == 0 && v <= most {
			at[k] = v
		}
	}
	return at
}

// count notes the first product of each kind of which a side did not sum every product once.
func (z *Fuzz) count(found *Found, p *drawn) {
	if p.a.ScaleA != nil || p.a.SA != nil {
		return
	}
	for i, s := range []*Side{z.A, z.B} {
		var l *Lost
		switch inputs[p.kind] {
		case "ones":
			l = z.ones(p, i)
		case "marks":
			l = z.marked(p, i)
		}
		if l == nil {
			continue
		}
		l.Side = s.Name
		switch n := slices.IndexFunc(found.Lost, func(o Lost) bool { return o.Side == s.Name && (o.Missing == nil) == (l.Missing == nil) }); {
		case n < 0:
			found.Lost = append(found.Lost, *l)
		case l.Missing != nil && l.K == found.Lost[n].K: // they mark other k
			found.Lost[n].join(l)
		case l.Missing != nil && l.Missing[0] > 0 && found.Lost[n].Missing[0] == 0: // it says more
			found.Lost[n] = *l
		}
	}
}

// ones counts the products of ones that side i summed.
func (z *Fuzz) ones(p *drawn, i int) *Lost {
	if p.a.K > mostOnes {
		return nil
	}
	f, w := p.id.Get(), p.id.Width()
	for n := range p.a.M * p.a.N {
		sum := f.Float64(mma.Load(p.d[i], w, n))
		if sum != float64(p.a.K) && sum == math.Trunc(sum) && sum >= 0 && !math.IsInf(sum, 1) {
			return &Lost{K: p.a.K, Sum: sum}
		}
	}
	return nil
}

// marked reads how often side i summed each k that is marked.
func (z *Fuzz) marked(p *drawn, i int) *Lost {
	l := &Lost{K: p.a.K}
	f, w := p.id.Get(), p.id.Width()
	a, wa := z.A.Unit.A.Get(), z.A.Unit.A.Width()
	for n := range p.a.M * p.a.N {
		sum := f.Float64(mma.Load(p.d[i], w, n))
		if sum != math.Trunc(sum) || sum < 0 || sum >= 1<<(markBits*mostMark) {
			return nil
		}
		row := n / p.a.N
		for k := range p.a.K {
			mark := a.Float64(mma.Load(p.a.A, wa, row*p.a.K+k))
			if mark == 0 {
				continue
			}
			switch int(sum/mark) % (1 << markBits) {
			case 0:
				l.Missing = append(l.Missing, k)
			case 1:
				l.From = max(l.From, k+1)
			default:
				l.Repeated = append(l.Repeated, k)
			}
		}
	}
	if l.Missing == nil && l.Repeated == nil {
		return nil
	}
	l.join(&Lost{})
	return l
}

// join adds what another product of the same K has shown.
func (l *Lost) join(o *Lost) {
	l.Missing, l.Repeated, l.From = append(l.Missing, o.Missing...), append(l.Repeated, o.Repeated...), max(l.From, o.From)
	for _, list := range []*[]int{&l.Missing, &l.Repeated} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	l.Tail = l.Repeated == nil && l.Missing[0] >= l.From
}
