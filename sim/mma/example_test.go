package mma_test

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The catalogue has the formats, K and arithmetic of every instruction.
func ExampleLookup() {
	i, err := mma.Lookup("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(i.FullName(), "formats", i.Formats, "K", i.K)
	fmt.Println(i.Params)
	// Output:
	// hopper/wgmma.m64n8k32.f32.e4m3.e4m3 formats fp32.e4m3.e4m3.fp32 K 32
	// t-fdpa(L=32, F=13, rz-e8m13, e_zero=-133)
}

// A program can be made of the elementary operations and changed.
func ExampleTFDPA() {
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	fmt.Println(p)
	q := p
	q.In.A = mma.Narrow{Frac: 7, Mode: fp.RNE}
	q.In.B = q.In.A
	q.Passes = mma.PassesOf(mma.Pass{A: 1}, mma.Pass{B: 1}, mma.Pass{}) // BF16x3
	fmt.Println(mma.Brief(mma.Diff(&p, &q)))
	// Output:
	// t-fdpa(L=8, F=24, rz-fp32, e_zero=-132)
	// rounding of a none→7 bits to nearest even, rounding of b none→7 bits to nearest even, parts of operands multiplied none→10-01-00
}

// Dot products are written as codes: a, b and c.
func ExampleParseDot() {
	i, err := mma.Lookup("volta", "mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields("3c00,4000 4200,4400 3f000000"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%x %x %x\n", d.A, d.B, d.C)
	fmt.Println(mma.FormatDot(i.Formats, d))
	// Output:
	// [3c00 4000 0 0] [4200 4400 0 0] 3f000000
	// 3c00,4000 4200,4400 3f000000
}
