package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// blockScaled is an element of a product of floating-point numbers with a scale for each block of a line.
type blockScaled struct {
	a, b   []float32
	sa, sb []float32
	block  int
}

// part sums the products of a block, one after the other.
func (q *blockScaled) part(block int) (s float32) {
	for k := block * q.block; k < min((block+1)*q.block, len(q.a)); k++ {
		s = fma(q.a[k], q.b[k], s)
	}
	return s
}

// dequantized returns the elements times their scales, rounded.
func (q *blockScaled) dequantized(round func(float32) float32) (a, b []float32) {
	for k := range q.a {
		a, b = append(a, round(q.a[k]*q.sa[k/q.block])), append(b, round(q.b[k]*q.sb[k/q.block]))
	}
	return a, b
}

func asItIs(x float32) float32 { return x }

// The formats of products with scales.
var (
	mxfp8  = mma.Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	nvfp4  = mma.Formats{A: fp.E2M1, B: fp.E2M1, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	blocks = mma.Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32, Scale: fp.FP32, Block: 128}
)

func rowwise(k int) mma.Formats {
	return mma.Formats{A: fp.E4M3, B: fp.E4M3, D: fp.FP32, Scale: fp.FP32, Block: uint16(k)}
}

// blockScaledKernels are products of numbers with scales as libraries have them, and some as they do not.
var blockScaledKernels = []struct {
	name string
	f    mma.Formats
	k    int
	want Verdict
	of   func(q *blockScaled) float32
}{
	{"promoted with a multiplication", mxfp8, 64, Found, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			s += q.part(i) * (q.sa[i] * q.sb[i])
		}
		return s
	}},
	{"dequantized", mxfp8, 96, Found, func(q *blockScaled) (s float32) {
		a, b := q.dequantized(asItIs)
		for k := range a {
			s = fma(a[k], b[k], s)
		}
		return s
	}},
	{"dequantized, multiplied and added", blocks, 256, Found, func(q *blockScaled) (s float32) {
		a, b := q.dequantized(asItIs)
		for k := range a {
			s += float32(a[k] * b[k])
		}
		return s
	}},
	{"dequantized to BF16", blocks, 256, Found, func(q *blockScaled) (s float32) {
		a, b := q.dequantized(bf16)
		for k := range a {
			s = fma(a[k], b[k], s)
		}
		return s
	}},
	{"promoted in one rounding", blocks, 512, Found, func(q *blockScaled) (s float32) { // as DeepGEMM
		for i := range q.sa {
			s = fma(q.part(i), q.sa[i]*q.sb[i], s)
		}
		return s
	}},
	{"by the scale of B first", blocks, 384, Found, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			s += q.sa[i] * (q.sb[i] * q.part(i))
		}
		return s
	}},
	{"NVFP4 in lanes", nvfp4, 128, Found, func(q *blockScaled) float32 {
		sums := make([]float32, 4)
		for i := range q.sa {
			sums[i%4] = fma(q.part(i), q.sa[i]*q.sb[i], sums[i%4])
		}
		return (sums[0] + sums[2]) + (sums[1] + sums[3])
	}},
	{"of rows and columns, in the end", rowwise(300), 300, Found, func(q *blockScaled) float32 { return q.part(0) * (q.sa[0] * q.sb[0]) }},
	{"of rows, then of columns", rowwise(60), 60, Found, func(q *blockScaled) float32 { return q.part(0) * q.sa[0] * q.sb[0] }},
	{"each product", mxfp8, 64, Found, func(q *blockScaled) (s float32) {
		for k := range q.a {
			s += q.a[k] * q.b[k] * (q.sa[k/32] * q.sb[k/32])
		}
		return s
	}},
	{"in double", nvfp4, 96, Found, func(q *blockScaled) float32 {
		s := 0.0
		for k := range q.a {
			s += float64(q.a[k]) * float64(q.sa[k/16]) * (float64(q.b[k]) * float64(q.sb[k/16]))
		}
		return float32(s)
	}},
	{"the last scale twice", mxfp8, 96, Unexplained, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			s += q.part(i) * (q.sa[max(i, 1)] * q.sb[i])
		}
		return s
	}},
	{"a block is not scaled", blocks, 512, Unexplained, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			scale := q.sa[i] * q.sb[i]
			if i == 2 {
				scale = q.sa[i]
			}
			s += q.part(i) * scale
		}
		return s
	}},
	{"no scale above 2^100", mxfp8, 64, Unexplained, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			s += q.part(i) * (min(q.sa[i], 0x1p100) * q.sb[i])
		}
		return s
	}},
	{"scales in BF16", blocks, 256, Unexplained, func(q *blockScaled) (s float32) {
		for i := range q.sa {
			s += q.part(i) * (bf16(q.sa[i]) * bf16(q.sb[i]))
		}
		return s
	}},
}

// blockScaledBox computes such products by a function.
type blockScaledBox struct {
	inst *mma.Instruction
	of   func(q *blockScaled) float32
}

func (h *blockScaledBox) Instruction() *mma.Instruction { return h.inst }
func (h *blockScaledBox) Model() *mma.Params            { return nil }
func (h *blockScaledBox) Run(_ context.Context, in *mma.Batch, out []byte) error {
	numbers := func(codes []byte, id fp.ID) []float32 {
		all := make([]float32, len(codes)/id.Width())
		for i := range all {
			all[i] = float32(id.Get().Float64(mma.Load(codes, id.Width(), i)))
		}
		return all
	}
	each := in.Blocks(in.K)
	for t := range in.Tiles {
		p := in.Part(t, 1)
		a, b, sa, sb := numbers(p.A, p.Formats.A), numbers(p.B, p.Formats.B), numbers(p.SA, p.Scale), numbers(p.SB, p.Scale)
		for i := range in.M * in.N {
			row, column := i/in.N, i%in.N
			d := h.of(&blockScaled{a[row*in.K:][:in.K], b[column*in.K:][:in.K], sa[row*each:][:each], sb[column*each:][:each], int(in.Block)})
			mma.Store(out, 4, t*in.M*in.N+i, uint64(math.Float32bits(d)))
		}
	}
	return nil
}

// TestBlockScaled infers the kernels of blockScaledKernels, and compares what is found with them on operands that
// no code of the inference has drawn.
func TestBlockScaled(t *testing.T) {
	for n, tc := range blockScaledKernels {
		if n >= tier.Of(1, 1, 2, len(blockScaledKernels)) { // NVFP4 and others take a while
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			s := schedule.Shape{M: 2, N: 3, K: tc.k}
			h := &blockScaledBox{matmul(tc.f, s, nil).inst, tc.of}
			r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: tier.Of(2_000, 2_000, 20_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s %s", r.Verdict, r.Why, text(r.Kernel))
			if r.Verdict != tc.want || r.Verdict == Unexplained && (r.Witness == nil || len(r.Witness.SA) != tc.f.Blocks(s.K)) {
				t.Fatalf("%s, not %s: %s, witness %v", r.Verdict, tc.want, r.Why, r.Witness)
			}
			for _, f := range r.Fields {
				if f.Name == "unit.in" && len(f.Ruled) < 2 {
					t.Errorf("%s: %s is not told from %v, %v", f.Name, f.Value, f.Open, f.Same)
				}
			}
			if r.Verdict == Found {
				holdsBlockScaled(t, h, r.Kernel, s)
			}
		})
	}
}

func holdsBlockScaled(t *testing.T, h *blockScaledBox, k *schedule.Kernel, s schedule.Shape) {
	t.Helper()
	d := rand.New(rand.NewPCG(9, 10))
	in := mma.NewBatch(h.inst.Formats, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1})
	unit, err := k.Unit.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	side := schedule.Side(unit.D)
	for range tier.Of(200, 200, 2_000, 170_000) {
		for _, to := range [][]byte{in.A, in.B} {
			few := d.IntN(4)
			for i := range to {
				if to[i] = byte(d.Uint64() & in.Formats.A.Get().CodeMask()); few == 0 {
					to[i] *= byte(d.IntN(8) / 7)
				}
				if v := in.Formats.A.Get().Float64(uint64(to[i])); v != v && d.IntN(100) > 0 {
					to[i] = 0
				}
			}
		}
		f, w := in.Scale.Get(), in.Scale.Width()
		for _, to := range [][]byte{in.SA, in.SB} {
			reach := []int{1, 12, 140, 280}[d.IntN(4)]
			for i := range len(to) / w {
				v := math.Ldexp(0.5+d.Float64(), d.IntN(reach)-reach/2)
				if f.Signed && d.IntN(2) == 0 {
					v = -v
				}
				mma.Store(to, w, i, f.FromFloat64(v))
			}
		}
		agree(t, h, in, k, &gemm.Operands{Shape: s, A: in.A, B: in.B, ScaleA: sideCodes(in.SA, in.Scale, side), ScaleB: sideCodes(in.SB, in.Scale, side)})
	}
}
