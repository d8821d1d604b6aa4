package engine

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// endToEnd returns the loop over Ampere and Hopper in FP16.
func endToEnd(t testing.TB, source string) *EndToEnd {
	t.Helper()
	src, err := gen.ParseSource(source)
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

// keepPools has models keep their scratch space: the garbage collector empties the
// pools of it, and each processor has one of its own.
func keepPools(t *testing.T) {
	percent, processors := debug.SetGCPercent(-1), runtime.GOMAXPROCS(1)
	t.Cleanup(func() { debug.SetGCPercent(percent); runtime.GOMAXPROCS(processors) })
}

// TestEndToEndAllocs checks that the loop needs no new memory, whatever makes its
// inputs.
func TestEndToEndAllocs(t *testing.T) {
	tier.SkipUnderRace(t)
	keepPools(t)
	for _, g := range gen.All() {
		e := endToEnd(t, g.Name)
		run := func() {
			if err := e.Run(t.Context(), 2*chunkMost/128); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			run() // new features grow a set
		}
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations", g.Name, n)
		}
	}
}

// TestChunkAllocs checks that a campaign needs no new memory for a chunk, the names of
// its differing cases included.
func TestChunkAllocs(t *testing.T) {
	tier.SkipUnderRace(t)
	cfg := Config{Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), Seed: 1, Count: 20_000}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.pairs[0].SetVerdict(c.state.Pairs[0].Verdict); c.pairs[0].Attributor == nil {
		t.Fatal("nothing is explained")
	}
	keepPools(t)
	w, r := newWorker(), &Result{}
	for _, g := range gen.All() {
		ch := &finding.Chunk{Source: gen.Source{Generator: &g}, Name: g.Name, Dots: chunkDots}
		run := func() {
			r.reset()
			w.kept = [oracle.Fault + 1]int{}
			if err := w.chunk(t.Context(), c, ch, r); err != nil {
				t.Fatal(err)
			}
			ch.First += uint64(ch.Dots)
		}
		for range 40 {
			run() // until buffers are large enough for chunks with many cases
		}
		if n := testing.AllocsPerRun(20, run); n > 0 {
			t.Errorf("%s: %v allocations", g.Name, n)
		}
		if g.Name == "raw" && (len(w.at) == 0 || len(r.Kinds) == 0) {
			t.Error("raw: no differing case was named")
		}
	}
}

// BenchmarkEndToEnd reports the processor time of the loop for a tile of 2,048
// products on one core, and clock cycles per product:
//
//	go test -run xxx -bench EndToEnd -count 5 ./fuzz/engine
func BenchmarkEndToEnd(b *testing.B) {
	cycle := measure.Cycle()
	for _, source := range []string{"raw", "raw@1", "normal", "cut", "around@1(cut@1)", "special", "around@1(tie@1)", "around@1(order@1)", "around@1(spread@1)", "around@1(floor@1)", "around@1(huge@1)", "around@1(cancel@1)", "around@1(subnormal@1)"} {
		b.Run(source, func(b *testing.B) {
			e := endToEnd(b, source)
			s := e.Shape()
			tiles := 1024 * measure.Products / (s.M * s.N * s.K)
			run := func() {
				if err := e.Run(b.Context(), tiles); err != nil {
					b.Fatal(err)
				}
			}
			run()
			b.ReportAllocs()
			defer measure.Lock()()
			began := measure.Thread()
			for b.Loop() {
				run()
			}
			perTile := float64((measure.Thread() - began).Nanoseconds()) / float64(b.N) / 1024
			b.ReportMetric(perTile, "ns/tile")
			b.ReportMetric(perTile/measure.Products/cycle, "cycles/product")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkStages reports how the processor time of the loop on raw bits divides,
// for a tile of 2,048 products on one core. The clock is read between the stages of
// 64 tiles, as many as a chunk has.
func BenchmarkStages(b *testing.B) {
	cycle := measure.Cycle()
	e := endToEnd(b, "raw")
	if err := e.Run(b.Context(), 256); err != nil {
		b.Fatal(err)
	}
	w, p, ch := e.w, e.p, &e.ch
	stages := []struct {
		name string
		run  func() error
		time time.Duration
	}{
		{name: "generate", run: func() error { w.inputs(p, e.seed, ch); return nil }},
		{name: "model-a", run: func() error { return p.A.Run(b.Context(), &w.batch, w.a) }},
		{name: "model-b", run: func() error { return p.B.Run(b.Context(), &w.batch, w.b) }},
		{name: "compare", run: func() error { e.r.reset(); w.compare(p, ch, &e.r); return nil }},
		{name: "features", run: func() error { w.features(p, ch, &e.r); return nil }},
		{name: "rest", run: func() error { ch.First += uint64(ch.Dots); e.count(chunkMost / 128); return nil }},
	}
	defer measure.Lock()()
	for b.Loop() {
		last := measure.Thread()
		for i := range stages {
			s := &stages[i]
			if err := s.run(); err != nil {
				b.Fatal(err)
			}
			now := measure.Thread()
			s.time += now - last
			last = now
		}
	}
	tiles := float64(b.N) * chunkMost / 128
	all := 0.0
	for i := range stages {
		perTile := float64(stages[i].time.Nanoseconds()) / tiles
		b.ReportMetric(perTile, stages[i].name+"-ns/tile")
		all += perTile
	}
	b.ReportMetric(all, "ns/tile")
	b.ReportMetric(all/measure.Products/cycle, "cycles/product")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGenerate reports how fast one core makes inputs, alone, for units with tiles of
// 16 x 8 such as a tensor core's: dot products a second, and such tiles a second. A tile of
// 8 x 8 fills half of one, and eight single dot products are the diagonal of one. "campaign"
// is what a default campaign takes turns with once it varies its inputs. "device" is for a
// pair that has one:
//
//	go test -run xxx -bench Generate -count 5 ./fuzz/engine
func BenchmarkGenerate(b *testing.B) {
	simulators := openPairs(b, "sim:ampere", "sim:hopper", deviceInst)[0]
	device := simulators
	device.B = &eagerBox{blackBox{Unit: device.B}, 1 << 15}
	for i, pair := range []devices.Pair{simulators, device} {
		c, err := New(Config{Pairs: []devices.Pair{pair}, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		b.Run([]string{"simulators", "device"}[i], func(b *testing.B) { benchmarkGenerate(b, c) })
	}
}

func benchmarkGenerate(b *testing.B, c *Campaign) {
	p, turn := c.pairs[0], turnsOf(c.state.Pairs[0])
	size := p.unitSize(c.epochSize(0, 100))
	var all []finding.Chunk
	bySource := map[string][]finding.Chunk{}
	for len(all) < 4000 {
		u, ok := c.nextUnit(0, turn, int(size), math.MaxInt32)
		if !ok {
			b.Fatal("no unit")
		}
		u.Chunk = u.Dots
		ch, _ := u.chunk(0, nil)
		if turn.units > 200 { // the opening is over
			all = append(all, ch)
			bySource[ch.Name] = append(bySource[ch.Name], ch)
		}
	}
	generate := func(chunks []finding.Chunk) func(*testing.B) {
		return func(b *testing.B) {
			w := newWorker()
			w.inputs(p, 1, &chunks[0])
			defer measure.Lock()()
			dots, tiles, n := 0, 0.0, 0
			began := measure.Thread()
			for b.Loop() {
				ch := &chunks[n%len(chunks)]
				w.inputs(p, 1, ch)
				n++
				dots += ch.Dots
				if g := ch.Source.Generator; g.M == 1 {
					tiles += float64(ch.Dots) / 8
				} else {
					tiles += float64(ch.Dots) / float64(g.M*g.N)
				}
			}
			s := (measure.Thread() - began).Seconds()
			b.ReportMetric(float64(dots)/s/1e6, "Mdots/s")
			b.ReportMetric(tiles/s/1e6, "Mtiles/s")
			b.ReportMetric(0, "ns/op")
		}
	}
	b.Run("campaign", generate(all))
	for _, name := range slices.Sorted(maps.Keys(bySource)) {
		b.Run(name, generate(bySource[name]))
	}
}

// BenchmarkCampaign reports, by the clock on the wall, how many dot products a second
// whole campaigns compare: with the names of all differing cases, mutations, triage
// and a journal. Codes are those of a conversion, of which all 2^32 are to be compared in minutes.
//
//	go test -run xxx -bench Campaign -count 5 ./fuzz/engine
func BenchmarkCampaign(b *testing.B) {
	fp16Pair := [3]string{"sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"}
	for _, bm := range []struct {
		name       string
		pair       [3]string
		generators []string
		count      uint64
	}{
		{"raw", fp16Pair, []string{"raw"}, 1 << 26},
		{"all", fp16Pair, nil, 1 << 22},
		{"codes", [3]string{"sim:ada", "sim:blackwell", "cvt.rn.satfinite.e4m3x2.f32"}, []string{"codes"}, 1 << 25},
	} {
		for workers := 1; workers <= runtime.GOMAXPROCS(0); workers *= 2 {
			b.Run(fmt.Sprintf("%s/workers=%d", bm.name, workers), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					runCampaign(b, Config{
						Pairs: openPairs(b, bm.pair[0], bm.pair[1], bm.pair[2]), Seed: 1, Generators: bm.generators,
						Count: bm.count, Workers: workers, Journal: filepath.Join(b.TempDir(), "journal"),
					})
				}
				b.ReportMetric(float64(bm.count)*float64(b.N)/b.Elapsed().Seconds(), "dots/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
