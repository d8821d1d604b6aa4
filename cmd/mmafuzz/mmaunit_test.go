package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// mmaunit is a child process with a unit that somebody might have written, in the numbers of Go:
//
//	mmaunit NAME
//
// The units of a pair have the same formats and differ in one decision.
func mmaunit() {
	units := []ownUnit{ownUnits[os.Args[1]]}
	switch os.Args[1] {
	case "quantizer":
		units = quantizerOf(32)
	case "quantizer-31":
		units = quantizerOf(31)
	}
	var served []child.Instruction
	for _, u := range units {
		if u.k == 0 {
			die(fmt.Errorf("there is no unit %q", os.Args[1]))
		}
		served = append(served, child.Instruction{Name: u.name, Formats: u.formats, K: u.k, Run: u.run})
	}
	stdout, err := child.Stdout()
	if err != nil {
		die(err)
	}
	if err := child.Serve(os.Stdin, stdout, child.Options{}, served...); err != nil {
		die(err)
	}
}

// ownUnit is a unit: dot has the operands as numbers, b its codes if these are random bits, c is 0 if there is none. round makes the
// code of the result; nil: it is rounded to nearest, as Go does.
type ownUnit struct {
	name    string
	formats mma.Formats
	k       int
	dot     func(a, b []float64, c float64) float64
	round   func(d float64) uint64
}

func (u *ownUnit) run(in *mma.Batch, out []byte) error {
	d, f := mma.NewDot(in.Formats, in.K), in.Formats
	a, b := make([]float64, in.K), make([]float64, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		for n := range a {
			a[n], b[n] = f.A.Get().Float64(d.A[n]), f.B.Get().Float64(d.B[n])
		}
		if f.B.RandomBits() != 0 {
			b[0] = float64(d.B[0])
		}
		c := 0.0
		if f.C != fp.None {
			c = f.C.Get().Float64(d.C)
		}
		x, code := u.dot(a, b, c), uint64(0)
		if u.round != nil {
			code = u.round(x)
		} else {
			code = nearest(f.D, x)
		}
		mma.Store(out, f.D.Width(), i, code)
	}
	return nil
}

var (
	halves    = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	singles   = mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	doubles   = mma.Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
	products  = mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}
	brains    = mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.BF16}
	converted = mma.Formats{A: fp.FP16, B: fp.One, D: fp.E4M3}
	dithered  = mma.Formats{A: fp.FP32, B: rbits16, D: fp.E4M3}
	eights    = mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.E4M3}
	inBytes   = mma.Formats{A: fp.U8, B: fp.S8, C: fp.S32, D: fp.S32}
	raised    = mma.Formats{A: fp.FP32, B: fp.FP32, D: flagsX86}
)

var rbits16, _ = fp.Parse("rbits16")

// dither rounds to E4M3 by 16 random bits.
func dither(x, random float64) float64 {
	if math.IsInf(x, 0) {
		return x
	}
	unit := math.Ldexp(1, max(math.Ilogb(x), -6)-3)
	return math.Copysign(math.Floor(math.Abs(x)/unit+random/0x1p16)*unit, x)
}

var flagsX86, _ = fp.FP32.WithFlags(fp.FlagsX86)

var ownUnits = map[string]ownUnit{
	"multiply": {"multiply", products, 1, func(a, b []float64, _ float64) float64 { return float64(float32(a[0] * b[0])) }, nil},
	"loop":     {"mma.m16n8k16.f32.f16.f16.f32", halves, 16, singleChain, nil},
	"split-k":  {"mma.m16n8k16.f32.f16.f16.f32", halves, 16, splitK, nil},

	// Of the kind for which the search for an explanation takes longest.
	"split-k64": {"split", halves, 64, splitK, nil},
	"slices":    {"slices", doubles, 4, slicedChain, func(d float64) uint64 { return math.Float64bits(d) }},
	"nan-rules": {"rules", halves, 16, singleChain, firstNaN},

	"single-sum": {"phases", halves, 4, singleChain, nil},
	"half-sum":   {"phases", halves, 4, func(a, b []float64, c float64) float64 { return chainIn(fp.FP16, a, b, c) }, nil},
	"tf32-cut": {"tf32", singles, 4, func(a, b []float64, c float64) float64 {
		return singleChain(each(a, cutTF32), each(b, cutTF32), c)
	}, nil},
	"tf32-round": {"tf32", singles, 4, func(a, b []float64, c float64) float64 {
		return singleChain(each(a, roundTF32), each(b, roundTF32), c)
	}, nil},
	"tf32-slip": {"tf32", singles, 4, func(a, b []float64, c float64) float64 {
		return singleChain(each(a, slipTF32), each(b, slipTF32), c)
	}, nil},
	"bf16-cut":   {"bf16", brains, 4, singleChain, func(d float64) uint64 { return cutBF16(float32(d)) }},
	"bf16-round": {"bf16", brains, 4, singleChain, nil},
	"e4m3-nan":   {"e4m3", eights, 4, singleChain, func(d float64) uint64 { return toE4M3(d, 0x7f) }},
	"e4m3-max":   {"e4m3", eights, 4, singleChain, func(d float64) uint64 { return toE4M3(d, 0x7e) }},
	"lost-carry": {"multiply", products, 1, lostCarry, nil},
	"crossed": {"mma.m16n8k16.f32.f16.f16.f32", halves, 16, func(a, b []float64, c float64) float64 {
		b[5] = b[4]
		return singleChain(a, b, c)
	}, nil},
	"lost-sign": {"mma.m16n8k8.f32.f16.f16.f32", halves, 8, func(a, b []float64, c float64) float64 {
		if math.Abs(c) < 0x1p-126 {
			c = math.Copysign(0, c)
		}
		if math.Float64bits(a[5])&(1<<52-1) == 0 && math.Abs(a[5]) >= 0x1p-14 && b[5] < 0 {
			a[5], b[5] = math.Abs(a[5]), math.Abs(b[5])
		}
		return singleChain(a, b, c)
	}, nil},
	"half-away":         {"convert", converted, 1, func(a, b []float64, _ float64) float64 { return a[0] }, halfAway},
	"stochastic":        {"convert", converted, 1, func(a, b []float64, _ float64) float64 { return a[0] }, func(d float64) uint64 { return byChance(d, 0) }},
	"stochastic-biased": {"convert", converted, 1, func(a, b []float64, _ float64) float64 { return a[0] }, func(d float64) uint64 { return byChance(d, 64) }},
	"by-chance-bytes":   {"bytes", inBytes, 4, func(a, b []float64, c float64) float64 { return plainSum(a, b, c) + float64(dice.IntN(2)) }, toInt32},
	"random-bits":       {"convert", dithered, 1, func(a, b []float64, _ float64) float64 { return dither(a[0], b[0]) }, halfAway},
	"random-bits-short": {"convert", dithered, 1, func(a, b []float64, _ float64) float64 { return dither(a[0], 2*math.Floor(b[0]/2)) }, halfAway},
	"bytes":             {"bytes", inBytes, 4, plainSum, toInt32},
	"byte-pairs": {"bytes", inBytes, 4, func(a, b []float64, c float64) float64 {
		return c + toShort(a[0]*b[0]+a[1]*b[1]) + toShort(a[2]*b[2]+a[3]*b[3])
	}, toInt32},
	"short-bytes": {"bytes", inBytes, 4, func(a, b []float64, c float64) float64 {
		return toShort(toShort(c+a[0]*b[0]+a[1]*b[1]) + a[2]*b[2] + a[3]*b[3])
	}, toInt32},
	"zero-point": {"bytes", inBytes, 4, func(a, b []float64, c float64) float64 {
		return plainSum(each(a, func(x float64) float64 { return x - 128 }), b, c)
	}, toInt32},
	"flags":     {"fmul", raised, 1, func(a, b []float64, _ float64) float64 { return a[0] * b[0] }, tinyBefore},
	"zero-ieee": {"zero", halves, 4, singleChain, nil},
	"zero-plus": {"zero", halves, 4, singleChain, func(d float64) uint64 { return uint64(math.Float32bits(float32(d + 0))) }},
}

// quantizerOf makes blocks of MXFP8, with a scale that is large enough for the first n numbers.
func quantizerOf(n int) []ownUnit {
	return []ownUnit{
		{"element", mma.Formats{A: fp.FP32, B: fp.One, D: fp.E4M3}, 32, func(a, _ []float64, _ float64) float64 {
			x := a[0] / blockScale(a[:n])
			if math.IsNaN(x) {
				return 0
			}
			return max(min(x, 448), -448)
		}, nil},
		{"scale", mma.Formats{A: fp.FP32, B: fp.One, D: fp.E8M0}, 32, func(a, _ []float64, _ float64) float64 { return blockScale(a[:n]) },
			func(d float64) uint64 {
				if math.IsNaN(d) {
					return 0xff
				}
				return uint64(math.Ilogb(d) + 127)
			}},
	}
}

func blockScale(a []float64) float64 {
	most := 0x1p-126
	for _, x := range a {
		most = max(most, math.Abs(x))
	}
	if math.IsNaN(most) || math.IsInf(most, 0) {
		return math.NaN()
	}
	return math.Ldexp(1, max(int(math.Ceil(math.Log2(most)))-8, -127))
}

// plainSum is exact for integers.
func plainSum(a, b []float64, c float64) float64 {
	for i := range a {
		c += a[i] * b[i]
	}
	return c
}

// toShort saturates in 16 bits.
func toShort(x float64) float64 { return max(-0x8000, min(x, 0x7fff)) }

// toInt32 returns the lowest bits of an integer.
func toInt32(d float64) uint64 { return uint64(uint32(int64(d))) }

// tinyBefore returns the flags of rounding to FP32, of an underflow as Arm has them.
func tinyBefore(d float64) uint64 {
	switch x := float64(float32(d)); {
	case d == x || math.IsNaN(d):
		return 0 // no NaN is invalid
	case math.IsInf(x, 0):
		return uint64(fp.FlagOverflow | fp.FlagInexact)
	case math.Abs(d) < 0x1p-126:
		return uint64(fp.FlagUnderflow | fp.FlagInexact)
	}
	return uint64(fp.FlagInexact)
}

// halfAway converts to E4M3, halves away from zero, saturating.
func halfAway(d float64) uint64 {
	f, n := fp.FP64.Get(), fp.FP64.Get().Decode(math.Float64bits(d))
	switch n.Class {
	case fp.NaN:
		return 0x7f
	case fp.Inf:
		n = f.Decode(math.Float64bits(math.Copysign(math.MaxFloat64, d)))
	}
	return fp.E4M3.Get().Encode(f.Dyadic(n), fp.RNA, fp.OverMax)
}

var dice = rand.New(rand.NewPCG(1, 2))

// byChance converts to E4M3 with stochastic rounding, saturating; away from zero in one of so many
// answers, whatever the fraction is (0: none).
func byChance(d float64, away int) uint64 {
	f, near := fp.E4M3.Get(), halfAway(d)
	if x := f.Float64(near); math.IsNaN(d) || math.IsInf(d, 0) || x == d || near&0x7f == 0x7e && math.Abs(d) > 448 {
		return near
	} else if math.Abs(x) > math.Abs(d) {
		near--
	}
	fraction := (d - f.Float64(near)) / (f.Float64(near+1) - f.Float64(near))
	if dice.Float64() < fraction || away > 0 && dice.IntN(away) == 0 {
		near++
	}
	return near
}

// nearest rounds to nearest even, as IEEE 754 does.
func nearest(id fp.ID, x float64) uint64 {
	f := id.Get()
	top := f.Float64(f.MaxFinite())
	if half := (top - f.Float64(f.MaxFinite()-1)) / 2; math.Abs(x) >= top+half {
		return f.InfCode(x < 0)
	}
	return f.FromFloat64(x)
}

// singleChain is a loop in single precision.
func singleChain(a, b []float64, c float64) float64 {
	sum := float32(c)
	for i := range a {
		sum += float32(a[i] * b[i])
	}
	return float64(sum)
}

// chainIn is a loop whose sums are rounded to a format.
func chainIn(id fp.ID, a, b []float64, c float64) float64 {
	f := id.Get()
	sum := f.Float64(nearest(id, c))
	for i := range a {
		sum = f.Float64(nearest(id, float64(float32(sum+a[i]*b[i]))))
	}
	return sum
}

// slicedChain multiplies doubles in two slices each, and leaves out the product of the low ones.
func slicedChain(a, b []float64, c float64) float64 {
	high := func(x float64) float64 { return math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1)) }
	sum := c
	for i := range a {
		ah, bh := high(a[i]), high(b[i])
		sum += ah * bh
		sum += ah * (b[i] - bh)
		sum += (a[i] - ah) * bh
	}
	return sum
}

// firstNaN has a code for NaNs that depends on their sign, as a rule of an own design may.
func firstNaN(d float64) uint64 {
	if d != d {
		if math.Signbit(d) {
			return 0xffc00001
		}
		return 0x7fc00002
	}
	return uint64(math.Float32bits(float32(d)))
}

// splitK sums both halves of the products, and adds the second to the first.
func splitK(a, b []float64, c float64) float64 {
	n := len(a) / 2
	return float64(float32(singleChain(a[:n], b[:n], c)) + float32(singleChain(a[n:], b[n:], 0)))
}

// lostCarry multiplies, and keeps the exponent where rounding carries into the next power of two.
func lostCarry(a, b []float64, _ float64) float64 {
	x := float64(float32(a[0] * b[0]))
	if frac, _ := math.Frexp(x); math.Abs(frac) == 0.5 && math.Abs(a[0]*b[0]) < math.Abs(x) && math.Abs(x) > 0x1p-126 {
		return x / 2
	}
	return x
}

func each(xs []float64, f func(float64) float64) []float64 {
	ys := make([]float64, len(xs))
	for i, x := range xs {
		ys[i] = f(x)
	}
	return ys
}

// cutTF32 drops the low bits of a single.
func cutTF32(x float64) float64 {
	return float64(math.Float32frombits(math.Float32bits(float32(x)) &^ (1<<13 - 1)))
}

// roundTF32 rounds a single to TF32, as cvt.rn.tf32 does.
func roundTF32(x float64) float64 {
	if x != x || math.IsInf(x, 0) {
		return x
	}
	bits := math.Float32bits(float32(x))
	bits += 1<<12 - 1 + bits>>13&1
	return float64(math.Float32frombits(bits &^ (1<<13 - 1)))
}

// slipTF32 is roundTF32 with a mistake: what rounds to an infinity becomes a NaN.
func slipTF32(x float64) float64 {
	y := roundTF32(x)
	if math.IsInf(y, 0) && !math.IsInf(x, 0) {
		return math.NaN()
	}
	return y
}

// cutBF16 is the upper half of a single.
func cutBF16(x float32) uint64 {
	if x != x {
		return 0x7fff
	}
	return uint64(math.Float32bits(x) >> 16)
}

// toE4M3 rounds to E4M3, to nearest even; beyond the largest number the result is over.
func toE4M3(x float64, over uint64) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign = 0x80
	}
	switch m := math.Abs(x); {
	case x != x:
		return 0x7f
	case m > 464: // 448 and half a step, a tie that goes to 448
		return sign | over
	default:
		e := max(math.Ilogb(m), -6)
		units := math.RoundToEven(math.Ldexp(m, 3-e))
		if units == 16 {
			e, units = e+1, 8
		}
		if m == 0 {
			return sign
		}
		return sign | uint64(e+6)<<3 + uint64(units)
	}
}
