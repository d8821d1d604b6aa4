package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

const deviceInst = "mma.m16n8k16.f32.f16.f16.f32"

// devicePair pairs a simulator with a black box that runs batches as run says, after
// the same results were made.
func devicePair(t testing.TB, run func(in *mma.Batch)) devices.Pair {
	t.Helper()
	p := openPairs(t, "sim:hopper", "sim:hopper", deviceInst)[0]
	inner := p.B
	p.B = &blackBox{Unit: inner, run: func(in *mma.Batch, out []byte) error {
		run(in)
		return inner.Run(context.Background(), in, out)
	}}
	return p
}

// TestDeviceWaitsForNobody checks that while a device has a batch two more are there,
// which do not wait until others are compared: its first batches end only when that
// has happened, on one processor as on several.
func TestDeviceWaitsForNobody(t *testing.T) {
	for _, processors := range []int{1, 2} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			want := int64(processors + 2)
			var submitted atomic.Int64
			together := make(chan struct{})
			pair := devicePair(t, func(*mma.Batch) {
				if submitted.Add(1) == want {
					close(together)
				}
				select {
				case <-together:
				case <-time.After(20 * time.Second):
					t.Errorf("%d batches are there, and none of %d ends", submitted.Load(), want)
				}
			})
			runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 1 << 13})
			if submitted.Load() < want {
				t.Errorf("%d batches", submitted.Load())
			}
		})
	}
}

// TestDeviceWorkers checks that it does not show in the results how many workers a
// campaign with a device has.
func TestDeviceWorkers(t *testing.T) {
	state := func(workers int) string {
		pair := boxedPair(t, "hopper", deviceInst, func(p *mma.Params) { p.Join.Align.F = 24 })
		return stateText(t, runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: testCount, Workers: workers}))
	}
	if state(0) != state(1) {
		t.Error("one worker finds something else")
	}
}

// eagerBox is a black box that wants large batches.
type eagerBox struct {
	blackBox
	batch int
}

func (b *eagerBox) BatchSize() int { return b.batch }

// TestDeviceBatches checks that a device is given batches as large as it wants once
// every generator has had a turn, and the same ones whatever the number of workers.
func TestDeviceBatches(t *testing.T) {
	const wanted = 1 << 14
	campaign := func(workers int) (sizes map[int]int, state string) {
		var mu sync.Mutex
		sizes = map[int]int{}
		p := openPairs(t, "sim:hopper", "sim:hopper", deviceInst)[0]
		inner := p.B
		p.B = &eagerBox{blackBox{Unit: inner, run: func(in *mma.Batch, out []byte) error {
			mu.Lock()
			sizes[in.Dots()]++
			mu.Unlock()
			return inner.Run(context.Background(), in, out)
		}}, wanted}
		st := runCampaign(t, Config{Pairs: []devices.Pair{p}, Seed: 1, Count: 3 << 19, Generators: []string{"raw"}, Workers: workers})
		return sizes, stateText(t, st)
	}
	sizes, state := campaign(0)
	if sizes[wanted] < 48 || sizes[wanted] < sizes[chunkDots] {
		t.Errorf("batches by size: %v, want %d", sizes, wanted)
	}
	for n := range sizes {
		if n > wanted {
			t.Errorf("a batch of %d", n)
		}
	}
	one, same := campaign(1)
	if d := cmp.Diff(sizes, one); d != "" || state != same {
		t.Errorf("one worker makes other batches, or finds something else: %s", d)
	}
}

// TestDeviceCampaign checks that a campaign with a device takes variations in tiles of its
// shape, and finds the same with any number of workers, interrupted or not.
func TestDeviceCampaign(t *testing.T) {
	run := func(workers int, interruptions ...int64) string {
		a := newAsked(t)
		a.pair.B = &eagerBox{*a.pair.B.(*blackBox), 2 * chunkMost}
		a.count, a.workers = 1<<16, workers
		journal := filepath.Join(t.TempDir(), "journal")
		for _, at := range interruptions {
			if a.interrupted(t, journal, at).Complete() {
				t.Errorf("not interrupted after %d dot products", at)
			}
		}
		st := runCampaign(t, a.config(journal))
		varied := uint64(0)
		for source, n := range st.Pairs[0].Next {
			if strings.HasPrefix(source, "around@1(") {
				t.Errorf("%d dot products of %s", n, source)
			} else if strings.HasPrefix(source, "around@2(") {
				varied += n
			}
		}
		if varied == 0 {
			t.Error("there are no variations")
		}
		return stateText(t, st)
	}
	want := run(1)
	for what, got := range map[string]string{"4 workers": run(4), "2 workers, interrupted": run(2, 1<<13, 1<<14, 1<<15)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

// someGenerators are of every kind, as many as this project had when the shares were written
// down: a new one gets a share of its own.
var someGenerators = strings.Fields("corner pattern cut tie order spread floor tiny huge zero special subnormal cancel raw normal uniform dnn")

// TestDeviceShares checks how a pair's dot products are divided among the sources of each kind,
// in percent, in a long campaign.
func TestDeviceShares(t *testing.T) {
	kindOf := func(s Share) string {
		g := finding.SourceOf(s.Source).Generator
		switch {
		case g.Name == "around" || g.Name == "raw":
			return g.Name
		case g.M == 1:
			return "designed"
		}
		return "sampled"
	}
	for _, tc := range []struct {
		batch int // BatchSize of B
		want  map[string]int
	}{
		{0, map[string]int{"around": 60, "raw": 21, "sampled": 16, "designed": 3}},
		{1 << 10, map[string]int{"around": 60, "raw": 21, "sampled": 16, "designed": 3}},
		{1 << 15, map[string]int{"around": 18, "raw": 79, "sampled": 2, "designed": 0}},
	} {
		pair := openPairs(t, "sim:ampere", "sim:hopper", deviceInst)[0]
		if tc.batch > 0 {
			pair.B = &eagerBox{blackBox{Unit: pair.B}, tc.batch}
		}
		c, err := New(Config{Pairs: []devices.Pair{pair}, Seed: 1, Generators: someGenerators})
		if err != nil {
			t.Fatal(err)
		}
		sum, all := map[string]uint64{}, uint64(0)
		const dots = 1 << 40
		for _, s := range c.Shares(0, dots, false) {
			if s.Dots%s.Tile != 0 || s.Chunk%s.Tile != 0 {
				t.Errorf("%+v has parts of tiles", s)
			}
			sum[kindOf(s)] += s.Dots
			all += s.Dots
		}
		got := map[string]int{}
		for kind, n := range sum {
			got[kind] = int((n*100 + dots/2) / dots)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || all > dots || all < dots-dots>>20 {
			t.Errorf("a batch of %d: %d of %d dot products: %s", tc.batch, all, uint64(dots), diff)
		}
	}
}

// slowDevice executes one batch at a time, for some time each. It counts what it
// does.
type slowDevice struct {
	batch time.Duration
	mu    sync.Mutex
	dots  int
	busy  time.Duration
}

func (d *slowDevice) run(in *mma.Batch) {
	if d.batch == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	began := time.Now()
	time.Sleep(d.batch)
	d.busy += time.Since(began)
	d.dots += in.Dots()
}

// BenchmarkDevice reports dot products a second of campaigns with a device that takes
// some time for a batch, and bound%: that in percent of what the slower of the two
// allows, the device (busy all the time) or all else (with a device that takes no
// time):
//
//	go test -run xxx -bench Device ./fuzz/engine
func BenchmarkDevice(b *testing.B) {
	const count = 1 << 19
	rate := func(d *slowDevice, workers int) float64 {
		began := time.Now()
		runCampaign(b, Config{Pairs: []devices.Pair{devicePair(b, d.run)}, Seed: 1, Count: count, Generators: []string{"cut"}, Workers: workers})
		return count / time.Since(began).Seconds()
	}
	for _, batch := range []time.Duration{20 * time.Microsecond, 100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond} {
		for _, workers := range []int{runtime.GOMAXPROCS(0), 0} {
			b.Run(fmt.Sprintf("%s/workers=%d", batch, workers), func(b *testing.B) {
				var dots, share float64
				for b.Loop() {
					free := rate(&slowDevice{}, workers)
					d := &slowDevice{batch: batch}
					dots = rate(d, workers)
					share = dots / min(free, float64(d.dots)/d.busy.Seconds())
				}
				b.ReportMetric(dots, "dots/s")
				b.ReportMetric(100*share, "bound%")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkInstantDevices reports, by the clock on the wall, how many tiles of 16 x 8 a second
// one worker makes and compares in a campaign with two devices that take no time, with a
// journal. Every 128 dot products count as a tile:
//
//	go test -run xxx -bench InstantDevices -count 5 ./fuzz/engine
func BenchmarkInstantDevices(b *testing.B) {
	const count = 1 << 28
	pair := devicePair(b, nil)
	zeros := func(_ *mma.Batch, out []byte) error {
		clear(out)
		return nil
	}
	pair.A = &eagerBox{blackBox{pair.A, zeros}, 4 * chunkMost}
	pair.B = &eagerBox{blackBox{pair.A, zeros}, 4 * chunkMost}
	for b.Loop() {
		runCampaign(b, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: count, Workers: 1, Journal: filepath.Join(b.TempDir(), "journal")})
	}
	b.ReportMetric(count/128*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtiles/s")
	b.ReportMetric(0, "ns/op")
}
