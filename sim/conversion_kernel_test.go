package sim_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// conversion is a program for an operation of A alone.
type conversion struct {
	f mma.Formats
	p mma.Params
}

// conversions returns those of the catalogue, those between all formats, and some that differ from them
// in rounding, overflow and subnormal operands, each once.
func conversions() (all []conversion) {
	seen := map[conversion]bool{}
	add := func(c conversion) {
		if !seen[c] {
			seen[c] = true
			all = append(all, c)
		}
	}
	for _, i := range mma.Catalog() {
		if i.B == fp.One && i.K == 1 && i.Refuse == "" {
			add(conversion{i.Formats, i.Params})
		}
	}
	for _, a := range []fp.ID{fp.FP64, fp.FP32, fp.BF16, fp.FP16} {
		for _, d := range fp.All() {
			p := mma.FMA(d)
			p.Acc = mma.To(d, fp.RNE)
			add(conversion{mma.Formats{A: a, B: fp.One, D: d}, p})
		}
	}
	n := 0
	for _, c := range slices.Clone(all) {
		most := c.p.Acc.Frac
		for _, c.p.In.Sub = range []mma.InFlush{mma.KeepSub, mma.FlushSign, mma.FlushPlus} {
			for _, c.p.Acc.Mode = range fp.Modes() {
				for _, c.p.Acc.Over = range []mma.Over{mma.OverInf, mma.OverMax, mma.OverIEEE, mma.OverSat} {
					for _, c.p.Acc.Frac = range []mma.Frac{most, most / 2, 0} {
						if n++; n%tier.Of(997, 397, 29, 7) == 0 {
							add(c)
						}
					}
				}
			}
		}
	}
	return all
}

// TestConversionKernel compares the kernel with the general interpreter on all codes of 16 bits (in the
// usual tier on each fifth), and of wider formats on numbers of all exponents that are next to borders
// and ties.
func TestConversionKernel(t *testing.T) {
	inputs, kernels := map[fp.ID][]uint64{}, 0
	for _, c := range conversions() {
		m, err := sim.New(c.f, 1, c.p)
		if err != nil || m.Kernel() != "conversion" {
			continue
		}
		kernels++
		if inputs[c.f.A] == nil {
			inputs[c.f.A] = every(tier.Of(17, 5, 1, 1), codesOf(c.f.A.Get()))
		}
		in, width := batchOf(c.f, inputs[c.f.A]), c.f.D.Width()
		got, want := make([]byte, in.Tiles*width), make([]byte, in.Tiles*width)
		m.Run(in, got)
		m.On(sim.General).Run(in, want)
		for i, code := range inputs[c.f.A] {
			if got, want := mma.Load(got, width, i), mma.Load(want, width, i); got != want {
				t.Fatalf("%v to %v, %v: %x gives %x, want %x", c.f.A, c.f.D, c.p, code, got, want)
			}
		}
	}
	if kernels < 150 {
		t.Errorf("%d programs have the kernel", kernels)
	}
}

// batchOf returns a batch of conversions of some codes.
func batchOf(f mma.Formats, codes []uint64) *mma.Batch {
	in := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: 1, Tiles: len(codes)})
	for i, code := range codes {
		mma.Store(in.A, f.A.Width(), i, code)
	}
	return in
}

// every returns each n-th of some codes.
func every(n int, codes []uint64) (some []uint64) {
	for i := 0; i < len(codes); i += n {
		some = append(some, codes[i])
	}
	return some
}

// codesOf returns all codes of a format of 16 bits, and of a wider one some of all exponents.
func codesOf(f *fp.Format) (codes []uint64) {
	if f.CodeBits() <= 16 {
		for code := range uint64(1) << f.CodeBits() {
			codes = append(codes, code)
		}
		return codes
	}
	r := rand.New(rand.NewPCG(1, 2))
	mask := uint64(1)<<f.FracBits - 1
	step := 1 << (f.ExpBits - 8)
	for upper := 0; upper < 2<<f.ExpBits; upper += 1 + r.IntN(step) {
		for n := range f.FracBits {
			border := r.Uint64() & mask >> n << n
			for _, frac := range []uint64{border - 1, border, border + 1, border | 1<<n, (border | 1<<n) - 1, border | 1<<n + 1} {
				codes = append(codes, uint64(upper)<<f.FracBits|frac&mask)
			}
		}
		codes = append(codes, uint64(upper)<<f.FracBits, uint64(upper)<<f.FracBits|mask)
	}
	return codes
}

// TestConversionOfTiles compares tiles of several rows and columns, and several products in one batch.
func TestConversionOfTiles(t *testing.T) {
	i, err := mma.Lookup("ada", "cvt.rn.satfinite.e4m3x2.f32")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range []mma.Shape{{M: 3, N: 2, K: 1, Tiles: 150}, {M: 2, N: 3, K: 2, Tiles: 20}} {
		in := mma.NewBatch(i.Formats, shape)
		for n := range in.A {
			in.A[n] = byte(r.Uint32())
		}
		got, want := make([]byte, in.Dots()), make([]byte, in.Dots())
		m.Run(in, got)
		m.On(sim.General).Run(in, want)
		if string(got) != string(want) {
			t.Errorf("%+v: the kernel has other results", shape)
		}
	}
}
