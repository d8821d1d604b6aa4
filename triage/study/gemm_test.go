package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// gemmOf makes a gemm with flags.
func gemmOf(t *testing.T, args ...string) *gemm {
	t.Helper()
	f := pflag.NewFlagSet("gemm", pflag.ContinueOnError)
	g := gemmStudy.New(f).(*gemm)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSlices lists which steps each accumulator takes, of seven.
func TestSlices(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "[[0 1 2 3 4 5 6]]"},
		{"--order=descending", "[[6 5 4 3 2 1 0]]"},
		{"--split-k=3", "[[0 1 2] [3 4] [5 6]]"},
		{"--split-k=3 --split=interleaved", "[[0 3 6] [1 4] [2 5]]"},
		{"--split-k=3 --order=descending", "[[6 5 4] [3 2] [1 0]]"},
		{"--split-k=100", "[[0] [1] [2] [3] [4] [5] [6]]"},
		{"--promote=3", "[[0 1 2] [3 4 5] [6]]"},
	} {
		if got := fmt.Sprint(gemmOf(t, strings.Fields(c.args)...).slices(7)); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

// TestGEMM compares every element of odd-sized products with what the model gives for its
// row and column, taken apart and put together here in another way.
func TestGEMM(t *testing.T) {
	for _, name := range [][2]string{{"volta", "mma.m8n8k4.f32.f16.f16.f32"}, {"hopper", "mma.m16n8k16.f16.f16.f16.f16"}, {"cdna2", "v_mfma_f64_16x16x4f64"},
		{"blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"}} {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			t.Fatal(err)
		}
		u, err := simulated.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"", "--split-k=2 --reduce=pairwise --order=descending", "--split-k=3 --split=interleaved", "--promote=2 --dist=dnn"} {
			g := gemmOf(t, append(strings.Fields(args), "--m=67", "--n=3", "--k=75")...)
			if err := g.check(); err != nil {
				t.Fatal(err)
			}
			g.seed, g.distributionOf = 5, standardNormal
			got, err := g.multiply(context.Background(), &unit{Unit: u, name: i.Name}, &Request{})
			if err != nil {
				t.Fatal(err)
			}
			for row := range g.m {
				for column := range g.n {
					if got, want := mma.Load(got, i.D.Width(), row*g.n+column), elementByHand(t, g, i, row, column); got != want {
						t.Fatalf("%s %s: d[%d,%d] is %x, want %x", i.FullName(), args, row, column, got, want)
					}
				}
			}
		}
	}
}

// elementByHand computes an element of D, one execution after the other.
func elementByHand(t *testing.T, g *gemm, i *mma.Instruction, row, column int) uint64 {
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	steps := (g.k + i.K - 1) / i.K
	line := func(which, n int) ([]uint64, []uint64) {
		values := make([]float64, steps*i.K)
		g.line(which, n, values[:g.k])
		id := []fp.ID{i.A, i.B}[which]
		codes, scales := make([]byte, len(values)*id.Width()), make([]byte, len(values))
		putQuantized(&quantizer{id.Get(), i.Scale, int(i.Block)}, codes, scales, values, false)
		var c, s []uint64
		for n := range values {
			c = append(c, mma.Load(codes, id.Width(), n))
			s = append(s, uint64(scales[n]))
		}
		return c, s
	}
	a, sa := line(0, row)
	b, sb := line(1, column)
	f := i.D.Get()
	var sums []uint64
	for _, part := range g.slices(steps) {
		d := mma.NewDot(i.Formats, i.K)
		for _, s := range part {
			copy(d.A, a[s*i.K:])
			copy(d.B, b[s*i.K:])
			blocks := i.Blocks(i.K)
			copy(d.SA, sa[s*blocks:])
			copy(d.SB, sb[s*blocks:])
			d.C = m.Dot(d, nil)
		}
		sums = append(sums, d.C)
	}
	add := func(x, y uint64) uint64 {
		switch i.D {
		case fp.FP32:
			return uint64(math.Float32bits(math.Float32frombits(uint32(x)) + math.Float32frombits(uint32(y))))
		case fp.FP64:
			return math.Float64bits(math.Float64frombits(x) + math.Float64frombits(y))
		}
		return f.FromFloat64(f.Float64(x) + f.Float64(y))
	}
	for len(sums) > 1 {
		if g.reduce == "pairwise" && len(sums) > 3 {
			t.Fatal("by hand, pairwise is sequential up to three")
		}
		sums = append([]uint64{add(sums[0], sums[1])}, sums[2:]...)
	}
	return sums[0]
}

// TestGEMMFiles multiplies matrices of files, in another order of elements and bytes, and
// codes; and refuses what has no product.
func TestGEMMFiles(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 1))
	write := func(name string, m *npy.Matrix) string {
		file := filepath.Join(dir, name)
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m.Data = make([]byte, m.Rows*m.Columns*m.Width)
		for n := range m.Rows * m.Columns {
			mma.Store(m.Data, m.Width, n, fp.FP16.Get().FromFloat64(rng.NormFloat64()))
		}
		if err := npy.Write(f, m); err != nil {
			t.Fatal(err)
		}
		return file
	}
	a := write("a.npy", &npy.Matrix{Rows: 5, Columns: 20, Float: true, Width: 2})
	b := write("b.npy", &npy.Matrix{Rows: 20, Columns: 7, Width: 2}) // codes
	bytes := write("bytes.npy", &npy.Matrix{Rows: 20, Columns: 7, Width: 1})
	text := filepath.Join(dir, "text.npy")
	if err := os.WriteFile(text, []byte("1 2 3"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := gemmStudy
	product := func(args ...string) (*Result, error) {
		return s.Run(context.Background(), gemmOf(t, args...), Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32"}, Dir: filepath.Join(dir, fmt.Sprint(rng.Uint64()))}, nil)
	}
	res, err := product("--a", a, "--b", b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("Products of 5 x 20 and 20 x 7", res.Tables[0].Title); d != "" {
		t.Error(d)
	}
	for _, c := range []struct{ args, want string }{
		{"--a " + a, "--a and --b go together"},
		{"--a " + b + " --b " + a, "they have no product"},
		{"--a " + a + " --b " + text, "text.npy: this is not an .npy file"},
		{"--a " + a + " --b " + bytes, "integers of 1 bytes are no codes of fp16, which have 2"},
		{"--a " + a + " --b " + filepath.Join(dir, "none.npy"), "none.npy"},
		{"--a " + a + " --b " + b + " --c " + a, "a.npy is 5 x 20, but the product is 5 x 7"},
		{"--m 0", "each is at least 1"},
		{"--m 1000000 --k 1000000", "each matrix has at most"},
		{"--order up", `--order is "up", not ascending or descending`},
		{"--split-k 2 --promote 2", "exclude each other"},
	} {
		if _, err := product(strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}
