package minimize

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// vector is the codes of a dot product in one slice, so that passes need not
// know where a value stands:
//
//	a0 b0 a1 b1 ... c sa0 sb0 sa1 sb1 ...
//
// Where the formats have no c, its element stays zero.
type vector []uint64

// layout describes what the elements of the vectors of some formats and K are.
type layout struct {
	mma.Formats
	k       int
	blocks  int
	formats []*fp.Format // of each element; nil: an absent c
	plain   vector       // the simplest codes: 0, but 1.0 for scales
	spare   vector       // memory for the next vectors that are kept
}

func newLayout(f mma.Formats, k int) *layout {
	l := &layout{Formats: f, k: k, blocks: f.Blocks(k)}
	for range k {
		l.formats = append(l.formats, f.A.Get(), f.B.Get())
	}
	l.formats = append(l.formats, nil)
	if f.C != fp.None {
		l.formats[l.c()] = f.C.Get()
	}
	for range l.blocks {
		l.formats = append(l.formats, f.Scale.Get(), f.Scale.Get())
	}
	l.plain = make(vector, len(l.formats))
	for i := l.c() + 1; i < len(l.plain); i++ {
		l.set(l.plain, i, one)
	}
	return l
}

// bytes is the size of a vector.
func (l *layout) bytes() int { return 8 * len(l.plain) }

func (l *layout) a(k int) int  { return 2 * k }
func (l *layout) b(k int) int  { return 2*k + 1 }
func (l *layout) c() int       { return 2 * l.k }
func (l *layout) sa(i int) int { return 2*l.k + 1 + 2*i }
func (l *layout) sb(i int) int { return 2*l.k + 2 + 2*i }

// isScale reports whether element i is a scale.
func (l *layout) isScale(i int) bool { return i > l.c() }

// block returns the block of product k; 0 without scales.
func (l *layout) block(k int) int {
	if l.blocks == 0 {
		return 0
	}
	return k / int(l.Block)
}

// number returns what element i stands for; 0 for an absent c.
func (l *layout) number(v vector, i int) number {
	if l.formats[i] == nil {
		return number{}
	}
	return read(l.formats[i], v[i])
}

func (l *layout) numbers(v vector) []number {
	x := make([]number, len(v))
	for i := range v {
		x[i] = l.number(v, i)
	}
	return x
}

// set stores a number as element i; bits that are not part of its value stay. It
// returns false and changes nothing if the element's format does not have it.
func (l *layout) set(v vector, i int, x number) bool {
	code, ok := x.code(l.formats[i])
	if ok {
		v[i] = code | v[i]&^valueBits(l.formats[i])
	}
	return ok
}

func (l *layout) vector(d *mma.Dot) vector {
	v := make(vector, len(l.formats))
	for k := range l.k {
		v[l.a(k)], v[l.b(k)] = d.A[k], d.B[k]
	}
	if l.formats[l.c()] != nil {
		v[l.c()] = d.C
	}
	for i := range l.blocks {
		v[l.sa(i)], v[l.sb(i)] = d.SA[i], d.SB[i]
	}
	return v
}

func (l *layout) dot(v vector) *mma.Dot { return l.dots([]*candidate{{v: v}})[0] }

// dots returns candidates as dot products, which lie in one piece of memory.
func (l *layout) dots(list []*candidate) []*mma.Dot {
	k, n := l.k, l.blocks
	all, dots, codes := make([]mma.Dot, len(list)), make([]*mma.Dot, len(list)), make([]uint64, 2*(k+n)*len(list))
	take := func(n int) []uint64 {
		some := codes[:n:n]
		codes = codes[n:]
		return some
	}
	for at, c := range list {
		d, v := &all[at], c.v
		d.A, d.B, d.SA, d.SB, d.C = take(k), take(k), take(n), take(n), v[l.c()]
		for i := range k {
			d.A[i], d.B[i] = v[l.a(i)], v[l.b(i)]
		}
		for i := range n {
			d.SA[i], d.SB[i] = v[l.sa(i)], v[l.sb(i)]
		}
		dots[at] = d
	}
	return dots
}

// clone returns a copy of a vector. Copies are made in large numbers.
func (l *layout) clone(v vector) vector {
	const together = 64
	n := len(v)
	if len(l.spare) < n {
		l.spare = make(vector, together*n)
	}
	c := l.spare[:n:n]
	l.spare = l.spare[n:]
	copy(c, v)
	return c
}

// id identifies the content of a vector: a hash of 128 bits, of which no two vectors have the same.
// It is the exclusive or of hashes of the elements, so that a changed element changes it in one step.
type id [2]uint64

func (l *layout) idOf(v vector) (x id) {
	for i, code := range v {
		x = x.with(i, code)
	}
	return x
}

// with returns the id with a code as element i, or without it if it was there.
func (x id) with(i int, code uint64) id {
	place := mix(uint64(i))
	return id{x[0] ^ mix(place^code), x[1] ^ mix(mix(place)-code)}
}

// occupied returns the positions of products of which a factor is not +0.
func (l *layout) occupied(v vector) []int {
	var at []int
	for k := range l.k {
		if v[l.a(k)]|v[l.b(k)] != 0 {
			at = append(at, k)
		}
	}
	return at
}
