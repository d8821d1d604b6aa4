package kernel

import (
	"fmt"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// numpySum adds rounded products as numpy.sum does: up to seven one after the other, up to 128 in eight
// lanes and those left over to their sum, and more in two halves, the first of a multiple of eight.
func numpySum(p []float32) float32 {
	switch n := len(p); {
	case n < 8:
		return inOrder(append([]float32{negZero()}, p...))
	case n <= 128:
		m := n &^ 7
		var r [8]float32
		copy(r[:], p)
		for k := 8; k < m; k++ {
			r[k%8] += p[k]
		}
		s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
		for _, x := range p[m:] {
			s += x
		}
		return s
	default:
		half := n / 2 &^ 7
		return numpySum(p[:half]) + numpySum(p[half:])
	}
}

func (e element) products() []float32 {
	p := make([]float32, len(e.a))
	for k := range p {
		p[k] = e.a[k] * e.b[k]
	}
	return p
}

// TestSameValues compares plans of four blocks: added as pairs they are halves of halves, whichever is added
// first.
func TestSameValues(t *testing.T) {
	plan := func(cut, order string) []schedule.Op {
		k := read(t, `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [{"cut": {"by": "`+cut+`", "n": 4}, "merge": {"order": "`+order+`"}}]}]}`)
		return (&loop{box: &box{Shape: schedule.Shape{K: 16}}}).plan(k)
	}
	pairs := plan("size", "neighbours")
	for order, want := range map[string]bool{"pairwise": true, "neighbours": true, "halves": false, "forward": false} {
		if got := sameValues(pairs, plan("pairwise", order)); got != want {
			t.Errorf("%s: %v", order, got)
		}
	}
}

// TestPairwise infers the sum of NumPy for many K.
func TestPairwise(t *testing.T) {
	for _, k := range []int{7, 300, 64, 100, 1000, 4096, 129, 777}[:tier.Of(2, 2, 4, 8)] {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			findsHandwritten(t, func(e element) float32 { return numpySum(e.products()) }, schedule.Shape{M: 2, N: 2, K: k})
		})
	}
}

// findsHandwritten infers the kernel of a function, and compares what is found with it.
func findsHandwritten(t *testing.T, f func(element) float32, s schedule.Shape) *Result {
	t.Helper()
	h := newHandwritten(f, s)
	r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: tier.Of(5_000, 5_000, 100_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s %s", r.Verdict, r.Why, text(r.Kernel))
	if r.Verdict != Found {
		t.Errorf("%s: %s", r.Verdict, r.Why)
		return r
	}
	holds(t, h, r.Kernel, s)
	return r
}
