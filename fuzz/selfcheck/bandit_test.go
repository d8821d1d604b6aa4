package selfcheck

import (
	"bytes"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bandit gives every other turn to the generator whose inputs had the most new features
// lately, by upper confidence bounds. Campaigns do without: package gen says why. The
// processor time of the features is not counted.
type bandit struct {
	checker *fuzz.Checker
	seen    int // features
	arms    []arm
	dot     *mma.Dot
}

// arm is a generator: how many turns it had, and the sum of their rewards, 0 to 1 each.
type arm struct {
	name          string
	turns, reward float64
}

func newBandit(i *mma.Instruction) *bandit {
	b := &bandit{checker: fuzz.NewChecker([]mma.Instruction{*i}), dot: mma.NewDot(i.Formats, i.K)}
	b.checker.Counters = make([]byte, 1<<16)
	for _, g := range gen.All() {
		b.arms = append(b.arms, arm{g.Name, 1, 1})
	}
	return b
}

// choose returns the turn of the schedule that is taken in place of a turn.
func (b *bandit) choose(s *gen.Schedule, turn uint64, size int, next map[string]uint64) uint64 {
	const opening, cycles = 64, 400 // turns; in so many every generator has one
	if b == nil || turn < opening || turn%2 == 0 {
		return turn
	}
	best, name := 0.0, ""
	for _, a := range b.arms {
		if score := a.reward/a.turns + math.Sqrt(math.Log(float64(turn))/a.turns)/2; score > best {
			best, name = score, a.name
		}
	}
	for t := turn * 7; t < turn*7+cycles; t++ {
		if _, source, _, _ := s.Turn(t, size, next); strings.Contains(source, name+"@") {
			return t
		}
	}
	return turn
}

// learn takes the features of some inputs, as campaigns do, and rewards new ones.
func (b *bandit) learn(source string, batch *mma.Batch, first uint64) {
	if b == nil {
		return
	}
	for j := range uint64(batch.Dots()) {
		if at := first + j; at < 1<<15 && at%32 == 0 || at%(1<<14) == 0 {
			batch.Get(int(j), b.dot)
			_, _ = b.checker.Check(b.checker.Encode(b.dot))
		}
	}
	seen := len(b.checker.Counters) - bytes.Count(b.checker.Counters, []byte{0})
	for i := range b.arms {
		if a := &b.arms[i]; strings.Contains(source, a.name+"@") {
			const plenty = 4 // new features
			a.turns, a.reward = a.turns+1, a.reward+min(1, float64(seen-b.seen)/plenty)
		}
	}
	b.seen = seen
}
