package hip

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chips are one of each architecture.
var chips = []string{"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200"}

// kernels returns the kernels of all instructions of a chip.
func kernels(t testing.TB, chip string) []*gpu.Kernel {
	t.Helper()
	arch, ok := mma.FindArch(chip)
	if !ok {
		t.Fatalf("%s is not known", chip)
	}
	var all []*gpu.Kernel
	for _, i := range mma.Of(arch.Name) {
		if isVector(&i) {
			continue // it has no kernel yet
		}
		k, err := Kernel(&i, chip)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	return all
}

// fill returns a batch of random codes.
func fill(rng *rand.Rand, k *gpu.Kernel, tiles int) *mma.Batch {
	f := k.Instruction.Formats
	b := mma.NewBatch(f, mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: tiles})
	for _, o := range []struct {
		codes []byte
		id    fp.ID
	}{{b.A, f.A}, {b.B, f.B}, {b.C, f.C}, {b.SA, f.Scale}, {b.SB, f.Scale}} {
		for n := range len(o.codes) / max(1, o.id.Width()) {
			mma.Store(o.codes, o.id.Width(), n, rng.Uint64()&o.id.Get().CodeMask())
		}
	}
	return b
}

// want returns what the batch gives.
func want(i *mma.Instruction, b *mma.Batch) []byte {
	out := make([]byte, b.Dots()*i.D.Width())
	dot := mma.NewDot(i.Formats, i.K)
	for n := range b.Dots() {
		b.Get(n, dot)
		mma.Store(out, i.D.Width(), n, fingerprint(i, dot))
	}
	return out
}

// TestBijection has every element at a place of its own, and every bit used.
func TestBijection(t *testing.T) {
	n := 0
	for _, chip := range chips {
		for _, k := range kernels(t, chip) {
			if err := k.Check(); err != nil {
				t.Error(err)
			}
			n++
		}
	}
	if n != 15+22+39+153+4+16 {
		t.Errorf("%d kernels", n)
	}
}

// TestLanes runs packed tiles on the lane simulator.
func TestLanes(t *testing.T) {
	model := func(i *mma.Instruction) (func(*mma.Batch, []byte), error) {
		return func(in *mma.Batch, out []byte) { copy(out, want(i, in)) }, nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, chip := range chips {
		for _, k := range kernels(t, chip) {
			loaded, err := lanes.Loader(model).Load(k)
			if err != nil {
				t.Fatal(err)
			}
			throughPacked(t, k, fill(rng, k, 2), func(in, out []byte, tiles int) error {
				return loaded.Launch(t.Context(), in, out, tiles)
			})
		}
	}
}

// TestWaves runs packed tiles as a kernel's waves do: registers are loaded where
// the kernel loads them, and the second statement of the layouts says what the
// instruction makes of them.
func TestWaves(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, chip := range chips {
		for _, k := range kernels(t, chip) {
			s := state(k.Instruction)
			if s.lanes != k.Threads || s.blocks != k.Tiles {
				t.Errorf("%s: %d lanes, %d tiles", k.Entry, k.Threads, k.Tiles)
				continue
			}
			throughPacked(t, k, fill(rng, k, 2*k.Tiles), func(in, out []byte, tiles int) error {
				for first := 0; first < tiles; first += k.Tiles {
					part := func(buf []byte, size int) []byte { return buf[first*size : (first+k.Tiles)*size] }
					if err := s.launch(k, part(in, k.InBytes), part(out, k.OutBytes)); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// throughPacked packs a batch, executes it and compares the results.
func throughPacked(t *testing.T, k *gpu.Kernel, b *mma.Batch, run func(in, out []byte, tiles int) error) {
	t.Helper()
	p, err := gpu.NewPacker(k)
	if err != nil {
		t.Fatal(err)
	}
	in, out := make([]byte, b.Tiles*k.InBytes), make([]byte, b.Tiles*k.OutBytes)
	if err := p.Pack(in, b); err != nil {
		t.Fatal(err)
	}
	if err := run(in, out, b.Tiles); err != nil {
		t.Errorf("%s: %v", k.Entry, err)
		return
	}
	got := make([]byte, b.Dots()*k.Instruction.D.Width())
	if err := p.Unpack(got, out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want(k.Instruction, b)) {
		t.Errorf("%s: results differ", k.Entry)
	}
}

// launch executes one wave.
func (s *statement) launch(k *gpu.Kernel, in, out []byte) error {
	r, word := registers{}, 0
	for _, o := range s.operands(k.Instruction) {
		r[o.name] = make([][]uint32, s.lanes)
		for l := range s.lanes {
			r[o.name][l] = make([]uint32, o.words)
			for n := range o.words {
				tile, at := s.place(o, l, n)
				r[o.name][l][n] = binary.LittleEndian.Uint32(in[tile*k.InBytes+4*(word+at):])
			}
		}
		word += o.words * s.lanes / s.blocks
	}
	d, err := s.execute(k.Instruction, r)
	if err != nil {
		return err
	}
	o := operandWords{"d", s.c.words(), max(1, s.c.slot/32), s.blocks > 1 && k.M != 4, k.N}
	for l := range s.lanes {
		for n := range o.words {
			tile, at := s.place(o, l, n)
			binary.LittleEndian.PutUint32(out[tile*k.OutBytes+4*at:], d[l][n])
		}
	}
	return nil
}

// operandWords is an operand in the packed input: words of a lane, how many of
// them follow each other, and whether tiles have registers of their own or lanes.
type operandWords struct {
	name      string
	words     int
	unit      int
	registers bool
	side      int
}

// operands lists the packed input.
func (s *statement) operands(i *mma.Instruction) []operandWords {
	unit := func(f *fragment) int {
		if f.slot == 6 {
			return 6
		}
		return max(1, f.slot/32)
	}
	all := []operandWords{
		{"a", s.a.words(), unit(&s.a), false, i.M.Min},
		{"b", s.b.words(), unit(&s.b), false, i.N.Min},
		{"c", s.c.words(), unit(&s.c), s.blocks > 1 && i.M.Min != 4, i.N.Min},
	}
	if s.kept > 0 {
		all = append(all, operandWords{"index", 1, 1, false, 1})
	}
	if s.scaleBlocks > 0 {
		all = append(all, operandWords{"scale_a", 1, 1, false, 1}, operandWords{"scale_b", 1, 1, false, 1})
	}
	return all
}

// place returns the tile of a lane's word n, and where it is among the operand's
// words of that tile.
func (s *statement) place(o operandWords, lane, n int) (tile, at int) {
	lanes := s.lanes
	switch {
	case o.registers:
		each := o.words / s.blocks
		tile, n = n/each, n%each
	case s.blocks > 1:
		lanes /= s.blocks
		tile = lane / o.side % s.blocks
		lane = lane%o.side + lane/o.side/s.blocks*o.side
	}
	return tile, (n/o.unit*lanes+lane)*o.unit + n%o.unit
}
