package probe

import (
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// above reports whether the result of x is a larger number than that of y.
func (p *Prober) above(x, y Seen) bool {
	_, okA := p.result(x)
	_, okB := p.result(y)
	return okA && okB && p.d.Float64(x.Got) > p.d.Float64(y.Got)
}

// steps looks for products beside which c = 1 gives a smaller result than the number below 1, or c =
// -1 one than the number above: a sum is cut at c's exponent, which changes there. The products are
// a few units of where results end or less. It returns the two results, and how many sums were
// asked for.
func (p *Prober) steps() (found []Seen, asked int) {
	if p.c == nil {
		return nil, 0
	}
	r := rand.New(rand.NewPCG(3, 4))
	lowest := p.ulp() - 6
	if w := p.productWidth(); w.ok && !w.all {
		lowest = min(lowest, -w.bits-3)
	}
	digits := int(p.c.FracBits) + 1
	var dots []*mma.Dot
	for range 1000 {
		neg := r.IntN(2) == 1
		t := terms{}
		base := p.ulp() - 2 - r.IntN(p.ulp()-1-lowest)
		for k := range p.k {
			if r.IntN(8) != 0 {
				t[k] = times(uint64(1+r.IntN(3)), base+r.IntN(2)).signed(neg)
			}
		}
		t[p.k] = pow(0).signed(neg)
		one, ok := p.dot(t)
		t[p.k] = times(1<<digits-1, -digits).signed(neg)
		near, okNear := p.dot(t)
		switch {
		case !ok || !okNear:
		case neg:
			dots = append(dots, one, near)
		default:
			dots = append(dots, near, one)
		}
	}
	seen := p.ask(dots...)
	for i := 0; i < len(seen); i += 2 {
		if p.above(seen[i], seen[i+1]) {
			return seen[i : i+2], len(seen)
		}
	}
	return nil, len(seen)
}
