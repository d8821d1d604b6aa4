package report

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// state is what becomes of a bit.
type state uint8

// The states of bits.
const (
	blank    state = iota // above or below the number
	zero                  // 0 that takes part
	one                   // 1 that takes part
	lostZero              // 0 that is dropped
	lostOne               // 1 that is dropped
	onlyHere              // 1 that takes part here and is 0 or dropped on the other side
)

// kept reports whether a bit takes part.
func (s state) kept() bool { return s == zero || s == one || s == onlyHere }

// row is a number as bits. bits[0] has the weight 2^top.
type row struct {
	label  string
	exp    int32 // nominal exponent
	hasExp bool
	neg    bool
	top    int32
	bits   []state
	marks  []mark
	note   note
	sum    bool // a sum, or what a rounding left of it
}

// mark is a place between two bits: where a number is cut.
type mark struct {
	after int32 // between the weights 2^after and 2^(after-1)
	kind  markKind
}

type markKind uint8

// The marks.
const (
	cutMark markKind = iota // terms are cut here
	endMark                 // a rounding cuts here
)

// low returns the exponent of the last bit's weight.
func (r *row) low() int32 { return r.top - int32(len(r.bits)) + 1 }

// at returns the state of the bit of weight 2^w.
func (r *row) at(w int32) state {
	if w > r.top || w < r.low() {
		return blank
	}
	return r.bits[r.top-w]
}

// extent returns the highest and the lowest weight that a row needs.
func (r *row) extent() (hi, lo int32) {
	hi, lo = r.top, r.low()
	for _, m := range r.marks {
		hi, lo = max(hi, m.after), min(lo, m.after)
	}
	return hi, lo
}

// termRow returns the row of a finite term that is not zero. Trailing zeros are
// left out.
func (v *view) termRow(sum, term int) row {
	t := &v.sums[sum].Terms[term]
	x := v.exact(t)
	r := row{label: v.termName(sum, term), exp: t.E, hasExp: !v.integers(), neg: t.Value.Neg, top: x.Exponent()}
	if !t.Cut.IsZero() {
		r.top = max(r.top, t.Cut.Exponent())
	}
	if t.IsCut {
		r.marks = append(r.marks, mark{t.Q, cutMark})
	}
	end := v.keptDownTo(t, x)
	there, comparable := v.there(sum, term)
	for w := r.top; w >= x.Low(); w-- {
		var s state
		switch {
		case w < end:
			s = lostState(x, w)
		case comparable && bit(t.Cut, w) && !bit(there, w):
			s = onlyHere
		default:
			s = keptState(t.Cut, w)
		}
		r.bits = append(r.bits, s)
	}
	r.note = v.cutNote(&v.sums[sum], t)
	return r
}

func keptState(d fp.Dyadic, w int32) state {
	switch {
	case bit(d, w):
		return one
	case d.IsZero() || w > d.Exponent():
		return blank
	}
	return zero
}

func lostState(d fp.Dyadic, w int32) state {
	switch {
	case bit(d, w):
		return lostOne
	case w > d.Exponent():
		return blank
	}
	return lostZero
}

// keptDownTo returns the lowest exponent at which bits of x can survive cutting and
// rounding. x is the term's original value.
func (v *view) keptDownTo(t *sim.TermTrace, x fp.Dyadic) int32 {
	if t.Cut.IsZero() {
		if t.IsCut && x.Exponent() < t.Q {
			return t.Q
		}
		return x.Exponent() + 1
	}
	end := x.Low()
	if t.IsCut {
		end = max(end, t.Q)
	}
	if r := v.p.Prod.Round; t.From == sim.FromProduct && r.Frac != 0 {
		end = max(end, roundingPoint(x, &r))
	}
	return end
}

// sumRow returns the row of x, which is a sum or what a rounding left of one. The next
// rounding cuts it at 2^q (nil: none). grid is the lowest exponent that the terms kept
// (nil: not cut). With both, trailing zeros are drawn down to grid, but no lower than
// tailBits below q, and none if they were more than maxColumns.
func sumRow(label string, x fp.Dyadic, q, grid *int32) row {
	r := row{label: label, neg: x.Neg, sum: true, top: x.Exponent()}
	low := x.Low()
	if grid != nil && q != nil {
		if end := max(*grid, *q-tailBits); low-end <= maxColumns {
			low = min(low, end)
		}
	}
	for w := r.top; w >= low; w-- {
		if q != nil && w < *q {
			r.bits = append(r.bits, lostState(x, w))
		} else {
			r.bits = append(r.bits, keptState(x, w))
		}
	}
	if q != nil && *q >= low {
		r.marks = append(r.marks, mark{*q, endMark})
	}
	return r
}

// zeroRow returns the row of a sum that came out as zero, with its digit at the
// weight 2^w.
func zeroRow(label string, neg bool, w int32) row {
	return row{label: label, neg: neg, sum: true, top: w, bits: []state{zero}}
}

// integers reports whether the sums are of integers, which are aligned by no exponents.
func (v *view) integers() bool { return v.in.Formats.D.Integer() }
