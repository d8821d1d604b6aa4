package selfcheck

import (
	"context"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// Separation is how many inputs each generator needs to show that two arithmetics, base and
// other, are not the same function.
type Separation struct {
	Base   string       // ARCH/INSTRUCTION
	Other  string       // the change that made a mutant, or ARCH/INSTRUCTION of a pair
	Change []mma.Change // from base to other
	// First has for each generator the number of inputs up to and including the first one
	// that separates the two, 0 if none does within the limit.
	First    []uint64
	Limit    uint64 // how many inputs of each generator were tried, at least
	Argument string // why no input can separate; "" if there is no such reason
}

// Separated reports whether any generator separates the two.
func (s *Separation) Separated() bool {
	for _, n := range s.First {
		if n > 0 {
			return true
		}
	}
	return false
}

// The numbers of inputs that are tried: separateFirst of every generator, and if none of them
// separates, separateMost.
const (
	separateFirst = 20_000
	separateMost  = 1_000_000
)

// other is a program that is to be separated from the base.
type other struct {
	sep   *Separation
	model *sim.Model
}

// separateMutants measures how well generators separate an instruction's arithmetic from all
// its mutants.
func separateMutants(ctx context.Context, i *mma.Instruction, gens []gen.Generator) ([]*Separation, error) {
	others, seps, err := mutantsOf(i)
	if err != nil {
		return nil, err
	}
	return seps, separateWithin(ctx, i, others, gens, separateFirst, separateMost)
}

func mutantsOf(i *mma.Instruction) (others []other, seps []*Separation, err error) {
	for _, s := range change.SpaceOf(i).Mutants(&i.Params, change.Decisions) {
		m, err := sim.New(i.Formats, i.K, s.Params)
		if err != nil {
			return nil, nil, err
		}
		sep := &Separation{Base: i.FullName(), Other: s.Change, Change: mma.Diff(&i.Params, &s.Params), Argument: argued.Equivalent(i, &s.Params)}
		others, seps = append(others, other{sep, m}), append(seps, sep)
	}
	return others, seps, nil
}

// separatePairs measures how well generators separate an instruction's arithmetic from those
// of others. Instructions that do not take the same operands are left out.
func separatePairs(ctx context.Context, i *mma.Instruction, others []mma.Instruction, gens []gen.Generator) ([]*Separation, error) {
	var seps []*Separation
	var programs []other
	for _, o := range others {
		if !takesSame(i, &o) {
			continue
		}
		m, err := sim.New(i.Formats, i.K, o.Params)
		if err != nil {
			return nil, err
		}
		sep := &Separation{Base: i.FullName(), Other: o.FullName(), Change: mma.Diff(&i.Params, &o.Params), Argument: argued.Equivalent(i, &o.Params)}
		seps = append(seps, sep)
		programs = append(programs, other{sep, m})
	}
	return seps, separateWithin(ctx, i, programs, gens, separateFirst, separateMost)
}

// takesSame reports whether two instructions take the same operands and may differ.
func takesSame(i, o *mma.Instruction) bool {
	return o.Formats == i.Formats && o.Params != i.Params && o.Params.Validate(i.Formats, i.K) == nil
}

// separateWithin runs the base and the others on first inputs of every generator, and those
// that none has separated by then on up to most inputs.
func separateWithin(ctx context.Context, i *mma.Instruction, others []other, gens []gen.Generator, first, most uint64) error {
	base, err := sim.ForInstruction(i)
	if err != nil {
		return err
	}
	for _, r := range others {
		r.sep.First = make([]uint64, len(gens))
	}
	run := func(others []other, from, to uint64) {
		parallel(ctx, len(gens), func(g int) { separateBy(ctx, i, base, others, gens, g, from, to) })
		for _, r := range others {
			r.sep.Limit = to
		}
	}
	run(others, 0, first)
	var left []other
	for _, r := range others {
		if !r.sep.Separated() && r.sep.Argument == "" {
			left = append(left, r)
		}
	}
	if len(left) > 0 && most > first {
		run(left, first, most)
	}
	return ctx.Err()
}

// separateChunk is the number of inputs that are made at once.
const separateChunk = 2048

// separateBy runs the base and the others on the inputs from..to-1 of generator g.
func separateBy(ctx context.Context, i *mma.Instruction, base *sim.Model, others []other, gens []gen.Generator, g int, from, to uint64) {
	generator := gens[g]
	src := generator.Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params)
	src.Generator = &gens[g]
	per := uint64(generator.M * generator.N)
	b := mma.NewBatch(i.Formats, mma.Shape{M: generator.M, N: generator.N, K: i.K, Tiles: int(separateChunk / per)})
	w := i.D.Width()
	want, got := make([]byte, separateChunk*w), make([]byte, separateChunk*w)
	open := make([]other, len(others))
	copy(open, others)
	for at := from / separateChunk * separateChunk; at < to && len(open) > 0 && ctx.Err() == nil; at += separateChunk {
		src.Fill(b, 1, at)
		base.Run(b, want)
		kept := open[:0]
		for _, r := range open {
			r.model.Run(b, got)
			if n := firstDifference(i, want, got); n >= 0 {
				r.sep.First[g] = at + uint64(n) + 1
				continue
			}
			kept = append(kept, r)
		}
		open = kept
	}
}

// firstDifference returns the number of the first output that differs in any
// bit, -1 if none does.
func firstDifference(i *mma.Instruction, want, got []byte) int {
	w := i.D.Width()
	if string(want) == string(got) {
		return -1
	}
	for n := range len(want) / w {
		if oracle.Compare(i.D, oracle.Policy{}, mma.Load(want, w, n), mma.Load(got, w, n)) != oracle.Same {
			return n
		}
	}
	return -1
}
