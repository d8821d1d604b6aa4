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
	"wrap":     {"the sum of products %d and %d wraps around in 16 bits", func(s int64) int64 { return narrowTo(s, 16) }},
	"saturate": {"the sum of products %d and %d saturates in 16 bits", func(s int64) int64 { return saturateTo(s, 16) }},
}

// grouped are what an adder of n bits makes of the sum of each group of products of integers that follow
// one another.
var grouped = map[string]struct {
	text string // of the products, n
	do   func(s int64, n int64) int64
}{
	"wraps":     {"the sum of %s wraps around in %d bits", narrowTo},
	"unsigned":  {"the sum of %s is taken for an unsigned number of %d bits", func(s, n int64) int64 { return s & (1<<n - 1) }},
	"saturates": {"the sum of %s saturates in %d bits", saturateTo},
}

// group is how many products there are in a group, and the bits of their adder.
func (e *Effect) group() (size int, bits int64) { i, j := e.pair(); return i, int64(j) }

// pairs reports whether an effect can be on sums of products of some formats.
func (e *Effect) pairs(f mma.Formats, k int) bool {
	i, j := e.pair()
	if grouped[e.Do].do != nil {
		return e.N >= 0 && i > 1 && i <= k && j > 1 && j < 64 && f.A.Get().Integer() && f.B.Get().Integer()
	}
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
	for size := 2; size <= s.u.K; size *= 2 {
		for n := int64(2*max(s.f.A.Get().CodeBits(), s.f.B.Get().CodeBits())) + 12; n > 7; n-- {
			for _, do := range []string{"wraps", "saturates", "unsigned"} {
				all = append(all, Effect{On: OnPair, Do: do, N: int64(size)<<swapBits | n})
			}
		}
	}
	return all
}

// group is the result where the products of each group are added so.
func (r *runner) group(v *view) (uint64, bool) {
	size, n := r.effect.group()
	others := map[place]int64{} // what is added to one product of a group
	for from := 0; from < len(v.dot.A); from += size {
		sum, some := int64(0), -1
		for k := from; k < min(from+size, len(v.dot.A)); k++ {
			p := r.integer(v.dot, k)
			if sum += p; p != 0 {
				some = k
			}
		}
		more := grouped[r.effect.Do].do(sum, n) - sum
		if more == 0 {
			continue
		}
		places := r.productPlaces(v)[some]
		if len(places) != 1 {
			return v.right, false
		}
		others[places[0]] = r.integer(v.dot, some) + more
	}
	if len(others) == 0 {
		return v.right, false
	}
	return r.withIntegers(v.dot, others), true
}

// integer is a product of integers.
func (w *viewer) integer(d *mma.Dot, k int) int64 {
	return int64(w.f.A.Get().Float64(d.A[k]) * w.f.B.Get().Float64(d.B[k]))
}

// withIntegers is the result where some terms are other integers.
func (w *viewer) withIntegers(d *mma.Dot, others map[place]int64) uint64 {
	return w.m.DotChanged(d, sim.Change{Term: func(sum, term int, t fp.Dyadic, _ int32) fp.Dyadic {
		if x, ok := others[place{sum, term}]; ok {
			return fp.Dyadic{Neg: x < 0, Lo: uint64(max(x, -x))}
		}
		return t
	}})
}

// pair is the result where two products are added so. It reports whether that is another sum.
func (r *runner) pair(v *view) (uint64, bool) {
	if grouped[r.effect.Do].do != nil {
		return r.group(v)
	}
	i, j := r.effect.pair()
	x, y := r.integer(v.dot, i), r.integer(v.dot, j)
	if x == 0 { // of which there is no term
		i, x, y = j, y, x
	}
	other := x + paired[r.effect.Do].do(x+y) - (x + y)
	changed := r.productPlaces(v)[i]
	if other == x || len(changed) != 1 {
		return v.right, false
	}
	return r.withIntegers(v.dot, map[place]int64{changed[0]: other}), true
}

func (e *Effect) pairText() string {
	if x := grouped[e.Do]; x.do != nil {
		size, n := e.group()
		return fmt.Sprintf(x.text, fmt.Sprintf("each group of %d products", size), n)
	}
	i, j := e.pair()
	return fmt.Sprintf(paired[e.Do].text, i, j)
}
