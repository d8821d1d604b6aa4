package minimize

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestUnits minimizes mismatches of simulators to the one that shows the
// difference best, from any start.
func TestUnits(t *testing.T) {
	roundCToZero := func(p *mma.Params) { p.Join.CMode = fp.RZ }
	cdna3 := "cdna3/v_mfma_f32_16x16x16_f16"
	nvf4 := "blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
	for _, c := range []struct {
		name string
		x, y *sim.Model
		kind string
		want []string
	}{
		// Beside 1 Ampere cuts -2^-25 off and Hopper does not.
		{"ampere and hopper", instruction(t, "ampere/mma.m16n8k16.f32.f16.f16.f32"), instruction(t, "hopper/mma.m16n8k16.f32.f16.f16.f32"),
			"spread", []string{"3c00 3c00 b3000000"}},
		// 1 - 2^-25 rounds to 1 or is truncated to 1 - 2^-24.
		{"rounded and truncated", fused(t), truncated(t), "normal", []string{"3c00 3c00 b3000000"}},
		// Hopper's FP8 unit has 13 fraction bits in results: c alone shows it.
		{"hopper and blackwell FP8", instruction(t, "hopper/wgmma.m64n8k32.f32.e4m3.e5m2"),
			instruction(t, "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e5m2"), "raw", []string{"00 00 3f800200"}},
		// A negative c cut toward zero and not down.
		{"CDNA3 with c cut toward zero", instruction(t, cdna3), variant(t, cdna3, roundCToZero), "spread", []string{"3c00 3c00 b3000000"}},
		{"NaN codes", instruction(t, nvf4), variant(t, nvf4, func(p *mma.Params) { p.Special.NaN = mma.NaNQuiet }), "raw",
			[]string{"00 00 00000000 sa=38,38,38,38 sb=7f,38,38,38", "00 00 7fc00000 sa=38,38,38,38 sb=38,38,38,38"}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			for _, start := range mismatches(t, c.x, c.y, c.kind, 12) {
				r := minimize(t, c.x.Formats(), start, differ(c.x, c.y), Options{SkipMask: true})
				if got := mma.FormatDot(c.x.Formats(), r.Dot); !slices.Contains(c.want, got) || !r.Minimal {
					t.Errorf("%s, minimal %v; want %s", got, r.Minimal, c.want)
				}
				if r.Batches > 20 {
					t.Errorf("%d batches", r.Batches)
				}
			}
		})
	}
}

// TestOneMinimal tries single changes of minima that the passes make, written
// down a second time.
func TestOneMinimal(t *testing.T) {
	x, y := instruction(t, "cdna1/v_mfma_f32_16x16x16f16"), instruction(t, "cdna2/v_mfma_f32_16x16x16f16")
	for _, start := range mismatches(t, x, y, "spread", 20) {
		r := minimize(t, x.Formats(), start, differ(x, y), Options{SkipMask: true})
		if !r.Minimal {
			t.Fatal("not minimal")
		}
		for _, d := range neighbours(x.Formats(), r.Dot) {
			if Less(x.Formats(), d, r.Dot) && x.Dot(d, nil) != y.Dot(d, nil) {
				t.Errorf("%s is simpler than %s", mma.FormatDot(x.Formats(), d), mma.FormatDot(x.Formats(), r.Dot))
			}
		}
	}
}

// neighbours changes single elements: to 0 and 1, one bit of the code cleared,
// the exponent field up and down; and zeroes, swaps and moves terms.
func neighbours(f mma.Formats, d *mma.Dot) []*mma.Dot {
	var list []*mma.Dot
	edit := func(change func(d *mma.Dot)) {
		e := d.Clone()
		change(e)
		list = append(list, e)
	}
	element := func(at func(d *mma.Dot) *uint64, id fp.ID) {
		g := id.Get()
		one, _ := one.code(g)
		for _, code := range []uint64{0, one, one | g.SignBit(), *at(d) + 1<<g.FracBits, *at(d) - 1<<g.FracBits} {
			edit(func(d *mma.Dot) { *at(d) = code & g.CodeMask() })
		}
		for n := range g.CodeBits() {
			if n < g.FracBits || n == g.CodeBits()-1 {
				edit(func(d *mma.Dot) { *at(d) &^= 1 << n })
			}
		}
	}
	element(func(d *mma.Dot) *uint64 { return &d.C }, f.C)
	for k := range d.A {
		element(func(d *mma.Dot) *uint64 { return &d.A[k] }, f.A)
		element(func(d *mma.Dot) *uint64 { return &d.B[k] }, f.B)
		edit(func(d *mma.Dot) { d.A[k], d.B[k] = 0, 0 })
		edit(func(d *mma.Dot) { d.A[k], d.B[k] = d.B[k], d.A[k] })
		for j := range k {
			edit(func(d *mma.Dot) { d.A[k], d.B[k], d.A[j], d.B[j] = d.A[j], d.B[j], d.A[k], d.B[k] })
		}
	}
	return list
}

// classes is a test with several buckets: what kind of result a unit gives.
func classes(x, y *sim.Model) Test {
	return bucketed(func(d *mma.Dot) string {
		got := x.Dot(d, nil)
		v := fp.FP32.Get().Float64(got)
		switch {
		case got == y.Dot(d, nil):
			return ""
		case math.IsNaN(v):
			return "nan"
		case v == 0:
			return "zero"
		case math.Abs(v) > 1:
			return "big"
		}
		return "diff"
	})
}

// TestBatchSize holds that a result does not depend on the size of batches, nor
// on anything that changes from run to run.
func TestBatchSize(t *testing.T) {
	x, y := instruction(t, "ampere/mma.m16n8k16.f32.f16.f16.f32"), instruction(t, "hopper/mma.m16n8k16.f32.f16.f16.f32")
	for _, start := range mismatches(t, x, y, "spread", 6) {
		o := Options{Bucket: mustAnswer(t, classes(x, y), start)}
		want := minimize(t, half, start, classes(x, y), o)
		for _, size := range []int{1, 7, 512, 1 << 20} {
			o.BatchSize = size
			got := minimize(t, half, start, classes(x, y), o)
			if show(half, got) != show(half, want) {
				t.Errorf("batches of %d: %s\nwant %s", size, show(half, got), show(half, want))
			}
			if size == 1 && got.Batches != got.Queries {
				t.Errorf("%d queries in %d batches of one", got.Queries, got.Batches)
			}
		}
	}
}

func mustAnswer(t *testing.T, test Test, d *mma.Dot) string {
	t.Helper()
	b, err := test(context.Background(), []*mma.Dot{d})
	if err != nil || b[0] == "" {
		t.Fatal(b, err)
	}
	return b[0]
}

// TestQueries holds that only the minimum is tested twice, and that, apart from the
// start, only dot products simpler than the best so far are tested before the mask.
func TestQueries(t *testing.T) {
	x, y := fused(t), truncated(t)
	start := mismatches(t, x, y, "normal", 1)[0]
	l := newLayout(half, 16)
	asked := map[id]int{}
	best := start
	test := func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
		for i, d := range dots {
			asked[l.idOf(l.vector(d))]++
			if len(asked) > 1 && !Less(half, d, best) && !d.Equal(best) {
				t.Errorf("candidate %d, %s, is not simpler than %s", i, mma.FormatDot(half, d), mma.FormatDot(half, best))
			}
		}
		return differ(x, y)(ctx, dots)
	}
	batches := 0
	r := minimize(t, half, start, test, Options{SkipMask: true, Progress: func(d *mma.Dot, q, b int) {
		if !Less(half, d, best) || q != len(asked) || b <= batches {
			t.Errorf("progress to %s after %d queries and %d batches", mma.FormatDot(half, d), q, b)
		}
		best, batches = d, b
	}})
	if !best.Equal(r.Dot) {
		t.Error("the last progress is not the result")
	}
	total := 0
	for id, n := range asked {
		total += n
		if want := 1 + count(id == l.idOf(l.vector(r.Dot))); n != want {
			t.Errorf("asked %d times, want %d", n, want)
		}
	}
	if total != r.Queries || r.CacheHits == 0 {
		t.Errorf("%d queries, want %d; %d cache hits", r.Queries, total, r.CacheHits)
	}
}

// TestBudget holds that a budget is kept and that what it buys grows with it.
func TestBudget(t *testing.T) {
	x, y := fused(t), truncated(t)
	start := mismatches(t, x, y, "normal", 1)[0]
	test := differ(x, y)
	full := minimize(t, half, start, test, Options{})
	search := minimize(t, half, start, test, Options{SkipMask: true}).Queries - 1 // without asking again
	last := start
	for n := 1; n < full.Queries; n += 37 {
		r := minimize(t, half, start, test, Options{MaxQueries: n, BatchSize: 1 + n%100})
		if r.Queries != n || r.Minimal != (n >= search) || r.Mask != nil || Less(half, last, r.Dot) {
			t.Fatalf("%d queries allowed: %d made, minimal %v, %s", n, r.Queries, r.Minimal, mma.FormatDot(half, r.Dot))
		}
		if mustAnswer(t, test, r.Dot) != "diff" {
			t.Fatalf("%d queries: the result is not in the bucket", n)
		}
		last = r.Dot
	}
	for n := 1; n <= full.Batches; n++ {
		r := minimize(t, half, start, test, Options{MaxBatches: n})
		if r.Batches != n || (r.Mask != nil) != (n == full.Batches) {
			t.Errorf("%d batches allowed: %d made, mask %v", n, r.Batches, r.Mask)
		}
	}
	if r := minimize(t, half, start, test, Options{MaxQueries: full.Queries, MaxBatches: full.Batches}); show(half, r) != show(half, full) {
		t.Error("a budget that suffices changes the result")
	}
}

// TestErrors holds what each kind of failure gives.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	start := parse(t, half, 4, "3c01,4205 3c05,4003 3f800000")
	never := when(func(*mma.Dot) bool { return false })
	other := bucketed(func(*mma.Dot) string { return "other" })
	for _, c := range []struct {
		f     mma.Formats
		start *mma.Dot
		test  Test
		o     Options
		want  string
	}{
		{half, start, never, Options{}, "no bucket"},
		{half, start, never, Options{Bucket: "diff"}, `the start is not in the bucket "diff": the test says that both sides agree`},
		{half, start, other, Options{Bucket: "diff"}, `the start is not in the bucket "diff": the test says "other"`},
		{mxfp8, start, never, Options{Bucket: "diff"}, "are not a dot product"},
		{half, start, func(context.Context, []*mma.Dot) ([]string, error) { return []string{"diff"}, nil }, Options{Bucket: "diff"}, "1 answers for"},
	} {
		if _, err := Dot(ctx, c.f, c.start, c.test, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestInterrupted holds that the best so far survives a cancelled context and an
// error of the test, in whatever batch.
func TestInterrupted(t *testing.T) {
	x, y := fused(t), truncated(t)
	start := mismatches(t, x, y, "normal", 1)[0]
	full := minimize(t, half, start, differ(x, y), Options{})
	failure := errors.New("lost the device")
	for at := range full.Batches {
		for _, want := range []error{context.Canceled, failure} {
			ctx, cancel := context.WithCancel(context.Background())
			best := start
			batches := 0
			test := func(ctx context.Context, dots []*mma.Dot) ([]string, error) {
				if batches++; batches == at && want == context.Canceled {
					cancel() // before the next batch
				}
				if batches == at+1 && want == failure {
					return nil, failure
				}
				return differ(x, y)(ctx, dots)
			}
			if at == 0 && want == context.Canceled {
				cancel()
			}
			last := full.Batches - 2 // of the search; the others are for the mask
			if want == context.Canceled {
				last++ // that nothing is left to ask is found out after it
			}
			r, err := Dot(ctx, half, start, test, Options{Bucket: "diff", Progress: func(d *mma.Dot, _, _ int) { best = d }})
			if !errors.Is(err, want) || r == nil || r.Batches != at || !r.Dot.Equal(best) || r.Mask != nil || r.Minimal != (at >= last) {
				t.Errorf("batch %d, %v: result %+v, error %v", at, want, r, err)
			}
			cancel()
		}
	}
}

// TestFlaky holds that a test that contradicts itself is reported, with the result.
func TestFlaky(t *testing.T) {
	x, y := fused(t), truncated(t)
	start := mismatches(t, x, y, "normal", 1)[0]
	want := minimize(t, half, start, differ(x, y), Options{}).Dot
	asked := 0
	test := bucketed(func(d *mma.Dot) string {
		if d.Equal(want) {
			if asked++; asked == 2 {
				return "other"
			}
		}
		if x.Dot(d, nil) != y.Dot(d, nil) {
			return "diff"
		}
		return ""
	})
	for _, skip := range []bool{false, true} {
		asked = 0
		r, err := Dot(context.Background(), half, start, test, Options{Bucket: "diff", SkipMask: skip})
		var flaky *FlakyError
		if !errors.As(err, &flaky) || flaky.Result != r || flaky.Bucket != "other" || !strings.Contains(err.Error(), `"other"`) {
			t.Fatalf("error %v", err)
		}
		if !r.Dot.Equal(want) || r.Mask != nil {
			t.Errorf("result %s, mask %v", mma.FormatDot(half, r.Dot), r.Mask)
		}
	}
}
