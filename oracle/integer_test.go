package oracle

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestInteger compares every operation with that of math/big, on numbers of all sizes around
// those at which the representation changes.
func TestInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func() *big.Int {
		n := new(big.Int)
		if size := r.IntN(140); size > 0 {
			n.SetBit(n, size-1, 1)
			if r.IntN(3) > 0 { // else a power of two
				for range 3 {
					n.SetBit(n, r.IntN(size), uint(r.IntN(2)))
				}
				n.Add(n, big.NewInt(r.Int64N(1<<40)))
			}
			n.Sub(n, big.NewInt(r.Int64N(3)-1))
		}
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		return n
	}
	for range 200_000 {
		x, y, n := number(), number(), r.IntN(140)
		a, b := fromBig(x), fromBig(y)
		if (a.big != nil) != (x.BitLen() > smallBits) {
			t.Fatalf("%d: %+v", x, a)
		}
		floor, rest := new(big.Int), new(big.Int)
		unit := new(big.Int).Lsh(big.NewInt(1), uint(n))
		floor.DivMod(x, unit, rest)
		q, half, exact := a.floor(n)
		for what, pair := range map[string][2]*big.Int{
			"itself":  {a.toBig(), x},
			"neg":     {a.neg().toBig(), new(big.Int).Neg(x)},
			"abs":     {a.abs().toBig(), new(big.Int).Abs(x)},
			"plus":    {a.plus(b).toBig(), new(big.Int).Add(x, y)},
			"times":   {a.times(b).toBig(), new(big.Int).Mul(x, y)},
			"shifted": {a.shifted(n).toBig(), new(big.Int).Lsh(x, uint(n))},
			"last":    {a.withLast().toBig(), new(big.Int).SetBit(x, 0, 1)},
			"floor":   {q.toBig(), floor},
			"sign":    {big.NewInt(int64(a.sign())), big.NewInt(int64(x.Sign()))},
			"cmp":     {big.NewInt(int64(a.cmp(b))), big.NewInt(int64(x.Cmp(y)))},
			"bitLen":  {big.NewInt(int64(a.bitLen())), big.NewInt(int64(x.BitLen()))},
		} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Fatalf("%s of %d, %d and %d: %d, want %d", what, x, y, n, pair[0], pair[1])
			}
		}
		if exact != (rest.Sign() == 0) || !exact && half != rest.Lsh(rest, 1).Cmp(unit) || a.odd() != (x.Bit(0) == 1) {
			t.Fatalf("%d / 2^%d: %d, %t", x, n, half, exact)
		}
	}
}
