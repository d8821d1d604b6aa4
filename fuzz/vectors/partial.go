package vectors

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// partialWidth is the least width of a partial sum of integers that some unit has.
const partialWidth = 16

// partialSums are the goals that tell a sum of integers from those that add groups of products in
// fewer bits than these need, as vpmaddubsw does: groups of neighbours and those that are dealt
// out, of every size that divides K and every width from 16 bits on, wrapping and saturating. A
// loop computes them: most are no parameter programs.
func partialSums(i *mma.Instruction) []*goal {
	if !i.D.Integer() || i.Params.Stage0 != (mma.Stage{}) || i.Params.Prod.Xor || i.Params.Lanes > 1 || i.Params.Start != mma.StartC {
		return nil
	}
	own := plainSum{inst: i}
	end := int64(1) << i.D.Get().FracBits
	own.low, own.high, own.wraps = 0, end, i.Params.Acc.Over == mma.OverWrap
	if i.D.Get().Signed {
		own.low = -end
	}
	var goals []*goal
	for size := 2; size <= i.K; size++ {
		if i.K%size != 0 {
			continue
		}
		for _, dealt := range []bool{false, true} {
			if dealt && size == i.K {
				continue // the same group
			}
			for width := partialWidth; ; width++ {
				s := plainSum{inst: i, size: size, dealt: dealt}
				if !s.narrow(width) {
					break
				}
				for _, s.wraps = range []bool{false, true} {
					sum := s
					name := fmt.Sprintf("sums of %d products in %d bits, %s%s", size, width,
						map[bool]string{false: "saturating", true: "wrapping"}[s.wraps], map[bool]string{true: ", dealt out"}[dealt])
					goals = append(goals, &goal{group: "overflow", most: searchChange, text: name,
						other:   &vectors.Other{Kind: vectors.KindReference, Name: name},
						results: func(in *mma.Batch, out []byte) { sum.run(in, out, own.cut) }})
				}
			}
		}
	}
	return goals
}

// plainSum is a loop over groups of products whose sums are brought into a range.
type plainSum struct {
	inst      *mma.Instruction
	size      int
	dealt     bool
	low, high int64 // high is the first number that is not in the range
	wraps     bool
}

// narrow makes the range that of width bits, signed if a product can be negative. It reports
// whether sums can leave it.
func (s *plainSum) narrow(width int) bool {
	a, b := s.inst.A.Get(), s.inst.B.Get()
	s.low, s.high = 0, 1<<width
	if a.Signed || b.Signed {
		s.low, s.high = -1<<(width-1), 1<<(width-1)
	}
	least, most := int64(0), int64(0)
	for _, x := range []int64{whole(s.inst.A, a.SignBit()), whole(s.inst.A, a.MaxFinite())} {
		for _, y := range []int64{whole(s.inst.B, b.SignBit()), whole(s.inst.B, b.MaxFinite())} {
			least, most = min(least, x*y), max(most, x*y)
		}
	}
	return int64(s.size)*least < s.low || int64(s.size)*most >= s.high
}

// cut brings a number into the range.
func (s *plainSum) cut(n int64) int64 {
	if !s.wraps {
		return min(max(n, s.low), s.high-1)
	}
	span := s.high - s.low
	return ((n-s.low)%span+span)%span + s.low
}

func (s *plainSum) run(in *mma.Batch, out []byte, result func(int64) int64) {
	f, d := in.Formats, mma.NewDot(in.Formats, in.K)
	groups := in.K / s.size
	for n := range in.Dots() {
		in.Get(n, d)
		sum := int64(0)
		for g := range groups {
			part := int64(0)
			for j := range s.size {
				k := g*s.size + j
				if s.dealt {
					k = g + j*groups
				}
				part += whole(f.A, d.A[k]) * whole(f.B, d.B[k])
			}
			sum += s.cut(part)
		}
		if f.C != fp.None {
			sum += whole(f.C, d.C)
		}
		mma.Store(out, f.D.Width(), n, uint64(result(sum))&f.D.Get().CodeMask())
	}
}

// whole is the value of an integer's code.
func whole(id fp.ID, code uint64) int64 { return int64(id.Get().Float64(code)) }
