package selfcheck

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// shrinking is the outcome of minimizing mismatches of a pair.
type shrinking struct {
	A, B         string // ARCH/INSTRUCTION
	Findings     int
	TermsBefore  float64 // means over the findings
	TermsAfter   float64
	Queries      float64
	Batches      float64
	WorstBatches int
	Minimal      int // findings that are 1-minimal
}

// shrinkPairs are the pairs of the minimizer table, with different formats and operations.
var shrinkPairs = [][2]string{
	{"ampere/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"},
	{"volta/mma.m8n8k4.f32.f16.f16.f32", "ampere/mma.m16n8k8.f32.f16.f16.f32"},
	{"hopper/mma.m16n8k16.f32.bf16.bf16.f32", "cdna3/v_mfma_f32_16x16x16_bf16"},
	{"hopper/mma.m16n8k8.f32.tf32.tf32.f32", "cdna3/v_mfma_f32_16x16x8_xf32"},
	{"cdna1/v_mfma_f32_16x16x16f16", "cdna2/v_mfma_f32_16x16x16f16"},
	{"hopper/mma.m16n8k32.f32.e4m3.e4m3.f32", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32"},
	{"hopper/wgmma.m64n8k32.f32.e5m2.e5m2", "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e5m2.e5m2"},
	{"ampere/mma.m16n8k16.f16.f16.f16.f16", "hopper/mma.m16n8k16.f16.f16.f16.f16"},
}

// shrinkFindings is the number of mismatches of each pair that are shrunk: the
// first ones of shrinkGenerators in turn.
const shrinkFindings = 48

var shrinkGenerators = []string{"raw", "cut", "tie", "spread"}

// MinimizerTable measures the minimizer on the pairs that the old table lacks.
func MinimizerTable(ctx context.Context, old *Table) (*Table, error) {
	t := old.after("MinimizerTable", []string{"digest", "a", "b", "findings", "terms before", "terms after", "queries", "batches", "worst batches", "1-minimal"})
	for _, names := range shrinkPairs {
		d, err := shrinkDigest(names)
		if err != nil {
			return nil, err
		}
		if row := old.fresh(d, names[0]); row != nil {
			t.Rows = append(t.Rows, row)
			continue
		}
		s, err := shrinkPair(ctx, names)
		if err != nil {
			return nil, err
		}
		if err := t.add(append([]string{d}, s.cells()...)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// shrinkDigest identifies what a row of the minimizer table depends on.
func shrinkDigest(names [2]string) (string, error) {
	parts := []any{names, shrinkFindings}
	for _, name := range names {
		i, err := Find(name)
		if err != nil {
			return "", err
		}
		parts = append(parts, arithmeticDigest(i))
	}
	for _, name := range shrinkGenerators {
		g, err := findGenerator(name)
		if err != nil {
			return "", err
		}
		parts = append(parts, g.Name, g.Version)
	}
	return digest(parts...), nil
}

func (s *shrinking) cells() []string {
	return []string{
		s.A, s.B, fmt.Sprint(s.Findings), fmt.Sprintf("%.1f", s.TermsBefore), fmt.Sprintf("%.1f", s.TermsAfter),
		fmt.Sprintf("%.0f", s.Queries), fmt.Sprintf("%.1f", s.Batches), fmt.Sprint(s.WorstBatches), fmt.Sprint(s.Minimal),
	}
}

func shrinkPair(ctx context.Context, names [2]string) (*shrinking, error) {
	var models [2]*sim.Model
	var insts [2]*mma.Instruction
	for n, name := range names {
		i, err := Find(name)
		if err != nil {
			return nil, err
		}
		insts[n] = i
		if models[n], err = sim.ForInstruction(i); err != nil {
			return nil, err
		}
	}
	k := max(insts[0].K, insts[1].K)
	f := insts[0].Formats
	s := &shrinking{A: names[0], B: names[1]}
	const differ = "differ"
	test := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		out := make([]string, len(dots))
		for n, d := range dots {
			if models[0].Dot(d, nil) != models[1].Dot(d, nil) {
				out[n] = differ
			}
		}
		return out, nil
	}
	for _, d := range mismatches(insts, models, gen.Spec{Formats: f, K: k}) {
		r, err := minimize.Dot(ctx, f, d, test, minimize.Options{Bucket: differ, SkipMask: true})
		if err != nil {
			return nil, err
		}
		s.Findings++
		s.TermsBefore += float64(minimize.Terms(f, d))
		s.TermsAfter += float64(minimize.Terms(f, r.Dot))
		s.Queries += float64(r.Queries)
		s.Batches += float64(r.Batches)
		s.WorstBatches = max(s.WorstBatches, r.Batches)
		if r.Minimal {
			s.Minimal++
		}
	}
	if n := float64(s.Findings); n > 0 {
		s.TermsBefore, s.TermsAfter, s.Queries, s.Batches = s.TermsBefore/n, s.TermsAfter/n, s.Queries/n, s.Batches/n
	}
	return s, nil
}

// mismatches returns the first shrinkFindings dot products on which two models differ.
func mismatches(insts [2]*mma.Instruction, models [2]*sim.Model, sp gen.Spec) []*mma.Dot {
	var found []*mma.Dot
	for index := uint64(0); len(found) < shrinkFindings && index < 100_000; index++ {
		g, err := findGenerator(shrinkGenerators[index%uint64(len(shrinkGenerators))])
		if err != nil {
			return nil
		}
		d := g.Aimed(sp, &insts[0].Params, &insts[1].Params).Dot(sp, 1, index/uint64(len(shrinkGenerators)))
		if models[0].Dot(d, nil) != models[1].Dot(d, nil) {
			found = append(found, d)
		}
	}
	return found
}
