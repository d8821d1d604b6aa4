package sim

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// wideLimbs spans any exact sum: FP64 products reach from 2^-2148 to 2^2048,
// block scales add 2^+-254, and 255 of them are summed: 4,720 bits.
const wideLimbs = 76

// wide is a two's complement fixed-point accumulator (Kulisch).
type wide struct {
	buf  [wideLimbs]uint64
	limb []uint64 // the part of buf in use
}

// sum adds the finite terms exactly. low is the smallest Q among them; span is
// a number of bits above it that the magnitude of no partial sum exceeds.
func (w *wide) sum(ts []term, low, span int32) term {
	w.reset(span)
	for i := range ts {
		if ts[i].kind == Finite && !ts[i].IsZero() {
			w.add(ts[i].Dyadic, uint32(ts[i].Q-low))
		}
	}
	return w.magnitude(low)
}

// reset empties the accumulator, for sums below 2^span units.
func (w *wide) reset(span int32) {
	w.limb = w.buf[:span/64+3]
	clear(w.limb)
}

// magnitude returns the sum, of which low is the weight of the lowest bit, as sign and
// magnitude.
func (w *wide) magnitude(low int32) term {
	neg := w.limb[len(w.limb)-1]>>63 != 0
	if neg {
		w.negate()
	}
	t := w.top(low)
	t.Neg = neg
	return t
}

// add adds d shifted left by n bits.
func (w *wide) add(d fp.Dyadic, n uint32) {
	i, s := n/64, n%64
	v := [3]uint64{d.Lo << s, d.Hi<<s | d.Lo>>1>>(63-s), d.Hi >> 1 >> (63 - s)}
	step := bits.Add64
	if d.Neg {
		step = bits.Sub64
	}
	var c uint64
	for j := range v {
		w.limb[i], c = step(w.limb[i], v[j], c)
		i++
	}
	for ; c != 0 && int(i) < len(w.limb); i++ {
		w.limb[i], c = step(w.limb[i], 0, c)
	}
}

func (w *wide) negate() {
	var c uint64
	for i := range w.limb {
		w.limb[i], c = bits.Sub64(0, w.limb[i], c)
	}
}

// top returns the magnitude: exactly if it fits 128 bits, else its upper 127
// bits followed by a sticky bit. low is the weight of the lowest bit.
func (w *wide) top(low int32) term {
	i := len(w.limb) - 1
	for i > 0 && w.limb[i] == 0 {
		i--
	}
	if i < 2 {
		return term{Dyadic: fp.Dyadic{Hi: w.limb[1], Lo: w.limb[0], Q: low}}
	}
	s := uint(bits.LeadingZeros64(w.limb[i]))
	d := fp.Dyadic{Q: low + int32(i-1)*64 - int32(s)}
	d.Hi = w.limb[i]<<s | w.limb[i-1]>>1>>(63-s)
	d.Lo = w.limb[i-1]<<s | w.limb[i-2]>>1>>(63-s)
	sticky := w.limb[i-2] << s
	for _, l := range w.limb[:i-2] {
		sticky |= l
	}
	if sticky != 0 {
		d.Lo |= 1
	}
	return term{Dyadic: d}
}
