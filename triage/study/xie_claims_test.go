package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// xieSingle makes entries of single results that Xie et al. rule out or imply.
func xieSingle(list ...xieResult) func(context.Context, *Request) ([]entry, error) {
	return func(context.Context, *Request) ([]entry, error) {
		var all []entry
		for _, p := range list {
			_, v, err := p.run(nil)
			if err != nil {
				return nil, err
			}
			all = append(all, same(strings.Join(p.unit[:], "/"), p.what, fmt.Sprint(v), fmt.Sprint(p.theirs), p.why))
		}
		return all, nil
	}
}

type xieResult struct {
	experiment
	why string
}

var (
	xieFlushed = xieSingle(
		xieResult{experiment{"2^128 - 2^128: only products of TR-FDPA overflow", [2]string{"cdna2", "v_mfma_f32_32x32x4bf16_1k"}, []float64{0x1p64, 0x1p64}, []float64{0x1p64, -0x1p64}, 0, 0},
			"FTZ-AddMul rounds each product to FP32, where 2^128 is infinite"},
		xieResult{experiment{"2^-130 + 2^-130 + 2^-126: no operation underflows", [2]string{"cdna2", "v_mfma_f32_32x32x4bf16_1k"}, []float64{0x1p-65, 0x1p-65}, []float64{0x1p-65, 0x1p-65}, 0x1p-126, 0x1p-126 + 0x1p-129},
			"FTZ-AddMul flushes products, as its name says"})
	xieRZ = xieSingle(
		xieResult{experiment{"RZ-FP32 of 2^127 + 2^127", [2]string{"hopper", "mma.m16n8k16.f32.bf16.bf16.f32"}, []float64{0x1p127, 0x1p127}, []float64{1, 1}, 0, math.MaxFloat32},
			"round to zero ends at the largest finite number; our units give infinity, and Algorithms 1 to 9 are compared without such results"})
	xieOutput = xieSingle(
		xieResult{experiment{"6.2.3: internal sums have FP32-like precision, FP16 output limits it: 2^8 - 2^8 + 2^-6", [2]string{"hopper", "wgmma.m64n8k32.f16.e4m3.e4m3"}, []float64{16, -16, 0x1p-3}, []float64{16, 16, 0x1p-3}, 0, 0x1p-6},
			"the sum of QGMMA, and of Ada's QMMA, has F = 13, whatever the output: 2^-6 is an FP16 number and lost before"})
)

// xieInfinity makes the entry of section 4.2 about the product of an infinity and a subnormal number.
func xieInfinity(context.Context, *Request) ([]entry, error) {
	i, err := mma.Lookup("cdna2", "v_mfma_f32_32x32x4f16")
	if err != nil {
		return nil, err
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	d := mma.NewDot(i.Formats, i.K)
	d.A[0], d.B[0] = i.A.Get().InfCode(false), 1
	return []entry{same(i.FullName(), "+inf * z is +inf: inf * 2^-24", fmt.Sprint(i.D.Get().Float64(m.Dot(d, nil))), "+Inf",
		"FTZ-AddMul flushes 2^-24 to 0 first, and inf * 0 is NaN; the counted results have no such input")}, nil
}

// xiePairs makes the entry of section 3.1.2 about the pairs i, j, of which the construction and the
// inference have different ranges.
func xiePairs(context.Context, *Request) ([]entry, error) {
	const k = 4
	products, all := 0, 0
	for j := range k + 1 {
		if all += j; j < k {
			products += j
		}
	}
	return []entry{same(fmt.Sprintf("K = %d", k), "3.1.2: pairs of the K products and c, which equation (7) needs, and pairs with j < K", fmt.Sprint(all), fmt.Sprint(products),
		"a misprint: j < K leaves c out of the construction, and the inference below has j <= K")}, nil
}

// xieOthers makes the entry of section 3.2 about architectures beside the ten.
func xieOthers(context.Context, *Request) ([]entry, error) {
	var others []string
	for _, a := range mma.Archs {
		if strings.HasPrefix(a.Title, "NVIDIA") || strings.HasPrefix(a.Title, "AMD CDNA") {
			others = append(others, a.Name)
		}
	}
	for _, p := range printed8 {
		others = slices.DeleteFunc(others, func(name string) bool { return name == p.arch })
	}
	return []entry{same("section 3.2", "the ten are all GPU architectures with Tensor Cores or Matrix Cores to date: others of the catalogue", strings.Join(others, ", "), "none",
		"the catalogue has these, too; the paper does not say which date it means")}, nil
}

// xieAgree makes entries of section 5 about mixed precision: results that differ between two
// architectures with the same model and parameters.
func xieAgree(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct{ one, other, inst string }{
		{"ampere", "ada", "mma.m16n8k8.f32.tf32.tf32.f32"},
		{"ampere", "ada", "mma.m16n8k16.f32.bf16.bf16.f32"},
		{"ampere", "ada", "mma.m16n8k16.f32.f16.f16.f32"},
		{"hopper", "rtx-blackwell", "mma.m16n8k16.f32.f16.f16.f32"},
	} {
		var models []*sim.Model
		var i *mma.Instruction
		for _, arch := range []string{p.one, p.other} {
			var err error
			if i, err = mma.Lookup(arch, p.inst); err != nil {
				return nil, err
			}
			m, err := sim.ForInstruction(i)
			if err != nil {
				return nil, err
			}
			models = append(models, m)
		}
		count, differ := 0, 0
		for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
			count++
			if oracle.Compare(i.D, oracle.Policy{NaN: oracle.ByClass}, models[0].Dot(d, nil), models[1].Dot(d, nil)) != oracle.Same {
				differ++
			}
		}
		all = append(all, says(p.one+" and "+p.other+": "+p.inst, fmt.Sprintf("mixed precision: of %d results, those that differ", count), fmt.Sprint(differ), "inevitable numerical discrepancies", differ > 0,
			"Table 4 has the same L, F and rho for both"))
	}
	return all, nil
}

// xieSources makes entries of section 6.2 about the error sources of Table 9, in ulp of FP32, of all
// instructions but those of FP64 and FP32: half an ulp is what FP32 operations have.
func xieSources(context.Context, *Request) ([]entry, error) {
	const comparable = 1 // twice that of FP32: RZ is meant, too
	type count struct{ within, of int }
	var fused, rounding count
	var within []string // operations
	smallest, largest := math.Inf(1), 0.0
	add := func(c *count, bound float64) {
		if c.of++; bound <= comparable {
			c.within++
		}
	}
	for _, i := range xieGPUs() {
		op := operation(&i)
		if i.A == fp.FP64 || i.A == fp.FP32 {
			continue
		}
		if op != "e-fdpa" && op != "ftz-addmul" {
			f := i.Params.Join.Align.F
			if op == "tr-fdpa" || op == "gtr-fdpa" {
				f = i.Params.Stage0.Align.F
			}
			bound := math.Ldexp(float64(min(i.K, int(i.Params.L))+1), 23-int(f))
			add(&fused, bound)
			if bound <= comparable && !slices.Contains(within, op) {
				within = append(within, op)
			}
			smallest, largest = min(smallest, bound), max(largest, bound)
		}
		frac := int(i.Params.Acc.Frac)
		if frac == 0 {
			frac = int(i.D.Get().FracBits)
		}
		ulp := math.Ldexp(1, 23-frac)
		if i.Params.Acc.Mode == fp.RNE {
			ulp /= 2
		}
		add(&rounding, ulp)
	}
	part := func(c count) string { return fmt.Sprintf("%d of %d", c.within, c.of) }
	return []entry{
		says("ten architectures", "6.2: output roundings with bounds of at most 1 ulp of FP32, twice that of an FP32 operation", part(rounding), "most are comparable to standard FP32 operations", 2*rounding.within > rounding.of, ""),
		says("ten architectures", fmt.Sprintf("6.2: fused sums with bounds of at most 1 ulp of FP32 at e_max; all are from %s to %s", Number(smallest), Number(largest)), part(fused)+", of "+strings.Join(within, ", "), "most are comparable to standard FP32 operations", 2*fused.within > fused.of,
			"(L + 1) 2^(23-F) ulp are more than one unless F is above 25"),
	}, nil
}

// xieMeasured makes the entry of section 6.4 about the accuracy of most instructions, measured: mean
// errors of numbers of N(0, 1), against those of a chain of FP32 additions of the same products.
func xieMeasured(_ context.Context, r *Request) ([]entry, error) {
	const n = 32
	like, of := 0, 0
	known := map[string]bool{}
	for _, i := range xieGPUs() {
		key := fmt.Sprint(i.K, arithmeticKey(&i))
		within, ok := known[key]
		if !ok {
			m, err := sim.ForInstruction(&i)
			if err != nil {
				return nil, err
			}
			rd, rng := newReader(i.Formats), rand.New(rand.NewPCG(r.Seed, 640))
			ours, chain := 0.0, 0.0
			for range n {
				d := rd.dot(i.K, standardNormal, standardNormal, rng)
				exact, _ := rd.sum(d, i.K)
				v := float32(0)
				if i.C != fp.None {
					v = float32(rd.c.value(d.C))
				}
				for k := range d.A {
					v = float32(float64(v) + rd.a.value(d.A[k])*rd.b.value(d.B[k]))
				}
				ours += math.Abs(exact.minus(rd.d.value(m.Dot(d, nil))))
				chain += math.Abs(exact.minus(float64(v)))
			}
			within = ours <= 2*chain
			known[key] = within
		}
		if of++; within {
			like++
		}
	}
	return []entry{says("ten architectures", fmt.Sprintf("6.4, measured: instructions with mean errors of at most twice those of a chain of FP32 additions, on %d dot products of N(0, 1)", n), fmt.Sprintf("%d of %d", like, of),
		"most have FP32-like accuracy", 2*like > of, "")}, nil
}
