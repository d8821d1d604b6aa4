package defect

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// paired are what an adder of 16 bits makes of the sum of two products of integers, as instructions
// do that multiply pairs of bytes.
var paired = map[string]struct {
	text string // of two products
	do   func(s int64) int64
}{
	"wrap":     {"the sum of products %d and %d wraps around in 16 bits", func(s int64) int64 { return int64(int16(s)) }},
	"saturate": {"the sum of products %d and %d saturates in 16 bits", func(s int64) int64 { return min(max(s, -1<<15), 1<<15-1) }},
}

// pairs reports whether an effect can be on sums of two products of some formats.
func (e *Effect) pairs(f mma.Formats, k int) bool {
	i, j := e.pair()
	return paired[e.Do].do != nil && e.N >= 0 && i < j && j < k && f.A.Get().Integer() && f.B.Get().Integer()
}

// pairEffects are sums of two products in 16 bits.
func (s *search) pairEffects() (all []Effect) {
	if !s.f.A.Get().Integer() || !s.f.B.Get().Integer() {
		return nil
	}
	for i := range min(s.u.K, mostLanes) {
		for _, j := range []int{i ^ 1, i ^ 2, i ^ 4, i ^ 8, i + s.u.K/2} {
			if j <= i || j >= s.u.K {
				continue
			}
			for _, do := range []string{"wrap", "saturate"} {
				all = append(all, Effect{On: OnPair, Do: do, N: int64(i)<<swapBits | int64(j)})
			}
		}
	}
	return all
}

// pair is the result where two products are added so. It reports whether that is another sum.
func (r *runner) pair(v *view) (uint64, bool) {
	i, j := r.effect.pair()
	product := func(k int) int64 {
		return int64(r.f.A.Get().Float64(v.dot.A[k]) * r.f.B.Get().Float64(v.dot.B[k]))
	}
	x, y := product(i), product(j)
	if x == 0 { // of which there is no term
		i, x, y = j, y, x
	}
	x += paired[r.effect.Do].do(x+y) - (x + y)
	changed := r.productPlaces(v)[i]
	if x == product(i) || len(changed) != 1 {
		return v.right, false
	}
	return r.m.DotChanged(v.dot, sim.Change{Term: func(sum, term int, t fp.Dyadic, _ int32) fp.Dyadic {
		if changed[0] != (place{sum, term}) {
			return t
		}
		return fp.Dyadic{Neg: x < 0, Lo: uint64(max(x, -x))}
	}}), true
}

func (e *Effect) pairText() string {
	i, j := e.pair()
	return fmt.Sprintf(paired[e.Do].text, i, j)
}
