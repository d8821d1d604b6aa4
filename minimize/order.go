package minimize

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The components of a key, the most important first.
const (
	// Terms.
	keyProducts = iota // products without a zero factor, or with Inf or NaN
	keyC               // 1 if c is not zero
	keyLone            // factors that are not zero in products that do not count

	keyDistinct // different magnitudes other than 0 and 1

	// Ranks, added up over the elements.
	keyNaN
	keyInf
	keySubnormal // and zero scales
	keyFractions // numbers that are not a power of two
	keyNotOne    // numbers other than 0, 1 and -1
	keyFracBits  // significant fraction bits; of a NaN, payload bits down to the last one set
	keySetBits   // fraction bits that are set
	keyExponents // |floor(log2|x|)|
	keyNegative  // sign bits, also of zeros
	keyLoose     // bits set that are not part of a value

	// Positions.
	keyPositions // k of products of which a factor is not +0, blocks of scales other than 1
	keyNotOneB   // b other than 0, 1 and -1

	numKeys
)

// key is what the order compares of a dot product before its codes.
type key [numKeys]int32

// Less reports whether a is simpler than b in the order of the package comment.
// Both have the formats f and the same K.
func Less(f mma.Formats, a, b *mma.Dot) bool {
	l := newLayout(f, len(a.A))
	return l.candidate(l.vector(a)).compare(l.candidate(l.vector(b))) < 0
}

// Terms returns the number of terms of a dot product: products of which no
// factor is zero or one is Inf or NaN, and a c that is not zero.
func Terms(f mma.Formats, d *mma.Dot) int {
	l := newLayout(f, len(d.A))
	key := l.candidate(l.vector(d)).key
	return int(key[keyProducts] + key[keyC])
}

// candidate is a dot product with its place in the order.
type candidate struct {
	v   vector
	key key
	id  id
}

func (l *layout) candidate(v vector) *candidate {
	return &candidate{v: v, key: l.key(v, l.numbers(v)), id: l.idOf(v)}
}

// compare orders candidates by key, then by codes in the order of their
// vectors, so that only equal ones compare as equal.
func (c *candidate) compare(o *candidate) int {
	for i := range c.key { // which is faster than slices.Compare
		if n, m := c.key[i], o.key[i]; n != m {
			return cmp.Compare(n, m)
		}
	}
	return slices.Compare(c.v, o.v)
}

// key returns the key of a vector, whose numbers are x.
func (l *layout) key(v vector, x []number) key {
	var key key
	magnitudes := make([]uint64, 0, 64)
	for i, code := range v {
		if code == l.plain[i] {
			continue
		}
		key.addRank(x[i])
		key[keyLoose] += int32(bits.OnesCount64(code &^ valueBits(l.formats[i])))
		if l.isScale(i) {
			key[keySubnormal] += int32(count(x[i].class == fp.Zero))
			key[keyPositions] += int32(i-l.c()-1) / 2
		}
		if x[i].isOther() {
			magnitudes = append(magnitudes, x[i].magnitude())
		}
	}
	slices.Sort(magnitudes)
	key[keyDistinct] = int32(len(slices.Compact(magnitudes)))
	l.addTerms(&key, v, x)
	return key
}

// addRank adds the rank of one element.
func (key *key) addRank(x number) {
	key[keyNaN] += int32(count(x.class == fp.NaN))
	key[keyInf] += int32(count(x.class == fp.Inf))
	key[keySubnormal] += int32(count(x.subnormal))
	key[keyFractions] += int32(count(x.class == fp.Finite && x.frac != 0))
	key[keyNotOne] += int32(count(x.isOther()))
	key[keyFracBits] += int32(x.frac)
	key[keySetBits] += int32(max(bits.OnesCount64(x.sig)-1, 0))
	key[keyExponents] += int32(abs(x.exp))
	key[keyNegative] += int32(count(x.neg))
}

// addTerms counts terms and their positions.
func (l *layout) addTerms(key *key, v vector, x []number) {
	for k := range l.k {
		if v[l.a(k)]|v[l.b(k)] == 0 {
			continue
		}
		a, b := x[l.a(k)], x[l.b(k)]
		zeros := count(a.class == fp.Zero) + count(b.class == fp.Zero)
		counts := zeros == 0 || max(a.class, b.class) >= fp.Inf
		key[keyProducts] += int32(count(counts))
		key[keyLone] += int32(count(!counts && zeros == 1))
		key[keyPositions] += int32(k)
		key[keyNotOneB] += int32(count(b.isOther()))
	}
	key[keyC] = int32(count(x[l.c()].class != fp.Zero))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func abs(n int) int { return max(n, -n) }
