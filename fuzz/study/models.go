package study

import (
	"context"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ModelCheck is the comparison of one elementary operation's fast models with
// the oracle.
type ModelCheck struct {
	Operation   string
	Arithmetics int
	Raw         uint64 // dot products of raw bits
	Directed    uint64 // dot products of all other generators
	Mismatches  uint64
	First       string // the first mismatch: instruction and operands
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

// Models compares the models of every operation with the oracle: raw dot
// products of raw bits for each operation, and directed ones of each other
// generator for each arithmetic. progress, which may be nil, is told of each
// operation that is done.
func Models(ctx context.Context, raw, directed uint64, progress func(*ModelCheck)) ([]*ModelCheck, error) {
	byOp := map[string][]mma.Instruction{}
	var order []string
	for _, i := range Arithmetics() {
		op := Operation(&i)
		if byOp[op] == nil {
			order = append(order, op)
		}
		byOp[op] = append(byOp[op], i)
	}
	var checks []*ModelCheck
	for _, op := range order {
		c, err := checkModels(ctx, op, byOp[op], raw, directed)
		if err != nil {
			return checks, err
		}
		checks = append(checks, c)
		if progress != nil {
			progress(c)
		}
	}
	return checks, nil
}

// modelTask is a run of dot products of one generator on one instruction.
type modelTask struct {
	i     *mma.Instruction
	model *sim.Model
	src   gen.Source
	index uint64
	n     int
}

const modelChunk = 1024

func checkModels(ctx context.Context, op string, insts []mma.Instruction, raw, directed uint64) (*ModelCheck, error) {
	c := &ModelCheck{Operation: op, Arithmetics: len(insts)}
	var tasks []modelTask
	gens := Generators()
	for n := range insts {
		i := &insts[n]
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		for g := range gens {
			src := gens[g].Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params)
			count := directed
			if gens[g].Name == "raw" {
				each := uint64(len(insts))
				count = (raw + each - 1) / each
			}
			for at := uint64(0); at < count; at += modelChunk {
				tasks = append(tasks, modelTask{i, m, src, at, modelChunk})
			}
		}
	}
	var mu sync.Mutex
	parallel(len(tasks), func(n int) {
		if ctx.Err() != nil {
			return
		}
		bad, first := tasks[n].run()
		mu.Lock()
		defer mu.Unlock()
		if tasks[n].src.Generator.Name == "raw" {
			c.Raw += uint64(tasks[n].n)
		} else {
			c.Directed += uint64(tasks[n].n)
		}
		c.Mismatches += bad
		if c.First == "" {
			c.First = first
		}
	})
	return c, ctx.Err()
}

// run compares a task's dot products.
func (t *modelTask) run() (bad uint64, first string) {
	g := t.src.Generator
	per := g.M * g.N
	b := mma.NewBatch(t.i.Formats, mma.Shape{M: g.M, N: g.N, K: t.i.K, Tiles: t.n / per})
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
