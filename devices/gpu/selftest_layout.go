package gpu

import (
	"fmt"
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// layout multiplies matrices of small integers, whose products and sums are exact in any
// arithmetic.
func (t *tester) layout() (string, error) {
	in := t.batch(layoutTiles)
	t.integers(in)
	wrong, err := t.exact(in)
	if wrong == "" || err != nil {
		return wrong, err
	}
	where, err := t.locate()
	if where != "" {
		wrong = where
	}
	return wrong, err
}

// integers fills a batch with integers so small that no sum of products exceeds D's
// precision. Scales are 1 and 2.
func (t *tester) integers(b *mma.Batch) {
	f := b.Formats
	limit := 1 << min(f.D.Get().FracBits+1, 11) // integers up to here are exact
	scaled := 1
	if f.Scale != fp.None {
		scaled = 4
	}
	most := 3
	for most > 1 && b.K*most*most*scaled > limit/2 {
		most--
	}
	fill := func(id fp.ID, buf []byte, draw func() int) {
		for i := 0; i*id.Width() < len(buf); i++ {
			mma.Store(buf, id.Width(), i, id.Get().FromFloat64(float64(draw())))
		}
	}
	around := func(n int) func() int { return func() int { return t.rng.IntN(2*n+1) - n } }
	fill(f.A, b.A, around(most))
	fill(f.B, b.B, around(most))
	fill(f.C, b.C, around(limit/4))
	fill(f.Scale, b.SA, func() int { return 1 + t.rng.IntN(2) })
	fill(f.Scale, b.SB, func() int { return 1 + t.rng.IntN(2) })
}

// exact runs a batch of small integers and describes the first output that is not the
// exact result, "" if there is none. The sign of a zero does not matter.
func (t *tester) exact(in *mma.Batch) (string, error) {
	out, err := t.run(in)
	if err != nil {
		return "", err
	}
	f := in.Formats
	d := mma.NewDot(f, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		want := integerDot(f, d)
		if got := f.D.Get().Float64(mma.Load(out, f.D.Width(), i)); got != want {
			return fmt.Sprintf("a product of small integers has %s as %s (%g), not %g", t.place(i), t.code(out, i), got, want), nil
		}
	}
	return "", nil
}

// integerDot returns a dot product of integers, exactly if its sums are below 2^53.
func integerDot(f mma.Formats, d *mma.Dot) float64 {
	sum := 0.0
	if f.C != fp.None {
		sum = f.C.Get().Float64(d.C)
	}
	for k := range d.A {
		p := f.A.Get().Float64(d.A[k]) * f.B.Get().Float64(d.B[k])
		if f.Scale != fp.None {
			block := k / int(f.Block)
			p *= f.Scale.Get().Float64(d.SA[block]) * f.Scale.Get().Float64(d.SB[block])
		}
		sum += p
	}
	return sum
}

// locate finds the first element that is not in its place, by testing each element of each
// operand in a tile of its own (oneHot). It returns "" if all are right.
func (t *tester) locate() (string, error) {
	f := t.unit.Instruction().Formats
	for _, r := range []Role{RoleC, RoleA, RoleB, RoleSA, RoleSB} {
		if t.unit.kernel.format(r) == fp.None {
			continue
		}
		in := t.batch(t.unit.kernel.elements(r))
		for tile := range in.Tiles {
			t.oneHot(in, r, tile)
		}
		out, err := t.run(in)
		if err != nil {
			return "", err
		}
		d := mma.NewDot(f, in.K)
		for i := range in.Dots() {
			in.Get(i, d)
			want := integerDot(f, d)
			got := f.D.Get().Float64(mma.Load(out, f.D.Width(), i))
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				return t.misplaced(r, i, got, want), nil
			}
		}
	}
	return "", nil
}

// misplaced describes the fault that output i shows: its tile tests one element of
// operand r.
func (t *tester) misplaced(r Role, i int, got, want float64) string {
	k := t.unit.kernel
	e, row := i/(k.M*k.N), k.Instruction.K // the element, and how many of its operand are in a row
	switch r {
	case RoleC:
		row = k.N
	case RoleSA, RoleSB:
		row = k.Instruction.Blocks(k.Instruction.K)
	}
	names := map[Role]string{RoleA: "A", RoleB: "B", RoleC: "C", RoleSA: "the scales of A", RoleSB: "the scales of B"}
	return fmt.Sprintf("element [%d][%d] of %s, alone, gives D[%d][%d] = %g, not %g: it, or what it meets, is not where the kernel's table says",
		e/row, e%row, names[r], i/k.N%k.M, i%k.N, got, want)
}

// oneHot makes tile e: element e of operand r is 1 (a scale: 2). The elements of A and B
// that are multiplied by it are 1, so that it shows in D; for a scale, those at the first
// k of its block. Other scales are 1, all else is 0.
func (t *tester) oneHot(b *mma.Batch, r Role, e int) {
	f, k := b.Formats, t.unit.kernel
	one := func(id fp.ID, buf []byte, i int, v float64) { mma.Store(buf, id.Width(), i, id.Get().FromFloat64(v)) }
	m, n := e*k.M, e*k.N // first row and column of the tile
	scales := k.Instruction.Blocks(b.K)
	for i := range k.M * scales {
		one(f.Scale, b.SA, m*scales+i, 1)
	}
	for i := range k.N * scales {
		one(f.Scale, b.SB, n*scales+i, 1)
	}
	switch r {
	case RoleC:
		one(f.C, b.C, e*k.M*k.N+e, 1)
	case RoleA:
		one(f.A, b.A, m*b.K+e, 1)
		for j := range k.N {
			one(f.B, b.B, (n+j)*b.K+e%b.K, 1)
		}
	case RoleB:
		one(f.B, b.B, n*b.K+e, 1)
		for i := range k.M {
			one(f.A, b.A, (m+i)*b.K+e%b.K, 1)
		}
	case RoleSA, RoleSB:
		at := e % scales * int(f.Block) // the block's first product is the only one
		for i := range k.M {
			one(f.A, b.A, (m+i)*b.K+at, 1)
		}
		for j := range k.N {
			one(f.B, b.B, (n+j)*b.K+at, 1)
		}
		if r == RoleSA {
			one(f.Scale, b.SA, m*scales+e, 2)
		} else {
			one(f.Scale, b.SB, n*scales+e, 2)
		}
	}
}
