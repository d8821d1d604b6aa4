package selfcheck

import (
	"context"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// ModelCheck is the comparison of an arithmetic's fast model with the oracle.
type ModelCheck struct {
	Base       string // ARCH/INSTRUCTION
	Raw        uint64 // dot products of raw bits
	Directed   uint64 // dot products of all other generators
	Mismatches uint64
	First      string // the first mismatch: instruction and operands
}

// Operation returns the elementary operation of an instruction, with block
// scales as an operation of its own.
func Operation(i *mma.Instruction) string {
	name, _, _ := strings.Cut(i.Params.String(), "(")
	name, _, _ = strings.Cut(name, " ")
	if name == "t-fdpa" && i.Scale != 0 {
		return "st-fdpa"
	}
	return name
}

// checkModels compares the models with the oracle: on at least raw dot products of raw bits
// for each elementary operation, spread over its arithmetics, and on directed dot products of
// each other generator for each arithmetic. Arithmetics for which skip returns true are left
// out. done is called for each arithmetic that was compared.
func checkModels(ctx context.Context, raw, directed uint64, skip func(*mma.Instruction) bool, done func(*ModelCheck)) error {
	all := argued.Arithmetics()
	sharing := map[string]uint64{} // arithmetics of each operation
	for _, i := range all {
		sharing[Operation(&i)]++
	}
	for n := range all {
		i := &all[n]
		if skip(i) {
			continue
		}
		each := sharing[Operation(i)]
		share := raw / each
		if raw%each > 0 {
			share++
		}
		c, err := checkModel(ctx, i, share, directed)
		if err != nil {
			return err
		}
		done(c)
	}
	return nil
}

// modelTask is a run of dot products of one generator on one instruction.
type modelTask struct {
	i     *mma.Instruction
	model *sim.Model
	src   gen.Source
	index uint64
}

const modelChunk = 1024

// chunks returns how many chunks have n dot products, or a few more.
func chunks(n uint64) int {
	if n == 0 {
		return 0
	}
	return int((n-1)/modelChunk) + 1
}

// checkModel compares the model of one arithmetic with the oracle, in whole chunks of inputs.
func checkModel(ctx context.Context, i *mma.Instruction, raw, directed uint64) (*ModelCheck, error) {
	c := &ModelCheck{Base: i.FullName()}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	gens := Generators()
	for g := range gens {
		src := gens[g].Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params)
		count, sum := directed, &c.Directed
		if gens[g].Name == "raw" {
			count, sum = raw, &c.Raw
		}
		parallel(ctx, chunks(count), func(n int) {
			t := modelTask{i, m, src, uint64(n) * modelChunk}
			bad, first := t.run()
			mu.Lock()
			defer mu.Unlock()
			*sum += modelChunk
			c.Mismatches += bad
			if c.First == "" {
				c.First = first
			}
		})
	}
	return c, ctx.Err()
}

// run compares a task's dot products.
func (t *modelTask) run() (bad uint64, first string) {
	g := t.src.Generator
	per := g.M * g.N
	b := mma.NewBatch(t.i.Formats, mma.Shape{M: g.M, N: g.N, K: t.i.K, Tiles: modelChunk / per})
	t.src.Fill(b, 1, t.index)
	w := t.i.D.Width()
	out := make([]byte, b.Dots()*w)
	t.model.Run(b, out)
	d := mma.NewDot(t.i.Formats, t.i.K)
	for o := range b.Dots() {
		b.Get(o, d)
		if want := oracle.Eval(&t.i.Params, t.i.Formats, t.i.K, d); mma.Load(out, w, o) != want {
			if bad++; first == "" {
				first = t.i.FullName() + " " + mma.FormatDot(t.i.Formats, d)
			}
		}
	}
	return bad, first
}
