package prove

import (
	"math/big"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestError checks bounds against those derived by hand: of each step L cuts of 2^-F, c being the
// largest term, and what its rounding loses of the bits below it. A bound has 2^-16 for underflow,
// rounded up to 4 digits.
func TestError(t *testing.T) {
	for _, tc := range []struct {
		arch, inst      string
		proved, refuted float64
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", 4.0001, 3.99},    // F = 23: nothing is left to round
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", 4.7501, 4.74}, // 16/4 and 3/4: F = 25
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", 9.0001, 8.98}, // twice 8/2 and 1/2
		{"cdna1", "v_mfma_f32_32x32x4bf16", 1.0001, 0.9999},      // two steps of RNE
	}[tier.Of(2, 0, 0):] {
		i, err := mma.Lookup(tc.arch, tc.inst)
		if err != nil {
			t.Fatal(err)
		}
		answer := &Answer{}
		if err := errorsOf(t.Context(), &asked{f: i.Formats, k: i.K, p: i.Params}, answer); err != nil {
			t.Fatal(err)
		}
		if answer.Proved != tc.proved || answer.Refuted < tc.refuted {
			t.Errorf("%s: proved %v, refuted %v; want %v and at least %v", i.FullName(), answer.Proved, answer.Refuted, tc.proved, tc.refuted)
		}
		d, err := mma.ParseDot(i.Formats, i.K, false, strings.Fields(answer.Witness))
		if err != nil {
			t.Fatal(err)
		}
		e, err := proveError(&asked{f: i.Formats, k: i.K, p: i.Params})
		if err != nil {
			t.Fatal(err)
		}
		units, _ := e.measure(i.Formats, d, oracle.Eval(&i.Params, i.Formats, i.K, d))
		if shown, _ := rounded(units, false).Float64(); shown != answer.Refuted {
			t.Errorf("%s: %s errs by %v, not by %v", i.FullName(), answer.Witness, shown, answer.Refuted)
		}
	}
}

// TestErrorHolds compares bounds with the errors of the oracle's results, of the catalogue and of made-up
// programs, on inputs of all generators and on those that err by much.
func TestErrorHolds(t *testing.T) {
	all := mma.Arithmetics()
	for seed := range uint64(tier.Of(100, 100, 200, 4000)) {
		all = append(all, madeup.Unit(seed))
	}
	bounded, inputs := 0, 0
	for n := range all {
		if n%tier.Of(8, 8, 1) != 0 {
			continue
		}
		i := &all[n]
		q := &asked{f: i.Formats, k: i.K, p: i.Params}
		e, err := proveError(q)
		if err != nil {
			t.Logf("%s: %v", i.FullName(), err)
			continue
		}
		bounded++
		largest := new(big.Rat)
		for _, d := range append(e.boundary(q), gen.Probe(gen.Spec{Formats: q.f, K: q.k}, 1, 0, &q.p)...) {
			units, ok := e.measure(q.f, d, oracle.Eval(&q.p, q.f, q.k, d))
			if !ok {
				continue
			}
			inputs++
			if units.Cmp(largest) > 0 {
				largest = units
			}
			if units.Cmp(e.bound) > 0 {
				t.Errorf("%s: %s errs by %s, more than %s", i.FullName(), mma.FormatDot(q.f, d), units.FloatString(6), words(e.bound))
				break
			}
		}
		t.Logf("%s: %s of %s", i.FullName(), largest.FloatString(4), words(e.bound))
	}
	t.Logf("%d bounds, %d inputs", bounded, inputs)
}
