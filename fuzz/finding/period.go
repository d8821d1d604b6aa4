package finding

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit that counts may give every 64th answer from old data. Which answers these are depends on all that
// it was asked before, so no case repeats itself; but they come at a constant distance.

const longestPeriod = 256

// period returns the constant distance of the answers that are wrong, or others than most to the same
// input, in two sequences of questions; 0: there is none. If they have none in a batch, single calls are made.
func (a *asker) period(ctx context.Context) (every int, calls bool, err error) {
	three := a.contrast()
	for _, calls := range []bool{false, true} {
		every, first := 0, 0
		a.asked = 0
		for inputs := 2; inputs <= 3; inputs++ {
			var dots []*mma.Dot
			for i := range periodAsked {
				dots = append(dots, three[i%inputs])
			}
			s, err := a.askAs(ctx, dots, calls)
			if err != nil {
				return 0, false, err
			}
			bad := a.wrong(s)
			if distance(bad, len(dots)) == 0 {
				bad = a.others(s) // another error may make some wrong each time
			}
			if inputs > 2 {
				// Where the first of them are at the same place again, that matters: a count would have gone on.
				if !recurs(bad, len(dots), every, inputs) || bad[0]%every == first {
					every = 0
				}
				break
			}
			if every = distance(bad, len(dots)); every == 0 {
				break
			}
			first = bad[0]
		}
		if every > 0 {
			return every, calls, nil
		}
	}
	return 0, false, nil
}

// askAs asks questions in one batch, or each in a call of its own.
func (a *asker) askAs(ctx context.Context, dots []*mma.Dot, calls bool) (*sequence, error) {
	if !calls {
		return a.ask(ctx, dots)
	}
	all := &sequence{}
	for i := range dots {
		s, err := a.ask(ctx, dots[i:i+1])
		if err != nil {
			return nil, err
		}
		all.dots, all.codes, all.right = append(all.dots, dots[i]), append(all.codes, s.codes...), append(all.right, s.right...)
	}
	return all, nil
}

// others returns the numbers of the answers that are others than the right one, or than most to the same
// input if none of them is right.
func (a *asker) others(s *sequence) (at []int) {
	usual := map[*mma.Dot]uint64{}
	votes := map[*mma.Dot]map[uint64]int{}
	for i, d := range s.dots {
		if votes[d] == nil {
			votes[d] = map[uint64]int{}
		}
		code := known(votes[d], s.codes[i], a.equal)
		votes[d][code]++
		best, has := usual[d]
		if !has || votes[d][code] > votes[d][best] {
			usual[d] = code
		}
	}
	for i, d := range s.dots {
		if a.equal(s.codes[i], s.right[i]) {
			usual[d] = s.right[i]
		}
	}
	for i, d := range s.dots {
		if !a.equal(s.codes[i], usual[d]) {
			at = append(at, i)
		}
	}
	return at
}

// distance returns the constant distance of some numbers below n, which are all that have it; 0: they have
// none, or a longer one than is looked for.
func distance(at []int, n int) int {
	if len(at) < 2 {
		return 0
	}
	d := at[1] - at[0]
	for i := range at[1:] {
		if at[i+1]-at[i] != d {
			return 0
		}
	}
	if d < 2 || d > longestPeriod || at[0] >= d || at[len(at)-1]+d < n {
		return 0
	}
	return d
}

// recurs reports whether some numbers below n are at a distance from each other, or at a multiple of it
// where others would be about an input that does not show what is wrong after the one before it: of inputs
// in turn, each is wrong at all of these places or at none, and not one alone where several come there.
func recurs(at []int, n, every, inputs int) bool {
	if len(at) == 0 {
		return false
	}
	first := at[0] % every
	wrong, all := make([]int, inputs), make([]int, inputs)
	for p := first; p < n; p += every {
		all[p%inputs]++
	}
	for _, p := range at {
		if p%every != first {
			return false
		}
		wrong[p%inputs]++
	}
	kinds, come := 0, 0
	for i := range wrong {
		if wrong[i] != 0 && wrong[i] != all[i] {
			return false
		}
		if wrong[i] > 0 {
			kinds++
		}
		if all[i] > 0 {
			come++
		}
	}
	return kinds >= min(come, 2)
}

// contrast returns three inputs, asked one after the other in the order of their numbers or the first two
// in turn, of which each answer would show most of what may be kept of the question before.
func (a *asker) contrast() (best [3]*mma.Dot) {
	const most = 1 << 14 // dot products of the model
	places := a.places()
	shown := -1
	tries := min(len(a.pool)/3, max(1, most/(8*len(places))))
	for try := range slices.Chunk(a.varied(3*tries, 0), 3) {
		three := [3]*mma.Dot(try)
		n := 0
		for _, p := range places {
			if p.take == nil {
				continue
			}
			all := true
			for _, order := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 1}} {
				d := three[order[0]].Clone()
				p.take(d, three[order[1]])
				all = all && !a.equal(a.model.Dot(d, nil), a.model.Dot(three[order[0]], nil))
			}
			if all {
				n++
			}
		}
		if n > shown {
			best, shown = three, n
		}
	}
	return best
}
