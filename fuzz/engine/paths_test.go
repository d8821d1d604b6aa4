package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// The one differential test of all kernels: every path of every arithmetic gives
// what the general interpreter gives on whole tiles and on parts of tiles, of raw
// bits, of finite numbers, and of rows and columns taken from the dot products of
// every other generator; and some outputs are compared with the oracle.

// crossed fills a batch with rows, columns and accumulators of different dot
// products of a generator, so that a tile has as many kinds of them as it can.
func crossed(b *mma.Batch, src gen.Source, seed uint64) {
	sp := gen.Spec{Formats: b.Formats, K: b.K}
	g := src.Generator
	n := max(b.M*b.N*b.Tiles, 1)
	dots := mma.NewBatch(b.Formats, mma.Shape{M: g.M, N: g.N, K: b.K, Tiles: max(b.M, b.N)*b.Tiles/(g.M*g.N) + 1})
	src.Fill(dots, seed, 0)
	d := mma.NewDot(sp.Formats, sp.K)
	one := mma.NewDot(sp.Formats, sp.K)
	for i := range n {
		b.Get(i, one)
		t, row, col := i/(b.M*b.N), i/b.N%b.M, i%b.N
		dots.Get((t*max(b.M, b.N)+row)%dots.Dots(), d)
		copy(one.A, d.A)
		copy(one.SA, d.SA)
		dots.Get((t*max(b.M, b.N)+(row+col)%max(b.M, b.N))%dots.Dots(), d)
		one.C = d.C
		dots.Get((t*max(b.M, b.N)+col)%dots.Dots(), d)
		copy(one.B, d.B)
		copy(one.SB, d.SB)
		b.Set(i, one)
	}
}

// finite fills a batch with numbers of uniformly distributed exponent fields.
func finite(b *mma.Batch, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for _, p := range []struct {
		buf []byte
		id  fp.ID
	}{{b.A, b.Formats.A}, {b.B, b.Formats.B}, {b.C, b.Formats.C}, {b.SA, b.Scale}, {b.SB, b.Scale}} {
		if p.id == fp.None {
			continue
		}
		f := p.id.Get()
		for i := range len(p.buf) / int(f.Width) {
			field := r.Uint64N(uint64(f.Emax()-f.Emin()) + 2)
			code := min((r.Uint64()&(1<<f.FracBits-1)|field<<f.FracBits)<<f.Low, f.MaxFinite())
			if code |= r.Uint64() & f.SignBit(); f.Specials == fp.NegZeroNaN && code == f.SignBit() {
				code = 0
			}
			mma.Store(p.buf, int(f.Width), i, code)
		}
	}
}

// comparePaths runs a batch on all paths that have a kernel, and asks the oracle
// for some outputs.
func comparePaths(t *testing.T, what string, m *sim.Model, in *mma.Batch, outputs int) {
	t.Helper()
	f, k, p := m.Formats(), m.K(), m.Params()
	w := f.D.Width()
	want, got := make([]byte, in.Dots()*w), make([]byte, in.Dots()*w)
	m.RunFaulty(in, want, nil)
	d := mma.NewDot(f, in.K)
	for i := range outputs {
		o := i * in.Dots() / outputs
		in.Get(o, d)
		if x, y := mma.Load(want, w, o), oracle.Eval(&p, f, k, d); x != y {
			t.Fatalf("%s: general %x, oracle %x\n%+v on %s", what, x, y, p, mma.FormatDot(f, d))
		}
	}
	last := ""
	for _, path := range sim.Paths() {
		m := m.On(path)
		if m.Kernel() == last {
			continue
		}
		last = m.Kernel()
		m.Run(in, got)
		for o := range in.Dots() {
			if x, y := mma.Load(got, w, o), mma.Load(want, w, o); x != y {
				in.Get(o, d)
				t.Fatalf("%s: output %d of %+v: %s %x, general %x\n%+v on %s", what, o, in.Shape, last, x, y, p, mma.FormatDot(f, d))
			}
		}
	}
}

// pathShapes are tiles as generators make them, of odd sizes, and dot products.
var pathShapes = []mma.Shape{{M: 16, N: 8, Tiles: 3}, {M: 5, N: 19, Tiles: 2}, {M: 1, N: 1, Tiles: 37}}

func TestPaths(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, i := range mma.Arithmetics() {
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		for n, s := range pathShapes {
			for times := 1; times <= 2; times++ {
				if times > 1 && (i.C != i.D || n == 0) {
					continue
				}
				s.K = times * i.K
				b := mma.NewBatch(i.Formats, s)
				finite(b, uint64(n))
				comparePaths(t, i.FullName()+" finite", m, b, 4)
				for at, g := range gen.All() {
					if (at+n+times)%tier.Of(2, 6, 2, 1) != 0 { // some of them
						continue
					}
					src := g.Aimed(gen.Spec{Formats: i.Formats, K: s.K}, &i.Params)
					crossed(b, src, uint64(n))
					comparePaths(t, i.FullName()+" "+src.String(), m, b, 4)
				}
			}
		}
	}
}

// TestPathsOfMutants does the same with less for every program that differs in
// one parameter from an arithmetic: kernels must know what they do not compute.
func TestPathsOfMutants(t *testing.T) {
	tier.SkipUnderRace(t)
	every := tier.Of(20, 10, 4, 1)
	seed := 0
	for _, i := range mma.Arithmetics() {
		b := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 8, K: i.K, Tiles: 1})
		for _, s := range change.SpaceOf(&i).Mutants(&i.Params, change.Decisions) {
			seed++
			m, err := sim.New(i.Formats, i.K, s.Params)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kernel() == "" || seed%every != 0 {
				continue
			}
			for n, g := range gen.All() {
				if (n+seed)%4 != 0 { // a quarter of them
					continue
				}
				src := g.Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &s.Params)
				crossed(b, src, uint64(seed))
				comparePaths(t, i.FullName()+" "+s.Change+" "+src.String(), m, b, 1)
			}
		}
	}
}
