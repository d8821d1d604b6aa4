package infer

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// This file has the sums of integers that are rare: with zero points, which are read off answers,
// and in ranges of any number of bits.

// zeroPairs are the elements of a and of b of the dot products from which zero points are read: all
// elements of an operand have one code, which is a quarter of all codes, or the one above.
var zeroPairs = func() (all [][4]uint64) {
	for i := range uint64(4) {
		for j := range uint64(4) {
			all = append(all, [4]uint64{i, j, 0, 0}, [4]uint64{i, j, 0, 1}, [4]uint64{i, j, 1, 0})
		}
	}
	return all
}()

// rareIntegers asks for zero points, and returns the programs that have some, or sums in another
// range than those of integerPrograms.
func (l *loop) rareIntegers(ctx context.Context) ([]mma.Params, error) {
	if l.A == fp.B1 || l.B == fp.B1 {
		return rareRanges(l.Space, mma.Input{}), nil
	}
	a, b := l.A.Get(), l.B.Get()
	var dots []*mma.Dot
	for _, x := range zeroPairs {
		d := mma.NewDot(l.Formats, l.K)
		for k := range d.A {
			d.A[k], d.B[k] = x[0]<<(a.CodeBits()-2)+x[2], x[1]<<(b.CodeBits()-2)+x[3]
		}
		dots = append(dots, d)
	}
	l.enter(asking)
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return nil, err
	}
	if err := l.unit.repeat(ctx, kept, want); err != nil {
		return nil, err
	}
	l.Add(zeroPoints, kept, want)
	if len(want) != len(dots) {
		return rareRanges(l.Space, mma.Input{}), nil
	}
	usual := integerPrograms(l.Space)
	all := rareRanges(l.Space, mma.Input{})
	for _, p := range integerProducts()[:4] {
		as, bs := l.zeroPoints(dots, want, &p.In)
		for _, za := range as {
			for _, zb := range bs {
				if za == 0 && zb == 0 {
					continue
				}
				p.In.ZeroA, p.In.ZeroB = int32(za), int32(zb)
				for _, q := range usual {
					if q.In.OtherSignA == p.In.OtherSignA && q.In.OtherSignB == p.In.OtherSignB {
						q.In = p.In
						all = append(all, q)
					}
				}
				all = append(all, rareRanges(l.Space, p.In)...)
			}
		}
	}
	all = slices.DeleteFunc(all, func(p mma.Params) bool { return !l.Valid(&p) })
	sortIntegers(l.Space, all)
	return all, nil
}

// zeroPoints reads the zero points of a and of b off the answers to zeroPairs, for one way to read
// signs: where b is one more, D is more by K times what is left of a, and the other way round. Sums
// that leave their range give others: it returns the one that most answers give, if several do, and 0.
func (l *loop) zeroPoints(dots []*mma.Dot, want []uint64, in *mma.Input) (a, b []int) {
	votesA, votesB := map[int]int{}, map[int]int{}
	vote := func(votes map[int]int, id fp.ID, other bool, code uint64, i, j int) {
		if other {
			id = id.OtherSign()
		}
		more := integerOf(l.D, want[j]-want[i])
		if z := integerOf(id, code) - more/l.K; more%l.K == 0 && max(z, -z)>>id.Get().CodeBits() == 0 {
			votes[z]++
		}
	}
	for i := 0; i < len(dots); i += 3 {
		vote(votesA, l.A, in.OtherSignA, dots[i].A[0], i, i+1)
		vote(votesB, l.B, in.OtherSignB, dots[i].B[0], i, i+2)
	}
	best := func(votes map[int]int) []int {
		delete(votes, 0)
		all := slices.SortedFunc(maps.Keys(votes), func(x, y int) int { return cmp.Or(votes[y]-votes[x], x-y) })
		if len(all) == 0 || votes[all[0]] < 3 {
			return []int{0}
		}
		return []int{0, all[0]}
	}
	return best(votesA), best(votesB)
}

// integerOf returns the integer of a code, of which only the lowest bits count.
func integerOf(id fp.ID, code uint64) int {
	spare := 64 - id.Get().CodeBits()
	if id.Get().Signed || id == fp.U32 { // differences of which have a sign
		return int(int64(code<<spare) >> spare)
	}
	return int(code << spare >> spare)
}

// leastBits is the number of bits, besides a sign, of the smallest range that sums are looked for in.
const leastBits = 7

// rareRanges returns the programs whose sums are in a range of other bits than 16 and 32.
func rareRanges(s change.Space, in mma.Input) []mma.Params {
	var all []mma.Params
	seen := map[mma.Params]bool{}
	add := func(p mma.Params) {
		if !seen[p] && s.Valid(&p) {
			seen[p] = true
			all = append(all, p)
		}
	}
	for _, base := range integerProducts() {
		if base.In.ZeroA, base.In.ZeroB = in.ZeroA, in.ZeroB; in.ZeroA != 0 || in.ZeroB != 0 {
			base.In = in
		}
		for bits := s.D.Get().FracBits - 1; bits >= leastBits; bits-- {
			if base.In.ZeroA == 0 && base.In.ZeroB == 0 { // two rare things at once are too many programs
				for _, p := range append(apartSums(s, base, bits), groupSums(s, base, bits)...) {
					add(p)
				}
			}
			for _, over := range []mma.Over{mma.OverWrap, mma.OverSat} {
				p := base
				p.Acc = rangeOf(bits, over)
				add(p)
				if over == mma.OverWrap {
					continue
				}
				for _, l := range divisors(s.K) {
					for p.L, p.Order = uint8(l), mma.Ascending; p.Order <= mma.Halves; p.Order++ {
						add(p)
					}
				}
			}
		}
	}
	return all
}
