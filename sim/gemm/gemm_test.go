package gemm_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// units are of different K, formats, and kinds of results; the last has scales.
var units = []schedule.Unit{
	{Op: "fma", Acc: fp.FP32},
	{Op: "mul-add", Acc: fp.FP32, Start: "empty"},
	{Op: "fma", Acc: fp.FP64},
	{Op: "fma", Acc: fp.FP32, Start: "second"},
	{Op: "fma", Acc: fp.FP32, Sum: fp.FP64},
	{Op: "mul-add", Acc: fp.FP32, Subnormals: "zero"},
	{Op: "mul-add", In: fp.BF16, Acc: fp.FP32},
	{Op: "fma", Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.BF16}, CastB: &schedule.Cast{Format: fp.TF32, Round: "away"}},
	{Op: "mul-add", Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.FP16, Saturate: true}, Subnormals: "zero"},
	{Op: "fma", In: fp.FP32, Acc: fp.FP64, CastA: &schedule.Cast{Format: fp.BF16, Round: "drop"}, CastB: &schedule.Cast{Format: fp.FP16, Round: "zero"}},
	{Op: "fma", Acc: fp.FP64, CastB: &schedule.Cast{Format: fp.FP32}},
	{Op: "fma", Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.E4M3, Saturate: true}, CastB: &schedule.Cast{Format: fp.E4M3, Round: "zero"}},
	{Op: "mul-add", In: fp.FP16, Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.E4M3}, Subnormals: "zero"},
	{Op: "mul-add", In: fp.FP16, Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.FP16, Factor: 0.3}, CastB: &schedule.Cast{Format: fp.E4M3, Factor: -7.1}, Subnormals: "zero"},
	{Op: "fma", Acc: fp.FP32, CastB: &schedule.Cast{Format: fp.BF16, Factor: 0.0007, Saturate: true}},
	{Instruction: "x86/vpdpbssd"},
	{Instruction: "volta/mma.m8n8k4.f32.f16.f16.f32"},
	{Instruction: "hopper/mma.m16n8k16.f16.f16.f16.f16"},
	{Instruction: "hopper/wgmma.m64n8k32.f32.e4m3.e4m3"},
	{Instruction: "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"},
}

// drawer draws kernels and operands.
type drawer struct{ *rand.Rand }

func pick[T any](d drawer, all ...T) T { return all[d.IntN(len(all))] }

func (d drawer) kernel() *schedule.Kernel {
	k := &schedule.Kernel{Unit: &units[d.IntN(len(units))], CFirst: d.IntN(2) == 0}
	blocks := func() *schedule.Blocks { return &schedule.Blocks{Lines: d.IntN(4), K: pick(d, 0, 4)} }
	k.ScaleA, k.ScaleB = blocks(), blocks()
	if d.IntN(3) == 0 {
		k.Schedules = append(k.Schedules, d.schedule())
		k.Schedules[0].Where = []schedule.Where{{Rows: schedule.Set{{First: 0, Last: 8, Step: 2}}}, {Columns: schedule.Set{{First: 1, Last: 1, Step: 1}}}}
	}
	k.Schedules = append(k.Schedules, d.schedule())
	if d.IntN(6) == 0 {
		k.Schedules[0].Missing = schedule.Set{{First: d.IntN(8), Last: 20, Step: 1 + d.IntN(20)}}
	}
	for _, l := range k.Schedules[0].Levels {
		if l.Tail != nil && l.Tail.Into != "drop" && k.Unit.Op != "" && d.IntN(2) == 0 {
			l.Tail.Unit = &schedule.Unit{Op: "mul-add", In: cmp.Or(k.Unit.In, k.Unit.Acc), Product: fp.FP32, Acc: pick(d, fp.FP32, fp.FP64)}
		}
	}
	for range d.IntN(3) {
		s := schedule.Step{Op: pick(d, "cast", "alpha", "scale-a", "scale-b", "scale-ab", "c", "beta-c", "beta-c-mul", "alpha-beta", "bias", "relu"),
			Format: pick(d, fp.None, fp.None, fp.BF16, fp.E4M3), Rounding: schedule.Rounding{Saturate: d.IntN(2) == 0}}
		if s.Op == "alpha" || s.Op == "beta-c" || s.Op == "beta-c-mul" {
			s.Factor = pick(d, 0, 0.3, -1.7)
		}
		if s.Op == "relu" {
			s.Zeroes = pick(d, "", "-0", "nan", "-0 nan")
		}
		if s.Op == "cast" {
			s.Round, s.Subnormals = pick(d, "", "away", "zero"), pick(d, "", "zero")
		}
		k.Epilogue = append(k.Epilogue, s)
	}
	if d.IntN(4) == 0 {
		k.Dequantize = &schedule.Quantized{A: pick(d, fp.E4M3, fp.E5M2, fp.FP16), B: pick(d, fp.E4M3, fp.E2M1, fp.FP32)}
	}
	return k
}

func (d drawer) schedule() (s schedule.Schedule) {
	for n := range d.IntN(4) {
		s.Levels = append(s.Levels, d.level(n))
	}
	return s
}

func (d drawer) level(n int) schedule.Level {
	c := schedule.Cut{By: pick(d, "size", "size", "count", "spread", "pairwise", "lanes", "stream"), N: 1 + d.IntN(8)}
	if c.By == "stream" && n > 0 {
		c.By = "size"
	}
	switch c.By {
	case "stream":
		c.Tile = [2]int{1 + d.IntN(4), 1 + d.IntN(4)}
		c.Grain = 1 + d.IntN(5)
	case "lanes":
		c.Vector = d.IntN(4)
	case "size":
		c.Rest = pick(d, "", "last", "first", "halve", "halve-down")
		if strings.HasPrefix(c.Rest, "halve") {
			c.Grain = d.IntN(3)
		}
	case "pairwise":
		c.Rest = pick(d, "", "halve")
		fallthrough
	default:
		c.Grain = d.IntN(5)
	}
	m := schedule.Merge{Order: pick(d, "forward", "reverse", "neighbours", "halves", "2-1-4", "chain", "chain-reverse")}
	if c.By == "pairwise" && d.IntN(3) > 0 {
		m.Order = c.By
	}
	m.Store = pick(d, fp.None, fp.None, fp.BF16)
	if !m.Chain() {
		m.Format = pick(d, fp.None, fp.FP32, fp.FP64)
		m.Parts = pick(d, fp.None, fp.None, fp.FP16)
		m.Scale = pick(d, "", "", "(sa*sb)*p", "sa*(sb*p)", "sb*(sa*p)")
	}
	if m.Order == "forward" || m.Order == "reverse" {
		m.Start = pick(d, "", "zero")
		m.Fused = m.Scale != "" && m.Start == "zero" && d.IntN(2) == 0
	}
	ordered := m.Chain() || m.Order == "forward" || m.Order == "reverse"
	if m.Order != "pairwise" && (m.Store != fp.None && ordered || m.Store == fp.None && m.Parts != fp.None) {
		m.Only = pick(d, "", "1", "2", "last", "not-2", "not-last")
	}
	l := schedule.Level{Cut: c, Merge: m}
	if c.By != "stream" && c.By != "pairwise" && d.IntN(6) == 0 {
		l.Head = 1 + d.IntN(5)
	}
	if c.By != "stream" && c.By != "pairwise" && d.IntN(3) == 0 {
		l.Tail = &schedule.Tail{Of: 2 + d.IntN(6), Into: pick(d, "lane", "deal", "after", "apart", "drop")}
		switch l.Tail.Front = l.Head == 0 && d.IntN(2) == 0; l.Tail.Into {
		case "lane":
			l.Tail.Last, l.Tail.Reverse = d.IntN(2) == 0, d.IntN(2) == 0
		case "deal":
			l.Tail.Last = d.IntN(2) == 0
		case "after", "apart":
			l.Tail.Reverse = d.IntN(2) == 0
		}
		if l.Tail.Into == "apart" {
			l.Tail.Format = pick(d, fp.None, fp.FP64)
		}
	}
	return l
}

// code draws a code: a small number, or now and then any.
func (d drawer) code(id fp.ID) uint64 {
	f := id.Get()
	if d.IntN(200) == 0 {
		return d.Uint64() & f.CodeMask()
	}
	return f.FromFloat64(d.NormFloat64())
}

func (d drawer) codes(id fp.ID, n int) []uint64 {
	all := make([]uint64, n) // none of no format
	for i := range all {
		all[i] = d.code(id)
	}
	return all
}

func packed(codes []uint64, id fp.ID) []byte {
	out := make([]byte, len(codes)*id.Width())
	for i, c := range codes {
		mma.Store(out, id.Width(), i, c)
	}
	return out
}

// product computes a drawn product both ways, and returns false if the kernel does not take
// the shape.
func (d drawer) product(t *testing.T, k *schedule.Kernel, depth int) bool {
	u, err := k.Unit.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	u = k.Operands(u)
	s := schedule.Shape{M: 1 + d.IntN(6), N: 1 + d.IntN(6), K: depth}
	blocks := 0
	if u.Scale != fp.None {
		blocks = (s.K + int(u.Block) - 1) / int(u.Block)
	}
	side := schedule.Side(u.D)
	a, b, c := d.codes(u.A, s.M*s.K), d.codes(u.B, s.N*s.K), d.codes(u.D, s.M*s.N)
	sa, sb := d.codes(u.Scale, s.M*blocks), d.codes(u.Scale, s.N*blocks)
	o := &gemm.Operands{Shape: s, A: packed(a, u.A), B: packed(b, u.B), C: packed(c, u.D), SA: packed(sa, u.Scale), SB: packed(sb, u.Scale),
		Alpha: d.code(side), Beta: d.code(side), Bias: d.codes(side, s.N),
		ScaleA: d.codes(side, k.ScaleA.Count(s.M, s.K)), ScaleB: d.codes(side, k.ScaleB.Count(s.N, s.K))}
	if d.IntN(2) == 0 {
		o.C = nil
	}
	if d.IntN(2) == 0 {
		o.Bias = nil
	}
	got, id, err := gemm.Multiply(context.Background(), k, o, gemm.Options{Workers: 2})
	if err != nil {
		return false
	}
	line := func(codes []uint64, b *schedule.Blocks, n int) []uint64 {
		if b.Lines > 0 {
			return codes[n/b.Lines*b.Along(s.K):][:b.Along(s.K)]
		}
		return codes
	}
	for n := range s.M * s.N {
		row, column := n/s.N, n%s.N
		e := &oracle.Element{Shape: s, Row: row, Column: column, A: a[row*s.K:][:s.K], B: b[column*s.K:][:s.K],
			SA: sa[row*blocks:][:blocks], SB: sb[column*blocks:][:blocks], Given: o.Given(), C: c[n], Alpha: o.Alpha, Beta: o.Beta,
			ScaleA: line(o.ScaleA, k.ScaleA, row), ScaleB: line(o.ScaleB, k.ScaleB, column)}
		if o.Bias != nil {
			e.Bias = o.Bias[column]
		}
		want, wantID := oracle.EvalKernel(k, e)
		if code := mma.Load(got, id.Width(), n); code != want || id != wantID {
			t.Fatalf("%v: d[%d,%d] is %x (%s), the judge says %x (%s)\n%s", s, row, column, code, id, want, wantID, text(k))
		}
	}
	return true
}

func text(k *schedule.Kernel) string {
	var b strings.Builder
	if err := k.Write(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// TestAgainstJudge computes drawn kernels of drawn operands with both interpreters.
func TestAgainstJudge(t *testing.T) {
	done, all := 0, tier.Of(100, 300, 4_000, 100_000)
	for n := range uint64(all) {
		d := drawer{rand.New(rand.NewPCG(n, 1))}
		k := d.kernel()
		if err := k.Validate(); err != nil {
			t.Fatalf("%v\n%s", err, text(k))
		}
		again, err := schedule.Read([]byte(text(k)))
		if err != nil || text(again) != text(k) {
			t.Fatalf("%v: read %s\nwritten %s", err, text(again), text(k))
		}
		if d.product(t, k, 1+d.IntN(70)) {
			done++
		}
	}
	if done < all/2 {
		t.Errorf("only %d of %d kernels were computed", done, all)
	}
}

// TestLiterature computes the schedules of the literature with both interpreters.
func TestLiterature(t *testing.T) {
	for n, k := range schedule.Literature() {
		if k.Source == "" {
			t.Errorf("%s has no source", k.Name)
		}
		k = k.WithUnit(units[0])
		if k.ScaleA == nil {
			k.ScaleA, k.ScaleB = &schedule.Blocks{}, &schedule.Blocks{}
		}
		d := drawer{rand.New(rand.NewPCG(uint64(n), 7))}
		if !d.product(t, k, 1+d.IntN(700)) {
			t.Errorf("%s is refused", k.Name)
		}
	}
}

// TestSizes refuses operands that are codes of other widths than those of a kernel's units, and gives all elements as
// it gives the product, of operands that are cast before, too.
func TestSizes(t *testing.T) {
	s := schedule.Shape{M: 2, N: 1, K: 3}
	of := func(w int) *gemm.Operands {
		o := &gemm.Operands{Shape: s, A: make([]byte, s.M*s.K*w), B: make([]byte, s.N*s.K*w)}
		for i := range o.A {
			o.A[i] = byte(0x35 + i)
		}
		for i := range o.B {
			o.B[i] = byte(0x36 + 7*i%9)
		}
		return o
	}
	k := &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", In: fp.FP16, Acc: fp.FP32, CastA: &schedule.Cast{Format: fp.E4M3}}, Schedules: []schedule.Schedule{{}}}
	for _, w := range []int{1, 4} {
		_, _, err := gemm.Multiply(t.Context(), k, of(w), gemm.Options{})
		_, _, other := gemm.Elements(t.Context(), k, of(w), [][2]int{{1, 0}}, gemm.Options{})
		if err == nil || other == nil {
			t.Errorf("codes of %d bytes are multiplied as FP16: %v, %v", w, err, other)
		}
	}
	d, id, err := gemm.Multiply(t.Context(), k, of(2), gemm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	codes, _, err := gemm.Elements(t.Context(), k, of(2), [][2]int{{1, 0}}, gemm.Options{})
	if want := mma.Load(d, id.Width(), 1); err != nil || codes[0] != want {
		t.Errorf("element (1,0) is %x, and %x in the product: %v", codes, want, err)
	}
}

// TestOtherAccumulator gives C, alpha and beta in the format of other units' results: they are converted, and without
// that format a C of another width is refused.
func TestOtherAccumulator(t *testing.T) {
	k := &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", In: fp.FP16, Acc: fp.FP64}, Schedules: []schedule.Schedule{{}},
		Epilogue: []schedule.Step{{Op: "alpha"}, {Op: "beta-c-mul"}}}
	f := fp.FP32.Get()
	code := func(v float64) uint64 { return f.FromFloat64(v) }
	half := packed([]uint64{fp.FP16.Get().FromFloat64(3)}, fp.FP16)
	o := &gemm.Operands{Shape: schedule.Shape{M: 1, N: 1, K: 1}, A: half, B: half, C: packed([]uint64{code(5)}, fp.FP32), Alpha: code(0.5), Beta: code(2), D: fp.FP32}
	at := [][2]int{{0, 0}}
	codes, id, err := gemm.Elements(t.Context(), k, o, at, gemm.Options{})
	d, _, other := gemm.Multiply(t.Context(), k, o, gemm.Options{})
	if err != nil || other != nil {
		t.Fatal(err, other)
	}
	if id != fp.FP64 || math.Float64frombits(codes[0]) != 0.5*9+2*5 || mma.Load(d, 8, 0) != codes[0] {
		t.Errorf("%s %x, and %x in the product", id, codes, d)
	}
	infinite := *o
	infinite.Beta = code(0.5)
	infinite.C = packed([]uint64{f.InfCode(true)}, fp.FP32)
	if codes, _, err := gemm.Elements(t.Context(), k, &infinite, at, gemm.Options{}); err != nil || !math.IsInf(math.Float64frombits(codes[0]), -1) {
		t.Errorf("4.5 - Inf/2 is %x, %v", codes, err)
	}
	o.D = fp.None
	for _, epilogue := range [][]schedule.Step{k.Epilogue, {{Op: "c"}}, nil} {
		k.Epilogue, k.CFirst = epilogue, epilogue == nil
		_, _, err := gemm.Elements(t.Context(), k, o, at, gemm.Options{})
		if _, _, other := gemm.Multiply(t.Context(), k, o, gemm.Options{}); err == nil || other == nil {
			t.Errorf("a C of 4 bytes is read as FP64 by %v: %v, %v", epilogue, err, other)
		}
	}
}
