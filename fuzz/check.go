package fuzz

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Checker is the property for engines that know nothing but bytes, such as go test
// -fuzz, go-fuzz and libFuzzer: both sides give the same for the dot product that the bytes
// stand for (gen.Decode). See package fuzz/harness.
type Checker struct {
	// Counters, if there are any, are incremented for the features of what Check computes:
	// how far terms are shifted, what is cut off, carries, cancellation, rounding.
	// libFuzzer takes them as coverage. Then Check is for one goroutine at a time.
	Counters []byte

	insts  []mma.Instruction
	pair   *devices.Pair // nil: the fast models and the oracle are compared
	policy oracle.Policy
	mu     sync.Mutex
	models map[*mma.Instruction]*sim.Model
	pool   sync.Pool // of *checkWork
}

// checkWork is the memory of one Check.
type checkWork struct {
	trace    sim.Trace
	features []uint32
}

// NewChecker returns a checker of the fast models of instructions against the oracle.
func NewChecker(insts []mma.Instruction) *Checker {
	return &Checker{insts: insts, models: map[*mma.Instruction]*sim.Model{}}
}

// NewPairChecker returns a checker of one unit against another, by the default policy.
func NewPairChecker(pair devices.Pair) *Checker {
	i := mma.Instruction{Name: pair.Name(), Formats: pair.Formats(), K: pair.K}
	for _, u := range []devices.Unit{pair.A, pair.B} {
		if p := finding.Believed(u); p != nil && p.Validate(i.Formats, i.K) == nil {
			i.Params = *p
		}
	}
	c := NewChecker([]mma.Instruction{i})
	c.pair, c.policy = &pair, oracle.DefaultPolicy(pair.A.Instruction().Unknown, pair.B.Instruction().Unknown)
	return c
}

// Check decodes data and compares. The error of a difference says on what and
// with which results. features is the number of features of the computation, as a
// measure of interest.
func (c *Checker) Check(data []byte) (features int, err error) {
	i, d := c.Decode(data)
	w, _ := c.pool.Get().(*checkWork)
	if w == nil {
		w = &checkWork{}
	}
	defer c.pool.Put(w)
	w.trace.Reset()
	if c.pair == nil {
		err = c.checkModel(i, d, &w.trace)
	} else {
		if m := c.model(i); m != nil {
			m.Dot(d, &w.trace)
		}
		err = c.checkPair(i, d)
	}
	w.features = engine.FeaturesOf(w.features[:0], &w.trace, 0)
	return c.count(w.features), err
}

// Seeds returns inputs to begin with: one of every generator for every instruction, and
// one that each generator makes of the engine's bytes.
func (c *Checker) Seeds() [][]byte {
	var seeds [][]byte
	for n := range c.insts {
		i := &c.insts[n]
		sp := gen.Spec{Formats: i.Formats, K: i.K}
		for _, g := range gen.All() {
			seeds = append(seeds, gen.Encode(c.insts, n, g.Aimed(sp, &i.Params).Dot(sp, 1, 0)))
		}
	}
	for n := range gen.All() {
		seeds = append(seeds, []byte{byte(n + 1), 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})
	}
	return seeds
}

// Decode returns the dot product that an input stands for; its instruction is one of
// the Checker's.
func (c *Checker) Decode(data []byte) (*mma.Instruction, *mma.Dot) { return gen.Decode(data, c.insts) }

// Encode returns an input that stands for a dot product of the first instruction: the
// pair's.
func (c *Checker) Encode(d *mma.Dot) []byte { return gen.Encode(c.insts, 0, d) }

// Mutate returns an input near another one: see gen.Mutate.
func (c *Checker) Mutate(data []byte, seed uint64) []byte { return gen.Mutate(data, seed, c.insts) }

func (c *Checker) checkModel(i *mma.Instruction, d *mma.Dot, tr *sim.Trace) error {
	m := c.model(i)
	general := m.Dot(d, tr)
	want := oracle.Eval(&i.Params, i.Formats, i.K, d)
	out := make([]byte, i.D.Width())
	m.Run(mma.BatchOf(i.Formats, i.K, []*mma.Dot{d}), out)
	if fast := mma.Load(out, i.D.Width(), 0); fast != want || general != want {
		return fmt.Errorf("%s: %s\n  kernel %x, general interpreter %x, oracle %x\n  re-run: %s",
			i.FullName(), mma.FormatDot(i.Formats, d), fast, general, want, evalCommand("sim:"+i.Arch, i, d))
	}
	return nil
}

func (c *Checker) checkPair(i *mma.Instruction, d *mma.Dot) error {
	var codes [2]uint64
	for side, u := range []devices.Unit{c.pair.A, c.pair.B} {
		var err error
		if codes[side], err = devices.Result(context.Background(), u, d); err != nil {
			return err
		}
	}
	if oracle.Compare(i.D, c.policy, codes[0], codes[1]) == oracle.Same {
		return nil
	}
	text := fmt.Sprintf("%s gives %s, %s gives %s\n  on %s", c.pair.TargetA, mma.FormatCode(i.D, codes[0]),
		c.pair.TargetB, mma.FormatCode(i.D, codes[1]), mma.FormatDot(i.Formats, d))
	head := "\n  re-run: "
	for _, side := range []finding.TargetUnit{{Target: c.pair.TargetA, Unit: c.pair.A}, {Target: c.pair.TargetB, Unit: c.pair.B}} {
		if strings.Contains(side.Target, ":") { // else it is a Go function, which mmafuzz cannot open
			text += head + evalCommand(side.Target, side.Unit.Instruction(), d)
			head = "\n          "
		}
	}
	return errors.New(text)
}

func evalCommand(target string, i *mma.Instruction, d *mma.Dot) string {
	return fmt.Sprintf("echo %q | mmafuzz eval --target %s --inst %s", mma.FormatDot(i.Formats, d), target, i.Name)
}

// count counts features, and returns how many they are.
func (c *Checker) count(features []uint32) int {
	if n := uint32(len(c.Counters)); n > 0 {
		for _, f := range features {
			if p := &c.Counters[f%n]; *p < 255 {
				*p++
			}
		}
	}
	return len(features)
}

// model returns the model of an instruction, nil if its arithmetic is not known.
func (c *Checker) model(i *mma.Instruction) *sim.Model {
	if i.Params == (mma.Params{}) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.models[i]
	if m == nil {
		var err error
		if m, err = sim.New(i.Formats, i.K, i.Params); err != nil {
			panic("fuzz: " + err.Error()) // only instructions with a model are checked
		}
		c.models[i] = m
	}
	return m
}
