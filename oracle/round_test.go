package oracle

import (
	"math/big"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bigModes are the directions that math/big has, too.
var bigModes = map[fp.Mode]big.RoundingMode{
	fp.RNE: big.ToNearestEven,
	fp.RZ:  big.ToZero,
	fp.RD:  big.ToNegativeInf,
	fp.RU:  big.ToPositiveInf,
	fp.RNA: big.ToNearestAway,
}

// bigRound rounds m * 2^q to prec bits with math/big.
func bigRound(m *big.Int, q int, prec uint, mode fp.Mode) *big.Float {
	exact := new(big.Float).SetInt(m)
	exact.SetMantExp(exact, q)
	round := func(b big.RoundingMode) *big.Float {
		return new(big.Float).SetPrec(prec).SetMode(b).Set(exact)
	}
	if b, ok := bigModes[mode]; ok {
		return round(b)
	}
	// To odd: of the neighbours, the one whose last bit is set.
	down, away := round(big.ToZero), round(big.AwayFromZero)
	if down.Cmp(away) == 0 || down.MinPrec() == prec {
		return down
	}
	return away
}

// randomInt has up to 200 bits, in runs as well as at random, because ties and
// long carries are rare otherwise.
func (g generator) randomInt() *big.Int {
	m := new(big.Int)
	for range 1 + g.IntN(6) {
		n := uint(1 + g.IntN(32))
		m.Lsh(m, n)
		switch g.IntN(3) {
		case 0:
			m.Or(m, new(big.Int).SetUint64(g.Uint64()&(1<<n-1)))
		case 1:
			m.Or(m, new(big.Int).SetUint64(1<<n-1))
		}
	}
	if m.Sign() == 0 {
		m.SetInt64(1)
	}
	if g.IntN(2) == 0 {
		m.Neg(m)
	}
	return m
}

func TestRoundingAgainstBigFloat(t *testing.T) {
	g := newGenerator(1)
	e := evaluator{Params: &exactly}
	for i := range 20000 {
		m, q := g.randomInt(), g.IntN(200)-300
		r := mma.Round{Frac: mma.Frac(1 + g.IntN(64)), Mode: fp.Modes()[i%6]}
		prec := int(r.Frac) + 1
		x := term{neg: m.Sign() < 0, m: fromBig(m), q: q}
		if i%2 == 0 { // gradual underflow: fewer bits below Emin
			r.Emin = mma.Exp(x.log2() + g.IntN(prec))
			prec -= int(r.Emin) - x.log2()
			if r.Emin == 0 { // means none
				continue
			}
		}
		want := bigRound(m, q, uint(prec), r.Mode)
		got := x
		e.round(&got, &r)
		f := new(big.Float).SetInt(got.m.toBig())
		if f.SetMantExp(f, got.q).Cmp(want) != 0 {
			t.Fatalf("%d*2^%d rounded by %+v = %d*2^%d, want %s", m, q, r, got.m.toBig(), got.q, want.Text('p', 0))
		}
		if wantExp := max(want.MantExp(nil)-1, exponentBound(r)); got.e != wantExp || got.null {
			t.Fatalf("%d*2^%d rounded by %+v has exponent %d, want %d", m, q, r, got.e, wantExp)
		}
	}
}

func exponentBound(r mma.Round) int {
	if r.Emin == 0 {
		return -1 << 30
	}
	return int(r.Emin)
}

// TestUnitsBelowEmin is the case that math/big does not have: numbers below the
// least unit, which become 0 or 1 units.
func TestUnitsBelowEmin(t *testing.T) {
	// Columns: +1/4, +1/2, +3/4, -1/4, -1/2, -3/4 of a unit.
	for mode, want := range map[fp.Mode][6]int64{
		fp.RNE: {0, 0, 1, 0, 0, -1},
		fp.RZ:  {0, 0, 0, 0, 0, 0},
		fp.RD:  {0, 0, 0, -1, -1, -1},
		fp.RU:  {1, 1, 1, 0, 0, 0},
		fp.RNA: {0, 1, 1, 0, -1, -1},
		fp.RTO: {1, 1, 1, -1, -1, -1},
	} {
		for i, quarters := range []int64{1, 2, 3, -1, -2, -3} {
			x := term{neg: quarters < 0, m: newInteger(quarters), q: -102}
			got := x
			got.toMultiple(-100, mode)
			if got.q != -100 || got.m.cmp(newInteger(want[i])) != 0 || got.neg != x.neg {
				t.Errorf("%s: %d/4 -> %d (negative: %t), want %d", mode, quarters, got.m.toBig(), got.neg, want[i])
			}
		}
	}
}

// TestTotalToRound rounds sums of numbers that lie far apart, also of such that cancel, to what
// math/big rounds their exact sums to.
func TestTotalToRound(t *testing.T) {
	g := newGenerator(9)
	e := evaluator{Params: &exactly}
	windows := 0
	for i := range 20000 {
		terms := make([]term, 2+g.IntN(6))
		for j := range terms {
			m := newInteger(g.Int64N(1<<53) - 1<<52)
			if g.IntN(2) == 0 {
				m = m.times(newInteger(g.Int64N(1<<53) - 1<<52))
			}
			terms[j] = term{m: m, q: g.IntN(1<<(1+g.IntN(10))) - 500, neg: m.sign() < 0}
			if k := g.IntN(2 * len(terms)); k < j {
				terms[j] = negated(terms[k])
				terms[j].neg = !terms[k].neg
				terms[j].q += g.IntN(3) / 2
			}
		}
		e.memory = e.memory[:0]
		r := mma.Round{Frac: mma.Frac(1 + g.IntN(64)), Mode: fp.Modes()[i%6]}
		exact := total(terms)
		got := e.totalToRound(terms, int(r.Frac))
		if exact.isZero() != got.isZero() {
			t.Fatalf("%v: zero is %t, want %t", terms, got.isZero(), exact.isZero())
		}
		if exact.isZero() {
			continue
		}
		if got.q != exact.q {
			windows++
		}
		want := bigRound(exact.m.toBig(), exact.q, uint(r.Frac)+1, r.Mode)
		e.round(&got, &r)
		f := new(big.Float).SetInt(got.m.toBig())
		if f.SetMantExp(f, got.q).Cmp(want) != 0 || got.neg != exact.neg {
			t.Fatalf("%v rounded by %+v: %s, want %s", terms, r, f.Text('p', 0), want.Text('p', 0))
		}
	}
	if windows < 5000 {
		t.Errorf("only %d sums had more bits than a window", windows)
	}
}
