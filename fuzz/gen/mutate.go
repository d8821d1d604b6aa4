package gen

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mutateGenerator changes a base case in a few places. It is not in the table:
// its source names the base, mutate@1(cut@1[24]#512), and campaigns use it on
// inputs with new features.
var mutateGenerator = Generator{Name: "mutate", Version: 1, M: 1, N: 1, dot: mutateDot,
	Doc: "inputs with new features, changed in a few places"}

// maxNesting is how many mutations deep a base may be, so that names stay
// readable.
const maxNesting = 3

// Mutable reports whether cases of s may be the base of a mutation.
func (s Source) Mutable() bool { return s.nesting() < maxNesting }

// Mutate returns the source that changes the case of an index in a few places.
func (s Source) Mutate(index uint64) Source {
	return Source{Generator: &mutateGenerator, Base: &Base{s, index}}
}

// mutateDot makes one to four changes of the base.
func mutateDot(d *draw) {
	base := d.base
	copy(d.dot.A, base.A)
	copy(d.dot.B, base.B)
	copy(d.dot.SA, base.SA)
	copy(d.dot.SB, base.SB)
	d.dot.C = base.C
	for range d.between(1, 4) {
		d.mutation()
	}
}

func (d *draw) mutation() {
	k, j := d.intn(d.K), d.intn(d.K)
	a, b := d.dot.A, d.dot.B
	switch d.intn(12) {
	case 0:
		a[k] = d.mutateCode(d.fa, a[k])
	case 1:
		b[k] = d.mutateCode(d.fb, b[k])
	case 2:
		if d.fc != nil {
			d.dot.C = d.mutateCode(d.fc, d.dot.C)
		}
	case 3: // exchange two products
		a[k], a[j], b[k], b[j] = a[j], a[k], b[j], b[k]
	case 4: // copy a product
		a[k], b[k] = a[j], b[j]
	case 5:
		if a[j] != 0 {
			d.negate(k, j)
		}
	case 6:
		a[k], b[k] = 0, 0
	case 7: // the same product with the exponent divided otherwise
		d.shiftExponents(k)
	case 8:
		if d.fs != nil {
			s := d.intn(len(d.dot.SA))
			d.dot.SA[s] = d.mutateCode(d.fs, d.dot.SA[s])
		}
	case 9: // one exponent more or less everywhere
		for i := range a {
			a[i] = addExponent(d.fa, a[i], d.between(-1, 1))
		}
	case 10:
		if d.fc != nil {
			d.nudge(2)
		}
	default:
		d.bump(k)
	}
}

// mutateCode flips a bit, moves the exponent, or puts in a code of interest.
func (d *draw) mutateCode(f *format, code uint64) uint64 {
	switch d.intn(4) {
	case 0:
		return code ^ 1<<(f.Low+uint8(d.intn(int(f.Bits()))))&f.CodeMask() // fp.One has no bits
	case 1:
		return addExponent(f, code, d.between(-3, 3))
	case 2:
		return code&^((1<<f.FracBits-1)<<f.Low) | d.frac(int(f.FracBits))<<f.Low
	}
	p := f.Patterns()
	return p[d.intn(len(p))]
}

// addExponent moves the exponent field of a code by n, as far as it goes.
func addExponent(f *format, code uint64, n int) uint64 {
	at := f.FracBits + f.Low
	top := int(1)<<f.ExpBits - 1
	field := int(code>>at) & top
	if field == 0 {
		return code
	}
	field = min(max(field+n, 0), top)
	return code&^(uint64(top)<<at) | uint64(field)<<at
}

// shiftExponents moves exponent from one factor of product k to the other.
func (d *draw) shiftExponents(k int) {
	n := d.between(-4, 4)
	a, b := addExponent(d.fa, d.dot.A[k], n), addExponent(d.fb, d.dot.B[k], -n)
	d.dot.A[k], d.dot.B[k] = a, b
}

// Mutate returns another input for Decode, for engines that take a mutator: the dot product
// that data stand for, changed in a few places, or one time in mutateAnew one that a
// generator designs. Half of the designed ones are for an instruction drawn anew.
func Mutate(data []byte, seed uint64, insts []mma.Instruction) []byte {
	i, dot := Decode(data, insts)
	n := slices.IndexFunc(insts, func(x mma.Instruction) bool { return x.FullName() == i.FullName() })
	d := newDraw(Spec{i.Formats, i.K})
	d.start(Mix(seed), 0)
	if d.oneIn(mutateAnew) {
		if d.coin() {
			n = d.intn(len(insts))
		}
		i = &insts[n]
		g, sp := &generators[d.intn(len(generators))], Spec{i.Formats, i.K}
		return Encode(insts, n, g.Aimed(sp, &i.Params).Dot(sp, seed, d.next()>>32))
	}
	d.reset()
	d.base = dot
	mutateDot(d)
	return Encode(insts, n, d.dot)
}

const mutateAnew = 8
