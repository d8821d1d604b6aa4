package minimize

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Operand formats of tests.
var (
	half  = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	bare  = mma.Formats{A: fp.E4M3, B: fp.E5M2, D: fp.FP32} // no c
	tf32  = mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}
	fnuz  = mma.Formats{A: fp.E4M3FNUZ, B: fp.E4M3FNUZ, C: fp.FP32, D: fp.FP32}
	nvfp4 = mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	mxfp8 = mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
)

// parse reads the text form of a dot product.
func parse(t testing.TB, f mma.Formats, k int, text string) *mma.Dot {
	t.Helper()
	d, err := mma.ParseDot(f, k, false, strings.Fields(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// instruction returns the simulator of an instruction.
func instruction(t testing.TB, name string) *sim.Model {
	t.Helper()
	arch, name, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	return changed(t, i, func(*mma.Params) {})
}

// variant returns the simulator of an instruction with changed parameters.
func variant(t testing.TB, name string, change func(p *mma.Params)) *sim.Model {
	t.Helper()
	arch, name, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	return changed(t, i, change)
}

func changed(t testing.TB, i *mma.Instruction, change func(p *mma.Params)) *sim.Model {
	t.Helper()
	change(&i.Params)
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// model returns the simulator of an arithmetic on 16 products of FP16.
func model(t testing.TB, p mma.Params) *sim.Model {
	t.Helper()
	m, err := sim.New(half, 16, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fused is a chain of FP32 fused multiply-adds, truncated an exact sum truncated
// to FP32.
func fused(t testing.TB) *sim.Model { return model(t, mma.FMA(fp.FP32)) }

func truncated(t testing.TB) *sim.Model {
	return model(t, mma.Params{L: 16, Acc: mma.To(fp.FP32, fp.RZ), Special: mma.Special{NaN: mma.NaNQuiet, TinySign: true}})
}

// differ is the test of two simulators: bucket diff.
func differ(x, y *sim.Model) Test {
	return when(func(d *mma.Dot) bool { return x.Dot(d, nil) != y.Dot(d, nil) })
}

// when is a test with one bucket, diff.
func when(in func(d *mma.Dot) bool) Test {
	return bucketed(func(d *mma.Dot) string {
		if in(d) {
			return "diff"
		}
		return ""
	})
}

func bucketed(bucket func(d *mma.Dot) string) Test {
	return func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		var buckets []string
		for _, d := range dots {
			buckets = append(buckets, bucket(d))
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

// minimize runs Dot for the bucket diff and expects no error.
func minimize(t testing.TB, f mma.Formats, start *mma.Dot, test Test, o Options) *Result {
	t.Helper()
	if o.Bucket == "" {
		o.Bucket = "diff"
	}
	r, err := Dot(context.Background(), f, start, test, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show is all that a result says, as text to compare.
func show(f mma.Formats, r *Result) string {
	s := fmt.Sprintf("%s minimal=%v queries=%d hits=%d", mma.FormatDot(f, r.Dot), r.Minimal, r.Queries, r.CacheHits)
	if r.Mask != nil {
		s += fmt.Sprintf(" mask=%v", *r.Mask)
	}
	return s
}

// values returns the codes of a list as float64.
func values(id fp.ID, codes []uint64) []float64 {
	var x []float64
	for _, c := range codes {
		x = append(x, id.Get().Float64(c))
	}
	return x
}
