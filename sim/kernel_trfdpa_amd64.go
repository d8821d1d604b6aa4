//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// trfdpa is the kernel of TR-FDPA and GTR-FDPA (arXiv:2511.10909, Alg. 10 and 11)
// in vector instructions on float64: products are cut toward zero and summed, all
// together or the even and the odd ones apart, and then C is added, rounding down.
type trfdpa struct {
	m *Model
	l int
	operands64
	two    bool // sums of even and of odd products
	sums   simd.Sums
	join   simd.Join
	single *simd.Joined // its constants; nil: that routine does not support the program
}

// trfdpaState is one worker's scratch space.
type trfdpaState struct {
	decoded64
	zeros64 []float64
	sum     [2][]float64
	joined  []float64
	eHalf   [2][]uint16
	larger  simd.Larger16
	sums    simd.Sums
	fused   simd.Fused
	join    simd.Join
	single  simd.Joined
}

// newTRFDPA returns the kernel, or nil if it does not support the program.
func newTRFDPA(m *Model, level simd.Level) kernel {
	p, f := &m.params, m.formats
	t := &trfdpa{m: m, l: p.Step(m.k), two: p.Stage1.Sum != mma.Off}
	if level < simd.AVX2 || !t.isProgram(p) || f.D != fp.FP32 || f.C != fp.FP32 && f.C != fp.None || f.Scale != fp.None {
		return nil
	}
	if t.l%4 != 0 || m.k%t.l != 0 || !t.setFormats(f, level) || t.two && !t.setHalves() || !t.fits(p) || !t.setOver(p) {
		return nil
	}
	t.set(p)
	return t
}

// isProgram reports whether a program has the shape of Alg. 10 or 11, whatever its
// numbers.
func (t *trfdpa) isProgram(p *mma.Params) bool {
	j := &p.Join
	q := mma.Params{
		L: p.L, Prod: mma.Product{Round: mma.Round{Emax: p.Prod.Round.Emax}},
		Stage0: mma.Stage{Sum: mma.Fused, Align: mma.Align{F: p.Stage0.Align.F, Mode: fp.RZ}},
		Join: mma.Join{
			Align: mma.Align{F: j.Align.F, Mode: fp.RD, Floor: j.Align.Floor}, CF: j.CF, CMode: fp.RD, CDrop: j.CDrop,
			Post: mma.Round{Frac: j.Post.Frac, Mode: fp.RD, Emin: -126},
		},
		Acc:     mma.To(fp.FP32, fp.RNE),
		Special: mma.Special{NaN: p.Special.NaN, TinySign: true},
	}
	if t.two {
		q.Stage0.Split, q.Stage0.Group = mma.Interleaved, 2
		q.Stage1 = mma.Stage{Sum: mma.Fused, Align: mma.Align{F: p.Stage1.Align.F, Mode: fp.RD}}
	}
	return q == *p && !p.Special.OperandNaN() && p.Stage0.Align.F != 0 && j.Align.F != 0 && j.CF != 0 && j.Post.Frac != 0 &&
		(!t.two || p.Stage1.Align.F != 0)
}

// fits reports whether all sums stay below 2^50 units of what they are cut at, and
// are exact.
func (t *trfdpa) fits(p *mma.Params) bool {
	most := max(p.Stage0.Align.F, p.Stage1.Align.F, p.Join.Align.F, p.Join.CF)
	return math.Ldexp(4*float64(t.l)+2, int(most)) <= 1<<50 && p.Join.Post.Frac <= 48
}

// setHalves puts the even elements of a step first. It reports whether it can: codes must
// have one byte, and steps 8 or 16 products.
func (t *trfdpa) setHalves() bool {
	if t.a.width != 1 || t.b.width != 1 || t.l != 8 && t.l != 16 || t.m.k%16 != 0 {
		return false
	}
	t.sequence = &sequence{}
	for i := range t.sequence.pattern {
		step, in := i%16/t.l*t.l, i%t.l
		t.sequence.pattern[i] = uint8(step + in%(t.l/2)*2 + in/(t.l/2))
	}
	return true
}

// setOver marks sums in which a product may be an infinity because it is too large, and
// reports whether the kernel supports the program's rule for that.
func (t *trfdpa) setOver(p *mma.Params) bool {
	f := t.m.formats
	largest := f.A.Get().Emax() + f.B.Get().Emax() + 1
	switch {
	case p.Prod.Round.Emax == 0 || largest <= int32(p.Prod.Round.Emax):
		return true
	case p.Prod.Round.Emax != 127 || f.A.Get().ExpBits != 8 || f.B.Get().ExpBits != 8:
		return false
	}
	t.values = true
	for i := range t.largest.Over {
		t.largest.Over[i] = 1023 + 127 - 1
	}
	return true
}

func (t *trfdpa) set(p *mma.Params) {
	j := &p.Join
	emin := math.Ldexp(1, -126)
	nan := newMachine(t.m).nanCode(term{kind: NaN})
	t.sums = simd.Sums{
		ExpMask: 0x7ff << 52, Abs: math.MaxInt64, SignBit: math.MinInt64, Shift: (52 - int64(p.Stage0.Align.F)) << 52,
		Least: emin, QNaN: int64(nan), Inf32: 0x7f800000, Two: 2, Bit13: 1 << 13,
	}
	cut := func(f mma.Frac) int64 { return (52-int64(f))<<52 + 1<<51 }
	t.join = simd.Join{
		ExpMask: 0x7ff << 52, Emin: emin, Drop: 1500 << 52,
		Sums: cut(p.Stage1.Align.F), Terms: cut(j.Align.F), C: cut(j.CF), Post: cut(j.Post.Frac),
	}
	if j.CDrop != 0 {
		t.join.Drop = int64(j.CDrop) << 52
	}
	if j.Align.Floor != 0 {
		t.join.Floor = math.Ldexp(1, int(j.Align.Floor))
	}
	if t.level >= simd.AVX512 && !t.two && j.CDrop == 0 && j.Align.Floor != 0 && t.join.Floor >= emin && j.Align.F >= j.CF {
		units := func(f mma.Frac) float64 { return math.Ldexp(1.5, 52-int(f)) }
		t.single = &simd.Joined{
			Floor: t.join.Floor, C: units(j.CF), Terms: units(j.Align.F), Less: units(j.Align.F) - units(j.CF), Post: units(j.Post.Frac),
			Replace: 0x00110011, Quiet: 0x11111100,
		}
	}
}

func (t *trfdpa) name() string {
	return "tr-fdpa " + (Portable + Path(t.level-simd.Portable)).String()
}

func (t *trfdpa) newState() any {
	st := &trfdpaState{}
	if t.single != nil {
		st.single = *t.single
		st.single.Sums = t.sums
	}
	return st
}

func (t *trfdpa) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*trfdpaState)
	perTile := in.K*(11*in.M+26*in.N) + 60*in.M*in.N
	if t.single != nil {
		perTile = in.K*(11*in.M+26*in.N) + 14*in.M*in.N
	}
	eachGrid(&st.gridState, in, out, perTile, func(g *grid) { t.grid(st, g, out) }, t.m.runGeneral)
}

// grid computes the outputs of one grid of tiles.
func (t *trfdpa) grid(st *trfdpaState, g *grid, out []byte) {
	t.decode(&st.decoded64)
	n := g.outputs()
	st.zeros64, st.joined, st.parts = resize(st.zeros64, n), resize(st.joined, n), resize(st.parts, 3*n)
	st.sum[0], st.sum[1] = resize(st.sum[0], n), resize(st.sum[1], n)
	c, d := st.accumulators(out)
	for at := 0; at < g.in.K; at += t.l {
		t.step(st, at, c, d)
		c = d
	}
	st.scatter(out)
}

// step computes one step: its products begin at number at of the dot product.
func (t *trfdpa) step(st *trfdpaState, at int, c, d *byte) {
	if t.single != nil {
		t.singleStep(st, at, c, d)
		return
	}
	n := int64(st.grid.outputs())
	if t.two {
		half := t.l / 2
		for i := range 2 {
			t.largestOf(&st.decoded64, &st.eHalf[i], at+i*half, half)
			t.sumProducts(st, st.eHalf[i], st.sum[i], at+i*half, half)
		}
		st.e = resize(st.e, int(n))
		st.larger = simd.Larger16{A: &st.eHalf[0][0], B: &st.eHalf[1][0], D: &st.e[0], N: n}
		st.larger.Run()
	} else {
		t.largestOf(&st.decoded64, &st.e, at, t.l)
		t.sumProducts(st, st.e, st.sum[0], at, t.l)
	}
	x := &st.join
	*x = t.join
	x.E, x.Sum, x.Odd, x.Acc, x.D, x.N = &st.e[0], &st.sum[0][0], &st.sum[1][0], floats32(c), &st.joined[0], n
	x.Run(t.level, t.two)
	s := &st.sums
	*s = t.sums
	s.E, s.Parts, s.Acc, s.Sum, s.N = &st.e[0], &st.joined[0], c, d, n
	if st.special {
		s.Kinds = t.sumKinds(&st.decoded64, at, t.l)
	}
	s.Close(t.level, st.special)
}

// singleStep is step in one routine.
func (t *trfdpa) singleStep(st *trfdpaState, at int, c, d *byte) {
	t.largestOf(&st.decoded64, &st.e, at, t.l)
	x := &st.single
	x.Sums.E, x.Sums.Acc, x.Sums.Sum = &st.e[0], c, d
	if st.special {
		x.Sums.Kinds = t.sumKinds(&st.decoded64, at, t.l)
	}
	t.products(&st.decoded64, &x.Dot, at, t.l)
	x.Run(st.special)
}

// sumProducts sums the l products that begin at position at.
func (t *trfdpa) sumProducts(st *trfdpaState, e []uint16, sum []float64, at, l int) {
	s := &st.fused.Sums
	*s = t.sums
	s.E, s.Sum, s.N = &e[0], bytesOf(sum), int64(len(sum))
	if t.level >= simd.AVX512 {
		t.products(&st.decoded64, &st.fused.Dot, at, l)
		st.fused.Products()
		return
	}
	s.Parts, s.Acc = &st.parts[0], bytesOf(st.zeros64)
	s.Prepare(t.level, false)
	t.addProducts(&st.decoded64, at, l)
	s.Finish(t.level, false, false)
}
