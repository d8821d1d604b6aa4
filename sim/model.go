// Package sim is the fast interpreter of the parameter program of package mma:
// bit-accurate simulators of matrix multiply-accumulate units.
//
// A Model runs whole tiles in flat buffers (Run), or one dot product with a
// Trace of everything it did (Dot). Run uses a kernel written for the program's
// shape where there is one (kernel_*.go) and the general interpreter
// (interpreter.go) everywhere else; both must give the same bits, and both must
// give those of package oracle, which shares no code with this one.
//
// # The general interpreter
//
// All its rounding, ties too, ends in fp.Mode.up (fp/mode.go). Kernels round on their own and are
// compared with it; the oracle's rounding is in oracle/round.go.
//
// Every number is an fp.Dyadic: a 128-bit significand and an exponent. Terms that are cut
// at an alignment exponent E are summed in 128-bit integers: a product is below 2^(E+4),
// block scales included; a sum has at most 9*255 products (mma.Passes, mma.MaxK) and an
// accumulator; and every cut term is a multiple of 2^(E-100) (mma.MaxF). So a sum needs
// at most 100+4+12+1 = 117 bits. Sums of fixed-point terms are limited by
// mma.Params.Validate. Exact sums that need more than 126 bits go through a fixed-point
// accumulator that spans the whole exponent range (wide_accumulator.go).
package sim

import (
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Model computes the dot products of one instruction. It is safe for use by
// several goroutines.
type Model struct {
	formats mma.Formats
	k       int
	params  mma.Params
	order   []int // order[i] is the index of the i-th product of the sequence
	merge   []int // how the lanes are added: mma.Merge
	passes  []mma.Pass
	kernel  kernel // nil: the general interpreter
	vector  bool   // the kernel is one in vector instructions

	machines sync.Pool // of *machine
	states   sync.Pool // of the kernel's scratch
}

// kernel is a fast Run for programs of one shape.
type kernel interface {
	name() string
	newState() any // scratch for one goroutine
	run(in *mma.Batch, out []byte, state any)
}

// New returns the model of an instruction with k products per output, or an
// error if the program is not valid for these formats.
func New(f mma.Formats, k int, p mma.Params) (*Model, error) {
	if err := p.Validate(f, k); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if f.D.Flags() != 0 {
		return nil, fmt.Errorf("models of package sim give results, not %s", f.D)
	}
	paths := Paths()
	return newModel(f, k, p, paths[len(paths)-1]), nil
}

// NewLong is New for dot products of any length, of a program whose sums have no limit: a
// chain, which adds one product after the other, or a single exact sum.
func NewLong(f mma.Formats, k int, p mma.Params) (*Model, error) {
	if k <= mma.MaxK {
		return New(f, k, p)
	}
	if err := p.Validate(f, mma.MaxK); err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	if p.Step(k) != 1 && (p.Step(k) != k || p.Join.Align != mma.Align{} || p.Stage0 != mma.Stage{} || p.Stage1 != mma.Stage{}) {
		return nil, fmt.Errorf("K = %d: only chains and exact sums can have more than %d products", k, mma.MaxK)
	}
	paths := Paths()
	return newModel(f, k, p, paths[len(paths)-1]), nil
}

// newModel returns the model of a valid program.
func newModel(f mma.Formats, k int, p mma.Params, path Path) *Model {
	m := &Model{formats: f, k: k, params: p, order: mma.Sequence(p.Order, k), merge: p.Merge.Distances(), passes: p.Passes.List()}
	m.machines.New = func() any { return newMachine(m) }
	if path == General {
		return m
	}
	if m.kernel = newKernel(m, path); m.kernel != nil {
		m.states.New = m.kernel.newState
		m.vector = strings.Contains(m.kernel.name(), "avx")
	}
	return m
}

// newKernel returns the fastest kernel that computes a model's program, nil if
// there is none.
func newKernel(m *Model, path Path) kernel {
	f := m.formats
	if f.D.Integer() {
		return newIntegers(m, path.level())
	}
	if c := newConversion(m); c != nil {
		return c
	}
	described := f.A.Described() || f.B.Described() || f.C.Described() || f.D.Described() || !f.D.Get().Signed || f.B.Get().PowersOfTwo()
	if m.params.Special.NaN > mma.NaNLarger || f.Down != 0 || described { // which no kernel knows
		return nil
	}
	level := path.level()
	t := newTFDPA(m)
	var n *narrow
	if t != nil {
		n = newNarrow(t)
	}
	if n != nil {
		if v := newVector(n, level); v != nil {
			return v
		}
	}
	for _, make := range vectorKernels {
		if k := make(m, level); k != nil {
			return k
		}
	}
	switch {
	case n != nil:
		if w, ok := n.single.(*word); ok {
			if w.vector = newWordVector(m, level); w.vector != nil {
				return w
			}
		}
		return n
	case t != nil:
		return t
	}
	if k := newNative(m, path); k != nil {
		return k
	}
	if k := newNarrowed(m, path); k != nil {
		return k
	}
	if a := newArranged(m, path); a != nil {
		return a
	}
	if e := newExact(m); e != nil {
		e.vector = newWordVector(m, level)
		return e
	}
	w := newWord(m)
	if w == nil {
		return nil
	}
	w.vector = newWordVector(m, level)
	return w
}

// ForInstruction returns the model of a catalogue row, or an error if the row
// has no known rule.
func ForInstruction(i *mma.Instruction) (*Model, error) {
	if i.Refuse != "" {
		return nil, fmt.Errorf("%s cannot be simulated: %s", i.FullName(), i.Refuse)
	}
	return New(i.Formats, i.K, i.Params)
}

// Formats returns the operand formats.
func (m *Model) Formats() mma.Formats { return m.formats }

// K returns the products per instruction.
func (m *Model) K() int { return m.k }

// Params returns the parameters of the arithmetic.
func (m *Model) Params() mma.Params { return m.params }

// Kernel names the kernel that Run uses, such as "float32 avx512"; "" is the
// general interpreter.
func (m *Model) Kernel() string {
	if m.kernel == nil {
		return ""
	}
	return m.kernel.name()
}

// Vector reports whether Run uses vector instructions.
func (m *Model) Vector() bool { return m.vector }

// Dot returns the code of D for one dot product and, if tr is not nil, records
// in it what was done. len(d.A) must be a multiple of K; a longer dot product
// runs the instruction repeatedly with C = the previous D, as a GEMM would.
func (m *Model) Dot(d *mma.Dot, tr *Trace) uint64 {
	x := m.machines.Get().(*machine)
	defer m.machines.Put(x)
	x.trace = tr
	x.load(d)
	return x.run()
}

// Change is what is wrong with a unit's multipliers, shifters, adders or roundings; nil: nothing.
// Sums are counted in the order in which they are made, as in Trace.Sums.
type Change struct {
	// Product is called for each product of numbers other than zero, before anything rounds it: with
	// its k, its value, in which the product of the significands is an integer, and its nominal
	// exponent. It returns those of the broken one.
	Product func(k int, v fp.Dyadic, e int32) (fp.Dyadic, int32)
	// Shift is called for each term of a sum other than zero, with the number of places by which it
	// is aligned, how far its leading bit is below the highest one of all terms, and whether it is
	// the accumulator. It returns by how many places it is aligned.
	Shift func(acc bool, places, lead int32) int32
	// Lost is called for each term of a sum other than zero, with whether it is the accumulator and how
	// far its leading bit is below the highest one. It reports whether the term is lost.
	Lost func(acc bool, lead int32) bool
	// Unseen reports whether a term of a sum, by the number of the sum and its own, does not count for
	// the exponent to which terms are aligned. It keeps the bits above it.
	Unseen func(sum, term int) bool
	// Term is called for each finite term of a sum other than zero, with the number of the sum, its
	// own, its value before it is cut, and the exponent to which it is aligned.
	Term func(sum, term int, v fp.Dyadic, e int32) fp.Dyadic
	// Terms is called for each sum of two finite terms other than zero, with the values of both, their
	// nominal exponents, and the exponent to which they are aligned. It returns those of the broken one.
	Terms func(sum int, x, y fp.Dyadic, ex, ey, e int32) (fp.Dyadic, fp.Dyadic)
	// Sum is called for each sum other than zero, with that exponent.
	Sum func(sum int, v fp.Dyadic, e int32) fp.Dyadic
	// Zero is called for each sum that is zero though its accumulator is not, with the sign that it has
	// and that of the accumulator, and whether its terms cancel; if not, rounding makes it zero. It
	// returns the sign of the broken one.
	Zero func(sum int, minus, accMinus, cancels bool) bool
	// Result is called for each sum that was rounded to a number of D's format, or an infinity, with its
	// code. It returns that of the broken one.
	Result func(sum int, code uint64) uint64
	// Round is called for each rounding of a sum.
	Round func(sum int, r *mma.Round) *mma.Round
}

// DotChanged is Dot of a unit that is broken.
func (m *Model) DotChanged(d *mma.Dot, change Change) uint64 { return m.TraceChanged(d, change, nil) }

// TraceChanged is DotChanged with a trace.
func (m *Model) TraceChanged(d *mma.Dot, change Change, tr *Trace) uint64 {
	x := m.machines.Get().(*machine)
	defer m.machines.Put(x)
	x.trace, x.change, x.sums = tr, &change, -1
	defer func() { x.trace, x.change = nil, nil }()
	x.load(d)
	return x.run()
}

// Run computes D of every tile of a batch into out, which has the size of the
// batch's D. The batch's K must be a multiple of the instruction's K.
func (m *Model) Run(in *mma.Batch, out []byte) {
	if m.kernel == nil {
		m.runGeneral(in, out)
		return
	}
	st := m.states.Get()
	m.kernel.run(in, out, st)
	m.states.Put(st)
}

// runGeneral is Run by the general interpreter alone.
func (m *Model) runGeneral(in *mma.Batch, out []byte) { m.RunFaulty(in, out, nil) }

// runAll computes D of every tile of a batch.
func (x *machine) runAll(in *mma.Batch, out []byte) {
	width := x.m.formats.D.Width()
	n := in.M * in.N
	for t := range in.Tiles {
		x.loadTile(in, t)
		for i := range n {
			x.loadOutput(in, t, i)
			mma.Store(out, width, t*n+i, x.run())
		}
	}
}

// format returns the row of a format, nil for None.
func format(id fp.ID) *fp.Format {
	if id == fp.None {
		return nil
	}
	return id.Get()
}
