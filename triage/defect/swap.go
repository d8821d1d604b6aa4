package defect

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// swapBits is how far the number of the first of two products stands above the second in Effect.N.
const swapBits = 16

// swapped are the operands that are exchanged: of the two products.
var swapped = map[string]string{
	"a":  "a of products %[1]d and %[2]d are exchanged",
	"b":  "b of products %[1]d and %[2]d are exchanged",
	"p":  "products %[1]d and %[2]d are exchanged",
	"ab": "a of product %[1]d and b of product %[2]d are exchanged",
}

// pair are the numbers of the two products.
func (e *Effect) pair() (i, j int) { return int(e.N >> swapBits), int(e.N & (1<<swapBits - 1)) }

// swaps reports whether an effect can exchange operands of some formats.
func (e *Effect) swaps(f mma.Formats) bool {
	i, j := e.pair()
	return swapped[e.Do] != "" && e.N >= 0 && max(i, j) < mostLanes && (e.Do != "ab" || f.A == f.B)
}

// swap exchanges two operands. It reports whether that makes a difference.
func (e *Effect) swap(d *mma.Dot) bool {
	i, j := e.pair()
	if max(i, j) >= len(d.A) {
		return false
	}
	was := *d
	was.A, was.B = slices.Clone(d.A), slices.Clone(d.B)
	switch e.Do {
	case "a":
		d.A[i], d.A[j] = d.A[j], d.A[i]
	case "b":
		d.B[i], d.B[j] = d.B[j], d.B[i]
	case "ab":
		d.A[i], d.B[j] = d.B[j], d.A[i]
	default:
		d.A[i], d.A[j], d.B[i], d.B[j] = d.A[j], d.A[i], d.B[j], d.B[i]
	}
	return !d.Equal(&was)
}

// swapEffects are exchanges of operands.
func (s *search) swapEffects() (all []Effect) {
	const most = 16 // products of which all pairs are tried
	k := s.u.K
	for i := range min(k, mostLanes) {
		for j := range min(k, mostLanes) {
			if k > most && j != i+1 && j != i^1 && j != i^2 && j != i^4 {
				continue
			}
			n := int64(i)<<swapBits | int64(j)
			if i < j {
				for _, do := range []string{"a", "b", "p"} {
					all = append(all, Effect{On: OnSwap, Do: do, N: n})
				}
			}
			if s.f.A == s.f.B {
				all = append(all, Effect{On: OnSwap, Do: "ab", N: n})
			}
		}
	}
	return all
}
