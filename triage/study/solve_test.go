package study

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

func solveUnit(t *testing.T, arch, inst string) *unit {
	t.Helper()
	u, err := simulatedUnit(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	return &u
}

// TestFactorize checks P*A = L*U, and what the factors solve, with a unit whose products are exact
// enough that only FP32 is left as an error.
func TestFactorize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 5, 32, 33, 70} {
		a := randomMatrix(rng, n, 10)
		f, err := factorize(context.Background(), solveUnit(t, "ampere", "mma.m8n8k4.f64.f64.f64.f64"), a)
		if err != nil {
			t.Fatal(err)
		}
		if e := f.error(a); e == 0 || e > 1e-6 {
			t.Errorf("n = %d: the error of the factors is %g", n, e)
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i%7) - 3
		}
		got := f.solve(a.times(x))
		for i := range x {
			if math.Abs(got[i]-x[i]) > 1e-4 {
				t.Errorf("n = %d: x[%d] is %g, want %g", n, i, got[i], x[i])
			}
		}
	}
}

// TestOrthogonal checks the random matrices: their rows, and the condition that is asked for.
func TestOrthogonal(t *testing.T) {
	q := randomOrthogonal(rand.New(rand.NewPCG(3, 4)), 40)
	for i := range q.n {
		for j := range q.n {
			want := 0.0
			if i == j {
				want = 1
			}
			if got := dot(q.row(i), q.row(j)); math.Abs(got-want) > 1e-14 {
				t.Fatalf("rows %d and %d: %g", i, j, got)
			}
		}
	}
}

// TestGMRES checks that GMRES solves what its preconditioner does not: with the factors of another
// matrix, a system of few rows is solved in as many steps.
func TestGMRES(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 12
	a, other := randomMatrix(rng, n, 100), randomMatrix(rng, n, 2)
	f, err := factorize(context.Background(), solveUnit(t, "ampere", "mma.m8n8k4.f64.f64.f64.f64"), other)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	d, steps := f.gmres(a, a.times(x))
	if steps < 2 || steps > n {
		t.Errorf("%d steps", steps)
	}
	for i := range x {
		if math.Abs(d[i]-x[i]) > 1e-2 {
			t.Errorf("d[%d] is %g, want %g", i, d[i], x[i])
		}
	}
}

// TestSolve checks what the study shows: refinement ends where the condition times the error of
// the factors gets large, GMRES goes further, and flushed operands spoil the factors.
func TestSolve(t *testing.T) {
	s := &solve{size: 64}
	r := &Request{Seed: 1, Count: 1}
	measure := func(arch, inst string) solved {
		m, err := s.measure(context.Background(), solveUnit(t, arch, inst), r)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.check(nil, m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	volta, cdna2 := measure("volta", "mma.m8n8k4.f32.f16.f16.f32"), measure("cdna2", "v_mfma_f32_16x16x16f16")
	bf16 := measure("hopper", "mma.m16n8k16.f32.bf16.bf16.f32")
	if volta.IR[0].Steps == 0 || volta.IR[0].Steps > 8 || volta.IR[7].Steps != 0 {
		t.Errorf("IR: %v", volta.IR)
	}
	if volta.GMRES[4].Steps == 0 || volta.GMRES[4].Inner < volta.GMRES[4].Steps || volta.IR[4].Steps != 0 {
		t.Errorf("at 1e5 IR %v, GMRES-IR %v", volta.IR[4], volta.GMRES[4])
	}
	if cdna2.Factors[7] < 2*volta.Factors[7] {
		t.Errorf("the factors at 1e8: CDNA2 %v, Volta %v", cdna2.Factors[7], volta.Factors[7])
	}
	if bf16.Factors[0] < 4*volta.Factors[0] || bf16.Factors[0] > 16*volta.Factors[0] {
		t.Errorf("three bits less: %v, %v", bf16.Factors[0], volta.Factors[0])
	}
}
