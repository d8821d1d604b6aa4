package gpu_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// wrapped is a kernel that a test comes between.
type wrapped struct {
	gpu.Loaded
	launch func(ctx context.Context, in, out []byte, tiles int) error
}

func (w *wrapped) Launch(ctx context.Context, in, out []byte, tiles int) error {
	return w.launch(ctx, in, out, tiles)
}

// unitOf returns the unit of a kernel on the lane simulator. wrap, if not nil,
// comes between.
func unitOf(t testing.TB, k *gpu.Kernel, wrap func(gpu.Loaded) gpu.Loaded) *gpu.Unit {
	t.Helper()
	loaded, err := lanes.Loader(model).Load(k)
	if err != nil {
		t.Fatal(err)
	}
	if wrap != nil {
		loaded = wrap(loaded)
	}
	u, err := gpu.NewUnit(k, loaded)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// units are instructions with tiles of many sizes.
var units = []string{
	"volta/mma.m8n8k4.f16.f16.f16.f16", "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m8n8k4.f64.f64.f64.f64",
	"hopper/wgmma.m64n8k32.f16.e4m3.e5m2", "hopper/wgmma.m64n8k32.f16.e4m3.e5m2.c0",
	"rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
	"cdna3/v_mfma_f32_16x16x32_fp8_bf8",
}

// some are all of units, or the small ones if the test is to be short: the lane
// simulator goes bit by bit.
func some() []string {
	if testing.Short() {
		return units[:3]
	}
	return units
}

func kernelOf(t testing.TB, name string) *gpu.Kernel {
	arch, inst, _ := strings.Cut(name, "/")
	return scrambled(rand.New(rand.NewPCG(1, 2)), instruction(t, arch, inst), 0)
}

// TestUnit runs batches of all shapes and lengths.
func TestUnit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range some() {
		k := kernelOf(t, name)
		u := unitOf(t, k, nil)
		if u.Model() != nil || u.Instruction() != k.Instruction {
			t.Errorf("%s: a GPU is no simulator", name)
		}
		for _, s := range []mma.Shape{
			{M: 1, N: 1, Tiles: 1}, {M: 1, N: 1, Tiles: 7}, {M: 1, N: 1, Tiles: 100}, {M: 1, N: 1, Tiles: 0},
			{M: k.M, N: k.N, Tiles: 1}, {M: k.M, N: k.N, Tiles: 5}, {M: 16, N: 8, Tiles: 3}, {M: 3, N: 2, Tiles: 9},
			{M: 1, N: 9, Tiles: 4}, {M: 70, N: 17, Tiles: 2}, {M: k.M, N: 1, Tiles: 2},
		} {
			s.K = k.Instruction.K
			check(t, rng, u, s)
			if k.Instruction.C == k.Instruction.D {
				s.K *= 3
				check(t, rng, u, s)
			}
		}
	}
}

// check compares a unit with the simulator on a batch of random codes.
func check(t *testing.T, rng *rand.Rand, u *gpu.Unit, s mma.Shape) {
	t.Helper()
	in := random(rng, u.Instruction(), s)
	got, want := make([]byte, s.Dots()*in.Formats.D.Width()), make([]byte, s.Dots()*in.Formats.D.Width())
	if err := u.Run(t.Context(), in, got); err != nil {
		t.Fatalf("%s %+v: %v", u.Instruction().FullName(), s, err)
	}
	run, err := model(u.Instruction())
	if err != nil {
		t.Fatal(err)
	}
	run(in, want)
	if !bytes.Equal(got, want) {
		t.Errorf("%s %+v: other results than the simulator's", u.Instruction().FullName(), s)
	}
}

// plain returns a kernel whose buffers are in the order of a batch's, and a device
// that copies C to D, fast.
func plain(t testing.TB) (*gpu.Kernel, gpu.Loaded) {
	t.Helper()
	i := instruction(t, "volta", "mma.m8n8k4.f16.f16.f16.f16")
	k := &gpu.Kernel{Instruction: i, Entry: "plain", M: 8, N: 8, Threads: 32}
	place := func(r gpu.Role, n, from int) gpu.Operand {
		o := gpu.Operand{Role: r, Bits: 16}
		for e := range n {
			o.At = append(o.At, from+16*e)
		}
		return o
	}
	k.In = []gpu.Operand{place(gpu.RoleA, 32, 0), place(gpu.RoleB, 32, 512), place(gpu.RoleC, 64, 1024)}
	k.Out, k.InBytes, k.OutBytes = place(gpu.RoleD, 64, 0), 256, 128
	return k, &wrapped{nil, func(_ context.Context, in, out []byte, tiles int) error {
		for n := range tiles {
			copy(out[128*n:128*(n+1)], in[256*n+128:])
		}
		return nil
	}}
}

// checkCopy runs a batch whose D is its C.
func checkCopy(t *testing.T, rng *rand.Rand, u *gpu.Unit, s mma.Shape) {
	in := random(rng, u.Instruction(), s)
	out := make([]byte, len(in.C))
	if err := u.Run(t.Context(), in, out); err != nil || !bytes.Equal(in.C, out) {
		t.Errorf("%+v: %v, or results in other places", s, err)
	}
}

// TestUnitInParts runs batches that are larger than a launch, from several
// goroutines, and looks at the launches: they overlap, and none is too large.
func TestUnitInParts(t *testing.T) {
	k, device := plain(t)
	var now, most, launches, largest atomic.Int64
	two, once := make(chan struct{}), sync.Once{}
	u, err := gpu.NewUnit(k, &wrapped{nil, func(ctx context.Context, in, out []byte, tiles int) error {
		launches.Add(1)
		raise(&largest, int64(tiles))
		raise(&most, now.Add(1))
		defer now.Add(-1)
		if now.Load() > 1 {
			once.Do(func() { close(two) })
		}
		select { // the first waits for a second one
		case <-two:
		case <-time.After(time.Minute):
			return errors.New("no launch while another runs")
		}
		return device.Launch(ctx, in, out, tiles)
	}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range 2 {
		rng := rand.New(rand.NewPCG(5, uint64(n)))
		wg.Go(func() { checkCopy(t, rng, u, mma.Shape{M: 1, N: 1, K: 4, Tiles: 70000}) })
		wg.Go(func() { checkCopy(t, rand.New(rand.NewPCG(6, uint64(n))), u, mma.Shape{M: 8, N: 8, K: 4, Tiles: 4500}) })
	}
	wg.Wait()
	if launches.Load() != 2*(3+2) || largest.Load() != 4096 {
		t.Errorf("%d launches, the largest of %d tiles", launches.Load(), largest.Load())
	}
	if limit := int64(max(2, runtime.GOMAXPROCS(0))); most.Load() > limit {
		t.Errorf("%d launches at a time, want at most %d", most.Load(), limit)
	}
}

func raise(v *atomic.Int64, to int64) {
	for old := v.Load(); old < to && !v.CompareAndSwap(old, to); old = v.Load() {
	}
}

// TestUnitErrors has launches that fail and contexts that end.
func TestUnitErrors(t *testing.T) {
	k, device := plain(t)
	broken := errors.New("launch failed")
	var launches atomic.Int64
	u, err := gpu.NewUnit(k, &wrapped{nil, func(ctx context.Context, in, out []byte, tiles int) error {
		if launches.Add(1) == 2 {
			return broken
		}
		return device.Launch(ctx, in, out, tiles)
	}})
	if err != nil {
		t.Fatal(err)
	}
	big := mma.NewBatch(k.Instruction.Formats, mma.Shape{M: 1, N: 1, K: 4, Tiles: 40 * 4096 * 8})
	out := make([]byte, 2*big.Dots())
	if err := u.Run(t.Context(), big, out); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
	if n := launches.Load(); n > 2+int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d launches after one that failed", n)
	}
	for _, tiles := range []int{1, 100000} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		small := mma.NewBatch(k.Instruction.Formats, mma.Shape{M: 1, N: 1, K: 4, Tiles: tiles})
		if err := u.Run(ctx, small, out[:2*tiles]); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the context's error", err)
		}
	}
	bad := *k
	bad.OutBytes++
	if _, err := gpu.NewUnit(&bad, nil); err == nil {
		t.Error("a unit with bad tables")
	}
	none := mma.NewBatch(k.Instruction.Formats, mma.Shape{M: 1, N: 1, K: 6, Tiles: 1})
	if err := u.Run(t.Context(), none, out[:2]); err == nil || !strings.Contains(err.Error(), "cannot be repeated") {
		t.Error(err)
	}
}

// TestUnitFault has a launch that faults, and others that fail because of it, before
// and after: the fault counts.
func TestUnitFault(t *testing.T) {
	k, _ := plain(t)
	fault := &devices.FaultError{Target: "test", What: "error 715"}
	for _, first := range []bool{true, false} {
		var launches atomic.Int64
		second := make(chan struct{})
		u, err := gpu.NewUnit(k, &wrapped{nil, func(context.Context, []byte, []byte, int) error {
			one := launches.Add(1) == 1
			if one {
				<-second // both are under way
			} else {
				close(second)
			}
			if one == first {
				return fault
			}
			return errors.New("the device is lost")
		}})
		if err != nil {
			t.Fatal(err)
		}
		in := mma.NewBatch(k.Instruction.Formats, mma.Shape{M: 8, N: 8, K: 4, Tiles: 2 * 4096})
		if err := u.Run(t.Context(), in, make([]byte, len(in.C))); err != fault {
			t.Errorf("%v, want %v", err, fault)
		}
	}
}

func ExampleSelfTest() {
	s := gpu.SelfTest{Failures: []gpu.Failure{{Test: "position independence", What: "D[0][0] is 1, and 2 among other dot products"}}}
	fmt.Println(s.String())
	fmt.Println(s.Err())
	// Output:
	// FAILED: position independence: D[0][0] is 1, and 2 among other dot products
	// it fails its self-test: position independence: D[0][0] is 1, and 2 among other dot products
}
