package ptx_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// rows are NVIDIA's instructions, with the chip of their architecture.
func rows(yield func(i *mma.Instruction, chip string) bool) {
	for _, a := range mma.Archs {
		if !strings.HasPrefix(a.Chip, "sm_") {
			continue
		}
		all := mma.Of(a.Name)
		for n := range all {
			if !yield(&all[n], a.Chip) {
				return
			}
		}
	}
}

// all are the kernels of all rows, for small tiles, all variants.
func all(t testing.TB) []*gpu.Kernel {
	t.Helper()
	var list []*gpu.Kernel
	for i, chip := range rows {
		m, n := ptx.Tile(i, 1, 1)
		ks, err := ptx.Kernels(i, chip, m, n)
		if err != nil {
			t.Logf("%s has no kernel yet: %v", i.FullName(), err) // TestDigest knows those that have one
			continue
		}
		list = append(list, ks...)
	}
	return list
}

// body is a kernel's text without what depends on the chip.
func body(k *gpu.Kernel) string {
	_, rest, _ := strings.Cut(k.Source, ".address_size")
	return rest
}

// model is the simulator of an instruction; one that nobody knows is an exact sum,
// rounded once.
func model(t testing.TB, i *mma.Instruction) func(in *mma.Batch, out []byte) {
	t.Helper()
	p := i.Params
	if i.Refuse != "" {
		p = mma.Params{Acc: mma.To(i.D, fp.RNE)}
	}
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		t.Fatalf("%s: %v", i.FullName(), err)
	}
	return m.Run
}

// random returns a batch of random codes.
func random(rng *rand.Rand, f mma.Formats, s mma.Shape) *mma.Batch {
	b := mma.NewBatch(f, s)
	for _, o := range []struct {
		buf []byte
		id  fp.ID
	}{{b.A, f.A}, {b.B, f.B}, {b.C, f.C}, {b.SA, f.Scale}, {b.SB, f.Scale}} {
		if o.id == fp.None {
			continue
		}
		for n := range len(o.buf) / o.id.Width() {
			mma.Store(o.buf, o.id.Width(), n, rng.Uint64()&o.id.Get().CodeMask())
		}
	}
	return b
}

// TestKernels requires a kernel for every row, with tables that are complete and
// contradict nothing. Results go where C came from, word by word.
func TestKernels(t *testing.T) {
	seen := map[string]string{}
	for _, k := range all(t) {
		if err := k.Check(); err != nil {
			t.Error(err)
		}
		id := k.Target + " " + k.Entry
		if other, dup := seen[id]; dup {
			t.Errorf("%s is the entry of %s and of %s", id, other, k.Instruction.Name)
		}
		seen[id] = k.Instruction.Name
		if !strings.Contains(k.Source, ".target "+k.Target+"\n") || !strings.Contains(k.Source, ".visible .entry "+k.Entry+"(") {
			t.Errorf("%s: the text has another target or entry", id)
		}
		for n := range k.In {
			if c := &k.In[n]; c.Role == gpu.RoleC && c.Bits == k.Out.Bits {
				for e, at := range c.At {
					if at-k.Out.At[e] != c.At[0]-k.Out.At[0] {
						t.Fatalf("%s: c and d differ in their layout", id)
					}
				}
			}
		}
	}
}

// TestEmulate executes the text of every kernel: the tables, the addresses, the
// order of registers, descriptors and what stands around the instructions.
func TestEmulate(t *testing.T) {
	seen := map[string]bool{}
	for n, k := range all(t) {
		if seen[body(k)] || n%tier.Of(7, 3, 1) != 0 {
			continue
		}
		seen[body(k)] = true
		emulate(t, k)
	}
	for _, c := range []struct {
		arch, name string
		columns    []int
	}{
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", []int{16, 24, 64, 136, 248, 256}},
		{"hopper", "wgmma.m64n8k32.f16.e4m3.e5m2.c0", []int{40, 96, 256}},
		{"hopper", "wgmma.m64n8k8.f32.tf32.tf32", []int{48, 200}},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f16.f16.f16", []int{32, 80, 256}},
		{"blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e3m2.e2m1.c0", []int{64, 240}},
		{"blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m3.ue8m0", []int{48, 128}},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", []int{112}},
	} {
		for _, n := range c.columns[:tier.Of(1, 1, len(c.columns))] {
			for _, k := range kernelsOf(t, c.arch, c.name, n) {
				emulate(t, k)
			}
		}
	}
}

// TestLanes packs random tiles for every kernel, has the lane simulator execute
// them by the inverse of the tables, and unpacks the results.
func TestLanes(t *testing.T) {
	simulator := lanes.Loader(func(i *mma.Instruction) (func(in *mma.Batch, out []byte), error) { return model(t, i), nil })
	seen := map[string]bool{}
	for _, k := range all(t) {
		if seen[body(k)] {
			continue
		}
		seen[body(k)] = true
		loaded, err := simulator.Load(k)
		if err != nil {
			t.Fatal(err)
		}
		u, err := gpu.NewUnit(k, loaded)
		if err != nil {
			t.Fatal(err)
		}
		i := k.Instruction
		batch := random(rand.New(rand.NewPCG(1, uint64(i.K))), i.Formats, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: 2})
		size := batch.Dots() * i.D.Width()
		got, want := make([]byte, size), make([]byte, size)
		if err := u.Run(t.Context(), batch, got); err != nil {
			t.Errorf("%s %s: %v", k.Target, k.Entry, err)
			continue
		}
		model(t, i)(batch, want)
		if !bytes.Equal(got, want) {
			t.Errorf("%s %s: results differ", k.Target, k.Entry)
		}
	}
}

// kernelsOf are the kernels of an instruction for tiles of n columns, or the fewest.
func kernelsOf(t testing.TB, arch, name string, n int) []*gpu.Kernel {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := mma.FindArch(arch)
	m, least := ptx.Tile(i, 1, 1)
	ks, err := ptx.Kernels(i, a.Chip, m, max(n, least))
	if err != nil {
		t.Fatal(err)
	}
	return ks
}

// emulate compares what a kernel's text computes with the model, on some blocks
// and a number of tiles that leaves the last one not full.
func emulate(t *testing.T, k *gpu.Kernel) {
	t.Helper()
	if err := emulated(t, k); err != nil {
		t.Errorf("%s %s: %v", k.Target, k.Entry, err)
	}
}

func emulated(t *testing.T, k *gpu.Kernel) error {
	t.Helper()
	p, err := parse(k.Source)
	if err != nil {
		return err
	}
	if p.threads != k.Threads {
		return fmt.Errorf("the text has %d threads, the kernel %d", p.threads, k.Threads)
	}
	tiles, blocks := 5, 2 // in a loop
	if k.Tiles > 0 {
		tiles = k.Tiles + 1
		blocks = (tiles + k.Tiles - 1) / k.Tiles
	}
	rng := rand.New(rand.NewPCG(uint64(k.Instruction.K), uint64(k.N)))
	batch := random(rng, k.Instruction.Formats, mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: tiles})
	pack, err := gpu.NewPacker(k)
	if err != nil {
		return err
	}
	in, out := make([]byte, tiles*k.InBytes), make([]byte, tiles*k.OutBytes)
	if err := pack.Pack(in, batch); err != nil {
		return err
	}
	run := model(t, k.Instruction)
	if err := p.launch(blocks, tiles, in, out, func() matrixUnit { return &unit{inst: k.Instruction, run: run} }); err != nil {
		return err
	}
	size := batch.Dots() * k.Instruction.D.Width()
	got, want := make([]byte, size), make([]byte, size)
	if err := pack.Unpack(got, out); err != nil {
		return err
	}
	run(batch, want)
	if !bytes.Equal(got, want) {
		return errors.New("results differ")
	}
	return nil
}

// TestEmulateFinds damages texts and tables: the emulator must notice.
func TestEmulateFinds(t *testing.T) {
	const (
		warp   = "mma.m16n8k16.f32.f16.f16.f32"
		group  = "wgmma.m64n8k16.f32.f16.f16"
		tensor = "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m3.ue8m0"
	)
	for _, tc := range []struct{ arch, name, old, new string }{
		{"ampere", warp, "{%a0, %a1, %a2, %a3}", "{%a0, %a2, %a1, %a3}"},
		{"ampere", warp, "{%d0, %d1, %d2, %d3}", "{%d1, %d0, %d2, %d3}"},
		{"ampere", warp, "%b1, [%in+640]", "%b1, [%in+512]"},
		{"ampere", warp, "%lane, 31", "%lane, 15"},
		{"ampere", warp, "@%end ret", "mov.u32 %warp, 0"},
		{"ampere", warp, "setp.ge.u32", "setp.lt.u32"},
		{"ampere", warp, "%tile, 1280, %in", "%tile, 1152, %in"},
		{"ampere", warp, "row.col.f32.f16.f16.f32", "row.col.f32.bf16.bf16.f32"},
		{"ampere", "mma.sp.m16n8k32.f32.f16.f16.f32", "%e0, 0", "%a0, 0"},
		{"ampere", "mma.m16n8k64.s32.s4.s4.s32.satfinite", ".col.satfinite", ".col"},
		{"ampere", "wmma.m32n8k16.f32.f16.f16.f32", "load.b.sync.aligned.col", "load.b.sync.aligned.row"},
		{"ampere", "wmma.m32n8k16.f32.f16.f16.f32", "[%in+1024], 16", "[%in+1024], 8"},
		{"rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", "%sa0, {0, 0}, %sb0", "%sb0, {0, 0}, %sa0"},
		{"rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", "%sa0, {0, 0}", "%sa0, {0, 1}"},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "row.col.", "col.row."},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "%t, 4, 1", "%t, 3, 1"},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "min.u32 %tile, %tile, %tiles", "min.u32 %tile, %tile, %tile"},
		{"hopper", group, "fence.proxy.async.shared::cta;\n", "\n"},
		{"hopper", group, "bar.sync 0;\n", "\n"},
		{"hopper", group, "wgmma.fence.sync.aligned;\n", "\n"},
		{"hopper", group, "wgmma.wait_group.sync.aligned 0;\n", "\n"},
		{"hopper", group, "%add, 1, 0", "%add, 0, 0"},
		{"hopper", group, "0x1000080000", "0x800100000"},
		{"hopper", group, "%descA, %descB, %add", "%descB, %descA, %add"},
		{"hopper", group, "%some, %lane, 16", "%some, %lane, 15"},
		{"blackwell", tensor, "fence.proxy.async.shared::cta;\n", "\n"},
		{"blackwell", tensor, "tcgen05.wait::st.sync.aligned;\n", "\n"},
		{"blackwell", tensor, "xor.b32 %phase", "or.b32 %phase"},
		{"blackwell", tensor, "%lane, 0x60", "%lane, 0x40"},
		{"blackwell", tensor, "[%sa], [%sb]", "[%sb], [%sa]"},
		{"blackwell", tensor, "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit"},
		{"blackwell", tensor, "%descB, 0x8", "%descB, 0x9"},
	} {
		k := kernelsOf(t, tc.arch, tc.name, 0)[0]
		damaged := *k
		damaged.Source = strings.Replace(k.Source, tc.old, tc.new, 1)
		if damaged.Source == k.Source {
			t.Errorf("%s: there is no %q:\n%s", tc.name, tc.old, k.Source)
		} else if err := emulated(t, &damaged); err == nil {
			t.Errorf("%s: %q for %q goes unnoticed", tc.name, tc.new, tc.old)
		}
	}
}
