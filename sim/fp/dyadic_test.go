package fp_test

import (
	"math/big"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func bigInt(d fp.Dyadic) *big.Int {
	i := new(big.Int).SetUint64(d.Hi)
	i.Lsh(i, 64).Or(i, new(big.Int).SetUint64(d.Lo))
	if d.Neg {
		i.Neg(i)
	}
	return i
}

// significands are patterns and random numbers of all lengths, and for every
// shift some around whole and half units.
func significands() (list []fp.Dyadic) {
	one := fp.Dyadic{Lo: 1}
	r := random(2)
	for n := range 128 {
		p := nudge(one, 0, n)
		list = append(list, p, nudge(one, 1, n), nudge(one, -1, n), nudge(fp.Dyadic{Lo: 3}, 0, min(n, 126)))
		x := fp.Dyadic{Hi: r.Uint64(), Lo: r.Uint64()}
		switch {
		case n >= 64:
			x = fp.Dyadic{Lo: x.Hi >> (n - 64)}
		case n > 0:
			x.Hi >>= n
		}
		list = append(list, x, fp.Dyadic{Lo: x.Lo}, fp.Dyadic{Hi: x.Hi})
		for _, eps := range []int{-1, 0, 1} { // odd and even multiples of a half
			list = append(list, nudge(fp.Dyadic{Lo: 5}, eps, min(n, 125)), nudge(fp.Dyadic{Lo: 7}, eps, min(n, 125)))
		}
	}
	return append(list, fp.Dyadic{}, fp.Dyadic{Hi: ^uint64(0), Lo: ^uint64(0)}, fp.Dyadic{Hi: ^uint64(0)})
}

// integerRound rounds x/2^n to an integer, by the definition of the mode.
func integerRound(x *big.Int, n uint, m fp.Mode) *big.Int {
	low := new(big.Int).Rsh(x, n) // the floor, also of negative numbers
	rest := new(big.Int).Sub(x, new(big.Int).Lsh(low, n))
	if rest.Sign() == 0 {
		return low
	}
	high := new(big.Int).Add(low, big.NewInt(1))
	inner, outer := low, high
	if x.Sign() < 0 {
		inner, outer = high, low
	}
	odd, even := low, high
	if low.Bit(0) == 0 {
		odd, even = high, low
	}
	half := rest.Lsh(rest, 1).Cmp(new(big.Int).Lsh(big.NewInt(1), n))
	switch {
	case m == fp.RD:
		return low
	case m == fp.RU:
		return high
	case m == fp.RZ:
		return inner
	case m == fp.RTO:
		return odd
	case half < 0:
		return low
	case half > 0:
		return high
	case m == fp.RNA:
		return outer
	}
	return even
}

func TestRound(t *testing.T) {
	list := significands()
	for _, n := range append(upTo(140), 200, 1000, 1<<20) {
		for i, d := range list {
			d.Q = int32(i%401 - 200)
			d.Neg = i%2 == n%2 // each sign with half of the shifts
			checkRound(t, d, n)
			if t.Failed() {
				return
			}
		}
	}
}

// TestRoundFarthest rounds from one end of the exponents to the other.
func TestRoundFarthest(t *testing.T) {
	for _, neg := range []bool{false, true} {
		d := fp.Dyadic{Hi: 1 << 63, Lo: 1, Q: -1 << 30, Neg: neg}
		for _, m := range fp.Modes() {
			want := fp.Dyadic{Q: 1 << 30, Neg: neg}
			if m == fp.RTO || m == fp.RU && !neg || m == fp.RD && neg {
				want.Lo = 1
			}
			if got := d.Round(1<<30, m); got != want {
				t.Errorf("%+v, %v: %+v, want %+v", d, m, got, want)
			}
		}
	}
}

func upTo(n int) (list []int) {
	for i := range n + 1 {
		list = append(list, i)
	}
	return list
}

func checkRound(t *testing.T, d fp.Dyadic, n int) {
	t.Helper()
	x := bigInt(d)
	for _, m := range fp.Modes() {
		got := d.Round(d.Q+int32(n), m)
		// A significand has 128 bits, so that beyond 200 all shifts are alike.
		want := integerRound(x, uint(min(n, 200)), m)
		if bigInt(got).Cmp(want) != 0 || got.Q != d.Q+int32(n) || got.Neg != d.Neg {
			t.Errorf("%+v >> %d, %v: %+v, want %v", d, n, m, got, want)
			return
		}
	}
}

// TestRoundNothing: a unit that is not above the lowest bit changes nothing.
func TestRoundNothing(t *testing.T) {
	for i, d := range significands() {
		d.Q, d.Neg = int32(i), i%3 == 0
		for _, q := range []int32{d.Q, d.Q - 1, d.Q - 64, -1 << 30} {
			for _, m := range fp.Modes() {
				if got := d.Round(q, m); got != d {
					t.Fatalf("%+v rounded to 2^%d: %+v", d, q, got)
				}
			}
		}
	}
}

func TestRoundUnset(t *testing.T) {
	mustPanic(t, "Round without a mode", func() { fp.Dyadic{Lo: 1}.Round(1, 0) })
}

func TestDyadicBits(t *testing.T) {
	for i, d := range significands() {
		d.Q = int32(i%301 - 150)
		x := bigInt(d)
		if d.IsZero() != (x.Sign() == 0) || int(d.Len()) != x.BitLen() {
			t.Errorf("%+v: zero %v, length %d", d, d.IsZero(), d.Len())
		}
		if d.IsZero() {
			continue
		}
		if e := d.Q + int32(x.BitLen()) - 1; d.Exponent() != e {
			t.Errorf("%+v: exponent %d, want %d", d, d.Exponent(), e)
		}
		if low := d.Q + int32(x.TrailingZeroBits()); d.Low() != low {
			t.Errorf("%+v: low %d, want %d", d, d.Low(), low)
		}
	}
}

func TestShl(t *testing.T) {
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	for i, d := range significands() {
		d.Q = int32(i%301 - 150)
		for n := range int32(128) {
			want := new(big.Int).Lsh(bigInt(d), uint(n))
			got := d.Shl(n)
			if bigInt(got).Cmp(want.And(want, mask)) != 0 || got.Q != d.Q-n || got.Neg {
				t.Fatalf("%+v << %d: %+v, want %v", d, n, got, want)
			}
		}
		if d.Neg = true; !d.Shl(1).Neg {
			t.Fatalf("%+v << 1 lost its sign", d)
		}
	}
}
