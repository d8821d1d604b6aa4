//go:build !purego

package sim

import (
	"math"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// efdpa is the kernel of E-FDPA (arXiv:2511.10909, Alg. 6) of two products, or of
// four of FP16, in vector instructions on float64.
type efdpa struct {
	m     *Model
	level simd.Level
	l     int
	nan   uint64
}

// efdpaState is one worker's scratch space.
type efdpaState struct {
	gridState
	wide    []float32
	a, b    []float64
	widen   simd.Widen
	convert simd.Convert
	exact   simd.Exact
}

// newEFDPA returns the kernel, or nil if it does not support the program.
func newEFDPA(m *Model, level simd.Level) kernel {
	p, f := &m.params, m.formats
	q := mma.Params{L: p.L, Acc: mma.To(fp.FP32, fp.RNE), Special: mma.Special{NaN: p.Special.NaN, TinySign: true}}
	t := &efdpa{m: m, level: level, l: p.Step(m.k)}
	if level < simd.AVX2 || q != *p || p.Special.OperandNaN() || f.D != fp.FP32 || f.C != fp.FP32 && f.C != fp.None ||
		f.A != f.B || f.Scale != fp.None || m.k%t.l != 0 {
		return nil
	}
	if f.A != fp.FP16 && f.A != fp.BF16 || t.l != 2 && (t.l != 4 || f.A != fp.FP16) {
		return nil
	}
	t.nan = newMachine(m).nanCode(term{kind: NaN})
	return t
}

func (t *efdpa) name() string {
	return "e-fdpa " + (Portable + Path(t.level-simd.Portable)).String()
}

func (t *efdpa) newState() any { return &efdpaState{} }

func (t *efdpa) run(in *mma.Batch, out []byte, scratch any) {
	st := scratch.(*efdpaState)
	eachGrid(&st.gridState, in, out, 8*in.K*(in.M+in.N), func(g *grid) { t.grid(st, g, out) }, t.m.runGeneral)
}

// grid computes the outputs of one grid of tiles.
func (t *efdpa) grid(st *efdpaState, g *grid, out []byte) {
	m, k := g.in.M, g.in.K
	st.a = t.decode(st, st.a, st.filled(ofA, g.rowCodes(2), 16), (g.rows-m)*k)
	st.b = t.decode(st, st.b, st.filled(ofB, st.turnColumns(g.columnCodes(2), 2), 16), 0)
	c, d := st.accumulators(out)
	x := &st.exact
	*x = simd.Exact{
		A: &st.a[0], B: &st.b[0], C: floats32(c), D: floats32(d),
		Tiles: int64(g.tiles), Groups: int64(g.groups), Rows: int64(g.rows), K: int64(k),
		ARow: int64(8 * k), ATile: int64(8 * k * m), BGroup: int64(64 * k),
		ExpMask: 0x7ff << 52, One: 1, Split: math.Ldexp(1.5, 52-10), QNaN: int64(t.nan),
	}
	x.Run(t.level, t.l)
	st.scatter(out)
}

// decode decodes codes to float64, with room for more values after them.
func (t *efdpa) decode(st *efdpaState, dst []float64, src []byte, more int) []float64 {
	n := len(src) / 2
	st.wide, dst = resize(st.wide, n), resize(dst, n+more)
	x := &st.widen
	x.Src, x.Dst, x.N = &src[0], bytesOf(st.wide), int64(n)
	for i := range x.Small {
		x.Small[i], x.Abs[i] = -1, math.MaxInt32
	}
	if t.m.formats.A == fp.FP16 {
		x.Half()
	} else {
		x.Brain()
	}
	st.convert = simd.Convert{Src: bytesOf(st.wide), Dst: bytesOf(dst), N: int64(n)}
	st.convert.FromFloat32(t.level)
	return dst
}
