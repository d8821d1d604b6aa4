package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fttnH100 is the H100's FP16 instruction.
var fttnH100 = [2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}

// fttnBlocks makes the entry of section II-A of FTTN about the MI100's instruction of four blocks: half
// an ulp in each of them, beside c = 1.
func fttnBlocks(context.Context, *Request) ([]entry, error) {
	x := experiment{unit: [2]string{"cdna1", "v_mfma_f32_16x16x16f16"}, c: 1}
	exact := 1.0
	for k := range 16 {
		half := 0.0
		if k%4 == 0 {
			half = 0x1p-12
		}
		x.a, x.b = append(x.a, half), append(x.b, half)
		exact += half * half
	}
	x.what, x.theirs = "1 and half an ulp in products 0, 4, 8 and 12: the error of one FMA is at most half an ulp", rounded(fp.FP32, exact, fp.RNE)
	e, err := x.entry()
	e.Why = "each of the four blocks is rounded: the error grows with Size"
	return []entry{e}, err
}

// fttnWidth makes entries of Algorithm 1 of FTTN with the half of an ulp that line 6 removes at i = 2 left
// in place, as the text has it: what it answers, and the products that one step has.
func fttnWidth(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		unit   [2]string
		theirs string
		why    string
	}{
		{[2]string{"ampere", "mma.m16n8k16.f32.f16.f16.f32"}, "8", "the loop breaks at the first position behind the block: its width is one less"},
		{fttnH100, ">= 16", "no position is behind the block: K products are in one, which \"larger than K\" does not say"},
	} {
		i, err := mma.Lookup(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		answer := fmt.Sprintf("larger than %d", i.K)
		for at := 1; at < i.K; at++ { // the paper counts from 1
			x := experiment{unit: p.unit, a: make([]float64, i.K), b: slices.Repeat([]float64{0x1p-12}, i.K), c: 1}
			x.a[0], x.a[at] = 0x1p-12, 0x1p-12
			_, v, err := x.run(nil)
			if err != nil {
				return nil, err
			}
			if v == 1 {
				answer = fmt.Sprint(at + 1)
				break
			}
		}
		all = append(all, same(i.FullName(), "Algorithm 1 with another half at position 1: its answer, and Table IV", answer, p.theirs, p.why))
	}
	x := experiment{unit: [2]string{"volta", "wmma.m16n16k16.f32.f16.f16.f32"}, c: -1}
	i, err := mma.Lookup(x.unit[0], x.unit[1])
	if err != nil {
		return nil, err
	}
	width := "more than K"
	for at := 1; at < i.K; at++ {
		x.a, x.b = make([]float64, i.K), slices.Repeat([]float64{1}, i.K)
		x.a[0], x.a[at] = 1, 0x1p-24
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		if v != 0 {
			width = fmt.Sprint(at)
			break
		}
	}
	return append(all, same(i.FullName(), "Table IV, note *: width by c = -1, 1 as product 1 and 2^-24 at a moving position", width, "it cannot be evaluated",
		"inside the block 2^-24 is cut beside terms of 1, behind it these have cancelled: no extra bit is needed")), nil
}

// fttnFootnote6 makes entries of footnote 6 of FTTN: more than two extra bits of the H100, and tests that
// include three. Variants of the unit keep two and three.
func fttnFootnote6(context.Context, *Request) ([]entry, error) {
	i, err := mma.Lookup(fttnH100[0], fttnH100[1])
	if err != nil {
		return nil, err
	}
	results := func(x *experiment) (string, error) {
		var all []string
		for _, extra := range []mma.Frac{2, 3} {
			params := i.Params
			params.Join.Align.F = 23 + extra
			m, err := sim.New(i.Formats, i.K, params)
			if err != nil {
				return "", err
			}
			all = append(all, mma.FormatCode(i.D, m.Dot(x.dot(i), nil)))
		}
		if all[0] == all[1] {
			return "both " + all[0], nil
		}
		return strings.Join(all, " and "), nil
	}
	bits := 0
	for x := (experiment{unit: fttnH100, a: []float64{0x1p-12}, c: 1}); ; bits++ { // 1 - 2^-24, 1 - 2^-25, ...
		x.b = []float64{-math.Ldexp(1, -12-bits)}
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		if v == 1 {
			break
		}
	}
	all := []entry{same(i.FullName(), "footnote 6: extra bits, by 1 less smaller and smaller numbers", fmt.Sprint(bits), "more than 2", "1 - 2^-25 is below 1, 1 - 2^-26 is 1: there are two, which Table IV's >= 2 allows and the footnote does not")}
	table := experiment{a: []float64{-0x1p-2, -0x1p-12}, b: []float64{0x1p-1, 0x1p-13}, c: 1.25} // 1.25 - 2^-3 - 2^-25
	short := experiment{a: []float64{-0x1p-13}, b: []float64{0x1p-13}, c: 1}
	for _, p := range []struct {
		what string
		x    *experiment
		why  string
	}{
		{"footnote 6, expanded to three extra bits: Table III's truncation test with two and with three", &table, "the columns of two and of three extra bits have one result"},
		{"footnote 6, expanded to three extra bits: 1 - 2^-26 with two and with three", &short, ""},
	} {
		ours, err := results(p.x)
		if err != nil {
			return nil, err
		}
		all = append(all, says("H100, changed", p.what, ours, "different", !strings.HasPrefix(ours, "both"), p.why))
	}
	return all, nil
}

// fttnNormalized makes entries of how section II of FTTN sets extra bits and normalizes: of all sums of
// two numbers of four digits, of which the smaller is shifted by up to three places.
func fttnNormalized(context.Context, *Request) ([]entry, error) {
	count, left, aligned := 0, 0, 0
	for a := 8; a < 16; a++ {
		for b := 8; b < 16; b++ {
			for shift := range 4 {
				for _, sign := range []int{1, -1} {
					sum := a<<3 + sign*(b<<3>>shift) // in 2^-6
					if sum <= 0 {
						continue
					}
					count++
					switch {
					case sum < 1<<6:
						left++
					case sum < 2<<6 && sum%8 != 0:
						aligned++
					}
				}
			}
		}
	}
	binary := func(digits string) float64 { // without its point
		v := 0.0
		whole, frac, _ := strings.Cut(digits, ".")
		for _, d := range whole + frac {
			v = 2*v + float64(d-'0')
		}
		return math.Ldexp(v, -len(frac))
	}
	const misprint = "the sum of 1.1 and the last digit's 0.1 is 10.0, and 1.0 with e = 1 when normalized: 10.0100 has the extra bits of 1.1100 left in it"
	return []entry{
		same("sums of two numbers of four digits", fmt.Sprintf("section II, step 2: of %d that are positive, those below 1, which no right shift brings within [1, 2)", count), fmt.Sprint(left), "0", "after cancellation a number is shifted to the left"),
		same("sums of two numbers of four digits", fmt.Sprintf("section II, extra bits are set when a result is normalized: of %d, those in [1, 2) that have extra bits", count), fmt.Sprint(aligned), "0", "the shift that aligns the smaller number sets them, too"),
		same("the example", "section II: 10.0100", Number(binary("10.0100")).exactly(), "2", misprint),
		same("the example", "section II: 1.0010 with e = 1", Number(2*binary("1.0010")).exactly(), "2", misprint),
	}, nil
}

// fttnSubnormals makes entries of T_sa of FTTN as the list of tests words it, "a set of subnormals": four
// subnormal products by 1 and a subnormal c, which is 0 of FP16, whose subnormals are normal in FP32.
func fttnSubnormals(context.Context, *Request) ([]entry, error) {
	var all []entry
	seen := map[string]bool{}
	for line := range strings.Lines(papersText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] != "T_sa" || seen[f[2]] {
			continue
		}
		seen[f[2]] = true
		arch, inst, _ := strings.Cut(f[2], "/")
		i, err := mma.Lookup(arch, inst)
		if err != nil {
			return nil, err
		}
		small := i.A.Get().Float64(1)
		n := min(4, i.K)
		x := experiment{unit: [2]string{arch, inst}, a: slices.Repeat([]float64{small}, n), b: slices.Repeat([]float64{1}, n)}
		if i.A != fp.FP16 {
			x.c = small
		}
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		ours := "no"
		if v == float64(n)*small+x.c {
			ours = "yes"
		}
		all = append(all, entry{f[1] + ": " + f[2], fmt.Sprintf("a sum of %d subnormal numbers is exact", n), ours, f[4], ours == sameWord[f[4]], "", ""})
	}
	return all, nil
}
