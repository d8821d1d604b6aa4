package kernel

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// epilogued returns a kernel with an epilogue.
func epilogued(steps ...schedule.Step) *schedule.Kernel {
	return &schedule.Kernel{Unit: &schedule.Unit{Op: "mul-add", In: fp.FP16, Product: fp.FP32, Acc: fp.FP32}, Schedules: []schedule.Schedule{{}}, Epilogue: steps}
}

// askedWhy returns the answer to why a kernel's product with C is another kernel's, whose elements edit may change.
func askedWhy(t *testing.T, k, truth *schedule.Kernel, edit func(code uint64) uint64) *Answer {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	s := schedule.Shape{M: 12, N: 10, K: 70}
	side := fp.FP32.Get()
	o := &gemm.Operands{Shape: s, D: fp.FP32, A: matrix(rng, 0, fp.FP16, s.M, s.K, true), B: matrix(rng, 0, fp.FP16, s.N, s.K, false),
		C: matrix(rng, 0, fp.FP32, s.M, s.N, false), Alpha: side.FromFloat64(0.7), Beta: side.FromFloat64(1.3)}
	q := Question{Kernel: k, Options: gemm.Options{Workers: 1}, Wide: true, Products: []Product{{Operands: o, D: fp.FP32}}}
	p := &q.Products[0]
	for _, of := range []struct {
		k *schedule.Kernel
		d *[]byte
	}{{k, &p.Got}, {truth, &p.Want}} {
		d, id, err := gemm.Multiply(t.Context(), of.k, o, q.Options)
		if err != nil || id != fp.FP32 {
			t.Fatal(id, err)
		}
		*of.d = d
	}
	for n := range s.M * s.N {
		mma.Store(p.Want, 4, n, edit(mma.Load(p.Want, 4, n)))
	}
	a, err := q.Explain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func same32(code uint64) uint64 { return code }

// TestCombinations tells each way to combine the sum with C from each other one, where both have the same numbers.
func TestCombinations(t *testing.T) {
	all := [][]schedule.Step{{{Op: "alpha"}, {Op: "beta-c"}}, {{Op: "alpha"}, {Op: "beta-c-mul"}}, {{Op: "alpha-beta"}}, {{Op: "alpha"}, {Op: "c"}}}
	words := []string{"the result is fma(beta, C, alpha*x) of the sum x", "the result is alpha*x + beta*C of the sum x, each product rounded",
		"the result is fma(alpha, x, beta*C) of the sum x", "the result is alpha*x + C of the sum x, the product rounded"}
	for i, x := range all[:3] {
		for j, y := range all {
			if i == j {
				continue
			}
			if a := askedWhy(t, epilogued(x...), epilogued(y...), same32); a.Label != "epilogue" || a.Words != words[j] {
				t.Errorf("%v is not told from %v: %s, %q", y, x, a.Label, a.Words)
			}
		}
	}
	first := epilogued()
	first.CFirst = true
	for _, c := range []struct {
		k, truth *schedule.Kernel
		words    string
	}{
		{epilogued(schedule.Step{Op: "c"}), first, "the sum starts from C"},
		{first, epilogued(schedule.Step{Op: "c"}), "the result is x + C of the sum x"},
		{first, epilogued(), "C is not added"},
		{epilogued(all[2]...), epilogued(schedule.Step{Op: "alpha"}), "the result is alpha*x of the sum x: C is not added"},
		{epilogued(schedule.Step{Op: "c"}), epilogued(schedule.Step{Op: "cast", Format: fp.FP16}, schedule.Step{Op: "c", Format: fp.FP32}), "the sum is rounded to fp16 before c"},
		{epilogued(all[1]...), epilogued(schedule.Step{Op: "cast", Format: fp.BF16}, schedule.Step{Op: "alpha", Format: fp.FP32}, schedule.Step{Op: "beta-c-mul"}), "the sum is rounded to bf16 before alpha"},
	} {
		if a := askedWhy(t, c.k, c.truth, same32); a.Label != "epilogue" || a.Words != c.words {
			t.Errorf("%v: %s, %q, not %q", c.truth.Epilogue, a.Label, a.Words, c.words)
		}
	}
}

// TestOtherAccumulator looks for an explanation among kernels whose C has another format than the one that is given:
// an accumulator in FP64 is one, and bits of nothing have none.
func TestOtherAccumulator(t *testing.T) {
	k, wide := epilogued(schedule.Step{Op: "alpha", Format: fp.FP32}, schedule.Step{Op: "beta-c"}), epilogued(schedule.Step{Op: "alpha", Format: fp.FP32}, schedule.Step{Op: "beta-c"})
	wide.Unit.Acc = fp.FP64
	if a := askedWhy(t, k, wide, same32); a.Label != "unit" || a.Words != "the accumulator is fp64" {
		t.Errorf("%s, %q", a.Label, a.Words)
	}
	if a := askedWhy(t, k, wide, func(code uint64) uint64 { return code ^ code>>9&0x3f }); a.Kernel != nil {
		t.Errorf("%s, %q", a.Label, a.Words)
	}
}

// TestSameChange tells no change beside another one that is the same function, and in other words one that is not.
func TestSameChange(t *testing.T) {
	for start, want := range map[string][]string{"": nil, "zero": {"a new accumulator begins after every 32 products, and each part is cut by size 64 as before"}} {
		k, truth := epilogued(), epilogued()
		for n, k := range map[int]*schedule.Kernel{64: k, 32: truth} {
			k.Schedules[0].Levels = []schedule.Level{{Cut: schedule.Cut{By: "size", N: n}, Merge: schedule.Merge{Order: "forward", Start: start}}}
		}
		a := askedWhy(t, k, truth, same32)
		var alike []string
		for _, words := range a.Alike {
			if strings.HasPrefix(words, "a new accumulator begins") && !strings.Contains(words, "within each run") {
				alike = append(alike, words)
			}
		}
		if a.Words != "a new accumulator begins after every 32 products, not 64" || !slices.Equal(alike, want) {
			t.Errorf("start %q: %q or %q", start, a.Words, a.Alike)
		}
	}
}

// TestSameWithC holds that schedules that do different things with C are not said to be the same function.
func TestSameWithC(t *testing.T) {
	fused, rounded := epilogued(schedule.Step{Op: "alpha-beta"}), epilogued(schedule.Step{Op: "alpha"}, schedule.Step{Op: "beta-c-mul"})
	if !sameFunction(fused, fused) || sameFunction(fused, rounded) {
		t.Error("fma(alpha, x, beta*C) and alpha*x + beta*C are told to be the same function")
	}
	unit, _ := fused.Unit.Resolve()
	d, err := Compare(t.Context(), &Side{Kernel: fused, Unit: unit, Modelled: true}, &Side{Kernel: rounded, Unit: unit, Modelled: true}, 1)
	if err != nil || d.Verdict != Undecided || !strings.HasPrefix(d.Same, "What the schedules do with C was not compared") {
		t.Errorf("%+v, %v", d, err)
	}
}
