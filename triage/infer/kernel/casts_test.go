package kernel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// rounder makes an operand of a number of FP32.
type rounder func(x float32) float32

// cut drops the last bits of a number.
func cut(bits int) rounder {
	return func(x float32) float32 {
		if x != x {
			return x
		}
		return math.Float32frombits(math.Float32bits(x) >> bits << bits)
	}
}

// nearest rounds to a format, to nearest even.
func nearest(id fp.ID) rounder {
	return func(x float32) float32 {
		f := id.Get()
		return float32(f.Float64(f.FromFloat64(float64(x))))
	}
}

// halfAdded rounds to so many bits less, away from zero where two numbers are as near.
func halfAdded(bits int) rounder {
	return func(x float32) float32 {
		if x-x != 0 {
			return x
		}
		return math.Float32frombits((math.Float32bits(x) + 1<<(bits-1)) >> bits << bits)
	}
}

// e4m3 rounds to E4M3; what is too large, and an infinity, becomes a number, or a NaN.
func e4m3(tooLarge float32) rounder {
	return func(x float32) float32 {
		const largest, tie = 448, 464
		switch {
		case x != x:
			return x
		case x > tie || x < -tie:
			return float32(math.Copysign(float64(tooLarge), float64(x)))
		case x > largest || x < -largest:
			return float32(math.Copysign(largest, float64(x)))
		}
		step := math.Ldexp(1, max(math.Ilogb(float64(x)), -6)-3)
		if x == 0 {
			return x
		}
		return float32(math.Copysign(math.RoundToEven(float64(x)/step)*step, float64(x)))
	}
}

func itself(x float32) float32 { return x }

// operandCasts are kernels whose operands in FP32 are cast before they are multiplied.
var operandCasts = []struct {
	name string
	want Verdict
	a, b rounder
}{
	{"both to BF16", Found, bf16, bf16},
	{"A to BF16", Found, bf16, itself},
	{"B to BF16", Found, itself, bf16},
	{"both to BF16, bits are dropped", Found, cut(16), cut(16)},
	{"A to BF16, bits are dropped", Found, cut(16), itself},
	{"both to BF16, half a unit is added", Found, halfAdded(16), halfAdded(16)},
	{"both to TF32", Found, halfAdded(13), halfAdded(13)},
	{"both to TF32, bits are dropped", Found, cut(13), cut(13)},
	{"both to TF32, to nearest even", Found, nearest(fp.TF32), nearest(fp.TF32)},
	{"both to FP16", Found, nearest(fp.FP16), nearest(fp.FP16)},
	{"A to FP16", Found, nearest(fp.FP16), itself},
	{"A to five bits", Unexplained, cut(18), itself},
	{"both to E4M3, what is too large is a NaN", Found, e4m3(float32(math.NaN())), e4m3(float32(math.NaN()))},
	{"A to E4M3, saturating", Found, e4m3(448), itself},
}

// TestOperandCasts infers the kernels of operandCasts.
func TestOperandCasts(t *testing.T) {
	for n, tc := range operandCasts {
		if n%tier.Of(7, 7, 1) != 0 {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			s := schedule.Shape{M: 2, N: 3, K: 21}
			h := newHandwritten(func(e element) float32 {
				a, b := make([]float32, len(e.a)), make([]float32, len(e.b))
				for k := range a {
					a[k], b[k] = tc.a(e.a[k]), tc.b(e.b[k])
				}
				e.a, e.b = a, b
				if n%2 == 1 {
					return butterfly(e.lanes(fma, 4, len(e.a)))
				}
				return e.chain(fma)
			}, s)
			r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: tier.Of(5_000, 5_000, 100_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s %s", r.Verdict, r.Why, text(r.Kernel))
			if r.Verdict != tc.want || r.Verdict == Unexplained && r.Witness == nil {
				t.Fatalf("%s, not %s: %s, witness %v", r.Verdict, tc.want, r.Why, r.Witness)
			}
			if r.Verdict != Found {
				const changed = "1.0029296875 of A times one, and zeros at all other k, gives 1, which no cast that is known does"
				if !strings.Contains(r.Why, changed) {
					t.Errorf("%s does not say: %s", r.Why, changed)
				}
				return
			}
			holds(t, h, r.Kernel, s)
			holdsAtTies(t, h, r.Kernel, s)
			for _, f := range r.Fields {
				if strings.Contains(f.Name, "cast") && !f.distinguished() {
					t.Errorf("%s: %s is not told from %v, %v", f.Name, f.Value, f.Open, f.Same)
				}
			}
		})
	}
}

// holdsAtTies compares a kernel with a function on numbers near the middle between two of fewer bits, and near the
// ends of the range of FP16.
func holdsAtTies(t *testing.T, h *handwritten, k *schedule.Kernel, s schedule.Shape) {
	t.Helper()
	d := rand.New(rand.NewPCG(7, 8))
	in := mma.NewBatch(h.inst.Formats, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1})
	for range tier.Of(2000, 2000, 20_000, 170_000) {
		for _, to := range [][]byte{in.A, in.B} {
			top := []float64{65500, 446}[d.IntN(2)] // of FP16, of E4M3
			exponents := []int{1, 8, 60, 250}[d.IntN(4)]
			for i := range len(to) / 4 {
				kept := uint32(1) << (13 + 3*d.IntN(2)) // one bit more than TF32 and FP16, or BF16, have
				u := d.Uint32()&0x007fffff&^(kept-1) | kept>>1 + uint32(d.IntN(3)) - 1
				u |= d.Uint32()&0x80000000 | uint32(127-exponents/2+d.IntN(exponents))<<23
				switch d.IntN(40) {
				case 0:
					u = math.Float32bits(float32(top + 10*d.Float64()*float64(d.IntN(8))))
				case 1:
					u = math.Float32bits(float32(math.Ldexp(d.NormFloat64(), -5-d.IntN(21))))
				case 2:
					u = []uint32{0x7f7fffff, 0x7f7f8000, 0x7f800000, 0xff800000, 0x7fffffff, 0x7f800001, 0}[d.IntN(7)]
				}
				mma.Store(to, 4, i, uint64(u))
			}
		}
		agree(t, h, in, k, &gemm.Operands{Shape: s, A: in.A, B: in.B})
	}
}
