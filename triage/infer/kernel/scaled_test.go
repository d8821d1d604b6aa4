package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// quantized is an element of a product of int8 with a scale for every 32 of a line.
type quantized struct {
	a, b   []int8
	sa, sb []float32
}

const quantizedBlock = 32

// part sums products of a block.
func (q *quantized) part(block, from, to int) float32 {
	sum := int32(0)
	for k := block*quantizedBlock + from; k < block*quantizedBlock+to; k++ {
		sum += int32(q.a[k]) * int32(q.b[k])
	}
	return float32(sum)
}

// lanes returns the sums of lanes of runs of products of the blocks first, first+by, ...
func (q *quantized) lanes(add adder, n, vector, first, by int) []float32 {
	sums := make([]float32, n)
	for block := first; block < len(q.sa); block += by {
		for i := range sums {
			p := float32(0)
			for from := i * vector; from < quantizedBlock; from += n * vector {
				p += q.part(block, from, from+vector)
			}
			sums[i] = add(q.sa[block]*q.sb[block], p, sums[i])
		}
	}
	return sums
}

// quantizedKernels are products of quantized matrices as libraries have them, and some as they do not.
var quantizedKernels = []struct {
	name string
	want Verdict
	f    func(q *quantized) float32
}{
	{"ggml in C", Found, func(q *quantized) (s float32) {
		for i := range q.sa {
			s += q.part(i, 0, 32) * (q.sa[i] * q.sb[i])
		}
		return s
	}},
	{"ggml in AVX2", Found, func(q *quantized) float32 { return butterfly(q.lanes(fma, 8, 4, 0, 1)) }},
	{"ggml in NEON", Found, func(q *quantized) float32 {
		var sums []float32
		for first := range 2 {
			s := q.lanes(mulAdd, 4, 4, first, 2)
			sums = append(sums, (s[0]+s[1])+(s[2]+s[3]))
		}
		return sums[0] + sums[1]
	}},
	{"fused in C", Found, func(q *quantized) (s float32) {
		for i := range q.sa {
			s = fma(q.part(i, 0, 32), q.sa[i]*q.sb[i], s)
		}
		return s
	}},
	{"by A's scale first", Found, func(q *quantized) (s float32) {
		for i := range q.sa {
			s += q.part(i, 0, 32) * q.sa[i] * q.sb[i]
		}
		return s
	}},
	{"from the first block, last first", Found, func(q *quantized) float32 {
		s := q.part(len(q.sa)-1, 0, 32) * (q.sa[len(q.sa)-1] * q.sb[len(q.sa)-1])
		for i := len(q.sa) - 2; i >= 0; i-- {
			s += q.part(i, 0, 32) * (q.sa[i] * q.sb[i])
		}
		return s
	}},
	{"halves of blocks", Found, func(q *quantized) (s float32) {
		for i := range q.sa {
			s = fma(q.part(i, 0, 16), q.sa[i]*q.sb[i], s)
			s = fma(q.part(i, 16, 32), q.sa[i]*q.sb[i], s)
		}
		return s
	}},
	{"the sign of A is taken to B", Found, func(q *quantized) (s float32) { // which makes -128 of -128
		for i := range q.sa {
			sum := int32(0)
			for k := i * quantizedBlock; k < (i+1)*quantizedBlock; k++ {
				a, b := q.a[k], q.b[k]
				if a < 0 {
					a, b = -a, -b
				}
				sum += int32(uint8(a)) * int32(b)
			}
			s += float32(sum) * (q.sa[i] * q.sb[i])
		}
		return s
	}},
	{"in double", Unexplained, func(q *quantized) float32 {
		s := 0.0
		for i := range q.sa {
			s += float64(q.part(i, 0, 32)) * float64(q.sa[i]*q.sb[i])
		}
		return float32(s)
	}},
	{"the last scale twice", Unexplained, func(q *quantized) (s float32) {
		for i := range q.sa {
			s += q.part(i, 0, 32) * (q.sa[max(i, 1)] * q.sb[i])
		}
		return s
	}},
	{"a block is left out", Unexplained, func(q *quantized) (s float32) {
		for i := range q.sa[:len(q.sa)-1] {
			s += q.part(i, 0, 32) * (q.sa[i] * q.sb[i])
		}
		return s
	}},
}

// quantizedBox computes products of quantized matrices by a function.
type quantizedBox struct {
	inst *mma.Instruction
	f    func(q *quantized) float32
}

func (h *quantizedBox) Instruction() *mma.Instruction { return h.inst }
func (h *quantizedBox) Model() *mma.Params            { return nil }
func (h *quantizedBox) Run(_ context.Context, in *mma.Batch, out []byte) error {
	integers := func(codes []byte) []int8 {
		all := make([]int8, len(codes))
		for i, c := range codes {
			all[i] = int8(c)
		}
		return all
	}
	f := in.Scale.Get()
	scales := func(codes []byte) []float32 {
		all := make([]float32, len(codes)/in.Scale.Width())
		for i := range all {
			all[i] = float32(f.Float64(mma.Load(codes, in.Scale.Width(), i)))
		}
		return all
	}
	blocks := in.K / quantizedBlock
	for t := range in.Tiles {
		p := in.Part(t, 1)
		a, b, sa, sb := integers(p.A), integers(p.B), scales(p.SA), scales(p.SB)
		for i := range in.M * in.N {
			row, column := i/in.N, i%in.N
			d := h.f(&quantized{a[row*in.K:][:in.K], b[column*in.K:][:in.K], sa[row*blocks:][:blocks], sb[column*blocks:][:blocks]})
			mma.Store(out, 4, t*in.M*in.N+i, uint64(math.Float32bits(d)))
		}
	}
	return nil
}

// TestQuantized infers the kernels of quantizedKernels, and compares what is found with them on operands that
// no code of the inference has drawn.
func TestQuantized(t *testing.T) {
	for n, tc := range quantizedKernels {
		if n%tier.Of(5, 5, 1) != tier.Of(1, 1, 0) {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			s := schedule.Shape{M: 2, N: 3, K: quantizedBlock * (3 + n%4)}
			h := &quantizedBox{matmul(mma.Formats{A: fp.S8, B: fp.S8, D: fp.FP32, Scale: []fp.ID{fp.FP16, fp.FP32}[n%2], Block: quantizedBlock}, s, nil).inst, tc.f}
			r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: tier.Of(5_000, 5_000, 100_000, 1_000_000), Policy: oracle.Policy{NaN: oracle.ByClass}})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s %s", r.Verdict, r.Why, text(r.Kernel))
			if r.Verdict != tc.want || r.Verdict == Unexplained && (r.Witness == nil || len(r.Witness.SA) != s.K/quantizedBlock) {
				t.Fatalf("%s, not %s: %s, witness %v", r.Verdict, tc.want, r.Why, r.Witness)
			}
			if restricted := r.Restricted != ""; restricted != (tc.name == "the sign of A is taken to B") {
				t.Errorf("restricted: %q", r.Restricted)
			}
			if r.Verdict == Found {
				holdsQuantized(t, h, r.Kernel, s, r.Restricted == "")
			}
		})
	}
}

func holdsQuantized(t *testing.T, h *quantizedBox, k *schedule.Kernel, s schedule.Shape, least bool) {
	t.Helper()
	d := rand.New(rand.NewPCG(9, 10))
	in := mma.NewBatch(h.inst.Formats, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1})
	f, w := in.Scale.Get(), in.Scale.Width()
	codes := func(scales []byte) (all []uint64) {
		for i := range len(scales) / w {
			all = append(all, uint64(math.Float32bits(float32(f.Float64(mma.Load(scales, w, i))))))
		}
		return all
	}
	for range tier.Of(2000, 2000, 20_000, 170_000) {
		for _, to := range [][]byte{in.A, in.B} {
			few := d.IntN(4)
			for i := range to {
				if to[i] = byte(d.Uint32()); few == 0 {
					to[i] &= 3
				} else if few == 1 {
					to[i] *= byte(d.IntN(8) / 7)
				}
				if to[i] == 0x80 && !least {
					to[i]++
				}
			}
		}
		for _, to := range [][]byte{in.SA, in.SB} {
			reach := 1 + d.IntN(20)
			for i := range len(to) / w {
				v := math.Ldexp(d.NormFloat64(), d.IntN(reach)-reach/2)
				mma.Store(to, w, i, f.FromFloat64(v))
				if special := []uint64{0, f.SignBit(), f.InfCode(false), f.InfCode(true), f.QuietNaN(false), f.MaxFinite(), 1}; d.IntN(60) == 0 {
					mma.Store(to, w, i, special[d.IntN(len(special))])
				}
			}
		}
		agree(t, h, in, k, &gemm.Operands{Shape: s, A: in.A, B: in.B, ScaleA: codes(in.SA), ScaleB: codes(in.SB)})
	}
}

// oneScale takes the scales of the first row of A for all rows.
type oneScale struct{ quantizedBox }

func (h *oneScale) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	wrong := *in
	wrong.SA = slices.Clone(in.SA)
	for t := range in.Tiles {
		same(wrong.Part(t, 1).SA, in.M)
	}
	return h.quantizedBox.Run(ctx, &wrong, out)
}

// TestOneScale has the witness of a kernel that takes the scales of another row, with these scales.
func TestOneScale(t *testing.T) {
	s := schedule.Shape{M: 3, N: 2, K: 2 * quantizedBlock}
	f := mma.Formats{A: fp.S8, B: fp.S8, D: fp.FP32, Scale: fp.FP16, Block: quantizedBlock}
	h := &oneScale{quantizedBox{matmul(f, s, nil).inst, quantizedKernels[0].f}}
	r, err := Infer(t.Context(), h, s, Options{Seed: 1, Checks: 1000, Policy: oracle.Policy{NaN: oracle.ByClass}})
	if err != nil {
		t.Fatal(err)
	}
	w := r.Witness
	if r.Verdict != Unexplained || w == nil || len(w.Others) != 1 || w.Others[0].String() != "row 0 of A" {
		t.Fatalf("%s: %s, witness %+v", r.Verdict, r.Why, w)
	}
	in := mma.NewBatch(f, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1})
	fill := func(to []byte, line, w int, codes []string) {
		t.Helper()
		if len(codes) == 0 {
			t.Fatal("no codes")
		}
		for k, code := range codes {
			c, err := strconv.ParseUint(code, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			mma.Store(to, w, line*len(codes)+k, c)
		}
	}
	check := func(want string) {
		t.Helper()
		d := make([]byte, s.M*s.N*4)
		if err := h.Run(t.Context(), in, d); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%08x", mma.Load(d, 4, w.Row*s.N+w.Column)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	fill(in.A, w.Row, 1, w.A)
	fill(in.B, w.Column, 1, w.B)
	fill(in.SA, w.Row, 2, w.SA)
	fill(in.SB, w.Column, 2, w.SB)
	check(w.Alone)
	fill(in.A, 0, 1, w.Others[0].Codes)
	fill(in.SA, 0, 2, w.Others[0].Scales)
	check(w.D)
}

// TestLaneOrders lists the orders of four lanes, and counts those of eight: each order of three distances is one.
func TestLaneOrders(t *testing.T) {
	if got := laneOrders(4); !slices.Equal(got, []string{"halves", "neighbours", "forward", "reverse"}) {
		t.Error(got)
	}
	if got := len(laneOrders(8)); got != 2+6 {
		t.Error(got)
	}
}
