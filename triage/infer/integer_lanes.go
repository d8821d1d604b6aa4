package infer

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// This file has the sums of integers that units make in accumulators of fewer bits than the result
// has, before c is added, and those of which each addition leaves a range.

// integerOrders are the orders in which products of integers are added where the order matters.
var integerOrders = []mma.Order{mma.Ascending, mma.Descending, mma.SwapPairs, mma.EvenOdd, mma.Halves}

// apartSums returns the programs that add up products in one or more accumulators of some bits, which
// begin with zero, and add these and c after the last step; with the bits of the result also those
// whose first accumulator begins with c. Those whose accumulators no sum of products leaves are left
// out.
func apartSums(s change.Space, base mma.Params, bits uint8) []mma.Params {
	var all []mma.Params
	d := s.D.Get()
	for _, n := range lanesOf(s.K) {
		p, count := base, int(max(n, 1))
		p.Lanes, p.Start = n, mma.StartZero
		if bits == d.FracBits {
			p.Start = mma.StartC
		}
		if !p.LateAdds(s.Formats) || p.Start != mma.StartC && !leaves(s, &p.In, (s.K+count-1)/count, bits) {
			continue
		}
		for _, over := range []mma.Over{mma.OverWrap, mma.OverSat} {
			steps := []int{0} // a sum that wraps does not depend on them
			if over == mma.OverSat {
				steps = append(divisors(s.K/count), 0)
			} else if p.Start == mma.StartC {
				continue // the same as one accumulator
			}
			for _, l := range steps {
				for _, order := range integerOrders {
					if n == 0 && order != mma.Ascending && l == 0 {
						continue // of one sum
					}
					for _, late := range []mma.Over{mma.OverWrap, mma.OverSat} {
						p.L, p.Order, p.Acc, p.Late = uint8(l), order, rangeOf(bits, over), rangeOf(d.FracBits, late)
						all = append(all, p)
					}
				}
			}
		}
	}
	return all
}

// groupSums returns the programs that add the products of groups one after the other, or as a tree,
// each sum saturating in some bits.
func groupSums(s change.Space, base mma.Params, bits uint8) []mma.Params {
	var all []mma.Params
	for _, n := range append(divisors(s.K), s.K) {
		if n < 3 || !leaves(s, &base.In, n, bits) { // two are added in one sum
			continue
		}
		for sum := mma.Sequential; sum <= mma.PairHalves; sum++ {
			for _, over := range []mma.Over{mma.OverWrap, mma.OverSat} {
				for _, order := range integerOrders {
					p := base
					p.Order, p.Acc = order, rangeOf(s.D.Get().FracBits, over)
					p.Stage0 = mma.Stage{Sum: sum, Group: uint8(n), Round: rangeOf(bits, mma.OverSat)}
					if n < s.K {
						all = append(all, p)
						p.Stage0.Split, p.Stage0.Group = mma.Interleaved, uint8(s.K/n)
					}
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// lanesOf returns the numbers of accumulators that take turns on k products; 0 is one.
func lanesOf(k int) []uint8 {
	const most = 16
	all := []uint8{0}
	for n := 2; n <= min(k, most); n++ {
		if n <= 4 || k%n == 0 {
			all = append(all, uint8(n))
		}
	}
	return all
}

// leaves reports whether a sum of n products can leave a range of some bits.
func leaves(s change.Space, in *mma.Input, n int, bits uint8) bool {
	return n*(most(s.A, in.OtherSignA)+absolute(in.ZeroA))*(most(s.B, in.OtherSignB)+absolute(in.ZeroB)) >= 1<<bits
}

func absolute(n int32) int { return int(max(n, -n)) }

// rangeOf is the range of integers of so many bits, besides a sign.
func rangeOf(bits uint8, over mma.Over) mma.Round {
	return mma.Round{Frac: mma.Frac(bits), Mode: fp.RZ, Emin: mma.Exp(bits), Emax: mma.Exp(bits) - 1, Over: over}
}
