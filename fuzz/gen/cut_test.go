package gen

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestCarry checks that cut makes sums of short products that have more bits than the results of
// most adders: products of E4M3 are cut at 17 bits below the largest, but the sum of 16 of them may
// grow by six bits, and then has 22 fraction bits.
func TestCarry(t *testing.T) {
	cut, err := Find("cut")
	if err != nil {
		t.Fatal(err)
	}
	f := fp.E4M3.Get()
	src := Source{Generator: cut, Args: []int{17, 21}}
	sp := Spec{mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}, 16}
	long := 0
	for n := range uint64(20_000) {
		d := src.Dot(sp, 1, n)
		sum, largest := 0.0, 0
		for k := range d.A {
			a, b := f.Decode(d.A[k]), f.Decode(d.B[k])
			if a.Class > fp.Finite || b.Class > fp.Finite {
				sum = math.NaN()
				break
			}
			x := value(f, a) * value(f, b) // exact, as their sum is, of at most 39 bits
			_, e := math.Frexp(x)
			sum, largest = sum+x, max(largest, e)
		}
		_, e := math.Frexp(sum)
		if x := math.Ldexp(sum, 22-e); sum == sum && x != math.Trunc(x) && e > largest+3 { // not a number of 22 bits
			long++
		}
	}
	if long < 50 { // without such sums: 0
		t.Errorf("%d of 20,000 sums carry and have their last bit set, want at least 50", long)
	}
}

// value returns a number of a short format.
func value(f *fp.Format, v fp.Num) float64 {
	x := f.Dyadic(v)
	y := math.Ldexp(float64(x.Lo), int(x.Q))
	if x.Neg {
		y = -y
	}
	return y
}

// TestFill checks that cut makes sums of few products that need all bits of the adder: four products
// of nearly 4 and c of 1 or more are 16 times the largest exponent or more, as no sum of the products
// alone.
func TestFill(t *testing.T) {
	cut, err := Find("cut")
	if err != nil {
		t.Fatal(err)
	}
	f, g := fp.FP16.Get(), fp.FP32.Get()
	for _, k := range []int{1, 4, 8} {
		src, full := Source{Generator: cut, Args: []int{24}}, map[bool]int{}
		for n := range uint64(20_000) {
			d := src.Dot(Spec{mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, k}, 1, n)
			e, sum := math.MinInt, g.Float64(d.C)
			if _, c := math.Frexp(sum); sum != 0 {
				e = c - 1
			}
			for i := range d.A {
				x, y := f.Float64(d.A[i]), f.Float64(d.B[i])
				_, ex := math.Frexp(x)
				_, ey := math.Frexp(y)
				if e, sum = max(e, ex+ey-2), sum+x*y; x*y == 0 {
					break
				}
			}
			if math.Abs(sum) >= math.Ldexp(4*float64(k), e) {
				full[sum < 0]++
			}
		}
		if full[false] < 50 || full[true] < 50 { // without such sums: 0
			t.Errorf("k=%d: %v of 20,000 sums fill an adder, by whether they are negative, want at least 50 each", k, full)
		}
	}
}
