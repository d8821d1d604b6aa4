package oracle

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// products returns the products of the k elements from lo in the order in which the program
// takes them: a sequence for each pass, one after the other, or one of all passes together,
// which has the products of an element in all passes side by side.
func (e *evaluator) products(lo int) []term {
	n := len(e.passes)
	products := e.space(n * e.k)[:n*e.k]
	for i, at := range e.order {
		for j, p := range e.passes {
			if e.Together {
				e.product(&products[i*n+j], lo+at, p)
			} else {
				e.product(&products[j*e.k+i], lo+at, p)
			}
		}
	}
	return products
}

// together is the number of products of an element in a sequence.
func (e *evaluator) together() int {
	if e.Together {
		return len(e.passes)
	}
	return 1
}

// plainProducts reports whether a program does nothing to operands that are normal numbers, and
// nothing to their products but to round them. Its operands then have at most 31 significant bits.
func plainProducts(p *mma.Params, f mma.Formats) bool {
	in := p.In
	in.Sub, in.C, in.Acc, in.NarrowC = 0, 0, 0, mma.Narrow{}
	return in == mma.Input{} && p.Prod == mma.Product{Round: p.Prod.Round} && p.Passes == 0 && f.Down == 0 &&
		(f.Scale == fp.None || p.Scale != mma.ScaleProduct) && isFloat(f.A.Get()) && isFloat(f.B.Get())
}

func isFloat(f *fp.Format) bool {
	return !f.Integer() && f.Signed && !f.NoZero && !f.Inverse && f.FracBits <= 30
}

// product makes t a[i]*b[i], or that of parts of them, with its scales where they belong to
// products.
func (e *evaluator) product(t *term, i int, p mma.Pass) {
	if e.plain {
		fa, fb := e.f.A.Get(), e.f.B.Get()
		a, ea, ok := normal(fa, e.dot.A[i])
		b, eb, too := normal(fb, e.dot.B[i])
		if ok && too {
			m := a * b
			*t = term{neg: m < 0, m: newInteger(m), q: ea + eb - int(fa.FracBits) - int(fb.FracBits), e: ea + eb, element: i}
			e.roundProduct(t)
			return
		}
	}
	var first, second term
	a, b := &first, &second
	e.operand(a, signed(e.f.A, e.In.OtherSignA), e.dot.A[i], &e.In.A, p.A)
	e.operand(b, signed(e.f.B, e.In.OtherSignB), e.dot.B[i], &e.In.B, p.B)
	a.subtract(int64(e.In.ZeroA))
	b.subtract(int64(e.In.ZeroB))
	if e.Prod.Gate != mma.GateOff {
		e.gate(a, b)
	}
	if e.Special.BFirst {
		a, b = b, a
	}
	if e.Prod.Xor {
		if *t = (term{null: true}); a.null != b.null {
			*t = integerTerm(a.m.plus(b.m), a.e+b.e)
		}
		t.element = i
		return
	}
	e.times(t, a, b)
	switch {
	case t.kind != Finite:
	case t.null && e.Prod.Zeros:
		t.null, t.e = false, e.zeroExponent(a, b)
	case t.null:
	case e.Prod.Exp == mma.OperandSum:
		t.e = a.log2() + b.log2()
	case e.Prod.Exp == mma.Normalised:
		t.e = t.log2()
	}
	if e.Prod.Gate >= mma.GateSkip && t.isZero() {
		t.neg = true
	}
	if e.Prod.Up {
		t.e++
	}
	if t.kind == Finite {
		moved := int(e.Prod.Shift) - int(e.f.Down)
		t.q, t.e = t.q+moved, t.e+moved
	}
	if e.f.Scale != fp.None && e.Scale == mma.ScaleProduct {
		e.scale(t, i)
	}
	if t.kind == NotANumber {
		t.direct, t.second = true, a.kind != NotANumber
	}
	e.roundProduct(t)
	t.element = i
}

func (e *evaluator) roundProduct(t *term) {
	if e.Prod.Round != (mma.Round{}) {
		finite := t.kind == Finite
		e.round(t, &e.Prod.Round)
		t.over = finite && t.kind == Infinite && e.Prod.FirstOver
	}
}

// signed returns the format in which integers of one are read: with other, as if it had a sign
// where it has none, and the other way round.
func signed(id fp.ID, other bool) fp.ID {
	if other {
		return id.OtherSign()
	}
	return id
}

// subtract takes a zero point from an integer.
func (t *term) subtract(zero int64) {
	if zero != 0 {
		*t = integerTerm(t.m.plus(newInteger(zero).neg()), t.e)
	}
}

// zeroExponent is the exponent of a zero product.
func (e *evaluator) zeroExponent(a, b *term) int {
	if e.Special.BFirst {
		a, b = b, a
	}
	return e.exponentOf(a, e.f.A) + e.exponentOf(b, e.f.B)
}

// exponentOf returns what a factor adds to the nominal exponent of a zero product.
func (e *evaluator) exponentOf(t *term, id fp.ID) int {
	switch {
	case t.isZero():
		return int(id.As(e.In.Widen).Get().Emin())
	case e.Prod.Exp == mma.OperandSum:
		return t.log2()
	}
	return t.e
}

// gate replaces both factors by zeros where one is zero, the other is an infinity or a
// NaN, and the program's Gate makes their product zero.
func (e *evaluator) gate(a, b *term) {
	if !a.isZero() && !b.isZero() || a.kind == Finite && b.kind == Finite {
		return
	}
	isNaN := a.kind == NotANumber || b.kind == NotANumber
	switch g := e.Prod.Gate; {
	case g == mma.GateAll, g == mma.GateSkip, g == mma.GateInf && !isNaN:
		*a, *b = term{null: true, neg: a.neg}, term{null: true, neg: b.neg}
	}
}

// operand reads an a or b, or a part of it: widening first, then narrowing, then the flush
// of subnormals.
func (e *evaluator) operand(t *term, id fp.ID, code uint64, n *mma.Narrow, part int) {
	e.decode(t, id, unread(code, *n, id))
	if e.In.Widen != fp.None {
		id = id.As(e.In.Widen)
		if t.kind == Finite && !t.null {
			t.e = max(t.log2(), int(id.Get().Emin()))
		}
	}
	for range part {
		*t = e.left(*t, narrowed(*t, *n, id.Get()), id.Get())
	}
	if *n != (mma.Narrow{}) {
		*t = narrowed(*t, *n, id.Get())
	}
	flushInput(t, e.In.Sub, id)
}

// decode reads a code: NaNs as infinities if the program has Input.NaNInf, and infinities as NaNs if
// it has Input.InfNaN.
func (e *evaluator) decode(t *term, id fp.ID, code uint64) {
	t.decode(id, code)
	if e.In.NaNInf && t.kind == NotANumber {
		*t = term{kind: Infinite, neg: t.neg}
	} else if e.In.InfNaN && t.kind == Infinite {
		*t = term{kind: NotANumber, neg: t.neg, payload: 1 << 63}
	}
}

// left is what a part of an operand leaves to the next.
func (e *evaluator) left(t, part term, f *fp.Format) term {
	part.neg = !part.neg
	switch {
	case t.kind != Finite && t.kind == part.kind:
		if !e.In.Rest {
			return term{null: true}
		}
		if t.kind == Infinite {
			return e.invalidOperand()
		}
		return t
	case part.kind != Finite:
		return part
	case t.kind != Finite:
		return t
	}
	part.m = part.m.neg()
	rest := total(append(e.space(2), t, part))
	if rest.isZero() {
		return term{null: true}
	}
	rest.e = max(rest.log2(), int(f.Emin()))
	return rest
}

// invalidOperand is a NaN operand that comes of Inf-Inf in software.
func (e *evaluator) invalidOperand() term {
	return term{kind: NotANumber, neg: e.Special.NegativeNaN(), payload: 1 << 63}
}

// unread returns a code without the bits that a Narrow without a Mode takes away.
func unread(code uint64, n mma.Narrow, id fp.ID) uint64 {
	if n.Frac != 0 && n.Mode == 0 {
		low := id.Get().Low + id.Get().FracBits - uint8(n.Frac)
		code = code >> low << low
	}
	return code
}

// narrowed rounds a number of a format to fewer bits, or to a smaller range.
func narrowed(t term, n mma.Narrow, f *fp.Format) term {
	if n == (mma.Narrow{}) {
		return t
	}
	keep, emin, emax := int(n.Frac), int(f.Emin()), int(f.Emax())
	if keep == 0 {
		keep = int(f.FracBits)
	}
	if n.To != fp.None {
		emin, emax = max(emin, int(n.To.Get().Emin())), min(emax, int(n.To.Get().Emax()))
	}
	beyond := &mma.Round{Frac: mma.Frac(keep), Mode: n.Mode, Emax: mma.Exp(emax), Over: n.Over}
	switch {
	case t.kind == Infinite && n.Over == mma.OverSat:
		return overflow(t.neg, beyond, false)
	case n.Mode == 0 || t.kind != Finite || t.isZero():
		return t
	}
	t.toMultiple(max(t.log2(), emin)-keep, n.Mode)
	switch {
	case t.isZero():
		return term{null: true, neg: t.neg}
	case t.log2() > emax:
		return overflow(t.neg, beyond, false)
	}
	t.e = max(t.log2(), emin)
	return t
}

// flushInput flushes a number that is subnormal in a format; with FlushPlus zeros, too,
// become +0.
func flushInput(t *term, rule mma.InFlush, id fp.ID) {
	if rule == mma.KeepSub {
		return
	}
	switch tiny := t.below(int(id.Get().Emin())); {
	case rule == mma.FlushSign && tiny:
		*t = term{null: true, neg: t.neg}
	case rule == mma.FlushPlus && (tiny || t.isZero()):
		*t = plusZero
	}
}

// scale multiplies t by the scales of an element's block, if the instruction
// has any.
func (e *evaluator) scale(t *term, element int) {
	if e.f.Scale == fp.None {
		return
	}
	block := element / int(e.f.Block)
	var sa, sb term
	sa.decode(e.f.Scale, e.dot.SA[block])
	sb.decode(e.f.Scale, e.dot.SB[block])
	if r := &e.ScaleRound; *r != (mma.Round{}) {
		e.times(&sa, &sa, &sb)
		e.roundTo(&sa, r, r.Short(e.f.Scale))
		e.times(t, t, &sa)
		return
	}
	e.times(t, t, &sa)
	e.times(t, t, &sb)
}

// times makes t the exact product of two terms, of which it may be one. Its nominal exponent
// is the sum of theirs.
func (e *evaluator) times(t, a, b *term) {
	neg := a.neg != b.neg
	switch {
	case b.signals && !a.signals && e.Special.NaN == mma.NaNSignal:
		*t = *b
	case a.kind == NotANumber && b.kind == NotANumber && e.Special.NaN == mma.NaNLarger && e.compareNaN(*b, *a) < 0:
		*t = *b
	case a.kind == NotANumber:
		*t = *a
	case b.kind == NotANumber:
		*t = *b
	case a.kind == Infinite && b.isZero(), a.isZero() && b.kind == Infinite:
		*t = e.invalidOperation()
	case a.kind == Infinite, b.kind == Infinite:
		*t = term{kind: Infinite, neg: neg}
	case a.null, b.null:
		*t = term{null: true, neg: neg}
	default:
		*t = term{neg: neg, m: a.m.times(b.m), q: a.q + b.q, e: a.e + b.e}
	}
}
