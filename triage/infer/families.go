package infer

import (
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// A family is a kind of question. The designed families are in the order in which a
// search uses them: what a family shows depends on parameters that earlier families have
// shown, and on few others.
type family struct {
	name string
	doc  string
	make func(d *designer)
}

var designed = []family{
	{"c", "c alone, and zeros", cAlone},
	{"one", "one product", oneProduct},
	{"one+c", "one product and c", productAndC},
	{"two", "two products", twoProducts},
	{"cancel", "two terms that cancel above small ones", cancelled},
	{"survivors", "two large terms that cancel among small ones everywhere", survivors},
	{"many", "products of similar exponents", manyProducts},
	{"pile", "products of similar exponents whose sums carry far: all of one sign, or of one in a group and of the other in a second", pile},
}

// furtherFamilies are further ones. Only a program that was found is tested on them; they
// guide no search.
var furtherFamilies = []family{
	{"zero sums", "products that cancel exactly, of any number, with c = 0 of either sign", zeroSum},
	{"broken ties", "sums halfway between two results but for small products, half of them beside two large ones that cancel", brokenTie},
	{"ties", "sums halfway between two results, or between two values of what is rounded before them, in any binade", exactTie},
	{"near ties", "sums of two terms, one of which is nearly half of the other's last bit, and sums of many that are nearly a power of two", nearTies},
	{"crumbs", "large products of one sign, and a few small ones, half of the time as small as products can be", crumbs},
	{"extremes", "the first and last exponents of a format, so zeros, subnormals, infinities and NaNs, in any number of lanes, in c and in scales, and in registers with bits below the value", extremes},
}

// directed are the generators of package fuzz/gen that make the rest of the first
// evidence.
var directed = []string{cornerName, "tie", "cut", "floor", "tiny", "huge", "zero", "special", "subnormal", "spread", "raw", "normal"}

// Further names of parts of the evidence.
const (
	closeUpName = "close-ups"
	refutations = "refutations"
	zeroPoints  = "zero points"
)

// docOf says what the cases of a part of the evidence are.
func docOf(name string) string {
	switch name {
	case treeName:
		return "two large terms that cancel, and small ones that show which are added first"
	case closeUpName:
		return "variations of inputs on which a program was wrong"
	case refutations:
		return "inputs on which an earlier program was wrong"
	case codesName:
		return codesDoc
	case zeroPoints:
		return "one integer in all of a, and one in all of b"
	}
	for _, fam := range slices.Concat(designed, furtherFamilies) {
		if fam.name == name {
			return fam.doc
		}
	}
	if g, err := gen.Find(name); err == nil {
		return g.Doc
	}
	return ""
}

// design returns n dot products of a designed family, aimed at a program unless p is nil.
func design(sp gen.Spec, fam *family, r *rand.Rand, n int, p *mma.Params) []*mma.Dot {
	d := newDesigner(sp.Formats, sp.K, r)
	d.widths = widthsOf(sp, p)
	dots := make([]*mma.Dot, n)
	for i := range dots {
		d.start()
		fam.make(d)
		dots[i] = d.dot
	}
	return dots
}

// Questions returns n dot products of each designed family: what inference asks first.
func Questions(sp gen.Spec, seed uint64, n int) []*mma.Dot {
	var dots []*mma.Dot
	for i := range designed {
		dots = append(dots, design(sp, &designed[i], rand.New(rand.NewPCG(seed, uint64(i))), n, nil)...)
	}
	return dots
}

// generate returns n dot products of a generator of package fuzz/gen, from index first
// on, which share no operands; first must be a multiple of 8.
func generate(sp gen.Spec, g *gen.Generator, seed, first uint64, n int, ps ...*mma.Params) []*mma.Dot {
	return gen.Independent(sp, g.Aimed(sp, ps...), seed, first, n)
}

// exponent draws the exponent of a product: mostly from the middle of the range,
// sometimes near its ends.
func (d *designer) exponent() int {
	lo, hi := d.products()
	df := d.f.D.Get()
	emin, emax := int(df.Emin()), int(df.Emax())
	if d.fs != nil {
		lo, hi = lo-60, hi+60
		if d.oneIn(4) {
			lo, hi = emin-40, emax+2
		}
	}
	switch d.IntN(8) {
	case 0:
		return d.between(lo-int(d.fa.FracBits)-int(d.fb.FracBits), hi)
	case 1:
		return d.between(max(lo, emin-int(df.FracBits)-4), emin+4)
	case 2:
		return d.between(min(hi, emax-4), hi)
	}
	return d.between(max(lo, -30), min(hi, 30))
}

// ordinary returns a range of exponents of products whose sums neither overflow nor
// underflow, as far as the formats allow; one time in eight the whole range of products.
func (d *designer) ordinary() (lo, hi int) {
	lo, hi = d.products()
	if d.oneIn(8) {
		return lo, hi
	}
	df := d.f.D.Get()
	room := min(60, int(df.Emax())/2)
	return max(lo, -room), min(hi, room)
}

// gap draws a difference of exponents.
func (d *designer) gap() int {
	most := 48
	if d.f.D.Get().FracBits > 23 {
		most = 110
	}
	if d.oneIn(3) {
		most = 8
	}
	return d.between(0, most)
}

// clampC returns the nearest exponent that c can have.
func (d *designer) clampC(e int) int {
	return min(max(e, int(d.fc.Emin())-4), int(d.fc.Emax()))
}

func cAlone(d *designer) {
	if d.fc == nil {
		oneProduct(d)
		return
	}
	e := d.between(-20, 20)
	switch d.IntN(4) {
	case 0:
		e = d.between(int(d.fc.Emin())-int(d.fc.FracBits), int(d.fc.Emax()))
	case 1:
		e = int(d.fc.Emin()) - d.between(-3, int(d.fc.FracBits)+1)
	}
	d.accumulator(e, d.coin())
	if d.oneIn(20) {
		d.dot.C &= d.fc.SignBit()
	}
	if d.oneIn(4) {
		d.zeros()
	}
}

// zeros gives zero products signs: all, or some, are -0.
func (d *designer) zeros() {
	if !d.fa.HasNegZero() {
		return
	}
	kind := d.IntN(3)
	for k := range d.k {
		if d.dot.A[k] == 0 && (kind == 0 || kind == 1 && d.coin()) {
			d.dot.A[k] = d.fa.SignBit()
		}
	}
}

func oneProduct(d *designer) { d.single() }

// single makes one product, and sometimes zeros of either sign beside it. It
// returns its position.
func (d *designer) single() int {
	k, e := d.IntN(d.k), d.exponent()
	d.reach(k, e)
	d.term(k, e, d.coin())
	if d.oneIn(6) {
		d.zeros()
	}
	if d.fc != nil && d.oneIn(6) {
		d.dot.C = d.fc.SignBit()
	}
	return k
}

func productAndC(d *designer) {
	k := d.single()
	if d.fc == nil {
		return
	}
	e := int(d.fa.Decode(d.dot.A[k]).Exp) + int(d.fb.Decode(d.dot.B[k]).Exp) + d.added(k)
	g := d.gap()
	if d.coin() {
		g = -g
	}
	d.accumulator(d.clampC(e+g), d.coin())
}

func twoProducts(d *designer) {
	at := d.places(2)
	if len(at) < 2 {
		oneProduct(d)
		return
	}
	e, g := d.exponent(), d.gap()
	for i, k := range at {
		d.reach(k, e-i*g)
		d.term(k, e-i*g, d.coin())
	}
	if d.oneIn(8) {
		d.zeros()
	}
}

// cancelled puts two terms that cancel above one or two small ones. One of the two may be
// c.
func cancelled(d *designer) {
	at := d.places(4)
	lo, hi := d.ordinary()
	g := d.gap()
	e := d.between(max(lo, min(hi-4, g+lo)), hi)
	if d.fs != nil {
		e = d.between(-20, 40)
		d.reach(at[0], e)
	}
	d.either(at[0], e)
	rest := at[1:]
	if d.fc != nil && d.oneIn(3) {
		d.minus(at[0])
	} else if len(at) > 1 {
		d.negate(at[1], at[0])
		rest = at[2:]
	}
	for range d.between(1, 2) {
		if len(rest) > 0 && !(d.fc != nil && d.dot.C == 0 && d.oneIn(5)) {
			d.reach(rest[0], e-g)
			d.either(rest[0], e-g)
			rest = rest[1:]
		} else if d.fc != nil && d.dot.C == 0 {
			d.accumulator(d.clampC(e-g), d.coin())
		}
	}
}

// either makes a product a power of two or not.
func (d *designer) either(k, e int) {
	if d.coin() {
		d.power(k, e, d.coin())
	} else {
		d.term(k, e, d.coin())
	}
}

// survivors is the question of FPRev: the result counts the small terms that are added
// only after the large ones have cancelled.
func survivors(d *designer) {
	lo, hi := d.ordinary()
	g := d.gap()
	if d.coin() {
		g = d.between(20, 60)
	}
	e := hi - d.IntN(2)
	small := max(e-g, lo)
	if d.fs != nil {
		e = d.between(0, 40)
		small = e - g
	}
	neg := d.coin()
	for k := range d.k {
		d.reach(k, small)
		d.power(k, small, neg)
	}
	at := d.places(2)
	d.reach(at[0], e)
	d.power(at[0], e, d.coin())
	switch {
	case d.fc != nil && (len(at) < 2 || d.oneIn(4)):
		d.minus(at[0])
	case len(at) > 1:
		d.negate(at[1], at[0])
		if d.fc != nil && d.coin() {
			d.dot.C = code(d.fc, neg, d.clampC(small), 0)
		}
	}
}

func manyProducts(d *designer) {
	e, w := d.exponent(), d.between(0, 12)
	for _, k := range d.places(d.between(2, d.k)) {
		d.reach(k, e)
		d.term(k, d.between(e-w, e), d.coin())
	}
	if d.fc != nil && d.coin() {
		d.accumulator(d.clampC(d.between(e-w-2, e+2)), d.coin())
	}
}

func pile(d *designer) {
	if d.oneIn(4) {
		heap(d)
		return
	}
	e, w, neg := d.exponent(), d.between(0, 3), d.coin()
	if lo, hi := d.products(); d.oneIn(3) { // where sums are subnormal
		df := d.f.D.Get()
		e = min(max(int(df.Emin())-d.between(-3, int(df.FracBits)+2), lo), hi)
	}
	one, other := d.bunches()
	second := len(one)
	if d.coin() { // two sums that nearly cancel show what each has lost
		one = append(one, other...)
	}
	for i, k := range one {
		x := d.between(e-w, e)
		if d.oneIn(4) { // something to lose
			x -= d.between(8, 30)
		}
		d.reach(k, x)
		d.term(k, x, neg != (i >= second))
	}
	if d.fc != nil && d.oneIn(3) {
		d.accumulator(d.clampC(d.between(e-w, e+6)), neg != d.oneIn(4))
	}
}

// heap makes all products, and c, of one sign and mostly of one exponent, so that
// their sum carries as far as it can. Sometimes they are all the same, as in a product
// with a matrix of ones.
func heap(d *designer) {
	lo, hi := d.ordinary()
	e, w, neg := d.between(lo, hi), d.between(0, 2)/2, d.coin()
	for k := range d.k {
		x := d.between(e-w, e)
		d.reach(k, x)
		d.term(k, x, neg)
	}
	if d.fs == nil && d.oneIn(3) {
		d.alike(neg)
	}
	if d.fc != nil && d.coin() {
		d.accumulator(d.clampC(d.between(e-3, e+8)), neg)
	}
}

// alike makes all products like the first, or all +-1.
func (d *designer) alike(neg bool) {
	if d.coin() {
		d.power(0, 0, neg)
	}
	for k := range d.k {
		d.dot.A[k], d.dot.B[k] = d.dot.A[0], d.dot.B[0]
	}
}

// bunches returns positions that may belong to two groups or lanes, so that the sums of
// these are not hidden by others: two runs, or two interleaved sequences.
func (d *designer) bunches() (one, other []int) {
	if d.coin() {
		n := d.between(1, (d.k+1)/2)
		first := d.IntN(d.k)
		for i := range n {
			one, other = append(one, (first+i)%d.k), append(other, (first+n+i)%d.k)
		}
		return one, other[:min(n, d.k-n)]
	}
	step := d.between(2, change.MaxLanes)
	first := d.IntN(step)
	for k := range d.k {
		switch k % step {
		case first:
			one = append(one, k)
		case (first + 1) % step:
			other = append(other, k)
		}
	}
	return one, other
}

// zeroSum makes a sum that is exactly zero: of pairs and, of an odd number of products, of
// one that cancels with two halves of it. A single product cancels with c.
func zeroSum(d *designer) {
	if d.k == 1 {
		k := d.single()
		if d.fc != nil {
			d.minus(k)
		}
		return
	}
	at := d.places(d.between(2, d.k))
	lo, hi := d.ordinary()
	e, alike := d.between(lo, hi), d.coin()
	if len(at)%2 == 1 {
		top, neg := max(e, lo+1), d.coin()
		d.power(at[0], top, neg)
		d.power(at[1], top-1, !neg)
		d.power(at[2], top-1, !neg)
		at = at[3:]
	}
	for ; len(at) > 1; at = at[2:] {
		if !alike {
			e = d.between(lo, hi)
		}
		d.either(at[0], e)
		d.negate(at[1], at[0])
	}
	if d.oneIn(3) {
		d.zeros()
	}
	if d.fc != nil && !d.oneIn(3) {
		d.dot.C = d.fc.SignBit()
	}
}

// brokenTie makes a sum that is halfway between two results but for a few small products:
// these decide the rounding, if no sum loses them beside the largest term. Wide adders lose
// them only beside two large products that cancel.
func brokenTie(d *designer) {
	at := d.places(8)
	if len(at) < 2 {
		productAndC(d)
		return
	}
	next := func(e int, set func(k, e int)) int {
		k := at[0]
		at = at[1:]
		d.reach(k, e)
		set(k, e)
		return k
	}
	power := func(k, e int) { d.power(k, e, d.coin()) }
	df := d.f.D.Get()
	lo, hi := d.ordinary()
	result := d.between(max(lo, int(df.Emin())-2), hi)
	if d.oneIn(3) {
		result = d.between(int(df.Emin())-1, int(df.Emin())+4)
	}
	half := max(result, int(df.Emin())) - int(df.FracBits) - 1
	next(half, power)
	if d.fc != nil {
		d.accumulator(d.clampC(result), d.coin())
	} else if len(at) > 1 {
		next(result, power)
	}
	if len(at) > 2 && d.coin() {
		top := hi
		if d.coin() {
			top = d.between(result, hi)
		}
		k := next(top, d.either)
		d.negate(at[0], k)
		at = at[1:]
	}
	small := half - d.gap()
	if lowest, _ := d.products(); d.fs == nil {
		small = max(small, lowest-int(d.fa.FracBits+d.fb.FracBits))
	}
	for range d.between(1, 3) {
		if len(at) > 0 {
			next(small-d.between(0, 2), d.either)
		}
	}
}

// nearTies has carries far beyond the terms in a third of its sums: nearTie has none.
func nearTies(d *designer) {
	if d.k > 1 && d.oneIn(3) {
		carryUp(d)
	} else {
		nearTie(d)
	}
}

// nearTie adds a product to c, or to another product, that is nearly half of its last bit:
// adders of wide windows lose only the product's own last bits, and with them the side of
// the tie.
func nearTie(d *designer) {
	at := d.places(2)
	na, nb := int(d.fa.FracBits), int(d.fb.FracBits)
	if d.fc == nil && len(at) < 2 || na == 0 || nb == 0 {
		oneProduct(d)
		return
	}
	df := d.f.D.Get()
	lo, hi := d.ordinary()
	result := d.between(max(lo, int(df.Emin())), hi)
	half := result - int(df.FracBits) - 1
	k := at[0]
	d.reach(k, half)
	ea, eb := d.split(half-d.added(k)-1, false)
	const most = 30 // bits of a fraction, so that products fit 64 bits
	ma, mb := min(na, most), min(nb, most)
	x, y := d.nearPower(ma, mb)
	d.dot.A[k], d.dot.B[k] = code(d.fa, d.coin(), ea, x<<(na-ma)), code(d.fb, false, eb, y<<(nb-mb))
	d.swapSigns(k)
	if d.fc != nil {
		d.accumulator(d.clampC(result), d.coin())
		return
	}
	d.reach(at[1], result)
	d.either(at[1], result)
}

// nearPower returns the fractions of two significands of na and nb fraction bits whose product
// is nearly two: of a few pairs the one that comes nearest.
func (d *designer) nearPower(na, nb int) (fa, fb uint64) {
	two := int64(2) << (na + nb)
	nearest := two
	for range 1 << d.IntN(7) {
		x := int64(1)<<na + 1 + d.Int64N(int64(1)<<na-1)
		y := (two + d.Int64N(2)*(x-1)) / x
		if off := max(x*y-two, two-x*y); off != 0 && off < nearest {
			nearest, fa, fb = off, uint64(x), uint64(y)
		}
	}
	return fa, fb
}

// crumbs makes large products of one sign, any number of them, so that their sum may become
// as large as results can be, and a few small products beside them, half of the time the
// smallest: adders of wide windows lose these only beside such sums.
func crumbs(d *designer) {
	at := d.places(d.k)
	lo, hi := d.products()
	lowest, top := lo-int(d.fa.FracBits+d.fb.FracBits), hi-d.between(0, 3)
	if d.fs != nil {
		lowest, top = -60, 40
	}
	if df := d.f.D.Get(); top > int(df.Emax()) {
		top = int(df.Emax()) - d.between(0, 6)
	}
	small := lowest
	if d.coin() {
		small = d.between(lowest, min(lowest+40, top))
	}
	few, neg := min(d.between(1, 3), len(at)-1), d.coin()
	for i, k := range at[:d.between(min(few+1, len(at)), len(at))] {
		e := top
		if i < few {
			e = small + d.between(0, 2)
		}
		d.reach(k, e)
		d.either(k, e)
		if i >= few && d.positive(k) == neg {
			d.dot.A[k] ^= d.fa.SignBit()
		}
	}
	if d.fc != nil && d.coin() {
		d.accumulator(d.clampC(d.between(small, top+8)), d.coin())
	}
}

// positive reports whether the factors of product k have the same sign.
func (d *designer) positive(k int) bool {
	return (d.dot.A[k]&d.fa.SignBit() != 0) == (d.dot.B[k]&d.fb.SignBit() != 0)
}

// extremes takes all operands of one or more products, c and scales from the ends of their
// formats.
func extremes(d *designer) {
	if d.oneIn(6) {
		signedZeros(d)
		return
	}
	n := [...]int{1, 2, d.between(1, d.k), d.k}[d.IntN(4)]
	alike, special := d.coin(), d.oneIn(3)
	var a, b uint64
	for i, k := range d.places(n) {
		if i == 0 || !alike {
			a, b = d.extreme(d.fa, special), d.extreme(d.fb, false)
		}
		d.dot.A[k], d.dot.B[k] = a, b
	}
	if d.fc != nil {
		d.dot.C = d.extreme(d.fc, false)
	}
	all := d.oneIn(4)
	for i := range d.dot.SA {
		for _, s := range []*uint64{&d.dot.SA[i], &d.dot.SB[i]} {
			if all {
				*s = d.Uint64() & d.fs.CodeMask()
			} else if d.coin() {
				*s = d.extreme(d.fs, false)
			}
		}
	}
}

// signedZeros makes all products zeros, of one sign but for one of them half of the time: of
// two zeros, or of a zero and a number. c is zero too.
func signedZeros(d *designer) {
	signs, number, odd := d.IntN(4), d.IntN(3), d.IntN(2*d.k)
	for k := range d.k {
		a, b := uint64(0), uint64(0)
		switch number {
		case 1:
			a = code(d.fa, false, 0, 0)
		case 2:
			b = code(d.fb, false, 0, 0)
		}
		if (signs&1 != 0) != (k == odd) && (a != 0 || d.fa.HasNegZero()) {
			a |= d.fa.SignBit()
		}
		if signs&2 != 0 && (b != 0 || d.fb.HasNegZero()) {
			b |= d.fb.SignBit()
		}
		d.dot.A[k], d.dot.B[k] = a, b
	}
	if d.fc != nil && d.fc.HasNegZero() && !d.oneIn(4) {
		d.dot.C = d.fc.SignBit()
	}
}

// extreme returns a code with one of the two first or two last exponents, the last if special is
// set, or that of 1, of any sign. Where registers have bits below the value, they may be set.
func (d *designer) extreme(f *fp.Format, special bool) uint64 {
	top := uint64(1)<<f.ExpBits - 1
	field := [...]uint64{0, 1, uint64(f.Bias), top - 1, top}[d.IntN(5)] & top
	if special {
		field = top
	}
	n := int(f.FracBits)
	ones := uint64(1)<<n - 1
	frac := [...]uint64{0, 1 << d.IntN(max(n, 1)), ones, ones &^ 1}[d.IntN(4)] & ones
	code := (field<<n | frac) << f.Low
	if f.Signed && d.coin() {
		code |= f.SignBit()
	}
	if f.HasInf() && d.coin() { // random bits of a stochastic rounding stay zero
		below := uint64(1)<<f.Low - 1
		code |= [...]uint64{1 << f.Low >> 1, below, 1, d.Uint64()}[d.IntN(4)] & below
	}
	return code
}
