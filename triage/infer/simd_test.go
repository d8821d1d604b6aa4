package infer

import (
	"context"
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// The units in this file are dot products as libraries for processors write them: lanes
// of vector registers that are added at the end. They are plain Go and know nothing of
// parameter programs.

// plain is a unit that is a function.
type plain struct {
	f   mma.Formats
	k   int
	dot func(a, b []uint64, c uint64) uint64
}

func (u *plain) Instruction() *mma.Instruction {
	return &mma.Instruction{Arch: "test", Name: "plain", K: u.k, Formats: u.f}
}
func (u *plain) Model() *mma.Params { return nil }
func (u *plain) Close() error       { return nil }

func (u *plain) Run(_ context.Context, in *mma.Batch, out []byte) error {
	d := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		mma.Store(out, in.D.Width(), i, u.dot(d.A, d.B, d.C))
	}
	return nil
}

var _ devices.Unit = (*plain)(nil)

// fma32 is x*y + z rounded once: the sum in FP64, made odd where it is not exact, has two
// bits more than are needed.
func fma32(x, y, z float32) float32 {
	p, w := float64(x)*float64(y), float64(z)
	s := p + w
	back := s - p
	err := (p - (s - back)) + (w - back)
	if u := math.Float64bits(s); err != 0 && u&1 == 0 && !math.IsInf(s, 0) && err == err {
		if (err > 0) == (s > 0) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}

func mulAdd32(x, y, z float32) float32 { return z + float32(x*y) }

func single(code uint64) float32 { return math.Float32frombits(uint32(code)) }
func brain(code uint64) float32  { return math.Float32frombits(uint32(code) << 16) }
func toSingle(x float32) uint64 {
	if x != x {
		return 0x7fc00000
	}
	return uint64(math.Float32bits(x))
}

// toBrain rounds to nearest even.
func toBrain(x float32) uint64 {
	if x != x {
		return 0x7fc0
	}
	u := math.Float32bits(x)
	return uint64((u + 0x7fff + u>>16&1) >> 16)
}

// register is a vector register.
type register []float32

// halved adds the upper half of a register to the lower one until n lanes are left.
func (v register) halved(n int) register {
	for h := len(v) / 2; h >= n; h /= 2 {
		for i := range h {
			v[i] += v[i+h]
		}
	}
	return v[:n]
}

// paired adds neighbours until one lane is left, as HADDPS and FADDP do.
func (v register) paired() register {
	for n := len(v) / 2; n > 0; n /= 2 {
		for i := range n {
			v[i] = v[2*i] + v[2*i+1]
		}
	}
	return v[:1]
}

// vectors accumulates the first products in lanes, and returns how many: with mask all,
// else those that fill the lanes.
func vectors(lanes register, a, b []uint64, read func(uint64) float32, op func(x, y, z float32) float32, mask bool) int {
	n := len(a)
	if !mask {
		n -= n % len(lanes)
	}
	for i := range n {
		r := i % len(lanes)
		lanes[r] = op(read(a[i]), read(b[i]), lanes[r])
	}
	return n
}

var plainUnits = []struct {
	name string
	unit plain
}{
	{"BF16 matmul of 8 lanes by halves", plain{mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.BF16}, 16, func(a, b []uint64, _ uint64) uint64 {
		v := make(register, 8)
		vectors(v, a, b, brain, fma32, true)
		return toBrain(v.halved(1)[0])
	}}},
	{"FP32 of 4 lanes, FADDP, a tail", plain{mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, 10, func(a, b []uint64, _ uint64) uint64 {
		v := make(register, 4)
		n := vectors(v, a, b, single, fma32, false)
		s := v.paired()[0]
		for i := n; i < len(a); i++ {
			s = fma32(single(a[i]), single(b[i]), s)
		}
		return toSingle(s)
	}}},
	{"BF16 matmul of 16 lanes by halves", plain{mma.Formats{A: fp.BF16, B: fp.BF16, D: fp.BF16}, 16, func(a, b []uint64, _ uint64) uint64 {
		v := make(register, 16)
		vectors(v, a, b, brain, fma32, true)
		return toBrain(v.halved(1)[0])
	}}},
	{"OpenBLAS, 4 accumulators of 8 lanes", plain{mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, 64, func(a, b []uint64, _ uint64) uint64 {
		v := make(register, 32)
		vectors(v, a, b, single, fma32, true)
		for i := range 8 { // (0+1) + (2+3)
			v[i] = (v[i] + v[i+8]) + (v[i+16] + v[i+24])
		}
		return toSingle(v[:8].halved(4).paired()[0])
	}}},
	{"BF16 of 8 lanes, a tail, then c", plain{mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, 19, func(a, b []uint64, c uint64) uint64 {
		v := make(register, 8)
		n := vectors(v, a, b, brain, fma32, false)
		s := v.halved(1)[0]
		for i := n; i < len(a); i++ {
			s = fma32(brain(a[i]), brain(b[i]), s)
		}
		return toSingle(s + single(c))
	}}},
	{"FP32 of 16 lanes with a mask", plain{mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}, 19, func(a, b []uint64, c uint64) uint64 {
		v := make(register, 16)
		v[0] = single(c)
		vectors(v, a, b, single, fma32, true)
		return toSingle(v.halved(1)[0])
	}}},
	{"FP32 of 4 lanes without FMA", plain{mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}, 8, func(a, b []uint64, _ uint64) uint64 {
		v := make(register, 4)
		vectors(v, a, b, single, mulAdd32, true)
		return toSingle(v.halved(2).paired()[0])
	}}},
	{"BF16, c among four products in pairs", plain{mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}, 7, func(a, b []uint64, c uint64) uint64 {
		v := register{single(c)}
		for i := range a {
			v = append(v, brain(a[i])*brain(b[i]))
		}
		return toSingle(v.paired()[0])
	}}},
}

// TestPlain infers dot products of libraries.
func TestPlain(t *testing.T) {
	if !tier.Long() {
		t.Skip("TestFound infers units quickly: more only with MMAFUZZ_LONG=1")
	}
	for _, c := range plainUnits[:tier.Of(0, 0, 2, len(plainUnits))] {
		t.Run(c.name, func(t *testing.T) {
			r, err := Infer(t.Context(), &c.unit, Options{Checks: few, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != Found {
				t.Fatalf("%s, %d of %d cases left: %s", r.Verdict, r.Left, r.Evidence, brief(&r.Params))
			}
			t.Logf("%s, %d questions, %.1f million computed, %.1f s", brief(&r.Params), r.Stats.Queries, float64(r.Computed)/1e6, r.Seconds)
			sp := gen.Spec{Formats: r.Formats, K: r.K}
			gens := gen.All()
			for i := range gens {
				for _, d := range generate(sp, &gens[i], 99, 0, 100, &r.Params) {
					if got, want := oracle.Eval(&r.Params, r.Formats, r.K, d), c.unit.dot(d.A, d.B, d.C); got != want {
						t.Fatalf("%s: %x, want %x", mma.FormatDot(r.Formats, d), got, want)
					}
				}
			}
		})
	}
}
