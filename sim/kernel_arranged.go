package sim

import (
	"encoding/binary"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// arranged is the kernel of programs that differ from another program only in the
// order of the products, the widening of operands, or the addition of C at the end,
// such as SplitHMMA: it rearranges the operands, lets the kernel of the other program
// compute, and adds C.
type arranged struct {
	m     *Model
	inner *Model
	a, b  *[256]uint16 // codes of the widened format; nil: as they are
	late  bool         // C is added at the end
	plus  bool         // and a zero sum is +0
	nan   uint64
	vec   *arrangedVectors // nil: in Go
}

// arrangedState is one worker's scratch space.
type arrangedState struct {
	batch mma.Batch
	d     []byte
	inner any
	vec   arrangedVectorState
}

// newArranged returns the kernel, or nil if the program is none of these, or the other
// program has no kernel.
func newArranged(m *Model, path Path) kernel {
	p, f := &m.params, m.formats
	t := &arranged{m: m, late: p.Start == mma.StartZero && f.C != fp.None}
	if p.Order == mma.Ascending && p.In.Widen == fp.None && !t.late || p.Special.OperandNaN() || f.Scale != fp.None || f.C == fp.None {
		return nil
	}
	q, g := *p, f
	if p.In.Widen != fp.None {
		// The products are those of a program whose operands have the wider format.
		if p.In.Widen != fp.FP16 || f.A.Width() != 1 || f.B.Width() != 1 {
			return nil
		}
		t.a, t.b = widened(f.A, fp.FP16), widened(f.B, fp.FP16)
		q.In.Widen, g.A, g.B = fp.None, fp.FP16, fp.FP16
	}
	q.Order = mma.Ascending
	if t.late {
		if f.C != f.D || f.D != fp.FP32 && f.D != fp.FP16 || p.Late != mma.To(f.D, fp.RNE) || p.Lanes > 1 || p.Out != (mma.Round{}) ||
			p.In.C != mma.KeepSub || p.Special.CLeft || p.Special.TinySign {
			return nil
		}
		t.plus, t.nan = !p.Special.NegZero, newMachine(m).nanCode(term{kind: NaN})
		q.Start, q.Late, g.C = mma.StartC, mma.Round{}, fp.None
	}
	if q.Validate(g, m.k) != nil {
		return nil
	}
	t.inner = newModel(g, m.k, q, path)
	switch t.inner.kernel.(type) {
	case nil, *word: // which does all of this itself
		return nil
	}
	t.setVectors(path)
	return t
}

// widened returns the codes of a wider format with the values of a format of one
// byte.
func widened(from, to fp.ID) *[256]uint16 {
	f, g := from.Get(), to.Get()
	var table [256]uint16
	for i := range table {
		n := f.Decode(uint64(i))
		switch n.Class {
		case fp.NaN:
			table[i] = uint16(g.QuietNaN(n.Neg))
		case fp.Inf:
			table[i] = uint16(g.InfCode(n.Neg))
		default:
			table[i] = uint16(g.Encode(f.Dyadic(n), fp.RNE, fp.OverInf))
		}
	}
	return &table
}

func (t *arranged) name() string { return "arranged " + t.inner.kernel.name() }

func (t *arranged) newState() any { return &arrangedState{inner: t.inner.kernel.newState()} }

func (t *arranged) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*arrangedState)
	b := &st.batch
	k := t.m.k
	s := in.Shape
	s.K = k
	b.Reset(t.inner.formats, s)
	w := t.m.formats.D.Width()
	for at := 0; at < in.K; at += k {
		if in.K != k || !t.arrangeVectors(st, b, in) {
			t.arrange(b.A, in.A, t.a, in.Formats.A.Width(), in.Tiles*in.M, in.K, at)
			t.arrange(b.B, in.B, t.b, in.Formats.B.Width(), in.Tiles*in.N, in.K, at)
		}
		c := in.C
		if at > 0 {
			c = out
		}
		d := out
		if t.late {
			st.d = resize(st.d, in.Dots()*w)
			d = st.d
		} else if b.C != nil || len(c) > 0 {
			b.C = c[:len(b.C)]
		}
		t.inner.kernel.run(b, d, st.inner)
		if t.late {
			done := t.addVectors(st, out, d, c)
			t.addC(out[done:], d[done:], c[done:])
		}
	}
	if !t.late {
		b.C = nil // the caller's
	}
}

// arrange copies the K codes of each row that begin at number at, in the sequence of the
// program.
func (t *arranged) arrange(dst, src []byte, table *[256]uint16, width, rows, stride, at int) {
	order := t.m.order
	for r := range rows {
		row := src[(r*stride+at)*width:][:len(order)*width]
		switch {
		case table != nil:
			to := dst[2*r*len(order):][:2*len(order)]
			for i, k := range order {
				binary.LittleEndian.PutUint16(to[2*i:], table[row[k]])
			}
		case width == 1:
			for i, k := range order {
				dst[r*len(order)+i] = row[k]
			}
		default:
			to := dst[r*len(order)*width:][:len(order)*width]
			for i, k := range order {
				copy(to[i*width:][:width], row[k*width:])
			}
		}
	}
}

// addC adds C to sums, rounded to nearest.
func (t *arranged) addC(out, sums, c []byte) {
	if t.m.formats.D == fp.FP32 {
		for i := 0; i < len(sums); i += 4 {
			x := math.Float32frombits(binary.LittleEndian.Uint32(sums[i:]))
			y := math.Float32frombits(binary.LittleEndian.Uint32(c[i:]))
			binary.LittleEndian.PutUint32(out[i:], t.code32(x+y))
		}
		return
	}
	for i := 0; i < len(sums); i += 2 {
		x, y := binary.LittleEndian.Uint16(sums[i:]), binary.LittleEndian.Uint16(c[i:])
		// FP32 has more than twice the digits of FP16: rounding twice is rounding
		// once.
		u := t.code32(half32(x) + half32(y))
		if u&^(1<<31) > 0x7f800000 {
			binary.LittleEndian.PutUint16(out[i:], uint16(t.nan))
			continue
		}
		binary.LittleEndian.PutUint16(out[i:], halfCode(u))
	}
}

// code32 returns the code of a sum as FP32.
func (t *arranged) code32(x float32) uint32 {
	switch {
	case x != x:
		if t.m.formats.D == fp.FP16 {
			return math.Float32bits(x)
		}
		return uint32(t.nan)
	case x == 0 && t.plus:
		return 0
	}
	return math.Float32bits(x)
}

// half32 returns the value of an FP16 code.
func half32(c uint16) float32 {
	u := uint32(c)
	switch u & 0x7c00 {
	case 0:
		x := float32(u&0x3ff) / (1 << 24)
		return math.Float32frombits(math.Float32bits(x) | u<<16&(1<<31))
	case 0x7c00:
		return math.Float32frombits(u<<16&(1<<31) | 0x7f800000 | u&0x3ff<<13)
	}
	return math.Float32frombits(u<<16&(1<<31) | (u&0x7fff<<13 + 112<<23))
}

// halfCode rounds an FP32 code that is not NaN to FP16, to nearest even.
func halfCode(u uint32) uint16 {
	sign := uint16(u >> 16 & 0x8000)
	u &^= 1 << 31
	switch {
	case u >= 0x477ff000: // 65520 and more
		return sign | 0x7c00
	case u < 0x38800000: // below 2^-14: a multiple of 2^-24
		x := math.Float32frombits(u) + 0.5 // whose last place is 2^-24
		return sign | uint16(math.Float32bits(x)-math.Float32bits(0.5))
	}
	u += 0xfff + u>>13&1
	return sign | uint16((u-112<<23)>>13)
}
