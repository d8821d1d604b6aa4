package minimize

import (
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The components of a key, the most important first.
const (
	// Terms.
	keyProducts = iota // products that count as terms
	keyC               // 1 if c is not zero
	keyLone            // factors that are not zero beside a zero one

	keyDistinct // different magnitudes other than 0 and 1

	// Ranks: what the elements are, added up.
	keyNaN
	keyInf
	keySubnormal // and zero scales
	keyFractions // finite numbers that are not a power of two
	keyNotOne    // numbers that are neither 0 nor 1 nor -1
	keyFracBits  // significant bits after the first; of NaNs, payload bits down to the last one set
	keySetBits   // those of them that are set
	keyExponents // |floor(log2|x|)|
	keyNegative  // sign bits, also of zeros
	keyLoose     // bits set that are not part of a value: TF32's low 13, UE4M3's top one

	// Positions.
	keyPositions // of products of which a factor is not +0
	keyPlainB    // 1 for each b that is neither 0 nor 1 nor -1

	numKeys
)

// key is the order's view of a dot product but for the last resort, the codes.
type key [numKeys]int

// Less says whether a is simpler than b: the total order of the package
// comment. Both have the formats f and the same K.
func Less(f mma.Formats, a, b *mma.Dot) bool {
	l := newLayout(f, len(a.A))
	return l.candidate(l.vector(a)).compare(l.candidate(l.vector(b))) < 0
}

// Terms returns the number of terms of a dot product: products of which no
// factor is zero or one is Inf or NaN, and a c that is not zero.
func Terms(f mma.Formats, d *mma.Dot) int {
	l := newLayout(f, len(d.A))
	key := l.key(l.vector(d))
	return key[keyProducts] + key[keyC]
}

// candidate is a dot product with its place in the order.
type candidate struct {
	v   vector
	key key
	id  string // of a candidate for the test: see layout.id
}

func (l *layout) candidate(v vector) candidate { return candidate{v: v, key: l.key(v)} }

// compare orders candidates by key, then by codes in the order of their
// vectors, so that only equal ones compare as equal.
func (c candidate) compare(o candidate) int {
	if n := slices.Compare(c.key[:], o.key[:]); n != 0 {
		return n
	}
	return slices.Compare(c.v, o.v)
}

func (l *layout) key(v vector) key {
	var key key
	magnitudes := make([]uint64, 0, 64)
	for i, code := range v {
		if code == l.plain[i] {
			continue
		}
		x := l.number(v, i)
		key.rank(x)
		key[keyLoose] += looseBits(l.formats[i], code)
		if l.isScale(i) && x.class == fp.Zero {
			key[keySubnormal]++
		}
		if x.class != fp.Zero && !x.isOne() {
			magnitudes = append(magnitudes, x.magnitude())
		}
	}
	slices.Sort(magnitudes)
	key[keyDistinct] = len(slices.Compact(magnitudes))
	l.terms(&key, v)
	return key
}

// rank adds the rank of one element.
func (key *key) rank(x number) {
	switch {
	case x.class == fp.NaN:
		key[keyNaN]++
	case x.class == fp.Inf:
		key[keyInf]++
	case x.subnormal:
		key[keySubnormal]++
	}
	if x.class == fp.Finite && x.frac != 0 {
		key[keyFractions]++
	}
	if x.class != fp.Zero && !x.isOne() {
		key[keyNotOne]++
	}
	key[keyFracBits] += x.frac
	key[keySetBits] += max(bits.OnesCount64(x.sig)-1, 0)
	key[keyExponents] += max(x.exp, -x.exp)
	if x.neg {
		key[keyNegative]++
	}
}

// looseBits counts the bits set that are not part of a code's value.
func looseBits(f *fp.Format, code uint64) int {
	return bits.OnesCount64(code &^ ((1<<f.Bits() - 1) << f.Low))
}

// terms counts terms and their positions.
func (l *layout) terms(key *key, v vector) {
	for _, k := range l.occupied(v) {
		a, b := l.number(v, l.a(k)), l.number(v, l.b(k))
		switch zeros := count(a.class == fp.Zero) + count(b.class == fp.Zero); {
		case zeros == 0 || max(a.class, b.class) >= fp.Inf:
			key[keyProducts]++
		case zeros == 1:
			key[keyLone]++
		}
		key[keyPositions] += k
		key[keyPlainB] += count(b.class != fp.Zero && !b.isOne())
	}
	if l.formats[l.c()] != nil {
		key[keyC] = count(l.number(v, l.c()).class != fp.Zero)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
