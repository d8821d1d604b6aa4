package sim

import (
	"encoding/binary"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// conversion is the kernel of programs that round one number to D's format: those of cvt and the
// like. All numbers of A with one sign and exponent are rounded at the same place, by an addition
// and a shift of the significand, whose carry goes into the exponent field of the result. Infinities,
// NaNs, and subnormal numbers that D has as normal ones are left to the interpreter.
type conversion struct {
	m     *Model
	a     *fp.Format
	limit uint64 // what is kept of the largest number
	low   uint8  // zeros below the bits that are kept: FP32 has 13 after a rounding to TF32
	first uint64 // what is kept of the number whose code is 0: 1 where D has no zero (E8M0)
}

// binade is how the codes of one sign and exponent field of A are rounded.
type binade struct {
	hidden      uint64 // the leading bit of the significand
	add         uint64 // makes a carry into what is kept; besides it, with even, the last bit kept
	base        uint64 // is added to what is kept
	sign        uint64 // of the result
	left, right uint8  // places by which the significand is shifted
	even        uint8  // 1 or 0
	interpreted bool   // the interpreter knows what all the codes become
	zero        uint64 // results
	tiny, over  uint64 // those of numbers that round to zero and that are too large
}

// notKept is a base by which all results are too large.
const notKept = 1 << 63

// conversionState is one worker's scratch space.
type conversionState struct {
	x       *machine
	dot     *mma.Dot
	binades []binade // by the upper bits of a code
	codes   [256]uint64
}

// newConversion returns the kernel, or nil if the program is not such a rounding.
func newConversion(m *Model) kernel {
	p, f := &m.params, m.formats
	round := mma.To(f.D, p.Acc.Mode)
	round.Frac, round.Over = p.Acc.Frac, p.Acc.Over
	q := mma.Params{In: mma.Input{Sub: p.In.Sub}, Order: p.Order, L: p.L, Start: p.Start, Acc: round, Special: p.Special}
	if q != *p || f.B != fp.One || f.C != fp.None || f.Scale != fp.None || f.Down != 0 || f.Common || m.k != 1 {
		return nil
	}
	a, d := f.A.Get(), f.D.Get()
	if a.Specials != fp.IEEE || a.Low != 0 || !a.Signed || a.Width == 1 || uint8(round.Frac) > d.FracBits || (round.Frac == 0) != d.PowersOfTwo() {
		return nil
	}
	if round.Mode != fp.RNE && round.Mode != fp.RZ && round.Mode != fp.RD && round.Mode != fp.RU && round.Mode != fp.RNA {
		return nil
	}
	c := &conversion{m: m, a: a, low: d.FracBits - uint8(round.Frac)}
	if d.PowersOfTwo() {
		c.first = 1
	}
	x := newMachine(m)
	c.limit = x.encode(largest(false, &round, x.short(&round)))>>c.low + c.first
	return c
}

func (c *conversion) name() string { return "conversion" }

func (c *conversion) newState() any {
	st := &conversionState{x: newMachine(c.m), dot: mma.NewDot(c.m.formats, 1)}
	st.binades = make([]binade, 2<<c.a.ExpBits)
	for i := range st.binades {
		neg := i>>c.a.ExpBits != 0
		st.binades[i] = c.binade(st, neg, uint64(i)&(1<<c.a.ExpBits-1))
	}
	return st
}

// binade returns the rounding of the codes of an exponent field.
func (c *conversion) binade(st *conversionState, neg bool, field uint64) binade {
	d, acc, frac := c.m.formats.D.Get(), &c.m.params.Acc, c.a.FracBits
	sign := uint64(0)
	if neg {
		sign = c.a.SignBit()
	}
	neg = neg && !d.PowersOfTwo() // which are those of magnitudes
	b := binade{
		zero: st.interpreted(sign), tiny: st.x.encode(st.x.tiny(neg)), over: st.x.encode(st.x.overflow(neg, acc)),
		hidden: 1 << frac,
	}
	if neg {
		b.sign = d.SignBit()
	}
	e := c.a.Exponent(max(field, 1))
	switch {
	case field == 1<<c.a.ExpBits-1, field == 0 && c.m.params.In.Sub == mma.KeepSub && e > d.Emin():
		b.interpreted, b.base = true, notKept
		return b
	case field == 0 && c.m.params.In.Sub != mma.KeepSub:
		b.tiny = st.interpreted(sign | 1)
		b.hidden, b.right = 0, frac
		return b
	case neg && !d.Signed:
		b.over, b.base = 0, notKept
		return b
	case field == 0:
		b.hidden = 0
	}
	b.roundAt(int(frac)-int(acc.Frac)+int(max(d.Emin()-e, 0)), acc.Mode, neg, frac)
	b.base = uint64(max(e-d.Emin(), 0)) << acc.Frac
	return b
}

// roundAt makes the significand, of frac bits below its leading one, be rounded to so many bits less.
func (b *binade) roundAt(less int, mode fp.Mode, neg bool, frac uint8) {
	if less <= 0 {
		b.left = uint8(-less)
		return
	}
	b.right = uint8(min(less, int(frac)+2)) // where all significands are below one half
	switch {
	case mode == fp.RNE:
		b.add, b.even = 1<<(b.right-1)-1, 1
	case mode == fp.RNA:
		b.add = 1 << (b.right - 1)
	case mode == fp.RU && !neg, mode == fp.RD && neg:
		b.add = 1<<b.right - 1
	}
}

// interpreted returns what the interpreter makes of a code.
func (st *conversionState) interpreted(code uint64) uint64 {
	st.dot.A[0] = code
	st.x.load(st.dot)
	return st.x.run()
}

func (c *conversion) run(in *mma.Batch, out []byte, scratch any) {
	if in.K != 1 {
		c.m.runGeneral(in, out)
		return
	}
	st, wide := scratch.(*conversionState), c.m.formats.D.Width()
	for at, n := 0, in.Tiles*in.M; at < n; at += len(st.codes) {
		codes := st.codes[:min(len(st.codes), n-at)]
		readCodes(codes, in.A, int(c.a.Width), at)
		c.convert(st, codes)
		if in.N == 1 {
			writeCodes(out, wide, at, codes)
			continue
		}
		for i, code := range codes {
			for j := range in.N {
				mma.Store(out, wide, (at+i)*in.N+j, code)
			}
		}
	}
}

// convert replaces codes by their results.
func (c *conversion) convert(st *conversionState, codes []uint64) {
	frac, low, limit, first := c.a.FracBits&63, c.low&63, c.limit, c.first
	mask := uint64(1)<<frac - 1
	for i, code := range codes {
		b := &st.binades[code>>frac]
		sig := code&mask | b.hidden
		right := b.right & 63
		kept := (sig<<(b.left&63)+b.add+sig>>right&uint64(b.even))>>right + b.base
		if kept-1 < limit {
			codes[i] = (kept-first)<<low | b.sign
			continue
		}
		codes[i] = st.rest(b, code, sig, kept)
	}
}

// rest returns the result of a code that is not a number of D other than zero.
func (st *conversionState) rest(b *binade, code, sig, kept uint64) uint64 {
	switch {
	case b.interpreted:
		return st.interpreted(code)
	case kept != 0:
		return b.over
	case sig == 0:
		return b.zero
	}
	return b.tiny
}

// readCodes reads the codes of a buffer from one on.
func readCodes(codes []uint64, buf []byte, width, from int) {
	buf = buf[from*width:][:len(codes)*width]
	switch width {
	case 2:
		for i := range codes {
			codes[i] = uint64(binary.LittleEndian.Uint16(buf[2*i:]))
		}
	case 4:
		for i := range codes {
			codes[i] = uint64(binary.LittleEndian.Uint32(buf[4*i:]))
		}
	default:
		for i := range codes {
			codes[i] = mma.Load(buf, width, i)
		}
	}
}

// writeCodes writes codes into a buffer from one on.
func writeCodes(buf []byte, width, from int, codes []uint64) {
	buf = buf[from*width:][:len(codes)*width]
	switch width {
	case 1:
		for i := range buf {
			buf[i] = byte(codes[i])
		}
	case 2:
		for i, code := range codes {
			binary.LittleEndian.PutUint16(buf[2*i:], uint16(code))
		}
	default:
		for i, code := range codes {
			mma.Store(buf, width, i, code)
		}
	}
}
