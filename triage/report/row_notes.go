package report

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// modeName writes a rounding mode as the literature does: RZ, RNE.
func modeName(m fp.Mode) string { return strings.ToUpper(m.String()) }

// raised reports whether y, x rounded to a multiple of 2^q, is larger in magnitude
// than x truncated.
func raised(x, y fp.Dyadic, q int32) bool {
	_, differ := distance(x.Round(q, fp.RZ), y)
	return differ
}

// cutNote says what happened to a term other than that it was truncated.
func (v *view) cutNote(s *sim.SumTrace, t *sim.TermTrace) note {
	isAcc := t.From == sim.FromC || t.From == sim.FromAcc || t.From == sim.FromZero
	drop := v.align(s).Drop
	if s.Place == sim.Join && isAcc && v.p.Join.CDrop != 0 {
		drop = v.p.Join.CDrop
	}
	switch {
	case drop != 0 && t.Kind == sim.Finite && t.E < s.E-int32(drop):
		return note{kind: tooSmall, below: int32(drop)}
	case t.IsCut && raised(t.Value, t.Cut, t.Q):
		return note{kind: moved, mode: t.Mode, outcome: movedAway, up: true, neg: t.Value.Neg}
	case t.From != sim.FromProduct || v.p.Prod.Round.Frac == 0 || v.p.Passes != 0:
		return note{}
	}
	if n := roundingNote(exactProduct(v.in, v.p, t.K), t, &v.p.Prod.Round); n.kind != rounded || n.loses() {
		return n.roundedBy(v.productWord())
	}
	return note{}
}

// productWord names what a rounding before the sum is of.
func (v *view) productWord() string {
	if v.in.converts() {
		return "first"
	}
	return "product"
}

// roundingPoint returns the exponent of the last bit that a rounding of x keeps.
func roundingPoint(x fp.Dyadic, r *mma.Round) int32 {
	e := x.Exponent()
	if r.HasEmin() {
		e = max(e, int32(r.Emin))
	}
	return e - int32(r.Frac)
}

// roundingNote says what a rounding did to x, which is finite and not zero.
func roundingNote(x fp.Dyadic, after *sim.TermTrace, r *mma.Round) note {
	if _, moved := distance(x, after.Value); r.Frac == 0 && (r.Mode == 0 || !moved) { // with a mode to powers of two
		return limitNote(x, x, after, r)
	}
	q := roundingPoint(x, r)
	mode := r.Mode
	if mode == fp.RS { // whose random bits are known by the result
		mode = fp.RZ
	}
	y := x.Round(q, mode)
	if r.Mode == fp.RS && raised(x, after.Value, q) {
		y = x.RoundRandom(q, 1<<32-1, 32)
	}
	if n := limitNote(x, y, after, r); n.kind != noNote {
		return n
	}
	return lossOf(x, y, q, r.Mode)
}

// limitNote says that a number, x before and y after its rounding, met an end of
// the range; none if it did not.
func limitNote(x, y fp.Dyadic, after *sim.TermTrace, r *mma.Round) note {
	switch {
	case r.Emax != 0 && r.Emin == r.Emax+1:
		return integerNote(y, r)
	case after.Kind == sim.Inf:
		return note{kind: atEnd, said: "overflow: above the largest number"}
	case y.IsZero() && r.Mode == fp.RNE && isTie(x, roundingPoint(x, r)):
		return note{kind: rounded, mode: r.Mode, outcome: tieToZero}
	case y.IsZero(), after.Value.IsZero() && !r.HasEmin(): // of a rounding without a least exponent it is the next one
		return note{kind: rounded, mode: r.Mode, outcome: toZero}
	case after.Value.IsZero():
		return note{kind: atEnd, said: fmt.Sprintf("flushed to zero: below 2^%d", r.Emin)}
	case r.Emax != 0 && y.Exponent() > int32(r.Emax):
		return note{kind: atEnd, said: "overflow to the largest number: above it"}
	}
	return note{}
}

// integerNote says that an integer is outside the range that r keeps; none if it is not.
func integerNote(y fp.Dyadic, r *mma.Round) note {
	n := int32(r.Emin)
	least, outside := fmt.Sprintf("-2^%d", n), y.Exponent() >= n && !(y.Neg && y.Exponent() == n && y.Low() == n)
	if n%16 == 0 { // no bit is for a sign
		least, outside = "0", y.Neg || y.Exponent() >= n
	}
	if y.IsZero() || !outside {
		return note{}
	}
	does := "wraps"
	if r.Over != mma.OverWrap {
		does = "saturates"
	}
	return note{kind: atEnd, said: fmt.Sprintf("%s: outside %s to 2^%d-1", does, least, n)}
}

// lossOf says what a rounding of x at 2^q to y loses.
func lossOf(x, y fp.Dyadic, q int32, m fp.Mode) note {
	n := note{kind: rounded, mode: m, up: raised(x, y, q), neg: x.Neg}
	if n.bits = lostBits(x, q); n.bits == "" {
		return n
	}
	switch {
	case isTie(x, q) && m == fp.RNE:
		n.outcome = tieToEven
	case isTie(x, q) && m == fp.RNA:
		n.outcome = tieAway
	case n.up:
		n.outcome = movedAway
	default:
		n.outcome = droppedAll
	}
	return n
}

// isTie reports whether x is half-way between two multiples of 2^q.
func isTie(x fp.Dyadic, q int32) bool { return x.Low() == q-1 }

// lostBits writes the bits of x below 2^q, the first few of them.
func lostBits(x fp.Dyadic, q int32) string {
	const most = 8
	var b strings.Builder
	for w := q - 1; w >= x.Low(); w-- {
		if q-w > most {
			b.WriteString("…")
			break
		}
		b.WriteByte(".x"[bitInt(x, w)])
	}
	return b.String()
}

func bitInt(x fp.Dyadic, w int32) int {
	if bit(x, w) {
		return 1
	}
	return 0
}

// nullNote says why a term counts as zero although what it was made of is not zero; none if
// that is zero, too.
func (v *view) nullNote(sum, term int) note {
	t := &v.sums[sum].Terms[term]
	if t.From == sim.FromProduct {
		return v.nullProductNote(t.K)
	}
	if i := v.origin(sum, term); i >= 0 {
		switch r := v.result(i); {
		case r.Value.IsZero() || !isFinite(r):
			return note{}
		case t.From == sim.FromGroup:
			return sayNote("scale 0")
		}
		return sayNote("flushed: subnormal")
	}
	if t.From == sim.FromC {
		if c := codeValue(v.in.Formats.C, v.in.Dot.C); !c.Value.IsZero() {
			return sayNote("flushed: subnormal")
		}
	}
	return note{}
}

func (v *view) nullProductNote(k int) note {
	p := v.products[k]
	switch {
	case exactProduct(v.in, v.p, k).IsZero():
		return note{}
	case p.FlushedA && p.FlushedB:
		return sayNote("flushed: a and b subnormal")
	case p.FlushedA:
		return sayNote("flushed: a subnormal")
	case p.FlushedB:
		return sayNote("flushed: b subnormal")
	}
	x := exactProduct(v.in, v.p, k)
	return roundingNote(x, &p.Term, &v.p.Prod.Round).roundedBy(v.productWord())
}

// specialNote says why a term is an infinity or a NaN.
func (v *view) specialNote(sum, term int) string {
	t := &v.sums[sum].Terms[term]
	switch {
	case t.From == sim.FromProduct:
		return v.specialProductNote(t.K)
	case t.From == sim.FromC && v.sums[sum].Exec == 0:
		return "c = " + Decimal(v.in.Formats.C, v.in.Dot.C)
	}
	return ""
}

func (v *view) specialProductNote(k int) string {
	f, d := v.in.Formats, v.in.Dot
	text := productText(&f, d, k, Decimal)
	if f.Scale != 0 && v.p.Scale == mma.ScaleProduct {
		i := k / int(f.Block)
		text += ", scales " + Decimal(f.Scale, d.SA[i]) + " * " + Decimal(f.Scale, d.SB[i])
	}
	if !exactProduct(v.in, v.p, k).IsZero() {
		return text + " overflows"
	}
	return text
}
