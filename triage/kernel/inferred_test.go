package kernel

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// hidden returns a side whose partial sums are rounded to FP16, which hides in most products in how many lanes and
// in which order each was added.
func hidden(t *testing.T, lanes, order string) *Side {
	t.Helper()
	return sideOf(t, "", `{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward", "parts": "fp16"}},
		{"cut": {"by": "lanes", "n": `+lanes+`}, "merge": {"order": "`+order+`"}}`)
}

// TestAlike leaves a field out only where no product of the run tells its values apart.
func TestAlike(t *testing.T) {
	z := &Fuzz{A: hidden(t, "4", "halves"), B: hidden(t, "8", "halves"), Seed: 1}
	shapes, err := shapesOf(z.A, z.B)
	if err != nil {
		t.Fatal(err)
	}
	kernels := [2]*schedule.Kernel{z.A.Kernel, z.B.Kernel}
	var same []*drawn
	for _, p := range z.round(t.Context(), shapes, 0, perRound) {
		if p.err == nil && p.a.K > 16 && gives(t.Context(), kernels[0], p, 1) && len(same) < 3 {
			same = append(same, p)
		}
	}
	for _, c := range []struct {
		count int
		want  string
	}{{0, ""}, {2 * perRound, "schedules[0].levels[1].cut.n"}} {
		near := kernels
		told, err := z.alike(t.Context(), shapes, c.count, &near, 1, same)
		if err != nil || told != c.count {
			t.Fatal(told, err)
		}
		got := ""
		for _, f := range fieldsOf(near[0], near[1]) {
			got += f.Path
		}
		if got != c.want {
			t.Errorf("on %d products %q differ, want %q", c.count, got, c.want)
		}
	}
}

// kernelOf reads a kernel.
func kernelOf(t *testing.T, text string) *schedule.Kernel {
	t.Helper()
	k, err := schedule.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestFewestFields compares two black boxes whose schedules were inferred: fields differ that no other values of
// them, in either schedule, make fewer.
func TestFewestFields(t *testing.T) {
	const plain, half = `{"op": "fma", "in": "fp16", "acc": "fp32"}`, `{"op": "fma", "acc": "fp16"}`
	const lanes = `{"cut": {"by": "lanes", "n": 4}, "tail": {"of": 7, "into": "apart"}, "merge": {"order": "halves"}}`
	for _, c := range []struct{ unitA, levelsA, unitB, levelsB, fields, label string }{
		{plain, ``, half, `{"cut": {"by": "size", "n": 8}, "merge": {"order": "forward", "format": "fp32", "parts": "fp32"}}`,
			"levels[0].cut.by levels[0].cut.n levels[0].merge.format levels[0].merge.order unit.acc", "promotion+split-k+unit"},
		{half, `{"cut": {"by": "size", "n": 8}, "merge": {"order": "forward", "format": "fp32"}}`, plain, ``,
			"levels[0].cut.by levels[0].cut.n levels[0].merge.format levels[0].merge.order unit.acc", "promotion+split-k+unit"},
		{plain, ``, plain, `{"cut": {"by": "size", "n": 24}, "tail": {"of": 16, "into": "drop"}, "merge": {"order": "chain"}}`,
			"levels[0].tail.into levels[0].tail.of", "tail"},
		{plain, ``, plain, `{"cut": {"by": "size", "n": 16}, "merge": {"order": "chain-reverse"}}`, "levels[0].merge.order", "k-order"},
		{plain, `{"cut": {"by": "size", "n": 1}, "merge": {"order": "chain-reverse"}}`, plain, ``, "levels[0].merge.order", "k-order"},
		{plain, `{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves", "format": "fp32"}}`, plain, `{"cut": {"by": "lanes", "n": 4, "vector": 2}, "merge": {"order": "2-1"}}`,
			"levels[0].cut.vector", "lanes"},
		{plain, `{"cut": {"by": "size", "n": 12}, "merge": {"order": "forward"}}`, plain, `{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward", "parts": "fp16"}}`,
			"levels[0].merge.parts", "promotion"},
		{plain, lanes, plain, `{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward"}}, ` + lanes,
			"levels[0].cut.by levels[0].cut.n levels[0].merge.order", "split-k"},
		{plain, lanes, plain, `{"cut": {"by": "size", "n": 24}, "tail": {"of": 5, "into": "drop"}, "merge": {"order": "chain"}}, ` + lanes,
			"levels[0].tail.into levels[0].tail.of", "tail"},
		{plain, ``, plain, `{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}`, // a single change of A
			"levels[0].cut.by levels[0].cut.n levels[0].merge.order", "lanes"},
	} {
		i := mma.Instruction{K: 24, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}}
		kernels := map[string]*schedule.Kernel{}
		boxOf := func(name, unit, levels string) *Side {
			kernels[name] = kernelOf(t, `{"v": 1, "unit": `+unit+`, "schedules": [{"levels": [`+levels+`]}]}`)
			own := i
			own.Name = name
			return &Side{Name: name, Unit: &own, Box: map[int]devices.Unit{24: &boxUnit{&own, kernels[name]}}}
		}
		z := &Fuzz{A: boxOf("a", c.unitA, c.levelsA), B: boxOf("b", c.unitB, c.levelsB), Seed: 1, Count: 48}
		z.Infer = func(_ context.Context, u devices.Unit, _ schedule.Shape) (*schedule.Kernel, int, error) {
			return kernels[u.Instruction().Name], 1, nil
		}
		f, err := z.Run(t.Context())
		if err != nil || f.Sides == nil {
			t.Errorf("%+v, %v", f, err)
			continue
		}
		var fields []string
		for _, f := range f.Sides.Fields {
			fields = append(fields, strings.TrimPrefix(f.Path, "schedules[0]."))
		}
		if got := strings.Join(fields, " "); got != c.fields || f.Label() != c.label {
			t.Errorf("%s and %s: %s differ, %s; want %s, %s", c.levelsA, c.levelsB, got, f.Label(), c.fields, c.label)
		}
	}
}

// TestRegions compares a schedule that holds everywhere with those of two parts of D: only what a part has otherwise
// differs, and a level that is new has the usual order.
func TestRegions(t *testing.T) {
	of := func(schedules string) *schedule.Kernel {
		return kernelOf(t, `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp32"}, "schedules": [`+schedules+`]}`)
	}
	const blocks, edge = `{"levels": [{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward"}}]}`, `"where": [{"rows": "32-39"}]`
	for _, c := range []struct{ a, b, fields, label string }{
		{blocks, `{` + edge + `, "levels": [{"cut": {"by": "size", "n": 16}, "tail": {"of": 16, "into": "drop"}, "merge": {"order": "forward"}}]}, ` + blocks, "[0].levels[0].tail.into [0].levels[0].tail.of [0].where[0].rows", "tail"},
		{blocks, `{` + edge + `, "levels": [{"cut": {"by": "size", "n": 32}, "merge": {"order": "forward"}}]}, ` + blocks, "[0].levels[0].cut.n [0].where[0].rows", "split-k"},
		{`{` + edge + `, "levels": [{"cut": {"by": "size", "n": 32}, "merge": {"order": "forward"}}]}, ` + blocks, `{"where": [{"columns": "7"}]}, {` + edge + `, "levels": [{"cut": {"by": "size", "n": 32}, "merge": {"order": "forward"}}]}, ` + blocks, "[0].where[0].columns", "k-order"},
		{`{}`, blocks, "[0].levels[0].cut.by [0].levels[0].cut.n [0].levels[0].merge.order", "split-k"},
	} {
		a, b := of(c.a), of(c.b)
		s := &Sides{Fields: fieldsOf(a, b), kernels: [2]*schedule.Kernel{a, b}}
		var fields []string
		for _, f := range s.Fields {
			fields = append(fields, strings.TrimPrefix(f.Path, "schedules"))
		}
		if got := strings.Join(fields, " "); got != c.fields || s.Label() != c.label {
			t.Errorf("%s and %s: %s differ, %s; want %s, %s", c.a, c.b, got, s.Label(), c.fields, c.label)
		}
	}
}

// TestSameFactor takes a number by which both sides multiply from the other one where no product tells them apart.
func TestSameFactor(t *testing.T) {
	of := func(steps string) *schedule.Kernel {
		return kernelOf(t, `{"v": 1, "unit": {"op": "fma", "in": "bf16", "acc": "fp32"}, "schedules": [{}], "epilogue": [`+steps+`]}`)
	}
	const cast = `{"op": "cast", "format": "bf16"}`
	a := of(`{"op": "alpha", "factor": 0.088388346}, ` + cast)
	for factor, want := range map[string]string{
		"0.088388": "cast format bf16; alpha factor 0.088388346",
		"0.08":     "cast format bf16; alpha factor 0.08",
		"":         "cast format bf16",
	} {
		after := cast
		if factor != "" {
			after += `, {"op": "alpha", "factor": ` + factor + `}`
		}
		kernels := map[string]*schedule.Kernel{"a": a, "b": of(after)}
		boxOf := func(name string) *Side {
			i := &mma.Instruction{Name: name, K: 24, Formats: mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.BF16}}
			return &Side{Name: name, Unit: i, Box: map[int]devices.Unit{24: &boxUnit{i, kernels[name]}}}
		}
		z := &Fuzz{A: boxOf("a"), B: boxOf("b"), Seed: 1, Count: 48}
		z.Infer = func(_ context.Context, u devices.Unit, _ schedule.Shape) (*schedule.Kernel, int, error) {
			return kernels[u.Instruction().Name], 1, nil
		}
		f, err := z.Run(t.Context())
		if err != nil || f.Sides == nil || len(f.Sides.Fields) != 1 || f.Sides.Fields[0].B != want {
			t.Errorf("%s: %+v, %v", factor, f.Sides, err)
		}
	}
}

// TestExplainAgain finds the change that is right on all products, though one that is tried before it is right on
// the first ones.
func TestExplainAgain(t *testing.T) {
	lanes := func(order string) *Side {
		return sideOf(t, "", `{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "`+order+`"}}`)
	}
	z := &Fuzz{A: lanes("forward"), B: lanes("halves"), Seed: 1}
	shapes, err := shapesOf(z.A, z.B)
	if err != nil {
		t.Fatal(err)
	}
	found := &Found{A: "A", B: "B", Products: perRound}
	if err := z.explain(t.Context(), shapes, found, 0, []*drawn{z.product(t.Context(), shapes, 30)}); err != nil { // of which two lanes give the bits, too
		t.Fatal(err)
	}
	if found.Rest != 0 || found.Label() != "k-order" || found.Answer.Words != "partial sums are added in the order halves, not forward" {
		t.Errorf("%s, %d of %d fresh products differ", found.Answer.Words, found.Rest, found.Fresh)
	}
}

// TestInferredBundle writes the schedules of black boxes as they were inferred, and names the files that there are.
func TestInferredBundle(t *testing.T) {
	kernels := map[string]*Side{"one": sideOf(t, "", `{"cut": {"by": "size", "n": 100}, "merge": {"order": "forward"}}`), "other": hidden(t, "4", "halves")}
	boxOf := func(name string) *Side {
		i := &mma.Instruction{Name: name, K: 24, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}}
		return &Side{Name: name, Unit: kernels[name].Unit, Box: map[int]devices.Unit{24: &boxUnit{i, kernels[name].Kernel}}}
	}
	z := &Fuzz{A: boxOf("one"), B: boxOf("other"), Seed: 1, Count: 32}
	z.Infer = func(_ context.Context, u devices.Unit, _ schedule.Shape) (*schedule.Kernel, int, error) {
		return kernels[u.Instruction().Name].Kernel, 1, nil
	}
	f, err := z.Run(t.Context())
	if err != nil || f.Sides == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	dir, err := f.Save(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		if name := "`" + e.Name() + "`"; e.Name() != "README.md" && !strings.Contains(string(text), name) {
			t.Errorf("the README has no %s", name)
		}
	}
	for _, name := range slices.Concat(kernelFiles[:], changedFiles[:]) {
		if has := slices.Contains(names, name); has != slices.Contains(kernelFiles[:], name) || has != strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("%s is there: %v\n%s", name, has, text)
		}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 runs reproduce.py: ", err)
	}
	out, err := exec.Command(python, filepath.Join(dir, "reproduce.py")).CombinedOutput()
	if n := strings.Count(string(out), ", computed again\n"); err != nil || n != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

// boxUnit is a black box that multiplies as a kernel does.
type boxUnit struct {
	inst   *mma.Instruction
	kernel *schedule.Kernel
}

func (b *boxUnit) Instruction() *mma.Instruction { return b.inst }
func (b *boxUnit) Model() *mma.Params            { return nil }
func (b *boxUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	d, _, err := gemm.Multiply(ctx, b.kernel, &gemm.Operands{Shape: schedule.Shape{M: in.M, N: in.N, K: in.K}, A: in.A, B: in.B}, gemm.Options{Workers: 1})
	copy(out, d)
	return err
}
