package encode

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// dots is what .ci/nightly sets to 1,000,000.
var dots = flag.Int("dots", 0, "dot products of each arithmetic (0: as the tier has it)")

// TestArithmetics compares the graph of every arithmetic of the catalogue with both
// interpreters, on inputs of every generator, aimed at its decisions: among them sums
// that cancel to zero and special values of every kind.
func TestArithmetics(t *testing.T) {
	for n, i := range mma.Arithmetics() {
		count := cmp.Or(*dots, tier.Of(128, 128, 256, 1_000))
		if *dots == 0 && n%tier.Of(8, 4, 2, 1) != 0 {
			continue
		}
		t.Run(i.FullName(), func(t *testing.T) {
			t.Parallel()
			compare(t, &i, count)
		})
	}
}

// compare compares a program as a graph with both interpreters on at least n dot products, the
// given ones first.
func compare(t *testing.T, i *mma.Instruction, n int, first ...*mma.Dot) {
	t.Helper()
	in := NewInputs(graph.New(), i.Formats, i.K, i.Params.Special.OperandNaN())
	code, err := Program(in, &i.Params)
	if errors.As(err, new(*TooHard)) && (strings.Contains(err.Error(), "more than 700 bits") || i.Params.In.InfNaN && i.Params.Special.OperandNaN()) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	s := graph.NewSimulation(min(16, (n+63)/64))
	for round := 0; n > 0; round++ {
		dots := probe(i, round)
		if round == 0 {
			dots, n = append(first, dots...), n+len(first)
		}
		for len(dots) > 0 {
			part := dots[:min(len(dots), s.Inputs())]
			dots = dots[len(part):]
			n -= len(part)
			s.Reset()
			ok := make([]bool, len(part))
			for at, d := range part {
				ok[at] = in.Set(s, at, d)
			}
			for at, d := range part {
				if !ok[at] {
					continue // a NaN
				}
				got := s.Value(code, at).Uint64()
				if want := m.Dot(d, nil); got != want {
					t.Fatalf("%s: the graph gives %s, sim %s", mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, got), mma.FormatCode(i.D, want))
				}
				if want := oracle.Eval(&i.Params, i.Formats, i.K, d); got != want {
					t.Fatalf("%s: the graph gives %s, the oracle %s", mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, got), mma.FormatCode(i.D, want))
				}
			}
		}
	}
}

// probe returns inputs of every generator: rounds of gen.Probe under one seed after
// another.
func probe(i *mma.Instruction, round int) []*mma.Dot {
	const rounds = 7
	return gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, uint64(1+round/rounds), round%rounds, &i.Params)
}

// TestMadeUp does the same with programs drawn from everything that parameters can say.
func TestMadeUp(t *testing.T) {
	all := uint64(tier.Of(20, 40, 60, 400))
	for seed := range all + 1 {
		if seed == all {
			seed = 79 // it rounds tiny sums up to the smallest subnormal
		}
		i := madeup.Unit(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compare(t, &i, tier.Of(64, 64, 128, 500)) })
	}
}

// TestFields does the same with programs in which one field alone has another value: every
// field, of arithmetics of several shapes and of made-up ones.
func TestFields(t *testing.T) {
	bases := []mma.Instruction{}
	for _, name := range strings.Fields("hopper/mma.m16n8k8.f32.tf32.tf32.f32 volta/mma.m8n8k4.f16.f16.f16.f16 cdna3/v_mfma_f32_16x16x16_f16 " +
		"cdna2/v_mfma_f32_32x32x8f16 x86/vdpbf16ps ada/mma.m16n8k16.f16.e4m3.e5m2.f16 blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3") {
		arch, inst, _ := strings.Cut(name, "/")
		i, err := mma.Lookup(arch, inst)
		if err != nil {
			t.Fatal(err)
		}
		i.K = min(i.K, 32)
		bases = append(bases, *i)
	}
	for seed := range uint64(tier.Of(2, 4, 8, 60)) {
		bases = append(bases, madeup.Unit(1000+seed))
	}
	tried := map[string]int{}
	for n := range bases {
		s := change.SpaceOf(&bases[n])
		for at, f := range mma.Fields() {
			if (at+n)%tier.Of(80, 40, 16, 1) != 0 {
				continue
			}
			values := s.Range(&bases[n].Params, f)
			for at, v := range values {
				i := bases[n]
				f.SetInt(&i.Params, v)
				if at%max(1, len(values)/tier.Of(4, 4, 8, 16)) != 0 || i.Params == bases[n].Params || i.Params.Validate(i.Formats, i.K) != nil {
					continue
				}
				tried[f.Path]++
				t.Run(fmt.Sprintf("%s %s %s", i.FullName(), f.Path, f.Text(&i.Params)), func(t *testing.T) { compare(t, &i, 64) })
			}
		}
	}
	t.Logf("%d fields", len(tried))
}

// TestTogether does the same with fields that show only together.
func TestTogether(t *testing.T) {
	for _, tc := range []struct{ inst, set string }{
		{"cdna2/v_mfma_f32_16x16x8bf16", "in.b.mode=rna in.b.to=bf16 stage0.align.f=41 stage0.align.mode=rz stage0.align.bits=59 stage0.align.saturate=true"},
		{"cdna2/v_mfma_f32_16x16x8bf16", "in.a.mode=rne in.a.to=fp16 in.a.over=ieee"},
		{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "in.a.frac=4 in.a.mode=rz in.b.frac=4 in.b.mode=rz passes=00-01-10-11"},
		{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "in.a.frac=4 in.a.mode=ru in.a.over=sat in.b.frac=4 in.b.mode=rne passes=10-01-00 together=true in.rest=true"},
		{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "in.a.frac=3 in.a.mode=rne in.b.frac=3 in.b.mode=rna passes=22-21-12-20-11-02-10-01-00 in.rest=true"},
		{"blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "scaleround.frac=3 scaleround.mode=rne scaleround.emin=-6 scaleround.emax=8"},
		{"blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "scaleround.frac=3 scaleround.mode=rz scaleround.emin=-6 scaleround.emax=8 scaleround.over=max"},
		{"x86/vdpbf16ps", "in.narrowc.frac=7 in.narrowc.mode=rne in.c=keep"},
	} {
		arch, name, _ := strings.Cut(tc.inst, "/")
		i, err := mma.Lookup(arch, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(tc.set) {
			path, to, _ := strings.Cut(word, "=")
			if err := i.Params.Apply([]mma.Change{{Path: path, To: to}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := i.Params.Validate(i.Formats, i.K); err != nil {
			t.Fatalf("%s: %v", tc.set, err)
		}
		t.Run(tc.inst+" "+tc.set, func(t *testing.T) { compare(t, i, tier.Of(64, 64, 1_000, 4_000), specials(i)...) })
	}
}

// specials are dot products with one product, of zeros, numbers, infinities and NaNs.
func specials(i *mma.Instruction) []*mma.Dot {
	codes := func(id fp.ID) []uint64 {
		if id == fp.None {
			return nil
		}
		f := id.Get()
		all := []uint64{0, f.FromFloat64(1), f.MaxFinite()}
		if f.HasInf() {
			all = append(all, f.InfCode(false))
		}
		if f.HasNaN() {
			all = append(all, f.QuietNaN(false))
		}
		return all
	}
	var dots []*mma.Dot
	for _, a := range codes(i.A) {
		for _, b := range codes(i.B) {
			d := mma.NewDot(i.Formats, i.K)
			d.A[0], d.B[0], d.C = a, b, 1
			dots = append(dots, d)
			for _, s := range codes(i.Scale) {
				d := d.Clone()
				for n := range d.SA {
					d.SA[n], d.SB[n] = s, s
				}
				dots = append(dots, d)
			}
		}
	}
	return dots
}

// TestRanges checks that every node lies in its range.
func TestRanges(t *testing.T) {
	for n, i := range mma.Arithmetics() {
		if n%tier.Of(32, 16, 4, 1) != 0 {
			continue
		}
		in := NewInputs(graph.New(), i.Formats, i.K, true)
		code, err := Program(in, &i.Params)
		if err != nil {
			t.Fatal(err)
		}
		s := graph.NewSimulation(16)
		dots := slices.DeleteFunc(probe(&i, 3), func(d *mma.Dot) bool { return !in.Set(s, 0, d) })
		for at := range s.Inputs() {
			in.Set(s, at, dots[at%len(dots)])
		}
		for _, node := range graph.Cone(code) {
			if !s.InRange(node) {
				t.Errorf("%s: node %d, operation %d, is outside of %v..%v", i.FullName(), node.ID, node.Op, node.Lo, node.Hi)
			}
		}
	}
}
