package gpu_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// model is the simulator of an instruction, for package lanes.
func model(i *mma.Instruction) (func(in *mma.Batch, out []byte), error) {
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	return m.Run, nil
}

func instruction(t testing.TB, arch, name string) *mma.Instruction {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// shuffled makes an operand of n elements in containers of the given number of bits, in a
// random sequence from bit 0 on, or from bit from.
func shuffled(rng *rand.Rand, r gpu.Role, n, bits, from int) gpu.Operand {
	o := gpu.Operand{Role: r, Bits: bits}
	for _, p := range rng.Perm(n) {
		o.At = append(o.At, from+p*bits)
	}
	return o
}

// scrambled makes a kernel whose elements stand anywhere. An operand's container
// has at least the given bits.
func scrambled(rng *rand.Rand, i *mma.Instruction, bits int) *gpu.Kernel {
	k := &gpu.Kernel{Instruction: i, Entry: "scrambled", M: i.M.Min, N: i.N.Min, Threads: 32}
	at := 0
	add := func(r gpu.Role, n int, f fp.ID) {
		if f == fp.None {
			return
		}
		o := shuffled(rng, r, n, max(bits, int(f.Get().CodeBits())), at)
		o.Shift = o.Bits - int(f.Get().CodeBits())
		at += n * o.Bits
		k.In = append(k.In, o)
	}
	blocks := i.Blocks(i.K)
	add(gpu.RoleA, k.M*i.K, i.A)
	add(gpu.RoleB, k.N*i.K, i.B)
	add(gpu.RoleC, k.M*k.N, i.C)
	add(gpu.RoleSA, k.M*blocks, i.Scale)
	add(gpu.RoleSB, k.N*blocks, i.Scale)
	pad := gpu.Operand{Role: gpu.RoleConst, Bits: 1}
	for ; at%8 != 0 || len(pad.At) < 3; at++ {
		pad.At, pad.Fill = append(pad.At, at), append(pad.Fill, rng.Uint64()&1)
	}
	k.In = append(k.In, pad)
	k.InBytes = at / 8
	k.Out = shuffled(rng, gpu.RoleD, k.M*k.N, int(i.D.Get().CodeBits()), 0)
	k.OutBytes = k.M * k.N * k.Out.Bits / 8
	return k
}

// random returns a batch of random codes.
func random(rng *rand.Rand, i *mma.Instruction, s mma.Shape) *mma.Batch {
	b := mma.NewBatch(i.Formats, s)
	fill := func(buf []byte, f fp.ID) {
		if f == fp.None {
			return
		}
		w := f.Width()
		for n := range len(buf) / w {
			mma.Store(buf, w, n, rng.Uint64()&f.Get().CodeMask())
		}
	}
	fill(b.A, i.A)
	fill(b.B, i.B)
	fill(b.C, i.C)
	fill(b.SA, i.Scale)
	fill(b.SB, i.Scale)
	return b
}

// TestPack executes packed tiles on the lane simulator, whatever the layout.
func TestPack(t *testing.T) {
	for _, name := range []string{
		"volta/mma.m8n8k4.f16.f16.f16.f16", "hopper/mma.m16n8k16.f32.bf16.bf16.f32", "hopper/mma.m16n8k8.f32.tf32.tf32.f32",
		"hopper/mma.m8n8k4.f64.f64.f64.f64", "hopper/wgmma.m64n8k32.f16.e4m3.e5m2.c0",
		"rtx-blackwell/mma.m16n8k32.kind::f8f6f4.f16.e3m2.e2m1.f16",
		"rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
	} {
		arch, inst, _ := strings.Cut(name, "/")
		for _, bits := range []int{0, 7, 8, 16, 32, 37, 64} {
			testPack(t, instruction(t, arch, inst), bits)
		}
	}
}

func testPack(t *testing.T, i *mma.Instruction, bits int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(bits)))
	k := scrambled(rng, i, bits)
	p, err := gpu.NewPacker(k)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := lanes.Loader(model).Load(k)
	if err != nil {
		t.Fatal(err)
	}
	const tiles = 3
	batch := random(rng, i, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: tiles})
	in, out := make([]byte, tiles*k.InBytes), make([]byte, tiles*k.OutBytes)
	rand.NewChaCha8([32]byte{}).Read(in) // what a buffer had before
	if err := p.Pack(in, batch); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Launch(t.Context(), in, out, tiles); err != nil {
		t.Fatalf("%s, %d bits: %v", i.FullName(), bits, err)
	}
	got, want := make([]byte, batch.Dots()*i.D.Width()), make([]byte, batch.Dots()*i.D.Width())
	if err := p.Unpack(got, out); err != nil {
		t.Fatal(err)
	}
	run, _ := model(i)
	run(batch, want)
	if !bytes.Equal(got, want) {
		t.Errorf("%s, %d bits: results differ", i.FullName(), bits)
	}
}

// TestCheck damages a correct kernel.
func TestCheck(t *testing.T) {
	i := instruction(t, "rtx-blackwell", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0")
	for _, tc := range []struct {
		name   string
		damage func(*gpu.Kernel)
		want   string
	}{
		{"none", func(*gpu.Kernel) {}, ""},
		{"overlap", func(k *gpu.Kernel) { k.In[1].At[7] = k.In[0].At[9] + 2 }, "belongs to \"a\" and to element 7 of \"b\""},
		{"twice", func(k *gpu.Kernel) { k.In[0].At[0] = k.In[0].At[1] }, "belongs to \"a\" and to element 1 of \"a\""},
		{"gap", func(k *gpu.Kernel) { k.InBytes++ }, "belongs to nothing"},
		{"gap in the output", func(k *gpu.Kernel) { k.OutBytes++ }, "output: bit 4096 belongs to nothing"},
		{"outside", func(k *gpu.Kernel) { k.In[2].At[5] = 8 * k.InBytes }, "element 5 at bit"},
		{"negative", func(k *gpu.Kernel) { k.In[2].At[5] = -1 }, "element 5 at bit -1 is outside"},
		{"missing element", func(k *gpu.Kernel) { k.In[0].At = k.In[0].At[1:] }, "operand \"a\": 1023 places for 1024 elements"},
		{"no elements", func(k *gpu.Kernel) { k.In[3].At = nil }, "operand \"sa\": 0 places for 32 elements"},
		{"missing operand", func(k *gpu.Kernel) { k.In = k.In[1:] }, "0 operands \"a\", want 1"},
		{"two operands", func(k *gpu.Kernel) { k.In = append(k.In, k.In[4]) }, "2 operands \"sb\", want 1"},
		{"an output as input", func(k *gpu.Kernel) { k.In = append(k.In, k.Out) }, "1 outputs among the inputs"},
		{"wrong output", func(k *gpu.Kernel) { k.Out.Role = gpu.RoleC }, "the output is \"c\""},
		{"small container", func(k *gpu.Kernel) { k.In[0].Bits = 3 }, "4 bits shifted by 0 do not fit 3 bits"},
		{"shift", func(k *gpu.Kernel) { k.In[3].Shift = 1 }, "8 bits shifted by 1 do not fit 8 bits"},
		{"huge container", func(k *gpu.Kernel) { k.In[0].Bits = 65 }, "a container of 65 bits"},
		{"fill", func(k *gpu.Kernel) { k.In[5].Fill[2] = 2 }, "word 2, 0x2, has more than 1 bits"},
		{"fills", func(k *gpu.Kernel) { k.In[5].Fill = k.In[5].Fill[1:] }, "words for"},
		{"rows", func(k *gpu.Kernel) { k.M = 8 }, "no tile has 8 rows and 8 columns"},
	} {
		k := scrambled(rand.New(rand.NewPCG(3, 4)), i, 0)
		tc.damage(k)
		_, err := gpu.NewPacker(k)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
}

// TestLanesRefuse gives the lane simulator inputs that no packer makes.
func TestLanesRefuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	i := instruction(t, "rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e2m1.e2m1.f32")
	k := scrambled(rng, i, 8)
	loaded, err := lanes.Loader(model).Load(k)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gpu.NewPacker(k)
	if err != nil {
		t.Fatal(err)
	}
	in, out := make([]byte, k.InBytes), make([]byte, k.OutBytes)
	for _, tc := range []struct {
		bit  int
		want string
	}{
		{k.In[0].At[17], `tile 0: operand "a": element 17 is`}, // below the code
		{k.In[3].At[2], `tile 0: operand "const": word 2 is`},
		{k.In[0].At[17] + 4, ""}, // a bit of the code
	} {
		if err := p.Pack(in, random(rng, i, mma.Shape{M: 16, N: 8, K: 32, Tiles: 1})); err != nil {
			t.Fatal(err)
		}
		in[tc.bit/8] ^= 1 << (tc.bit % 8)
		err := loaded.Launch(t.Context(), in, out, 1)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("bit %d: %v, want %s", tc.bit, err, tc.want)
		}
	}
	if err := loaded.Launch(t.Context(), in, out, 2); err == nil {
		t.Error("two tiles in buffers for one")
	}
	if err := p.Pack(in, random(rng, i, mma.Shape{M: 16, N: 8, K: 64, Tiles: 1})); err == nil {
		t.Error("packed a batch of another K")
	}
	if err := p.Pack(in[1:], random(rng, i, mma.Shape{M: 16, N: 8, K: 32, Tiles: 1})); err == nil {
		t.Error("packed into a buffer that is too small")
	}
	if err := p.Unpack(make([]byte, 5), out); err == nil {
		t.Error("unpacked into a buffer that is too small")
	}
}

// TestCopies gives an instruction two copies of an operand, as gfx11 wants them.
func TestCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	i := instruction(t, "ampere", "mma.m16n8k8.f32.f16.f16.f32")
	k := scrambled(rng, i, 0)
	again := shuffled(rng, gpu.RoleA, 16*8, 16, 8*k.InBytes)
	k.In[0].At = append(k.In[0].At, again.At...)
	k.InBytes += 16 * 8 * 2
	p, err := gpu.NewPacker(k)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := lanes.Loader(model).Load(k)
	if err != nil {
		t.Fatal(err)
	}
	in, out := make([]byte, k.InBytes), make([]byte, k.OutBytes)
	if err := p.Pack(in, random(rng, i, mma.Shape{M: 16, N: 8, K: 8, Tiles: 1})); err != nil {
		t.Fatal(err)
	}
	if err := loaded.Launch(t.Context(), in, out, 1); err != nil {
		t.Error(err)
	}
	in[again.At[3]/8] ^= 1
	if err := loaded.Launch(t.Context(), in, out, 1); err == nil || !strings.Contains(err.Error(), "copies of an element differ") {
		t.Errorf("a different copy: %v", err)
	}
}

func BenchmarkPack(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"} {
		b.Run(name, func(b *testing.B) {
			i := instruction(b, "rtx-blackwell", name)
			k := scrambled(rng, i, 0)
			p, err := gpu.NewPacker(k)
			if err != nil {
				b.Fatal(err)
			}
			const tiles = 256
			batch := random(rng, i, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: tiles})
			in, out := make([]byte, tiles*k.InBytes), make([]byte, tiles*k.OutBytes)
			d := make([]byte, batch.Dots()*4)
			for b.Loop() {
				if err := p.Pack(in, batch); err != nil {
					b.Fatal(err)
				}
				if err := p.Unpack(d, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch.Dots())*float64(b.N)/b.Elapsed().Seconds(), "dots/s")
		})
	}
}
