package main

import (
	"math/rand/v2"
	"slices"
)

// Roundings to nearest even.
var (
	single = to{format: fp32}
	half   = to{format: fp16}
	brain  = to{format: bf16}
	double = to{format: fp64}
)

// Formats of A, B, C and D that many units have.
var (
	allSingle   = [4]*format{fp32, fp32, fp32, fp32}
	allDouble   = [4]*format{fp64, fp64, fp64, fp64}
	allHalf     = [4]*format{fp16, fp16, fp16, fp16}
	allBrain    = [4]*format{bf16, bf16, bf16, bf16}
	halfSingle  = [4]*format{fp16, fp16, fp32, fp32}
	brainSingle = [4]*format{bf16, bf16, fp32, fp32}
	fp8Single   = [4]*format{e4m3, e4m3, fp32, fp32}
)

// A unit is a design of a dot product d = a . b + c.
type unit struct {
	name    string
	follows string // the hardware or the library that it resembles
	defect  string // what is deliberately wrong, and the inputs that show it; "" if nothing is
	k       int
	formats [4]*format // of A, B, C (nil: none) and D
	scale   *format    // nil: none
	block   int        // products to a scale
	dot     func(d *dot) uint64
	// aim, if not nil, changes a random input so that it hits what is particular to
	// the unit.
	aim func(r *rand.Rand, d *dot)
	// unstable: results depend on the inputs before.
	unstable bool
}

// groups are all units, by the file that they are in.
var groups = [][]*unit{chains, trees, fused, groupings, fixedPoint, narrowed, scaled, specials, defects}

func units() []*unit { return slices.Concat(groups...) }

// dot is an input: codes.
type dot struct {
	*unit
	a, b, sa, sb []uint64
	c            uint64
	terms        []num // for products
}

func newDot(u *unit) *dot {
	d := &dot{unit: u, a: make([]uint64, u.k), b: make([]uint64, u.k), terms: make([]num, u.k, u.k+1)}
	if u.block != 0 {
		d.sa, d.sb = make([]uint64, u.k/u.block), make([]uint64, u.k/u.block)
	}
	return d
}

func (d *dot) A(i int) num  { return d.formats[0].decode(d.a[i]) }
func (d *dot) B(i int) num  { return d.formats[1].decode(d.b[i]) }
func (d *dot) P(i int) num  { return mul(d.A(i), d.B(i)) }
func (d *dot) SA(i int) num { return d.scale.decode(d.sa[i]) }
func (d *dot) SB(i int) num { return d.scale.decode(d.sb[i]) }

// C is +0 in units without one.
func (d *dot) C() num {
	if d.formats[2] == nil {
		return num{}
	}
	return d.formats[2].decode(d.c)
}

// products returns the exact products; they stay valid until the next call.
func (d *dot) products() []num {
	for i := range d.terms {
		d.terms[i] = d.P(i)
	}
	return d.terms
}

// exceptional returns the sum of terms if one of them is no finite number: the first NaN
// if there is one, the default NaN if infinities of both signs meet, an infinity.
func exceptional(terms []num) (num, bool) {
	var sum num
	for _, t := range terms {
		if t.kind == nan {
			return t, true
		}
		if t.kind == infinite && sum.kind == infinite && t.neg != sum.neg {
			sum = aNaN
		} else if t.kind == infinite && sum.kind == finite {
			sum = t
		}
	}
	return sum, sum.kind != finite
}

// exact returns the sum of finite terms.
func exact(terms []num) num {
	room32.clear()
	for _, t := range terms {
		room32.add(t)
	}
	return room32.num()
}

// maxX returns the largest exponent of the terms that are not zero, at least low.
func maxX(terms []num, low int) int {
	for _, t := range terms {
		if t.m != 0 {
			low = max(low, t.x)
		}
	}
	return low
}

// maxTop returns the largest exponent of the leading bits of the terms, at least low.
func maxTop(terms []num, low int) int {
	for _, t := range terms {
		if t.m != 0 {
			low = max(low, t.top()-1)
		}
	}
	return low
}

// cutSum adds up the terms, each cut to a multiple of 2^q.
func cutSum(terms []num, q int, by mode) num {
	var s int64
	for _, t := range terms {
		s += cut(t, q, by)
	}
	return fixed(s, q)
}
