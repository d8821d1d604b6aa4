package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// gemmOf makes a gemm with flags.
func gemmOf(t *testing.T, args ...string) *gemmStudy {
	t.Helper()
	f := pflag.NewFlagSet("gemm", pflag.ContinueOnError)
	g := GEMM.New(f).(*gemmStudy)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGEMM compares every element of odd-sized products with what the judge gives for its row
// and column.
func TestGEMM(t *testing.T) {
	for _, c := range []struct{ kernel, args string }{
		{"sim:volta/mma.m8n8k4.f32.f16.f16.f32", ""},
		{"sim:hopper/mma.m16n8k16.f16.f16.f16.f16@split-k", "--dist=dnn"},
		{"sim:cdna2/v_mfma_f64_16x16x4f64@gemv", ""},
		{"mxfp8", ""},
		{"deepgemm", "--k=300"},
		{"cutlass-2xacc", ""},
	} {
		g := gemmOf(t, append([]string{"--m=67", "--n=3", "--k=75"}, strings.Fields(c.args)...)...)
		g.seed, g.distributionOf = 5, standardNormal
		ks, done, err := g.kernels(context.Background(), &Request{Targets: []string{c.kernel}, unstable: new([]string)})
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		k := ks[0]
		o, err := g.operands(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.multiply(context.Background(), k, &Request{})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < g.m*g.n; n += 7 {
			if got, want := mma.Load(got.codes, got.f.Width(), n), byJudge(g, k, o, n/g.n, n%g.n); got != want {
				t.Fatalf("%s: d[%d,%d] is %x, want %x", c.kernel, n/g.n, n%g.n, got, want)
			}
		}
	}
}

// byJudge returns an element of D as the judge computes it.
func byJudge(g *gemmStudy, k *gemmKernel, o *gemm.Operands, row, column int) uint64 {
	e := &oracle.Element{Shape: g.shape(), Row: row, Column: column, Alpha: o.Alpha, Beta: o.Beta}
	line := func(buf []byte, id fp.ID, n, each int) (codes []uint64) {
		for i := range each {
			codes = append(codes, mma.Load(buf, id.Width(), n*each+i))
		}
		return codes
	}
	u := k.unit
	e.A, e.B = line(o.A, u.A, row, g.k), line(o.B, u.B, column, g.k)
	if u.Scale != fp.None {
		blocks := (g.k + int(u.Block) - 1) / int(u.Block)
		e.SA, e.SB = line(o.SA, u.Scale, row, blocks), line(o.SB, u.Scale, column, blocks)
	}
	of := func(all []uint64, b *schedule.Blocks, n int) []uint64 {
		if b == nil || b.Lines == 0 {
			return all
		}
		return all[n/b.Lines*b.Along(g.k):]
	}
	e.ScaleA, e.ScaleB = of(o.ScaleA, k.kernel.ScaleA, row), of(o.ScaleB, k.kernel.ScaleB, column)
	code, _ := oracle.EvalKernel(k.kernel, e)
	return code
}

// TestExpected compares products with one of another schedule, and names what is different.
func TestExpected(t *testing.T) {
	tier.SkipUnderRace(t)
	dir := t.TempDir()
	const half = "sim:ampere/mma.m16n8k16.f32.f16.f16.f32"
	for _, c := range []struct{ truth, kernel, label, words string }{
		{half + "@split-k-tail-lost", half + "@split-k", "tail", "the last 40 products (K mod 64 or 320) are dropped; or the last products of each part (its length mod 64) are dropped. With any of these changes"},
		{half, half + "@split-k", "split-k", "there is no cut by count 4"},
		{half + "@split-k", half, "split-k", "a new accumulator begins after every 256 products"},
		{"cutlass-2xacc", "fp8-fast", "split-k", "a new accumulator begins after every 128 products"},
		{half + "@split-k-tail-lost", half, "split-k+tail", "its schedule is that of split-k-tail-lost (mmafuzz gemm --list)"},
		{"naive", "naive", "-", ""},
		{"openblas-sgemm", "openblas-sgemm naive", "-", "openblas-sgemm has the bits of"},
		{half + "@dot-blocks", half + "@split-k", "k-order+lanes", "its schedule is that of dot-blocks"},
	}[:tier.Of(7, 7, 8)] {
		run := func(kernels string, args ...string) *Result {
			g := gemmOf(t, append([]string{"--m=40", "--n=20", "--k=1000"}, args...)...)
			res, err := GEMM.Run(context.Background(), g, Request{Targets: strings.Fields(kernels), Dir: filepath.Join(dir, fmt.Sprint(len(args), kernels)), Seed: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		run(c.truth)
		res := run(c.kernel, "--expect", filepath.Join(dir, fmt.Sprint(0, c.truth), "D0.npy"))
		last := res.Tables[len(res.Tables)-1]
		if label := last.Rows[len(last.Rows)-1][6]; label != c.label || !strings.Contains(strings.Join(res.Remarks, "\n"), c.words) || (c.label == "-" && c.words == "") != (len(res.Failures) == 0) {
			t.Errorf("%+v: %v\n%s", c, last.Rows, strings.Join(res.Remarks, "\n"))
		}
	}
}

// TestExpectedOtherwise compares a product of one accumulator with those that are cut in parts and have another
// field, too, and with those of other formats, which are cast by themselves.
func TestExpectedOtherwise(t *testing.T) {
	tier.SkipUnderRace(t)
	const half = "sim:ampere/mma.m16n8k16.f32.f16.f16.f32"
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "truth.json")
		if err := os.WriteFile(name, []byte(`{"v": 1, "name": "truth", "schedules": [{`+text), 0o666); err != nil {
			t.Fatal(err)
		}
		return half + "@" + name
	}
	run := func(dir, kernel string, args ...string) *Result {
		g := gemmOf(t, append([]string{"--m=20", "--n=10", "--k=500"}, args...)...)
		res, err := GEMM.Run(context.Background(), g, Request{Targets: []string{kernel}, Dir: dir, Seed: 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, c := range []struct{ truth, kernel, label, words string }{
		{`"levels": [{"cut": {"by": "size", "n": 128}, "merge": {"order": "forward", "parts": "bf16"}}]}]}`, half, "promotion+split-k", "after every 128 products; and partial sums are rounded to bf16."},
		{`"levels": [{"cut": {"by": "size", "n": 64}, "merge": {"order": "reverse"}}]}]}`, half + "@split-k-tail-lost", "unexplained", "those of mmafuzz gemm --list"},
		{`"levels": [{"cut": {"by": "size", "n": 64}, "merge": {"order": "reverse"}}]}]}`, half, "k-order+split-k", "after every 64 products; and partial sums are added in the order reverse, not forward."},
		{`}], "epilogue": [{"op": "cast", "format": "fp16"}]}`, half, "-", `rounded to fp16, which {"op": "cast", "format": "fp16"} at the end`},
		{`}], "epilogue": [{"op": "cast", "format": "bf16"}]}`, half, "-", `rounded to bf16, which {"op": "cast", "format": "bf16"} at the end`}, // codes
		{`}], "epilogue": [{"op": "cast", "format": "fp16", "round": "zero"}]}`, half, "epilogue", "cast rounds to zero."},
		{`}]}`, "sim:ampere/mma.m16n8k16.f16.f16.f16.f16", "unexplained", "are no numbers of fp16, the format of the product"},
	} {
		dir := t.TempDir()
		run(dir, file(c.truth))
		res := run(t.TempDir(), c.kernel, "--expect", filepath.Join(dir, "D0.npy"))
		last := res.Tables[len(res.Tables)-1]
		if label := last.Rows[0][6]; label != c.label || !strings.Contains(strings.Join(res.Remarks, "\n"), c.words) {
			t.Errorf("%+v: %v\n%s", c, last.Rows, strings.Join(res.Remarks, "\n"))
		}
	}
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
	a := write("a.npy", &npy.Matrix{Rows: 5, Columns: 20, Kind: 'f', Width: 2})
	b := write("b.npy", &npy.Matrix{Rows: 20, Columns: 7, Kind: 'u', Width: 2}) // codes
	bytes := write("bytes.npy", &npy.Matrix{Rows: 20, Columns: 7, Kind: 'u', Width: 1})
	text := filepath.Join(dir, "text.npy")
	if err := os.WriteFile(text, []byte("1 2 3"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := GEMM
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
		{"--a " + a + " --b " + bytes, "1-byte integers are no codes of fp16, which have 2 bytes"},
		{"--a " + a + " --b " + filepath.Join(dir, "none.npy"), "none.npy"},
		{"--a " + a + " --b " + b + " --c " + a, "a.npy is 5 x 20, but the product is 5 x 7"},
		{"--m 0", "each is at least 1"},
		{"--m 1000000 --k 1000000", "each matrix has at most"},
		{"--schedule up", `there is no schedule "up"`},
		{"--dist flat", `--dist is "flat", not normal`},
		{"--a " + a + " --b " + b + " --c " + a + " --transpose-b", "they have no product"},
	} {
		if _, err := product(strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestGEMMIntegers multiplies matrices of signed integers: they are numbers, whatever the format of the unit's
// operands, and its sums of integers are written as such.
func TestGEMMIntegers(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, id fp.ID, rows, columns int, values ...int64) string {
		file := filepath.Join(dir, name)
		codes := make([]byte, len(values)*id.Width())
		for n, v := range values {
			mma.Store(codes, id.Width(), n, uint64(v))
		}
		if err := kernel.WriteMatrix(file, id, rows, columns, codes); err != nil {
			t.Fatal(err)
		}
		return file
	}
	args := []string{
		"--a", write("a.npy", fp.S8, 2, 3, -128, 127, 5, 0, -7, 1),
		"--b", write("b.npy", fp.S8, 3, 2, -128, 2, 3, -1, 1, 100),
	}
	want := []float64{16770, 117, -20, 107}
	expect := []string{"--expect", write("d.npy", fp.S32, 2, 2, 16770, 117, -20, 107)}
	wide := filepath.Join(dir, "wide.npy")
	if err := os.WriteFile(wide, []byte("\x93NUMPY\x01\x00\x3c\x00{'descr':'<i8','fortran_order':False,'shape':(0,3)}        \n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := GEMM
	for n, target := range []string{"sim:ampere/mma.m16n8k32.s32.s8.s8.s32", "sim:volta/mma.m8n8k4.f32.f16.f16.f32"} {
		out := filepath.Join(dir, fmt.Sprint(n))
		res, err := s.Run(context.Background(), gemmOf(t, append(expect, args...)...), Request{Targets: []string{target}, Dir: out}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Failures) != 0 {
			t.Errorf("%s: %v", target, res.Failures)
		}
		d, err := readMatrix(filepath.Join(out, "D0.npy"))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range want {
			if got := d.id.Get().Float64(d.code(i/2, i%2)); got != v {
				t.Errorf("%s: element %d is %v in %s, want %v", target, i, got, d.id, v)
			}
		}
	}
	if _, err := s.Run(context.Background(), gemmOf(t, "--a", wide, args[2], args[3]), Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32"}}, nil); err == nil || !strings.Contains(err.Error(), "elements of type i8") {
		t.Errorf("64 bits: %v", err)
	}
}
