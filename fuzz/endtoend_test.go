package fuzz

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
)

// endToEnd returns the loop over Ampere and Hopper in FP16.
func endToEnd(t testing.TB, source string) *EndToEnd {
	t.Helper()
	src, err := ParseSource(source)
	if err != nil {
		t.Fatal(err)
	}
	pair := openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")[0]
	e, err := NewEndToEnd(pair, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEndToEnd checks that the loop does what a campaign does, however it is cut
// into runs.
func TestEndToEnd(t *testing.T) {
	const tiles = 200
	one, many := endToEnd(t, "raw"), endToEnd(t, "raw")
	if err := one.Run(t.Context(), tiles); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 100, 0, 64, 35} {
		if err := many.Run(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	n := one.Counts()
	if n != many.Counts() {
		t.Errorf("in one run %+v, in several %+v", n, many.Counts())
	}
	if n.Tiles != tiles || n.Dots != 128*tiles || n.Products != 2048*tiles || n.Traced != n.Dots/traceEvery || n.Features == 0 {
		t.Errorf("%+v", n)
	}
	st := runCampaign(t, Config{Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), Seed: 1, Generators: []string{"raw"}, Count: 50_000}).Pairs[0]
	if err := one.Run(t.Context(), int(st.Next["raw@2"]/128)-tiles); err != nil {
		t.Fatal(err)
	}
	// What the campaign has beyond that are mutations.
	if c := one.Counts().Classes; c[oracle.Value] == 0 || c[oracle.Value] > st.Classes[oracle.Value] || c[oracle.Same] > st.Classes[oracle.Same] {
		t.Errorf("%v, the campaign %v", c, st.Classes)
	}
}

// TestEndToEndAllocs checks that the loop needs no new memory, whatever makes its
// inputs.
func TestEndToEndAllocs(t *testing.T) {
	skipUnderRace(t)
	for i := range generators {
		e := endToEnd(t, generators[i].Name)
		run := func() {
			if err := e.Run(t.Context(), 2*chunkMost/128); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			run() // new features grow a set
		}
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations", generators[i].Name, n)
		}
	}
}

// BenchmarkEndToEnd reports the processor time of the loop for a tile of 2,048
// products on one core.
func BenchmarkEndToEnd(b *testing.B) {
	for _, source := range []string{"raw", "raw@1", "normal", "cut"} {
		b.Run(source, func(b *testing.B) {
			e := endToEnd(b, source)
			const products = 1024 * 2048
			run := func() {
				s := e.Shape()
				if err := e.Run(b.Context(), products/(s.M*s.N*s.K)); err != nil {
					b.Fatal(err)
				}
			}
			run()
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/tile")
			b.ReportMetric(0, "ns/op")
		})
	}
}
