package fp

import "math/bits"

// Dyadic is the finite number (-1)^Neg * (Hi*2^64 + Lo) * 2^Q. It need not be
// normalised, and zero carries a sign. The zero value is +0. Q is within +-2^30,
// so that no exponent overflows.
type Dyadic struct {
	Hi, Lo uint64
	Q      int32
	Neg    bool
}

// IsZero reports whether the magnitude is zero.
func (d Dyadic) IsZero() bool { return d.Hi|d.Lo == 0 }

// Len returns the number of significant bits; 0 for zero.
func (d Dyadic) Len() int32 {
	if d.Hi != 0 {
		return 64 + int32(bits.Len64(d.Hi))
	}
	return int32(bits.Len64(d.Lo))
}

// Exponent returns floor(log2|d|). The result is meaningless for zero.
func (d Dyadic) Exponent() int32 { return d.Q + d.Len() - 1 }

// Low returns Q plus the number of trailing zero bits: the exponent of the
// lowest bit that is set. The result is meaningless for zero.
func (d Dyadic) Low() int32 {
	if d.Lo != 0 {
		return d.Q + int32(bits.TrailingZeros64(d.Lo))
	}
	return d.Q + 64 + int32(bits.TrailingZeros64(d.Hi))
}

// Round returns d rounded to a multiple of 2^q. The sign is kept, also when
// the result is zero. If q is not above d.Q nothing is lost and d is returned
// as it is.
func (d Dyadic) Round(q int32, m Mode) Dyadic {
	if q <= d.Q {
		return d
	}
	r, lost := d.truncate(q)
	if m.up(d.Neg, r.Lo&1 != 0, lost) {
		var c uint64
		r.Lo, c = bits.Add64(r.Lo, 1, 0)
		r.Hi += c
	}
	return r
}

// RoundRandom is Round by RS with the lowest n bits of random. d has
// at most 128-n bits above 2^(q-n).
func (d Dyadic) RoundRandom(q int32, random uint64, n uint8) Dyadic {
	if q <= d.Q {
		return d
	}
	r := d.Round(q-int32(n), RZ)
	r = r.Shl(max(r.Q-(q-int32(n)), 0))
	var c uint64
	r.Lo, c = bits.Add64(r.Lo, random&(1<<n-1), 0)
	r.Hi += c
	return r.Round(q, RZ)
}

// truncate drops the bits of weight below 2^q, q > d.Q, and returns what was lost.
func (d Dyadic) truncate(q int32) (Dyadic, lostPart) {
	r := Dyadic{Neg: d.Neg, Q: q}
	n := int64(q) - int64(d.Q) // > 0
	var rest, half uint64      // rest: any bit below the half bit
	switch {
	case n > 128:
		rest = d.Hi | d.Lo
	case n == 128:
		half, rest = d.Hi>>63, d.Hi<<1|d.Lo
	case n > 64:
		r.Lo = d.Hi >> (n - 64)
		half = d.Hi >> (n - 65) & 1
		rest = d.Hi&(1<<(n-65)-1) | d.Lo
	case n == 64:
		r.Lo = d.Hi
		half, rest = d.Lo>>63, d.Lo<<1
	default:
		r.Hi = d.Hi >> n
		r.Lo = d.Lo>>n | d.Hi<<(64-n)
		half = d.Lo >> (n - 1) & 1
		rest = d.Lo & (1<<(n-1) - 1)
	}
	switch {
	case half == 0 && rest == 0:
		return r, lostZero
	case half == 0:
		return r, lostLess
	case rest == 0:
		return r, lostHalf
	}
	return r, lostMore
}

// Shl returns the magnitude times 2^n, 0 <= n < 128, with Q lowered by n, so
// that the value is the same. Bits shifted out are lost: the caller keeps
// Len()+n <= 128.
func (d Dyadic) Shl(n int32) Dyadic {
	switch {
	case n >= 64:
		d.Hi, d.Lo = d.Lo<<(n-64), 0
	case n > 0:
		d.Hi = d.Hi<<n | d.Lo>>(64-n)
		d.Lo <<= n
	}
	d.Q -= n
	return d
}
