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
	id      []byte       // scratch of bytesOf
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

func (l *layout) dot(v vector) *mma.Dot {
	d := mma.NewDot(l.Formats, l.k)
	for k := range l.k {
		d.A[k], d.B[k] = v[l.a(k)], v[l.b(k)]
	}
	d.C = v[l.c()]
	for i := range l.blocks {
		d.SA[i], d.SB[i] = v[l.sa(i)], v[l.sb(i)]
	}
	return d
}

// idOf returns the vector's content as a map key.
func (l *layout) idOf(v vector) string { return string(l.bytesOf(v)) }

// bytesOf is idOf in memory that the next call uses again.
func (l *layout) bytesOf(v vector) []byte {
	buf := l.id[:0]
	for i, code := range v {
		if f := l.formats[i]; f != nil {
			for range f.Width {
				buf = append(buf, byte(code))
				code >>= 8
			}
		}
	}
	l.id = buf
	return buf
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
