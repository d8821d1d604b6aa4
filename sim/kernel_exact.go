package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// exact is the kernel of programs that add all products and C exactly and round the sum
// once, as the reference of exact arithmetic does.
//
// A sum is a fixed-point number that spans all products of the formats (Kulisch), in
// digits of 32 bits. Each is an int64, so that products are added without carries, which are
// done once, at the end; a product of few bits is added to one digit, whatever its place
// in there. Operands of few binary places are integers: see kernel_exact_int.go.
type exact struct {
	m        *Model
	low      int32 // weight of the lowest bit
	digits   int
	products [2]int // the digits that products reach: from one to before the other
	block    int    // after so many products that are added to one digit: the carries; 0: none are
	narrowC  bool   // so is C
	direct   bool   // the sum is rounded to D's format and nothing else
	down     bool   // a zero sum of terms of both signs is -0
	nan      uint64
	ints     exactInts
	vector   *wordVector // nil: vectors do not support the program
}

// exactState is one worker's scratch space.
type exactState struct {
	x *machine
	exactFactors
	sums    []int64 // even and odd products apart: one need not wait for the other
	side    sideVector
	besides []uint64 // for wordVector.tiles

	bytesA, bytesB *[256]wordFactor // of formats of one byte: all factors
}

// exactFactors are the operands of some tiles.
type exactFactors struct {
	first  int          // tile
	rows   int          // of A, in all tiles
	a, b   []wordFactor // with their scales; q is counted from the lowest exponent of its side
	some   []uint64     // which factors of a row of A are Inf or NaN, a bit each; after them B's columns
	ia, ib []int64      // the factors as integers: exactInts
}

// What a factor is, unless it is a number other than zero.
const (
	isZero uint8 = 1 << iota
	isInf
	isNaN
)

// newExact returns the kernel, or nil if the program is not such a sum.
func newExact(m *Model) *exact {
	p, f := &m.params, m.formats
	q := mma.Params{
		In: mma.Input{Sub: p.In.Sub, C: p.In.C, Acc: p.In.Acc}, Order: p.Order, L: p.L, Acc: p.Acc, Out: p.Out,
		Special: mma.Special{NaN: p.Special.NaN, NegZero: p.Special.NegZero, TinySign: p.Special.TinySign},
	}
	if q != *p || p.Step(m.k) != m.k || p.Special.OperandNaN() {
		return nil
	}
	x := newMachine(m)
	e := &exact{m: m, down: p.Special.NegZero && x.join.rd, nan: x.nanCode(term{kind: NaN})}
	lowA, highA, bitsA := reach(f, f.A)
	lowB, highB, bitsB := reach(f, f.B)
	if bitsA > 60 || bitsB > 60 {
		return nil
	}
	lowest, highest := lowA+lowB, highA+highB
	low, high := lowest, highest
	e.narrowC = true
	for _, id := range []fp.ID{f.C, f.D} { // D is C of the next instruction
		if id != fp.None {
			c := id.Get()
			low, high = min(low, c.Emin()-int32(c.FracBits)), max(high, c.Emax()+1)
			e.narrowC = e.narrowC && c.FracBits < 24
		}
	}
	e.low = low
	if spare := 61 - 31 - int(bitsA+bitsB); spare > 2 { // the block's products, and C, stay below 2^62
		e.block = 1 << spare
	}
	e.digits = int(high-e.low)/32 + 4 // for the carries of up to 2^31 products
	e.products = [2]int{int(lowest-e.low) / 32, min(e.digits, int(highest-e.low)/32+4)}
	e.ints = newExactInts(lowest, max(highA-lowA, highB-lowB), e.narrowC)
	e.direct = p.Acc == mma.To(f.D, fp.RNE) && p.Out == mma.Round{} && p.Special.TinySign && f.D.Get().HasInf()
	return e
}

// reach returns the range of the exponents of an operand's bits, its scale included, and the
// number of its significant bits.
func reach(f mma.Formats, id fp.ID) (low, high, n int32) {
	for _, id := range []fp.ID{id, f.Scale} {
		if id != fp.None {
			x := id.Get()
			low, high, n = low+x.Emin()-int32(x.FracBits), high+x.Emax()+1, n+int32(x.FracBits)+1
		}
	}
	return low, high, n
}

func (e *exact) name() string { return "exact" }

func (e *exact) newState() any {
	x := newMachine(e.m)
	return &exactState{x: x, sums: make([]int64, 2*e.digits), bytesA: wordFactors(&x.a), bytesB: wordFactors(&x.b)}
}

func (e *exact) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*exactState)
	if e.vector.computes(e.m, in) {
		for t, n := 0, e.vector.atOnce(in); t < in.Tiles; t += n {
			st.besides = st.besides[:0]
			e.runTiles(st, &st.besides, in, out, t, min(n, in.Tiles-t))
		}
		return
	}
	for t := range in.Tiles {
		e.load(st, &st.exactFactors, in, t, 1)
		e.runTile(st, &st.exactFactors, in, out, t)
	}
}

// runTiles computes some tiles in vector instructions.
func (e *exact) runTiles(st *exactState, products *[]uint64, in *mma.Batch, out []byte, first, tiles int) {
	loaded, n := -1, in.M*in.N
	for _, i := range e.vector.tiles(&st.side, nil, nil, products, in, out, first, tiles) {
		t := first + int(i)/n
		if t != loaded {
			e.load(st, &st.exactFactors, in, t, 1)
			loaded = t
		}
		mma.Store(out, e.m.formats.D.Width(), t*n+int(i)%n, e.dot(st, &st.exactFactors, in, t, int(i)%n))
	}
}

// runDecoded is run on operands that are decoded, of all tiles.
func (e *exact) runDecoded(f *decodedExact, in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*exactState)
	if !f.decoded {
		e.load(st, &f.exactFactors, in, 0, in.Tiles)
		f.decoded = true
	}
	for t := range in.Tiles {
		e.runTile(st, &f.exactFactors, in, out, t)
	}
}

// runTile computes the outputs of tile t, whose operands are loaded.
func (e *exact) runTile(st *exactState, f *exactFactors, in *mma.Batch, out []byte, t int) {
	width, n := e.m.formats.D.Width(), in.M*in.N
	for i := range n {
		mma.Store(out, width, t*n+i, e.dot(st, f, in, t, i))
	}
}

// load makes factors of the operands of one tile, or of all: first is 0 then.
func (e *exact) load(st *exactState, to *exactFactors, in *mma.Batch, first, tiles int) {
	s, w, rows, cols := in.Blocks(in.K), words(in.K), tiles*in.M, tiles*in.N
	to.first, to.rows = first, rows
	to.a = decodeWords(&st.x.a, st.bytesA, to.a, in.A, first, rows*in.K)
	to.b = decodeWords(&st.x.b, st.bytesB, to.b, in.B, first, cols*in.K)
	to.some = resize(to.some, (rows+cols)*w)
	clear(to.some)
	f, r := e.m.formats, &st.x.rows
	st.x.resize(0, 0, rows*s, cols*s)
	if s > 0 {
		st.x.s.decodeRow(r.sa, in.SA, first, rows*s)
		st.x.s.decodeRow(r.sb, in.SB, first, cols*s)
	}
	low, _, _ := reach(f, f.A)
	for i := range rows {
		e.factors(to.a[i*in.K:][:in.K], r.sa[i*s:][:s], low, to.some[i*w:])
	}
	low = e.low - low // so that the sum of two places is that of the product
	for i := range cols {
		e.factors(to.b[i*in.K:][:in.K], r.sb[i*s:][:s], low, to.some[(rows+i)*w:])
	}
	if e.ints.fit {
		lowB, _, _ := reach(f, f.B)
		to.ia, to.ib = integers(to.ia, to.a, 0), integers(to.ib, to.b, lowB-low)
	}
}

// words is the number of words that have a bit for each of k factors.
func words(k int) int { return (k + 63) / 64 }

// factors scales the factors of a row or column, and sets the bits of those that are Inf or NaN.
func (e *exact) factors(row []wordFactor, scales []operand, low int32, some []uint64) {
	block := int(e.m.formats.Block)
	for i := range row {
		f := &row[i]
		if len(scales) > 0 {
			s := &scales[i/block]
			f.sig, f.q, f.flags = f.sig*int64(s.sig), f.q+s.q, f.flags|flagsOf[s.class]
		}
		if f.q -= low; f.flags != 0 {
			f.sig, f.q = 0, 0
		}
		if f.flags&(isInf|isNaN) != 0 {
			some[i/64] |= 1 << (i % 64)
		}
	}
}

var flagsOf = [...]uint8{fp.Zero: isZero, fp.Finite: 0, fp.Inf: isInf, fp.NaN: isNaN}

// dot computes output i of tile t, whose operands are loaded.
func (e *exact) dot(st *exactState, f *exactFactors, in *mma.Batch, t, i int) uint64 {
	x, k := st.x, in.K
	row, col := (t-f.first)*in.M+i/in.N, (t-f.first)*in.N+i%in.N
	var code uint64
	if x.fc != nil {
		code = mma.Load(in.C, int(x.fc.Width), t*in.M*in.N+i)
	}
	a, b := f.a[row*k:][:k], f.b[col*k:][:k]
	w := words(k)
	someA, someB := f.some[row*w:][:w], f.some[(f.rows+col)*w:][:w]
	fc := x.fc
	for from := 0; from < k; from += e.m.k {
		c := zeroTerm(false)
		if fc != nil {
			c = x.accumulator(fc, code, x.p.In.C)
		}
		s := e.specialSum(a, b, someA, someB, from, &c)
		switch {
		case s.kind != Finite:
		case e.ints.fit:
			s = e.ints.sum(f.ia[row*k+from:][:e.m.k], f.ib[col*k+from:][:e.m.k], &c)
			if s.IsZero() {
				s.Neg = e.zeroSign(a[from:][:e.m.k], b[from:][:e.m.k], &c)
			}
		default:
			s = e.sum(st, a[from:][:e.m.k], b[from:][:e.m.k], &c)
		}
		code, fc = e.code(x, s), x.fd
	}
	return code
}

// code rounds and encodes a sum.
func (e *exact) code(x *machine, s term) uint64 {
	switch {
	case s.kind == NaN:
		return e.nan
	case e.direct && s.kind == Finite:
		return x.fd.Encode(s.Dyadic, fp.RNE, fp.OverInf)
	}
	s = x.round(s, &x.p.Acc)
	if x.rounds.results {
		s = x.round(s, &x.p.Out)
	}
	return x.encode(s)
}

// specialSum returns the sum of the products of one instruction and of c if it is not finite:
// an infinity or NaN.
func (e *exact) specialSum(a, b []wordFactor, someA, someB []uint64, from int, c *term) term {
	plus, minus, nan := c.kind == Inf && !c.Neg, c.kind == Inf && c.Neg, c.kind > Inf
	for w := from / 64; w < words(from+e.m.k); w++ {
		for some := someA[w] | someB[w]; some != 0; some &= some - 1 {
			k := 64*w + bits.TrailingZeros64(some)
			if k < from || k >= from+e.m.k {
				continue
			}
			flags := a[k].flags | b[k].flags
			switch {
			case flags&isNaN != 0, flags == isInf|isZero:
				nan = true
			case a[k].neg == b[k].neg:
				plus = true
			default:
				minus = true
			}
		}
	}
	switch {
	case nan || plus && minus:
		return term{kind: NaN}
	case plus || minus:
		return infTerm(minus)
	}
	return term{}
}

// zeroSign is the sign of a zero sum: see cut.zeroSign.
func (e *exact) zeroSign(a, b []wordFactor, c *term) bool {
	pos, neg := !c.Neg, c.Neg
	for k := range a {
		if a[k].neg != b[k].neg {
			neg = true
		} else {
			pos = true
		}
	}
	return e.m.params.Special.NegZero && neg && (!pos || e.down)
}

// sum returns the sum of finite products and of c. If it has more bits than a term, the last
// one is sticky: see machine.exactSum.
func (e *exact) sum(st *exactState, a, b []wordFactor, c *term) term {
	n := e.digits
	even, odd := st.sums[:n:n], st.sums[n:2*n:2*n]
	from, to := e.products[0], e.products[1]
	if e.block == 0 {
		for k := range a {
			addProduct(even, &a[k], &b[k])
		}
	} else {
		for at := 0; at < len(a); at += e.block {
			if at > 0 {
				carry(even[from:to], odd[from:to])
			}
			end := min(at+e.block, len(a))
			addProducts(even, odd, a[at:end], b[at:end])
		}
	}
	if !c.IsZero() {
		at := c.Q - e.low
		switch {
		case !e.narrowC:
			addWide(even, c.Neg, 0, c.Lo, uint32(at))
		case c.Neg:
			addNarrow(even, -int64(c.Lo), at)
		default:
			addNarrow(even, int64(c.Lo), at)
		}
		from, to = min(from, int(at/32)), max(to, min(n, int(at/32)+4))
	}
	s := e.total(even, odd, from, to)
	if s.IsZero() {
		s.Neg = e.zeroSign(a, b, c)
	}
	return s
}

// addProducts adds products of few bits.
func addProducts(even, odd []int64, a, b []wordFactor) {
	b = b[:len(a)]
	k := 0
	for ; k+1 < len(a); k += 2 {
		addNarrow(even, a[k].sig*b[k].sig, a[k].q+b[k].q)
		addNarrow(odd, a[k+1].sig*b[k+1].sig, a[k+1].q+b[k+1].q)
	}
	if k < len(a) {
		addNarrow(even, a[k].sig*b[k].sig, a[k].q+b[k].q)
	}
}

// carry brings all digits but the last, which has the sign, below 2^32.
func carry(even, odd []int64) {
	carry, last := int64(0), len(even)-1
	for i, v := range even {
		v += odd[i] + carry
		carry, odd[i] = v>>32, 0
		if even[i] = v; i < last {
			even[i] = int64(uint32(v))
		}
	}
}

// addNarrow adds v * 2^at to the digit of its lowest bit.
func addNarrow(sum []int64, v int64, at int32) {
	sum[uint32(at)/32] += v << (uint32(at) % 32)
}

// addProduct adds the product of two factors.
func addProduct(sum []int64, a, b *wordFactor) {
	x, y := a.sig, b.sig
	hi, lo := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	addWide(sum, x < 0 != (y < 0), hi, lo, uint32(a.q+b.q))
}

// addWide adds or subtracts (hi * 2^64 + lo) * 2^at.
func addWide(sum []int64, neg bool, hi, lo uint64, at uint32) {
	i, s := at/32, at%32
	top := hi >> 1 >> (63 - s)
	hi, lo = hi<<s|lo>>1>>(63-s), lo<<s
	d := [5]uint64{lo & 0xffffffff, lo >> 32, hi & 0xffffffff, hi >> 32, top}
	for j, v := range d[:min(5, len(sum)-int(i))] {
		if neg {
			sum[int(i)+j] -= int64(v)
		} else {
			sum[int(i)+j] += int64(v)
		}
	}
}

// total returns the sum of both accumulators, of which some digits are in use, and empties
// them.
func (e *exact) total(even, odd []int64, from, to int) term {
	even, odd = even[from:to], odd[from:to]
	carry, top := int64(0), 0
	for i, v := range even {
		v += odd[i] + carry
		carry, even[i], odd[i] = v>>32, int64(uint32(v)), 0
	}
	neg := carry < 0
	if neg {
		carry = 1
		for i, v := range even {
			v = int64(uint32(^v)) + carry
			carry, even[i] = v>>32, int64(uint32(v))
		}
	}
	for i := len(even) - 1; i > 0; i-- {
		if even[i] != 0 {
			top = i
			break
		}
	}
	low := max(0, top-3)
	d := fp.Dyadic{Q: e.low + 32*int32(from+low), Neg: neg}
	for i := top; i >= low; i-- {
		d.Hi, d.Lo = d.Hi<<32|d.Lo>>32, d.Lo<<32|uint64(even[i])
	}
	sticky := int64(0)
	for _, v := range even[:low] {
		sticky |= v
	}
	if sticky != 0 {
		d.Lo |= 1
	}
	clear(even)
	return term{Dyadic: d}
}
