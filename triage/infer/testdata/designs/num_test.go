package main

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestProcessor compares sums, products and FMAs with those of Go's float32 and float64,
// which are IEEE 754's, NaNs by class.
func TestProcessor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	same := func(what string, t2 to, got num, want float64, in ...float64) {
		t.Helper()
		g := fp64.decode(double.code(got))
		w := fp64.decode(math.Float64bits(want))
		if g.kind == nan && w.kind == nan {
			return
		}
		if code := double.code(got); code != math.Float64bits(want) {
			t.Fatalf("%s of %x in %s is %x, want %x", what, in, t2.name, code, math.Float64bits(want))
		}
	}
	for range 300_000 {
		var x [3]uint64
		for i := range x {
			x[i] = fp32.aimed(r, r.IntN(7), 1+r.IntN(60))
		}
		a, b, c := math.Float32frombits(uint32(x[0])), math.Float32frombits(uint32(x[1])), math.Float32frombits(uint32(x[2]))
		na, nb := fp32.decode(x[0]), fp32.decode(x[1])
		same("a sum", single, single.sum(na, nb), float64(a+b), float64(a), float64(b))
		same("a product", single, single.product(na, nb), float64(a*b), float64(a), float64(b))
		for i := range x {
			x[i] = fp64.aimed(r, r.IntN(7), 1+r.IntN(120))
		}
		da, db, dc := math.Float64frombits(x[0]), math.Float64frombits(x[1]), math.Float64frombits(x[2])
		if r.IntN(2) == 0 {
			dc = -da * db
			x[2] = math.Float64bits(dc)
		}
		ma, mb, mc := fp64.decode(x[0]), fp64.decode(x[1]), fp64.decode(x[2])
		same("a sum", double, double.sum(ma, mc), da+dc, da, dc)
		same("a product", double, double.product(ma, mb), da*db, da, db)
		same("an FMA", double, fma64(ma, mb, mc), math.FMA(da, db, dc), da, db, dc)
		_ = c
	}
}

// value returns the exact value of a finite number without a rest.
func (x num) value() *big.Rat {
	v := new(big.Rat).SetInt(new(big.Int).SetUint64(x.m))
	p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(x.e, -x.e))))
	if x.e < 0 {
		p.Inv(p)
	}
	if v.Mul(v, p); x.neg {
		v.Neg(v)
	}
	return v
}

// TestRounding compares roundings of exact sums to small formats with the neighbours
// among all their codes.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for _, f := range []*format{e4m3, e5m2, e2m1, e4m3fnuz} {
		var codes []num
		for code := range uint64(1) << (f.exp + f.man) {
			n := f.decode(code)
			if n.kind == finite {
				codes = append(codes, n)
			}
			if n.kind == finite && f.encode(n) != code {
				t.Errorf("%s: %02x decoded and encoded is %02x", f.name, code, f.encode(n))
			}
		}
		for range 4000 {
			// A term around a code or half way to the next, and a tiny one.
			near := codes[r.IntN(len(codes))]
			x := num{neg: r.IntN(2) == 0, m: near.m<<4 + uint64(r.IntN(33)), e: near.e - 4}
			y := num{neg: r.IntN(2) == 0, m: uint64(r.IntN(2)), e: -90 - r.IntN(60)}
			sum := exact([]num{x, y})
			if s := add(x, y); !sum.zero() && single.code(s) != single.code(sum) {
				t.Fatalf("%v + %v: add gives %v, exact %v", x, y, s, sum)
			}
			v := new(big.Rat).Add(x.value(), y.value())
			neg := v.Sign() < 0
			abs := new(big.Rat).Abs(v)
			i := 0 // codes[i] <= abs
			for i+1 < len(codes) && codes[i+1].value().Cmp(abs) <= 0 {
				i++
			}
			if i+1 == len(codes) || v.Sign() == 0 {
				continue // overflow has its own rules
			}
			low, high := codes[i].value(), codes[i+1].value()
			isExact := low.Cmp(abs) == 0
			middle := new(big.Rat).Mul(new(big.Rat).Add(low, high), big.NewRat(1, 2)).Cmp(abs) // -1: above the middle
			for by, wantUp := range map[mode]bool{
				zero:    false,
				down:    neg && !isExact,
				up:      !neg && !isExact,
				odd:     !isExact && i%2 == 0,
				away:    middle <= 0,
				nearest: middle < 0 || middle == 0 && i%2 != 0,
			} {
				want := codes[i]
				if wantUp {
					want = codes[i+1]
				}
				if got := (to{format: f, by: by}).round(sum); got.value().Cmp(want.negated(neg).value()) != 0 {
					t.Fatalf("%s: mode %d of %s is %s, want %s", f.name, by, v.FloatString(20), got.value().FloatString(20), want.value().FloatString(20))
				}
			}
		}
	}
}

// TestExact compares the sum of many terms with big.Rat.
func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 3000 {
		var terms []num
		want := new(big.Rat)
		for range 1 + r.IntN(8) {
			n := num{neg: r.IntN(2) == 0, m: r.Uint64() >> (1 + r.IntN(63)), e: r.IntN(300) - 290}
			terms = append(terms, n)
			want.Add(want, n.value())
		}
		got := exact(terms)
		low := got.value()
		high := num{neg: got.neg, m: got.m, e: got.e}
		if !got.rest {
			if low.Cmp(want) != 0 {
				t.Fatalf("the sum of %v is %v", terms, got)
			}
			continue
		}
		ulp := num{neg: got.neg, m: 1, e: got.e}.value()
		if between := new(big.Rat).Sub(want, high.value()); between.Sign() == 0 || between.Sign() != want.Sign() || between.Abs(between).Cmp(ulp.Abs(ulp)) >= 0 {
			t.Fatalf("the sum of %v is %v", terms, got)
		}
	}
}
