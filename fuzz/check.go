package fuzz

import (
	"fmt"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Checker runs what bytes decode to through the fast models and the oracle. It
// is the property that go test -fuzz and go-fuzz check: the two interpreters agree.
type Checker struct {
	insts  []mma.Instruction
	mu     sync.Mutex
	models map[*mma.Instruction]*sim.Model
}

// NewChecker returns a checker of instructions.
func NewChecker(insts []mma.Instruction) *Checker {
	return &Checker{insts: insts, models: map[*mma.Instruction]*sim.Model{}}
}

// Check decodes data and compares. The error of a difference says on what and
// with which results. fresh says how many features the computation has, as a
// measure of interest.
func (c *Checker) Check(data []byte) (fresh int, err error) {
	i, d := gen.Decode(data, c.insts)
	m := c.model(i)
	var tr sim.Trace
	general := m.Dot(d, &tr)
	want := oracle.Eval(&i.Params, i.Formats, i.K, d)
	b := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1})
	b.Set(0, d)
	out := make([]byte, i.D.Width())
	m.Run(b, out)
	if fast := mma.Load(out, i.D.Width(), 0); fast != want || general != want {
		return 0, fmt.Errorf("%s: %s\n  kernel %x, general interpreter %x, oracle %x\n  re-run: echo %q | mmafuzz eval --target sim:%s --inst %s",
			i.FullName(), mma.FormatDot(i.Formats, d), fast, general, want, mma.FormatDot(i.Formats, d), i.Arch, i.Name)
	}
	return len(features(nil, &tr, 0)), nil
}

func (c *Checker) model(i *mma.Instruction) *sim.Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.models[i]
	if m == nil {
		var err error
		if m, err = sim.ForInstruction(i); err != nil {
			panic("fuzz: " + err.Error()) // only instructions with a model are checked
		}
		c.models[i] = m
	}
	return m
}
