package sim

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// word is the kernel of programs that no other kernel computes: those without refinements, on
// operands of at most 24 significant bits and without scales. It does what the general
// interpreter does with numbers of one machine word. A sum that has more bits is left to the
// interpreter, together with its dot product.
type word struct {
	m          *Model
	nan        uint64
	grouped    bool        // a stage rounds its sums, which may overflow
	normalised bool        // mma.Normalised
	plain      bool        // nothing is done to products
	together   bool        // all products of a step are in one sum, in which zeros have no places
	inOrder    bool        // products are added in the order of their elements
	chain      bool        // each product is a step: see steps
	vector     *wordVector // nil: vectors do not support the program
}

// wordNull is about the exponent of a zero without one.
const wordNull = -1 << 20

// wordBits is the largest number of fraction bits that anything is cut or rounded to. All terms
// of a sum are below 2^10 times the power of two that they are aligned with (255 products, each
// below 4, and the accumulator), so that it has less than 62 bits.
const wordBits = 40

// wordFactor is an operand: sig * 2^q with nominal exponent e.
type wordFactor struct {
	sig   int64
	q, e  int32
	flags uint8
	neg   bool
}

// wordTerm is a term that is not an infinity or a NaN: sig * 2^q with nominal exponent e.
type wordTerm struct {
	sig  int64
	q, e int32
	null bool // zero without a nominal exponent
	neg  bool // also of a zero
}

func nullWord(neg bool) wordTerm { return wordTerm{e: wordNull, null: true, neg: neg} }

// What terms that are no numbers were met. An infinity or a NaN in a sum makes the sum one, and so
// on up to the result, so that it does not matter where they were.
const (
	plusInf uint8 = 1 << iota
	minusInf
	someNaN
)

// wordState is one worker's scratch space.
type wordState struct {
	x              *machine
	tile           int // whose operands x has; -1: of none
	a, b           []wordFactor
	bytesA, bytesB *[256]wordFactor // of formats of one byte: all factors
	products       wordProducts     // of the current dot product
	terms, dealt   []wordTerm
	special        uint8 // met by the current instruction
	side           sideVector
	besides        []uint64 // for wordVector.tiles
}

// wordProducts are the products of a dot product, in the order of its elements.
type wordProducts struct {
	terms  []wordTerm
	live   uint64    // a bit for each that is not zero, if there are at most 64
	zeros  [2]uint64 // for each zero, positive ones and negative ones
	flags  uint8     // of all factors
	masked bool      // there are at most 64
}

// multiply makes the products of some factors.
func (x *wordProducts) multiply(a, b []wordFactor) {
	x.terms, x.live, x.zeros, x.flags, x.masked = resize(x.terms, len(a)), 0, [2]uint64{}, 0, len(a) <= 64
	b = b[:len(a)]
	terms := x.terms[:len(a)]
	for k := range a {
		f, g, t := &a[k], &b[k], &terms[k]
		flags := f.flags | g.flags
		x.flags |= flags
		t.sig, t.q, t.e = f.sig*g.sig, f.q+g.q, f.e+g.e // one by one, which is faster than the whole
		t.null, t.neg = flags&isZero != 0, f.neg != g.neg
		if bit := uint64(1) << (k & 63); !t.null {
			x.live |= bit
		} else if t.neg {
			x.zeros[1] |= bit
		} else {
			x.zeros[0] |= bit
		}
	}
}

// newWord returns the kernel, or nil if the program is not such a one.
func newWord(m *Model) *word {
	p, f := &m.params, m.formats
	if p.Refined() || p.Passes != 0 || p.Lanes > 1 || p.Tail || f.Scale != fp.None || p.Special.OperandNaN() || p.Stage0.Fixed || p.Stage1.Fixed {
		return nil
	}
	for _, id := range []fp.ID{f.A, f.B, f.C, f.D, f.A.As(p.In.Widen), f.B.As(p.In.Widen)} {
		if id != fp.None && id.Get().FracBits > 23 {
			return nil
		}
	}
	for _, r := range []*mma.Round{&p.Prod.Round, &p.Stage0.Round, &p.Stage1.Round, &p.Join.Post, &p.Acc, &p.Late, &p.Out} {
		if r.Frac > wordBits || r.Over == mma.OverSat {
			return nil
		}
	}
	for _, n := range []mma.Frac{p.Stage0.Align.F, p.Stage1.Align.F, p.Join.Align.F, p.Join.CF} {
		if n > wordBits {
			return nil
		}
	}
	if p.Acc.Frac == 0 {
		return nil
	}
	normalised := p.Prod.Exp == mma.Normalised
	together := true
	for _, s := range []*mma.Stage{&p.Stage0, &p.Stage1} {
		together = together && (s.Sum == mma.Off || s.Sum == mma.Fused && s.Split != mma.Interleaved && (s.Group == 0 || int(s.Group) >= p.Step(m.k)))
	}
	w := &word{m: m, together: together, nan: newMachine(m).nanCode(term{kind: NaN}), normalised: normalised, plain: !normalised && p.Prod.Round == mma.Round{},
		grouped: p.Stage0.Round.Emax != 0 || p.Stage1.Round.Emax != 0}
	w.inOrder = slices.IsSorted(m.order)
	a := p.Join.Align
	w.chain = p.Step(m.k) == 1 && w.plain && p.Start != mma.StartEmpty && p.In.Acc == mma.KeepSub && p.Stage0 == mma.Stage{} && p.Stage1 == mma.Stage{} &&
		p.Join == mma.Join{Align: mma.Align{F: a.F, Mode: a.Mode, Floor: a.Floor}} && (a.F == 0 || a.Mode == fp.RZ)
	return w
}

func (w *word) name() string { return "word" }

func (w *word) newState() any {
	x := newMachine(w.m)
	return &wordState{x: x, bytesA: wordFactors(&x.a), bytesB: wordFactors(&x.b)}
}

// wordFactors returns the factors of all codes of a format of one byte, nil for others.
func wordFactors(d *decoder) *[256]wordFactor {
	if d.f.Width != 1 {
		return nil
	}
	var table [256]wordFactor
	for code := range table {
		table[code] = d.wordFactor(uint64(code))
	}
	return &table
}

// wordFactor decodes a code.
func (d *decoder) wordFactor(code uint64) wordFactor {
	var o operand
	d.decode(code, &o)
	f := wordFactor{int64(o.sig), o.q, o.e, flagsOf[o.class], o.neg}
	switch {
	case f.flags&isZero != 0:
		f.sig, f.e = 0, wordNull
	case f.flags != 0:
		f.sig = 0
	case o.neg:
		f.sig = -f.sig
	}
	return f
}

func (w *word) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*wordState)
	st.tile = -1
	if w.vector.computes(w.m, in) {
		w.runBeside(st, in, out)
		return
	}
	for t := range in.Tiles {
		st.a = decodeWords(&st.x.a, st.bytesA, st.a, in.A, t, in.M*in.K)
		st.b = decodeWords(&st.x.b, st.bytesB, st.b, in.B, t, in.N*in.K)
		w.runTile(st, st.a, st.b, in, out, t)
	}
}

// mostBeside is the number of products that are made together: a processor's cache has them.
const mostBeside = 1 << 12

// computes reports whether vectors compute a batch: tiles of more products are faster in scalars.
func (v *wordVector) computes(m *Model, in *mma.Batch) bool {
	return v != nil && in.K == m.k && in.Dots() >= fewestSideBySide && in.M*in.N*in.K <= mostBeside
}

// atOnce is the number of tiles whose products are made together.
func (v *wordVector) atOnce(in *mma.Batch) int { return mostBeside / (in.M * in.N * in.K) }

// runBeside is run in vector instructions.
func (w *word) runBeside(st *wordState, in *mma.Batch, out []byte) {
	for t, n := 0, w.vector.atOnce(in); t < in.Tiles; t += n {
		st.besides = st.besides[:0]
		w.runTiles(st, &st.besides, in, out, t, min(n, in.Tiles-t))
	}
}

// runTiles computes some tiles in vector instructions.
func (w *word) runTiles(st *wordState, products *[]uint64, in *mma.Batch, out []byte, first, tiles int) {
	if !w.vector.codes && len(*products) == 0 {
		a, b := in.M*in.K, in.N*in.K
		st.a = decodeWords(&st.x.a, st.bytesA, st.a, in.A[first*a*int(st.x.a.f.Width):], 0, tiles*a)
		st.b = decodeWords(&st.x.b, st.bytesB, st.b, in.B[first*b*int(st.x.b.f.Width):], 0, tiles*b)
	}
	n := in.M * in.N
	for _, i := range w.vector.tiles(&st.side, st.a, st.b, products, in, out, first, tiles) {
		t, o := first+int(i)/n, int(i)%n
		st.a = decodeWords(&st.x.a, st.bytesA, st.a, in.A, t*in.M+o/in.N, in.K)
		st.b = decodeWords(&st.x.b, st.bytesB, st.b, in.B, t*in.N+o%in.N, in.K)
		st.products.multiply(st.a, st.b)
		w.output(st, st.a, st.b, &st.products, in, out, t, o)
	}
}

// runDecoded is run on operands that are decoded.
func (w *word) runDecoded(f *decodedWords, in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*wordState)
	st.tile = -1
	if w.vector.computes(w.m, in) {
		w.runTiles(st, f.beside(w.vector), in, out, 0, in.Tiles)
		return
	}
	if !f.decoded {
		f.a = decodeWords(&st.x.a, st.bytesA, f.a, in.A, 0, in.Tiles*in.M*in.K)
		f.b = decodeWords(&st.x.b, st.bytesB, f.b, in.B, 0, in.Tiles*in.N*in.K)
		f.decoded = true
	}
	a, b := in.M*in.K, in.N*in.K
	if in.M*in.N > 1 {
		for t := range in.Tiles {
			w.runTile(st, f.a[t*a:][:a], f.b[t*b:][:b], in, out, t)
		}
		return
	}
	if len(f.products) != in.Tiles {
		f.products = resize(f.products, in.Tiles)
		for t := range f.products {
			f.products[t].multiply(f.a[t*a:][:a], f.b[t*b:][:b])
		}
	}
	for t := range in.Tiles {
		w.output(st, f.a[t*a:][:a], f.b[t*b:][:b], &f.products[t], in, out, t, 0)
	}
}

// runTile computes the outputs of tile t, whose operands are decoded.
func (w *word) runTile(st *wordState, a, b []wordFactor, in *mma.Batch, out []byte, t int) {
	for i := range in.M * in.N {
		a, b := a[i/in.N*in.K:][:in.K], b[i%in.N*in.K:][:in.K]
		st.products.multiply(a, b)
		w.output(st, a, b, &st.products, in, out, t, i)
	}
}

// output computes output i of tile t, whose factors and products these are.
func (w *word) output(st *wordState, a, b []wordFactor, products *wordProducts, in *mma.Batch, out []byte, t, i int) {
	at := t*in.M*in.N + i
	code, ok := w.dot(st, a, b, products, in, at)
	if !ok {
		code = st.general(in, t, i)
	}
	mma.Store(out, w.m.formats.D.Width(), at, code)
}

// general computes an output in the general interpreter.
func (st *wordState) general(in *mma.Batch, t, i int) uint64 {
	if st.tile != t {
		st.x.loadTile(in, t)
		st.tile = t
	}
	st.x.loadOutput(in, t, i)
	return st.x.run()
}

// decodeWords decodes n codes of a buffer, the row-th time.
func decodeWords(d *decoder, table *[256]wordFactor, to []wordFactor, buf []byte, row, n int) []wordFactor {
	to = resize(to, n)
	width := int(d.f.Width)
	buf = buf[row*n*width:][:n*width]
	if table != nil {
		for i, code := range buf {
			to[i] = table[code]
		}
		return to
	}
	sign := d.frac + d.f.ExpBits
	gradual := d.top != 0 && d.flush == mma.KeepSub && d.exp != mma.OperandSum && !d.f.NoZero && d.f.Specials == fp.IEEE
	for i := range to {
		code, f := mma.Load(buf, width, i), &to[i]
		c := code >> d.f.Low
		s, field, m := c>>sign, c>>d.frac&d.field, int64(c&d.fracMask)
		f.flags, f.neg = 0, s != 0
		switch {
		case field != 0 && field < d.top:
			f.e = int32(field) - d.bias
			m |= int64(d.hidden)
		case field != 0 || !gradual:
			*f = d.wordFactor(code)
			continue
		case m != 0:
			f.e = d.emin
		default:
			f.e, f.flags = wordNull, isZero
		}
		f.sig = (m ^ -int64(s)) + int64(s)
		f.q = f.e - int32(d.frac)
	}
	return to
}

// dot computes an output; false if some number has too many bits.
func (w *word) dot(st *wordState, a, b []wordFactor, products *wordProducts, in *mma.Batch, output int) (uint64, bool) {
	x := st.x
	var code uint64
	if x.fc != nil {
		code = mma.Load(in.C, int(x.fc.Width), output)
	}
	fc := x.fc
	for from := 0; from < len(a); from += w.m.k {
		c := zeroTerm(false)
		if fc != nil {
			c = x.accumulator(fc, code, x.p.In.C)
		}
		st.special = 0
		s, ok := w.instruction(st, a, b, products, from, &c, fc == nil)
		if !ok {
			return 0, false
		}
		code, fc = w.code(st, s), x.fd
	}
	return code, true
}

// code encodes the last term of an instruction.
func (w *word) code(st *wordState, s wordTerm) uint64 {
	switch {
	case st.special == plusInf, st.special == minusInf:
		return st.x.encode(infTerm(st.special == minusInf))
	case st.special != 0:
		return w.nan
	}
	return st.x.fd.Encode(fp.Dyadic{Lo: uint64(max(s.sig, -s.sig)), Q: s.q, Neg: s.neg}, fp.RNE, fp.OverInf)
}

// meet notes an infinity or a NaN.
func (st *wordState) meet(kind Kind, neg bool) {
	switch {
	case kind > Inf:
		st.special |= someNaN
	case neg:
		st.special |= minusInf
	default:
		st.special |= plusInf
	}
}

// word returns a finite term as a wordTerm, a zero for any other, which is noted.
func (st *wordState) word(t *term) wordTerm {
	if t.kind >= Inf {
		st.meet(t.kind, t.Neg)
		return nullWord(false)
	}
	s := wordTerm{int64(t.Lo), t.Q, t.e, false, t.Neg}
	switch {
	case t.kind == Null:
		return nullWord(t.Neg)
	case t.Neg:
		s.sig = -s.sig
	}
	return s
}

// instruction runs the program on K elements, beginning with number from.
func (w *word) instruction(st *wordState, a, b []wordFactor, products *wordProducts, from int, c *term, noC bool) (acc wordTerm, ok bool) {
	x := st.x
	p := x.p
	acc = nullWord(false)
	if p.Start == mma.StartC {
		acc = st.word(c)
	}
	if w.chain {
		if acc, ok = w.steps(st, a[from:], b[from:], products.terms[from:], products.flags, acc); !ok {
			return acc, false
		}
	}
	l := p.Step(w.m.k)
	for at := 0; at < w.m.k && !w.chain; at += l {
		w.products(st, a, b, products, from, at, min(at+l, w.m.k))
		if st.special != 0 {
			if w.grouped && (st.special == plusInf || st.special == minusInf) {
				return acc, false // a sum of a stage could become an infinity of the other sign
			}
			continue
		}
		if at > 0 && p.In.Acc != mma.KeepSub && (acc.sig == 0 || acc.exponent() < x.fd.Emin()) {
			acc = nullWord(acc.neg && p.In.Acc == mma.FlushSign)
		}
		if !w.stage(st, &p.Stage0, &x.stage0) || !w.stage(st, &p.Stage1, &x.stage1) {
			return acc, false
		}
		cut := &x.join
		cut.acc = -1
		if at > 0 || p.Start != mma.StartEmpty {
			cut.acc = len(st.terms)
			st.terms = st.terms[:len(st.terms)+1]
			t := &st.terms[cut.acc]
			t.sig, t.q, t.e, t.null, t.neg = acc.sig, acc.q, acc.e, acc.null, acc.neg
		}
		if acc, ok = w.fuse(st.terms, cut, true); !ok {
			return acc, false
		}
		w.round(st, &acc, &p.Join.Post)
		w.round(st, &acc, &p.Acc)
	}
	if p.Start != mma.StartC && !noC {
		r := &p.Late
		if x.fc == nil {
			r = &p.Acc
		}
		last := st.word(c)
		if st.special == 0 {
			if acc, ok = w.fuse([]wordTerm{acc, last}, &cut{acc: -1, rd: r.Mode == fp.RD}, r.Frac != 0); !ok {
				return acc, false
			}
			w.round(st, &acc, r)
		}
	}
	if st.special == 0 {
		w.round(st, &acc, &p.Out)
	}
	return acc, true
}

// meetProduct notes a product that is an infinity or a NaN.
func (st *wordState) meetProduct(f, g *wordFactor) {
	switch flags := f.flags | g.flags; {
	case flags&isNaN != 0, flags == isInf|isZero:
		st.special |= someNaN
	case flags&isInf != 0:
		st.meet(Inf, f.neg != g.neg)
	}
}

// steps adds one product after the other to an accumulator; false if a sum has too many bits.
func (w *word) steps(st *wordState, a, b []wordFactor, products []wordTerm, flags uint8, acc wordTerm) (sum wordTerm, ok bool) {
	join := &st.x.join
	join.acc = 1
	floor := int32(wordNull) // none
	if join.Floor != 0 {
		floor = int32(join.Floor)
	}
	for n, k := range w.m.order {
		if flags&(isInf|isNaN) != 0 {
			st.meetProduct(&a[k], &b[k])
		}
		if st.special != 0 {
			continue
		}
		t := &products[k]
		sig, q, e := t.sig, t.q, max(t.e, acc.e, floor)
		low, fits := e-int32(join.F), true
		if join.F == 0 {
			low = min(q, acc.q)
			fits = magnitudeBits(sig)+q-low < 62 && magnitudeBits(acc.sig)+acc.q-low < 62
		}
		if sig == 0 && acc.sig != 0 && n > 0 && (join.F == 0 || acc.q >= low) {
			continue // nothing is cut, and the accumulator is rounded
		}
		if both := sig != 0 && acc.sig != 0; both && fits {
			if x := inUnits(sig, q-low) + inUnits(acc.sig, acc.q-low); x != 0 {
				acc = wordTerm{sig: x, q: low, neg: x < 0}
				w.round(st, &acc, &w.m.params.Acc)
				continue
			}
		}
		st.terms = append(st.terms[:0], *t, acc)
		if acc, ok = w.fuse(st.terms, join, true); !ok {
			return acc, false
		}
		w.round(st, &acc, &w.m.params.Acc)
	}
	return acc, true
}

// inUnits is sig * 2^n cut toward zero.
func inUnits(sig int64, n int32) int64 {
	if n >= 0 {
		return sig << uint(n&63)
	}
	right := uint(min(-n, 63))
	return (sig + sig>>63&(1<<right-1)) >> (right & 63)
}

// products makes the products of elements at..to-1 of an execution that begins with number from the
// terms of a step.
func (w *word) products(st *wordState, a, b []wordFactor, all *wordProducts, from, at, to int) {
	st.terms = resize(st.terms, to-at+3) // there is room for the accumulator
	if all.flags&(isInf|isNaN) != 0 {
		for _, k := range w.m.order[at:to] {
			st.meetProduct(&a[from+k], &b[from+k])
		}
	}
	terms, n := st.terms, 0
	if !w.together || !w.inOrder || !all.masked {
		for _, k := range w.m.order[at:to] {
			terms[n] = all.terms[from+k]
			n++
		}
	} else {
		step := (uint64(1)<<(to-at) - 1) << (from + at)
		for live := all.live & step; live != 0; live &= live - 1 {
			terms[n] = all.terms[bits.TrailingZeros64(live)&63]
			n++
		}
		for i, zeros := range all.zeros { // which decide the sign of a zero sum
			if zeros&step != 0 {
				terms[n] = nullWord(i == 1)
				n++
			}
		}
	}
	st.terms = terms[:n]
	if !w.plain {
		w.condition(st)
	}
}

// condition normalises and rounds products.
func (w *word) condition(st *wordState) {
	x := st.x
	for i := range st.terms {
		t := &st.terms[i]
		if t.sig == 0 {
			continue
		}
		e := t.exponent()
		if w.normalised {
			t.e = e
		}
		if x.rounds.products && e >= x.exact {
			w.round(st, t, &x.p.Prod.Round)
		}
	}
}

// exponent returns floor(log2) of the magnitude of a term that is not zero.
func (t *wordTerm) exponent() int32 { return t.q + magnitudeBits(t.sig) - 1 }

func magnitudeBits(sig int64) int32 { return int32(bits.Len64(uint64(max(sig, -sig)))) }

// setNull makes a term a zero without an exponent. That its fields are set one by one, here and
// elsewhere, is faster than to copy a term of which some were set just before.
func (t *wordTerm) setNull(neg bool) {
	t.sig, t.q, t.e, t.null, t.neg = 0, 0, wordNull, true, neg
}

// stage is machine.level.
func (w *word) stage(st *wordState, s *mma.Stage, c *cut) bool {
	if s.Sum == mma.Off {
		return true
	}
	n := len(st.terms)
	size := int(s.Group)
	if size == 0 || size > n {
		size = n
	}
	if size == n && s.Split != mma.Interleaved {
		t, ok := w.sum(st, s, c, st.terms)
		st.terms = append(st.terms[:0], t)
		return ok
	}
	groups := (n + size - 1) / size
	if s.Split == mma.Interleaved {
		groups = size
	}
	for g := range groups {
		st.dealt = st.dealt[:0]
		if s.Split == mma.Interleaved {
			for i := g; i < n; i += groups {
				st.dealt = append(st.dealt, st.terms[i])
			}
		} else {
			st.dealt = append(st.dealt, st.terms[g*size:min(n, (g+1)*size)]...)
		}
		t, ok := w.sum(st, s, c, st.dealt)
		if !ok {
			return false
		}
		st.terms[g] = t // no later group has the term that stood here
	}
	st.terms = st.terms[:groups]
	return true
}

// sum adds the terms of one group, which it may change.
func (w *word) sum(st *wordState, s *mma.Stage, c *cut, ts []wordTerm) (t wordTerm, ok bool) {
	switch s.Sum {
	case mma.Fused:
		return w.add(st, s, c, ts)
	case mma.Sequential:
		for i := 1; i < len(ts); i++ {
			if ts[0], ok = w.add(st, s, c, []wordTerm{ts[0], ts[i]}); !ok {
				return t, false
			}
		}
		return ts[0], true
	}
	for n := len(ts); n > 1; n = (n + 1) / 2 {
		h := (n + 1) / 2
		for i := range h {
			l, r := 2*i, 2*i+1
			if s.Sum == mma.PairHalves {
				l, r = i, i+h
			}
			if t, ok = ts[l], true; r < n {
				t, ok = w.add(st, s, c, []wordTerm{t, ts[r]})
			}
			if ts[i] = t; !ok {
				return t, false
			}
		}
	}
	return ts[0], true
}

// add is one fused sum of a stage and its rounding; false also if an infinity becomes of it, to
// which other sums of the stage may add one of the other sign.
func (w *word) add(st *wordState, s *mma.Stage, c *cut, ts []wordTerm) (wordTerm, bool) {
	t, ok := w.fuse(ts, c, s.Round.Frac != 0)
	w.round(st, &t, &s.Round)
	return t, ok && st.special == 0
}

// fuse is machine.fuse of finite terms, one of which it may change; false if the sum has too many
// bits. rounded is whether a rounding follows, to which a sticky bit stands for any lower bits.
func (w *word) fuse(ts []wordTerm, c *cut, rounded bool) (t wordTerm, ok bool) {
	e := int32(wordNull)
	for i := range ts {
		e = max(e, ts[i].e)
	}
	some := e > wordNull/2
	if c.Floor != 0 {
		e = max(e, int32(c.Floor))
	}
	ok = true
	if some {
		if c.acc >= 0 && (c.cf != 0 || c.cmode != 0 || c.cdrop != 0) {
			c.cutWord(&ts[c.acc], e)
		}
		if t.e = e; c.F == 0 {
			t.sig, t.q, ok = exactWords(ts, rounded)
		} else {
			t.q = e - int32(max(c.F, c.cf))
			t.sig = cutWords(ts, c, e, t.q)
		}
	}
	if !some {
		t = nullWord(false)
	}
	t.neg = t.sig < 0
	if t.sig == 0 && w.m.params.Special.NegZero {
		t.neg = c.zeroWord(ts)
	}
	return t, ok
}

// cutWord cuts an accumulator that is cut differently from other terms.
func (c *cut) cutWord(t *wordTerm, e int32) {
	if c.cdrop != 0 && !t.null && t.e < e-int32(c.cdrop) {
		t.sig, t.q, t.neg = 0, 0, false // +0
		return
	}
	if q, m, ok := c.of(c.acc, e); ok && q > t.q {
		t.sig, t.q = shiftWord(t.sig, q-t.q, m), q
	}
}

// cutWords returns the sum of terms cut at F, in units of 2^q.
func cutWords(ts []wordTerm, c *cut, e, q int32) (sum int64) {
	if c.acc >= 0 && (c.cf != 0 || c.cmode != 0) { // it is cut already
		sum = ts[c.acc].sig << uint((ts[c.acc].q-q)&63)
		ts = ts[:c.acc]
	}
	at := e - int32(c.F)
	if c.Mode == fp.RZ {
		var others int64
		for i := range ts { // without a branch that no processor can predict
			t := &ts[i]
			right, left := uint(min(max(at-t.q, 0), 63)), uint(max(t.q-at, 0))
			others += (t.sig + t.sig>>63&(1<<(right&63)-1)) >> (right & 63) << (left & 63)
		}
		return sum + others<<uint((at-q)&63)
	}
	for i := range ts {
		if t := &ts[i]; at > t.q {
			sum += shiftWord(t.sig, at-t.q, c.Mode) << uint((at-q)&63)
		} else {
			sum += t.sig << uint((t.q-q)&63)
		}
	}
	return sum
}

// shiftWord divides s by 2^n, n > 0, and rounds. s has at most 62 bits.
func shiftWord(s int64, n int32, m fp.Mode) int64 {
	shift := uint(min(n, 63))
	switch m {
	case fp.RZ:
		return (s + s>>63&(1<<shift-1)) >> shift
	case fp.RD:
		return s >> shift
	case fp.RU:
		return -(-s >> shift)
	}
	u := uint64(max(s, -s))
	r, lost, half := u>>shift, u&(1<<shift-1), uint64(1)<<(shift-1)
	switch {
	case m == fp.RNE && (lost > half || lost == half && r&1 != 0), m == fp.RNA && lost >= half:
		r++
	case m == fp.RTO && lost != 0:
		r |= 1
	}
	if s < 0 {
		return -int64(r)
	}
	return int64(r)
}

// exactWords returns the sum of terms, in units of 2^q. Of two terms that are too far apart the
// lower one may become a sticky bit; any other sum that does not fit is not made.
func exactWords(ts []wordTerm, sticky bool) (sum int64, q int32, ok bool) {
	low, high, n := int32(1<<30), int32(-1<<30), 0
	for i := range ts {
		if ts[i].sig != 0 {
			low, high, n = min(low, ts[i].q), max(high, ts[i].exponent()), n+1
		}
	}
	if n == 0 {
		return 0, 0, true
	}
	if high-low+1+int32(bits.Len(uint(n))) > 62 {
		if n > 2 || !sticky {
			return 0, 0, false
		}
		low = high - 58
	}
	lost := false
	for i := range ts {
		switch s, shift := ts[i].sig, ts[i].q-low; {
		case s == 0:
		case shift >= 0:
			sum += s << uint(shift)
		case lost || ts[i].exponent() > high-2: // its upper bits could cancel
			return 0, 0, false
		default:
			cut := shiftWord(s, -shift, fp.RD)
			lost = s != cut<<uint(min(-shift, 63))
			sum += cut
		}
	}
	if lost {
		return sum<<1 | 1, low - 1, true
	}
	return sum, low, true
}

// zeroWord is cut.zeroSign.
func (c *cut) zeroWord(ts []wordTerm) bool {
	pos, neg := false, false
	for i := range ts {
		pos, neg = pos || !ts[i].neg, neg || ts[i].neg
	}
	return neg && (!pos || c.rd)
}

// round is machine.round of a finite term. An infinity that becomes of it is noted.
func (w *word) round(st *wordState, t *wordTerm, r *mma.Round) {
	if r.Frac == 0 && r.Emax == 0 && r.Flush == mma.NoFlush {
		return
	}
	if t.sig == 0 {
		if r.Frac != 0 {
			t.setNull(t.neg)
		}
		return
	}
	e, emin, sig, q := t.exponent(), int32(r.Emin), t.sig, t.q
	tiny := r.Flush != mma.NoFlush && w.flushes(t, e, r)
	if r.Frac != 0 {
		at := e
		if r.HasEmin() {
			at = max(e, emin)
		}
		if unit := at - int32(r.Frac); unit > q {
			sig, q = shiftWord(sig, unit-q, r.Mode), unit
			if e = magnitudeBits(sig) + q - 1; sig == 0 || r.Flush == mma.FlushResult && e < emin {
				tiny = true
			}
		}
	}
	switch {
	case tiny:
		t.setNull(t.neg && w.m.params.Special.TinySign)
	case r.Emax != 0 && e >= int32(r.Emax) && (e > int32(r.Emax) || bits.OnesCount64(uint64(max(sig, -sig))) > int(r.Frac) && st.x.short(r)):
		over := st.x.overflow(t.neg, r)
		*t = st.word(&over)
	default:
		if t.sig, t.q = sig, q; r.Frac != 0 {
			if t.e = e; r.HasEmin() {
				t.e = max(e, emin)
			}
		}
	}
}

// flushes reports whether a term of exponent e counts as tiny, unless that depends on the
// rounded number: then, whether it does if nothing is rounded.
func (w *word) flushes(t *wordTerm, e int32, r *mma.Round) bool {
	if q := e - int32(r.Frac); r.Flush == mma.FlushAfter && r.Frac != 0 && q > t.q {
		e = magnitudeBits(shiftWord(t.sig, q-t.q, r.Mode)) + q - 1
	}
	return e < int32(r.Emin) && (r.Flush != mma.FlushResult || r.Frac == 0 || max(e, int32(r.Emin))-int32(r.Frac) <= t.q)
}
