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
		if *dots == 0 && n%tier.Of(8, 4, 1) != 0 {
			continue
		}
		t.Run(i.FullName(), func(t *testing.T) {
			t.Parallel()
			compare(t, &i, count)
		})
	}
}

// compare compares a program as a graph with both interpreters on at least n dot products.
func compare(t *testing.T, i *mma.Instruction, n int) {
	t.Helper()
	in := NewInputs(graph.New(), i.Formats, i.K, i.Params.Special.OperandNaN())
	code, err := Program(in, &i.Params)
	if errors.As(err, new(*TooHard)) && strings.Contains(err.Error(), "more than 700 bits") {
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
					continue // not finite
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
	all := uint64(tier.Of(20, 40, 100, 400))
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
	for seed := range uint64(tier.Of(2, 4, 20, 60)) {
		bases = append(bases, madeup.Unit(1000+seed))
	}
	tried := map[string]int{}
	for n := range bases {
		s := change.SpaceOf(&bases[n])
		for at, f := range mma.Fields() {
			if (at+n)%tier.Of(80, 40, 2, 1) != 0 {
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
