package minimize

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit returns the simulator of an instruction.
func unit(t testing.TB, arch, name string) *sim.Model {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// model returns the simulator of an arithmetic on FP16 operands.
func model(t testing.TB, k int, p mma.Params) *sim.Model {
	t.Helper()
	m, err := sim.New(mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, k, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// differ is the test of two simulators, with one bucket, diff.
func differ(x, y *sim.Model) Test {
	return func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		buckets := make([]string, len(dots))
		for i, d := range dots {
			if x.Dot(d, nil) != y.Dot(d, nil) {
				buckets[i] = "diff"
			}
		}
		return buckets, nil
	}
}

// kinds are ways to draw a value of a format.
var kinds = map[string]func(r *rand.Rand, f *fp.Format) uint64{
	"normal": func(r *rand.Rand, f *fp.Format) uint64 { return f.FromFloat64(r.NormFloat64()) },
	"spread": func(r *rand.Rand, f *fp.Format) uint64 {
		return f.FromFloat64(math.Ldexp(r.NormFloat64(), r.IntN(21)-10))
	},
	"raw": func(r *rand.Rand, f *fp.Format) uint64 { return r.Uint64() & f.CodeMask() },
}

// draw draws a dot product of values of a kind.
func draw(r *rand.Rand, f mma.Formats, k int, kind string) *mma.Dot {
	l := newLayout(f, k)
	v := make(vector, len(l.formats))
	for i, format := range l.formats {
		if format != nil {
			v[i] = kinds[kind](r, format)
		}
	}
	return l.dot(v)
}

// mismatches returns the first n dot products of a kind that two simulators
// disagree on.
func mismatches(t testing.TB, x, y *sim.Model, kind string, n int) []*mma.Dot {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var found []*mma.Dot
	for i := 0; len(found) < n; i++ {
		if i == 1e6 {
			t.Fatalf("%s: only %d mismatches", kind, len(found))
		}
		if d := draw(r, x.Formats(), x.K(), kind); x.Dot(d, nil) != y.Dot(d, nil) {
			found = append(found, d)
		}
	}
	return found
}
