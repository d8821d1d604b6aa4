//go:build !purego

package sim

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// wordVector does what word and exact do in vector instructions on float64, many dot products side by
// side: fused sums that are cut or exact, of FP32 accumulators. A dot product is left to these kernels
// if it has an infinity or a NaN, or if its result may become one or be flushed.
type wordVector struct {
	level   simd.Level
	lanes   int              // float64 in a vector
	codes   bool             // operands are read as they are, not as factors
	half    bool             // they are FP16
	bytes   [2]*[256]float32 // the values of A's and B's codes if they have one byte, and are values of FP16
	values  bool             // products are made without their exponents
	run     func(x *simd.Program, l simd.Level)
	program simd.Program
}

// sideVector is the scratch space of a wordVector.
type sideVector struct {
	program simd.Program
	c, d    []byte
	half    simd.Half
	codes   []byte
	values  [2][]float32 // of A and B
	exps    [2][]uint8
	unknown []int32
}

// fewestSideBySide is the number of dot products from which on vectors are faster.
const fewestSideBySide = 3

// newWordVector returns nil if vectors do not support the program.
func newWordVector(m *Model, level simd.Level) *wordVector {
	p, f := &m.params, m.formats
	if level < simd.AVX2 || f.C != fp.FP32 || f.D != fp.FP32 || p.In.C != mma.KeepSub || p.In.Acc != mma.KeepSub ||
		p.In.NarrowC != (mma.Narrow{}) || m.k%p.Step(m.k) != 0 || !isFusedSums(p) || !neverRounded(f, p) {
		return nil
	}
	v := &wordVector{
		level: level, lanes: 4, run: (*simd.Program).Run, half: f.A == fp.FP16 && f.B == fp.FP16 && p.In == mma.Input{} && p.Prod.Exp == 0,
		program: simd.Program{L: int64(p.Step(m.k)), Steps: int64(m.k / p.Step(m.k))},
	}
	if level >= simd.AVX512 {
		v.lanes = 8
	}
	ok := v.setSums(p) && v.setRound(&v.program.AccRound, &p.Acc) && p.Acc.Frac <= 23 && p.Acc.Emin == -126
	if ok && p.Join.Align.F == 0 {
		ok = v.setExact(p, f)
	}
	if !ok {
		return nil
	}
	v.codes = v.half || v.bytes[0] != nil
	return v
}

// isFusedSums reports whether a program consists of fused sums of all products of a step and of the
// accumulator, whatever its numbers.
func isFusedSums(p *mma.Params) bool {
	s, j := &p.Stage0, &p.Join
	q := mma.Params{
		In: p.In, Prod: mma.Product{Exp: p.Prod.Exp, Round: mma.Round{Emax: p.Prod.Round.Emax}}, L: p.L,
		Join: mma.Join{Align: mma.Align{F: j.Align.F, Mode: j.Align.Mode, Floor: j.Align.Floor}, CF: j.CF, CMode: j.CMode, Post: j.Post},
		Acc:  p.Acc, Special: mma.Special{NaN: p.Special.NaN, NegZero: p.Special.NegZero, TinySign: p.Special.TinySign},
	}
	if s.Sum == mma.Fused {
		q.Stage0 = mma.Stage{Sum: mma.Fused, Align: mma.Align{F: s.Align.F, Mode: s.Align.Mode, Floor: s.Align.Floor}}
	}
	partlyCut := j.Align.F == 0 && (j.CF != 0 || j.CMode != 0 || j.Post != mma.Round{} || s.Sum != mma.Off) // a sum that else is exact
	return q == *p && p.Prod.Exp != mma.Normalised && (s.Sum == mma.Off || s.Align.F != 0) && !partlyCut
}

// neverRounded reports whether no product is so large that it is rounded.
func neverRounded(f mma.Formats, p *mma.Params) bool {
	a, b := operandFormats(p, f)
	return p.Prod.Round.Emax == 0 || a.Get().Emax()+b.Get().Emax()+1 < int32(p.Prod.Round.Emax)
}

// splitExp is the exponent of the unit at which products of values of FP16 are split: up to 2^13 of them, which
// are below 2^32 and multiples of 2^-48, are added without an error above and below it.
const splitExp = -8

// leastPower is below all exponents, and far above those of subnormal float64.
const leastPower = -400

func fill[T any](v T) (all [8]T) {
	for i := range all {
		all[i] = v
	}
	return all
}

// power is 2^n, or 2^leastPower for 0, which stands for no limit.
func power(n mma.Exp) [8]float64 {
	if n == 0 {
		n = leastPower
	}
	return fill(math.Ldexp(1, int(n)))
}

// scaleTo is what a power of two is subtracted from to make the factor of its units: F bits below it.
func scaleTo(f mma.Frac) [8]int64 { return fill((2*1023 + int64(f)) << 52) }

// mode returns a rounding mode of VROUNDPD.
func mode(m fp.Mode) (int64, bool) {
	control, ok := controls[m]
	return control / (simd.RoundZero / 3), ok
}

// setSums sets how sums are cut, and reports whether their modes are supported and they stay below 2^52
// units.
func (v *wordVector) setSums(p *mma.Params) bool {
	x, j, first := &v.program, &p.Join, &p.Join.Align
	if p.Stage0.Sum != mma.Off {
		first = &p.Stage0.Align
	} else {
		x.WithC = fill(int64(-1))
	}
	cf, cmode := j.CF, j.CMode
	if cf == 0 {
		cf = j.Align.F
	}
	if cmode == 0 {
		cmode = j.Align.Mode
	}
	ok := [3]bool{true, true, true}
	if j.Align.F != 0 {
		x.Mode, ok[0] = mode(first.Mode)
		x.Join.Mode, ok[1] = mode(j.Align.Mode)
		x.Join.CMode, ok[2] = mode(cmode)
	}
	x.Scale, x.Floor = scaleTo(first.F), power(first.Floor)
	x.Join.Scale, x.Join.CScale, x.Join.Floor = scaleTo(j.Align.F), scaleTo(cf), power(j.Align.Floor)
	x.Emin, x.MinusZero = power(mma.Exp(fp.FP32.Get().Emin())), fill(math.Copysign(0, -1))
	x.ExpMask, x.Abs, x.Inverse, x.NaN = fill(int64(0x7ff<<52)), fill(int64(math.MaxInt64)), fill(int64(2*1023<<52)), fill(int64(math.MaxInt64))
	x.One, x.Split = fill(int64(1)), fill(1.5*math.Ldexp(1, 52+splitExp))
	rd := j.Post.Mode == fp.RD || j.Post == (mma.Round{}) && p.Acc.Mode == fp.RD
	if p.Special.NegZero {
		x.Zero = x.MinusZero
	}
	if j.Post != (mma.Round{}) {
		if x.Post = 1; !v.setRound(&x.PostRound, &j.Post) {
			return false
		}
	}
	most := int(max(first.F, j.Align.F, cf)) + 3 + bits.Len(uint(x.L))
	return ok == [3]bool{true, true, true} && most <= 52 && !(rd && p.Special.NegZero)
}

// setRound sets a rounding, and reports whether it is supported.
func (v *wordVector) setRound(to *simd.Rounding, r *mma.Round) (ok bool) {
	to.Mode, ok = mode(r.Mode)
	to.Scale, to.Emin = scaleTo(r.Frac), power(r.Emin)
	to.Tiny, to.Over = fill(math.SmallestNonzeroFloat64), power(127)
	if r.Flush != mma.NoFlush {
		to.Tiny = to.Emin
	}
	if r.Emax != 0 {
		to.Over = power(min(r.Emax, 127))
	}
	return ok && r.Frac != 0 && (r.HasEmin() == (r.Emin != 0))
}

// setExact sets the routine for exact sums, and reports whether there is one. FP32 has room for all
// products of FP16, which are added one by one without a sum that is tiny.
func (v *wordVector) setExact(p *mma.Params, f mma.Formats) bool {
	x := &v.program
	v.values = true
	if x.L > 1 || p.Acc != mma.To(fp.FP32, p.Acc.Mode) || p.Acc.Mode != fp.RNE && p.Acc.Mode != fp.RZ {
		v.run = (*simd.Program).Exact
		if f.Scale == fp.None && p.In == (mma.Input{}) && isHalfByte(f.A) && isHalfByte(f.B) {
			v.bytes = [2]*[256]float32{byteValues(f.A), byteValues(f.B)}
		}
		return v.half || v.bytes[0] != nil
	}
	v.run = (*simd.Program).Chained
	x.Control, x.Abs32, x.Over32 = uint64(controls[p.Acc.Mode]), fill(uint32(math.MaxInt32)), fill(float32(0x1p127))
	if p.Special.NegZero {
		x.Zero32 = fill(float32(math.Copysign(0, -1)))
	}
	return v.half
}

// isHalfByte reports whether codes of a format have one byte, and their values are values of FP16.
func isHalfByte(id fp.ID) bool {
	f, half := id.Get(), fp.FP16.Get()
	return f.Width == 1 && f.Emin()-int32(f.FracBits) >= half.Emin()-int32(half.FracBits) && f.Emax() <= half.Emax()
}

// byteValues returns the values of all codes of a format of one byte.
func byteValues(id fp.ID) *[256]float32 {
	var values [256]float32
	for code := range values {
		values[code] = float32(id.Get().Float64(uint64(code)))
	}
	return &values
}

// tiles computes some tiles and returns the outputs that it leaves open. products has those of the
// tiles: they are made if it is empty, from codes or, of other formats, from the factors a and b.
func (v *wordVector) tiles(s *sideVector, a, b []wordFactor, products *[]uint64, in *mma.Batch, out []byte, first, tiles int) []int32 {
	each := in.M * in.N
	n := tiles * each
	groups := (n + v.lanes - 1) / v.lanes
	if len(*products) == 0 {
		*products = resize(*products, groups*in.K*2*v.lanes)
		clear((*products)[n/v.lanes*in.K*2*v.lanes:])
		if v.codes {
			v.decode(s, in, first, tiles)
			v.multiply(s, *products, in, tiles)
		} else {
			v.factors(*products, a, b, in, n)
		}
	}
	if s.program.L == 0 {
		s.program = v.program
	}
	c := in.C[4*first*each:][:4*n]
	s.d = resize(s.d, 4*groups*v.lanes)
	if n%v.lanes != 0 {
		s.c = resize(s.c, len(s.d))
		clear(s.c[copy(s.c, c):])
		c = s.c
	}
	x := &s.program
	x.Terms, x.C, x.D, x.Groups = (*float64)(unsafe.Pointer(&(*products)[0])), floats32(&c[0]), floats32(&s.d[0]), int64(groups)
	v.run(x, v.level)
	d := out[4*first*each:][:4*n]
	copy(d, s.d)
	s.unknown = s.unknown[:0]
	for i := range n {
		if binary.LittleEndian.Uint32(d[4*i:])&0x7f800000 == 0x7f800000 {
			s.unknown = append(s.unknown, int32(i))
		}
	}
	return s.unknown
}

// Products are their values and, as powers of two, their nominal exponents. One with an infinity or a
// NaN may be either.

// decode makes values of operands, and exponents if they are FP16.
func (v *wordVector) decode(s *sideVector, in *mma.Batch, first, tiles int) {
	for side, all := range [2][]byte{in.A, in.B} {
		n := in.M
		if side == 1 {
			n = in.N
		}
		first, n := first*n*in.K, tiles*n*in.K
		if table := v.bytes[side]; table != nil {
			s.values[side] = resize(s.values[side], n)
			for i, code := range all[first:][:n] {
				s.values[side][i] = table[code]
			}
			continue
		}
		codes := all[2*first:][:2*n]
		if len(codes)%64 != 0 {
			s.codes = resize(s.codes, (len(codes)+63)/64*64)
			clear(s.codes[copy(s.codes, codes):])
			codes = s.codes
		}
		n = len(codes) / 2
		s.values[side], s.exps[side] = resize(s.values[side], n), resize(s.exps[side], n)
		s.half = simd.Half{Src: &codes[0], Val: &s.values[side][0], Code: &s.exps[side][0], N: int64(n)}
		s.half.Run(v.level)
	}
}

// multiply makes the products of values.
func (v *wordVector) multiply(s *sideVector, x []uint64, in *mma.Batch, tiles int) {
	const bias = 1023 + 2*(-14-codeOne) // of the sum of two exponent codes
	k, each := in.K, in.M*in.N
	for i := range tiles * each {
		t, o := i/each, i%each
		row, col := (t*in.M+o/in.N)*k, (t*in.N+o%in.N)*k
		a, b := s.values[0][row:][:k], s.values[1][col:][:k]
		at := i/v.lanes*k*2*v.lanes + i%v.lanes
		if v.values {
			for j := range a {
				x[at] = math.Float64bits(float64(a[j] * b[j]))
				at += 2 * v.lanes
			}
			continue
		}
		ea, eb := s.exps[0][row:][:k], s.exps[1][col:][:k]
		for j := range a {
			p, e := a[j]*b[j], uint64(int(ea[j])+int(eb[j])+bias)<<52
			if p == 0 {
				e = 0
			}
			x[at], x[at+v.lanes] = math.Float64bits(float64(p)), e
			at += 2 * v.lanes
		}
	}
}

// factors makes the products of n outputs.
func (v *wordVector) factors(x []uint64, a, b []wordFactor, in *mma.Batch, n int) {
	k, lanes, each := in.K, v.lanes, in.M*in.N
	for i := range n {
		t, o := i/each, i%each
		a, b := a[(t*in.M+o/in.N)*k:][:k], b[(t*in.N+o%in.N)*k:][:k]
		at := i/lanes*k*2*lanes + i%lanes
		for j := range a {
			f, g := &a[j], &b[j]
			p, e := uint64(math.MaxInt64), uint64(0)
			switch flags := f.flags | g.flags; {
			case flags == 0:
				p = math.Float64bits(float64(f.sig*g.sig)) + uint64(int64(f.q+g.q)<<52)
				e = uint64(int64(f.e+g.e+1023) << 52)
			case flags == isZero:
				p = 0
				if f.neg != g.neg {
					p = 1 << 63
				}
			}
			x[at], x[at+lanes] = p, e
			at += 2 * lanes
		}
	}
}
