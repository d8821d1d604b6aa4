package minimize

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// vector is the codes of a dot product in one slice, so that passes need not
// know where a value belongs:
//
//	a0 b0 a1 b1 ... c sa0 sb0 sa1 sb1 ...
//
// Where the formats have no c, its element stays zero.
type vector []uint64

// layout says what the elements of the vectors of some formats and K are.
type layout struct {
	mma.Formats
	k       int
	blocks  int
	formats []*fp.Format // of each element; nil: an absent c
	plain   vector       // the simplest codes: zeros, 1.0 as scales
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

func (l *layout) a(k int) int  { return 2 * k }
func (l *layout) b(k int) int  { return 2*k + 1 }
func (l *layout) c() int       { return 2 * l.k }
func (l *layout) sa(i int) int { return 2*l.k + 1 + 2*i }
func (l *layout) sb(i int) int { return 2*l.k + 2 + 2*i }

// block returns the block of scales of product k.
func (l *layout) block(k int) int { return k / int(l.Block) }

// isScale says whether element i is a scale.
func (l *layout) isScale(i int) bool { return i > l.c() }

func (l *layout) number(v vector, i int) number { return read(l.formats[i], v[i]) }

// set stores a number as element i, and says whether its format has it.
func (l *layout) set(v vector, i int, x number) bool {
	code, ok := x.code(l.formats[i])
	if ok {
		v[i] = code
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

// id is the vector's content as a map key.
func (l *layout) id(v vector) string {
	buf := make([]byte, 0, 8*len(v))
	for i, code := range v {
		if f := l.formats[i]; f != nil {
			for range f.Width {
				buf = append(buf, byte(code))
				code >>= 8
			}
		}
	}
	return string(buf)
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
