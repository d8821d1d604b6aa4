package gpu

import (
	"fmt"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// layout multiplies matrices of small integers, whose products and sums are exact in any
// arithmetic. If a result is wrong, it finds the first element that is not in its place, by
// testing each element of each operand in a tile of its own (oneHot).
func (t *tester) layout() (string, error) {
	k := t.unit.kernel
	in := t.batch(16)
	t.integers(in)
	i, got, want, err := t.inexact(in)
	if i < 0 || err != nil {
		return "", err
	}
	wrong := fmt.Sprintf("a product of small integers has %s as %g, not %g", t.place(i), got, want)
	for _, r := range []Role{RoleC, RoleA, RoleB, RoleSA, RoleSB} {
		if k.format(r) == fp.None {
			continue
		}
		in := t.batch(k.elements(r))
		for e := range in.Tiles {
			t.oneHot(in, r, e)
		}
		if i, got, want, err = t.inexact(in); err != nil {
			return "", err
		}
		if i < 0 {
			continue
		}
		blocks := k.Instruction.Blocks(in.K)
		row := map[Role]int{RoleA: in.K, RoleB: in.K, RoleC: k.N, RoleSA: blocks, RoleSB: blocks}[r] // elements in a row
		name := map[Role]string{RoleA: "A", RoleB: "B", RoleC: "C", RoleSA: "the scales of A", RoleSB: "the scales of B"}[r]
		e := i / (k.M * k.N)
		return fmt.Sprintf("element [%d][%d] of %s, alone, gives D[%d][%d] = %g, not %g: it, or what it meets, is not where the kernel's table says",
			e/row, e%row, name, i/k.N%k.M, i%k.N, got, want), nil
	}
	return wrong, nil
}

// integers fills a batch with integers so small that no sum of products exceeds D's
// precision. Scales are 1 and 2.
func (t *tester) integers(b *mma.Batch) {
	limit := 1 << min(b.Formats.D.Get().FracBits+1, 11) // integers up to here are exact
	scaled := 1
	if b.Scale != fp.None {
		scaled = 4
	}
	most := 3
	for most > 1 && b.K*most*most*scaled > limit/2 {
		most--
	}
	t.fill(b, func(r Role, _ int) uint64 {
		n := most
		switch r {
		case RoleC:
			n = limit / 4
		case RoleSA, RoleSB:
			return b.Scale.Get().FromFloat64(float64(1 + t.rng.IntN(2)))
		}
		return t.unit.kernel.format(r).Get().FromFloat64(float64(t.rng.IntN(2*n+1) - n))
	})
}

// inexact runs a batch of small integers and returns the first output that is not the
// exact result, -1 if there is none. The sign of a zero does not matter.
func (t *tester) inexact(in *mma.Batch) (i int, got, want float64, err error) {
	out, err := t.run(t.unit, in)
	if err != nil {
		return -1, 0, 0, err
	}
	f := in.Formats
	d := mma.NewDot(f, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		want := integerDot(t.unit.Instruction(), d)
		got := f.D.Get().Float64(mma.Load(out, f.D.Width(), i))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			return i, got, want, nil
		}
	}
	return -1, 0, 0, nil
}

// integerDot returns a dot product of integers, exactly if its sums are below 2^53.
func integerDot(i *mma.Instruction, d *mma.Dot) float64 {
	f := i.Formats
	sum := 0.0
	if f.C != fp.None {
		sum = f.C.Get().Float64(d.C)
	}
	for k := range d.A {
		a, b := f.A.Get().Float64(d.A[k]), f.B.Get().Float64(d.B[k])
		p := a * b
		if i.Params.Prod.Xor {
			p = math.Abs(a - b)
		}
		if f.Scale != fp.None {
			block := k / int(f.Block)
			p *= f.Scale.Get().Float64(d.SA[block]) * f.Scale.Get().Float64(d.SB[block])
		}
		sum += p
	}
	return sum
}

// oneHot makes tile e: element e of operand r is 1 (a scale: 2). The elements of A and B
// that are multiplied by it are 1, so that it shows in D; for a scale, those at the first
// k of its block. Other scales are 1, all else is 0.
func (t *tester) oneHot(b *mma.Batch, r Role, e int) {
	k := t.unit.kernel
	// set stores v in n elements of an operand of the tile: the one at at, and others each
	// step further.
	set := func(r Role, v float64, at, n, step int) {
		id, buf := k.format(r), operand(b, r)
		for i := range n {
			mma.Store(buf, id.Width(), e*k.elements(r)+at+i*step, id.Get().FromFloat64(v))
		}
	}
	blocks := k.Instruction.Blocks(b.K)
	set(RoleSA, 1, 0, k.M*blocks, 1)
	set(RoleSB, 1, 0, k.N*blocks, 1)
	switch r {
	case RoleC:
		set(RoleC, 1, e, 1, 0)
	case RoleA:
		set(RoleA, 1, e, 1, 0)
		set(RoleB, 1, e%b.K, k.N, b.K)
	case RoleB:
		set(RoleB, 1, e, 1, 0)
		set(RoleA, 1, e%b.K, k.M, b.K)
	case RoleSA, RoleSB:
		at := e % blocks * int(b.Block) // the block's first product is the only one
		set(RoleA, 1, at, k.M, b.K)
		set(RoleB, 1, at, k.N, b.K)
		set(r, 2, e, 1, 0)
	}
}
