// Command rates is a child process that is fast and whose difference from a reference has long been
// searched for: NaNs that propagate, FP64 by two slices, and a sum in two halves.
//
//	rates nan|slices|splitk|fma32|fma64
//
// fma32 and fma64 compute as the references of these names: how fast the child is without a search.
package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var (
	halves  = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	doubles = mma.Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}
)

// unit is an instruction whose results dot gives.
type unit struct {
	formats mma.Formats
	k       int
	dot     func(d *mma.Dot) uint64
}

var units = map[string]unit{
	"nan":   {halves, 16, propagating},
	"fma32": {halves, 16, func(d *mma.Dot) uint64 { return code32(chain(d.A, d.B, value32(d.C))) }},
	"splitk": {halves, 64, func(d *mma.Dot) uint64 {
		return code32(chain(d.A[:32], d.B[:32], value32(d.C)) + chain(d.A[32:], d.B[32:], 0))
	}},
	"slices": {doubles, 4, inSlices},
	"fma64": {doubles, 4, func(d *mma.Dot) uint64 {
		s := math.Float64frombits(d.C)
		for k := range d.A {
			s = math.FMA(math.Float64frombits(d.A[k]), math.Float64frombits(d.B[k]), s)
		}
		return code64(s)
	}},
}

func value32(code uint64) float32 { return math.Float32frombits(uint32(code)) }

func code32(x float32) uint64 {
	if x != x {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(x))
}

func code64(x float64) uint64 {
	if x != x {
		return 0x7ff8000000000000
	}
	return math.Float64bits(x)
}

// chain adds products of FP16 to s one by one, each rounded once to FP32.
func chain(a, b []uint64, s float32) float32 {
	f := fp.FP16.Get()
	for k := range a {
		s = fma(f.Float64(a[k])*f.Float64(b[k]), s)
	}
	return s
}

// fma is p + s rounded once to FP32: the sum in FP64 is rounded to odd, which a rounding to fewer bits
// does not see (Boldo and Melquiond, 2008).
func fma(p float64, s float32) float32 {
	c := float64(s)
	sum := p + c
	p2 := sum - c
	if err := (p - p2) + (c - (sum - p2)); err != 0 && err == err && math.Float64bits(sum)&1 == 0 {
		if to := math.Float64bits(sum); (err > 0) == (sum > 0) {
			sum = math.Float64frombits(to + 1)
		} else {
			sum = math.Float64frombits(to - 1)
		}
	}
	return float32(sum)
}

// propagating gives the first NaN among a0, b0, a1, b1, ... and c, made quiet, and else the NaN of x86.
func propagating(d *mma.Dot) uint64 {
	for k := range d.A {
		for _, code := range []uint64{d.A[k], d.B[k]} {
			if code&0x7fff > 0x7c00 {
				return 0x7fc00000 | code&0x8000<<16 | code&0x1ff<<13
			}
		}
	}
	if d.C&0x7fffffff > 0x7f800000 {
		return d.C | 1<<22
	}
	if s := chain(d.A, d.B, value32(d.C)); s == s {
		return code32(s)
	}
	return 0xffc00000
}

// inSlices multiplies operands of two slices of 26 and 27 bits, and leaves off the product of the low ones.
func inSlices(d *mma.Dot) uint64 {
	s := math.Float64frombits(d.C)
	for k := range d.A {
		x, y := math.Float64frombits(d.A[k]), math.Float64frombits(d.B[k])
		if math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y {
			s += float64(x * y)
			continue
		}
		xh, yh := math.Float64frombits(d.A[k]&^(1<<27-1)), math.Float64frombits(d.B[k]&^(1<<27-1))
		s += float64(xh * yh)
		s += float64(xh*(y-yh)) + float64((x-xh)*yh)
	}
	return code64(s)
}

func main() {
	name := strings.Join(os.Args[1:], " ")
	u, ok := units[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "usage: rates", strings.Join(slices.Sorted(maps.Keys(units)), "|"))
		os.Exit(2)
	}
	run := func(in *mma.Batch, out []byte) error {
		d := mma.NewDot(in.Formats, in.K)
		for i := range in.Dots() {
			in.Get(i, d)
			mma.Store(out, in.Formats.D.Width(), i, u.dot(d))
		}
		return nil
	}
	child.Main(child.Options{}, child.Instruction{Name: "unit", K: u.k, Formats: u.formats, Run: run})
}
