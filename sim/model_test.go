package sim_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
)

// TestSpec runs the unit tests of the specification.
func TestSpec(t *testing.T) {
	f, err := os.Open("testdata/spec.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	vectors, err := vectors.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 124 {
		t.Errorf("%d vectors, there were 124", len(vectors))
	}
	for _, v := range vectors {
		m, err := sim.ForInstruction(v.Inst)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Dot(v.Dot, nil)
		if got != v.Want && !(v.AnyNaN && v.Inst.D.Get().Decode(got).Class == fp.NaN) {
			t.Errorf("%s: %s gives %s, want %s", v.ID, v.Inst.FullName(), mma.FormatCode(v.Inst.D, got), mma.FormatCode(v.Inst.D, v.Want))
		}
	}
}

// TestKernels compares the kernels with the general interpreter on whole tiles
// of odd sizes, alone and chained, with bits above the codes set where a
// container has some.
func TestKernels(t *testing.T) {
	for n, i := range mma.Catalog() {
		if i.Refuse != "" {
			continue
		}
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []mma.Shape{{M: 16, N: 8, K: i.K, Tiles: 2}, {M: 3, N: 11, K: i.K, Tiles: 1}, {M: 1, N: 1, K: 3 * i.K, Tiles: 7}} {
			if s.K != i.K && i.C != i.D {
				continue
			}
			b := measure.Batch(&i, s, uint64(n), []measure.Inputs{measure.Finite, measure.Raw}[n%2])
			if i.A.Get().CodeBits() < 8 {
				for j := range b.A {
					b.A[j] |= 0xc0 &^ byte(i.A.Get().CodeMask())
				}
			}
			sameAsGeneral(t, i.FullName(), b, m)
		}
	}
}

// TestKernelsOfOthers compares them where no unit of the catalogue is: on made-up units, and
// on programs of the catalogue with products multiplied by 2^-7.
func TestKernelsOfOthers(t *testing.T) {
	others := mma.Arithmetics()
	for n := range others {
		others[n].Down = 7
	}
	for seed := range uint64(tier.Of(300, 2_000, 20_000, 200_000)) {
		others = append(others, madeup.Unit(seed))
	}
	kernels := map[string]bool{}
	for n, i := range others {
		m, err := sim.New(i.Formats, i.K, i.Params)
		if err != nil || i.Down == 0 && m.Kernel() == "" {
			continue
		}
		kernels[m.Kernel()] = true
		b := measure.Batch(&i, mma.Shape{M: 4, N: 4, K: i.K, Tiles: 2}, uint64(n), []measure.Inputs{measure.Finite, measure.Raw}[n%2])
		sameAsGeneral(t, i.FullName(), b, m)
	}
	if len(kernels) < 2 {
		t.Errorf("compared: %v", kernels)
	}
}

// TestKernelsOnFormats compares them on every pair of formats of one byte, with the programs
// of the catalogue, with and without widening operands to FP16.
func TestKernelsOnFormats(t *testing.T) {
	tier.SkipUnderRace(t)
	var formats []fp.ID
	for _, id := range fp.All() {
		if f := id.Get(); f.Width == 1 && f.Signed {
			formats = append(formats, id)
		}
	}
	kernels := map[string]bool{}
	for n, i := range mma.Arithmetics() {
		if i.A.Width() != 1 {
			continue
		}
		for _, widen := range []fp.ID{fp.None, fp.FP16} {
			for _, a := range formats {
				for _, b := range formats {
					f, p := i.Formats, i.Params
					f.A, f.B, p.In.Widen = a, b, widen
					m, err := sim.New(f, i.K, p)
					if err != nil {
						continue
					}
					j := i
					j.Formats = f
					batch := measure.Batch(&j, mma.Shape{M: 8, N: 8, K: i.K, Tiles: 2}, uint64(n), measure.Raw)
					on := onPaths(m)
					for _, m := range on {
						kernels[m.Kernel()] = true
					}
					sameAsGeneral(t, i.FullName()+" "+a.String()+" "+b.String(), batch, on...)
				}
			}
		}
	}
	delete(kernels, "") // of the general interpreter
	if len(kernels) < 3 {
		t.Errorf("compared: %v", kernels)
	}
}

// TestKernelsOnLargestSums compares them where sums are as large as they become:
// products of the largest finite numbers, all of one sign, all but the first, half
// of them or every other one, and accumulators of the largest product's exponent.
func TestKernelsOnLargestSums(t *testing.T) {
	for _, i := range mma.Arithmetics() {
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		b := mma.NewBatch(i.Formats, mma.Shape{M: 8, N: 8, K: i.K, Tiles: 2})
		fillLargest(b)
		sameAsGeneral(t, i.FullName(), b, onPaths(m)...)
	}
}

// fillLargest fills a batch with the largest finite numbers.
func fillLargest(b *mma.Batch) {
	f := b.Formats
	k := b.K
	signs := []func(k int) bool{
		func(int) bool { return false }, func(int) bool { return true }, func(x int) bool { return x > 0 }, func(x int) bool { return x == 0 },
		func(x int) bool { return x >= k/2 }, func(x int) bool { return x < k/2 }, func(x int) bool { return x%2 == 0 }, func(x int) bool { return x == k-1 },
	}
	side := func(buf []byte, g *fp.Format, sign func(row, k int) bool) {
		for n := range len(buf) / int(g.Width) {
			code := g.MaxFinite()
			if sign(n/k, n%k) {
				code |= g.SignBit()
			}
			mma.Store(buf, int(g.Width), n, code)
		}
	}
	side(b.A, f.A.Get(), func(row, x int) bool { return signs[row%8](x) })
	side(b.B, f.B.Get(), func(row, _ int) bool { return row%2 == 1 })
	for i := range len(b.SA) / max(1, b.Scale.Width()) {
		mma.Store(b.SA, b.Scale.Width(), i, b.Scale.Get().MaxFinite()/2)
	}
	for i := range len(b.SB) / max(1, b.Scale.Width()) {
		mma.Store(b.SB, b.Scale.Width(), i, b.Scale.Get().MaxFinite()/2+uint64(i%2))
	}
	if f.C == fp.None {
		return
	}
	c, top := f.C.Get(), f.A.Get().Emax()+f.B.Get().Emax()+1
	for n := range b.M * b.N * b.Tiles {
		e := min(c.Emax(), top+int32(n/8%3)-1)
		x := (uint64(int64(e)+int64(c.Bias))+1)<<c.FracBits - 1 // all bits of the fraction
		if n/24%2 == 1 {
			x |= c.SignBit()
		}
		mma.Store(b.C, int(c.Width), n, x)
	}
}

// TestKernelsOnSubnormals compares them on chains of FP32 in which many factors are
// subnormal or zero and the others of any size, of as many products as a GEMM's steps
// have; and where subnormal accumulators decide how a product of about 2^-76 rounds
// that is close to the middle of two numbers.
func TestKernelsOnSubnormals(t *testing.T) {
	tier.SkipUnderRace(t)
	r := rand.New(rand.NewPCG(1, 2))
	some := []uint32{0, 1, 2, 0x007fffff, 0x00400000, 0x00800000, 0x00800001, 0x25800000, 0x257fffff, 0x4b000000, 0x7f7fffff, 0x3f800000, 0x7f800000, 0x7fc00000}
	number := func() uint64 {
		u := r.Uint32()
		switch n := r.IntN(16); {
		case n < 5:
			u = u&(1<<31) | some[r.IntN(len(some)-n/4*2)] // Inf and NaN seldom
		case n < 9:
			u &= 0x807fffff
		case n == 15:
			u &= 0x80000fff
		}
		return uint64(u)
	}
	tested := 0
	for _, i := range mma.Arithmetics() {
		if f := i.Formats; f.A != fp.FP32 || f.B != fp.FP32 || f.C != fp.FP32 || f.D != fp.FP32 {
			continue
		}
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		tested++
		for _, s := range []mma.Shape{{M: 16, N: 8, K: 16, Tiles: 9}, {M: 5, N: 11, K: 48, Tiles: 2}, {M: 1, N: 1, K: 16, Tiles: 83}} {
			if s.K%i.K != 0 {
				continue
			}
			b := mma.NewBatch(i.Formats, s)
			for _, buf := range [][]byte{b.A, b.B, b.C} {
				for n := range len(buf) / 4 {
					mma.Store(buf, 4, n, number())
				}
			}
			sameAsGeneral(t, i.FullName(), b, onPaths(m)...)
			fillMiddles(b, r)
			sameAsGeneral(t, i.FullName(), b, onPaths(m)...)
		}
	}
	if tested == 0 {
		t.Error("no chain of FP32")
	}
}

// fillMiddles fills a batch of FP32 with subnormal C and one product for each output, of
// 2^-86 to 2^-68. The last 24 bits of the product of significands are 2^23+-16, so that it
// is close to the middle of two numbers if it has 48 bits: the significand of a column is
// such a number times the inverse of the row's, modulo 2^24.
func fillMiddles(b *mma.Batch, r *rand.Rand) {
	clear(b.A)
	clear(b.B)
	factor := func(significand uint32) uint64 {
		return uint64(r.Uint32()&1<<31 | (127-43+r.Uint32N(9))<<23 | significand&^(1<<23))
	}
	for t := range b.Tiles {
		x := r.Uint32N(1<<23) | 1<<23 | 1
		inverse := x
		for range 5 {
			inverse *= 2 - x*inverse
		}
		for i := range b.M {
			mma.Store(b.A, 4, (t*b.M+i)*b.K, factor(x))
		}
		for j := range b.N {
			y := uint32(0)
			for y < 1<<23 {
				y = (1<<23 - 16 + r.Uint32N(33)) * inverse % (1 << 24)
			}
			mma.Store(b.B, 4, (t*b.N+j)*b.K, factor(y))
		}
	}
	for n := range b.Dots() {
		mma.Store(b.C, 4, n, uint64(r.Uint32()&(1<<31)|r.Uint32()>>(9+r.Uint32N(23))))
	}
}

// sameAsGeneral compares the kernel of a model, or of several on other paths, with the general
// interpreter. A model without a kernel is left out.
func sameAsGeneral(t *testing.T, what string, b *mma.Batch, models ...*sim.Model) {
	t.Helper()
	w := b.D.Width()
	fast, slow := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
	models = slices.DeleteFunc(models, func(m *sim.Model) bool { return m.Kernel() == "" })
	if len(models) > 0 {
		models[0].RunFaulty(b, slow, nil)
	}
	for _, m := range models {
		m.Run(b, fast)
		for o := range b.Dots() {
			if x, y := mma.Load(fast, w, o), mma.Load(slow, w, o); x != y {
				d := mma.NewDot(b.Formats, b.K)
				b.Get(o, d)
				t.Fatalf("%s %+v: kernel %s %x, general %x on %s", what, b.Shape, m.Kernel(), x, y, mma.FormatDot(b.Formats, d))
			}
		}
	}
}

// onPaths returns a model on all paths but the general one.
func onPaths(m *sim.Model) (all []*sim.Model) {
	for _, path := range sim.Paths()[1:] {
		all = append(all, m.On(path))
	}
	return all
}

// TestDotIsRun checks that one dot product alone, with and without a trace, is
// what it is in a tile.
func TestDotIsRun(t *testing.T) {
	for n, i := range mma.Arithmetics() {
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		b := measure.Batch(&i, mma.Shape{M: 4, N: 4, K: i.K, Tiles: 2}, uint64(n), measure.Raw)
		w := i.D.Width()
		out := make([]byte, b.Dots()*w)
		m.Run(b, out)
		d := mma.NewDot(i.Formats, i.K)
		for o := range b.Dots() {
			b.Get(o, d)
			var tr sim.Trace
			plain, traced := m.Dot(d, nil), m.Dot(d, &tr)
			if want := mma.Load(out, w, o); plain != want || traced != want || tr.Result != want {
				t.Fatalf("%s: in the tile %x, alone %x, traced %x, in the trace %x", i.FullName(), want, plain, traced, tr.Result)
			}
		}
	}
}

// TestNoAllocation checks that the hot path does not allocate.
func TestNoAllocation(t *testing.T) {
	if tier.Race {
		t.Skip("the race detector makes sync.Pool drop its contents at random")
	}
	for _, i := range mma.Arithmetics() {
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		b := measure.Batch(&i, mma.Shape{M: 16, N: 8, K: i.K, Tiles: 1}, 1, measure.Raw)
		out := make([]byte, b.Dots()*i.D.Width())
		d := mma.NewDot(i.Formats, i.K)
		b.Get(0, d)
		m.Run(b, out)
		m.RunFaulty(b, out, nil)
		for what, f := range map[string]func(){
			"Run": func() { m.Run(b, out) }, "RunFaulty": func() { m.RunFaulty(b, out, nil) }, "Dot": func() { m.Dot(d, nil) },
		} {
			if n := testing.AllocsPerRun(20, f); n >= 1 {
				t.Errorf("%s: %s allocates %v times", i.FullName(), what, n)
			}
		}
	}
}

// TestRefuse checks that what has no model is not simulated.
func TestRefuse(t *testing.T) {
	n := 0
	for _, i := range mma.Catalog() {
		if i.Refuse == "" {
			continue
		}
		n++
		if _, err := sim.ForInstruction(&i); err == nil || !strings.Contains(err.Error(), i.Refuse) {
			t.Errorf("%s: %v, want the reason", i.FullName(), err)
		}
	}
	if n == 0 {
		t.Error("nothing is listed without a model")
	}
}

// TestDroppedIsPlusZero checks that an accumulator that is dropped counts as +0,
// whatever its sign, beside products that are -0.
func TestDroppedIsPlusZero(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	p := mma.Params{
		Join:    mma.Join{Align: mma.Align{F: 20, Mode: fp.RZ, Floor: -100}, CDrop: 10},
		Acc:     mma.To(fp.FP32, fp.RNE),
		Special: mma.Special{NegZero: true},
	}
	m, err := sim.New(f, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[uint64]uint64{0x80000001: 0, 0x80000000: 0x80000000} {
		if got := m.Dot(&mma.Dot{A: []uint64{0x8000}, B: []uint64{0x3c00}, C: c}, nil); got != want {
			t.Errorf("c = %08x: %08x, want %08x", c, got, want)
		}
	}
}
