// Command fresh is a child process that computes with one of 25 planted defects, or with none. Each
// is written as the fault in a datapath from which it comes: in decoding, multiplying, aligning,
// adding, normalizing and rounding, or in the wires and registers around them.
//
//	fresh sum8|fma|dot4|dot16 right|DEFECT|DESIGN
//
// A design is another arithmetic of the same unit, to be compared with a black box beside it.
//
// dot16 (BF16) computes as ref:fma32, sum8 as sim:ampere's mma.m16n8k8.f32.f16.f16.f32, fma as ref:fma32, dot4 (BF16, FP32) as
// ref:exact.
package main

import (
	"fmt"
	"math/big"
	"os"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// number is (-1)^neg * sig * 2^exp, or an infinity, or a NaN.
type number struct {
	neg, inf, nan bool
	sig           uint64
	exp           int
	top           int // exponent of the leading place, whether or not its bit is set
}

// decode is the number of a code of exponent width eb and significand width mb (without the leading bit).
func decode(code uint64, eb, mb int) number {
	e, m := int(code>>mb&(1<<eb-1)), code&(1<<mb-1)
	n := number{neg: code>>(eb+mb)&1 == 1}
	bias := 1<<(eb-1) - 1
	switch {
	case e == 1<<eb-1:
		n.inf, n.nan = m == 0, m != 0
	case e == 0:
		n.sig, n.exp = m, 1-bias-mb
	default:
		n.sig, n.exp = m|1<<mb, e-bias-mb
	}
	n.top = n.exp + mb
	return n
}

func multiply(x, y number) number {
	return number{
		neg: x.neg != y.neg,
		nan: x.nan || y.nan || x.inf && y.isZero() || y.inf && x.isZero(),
		inf: x.inf || y.inf,
		sig: x.sig * y.sig, exp: x.exp + y.exp, top: x.top + y.top,
	}
}

func (n number) isZero() bool { return n.sig == 0 && !n.inf && !n.nan }

// unit is a datapath. Its functions are replaced by a defect.
type unit struct {
	eb, mb     int // of A and B
	width      int // fraction bits kept in alignment; -1: all
	nearest    bool
	decodeA    func(lane int, code uint64, n number) number
	decodeB    func(lane int, code uint64, n number) number
	decodeC    func(code uint64, n number) number
	product    func(lane int, x, y, p number) number
	shift      func(lane, distance int) int // lane -1: C
	add        func(products, c *big.Int) *big.Int
	special    func(terms []number) (code uint64, ok bool)
	up         func(neg bool, kept uint64, half, rest bool, lost int) bool // lost: bits below the kept ones
	finish     func(d uint64) uint64
	zero       func(negative bool) uint64
	overflow   func(neg bool) uint64
	carry      func(field int) int // the exponent field after a carry out of rounding
	group      int                 // products of a step; 0: all
	lanes      int                 // accumulators
	late       bool                // C is added after the last step; needs a group
	reversed   bool                // the last product comes first
	position   func(row, column int, d *mma.Dot)
	afterwards func(result uint64, d *mma.Dot)
}

const qNaN, infinity = 0x7fffffff, 0x7f800000

func (u *unit) dot(d *mma.Dot) uint64 {
	var terms []number
	for i := range d.A {
		x, y := decode(d.A[i], u.eb, u.mb), decode(d.B[i], u.eb, u.mb)
		if u.decodeA != nil {
			x = u.decodeA(i, d.A[i], x)
		}
		if u.decodeB != nil {
			y = u.decodeB(i, d.B[i], y)
		}
		p := multiply(x, y)
		if u.product != nil {
			p = u.product(i, x, y, p)
		}
		terms = append(terms, p)
	}
	c := decode(d.C, 8, 23)
	if u.decodeC != nil {
		c = u.decodeC(d.C, c)
	}
	if u.reversed {
		slices.Reverse(terms)
	}
	if u.group > 0 {
		return u.steps(terms, c)
	}
	return u.fuse(append(terms, c))
}

// steps adds the products group by group, to c or to nothing, and then c.
func (u *unit) steps(products []number, c number) uint64 {
	if u.lanes > 1 {
		return u.inLanes(products, c)
	}
	var code uint64
	for i := 0; i < len(products); i += u.group {
		terms := slices.Clone(products[i : i+u.group])
		switch {
		case i > 0:
			terms = append(terms, decode(code, 8, 23))
		case !u.late:
			terms = append(terms, c)
		}
		code = u.fuse(terms)
	}
	if u.late {
		code = u.fuse([]number{decode(code, 8, 23), c})
	}
	return code
}

// inLanes adds every product to one of several accumulators, and these in a tree; c comes last.
func (u *unit) inLanes(products []number, c number) uint64 {
	sums := make([]uint64, u.lanes)
	for i, p := range products {
		sums[i%u.lanes] = u.fuse([]number{p, decode(sums[i%u.lanes], 8, 23)})
	}
	for n := u.lanes; n > 1; n /= 2 {
		for i := range n / 2 {
			sums[i] = u.fuse([]number{decode(sums[2*i], 8, 23), decode(sums[2*i+1], 8, 23)})
		}
	}
	return u.fuse([]number{decode(sums[0], 8, 23), c})
}

// fuse adds terms, of which the last is C, and rounds the sum.
func (u *unit) fuse(terms []number) uint64 {
	if u.special != nil {
		if code, ok := u.special(terms); ok {
			return code
		}
	}
	if code, ok := special(terms); ok {
		return code
	}
	r := u.sum(terms)
	if u.finish != nil {
		r = u.finish(r)
	}
	return r
}

func special(terms []number) (uint64, bool) {
	var plus, minus bool
	for _, t := range terms {
		switch {
		case t.nan:
			return qNaN, true
		case t.inf && t.neg:
			minus = true
		case t.inf:
			plus = true
		}
	}
	switch {
	case plus && minus:
		return qNaN, true
	case plus:
		return infinity, true
	case minus:
		return infinity | 1<<31, true
	}
	return 0, false
}

// sum aligns, adds and rounds.
func (u *unit) sum(terms []number) uint64 {
	lowest, highest, negative, any := 1<<20, -1<<20, true, false
	for _, t := range terms {
		negative = negative && t.neg
		if t.sig == 0 {
			continue
		}
		any = true
		lowest, highest = min(lowest, t.exp), max(highest, t.top)
	}
	if !any {
		return u.ofZero(negative)
	}
	if u.width >= 0 {
		lowest = highest - u.width
	}
	products, c := new(big.Int), new(big.Int)
	for i, t := range terms {
		lane := i
		if i == len(terms)-1 {
			lane = -1
		}
		move := t.exp - lowest
		if u.shift != nil && t.sig != 0 {
			distance := highest - t.top
			move += distance - u.shift(lane, distance)
		}
		v := new(big.Int).SetUint64(t.sig)
		if move >= 0 {
			v.Lsh(v, uint(move))
		} else {
			v.Rsh(v, uint(-move))
		}
		if t.neg {
			v.Neg(v)
		}
		if lane < 0 {
			c = v
		} else {
			products.Add(products, v)
		}
	}
	total := new(big.Int)
	if u.add != nil {
		total = u.add(products, c)
	} else {
		total.Add(products, c)
	}
	if total.Sign() == 0 {
		return u.ofZero(false)
	}
	return u.round(total.Sign() < 0, total.Abs(total), lowest)
}

func (u *unit) ofZero(negative bool) uint64 {
	if u.zero != nil {
		return u.zero(negative)
	}
	if negative && u.width < 0 {
		return 1 << 31
	}
	return 0
}

// round rounds mag * 2^exp to FP32.
func (u *unit) round(neg bool, mag *big.Int, exp int) uint64 {
	lowest := max(exp+mag.BitLen()-24, -149) // exponent of the last place
	lost := lowest - exp
	var kept uint64
	var half, rest bool
	if lost <= 0 {
		kept = new(big.Int).Lsh(mag, uint(-lost)).Uint64()
	} else {
		kept = new(big.Int).Rsh(mag, uint(lost)).Uint64()
		half = mag.Bit(lost-1) == 1
		rest = int(mag.TrailingZeroBits()) < lost-1
	}
	up := u.nearest && half && (rest || kept&1 == 1)
	if u.up != nil {
		up = u.up(neg, kept, half, rest, lost)
	}
	field := lowest + 150
	if kept < 1<<23 {
		field = 0
	}
	if up {
		kept++
		switch {
		case kept == 1<<24:
			kept, field = 1<<23, field+1
			if u.carry != nil {
				field = u.carry(field)
			}
		case kept == 1<<23 && field == 0:
			field = 1
			if u.carry != nil {
				field = u.carry(field)
			}
		}
	}
	sign := uint64(0)
	if neg {
		sign = 1 << 31
	}
	if field >= 255 {
		if u.overflow != nil {
			return u.overflow(neg)
		}
		return sign | infinity
	}
	return sign | uint64(field)<<23 | kept&(1<<23-1)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: fresh sum8|fma|dot4|dot16 right|DEFECT")
		os.Exit(2)
	}
	var u unit
	var inst child.Instruction
	switch os.Args[1] {
	case "sum8":
		u = unit{eb: 5, mb: 10, width: 24}
		inst = child.Instruction{Name: "mma.m16n8k8.f32.f16.f16.f32", K: 8,
			Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	case "fma":
		u = unit{eb: 8, mb: 23, width: -1, nearest: true}
		inst = child.Instruction{Name: "fma", K: 1,
			Formats: mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}}
	case "dot16":
		u = unit{eb: 8, mb: 7, width: -1, nearest: true, group: 1}
		inst = child.Instruction{Name: "dot16", K: 16,
			Formats: mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}}
	case "dot4":
		u = unit{eb: 8, mb: 7, width: -1, nearest: true}
		inst = child.Instruction{Name: "dot4", K: 4,
			Formats: mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}}
	}
	if os.Args[2] != "right" {
		name := os.Args[1] + " " + os.Args[2]
		plant := defects[name]
		if plant == nil {
			plant = kinds[name]
		}
		if plant == nil {
			plant = designs[name]
		}
		if plant == nil {
			fmt.Fprintln(os.Stderr, "fresh: no such defect or design")
			os.Exit(2)
		}
		plant(&u)
	}
	inst.Run = func(in *mma.Batch, out []byte) error {
		d := mma.NewDot(in.Formats, in.K)
		for i := range in.Dots() {
			in.Get(i, d)
			if u.position != nil {
				u.position(i/in.N%in.M, i%in.N, d)
			}
			r := u.dot(d)
			if u.afterwards != nil {
				u.afterwards(r, d)
			}
			mma.Store(out, in.Formats.D.Width(), i, r)
		}
		return nil
	}
	child.Main(child.Options{}, inst)
}
