package prove

import (
	"context"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// propertyUnits are units of unlike arithmetics and formats.
var propertyUnits = [][2]string{
	{"hopper", "mma.m16n8k16.f32.f16.f16.f32"},
	{"volta", "mma.m8n8k4.f16.f16.f16.f16"},
	{"cdna3", "v_mfma_f32_16x16x16_f16"},
	{"ampere", "mma.m8n8k4.f64.f64.f64.f64"},
	{"cdna3", "v_mfma_f32_16x16x32_fp8_fp8"},
	{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"},
}

// TestRelations compares both tellings of each relation, in nodes on gates and in codes with the
// oracle's results, on inputs of all generators.
func TestRelations(t *testing.T) {
	for _, name := range propertyUnits[:tier.Of(2, 2, len(propertyUnits))] {
		i, err := mma.Lookup(name[0], name[1])
		if err != nil {
			t.Fatal(err)
		}
		q := &asked{f: i.Formats, k: i.K, p: i.Params}
		for _, prop := range properties {
			var rs []relation
			switch {
			case prop.errors:
				e, err := proveError(q)
				if err != nil {
					t.Fatal(err)
				}
				e.bound = scaled(e.bound, -4) // so that it fails at times
				rs = append(rs, e.relation(q))
			case prop.relations != nil:
				rs = prop.relations(q)
			}
			for r := range rs[:min(len(rs), 2)] {
				checkRelation(t, i.FullName()+" "+prop.Name, q, &rs[r])
			}
		}
	}
}

func checkRelation(t *testing.T, name string, q *asked, r *relation) {
	t.Helper()
	s, err := r.session(q)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m := graph.NewSimulation(8)
	dots := gen.Probe(gen.Spec{Formats: q.f, K: q.k}, 3, 1, &q.p)
	var set []*mma.Dot
	for _, d := range dots {
		if len(set) < m.Inputs() && s.set(m, len(set), d) && len(r.dots(d)) > 0 {
			set = append(set, d)
		}
	}
	judge := func(d *mma.Dot) uint64 { return oracle.Eval(&q.p, q.f, q.k, d) }
	failed := 0
	for n, d := range set {
		for _, a := range append(s.in.Assumed(), s.assume...) {
			if m.Value(a, n).Sign() == 0 {
				t.Fatalf("%s: %s: an assumption is false", name, mma.FormatDot(q.f, d))
			}
		}
		_, _, fails := r.broken(q.f, d, r.dots(d)[0], judge)
		if nodes := m.Value(s.a, n).Cmp(m.Value(s.b, n)) != 0; nodes != fails {
			t.Fatalf("%s: %s: nodes say that it fails: %v, codes: %v", name, mma.FormatDot(q.f, d), nodes, fails)
		}
		if fails {
			failed++
		}
	}
	if len(set) < m.Inputs()/16 {
		t.Errorf("%s: only %d inputs", name, len(set))
	}
	t.Logf("%s: fails on %d of %d inputs", name, failed, len(set))
}

// TestProperties checks what properties units have, without a solver.
func TestProperties(t *testing.T) {
	for _, tc := range []struct {
		arch, inst, property string
		want                 Held
		bits                 int
	}{
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "order", Holds, 0},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "adder", Holds, 32},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "monotonic", Fails, 0},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "subnormal-operands", Holds, 0},
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "no-nan", Undecided, 0}, // a solver says that it holds
		{"hopper", "mma.m16n8k16.f32.f16.f16.f32", "rounding", Holds, 0},
		{"x86", "vdpbf16ps", "nan-code", Fails, 0}, // that of an operand
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "adder", Holds, 28},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "order", Fails, 0}, // two steps
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "no-normalization", Holds, 0},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "order", Fails, 0},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "exchange", Holds, 0},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "no-normalization", Fails, 0},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "adder", NotAsked, 0},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64", "plus-zero", Fails, 0},
		{"cdna2", "v_mfma_f32_16x16x16f16", "subnormal-operands", Fails, 0}, // it makes +0 of -0, too
		{"x86", "vdpbf16ps", "subnormal-operands", Fails, 0},
		{"x86", "vdpbf16ps", "subnormal-results", Fails, 0},
		{"turing", "wmma.m16n16k16.s32.s8.s8.s32", "subnormal-operands", NotAsked, 0},
		{"turing", "wmma.m16n16k16.s32.s8.s8.s32", "rounding", NotAsked, 0},
		{"turing", "mma.m8n8k16.s32.s8.s8.s32.satfinite", "monotonic", Undecided, 0},
		{"cdna3", "v_mfma_f32_16x16x32_fp8_fp8", "negation", Fails, 0}, // it rounds down
	}[tier.Of(10, 0, 0):] {
		i, err := mma.Lookup(tc.arch, tc.inst)
		if err != nil {
			t.Fatal(err)
		}
		u, err := simulated.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		some, err := PropertiesNamed(tc.property)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Ask(context.Background(), "sim:"+tc.arch, u, some[0], Options{Time: 5 * time.Minute})
		if err != nil {
			t.Errorf("%s %s: %v", i.FullName(), tc.property, err)
			continue
		}
		decided := got.Verdict == Holds || got.Verdict == Fails
		if got.Verdict != tc.want || got.Bits != tc.bits || decided && some[0].other != nil && got.Result == got.Expected {
			t.Errorf("%s %s: %+v, want %s", i.FullName(), tc.property, got, tc.want)
		}
	}
}

// TestAdderOfStage writes one sum in two ways: as that with the accumulator, which is exact then, and as
// the first partial sum. Its adder is the same.
func TestAdderOfStage(t *testing.T) {
	f := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	cut := mma.Align{F: 17, Mode: fp.RZ}
	var stage, join mma.Params
	stage.Acc = mma.Round{Frac: 23, Mode: fp.RNE, Emin: -126, Emax: 127}
	join.Acc = stage.Acc
	stage.Stage0 = mma.Stage{Sum: mma.Fused, Group: 16, Align: cut, Round: stage.Acc}
	join.Join.Align = cut
	for _, tc := range []struct {
		p    mma.Params
		want string
	}{
		{stage, "a first partial sum of 23 bits and a sign suffices, and one of 22 does not"},
		{join, "a sum of 23 bits and a sign suffices, and one of 22 does not"},
	} {
		var got Answer
		if err := adder(t.Context(), &asked{f: f, k: 16, p: tc.p}, &got); err != nil {
			t.Fatal(err)
		}
		if got.Verdict != Holds || got.Statement != tc.want {
			t.Errorf("%+v, want %s", got, tc.want)
		}
	}
}

// TestPropertyWitness checks that what refutes a relation does so by the oracle, too.
func TestPropertyWitness(t *testing.T) {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_16x16x32_fp8_fp8")
	if err != nil {
		t.Fatal(err)
	}
	q := &asked{f: i.Formats, k: i.K, p: i.Params}
	for _, prop := range properties {
		if prop.Name != "negation" && prop.Name != "order" {
			continue
		}
		rs := prop.relations(q)
		res, err := search(context.Background(), q, rs)
		if err != nil {
			t.Fatal(err)
		}
		if res == nil {
			t.Fatalf("%s: no input", prop.Name)
		}
		d, e := res.Witness.Dot, res.related
		if e == nil {
			e = d
		}
		x, y := oracle.Eval(&q.p, q.f, q.k, d), oracle.Eval(&q.p, q.f, q.k, e)
		if x != res.Witness.Before || y != res.Witness.After || !rs[0].fails(q.f.D.Get(), d, x, y) {
			t.Errorf("%s: %s and %s give %x and %x", prop.Name, mma.FormatDot(q.f, d), mma.FormatDot(q.f, e), x, y)
		}
	}
}

// TestMonotonicOfFew finds out that a larger c may give a smaller result where a sum has so few
// products that hardly any inputs of generators show it.
func TestMonotonicOfFew(t *testing.T) {
	for _, tc := range []struct {
		a    fp.ID
		k, f int
		mode fp.Mode
		want bool
	}{
		{fp.FP16, 4, 24, fp.RNE, true},
		{fp.FP16, 4, 24, fp.RZ, true},
		{fp.BF16, 8, 25, fp.RZ, true},
		{fp.FP16, 1, 24, fp.RZ, false},
	} {
		q := &asked{f: mma.Formats{A: tc.a, B: tc.a, C: fp.FP32, D: fp.FP32}, k: tc.k}
		q.p.Join.Align = mma.Align{F: mma.Frac(tc.f), Mode: fp.RZ}
		q.p.Acc = mma.Round{Frac: 23, Mode: tc.mode, Emin: -126, Emax: 127}
		if err := q.p.Validate(q.f, q.k); err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(q.f, q.k, q.p)
		if err != nil {
			t.Fatal(err)
		}
		rs := monotonic(q)
		if r, _, _ := q.firstBroken(m, rs, rs[0].first(q)); (r != nil) != tc.want {
			t.Errorf("%d products of %s, cut at %d bits, %s: fails: %v, want %v", tc.k, tc.a, tc.f, tc.mode, r != nil, tc.want)
		}
	}
}
