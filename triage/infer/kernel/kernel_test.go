package kernel

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// library is a black box that multiplies matrices as a kernel does.
type library struct {
	inst   *mma.Instruction
	kernel *schedule.Kernel
}

func newLibrary(t *testing.T, k *schedule.Kernel, s schedule.Shape) *library {
	t.Helper()
	unit, err := k.Unit.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	areas, err := k.Layout(s, schedule.Given{})
	if err != nil {
		t.Fatal(err)
	}
	return matmul(mma.Formats{A: unit.A, B: unit.B, D: areas[0].Plan.D}, s, k)
}

func matmul(f mma.Formats, s schedule.Shape, k *schedule.Kernel) *library {
	one := func(n int) mma.Range { return mma.Range{Min: n, Max: n, Step: 1} }
	return &library{&mma.Instruction{Name: "matmul", M: one(s.M), N: one(s.N), K: s.K, Formats: f}, k}
}

func (l *library) Instruction() *mma.Instruction { return l.inst }
func (l *library) Model() *mma.Params            { return nil }
func (l *library) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	for t := range in.Tiles {
		p := in.Part(t, 1)
		d, _, err := gemm.Multiply(ctx, l.kernel, &gemm.Operands{Shape: schedule.Shape{M: in.M, N: in.N, K: in.K}, A: p.A, B: p.B}, gemm.Options{Workers: 1})
		if err != nil {
			return err
		}
		copy(out[t*len(d):], d)
	}
	return nil
}

func read(t *testing.T, text string) *schedule.Kernel {
	t.Helper()
	k, err := schedule.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func text(k *schedule.Kernel) string {
	if k == nil {
		return "none"
	}
	var b strings.Builder
	_ = k.Write(&b)
	return b.String()
}

// TestInfer infers kernels that are known, and computes the judge's results with what is
// found.
func TestInfer(t *testing.T) {
	for n, tc := range []struct {
		name, kernel string
		shape        schedule.Shape
	}{
		{"chain", `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{}]}`, schedule.Shape{M: 4, N: 4, K: 37}},
		{"blocks", `{"v": 1, "unit": {"op": "mul-add", "acc": "fp64"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 32, "rest": "halve", "grain": 8}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 1, N: 1, K: 100}},
		{"lanes by position", `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [
			{"where": [{"rows": "0-2", "columns": "4-7"}], "levels": [{"cut": {"by": "lanes", "n": 2}, "tail": {"of": 8, "into": "lane"}, "merge": {"order": "forward"}}]},
			{"levels": [{"cut": {"by": "size", "n": 24}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 6, N: 9, K: 77}},
		{"dot", `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "lanes", "n": 8}, "tail": {"of": 32, "into": "apart", "unit": {"op": "mul-add", "in": "fp32", "product": "fp32", "acc": "fp64"}, "format": "fp64"},
			 "merge": {"order": "4-2-1"}}]}]}`, schedule.Shape{M: 1, N: 1, K: 103}},
		{"fp16", `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 24}, "merge": {"order": "forward", "start": "zero"}}, {"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}]}]}`, schedule.Shape{M: 3, N: 4, K: 61}},
		{"bf16", `{"v": 1, "unit": {"op": "fma", "in": "bf16", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 3, N: 4, K: 61}},
		{"e5m2", `{"v": 1, "unit": {"op": "fma", "in": "e5m2", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 3, N: 4, K: 61}},
		{"bf16 result", `{"v": 1, "unit": {"op": "fma", "in": "bf16", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 160}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "cast", "format": "bf16"}]}`, schedule.Shape{M: 2, N: 3, K: 300}},
		{"fp16 accumulators", `{"v": 1, "unit": {"op": "fma", "acc": "fp16"}, "schedules": [{"levels": [
			{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}]}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"int8", `{"v": 1, "unit": {"instruction": "x86/tdpbusd"}, "schedules": [{}]}`, schedule.Shape{M: 3, N: 4, K: 150}},
		{"int8 with saturated pairs", `{"v": 1, "unit": {"instruction": "zen4/avx2-u8s8"}, "schedules": [{}]}`, schedule.Shape{M: 3, N: 4, K: 150}},
		{"fp16 promoted by way of fp32", `{"v": 1, "unit": {"op": "fma", "acc": "fp16", "sum": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward", "format": "fp32"}}]}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"dropped", `{"v": 1, "unit": {"op": "fma", "acc": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "count", "n": 3}, "tail": {"of": 8, "into": "drop"}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 2, N: 2, K: 61}},
		// The long tier:
		{"bf16 of fp32, bf16 result", `{"v": 1, "unit": {"op": "fma", "acc": "fp32", "cast_a": {"format": "bf16"}, "cast_b": {"format": "bf16"}}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "cast", "format": "bf16"}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"saturated fp16 of fp32, fp16 result", `{"v": 1, "unit": {"op": "fma", "acc": "fp32", "cast_a": {"format": "fp16", "saturate": true}, "cast_b": {"format": "fp16", "round": "zero"}}, "schedules": [{}],
			"epilogue": [{"op": "cast", "format": "fp16"}]}`, schedule.Shape{M: 1, N: 2, K: 30}},
		{"fp32 of fp64", `{"v": 1, "unit": {"op": "mul-add", "acc": "fp64", "cast_b": {"format": "fp32"}}, "schedules": [{"levels": [
			{"cut": {"by": "lanes", "n": 4}, "merge": {"order": "halves"}}]}]}`, schedule.Shape{M: 2, N: 1, K: 33}},
		{"tf32 of fp32, other bits dropped", `{"v": 1, "unit": {"op": "fma", "acc": "fp32", "cast_a": {"format": "tf32", "round": "drop"}, "cast_b": {"format": "tf32", "round": "drop"}}, "schedules": [{"levels": [
			{"cut": {"by": "lanes", "n": 4}, "tail": {"of": 4, "into": "apart", "unit": {"op": "fma", "acc": "fp32"}}, "merge": {"order": "halves"}}]}]}`, schedule.Shape{M: 2, N: 3, K: 31}},
		{"e5m2 of fp16", `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp32", "cast_a": {"format": "e5m2"}}, "schedules": [{}]}`, schedule.Shape{M: 2, N: 3, K: 31}},
		{"fp64 accumulators", `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp64"}, "schedules": [{"levels": [
			{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward"}}]}], "epilogue": [{"op": "cast", "format": "fp32"}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"fp16 promoted", `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp16"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 8}, "merge": {"order": "forward", "format": "fp32"}}]}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"bf16 by way of fp32", `{"v": 1, "unit": {"op": "fma", "acc": "bf16", "sum": "fp32"}, "schedules": [{}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"e4m3 in fp16 by way of fp32", `{"v": 1, "unit": {"op": "fma", "in": "e4m3", "acc": "fp16", "sum": "fp32"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 16}, "merge": {"order": "forward", "format": "fp32"}}]}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"fp32 in fp16 by way of fp32", `{"v": 1, "unit": {"op": "fma", "in": "fp32", "acc": "fp16", "sum": "fp32"}, "schedules": [{}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"e4m3 result", `{"v": 1, "unit": {"op": "fma", "in": "e4m3", "acc": "fp32"}, "schedules": [{}], "epilogue": [{"op": "cast", "format": "e4m3"}]}`, schedule.Shape{M: 2, N: 3, K: 50}},
		{"a head before lanes", `{"v": 1, "unit": {"op": "mul-add", "acc": "fp32"}, "schedules": [{"levels": [{"head": 4,
			"cut": {"by": "lanes", "n": 8}, "tail": {"of": 8, "into": "after"}, "merge": {"order": "4-2-1"}}]}]}`, schedule.Shape{M: 1, N: 1, K: 75}},
		{"a tail unfused in the first lane", `{"v": 1, "unit": {"op": "fma", "in": "bf16", "acc": "fp32"}, "schedules": [{"levels": [{
			"cut": {"by": "lanes", "n": 4}, "tail": {"of": 4, "into": "lane", "unit": {"op": "mul-add", "in": "bf16", "acc": "fp32"}}, "merge": {"order": "forward"}}]}],
			"epilogue": [{"op": "cast", "format": "bf16"}]}`, schedule.Shape{M: 2, N: 2, K: 23}},
		{"amx", `{"v": 1, "unit": {"instruction": "x86/tdpbf16ps"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 64}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 3, N: 4, K: 150}},
		{"promoted fp8", `{"v": 1, "unit": {"instruction": "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"}, "schedules": [{"levels": [
			{"cut": {"by": "size", "n": 128}, "merge": {"order": "forward", "start": "zero"}}]}]}`, schedule.Shape{M: 2, N: 2, K: 300}},
		{"tensor cores", `{"v": 1, "unit": {"instruction": "ampere/mma.m16n8k16.f32.f16.f16.f32"}, "schedules": [{"levels": [
			{"cut": {"by": "count", "n": 3, "grain": 32}, "merge": {"order": "forward"}}]}]}`, schedule.Shape{M: 2, N: 2, K: 200}},
	} {
		if n >= tier.Of(4, 4, 29) {
			break
		}
		t.Run(tc.name, func(t *testing.T) {
			if r := infers(t, read(t, tc.kernel), tc.shape); r.Verdict != Found {
				t.Errorf("%s: %s", r.Verdict, r.Why)
			} else {
				t.Log(text(r.Kernel))
			}
		})
	}
}

// TestSimplest finds one accumulator of all products where products are lost, or the last ones come first.
func TestSimplest(t *testing.T) {
	for _, c := range []struct{ level, want string }{
		{`{"cut": {"by": "size", "n": 50}, "tail": {"of": 32, "into": "drop"}, "merge": {"order": "chain"}}`, ""},
		{`{"cut": {"by": "size", "n": 1}, "tail": {"of": 32, "into": "drop"}, "merge": {"order": "chain"}}`, `{"cut": {"by": "size", "n": 50}, "tail": {"of": 32, "into": "drop"}, "merge": {"order": "chain"}}`},
		{`{"cut": {"by": "size", "n": 47}, "merge": {"order": "chain-reverse"}}`, ""},
		{`{"cut": {"by": "size", "n": 20}, "merge": {"order": "chain-reverse"}}`, ""},
		{`{"cut": {"by": "size", "n": 30, "rest": "first"}, "merge": {"order": "chain-reverse"}}`, ""},
		{`{"cut": {"by": "size", "n": 1}, "merge": {"order": "chain-reverse"}}`, ""},
	} {
		kernel := func(level string) *schedule.Kernel {
			return read(t, `{"v": 1, "unit": {"op": "fma", "in": "fp16", "acc": "fp32"}, "schedules": [{"levels": [`+level+`]}]}`)
		}
		want := kernel(cmp.Or(c.want, c.level))
		r := infers(t, kernel(c.level), schedule.Shape{M: 2, N: 3, K: 50})
		if r.Verdict != Found || text(&schedule.Kernel{Unit: r.Kernel.Unit, Schedules: r.Kernel.Schedules}) != text(want) {
			t.Errorf("%s: found %s, %s", c.level, text(r.Kernel), r.Why)
		}
	}
}

// infers infers a kernel, and compares what is found with it on operands of its own.
func infers(t *testing.T, want *schedule.Kernel, s schedule.Shape) *Result {
	t.Helper()
	l := newLibrary(t, want, s)
	id := l.inst.D
	r, err := Infer(t.Context(), l, s, Options{Seed: 1, Checks: 2000, Policy: oracle.Policy{NaN: oracle.ByClass}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Found {
		return r
	}
	b, err := newBox(l, s)
	if err != nil {
		t.Fatal(err)
	}
	j := judge{workers: 1, id: id, same: oracle.NewComparer(id, oracle.Policy{NaN: oracle.ByClass})}
	err = b.each(t.Context(), 8*len(kinds), func(n int, m matrices) { b.draw(newDrawer(99, uint64(n)), n%len(kinds), m) }, func(n int, m matrices, d []byte) {
		wrong, _, err := j.differs(t.Context(), r.Kernel, &sample{n % len(kinds), s, m, d})
		if err != nil || len(wrong) > 0 {
			t.Fatalf("wrong in %v, %v: found %s, it is %s", wrong, err, text(r.Kernel), text(want))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDrawn infers drawn kernels: each is found, or not explained, never wrong.
func TestDrawn(t *testing.T) {
	found, n := 0, tier.Of(2, 2, 50, 200)
	for seed := range uint64(n) {
		d := rand.New(rand.NewPCG(seed, 7))
		k := drawn(d)
		s := schedule.Shape{M: 1 + d.IntN(4), N: 1 + d.IntN(4), K: 2 + d.IntN(60)}
		r := infers(t, k, s)
		if r.Verdict == Found {
			found++
		} else {
			t.Logf("%v %s: %s\n%s", s, r.Verdict, r.Why, text(k))
		}
	}
	t.Logf("%d of %d were found", found, n)
	if 4*found < 3*n {
		t.Errorf("only %d of %d were found", found, n)
	}
}

// drawn draws a kernel as libraries have them.
func drawn(d *rand.Rand) *schedule.Kernel {
	acc := []fp.ID{fp.FP32, fp.FP64}[d.IntN(2)]
	k := &schedule.Kernel{Unit: &schedule.Unit{Op: []string{"fma", "mul-add"}[d.IntN(2)], Acc: acc}}
	if d.IntN(3) == 0 {
		s := drawnSchedule(d)
		s.Where = []schedule.Where{{Rows: schedule.Set{{First: 0, Last: 1, Step: 1}}}}
		k.Schedules = append(k.Schedules, s)
	}
	k.Schedules = append(k.Schedules, drawnSchedule(d))
	return k
}

func drawnSchedule(d *rand.Rand) (s schedule.Schedule) {
	if d.IntN(2) == 0 {
		c := schedule.Cut{By: "size", N: 8 + d.IntN(24), Rest: []string{"", "first", "halve"}[d.IntN(3)]}
		if d.IntN(4) == 0 {
			c = schedule.Cut{By: "count", N: 2 + d.IntN(3), Grain: 4}
		}
		s.Levels = append(s.Levels, schedule.Level{Cut: c, Merge: schedule.Merge{Order: "forward"}})
	}
	if d.IntN(2) == 0 {
		n := 2 << d.IntN(3)
		l := schedule.Level{Cut: schedule.Cut{By: "lanes", N: n}, Merge: schedule.Merge{Order: []string{"forward", "halves", "neighbours"}[d.IntN(3)]}}
		if d.IntN(2) == 0 {
			l.Tail = &schedule.Tail{Of: n << d.IntN(2), Into: []string{"lane", "after", "apart", "drop"}[d.IntN(4)]}
		}
		s.Levels = append(s.Levels, l)
	}
	return s
}

// TestHeads has lanes without products, which blocks before a head's leave, and sets of several.
func TestHeads(t *testing.T) {
	e := &enumeration{sums: &sums{joined: map[int32][][]int32{0: {{1}, {2}, {3}}, 4: {{}, {5}}}}}
	for _, tc := range []struct {
		seqs [][]int32
		want []int
	}{
		{[][]int32{{}}, []int{0}},
		{[][]int32{{}, {}}, []int{0}},
		{[][]int32{{0, 1}, {2, 3}}, []int{0}},
		{[][]int32{{4, 5, 6}}, []int{0}},
		{[][]int32{{0, 1, 2, 3, 6, 7}}, []int{0, 3, 2}},
	} {
		if got := e.heads(tc.seqs); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.seqs, got, tc.want)
		}
	}
}
