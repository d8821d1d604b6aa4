package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// neighbours adds lanes to their neighbours until one is left.
func neighbours(s []float32) float32 {
	for len(s) > 1 {
		for i := range len(s) / 2 {
			s[i] = s[2*i] + s[2*i+1]
		}
		s = s[:len(s)/2]
	}
	return s[0]
}

// raggeds are kernels of eight lanes, that differ in what they do with the products of K mod 8, the rest.
// Each is given how products are added and lanes are joined.
var raggeds = []struct {
	name string
	f    func(e element, add adder, join func([]float32) float32) float32
}{
	{"the rest in the first lanes", func(e element, add adder, join func([]float32) float32) float32 {
		return join(e.lanes(add, 8, len(e.a)))
	}},
	{"the rest in the first lane", func(e element, add adder, join func([]float32) float32) float32 {
		s := e.lanes(add, 8, len(e.a)&^7)
		s[0] = e.ordered(add, s[0], e.rest()...)
		return join(s)
	}},
	{"the rest in the last lane", func(e element, add adder, join func([]float32) float32) float32 {
		s := e.lanes(add, 8, len(e.a)&^7)
		s[7] = e.ordered(add, s[7], e.rest()...)
		return join(s)
	}},
	{"the rest in the last lanes", func(e element, add adder, join func([]float32) float32) float32 {
		s := e.lanes(add, 8, len(e.a)&^7)
		for i, k := range e.rest() {
			l := 8 - len(e.rest()) + i
			s[l] = add(e.a[k], e.b[k], s[l])
		}
		return join(s)
	}},
	{"the rest after the lanes are joined", func(e element, add adder, join func([]float32) float32) float32 {
		return e.ordered(add, join(e.lanes(add, 8, len(e.a)&^7)), e.rest()...)
	}},
	{"the rest after the lanes are joined, last first", func(e element, add adder, join func([]float32) float32) float32 {
		ks := e.rest()
		slices.Reverse(ks)
		return e.ordered(add, join(e.lanes(add, 8, len(e.a)&^7)), ks...)
	}},
	{"the rest as a sum of its own", func(e element, add adder, join func([]float32) float32) float32 {
		return join(e.lanes(add, 8, len(e.a)&^7)) + e.ordered(add, 0, e.rest()...)
	}},
	{"the sum of the rest to the first lane", func(e element, add adder, join func([]float32) float32) float32 {
		s := e.lanes(add, 8, len(e.a)&^7)
		s[0] += e.ordered(add, 0, e.rest()...)
		return join(s)
	}},
	{"the sum of the rest to the last lane", func(e element, add adder, join func([]float32) float32) float32 {
		s := e.lanes(add, 8, len(e.a)&^7)
		s[7] += e.ordered(add, 0, e.rest()...)
		return join(s)
	}},
	{"the rest as a vector of its own", func(e element, add adder, join func([]float32) float32) float32 {
		r := make([]float32, 8)
		for i, k := range e.rest() {
			r[i] = add(e.a[k], e.b[k], 0)
		}
		return join(e.lanes(add, 8, len(e.a)&^7)) + join(r)
	}},
	{"the sum of the rest, and then each lane", func(e element, add adder, _ func([]float32) float32) float32 {
		return inOrder(append([]float32{e.ordered(add, 0, e.rest()...)}, e.lanes(add, 8, len(e.a)&^7)...))
	}},
	{"the rest, which is first, as a sum of its own", func(e element, add adder, join func([]float32) float32) float32 {
		r := len(e.a) % 8
		return e.ordered(add, 0, stride(0, r, 1)...) + join(e.from(r).lanes(add, 8, len(e.a)-r))
	}},
	{"the rest, which is first, in the first lane", func(e element, add adder, join func([]float32) float32) float32 {
		r := len(e.a) % 8
		return join(e.from(r).more(add, []float32{e.ordered(add, 0, stride(0, r, 1)...), 0, 0, 0, 0, 0, 0, 0}))
	}},
	{"the rest, which is first, in the first lanes", func(e element, add adder, join func([]float32) float32) float32 {
		r, s := len(e.a)%8, make([]float32, 8)
		for i := range r {
			s[i] = add(e.a[i], e.b[i], 0)
		}
		return join(e.from(r).more(add, s))
	}},
	{"the rest, which is first, in the last lanes", func(e element, add adder, join func([]float32) float32) float32 {
		r, s := len(e.a)%8, make([]float32, 8)
		for i := range r {
			s[8-r+i] = add(e.a[i], e.b[i], 0)
		}
		return join(e.from(r).more(add, s))
	}},
	{"the rest, which is first, and then each lane", func(e element, add adder, _ func([]float32) float32) float32 {
		r := len(e.a) % 8
		return inOrder(append([]float32{e.ordered(add, 0, stride(0, r, 1)...)}, e.from(r).lanes(add, 8, len(e.a)-r)...))
	}},
	{"the rest, which is first in memory, after the lanes are joined", func(e element, add adder, join func([]float32) float32) float32 {
		r := len(e.a) % 8
		return e.ordered(add, join(e.from(r).lanes(add, 8, len(e.a)-r)), stride(0, r, 1)...)
	}},
}

// rest returns the last K mod 8.
func (e element) rest() []int { return stride(len(e.a)&^7, len(e.a), 1) }

// from is an element without its first products.
func (e element) from(k int) element { e.a, e.b = e.a[k:], e.b[k:]; return e }

// more adds all products to the sums of lanes.
func (e element) more(add adder, s []float32) []float32 {
	for k := range e.a {
		l := k % len(s)
		s[l] = add(e.a[k], e.b[k], s[l])
	}
	return s
}

// TestRagged infers the kernels of raggeds.
func TestRagged(t *testing.T) {
	joins := []func([]float32) float32{butterfly, inOrder, neighbours}
	for n, tc := range raggeds {
		for i, k := range []int{9, 13, 31, 100} {
			for j := range 6 {
				if v := 24*n + 6*i + j; v%tier.Of(211, 211, 25, 1) != 0 {
					continue
				}
				add := []adder{fma, mulAdd}[j/3]
				t.Run(fmt.Sprintf("%s/%d/%s,%s", tc.name, k, []string{"halves", "forward", "neighbours"}[j%3], []string{"fma", "mul-add"}[j/3]), func(t *testing.T) {
					findsHandwritten(t, func(e element) float32 { return tc.f(e, add, joins[j%3]) }, schedule.Shape{M: 2, N: 2, K: k})
				})
			}
		}
	}
}
