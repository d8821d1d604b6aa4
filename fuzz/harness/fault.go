package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The unit that faults are planted in.
const (
	faultyArch = "hopper"
	faultyInst = "mma.m16n8k16.f32.f16.f16.f32"
)

// Fault is a mistake in the arithmetic of a unit. It is a change of the unit's parameters,
// or, if these cannot express it, a function of the right unit's computation.
type Fault struct {
	Name, Doc string
	change    func(p *mma.Params)
	wrong     func(w *work) uint64 // returns the code of the result: w.code if the fault does not show
}

// Faults are the planted faults, each a target fault:NAME.
var Faults = []Fault{
	{Name: "zero-exponent", Doc: "zero has the exponent -22 instead of -133, which cuts products of subnormals", change: func(p *mma.Params) { p.Join.Align.Floor = -22 }},
	{Name: "width", Doc: "26 bits below the largest exponent are kept instead of 25", change: func(p *mma.Params) { p.Join.Align.F++ }},
	{Name: "cancel-23", Doc: "a sum that cancels by exactly 23 places has a wrong last bit", wrong: cancels(23)},
	{Name: "lane-24", Doc: "product 5 is lost when it lies exactly 24 places below another term", wrong: lane24},
	{Name: "five-halves", Doc: "a sum of which five terms lose exactly half a unit has a wrong last bit", wrong: fiveHalves},
	{Name: "smallest-subnormal", Doc: "the smallest subnormal result becomes 0", wrong: func(w *work) uint64 {
		if w.code<<33>>33 == 1 {
			return 0
		}
		return w.code
	}},
	{Name: "top-carry", Doc: "the adder lacks the top bit that the products need", change: func(p *mma.Params) { p.Join.Align.Bits = adderBits - 1 }},
	{Name: "higher-carry", Doc: "the adder has the bits that the products need, and none for c", change: func(p *mma.Params) { p.Join.Align.Bits = adderBits }},
	{Name: "table-20", Doc: "an entry of a table of 20 address bits, 10 of a3 and 10 of b3, is wrong", wrong: func(w *work) uint64 {
		return w.off(w.a[3]&0x3ff == 0x2a5 && w.b[3]&0x3ff == 0x1c7)
	}},
	{Name: "needle-32", Doc: "the result is wrong for one value of a7 and b7, 32 bits", wrong: func(w *work) uint64 {
		return w.off(w.a[7] == 0x4a5c && w.b[7] == 0xb1e7)
	}},

	{Name: "flush-a", Doc: "subnormal a count as 0", wrong: func(w *work) uint64 {
		return w.without(func(k int) bool { return w.a[k]&0x7c00 == 0 })
	}},
	{Name: "zero-sign", Doc: "terms that cancel to zero give -0", wrong: func(w *work) uint64 {
		s := w.sum()
		if w.code == 0 && s.HasE && s.Sum.Kind == sim.Finite && s.Sum.Cut.IsZero() && slices.ContainsFunc(s.Terms, kept) {
			return 1 << 31
		}
		return w.code
	}},
	{Name: "infinite-c", Doc: "an infinite c wins against products whose sum is the other infinity", wrong: func(w *work) uint64 {
		const inf = 0x7f800000
		products := *w.dot
		products.C = 0
		if w.dot.C<<33>>33 == inf && w.u.right.Dot(&products, nil) == w.dot.C^1<<31 {
			return w.dot.C
		}
		return w.code
	}},
	{Name: "chain", Doc: "two steps of 8 products instead of one of 16", change: func(p *mma.Params) { p.L = 8 }},
	{Name: "infinity-times-zero", Doc: "product 15 is 0 instead of NaN if it is infinity times 0", wrong: func(w *work) uint64 {
		return w.without(func(k int) bool {
			a, b := w.a[k]&0x7fff, w.b[k]&0x7fff
			return k == 15 && (a == 0x7c00 && b == 0 || a == 0 && b == 0x7c00)
		})
	}},
	{Name: "all-ones", Doc: "a significand of all ones is rounded up", wrong: func(w *work) uint64 {
		if w.code&0x7fffff == 0x7fffff && w.code>>23&0xff != 0xff {
			return w.code + 1
		}
		return w.code
	}},
	{Name: "equal-exponents", Doc: "17 terms of one exponent give a wrong last bit", wrong: func(w *work) uint64 {
		s := w.sum()
		return w.off(len(s.Terms) == 17 && !slices.ContainsFunc(s.Terms, func(t sim.TermTrace) bool { return !kept(t) || t.E != s.E }))
	}},
	{Name: "opposite-lanes", Doc: "the result is wrong if the factors of product 8 are those of product 0 and the sign is not", wrong: func(w *work) uint64 {
		const size = 0x7fff
		opposite := (w.a[0]^w.b[0]^w.a[8]^w.b[8])&^size != 0
		return w.off(opposite && w.a[0]&size != 0 && w.b[0]&size != 0 && w.a[0]&size == w.a[8]&size && w.b[0]&size == w.b[8]&size)
	}},
	{Name: "repeated", Doc: "the fourth of four equal products, 0 to 3, is lost", wrong: func(w *work) uint64 {
		same := func(x []uint64) bool { return x[0] == x[1] && x[0] == x[2] && x[0] == x[3] }
		return w.without(func(k int) bool { return k == 3 && same(w.a) && same(w.b) })
	}},
	{Name: "last-bit", Doc: "a sum of just the lowest bit that is kept gives 0", wrong: func(w *work) uint64 {
		if s := w.sum(); s.HasE && !s.Sum.Cut.IsZero() && s.Sum.Cut.Low() == s.Sum.Cut.Exponent() && s.E-s.Sum.Cut.Low() == 25 {
			return 0
		}
		return w.code
	}},
}

// adderBits is the number of bits that the sum of 16 products below 4 needs, in units of
// 2^-25.
const adderBits = 25 + 2 + 4

// kept reports whether a term is a number other than 0.
func kept(t sim.TermTrace) bool { return t.Kind == sim.Finite && !t.Value.IsZero() }

func cancels(places int32) func(w *work) uint64 {
	return func(w *work) uint64 {
		s := w.sum()
		return w.off(s.HasE && s.Sum.Kind == sim.Finite && !s.Sum.Cut.IsZero() && s.E-s.Sum.Cut.Exponent() == places)
	}
}

func lane24(w *work) uint64 {
	s := w.sum()
	for _, t := range s.Terms {
		if t.From == sim.FromProduct && t.K == 5 && kept(t) && s.E-t.E == 24 {
			return w.without(func(k int) bool { return k == 5 })
		}
	}
	return w.code
}

func fiveHalves(w *work) uint64 {
	halves := 0
	for _, t := range w.sum().Terms {
		if kept(t) && t.IsCut && t.Value.Low() == t.Q-1 {
			halves++
		}
	}
	return w.off(halves == 5)
}

// work is one dot product as a fault sees it.
type work struct {
	u    *faultyUnit
	dot  *mma.Dot
	a, b []uint64 // of dot
	code uint64   // the right result

	traced bool
	tr     sim.Trace
}

// off returns the result, with its last bit flipped if it is to be wrong.
func (w *work) off(wrong bool) uint64 {
	if wrong {
		return w.code ^ 1
	}
	return w.code
}

// without returns the result without some products.
func (w *work) without(lost func(k int) bool) uint64 {
	less := *w.dot
	for k := range w.a {
		if !lost(k) {
			continue
		}
		if &less.A[0] == &w.a[0] {
			less.A, less.B = slices.Clone(w.a), slices.Clone(w.b)
		}
		less.A[k], less.B[k] = 0, 0
	}
	if &less.A[0] == &w.a[0] {
		return w.code
	}
	return w.u.right.Dot(&less, nil)
}

func (w *work) trace() *sim.Trace {
	if !w.traced {
		w.tr.Reset()
		w.u.right.Dot(w.dot, &w.tr)
		w.traced = true
	}
	return &w.tr
}

func (w *work) sum() *sim.SumTrace { return w.trace().Last() }

func init() {
	devices.Register("fault", openFault, "planted fault: fault:width")
}

func openFault(name string) (devices.Target, error) {
	at := slices.IndexFunc(Faults, func(f Fault) bool { return f.Name == name })
	if at < 0 {
		var names []string
		for _, f := range Faults {
			names = append(names, f.Name)
		}
		return nil, fmt.Errorf("there is no fault %q (known: %s)", name, strings.Join(names, ", "))
	}
	i, err := mma.Lookup(faultyArch, faultyInst)
	if err != nil {
		return nil, err
	}
	u := &faultyUnit{fault: &Faults[at], inst: *i}
	if u.right, err = sim.ForInstruction(i); err != nil {
		return nil, err
	}
	if u.fault.change != nil {
		p := i.Params
		u.fault.change(&p)
		u.changed, err = sim.New(i.Formats, i.K, p)
	}
	return &faultyTargetOf{u}, err
}

// faultyTargetOf has one unit.
type faultyTargetOf struct{ u *faultyUnit }

func (t *faultyTargetOf) Name() string                    { return "fault:" + t.u.fault.Name }
func (t *faultyTargetOf) Instructions() []mma.Instruction { return []mma.Instruction{t.u.inst} }
func (t *faultyTargetOf) Close() error                    { return nil }
func (t *faultyTargetOf) Environment() map[string]string  { return nil }

func (t *faultyTargetOf) Open(*mma.Instruction) (devices.Unit, error) { return t.u, nil }

// faultyUnit is a black box, like a GPU: its Params are what the catalogue believes of it.
type faultyUnit struct {
	fault   *Fault
	inst    mma.Instruction
	right   *sim.Model
	changed *sim.Model // nil: the fault is a function
}

func (u *faultyUnit) Instruction() *mma.Instruction { return &u.inst }
func (u *faultyUnit) Model() *mma.Params            { return nil }

// BatchSize returns a size for a unit that computes as fast as a simulator.
func (u *faultyUnit) BatchSize() int { return 1 << 10 }

func (u *faultyUnit) Run(_ context.Context, in *mma.Batch, out []byte) error {
	if u.changed != nil {
		u.changed.Run(in, out)
		return nil
	}
	if in.K != u.inst.K {
		return fmt.Errorf("fault:%s takes dot products of %d elements, not %d", u.fault.Name, u.inst.K, in.K)
	}
	u.right.Run(in, out)
	w := work{u: u, dot: mma.NewDot(in.Formats, in.K)}
	w.a, w.b = w.dot.A, w.dot.B
	width := in.D.Width()
	for i := range in.Dots() {
		in.Get(i, w.dot)
		w.code, w.traced = mma.Load(out, width, i), false
		if code := u.fault.wrong(&w); code != w.code {
			mma.Store(out, width, i, code)
		}
	}
	return nil
}
