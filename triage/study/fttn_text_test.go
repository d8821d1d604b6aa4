package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fttnProducts makes the last column of Table IV of FTTN, of products in FP32 and FP64. The test of
// section III has all other inputs at 0, where a result that is rounded looks like a product that
// is. The product of 1 + 3 ulp and 1 + 2^-2 is followed by its rounded negative here: what is left is 0
// only of a product that was rounded before.
func fttnProducts(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		name string
		unit [2]string
	}{
		{"FP32 MI100", [2]string{"cdna1", "v_mfma_f32_16x16x4f32"}},
		{"FP32 MI250X", [2]string{"cdna2", "v_mfma_f32_16x16x4f32"}},
		{"FP64 MI250X", [2]string{"cdna2", "v_mfma_f64_16x16x4f64"}},
		{"FP64 A100", [2]string{"ampere", "mma.m8n8k4.f64.f64.f64.f64"}},
		{"FP64 H100", [2]string{"hopper", "mma.m8n8k4.f64.f64.f64.f64"}},
	} {
		i, err := mma.Lookup(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		ulp := math.Ldexp(1, -int(i.D.Get().FracBits))
		x := experiment{unit: p.unit, a: []float64{1 + 3*ulp}, b: []float64{1.25}}
		_, v, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		x.a[0] = -x.a[0]
		_, w, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		x.a[0] = -x.a[0]
		modes := modesThat(func(mode fp.Mode) bool {
			beyond := func(neg bool) float64 { // 1.25: 3 + 3/4 ulp, rounded
				r := fp.Dyadic{Lo: 15, Q: -2, Neg: neg}.Round(0, mode)
				return math.Ldexp(float64(r.Lo), int(r.Q)) * ulp
			}
			return v == 1.25+beyond(false) && w == -1.25-beyond(true)
		})
		x.c = -v
		_, rest, err := x.run(nil)
		if err != nil {
			return nil, err
		}
		row := p.name + ": " + i.FullName()
		all = append(all,
			entry{row, "T_prod with c = 0: mode of the result", modes, "RTN-TE", modes == fp.RNE.String(), "", ""},
			same(row, "T_prod with c = -result: what is left of a product that is rounded, in ulp", fmt.Sprint(rest/ulp), "0",
				"the product is not rounded at all: with c = 0 the test sees how the result is"))
	}
	return all, nil
}

// fttnModes makes entries of what section IV of FTTN says of rounding modes: one for all generations,
// and one for both vendors.
func fttnModes(ctx context.Context, _ *Request) ([]entry, error) {
	type modes struct{ ours, theirs []string }
	of := map[string]*modes{} // by inputs, and by inputs and vendor
	var names []string
	for line := range strings.Lines(papersText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] != "IV" || f[3] != "T_rnd_dir" {
			continue
		}
		answers, err := answersOf(ctx, f[2])
		if err != nil {
			return nil, err
		}
		input, _, _ := strings.Cut(f[1], " ")
		vendor := "NVIDIA"
		if strings.HasPrefix(f[2], "cdna") {
			vendor = "AMD"
		}
		for _, name := range []string{input + ", all generations of " + vendor, input + ", NVIDIA and AMD"} {
			if of[name] == nil {
				of[name] = &modes{}
				names = append(names, name)
			}
			of[name].ours, of[name].theirs = append(of[name].ours, answers["T_rnd_dir"]), append(of[name].theirs, f[4])
		}
	}
	var all []entry
	for _, name := range names {
		m := of[name]
		if len(m.ours) == 1 || strings.HasPrefix(name, "TF32, NVIDIA and") || strings.HasPrefix(name, "FP32, NVIDIA and") {
			continue // one generation, or a vendor that does not have it
		}
		for _, p := range []struct {
			what, why string
			modes     []string
		}{
			{"rounding modes, the units'", "NVIDIA's units truncate, AMD's round to nearest", m.ours},
			{"rounding modes, Table IV", "Table IV has them otherwise than the text", m.theirs},
		} {
			one := len(slices.Compact(slices.Clone(p.modes))) == 1
			if one {
				p.why = ""
			}
			all = append(all, entry{name, p.what, strings.Join(p.modes, ", "), "consistent", one, p.why, statement})
		}
	}
	return all, nil
}

// fttnStatements makes entries of single statements of FTTN.
func fttnStatements(_ context.Context, r *Request) ([]entry, error) {
	var all []entry
	for _, p := range fttnUnits {
		x := experiment{"section I, FP16 is used internally: 1 * 1 + 2^-11 * 1", p.unit, []float64{1, 0x1p-11}, []float64{1, 1}, 0, rounded(fp.FP16, 1+0x1p-11, fp.RNE)}
		e, err := x.entry()
		if err != nil {
			return nil, err
		}
		if !e.Equal {
			e.Why = "operands are FP16, sums have the digits of FP32"
		}
		all = append(all, e)
	}
	normal := 0
	for f, code := fp.FP16.Get(), uint64(1); code < f.SignBit(); code++ {
		if v := f.Float64(code); v >= 0x1p-14 && v < 0x1p-13 {
			normal++
		}
	}
	all = append(all, same("FP16", "section II: positive numbers with e = e_min, and a mantissa that is not in (0, 1)", fmt.Sprint(normal), "0", "the smallest normal numbers have e_min, too: it is Table I's -14"))

	const n = 4
	var a, b [n][n]int
	rng := rand.New(rand.NewPCG(r.Seed, 1))
	for i := range n {
		for j := range n {
			a[i][j], b[i][j] = 1+rng.IntN(100), 1+rng.IntN(100)
		}
	}
	printed := 0
	for i := range n {
		for j := range n {
			product := 0
			for k := range n {
				product += a[i][k] * b[k][j]
			}
			if product == product-a[i][0]*b[0][j]+a[i][0]*b[j][0] {
				printed++
			}
		}
	}
	all = append(all, same("equation 1", fmt.Sprintf("elements of a product of %d x %d matrices that it gives", n, n), fmt.Sprint(printed), fmt.Sprint(n*n), "its first term has b_j1 for b_1j"))

	for _, f := range []*fp.Format{fp.FP32.Get(), fp.FP64.Get()} {
		half := math.Ldexp(1, -int(f.FracBits)) / 2
		all = append(all, same(f.Name, "section III, T_1_bit: shift of ulp/2 to 1, in the bits of the mantissa and one", fmt.Sprint(-math.Ilogb(half)), fmt.Sprint(f.FracBits+1), ""))
	}
	tf32 := fp.TF32.Get()
	all = append(all, same("TF32", "section IV: bits", fmt.Sprint(1+tf32.ExpBits+tf32.FracBits), "19", ""))

	var amd, amdHere, nvidia []string
	for _, i := range xieGPUs() {
		switch cdna := strings.HasPrefix(i.Arch, "cdna"); {
		case cdna && (i.A == fp.TF32 || i.A == fp.XF32):
			amd = append(amd, i.FullName())
			if i.Arch != "cdna3" {
				amdHere = append(amdHere, i.FullName())
			}
		case !cdna && i.A == fp.FP32:
			nvidia = append(nvidia, i.FullName())
		}
	}
	names := func(s []string) string {
		if s == nil {
			return "none"
		}
		return strings.Join(s, ", ")
	}
	return append(all,
		same("MI100, MI250X", "appendix B: instructions with TF32 input", names(amdHere), "none", ""),
		same("CDNA1 to CDNA3", "appendix B: instructions with TF32 input", names(amd), "none", "CDNA3, which the paper does not test, has XF32, which is TF32 by another name"),
		same("NVIDIA", "appendix B: instructions with FP32 input", names(nvidia), "none", "")), nil
}
