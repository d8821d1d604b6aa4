package finding

import (
	"context"
	"fmt"
	"iter"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// To save power a multiplier's registers may not be clocked where an operand is zero: then they must not
// count. If they do, a product is that of the last question in which they were clocked, each for itself.

// held is a prediction: where operands of a product are zero, something of it is that of the last question
// in which they were not.
type held struct {
	zero heldZero
	what string // "a", "b", or "" for the product
	lane int    // of the only product; -1: each

	confirmed, beside int
}

// heldZero says which operands are zero.
type heldZero struct {
	text string // with %s for the product
	is   func(a, b bool) bool
	plus bool // -0 is none
	// finite: infinities and NaNs are multiplied as ever.
	finite bool
}

// heldWhere are the conditions that are tried: any zero, one whose other factor is finite too, or +0 alone.
var heldWhere = func() (all []heldZero) {
	for _, of := range []struct {
		text string
		is   func(a, b bool) bool
	}{
		{"a of %s is", func(a, _ bool) bool { return a }},
		{"b of %s is", func(_, b bool) bool { return b }},
		{"a or b of %s is", func(a, b bool) bool { return a || b }},
		{"a and b of %s are", func(a, b bool) bool { return a && b }},
	} {
		all = append(all,
			heldZero{text: of.text + " zero", is: of.is},
			heldZero{text: of.text + " zero and both are finite", is: of.is, finite: true},
			heldZero{text: of.text + " +0", is: of.is, plus: true})
	}
	return all
}()

func (h *held) shown() (confirmed, beside int) { return h.confirmed, h.beside }

func (h *held) words() string {
	product := "a product"
	if h.lane >= 0 {
		product = fmt.Sprintf("product %d", h.lane)
	}
	what := "the product"
	if h.what != "" {
		what = "its " + h.what
	}
	return fmt.Sprintf("where %s, %s is that of the last question in which this was not so", fmt.Sprintf(h.zero.text, product), what)
}

// predicts reports whether a prediction holds for all answers of a sequence, and how many show it, on both
// sides of the condition: beside it are those that would be others if a product were that of the question
// before where it is not.
func (h *held) predicts(a *asker, s *sequence) (confirmed, beside int, all bool) {
	for i, want := range h.answers(a, s) {
		if !a.equal(s.codes[i], want) {
			return 0, 0, false
		}
		if !a.equal(want, s.right[i]) {
			confirmed++
		} else if i > 0 && !a.equal(s.right[i-1], want) {
			beside++
		}
	}
	return confirmed, beside, true
}

// answers returns the answers of a sequence by the prediction, except those with a product of which it is not
// known what is held.
func (h *held) answers(a *asker, s *sequence) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		k := len(s.dots[0].A)
		loaded := make([]bool, k)
		kept := s.dots[0].Clone()
		fa, fb := a.f.A.Get(), a.f.B.Get()
		for i, d := range s.dots {
			now, known := d.Clone(), true
			for n := range k {
				switch {
				case h.lane >= 0 && n != h.lane:
				case !h.zero.is(h.zero.of(fa, d.A[n]), h.zero.of(fb, d.B[n])) || h.zero.finite && !(isFiniteCode(fa, d.A[n]) && isFiniteCode(fb, d.B[n])):
					loaded[n], kept.A[n], kept.B[n] = true, d.A[n], d.B[n]
				case !loaded[n]:
					known = false
				default:
					if h.what != "b" {
						now.A[n] = kept.A[n]
					}
					if h.what != "a" {
						now.B[n] = kept.B[n]
					}
				}
			}
			if known && !yield(i, a.model.Dot(now, nil)) {
				return
			}
		}
	}
}

// of reports whether an operand is zero.
func (z *heldZero) of(f *fp.Format, c uint64) bool {
	return f.Decode(c).Class == fp.Zero && (!z.plus || c&f.SignBit() == 0)
}

func isFiniteCode(f *fp.Format, c uint64) bool {
	n := f.Decode(c)
	return n.Class == fp.Zero || n.Class == fp.Finite
}

// held looks for what is held, in a sequence from which it is learnt and in another one; nil: nothing is.
func (a *asker) held(ctx context.Context) (*held, error) {
	learn, err := a.ask(ctx, a.gated(0))
	if err != nil || len(a.wrong(learn)) == 0 {
		return nil, err
	}
	var test *sequence
	for _, h := range a.holds() {
		if _, _, all := h.predicts(a, learn); !all {
			continue
		}
		if test == nil {
			if test, err = a.ask(ctx, a.gated(1)); err != nil {
				return nil, err
			}
		}
		var all bool
		if h.confirmed, h.beside, all = h.predicts(a, test); all && h.confirmed >= keptShown && h.confirmed+h.beside >= keptTold {
			return &h, nil
		}
	}
	return nil, nil
}

// holds are the predictions that are tried.
func (a *asker) holds() (all []held) {
	for lane := -1; lane < len(a.pool[0].A); lane++ {
		for _, zero := range heldWhere {
			for _, what := range []string{"", "a", "b"} {
				all = append(all, held{zero: zero, what: what, lane: lane})
			}
		}
	}
	return all
}

// gated returns questions of which every other has zeros among its operands.
func (a *asker) gated(half int) []*mma.Dot {
	dots := a.varied(keptAsked, half)
	for i, d := range dots {
		if i%2 == 0 {
			continue
		}
		d = d.Clone()
		for n := range d.A { // in a pattern that comes again after many questions
			switch (i*7 + n*3) % 11 {
			case 0, 4, 9:
				d.A[n] = 0
			case 1, 6:
				d.B[n] = 0
			case 2:
				d.A[n], d.B[n] = 0, 0
			}
		}
		dots[i] = d
	}
	return dots
}
