package study_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	_ "github.com/mmafuzz/mmafuzz/devices/reference" // ref:
	_ "github.com/mmafuzz/mmafuzz/devices/replay"    // replay:
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// find returns a study with a runner that has the given flags.
func find(t *testing.T, name string, args ...string) (*study.Study, study.Runner) {
	t.Helper()
	for _, s := range append(study.All(), study.GEMM) {
		if s.Name != name {
			continue
		}
		f := pflag.NewFlagSet(name, pflag.ContinueOnError)
		runner := s.New(f)
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		return &s, runner
	}
	t.Fatalf("no study %s", name)
	return nil, nil
}

// run makes a study.
func run(t *testing.T, name string, r study.Request, args ...string) *study.Result {
	t.Helper()
	s, runner := find(t, name, args...)
	res, err := s.Run(context.Background(), runner, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestLarge interrupts studies of so many inputs that they would neither end nor fit
// into memory.
func TestLarge(t *testing.T) {
	const unit = "sim:volta/mma.m8n8k4.f32.f16.f16.f32"
	for _, name := range []string{"bias", "bounds", "chain", "operations", "refine", "multiword"} {
		s, runner := find(t, name)
		r := study.Request{Targets: []string{unit}, Count: s.Most, Workers: 1}
		if r.Count == 0 {
			r.Count = 1 << 40
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := s.Run(ctx, runner, r, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if s.Most == 0 {
			continue
		}
		r.Count++
		if _, err := s.Run(t.Context(), runner, r, nil); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %d of what is kept in memory: %v", name, r.Count, err)
		}
	}
}

// table returns a table of a result.
func table(t *testing.T, res *study.Result, name string) *study.Table {
	t.Helper()
	for i := range res.Tables {
		if res.Tables[i].Name == name {
			return &res.Tables[i]
		}
	}
	t.Fatalf("no table %s", name)
	return nil
}

// asJSON is a result as people's programs get it.
func asJSON(t *testing.T, res *study.Result) string {
	t.Helper()
	body, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// small are a few settings of each study, with which it takes little time.
var small = []struct {
	study   string
	request study.Request
	args    []string
}{
	{"discrepancy", study.Request{Targets: []string{"sim:volta", "sim:turing"}, Seed: 1, Count: 256}, []string{"--rates-only"}},
	{"bounds", study.Request{Targets: []string{"sim:volta", "sim:cdna1"}, Seed: 1, Count: 100}, nil},
	{"bias", study.Request{Targets: []string{"sim:volta", "sim:cdna3/v_mfma_f32_32x32x8_f16"}, Seed: 1, Count: 256}, []string{"--steps", "4"}},
	{"operations", study.Request{Seed: 1, Count: 500}, nil},
	{"chain", study.Request{Targets: []string{"sim:volta", "sim:blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"}, Seed: 1, Count: 5}, []string{"--length", "3"}},
	{"gemm", study.Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:hopper/mma.m16n8k16.f32.f16.f16.f32"}, Seed: 1}, []string{"--m", "130", "--n", "70", "--k", "33"}},
	{"refine", study.Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:cdna1"}, Seed: 1, Count: 200}, nil},
	{"multiword", study.Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:cdna1/v_mfma_f32_16x16x16f16"}, Seed: 1, Count: 50}, []string{"--words", "3"}},
}

// TestInterrupted holds that a study that is interrupted after every fifth of its items (in the
// long tier after each) and then goes on with another number of workers has the result of one that
// is not.
func TestInterrupted(t *testing.T) {
	for _, c := range small {
		t.Run(c.study, func(t *testing.T) {
			c.request.Workers, c.request.Dir = 1, t.TempDir()
			want := asJSON(t, run(t, c.study, c.request, c.args...))
			s, runner := find(t, c.study, c.args...)
			c.request.Dir = t.TempDir()
			for parts := 0; ; parts += tier.Of(5, 5, 1) {
				ctx, cancel := context.WithCancel(context.Background())
				before := 0
				c.request.Workers = 2
				c.request.Progress = func(done, of int, what string) {
					if before++; before > parts {
						cancel()
					}
				}
				res, err := s.Run(ctx, runner, c.request, nil)
				cancel()
				if err == nil {
					if d := cmp.Diff(want, asJSON(t, res)); d != "" {
						t.Error(d)
					}
					if parts == 0 {
						t.Error("it was not interrupted")
					}
					return
				}
				if !errors.Is(err, context.Canceled) || parts > 1000 {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestOtherStudy refuses a directory that has another study.
func TestOtherStudy(t *testing.T) {
	s, runner := find(t, "discrepancy", "--rates-only")
	r := study.Request{Targets: []string{"sim:volta", "ref:exact"}, Seed: 1, Count: 128, Dir: t.TempDir()}
	if _, err := s.Run(context.Background(), runner, r, nil); err != nil {
		t.Fatal(err)
	}
	r.Seed = 2
	if _, err := s.Run(context.Background(), runner, r, nil); err == nil {
		t.Error("a journal of another seed is taken")
	}
}

// TestTable8 holds that every entry of Table 8 of arXiv:2511.10909 comes out.
func TestTable8(t *testing.T) {
	tier.SkipUnderRace(t)
	res := run(t, "discrepancy", study.Request{Seed: 1, Count: 128}, "--rates-only")
	if len(res.Failures) > 0 {
		t.Error(res.Failures)
	}
	if n := len(table(t, res, "table8").Rows); n != 31 {
		t.Errorf("%d entries, want 31", n)
	}
}

// TestPairs compares a Volta with a Turing: the first input on which they differ shrinks to
// 1 + 1 beside 2^24, each of which 24 bits of an alignment keep and 23 do not, and on normal numbers
// they differ often.
func TestPairs(t *testing.T) {
	res := run(t, "discrepancy", study.Request{Targets: []string{"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:turing/mma.m16n8k8.f32.f16.f16.f32"}, Seed: 1, Count: 1024})
	rows := table(t, res, "pairs").Rows
	if len(rows) != 1 {
		t.Fatalf("%d pairs", len(rows))
	}
	row := rows[0]
	if rate := row[4].(study.Number); rate < 30 || rate > 70 {
		t.Errorf("normal numbers: %v %% differ", rate)
	}
	got := []study.Cell{row[8], row[9], row[10]}
	if d := cmp.Diff([]study.Cell{"4b800000", "4b800001", "3c00,3c00 3c00,3c00 4b800000"}, got); d != "" {
		t.Error(d)
	}
}

// TestPairsOfOneProgram holds that instructions with the same arithmetic have the same smallest input,
// which is looked for once, and none beside each other.
func TestPairsOfOneProgram(t *testing.T) {
	const inst = "/mma.m16n8k8.f32.f16.f16.f32"
	res := run(t, "discrepancy", study.Request{Targets: []string{"sim:turing" + inst, "sim:ampere" + inst, "sim:ada" + inst, "sim:hopper" + inst}, Seed: 1, Count: 128})
	got := map[string]study.Cell{}
	for _, row := range table(t, res, "pairs").Rows {
		arch := func(c study.Cell) string { return strings.TrimPrefix(strings.TrimSuffix(c.(string), inst), "sim:") }
		got[arch(row[0])+" "+arch(row[1])] = row[10]
	}
	const witness = "3c00 3c00 b3000000"
	want := map[string]study.Cell{"turing ampere": "", "turing ada": "", "ampere ada": "", "turing hopper": witness, "ampere hopper": witness, "ada hopper": witness}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRecorded compares recorded inputs of one instruction, beside drawn ones of another.
func TestRecorded(t *testing.T) {
	const rec = "replay:../../corpus/recordings/zen4.rec"
	res := run(t, "discrepancy", study.Request{Targets: []string{rec, "sim:zen4/vdpbf16ps", "sim:volta", "sim:turing"}, Seed: 1, Count: 128}, "--rates-only")
	pairs := table(t, res, "pairs")
	seen := map[bool]int{} // recorded
	for _, row := range pairs.Rows {
		if len(row) != len(pairs.Head) {
			t.Fatalf("%d cells below %d heads", len(row), len(pairs.Head))
		}
		recorded := row[4] != ""
		if seen[recorded]++; recorded == (row[5] != "") {
			t.Errorf("%v", row)
		}
		if row[0] == rec+"/vdpbf16ps" && row[1] == "sim:zen4/vdpbf16ps" {
			if row[4] != study.Number(0) {
				t.Errorf("%v", row)
			}
			seen[true] += 1000
		}
	}
	if seen[true] < 1000 || seen[false] == 0 {
		t.Errorf("%v", seen)
	}
	if err := res.Save(t.TempDir(), "test"); err != nil {
		t.Error(err)
	}
}

// TestSaved holds that the page of a result that was read again is the same.
func TestSaved(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, c := range small {
		res := run(t, c.study, c.request, c.args...)
		dir := t.TempDir()
		if err := res.Save(dir, "test"); err != nil {
			t.Fatal(err)
		}
		again, err := study.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(asJSON(t, res), asJSON(t, again)); d != "" {
			t.Errorf("%s: %s", c.study, d)
		}
		if err := again.Save(t.TempDir(), "test"); err != nil {
			t.Errorf("%s: %v", c.study, err)
		}
	}
}

// TestBias looks at units whose bias follows from their rounding: FMAs in each direction,
// truncation, and an exact sum that is rounded to nearest.
func TestBias(t *testing.T) {
	res := run(t, "bias", study.Request{Seed: 1, Count: 512, Targets: []string{
		"sim:ampere/mma.m8n8k4.f64.f64.f64.f64", "sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rz", "sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rm", "sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rp",
		"sim:hopper/mma.m16n8k16.f32.f16.f16.f32", "sim:cdna1/v_mfma_f32_32x32x4f16", "ref:exact",
	}}, "--steps", "4")
	got := map[string]string{}
	t.Log(table(t, res, "bias").Note)
	for _, row := range table(t, res, "bias").Rows {
		got[row[0].(string)] = row[len(row)-1].(string)
		// 16 tests that are passed by chance with a probability of 1 %: each with one of 0.0625 %.
		z, zero := float64(row[4].(study.Number)), float64(row[6].(study.Number))
		if seen := max(math.Abs(z), math.Abs(zero)) > 3.4205; seen != (row[len(row)-1] != "none seen") {
			t.Errorf("%v: z = %v and %v", row, z, zero)
		}
		// Both kinds of errors have the same squares.
		mean, sd, toZero := float64(row[1].(study.Number)), float64(row[2].(study.Number)), float64(row[5].(study.Number))
		if own := toZero * math.Sqrt(512/(sd*sd+mean*mean-toZero*toZero)); math.Abs(zero-own) > 1e-6*math.Abs(own) {
			t.Errorf("%v: z towards zero is %v, want %v", row, zero, own)
		}
	}
	want := map[string]string{
		"sim:ampere/mma.m8n8k4.f64.f64.f64.f64":    "none seen",
		"sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rz": "towards zero",
		"sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rm": "down",
		"sim:ampere/mma.m8n8k4.f64.f64.f64.f64.rp": "up",
		"sim:hopper/mma.m16n8k16.f32.f16.f16.f32":  "towards zero",
		"sim:cdna1/v_mfma_f32_32x32x4f16":          "none seen",
		"ref:exact/fp64.fp64.fp64.fp64":            "none seen",
		"ref:exact/fp32.fp16.fp16.fp32":            "none seen",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestFigures holds that what Sun et al. print of operations and chains comes out.
func TestFigures(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, c := range []struct {
		study string
		count int
		table string
		rows  int
	}{
		{"operations", 20000, "operations", 30},
		{"chain", 20, "figure17", 6},
	} {
		res := run(t, c.study, study.Request{Seed: 1, Count: c.count})
		if len(res.Failures) > 0 {
			t.Error(res.Failures)
		}
		rows := table(t, res, c.table).Rows
		if len(rows) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.study, len(rows), c.rows)
		}
	}
}

// TestOverflow holds that chains in FP16 overflow, and that the exact sum is, in the first
// product, as near to FP32 arithmetic as that is to it.
func TestOverflow(t *testing.T) {
	res := run(t, "chain", study.Request{Seed: 1, Count: 10, Targets: []string{"sim:ampere/mma.m16n8k8.f32.f16.f16.f32", "ref:exact"}}, "--length", "16")
	rows := table(t, res, "chain").Rows
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if last := row[len(row)-1]; last != "overflow" {
			t.Errorf("%v: FP16 does not overflow", row[0])
		}
	}
	if got := rows[2][2].(study.Number); got > 1e-7 {
		t.Errorf("the exact sum differs from FP32 arithmetic by %v", got)
	}
}

// TestRefine holds that Table 5 comes out on the units of the paper; that both methods are
// much better than none, on FP16 and TF32; and that the search finds operands on which
// either is the worse one.
func TestRefine(t *testing.T) {
	res := run(t, "refine", study.Request{Seed: 1, Count: 500, Targets: []string{
		"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:turing/mma.m16n8k8.f32.f16.f16.f32", "sim:ampere/mma.m16n8k16.f32.f16.f16.f32", "sim:ampere/mma.m16n8k8.f32.tf32.tf32.f32"}})
	if len(res.Failures) > 0 {
		t.Error(res.Failures)
	}
	five := table(t, res, "table5").Rows
	if len(five) != 3 {
		t.Errorf("%d rows, want 3", len(five))
	}
	for _, row := range five {
		if row[1] != "1 + 2^-23" || row[3] != "1" || row[5] != "" && row[5] != "yes" {
			t.Errorf("%v", row)
		}
	}
	for _, row := range table(t, res, "refine").Rows {
		plain, markidis, ootomo, fp32 := row[1].(study.Number), row[2].(study.Number), row[3].(study.Number), row[4].(study.Number)
		if markidis > plain/20 || ootomo > plain/20 || ootomo > 2 || fp32 > 2 {
			t.Errorf("%v", row)
		}
	}
	for _, row := range table(t, res, "gaps").Rows {
		if gap := row[2].(study.Number); gap < 0.5 || gap > 100 {
			t.Errorf("%v", row)
		}
	}
}

// TestMultiword holds that FP64 operands in slices of few bits lose a factor of about 2^bits with
// each word, down to FP64's own error; that the unit's rounding stops words that use all bits of
// FP16 above 2^-30; that what is taken of FP8's small sums on Hopper, of 13 bits, is exact; and
// how many residues of integers are needed.
func TestMultiword(t *testing.T) {
	res := run(t, "multiword", study.Request{Seed: 1, Count: 100, Targets: []string{
		"sim:volta/mma.m8n8k4.f32.f16.f16.f32", "sim:ampere/mma.m16n8k16.f32.f16.f16.f32", "sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "sim:turing/mma.m8n8k16.s32.s8.s8.s32"}})
	bits := map[string]int{"sim:volta": 10, "sim:ampere": 9, "sim:hopper": 4, "sim:turing": 7}
	checked := 0
	for _, row := range table(t, res, "multiword").Rows {
		target, _, _ := strings.Cut(row[0].(string), "/")
		var errs []float64
		for _, cell := range row[4:] {
			if v, ok := cell.(study.Number); ok {
				errs = append(errs, float64(v))
			}
		}
		switch {
		case row[1] != "fp64" || row[3] == "all" || row[3] == "-":
			continue
		case row[2] == "residues" && (errs[3] < 0x1p-40 || errs[4] > 0x1p-52):
			t.Errorf("%v: 15 residues are the first to reach FP64", row)
		case row[2] == "words" && errs[5] < 0x1p-30:
			t.Errorf("%v: less than the unit's rounding", row)
		case row[2] == "slices" && errs[5] > max(0x1p-52, math.Ldexp(8, -6*bits[target])):
			t.Errorf("%v: more than six words leave", row)
		}
		for w := 1; w < 5 && row[2] == "slices"; w++ {
			if gain := errs[w-1] / errs[w]; gain < math.Ldexp(0.5, bits[target]) {
				t.Errorf("%v: word %d gains %g", row, w+1, gain)
			}
		}
		checked++
	}
	if checked != 8 || len(res.Plots) != 2 || len(res.Plots[1].Series) != 8 {
		t.Errorf("%d rows, %d plots", checked, len(res.Plots))
	}
}

var update = flag.Bool("update", false, "write PAPERS.md")

// TestPapers holds that PAPERS.md is what comes out, and that every entry that differs from
// what is printed has its reason.
func TestPapers(t *testing.T) {
	if !*update {
		tier.LongOnly(t)
	}
	res, err := study.Papers.Run(t.Context(), study.Papers.New(nil), study.Request{Seed: 1, Count: study.Papers.Count}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Failures {
		t.Error(f)
	}
	if n := len(table(t, res, "entries").Rows); n < 600 {
		t.Errorf("%d entries", n)
	}
	var got strings.Builder
	if err := res.Document("").Write(&got, "markdown", document.Options{}); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(got.String(), "`.\n\n") // the command of a study, which this is not
	now := "# Study papers\n\n" + study.Papers.Short + "\n\nGenerated by `go test ./triage/study -run Papers -update`.\n\n" + body
	if *update {
		if err := os.WriteFile("PAPERS.md", []byte(now), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile("PAPERS.md")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(page), now); d != "" {
		t.Errorf("PAPERS.md: %s\ngo test ./triage/study -run Papers -update writes it", d)
	}
}

// TestOpenSizes reads results of other people in which lists that belong together have
// different lengths.
func TestOpenSizes(t *testing.T) {
	for _, tc := range []struct{ result, want string }{
		{`{"tables": [{"name": "t", "head": ["a"], "rows": [["1"], ["1", "2"]]}]}`, `row 2 of table "t" has 2 cells, not 1`},
		{`{"plots": [{"title": "p", "series": [{"name": "s", "x": [1, 2], "y": [1]}]}]}`, `series "s" of plot "p" has 2 x and 1 y`},
		{`{"plots": [{"title": "p", "kind": "heat", "rows": ["r"], "columns": ["c"], "values": [[1], [1]]}]}`, `heat map "p" has 2 rows of values, not 1`},
		{`{"plots": [{"title": "p", "kind": "heat", "rows": ["r"], "columns": ["c"], "values": [[1, 0]]}]}`, `row 1 of heat map "p" has 2 values, not 1`},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(tc.result), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := study.Open(dir); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.result, err, tc.want)
		}
	}
}
