package encode

import (
	"cmp"
	"errors"
	"flag"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
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

// TestMadeUp does the same with programs drawn from everything that parameters can say,
// and counts those that are refused.
func TestMadeUp(t *testing.T) {
	refused, all := 0, uint64(tier.Of(20, 40, 100, 200))
	for seed := range all + 1 {
		if seed == all {
			seed = 79 // it rounds tiny sums up to the smallest subnormal
		}
		i := madeup.Unit(seed)
		if _, err := Program(NewInputs(graph.New(), i.Formats, i.K, true), &i.Params); err != nil {
			if !errors.As(err, new(*TooHard)) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			refused++
			continue
		}
		compare(t, &i, tier.Of(64, 64, 128, 500))
	}
	t.Logf("%d of %d programs are refused", refused, all)
	if max := int(all) / 4; refused > max {
		t.Errorf("%d of %d programs are refused, want at most %d", refused, all, max)
	}
}

// TestAlone does the same with programs that have one of the fields that a search sets alone,
// which made-up units may not have, where it is encoded.
func TestAlone(t *testing.T) {
	for _, f := range mma.Fields() {
		if f.Alone == "" || f.Encoded == 0 {
			continue
		}
		for seed := range uint64(tier.Of(4, 4, 20, 40)) {
			i := madeup.Unit(seed)
			f.SetInt(&i.Params, 1)
			if i.Params.Validate(i.Formats, i.K) != nil {
				continue
			}
			if _, err := Program(NewInputs(graph.New(), i.Formats, i.K, true), &i.Params); err == nil {
				compare(t, &i, 64)
			}
		}
	}
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
