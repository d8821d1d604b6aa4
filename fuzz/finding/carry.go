package finding

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// place is what a unit may keep of a question.
type place struct {
	name string
	take func(to, from *mma.Dot) // nil: the result
	// answer: c is what the unit answered, as in an accumulator that is not loaded.
	answer bool
}

// places returns what may be kept, the smallest first.
func (a *asker) places() (all []place) {
	k := len(a.pool[0].A)
	if a.f.C != fp.None {
		all = append(all, place{name: "c", take: func(to, from *mma.Dot) { to.C = from.C }})
		if a.f.C == a.f.D {
			all = append(all, place{name: "c", answer: true})
		}
	}
	for i := range k {
		all = append(all,
			place{name: fmt.Sprintf("a of product %d", i), take: func(to, from *mma.Dot) { to.A[i] = from.A[i] }},
			place{name: fmt.Sprintf("b of product %d", i), take: func(to, from *mma.Dot) { to.B[i] = from.B[i] }})
	}
	for i := range a.f.Blocks(k) {
		all = append(all,
			place{name: fmt.Sprintf("scale %d of a", i), take: func(to, from *mma.Dot) { to.SA[i] = from.SA[i] }},
			place{name: fmt.Sprintf("scale %d of b", i), take: func(to, from *mma.Dot) { to.SB[i] = from.SB[i] }})
	}
	for i := range k {
		all = append(all, place{name: fmt.Sprintf("product %d", i), take: func(to, from *mma.Dot) { to.A[i], to.B[i] = from.A[i], from.B[i] }})
	}
	return append(all,
		place{name: "a of each product", take: func(to, from *mma.Dot) { copy(to.A, from.A) }},
		place{name: "b of each product", take: func(to, from *mma.Dot) { copy(to.B, from.B) }},
		place{name: "each product", take: func(to, from *mma.Dot) { copy(to.A, from.A); copy(to.B, from.B) }},
		place{name: "the result", take: nil})
}

// carry is a prediction: where a condition is met, what is at a place is that of the question before.
type carry struct {
	place
	where  string // the condition; "": there is none
	before bool   // it is about the question before
	meets  func(d *mma.Dot) bool
	// last: the unit keeps what it had in the last question that does not meet the condition.
	last bool
	// every: the condition is met by each so many-th answer.
	every int

	confirmed, beside int
}

func (c *carry) shown() (confirmed, beside int) { return c.confirmed, c.beside }

func (c *carry) words() string {
	text := c.name + " is that of the question before"
	if c.answer {
		text = "c is the result of the question before"
	}
	switch {
	case c.where == "":
	case c.before:
		text += " if in that question " + c.where
	default:
		text += " where " + c.where
	}
	if c.last {
		text += ", and if that holds there too, of the last question in which it does not"
	}
	return text
}

// hits returns which answers of a sequence meet the condition; nil: no number of every-th answers does.
func (a *asker) hits(c *carry, s *sequence) []bool {
	hit := make([]bool, len(s.dots))
	phase := 0
	if c.every > 0 {
		wrong := a.wrong(s)
		if len(wrong) == 0 {
			return nil
		}
		phase = wrong[0] % c.every
	}
	for i, d := range s.dots {
		switch {
		case c.every > 0:
			hit[i] = i%c.every == phase
		case c.meets == nil:
			hit[i] = true
		case c.before:
			hit[i] = i > 0 && c.meets(s.dots[i-1])
		default:
			hit[i] = c.meets(d)
		}
	}
	return hit
}

// with returns what the answer is to a question with what another one has at a place.
func (a *asker) with(p place, s *sequence, i, from int) uint64 {
	d := s.dots[i].Clone()
	switch {
	case p.answer:
		d.C = s.codes[from]
	case p.take == nil:
		return s.codes[from]
	default:
		p.take(d, s.dots[from])
	}
	return a.model.Dot(d, nil)
}

// predicts reports whether a prediction holds for all answers of a sequence, and how many show it, on both
// sides of the condition.
func (a *asker) predicts(c *carry, s *sequence) (confirmed, beside int, all bool) {
	hit := a.hits(c, s)
	if hit == nil {
		return 0, 0, false
	}
	for i, other := range a.carried(c, s, hit) {
		want := s.right[i]
		shows := !a.equal(other, want)
		switch {
		case hit[i] && shows:
			confirmed++
		case shows:
			beside++
		}
		if hit[i] {
			want = other
		}
		if !a.equal(s.codes[i], want) {
			return 0, 0, false
		}
	}
	return confirmed, beside, true
}

// carried returns the answers with what was kept, those that meet the condition and those beside. What was
// asked before the sequence is not known.
func (a *asker) carried(c *carry, s *sequence, hit []bool) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		from := -1
		for i := range s.dots {
			if from >= 0 && !yield(i, a.with(c.place, s, i, from)) {
				return
			}
			if !c.last || !hit[i] {
				from = i
			}
		}
	}
}

// answers returns the answers of a sequence that are others by the prediction.
func (c *carry) answers(a *asker, s *sequence) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		hit := a.hits(c, s)
		for i, other := range a.carried(c, s, hit) {
			if hit[i] && !yield(i, other) {
				return
			}
		}
	}
}

// separator returns a condition that some dot products meet and others do not.
type separator func(yes, no []*mma.Dot) (string, func(*mma.Dot) bool, error)

// kept returns a prediction that holds for all answers of a sequence from which it was learnt, and of
// another one; nil: there is none. every: the answers that are others have this distance.
func (a *asker) kept(ctx context.Context, every int) (*carry, error) {
	n := min(max(keptAsked, keptTold*every), keptMost)
	learn, err := a.ask(ctx, a.varied(n, 0))
	if err != nil {
		return nil, err
	}
	wrong := a.wrong(learn)
	if len(wrong) < keptShown/2 {
		return nil, nil
	}
	var test *sequence
	for _, p := range a.places() {
		if !a.may(p, learn, wrong) {
			continue
		}
		candidates, err := a.candidates(p, learn, every)
		if err != nil {
			return nil, err
		}
		for _, c := range candidates {
			if _, _, all := a.predicts(c, learn); !all {
				continue
			}
			if test == nil {
				if test, err = a.ask(ctx, a.varied(n, 1)); err != nil {
					return nil, err
				}
			}
			var all bool
			if c.confirmed, c.beside, all = a.predicts(c, test); all && c.confirmed >= keptShown && c.confirmed+c.beside >= keptTold {
				return c, nil
			}
		}
	}
	return nil, nil
}

// may reports whether most of the first wrong answers are those with what the question before has at a place.
func (a *asker) may(p place, s *sequence, wrong []int) bool {
	const some = 24
	right, of := 0, 0
	for _, i := range wrong[:min(some, len(wrong))] {
		if i > 0 {
			of++
			if a.equal(a.with(p, s, i, i-1), s.codes[i]) {
				right++
			}
		}
	}
	return 2*right > of
}

// candidates returns the predictions about a place that a sequence suggests.
func (a *asker) candidates(p place, s *sequence, every int) ([]*carry, error) {
	if every > 0 {
		return []*carry{{place: p, every: every}}, nil
	}
	const mostYes, mostNo = 64, 320
	var yes, no, beforeYes, beforeNo []*mma.Dot
	for i := 1; i < len(s.dots); i++ {
		other := a.with(p, s, i, i-1)
		wrong := !a.equal(s.codes[i], s.right[i])
		switch {
		case wrong && a.equal(s.codes[i], other) && len(yes) < mostYes:
			yes, beforeYes = append(yes, s.dots[i]), append(beforeYes, s.dots[i-1])
		case !wrong && !a.equal(other, s.right[i]) && len(no) < mostNo:
			no, beforeNo = append(no, s.dots[i]), append(beforeNo, s.dots[i-1])
		}
	}
	if len(no) == 0 {
		return []*carry{{place: p}}, nil
	}
	var all []*carry
	words, meets, err := a.separate(slices.Clone(yes), no)
	if err != nil {
		return nil, err
	}
	if words != "" {
		all = append(all, &carry{place: p, where: words, meets: meets}, &carry{place: p, where: words, meets: meets, last: true})
	}
	if words, meets, err = a.separate(beforeYes, beforeNo); err == nil && words != "" {
		all = append(all, &carry{place: p, where: words, before: true, meets: meets})
	}
	return all, err
}
