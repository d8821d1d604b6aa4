package study

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var chainStudy = Study{
	Name:  "chain",
	Short: "chains of matrix products: relative error against length, and where they overflow",
	Long: `chain is the chain matrix multiplication of Sun et al. (TPDS 2023, section 8.2): D = A*B,
of which D becomes the next A and B new random numbers. The error is the relative L2 norm
of equation (1), |D - D_FP32| / |D|, where D_FP32 is the same chain in FP32 arithmetic, on
the mean of all chains.

"low": numbers are first rounded to the formats of the unit for both chains; "FP32": only
the unit's are. A chain ends with the first D that has an infinity or a NaN in any of them.
D is rounded to A's format to nearest, and beyond its range to an infinity or, where A has
none, to a NaN; formats with block scales are quantized as OCP MX, section 6.3, does, and
with UE4M3 scales by the largest element (without the scale of the whole tensor that
libraries add, so that large numbers saturate).

Without targets it makes Figure 17, for TF32, BF16 and FP16 on Ampere, and the same for
FP8, MXFP8, MXFP4 and NVFP4 on newer units.`,
	Count: 1000, Most: mostChains, Of: "chains",
	New: func(f *pflag.FlagSet) Runner {
		c := &chain{}
		f.IntVar(&c.length, "length", 14, "`products` of the longest chain")
		return c
	},
}

type chain struct{ length int }

// figure17 are the units of Figure 17, and newer ones.
var figure17 = []string{
	"sim:ampere/mma.m16n8k8.f32.tf32.tf32.f32",
	"sim:ampere/mma.m16n8k8.f32.bf16.bf16.f32",
	"sim:ampere/mma.m16n8k8.f32.f16.f16.f32",
	"sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3",
	"sim:hopper/wgmma.m64n8k32.f32.e5m2.e5m2",
	"sim:blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
	"sim:blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0",
	"sim:blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
	"sim:blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3",
}

// chained is what was measured of a unit: the mean error after each product, as long as
// no chain has overflowed.
type chained struct{ Low, FP32 []Number }

// Run makes the study.
func (c *chain) Run(ctx context.Context, r *Request) (*Result, error) {
	if c.length < 1 || c.length > 1000 {
		return nil, fmt.Errorf("--length is %d; it can be 1 to 1000", c.length)
	}
	request := *r
	if len(r.Targets) == 0 {
		request.Targets = figure17
	}
	units, done, err := request.askable(ctx, func(i *mma.Instruction) bool { return i.K <= 64 && (chains(i) || chainSide(i) == i.K) })
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, c.check, func(ctx context.Context, u *unit) (m chained, err error) {
		if m.Low, err = c.measure(ctx, u, r, true); err != nil {
			return m, err
		}
		m.FP32, err = c.measure(ctx, u, r, false)
		return m, err
	})
	if err != nil {
		return nil, err
	}
	res := c.report(units, all)
	if len(r.Targets) == 0 {
		checkFigure17(all, res)
	}
	return res, nil
}

// check returns what is impossible about what a journal has of a unit.
func (c *chain) check(_ *unit, m chained) error {
	if n := max(len(m.Low), len(m.FP32)); n > c.length {
		return fmt.Errorf("chains of %d products, of at most %d", n, c.length)
	}
	return nil
}

// mostChains bounds the chains that are kept in memory, of which the largest take 60 kB.
const mostChains = 1 << 14

// chainRows is m of the matrices, as in the paper.
const chainRows = 16

// chainSide is n and k, which are equal: columns of D are those of the next A. The paper's
// is 8.
func chainSide(i *mma.Instruction) int { return lcm(i.K, 8) }

// measure returns the mean errors of chains.
func (c *chain) measure(ctx context.Context, u *unit, r *Request, low bool) ([]Number, error) {
	f := u.inst().Formats
	n := chainSide(u.inst())
	h := fnv.New64a()
	h.Write([]byte(fmt.Sprint(f.A, f.B, n)))
	rng := rand.New(rand.NewPCG(r.Seed, h.Sum64()))
	in := mma.NewBatch(f, mma.Shape{M: chainRows, N: n, K: n, Tiles: r.Count})
	qa := quantizer{f.A.Get(), f.Scale, int(f.Block)}
	qb := quantizer{f.B.Get(), f.Scale, int(f.Block)}
	a32 := make([]float32, r.Count*chainRows*n)
	b32 := make([]float32, r.Count*n*n)
	d32 := make([]float32, len(a32))
	for i := range a32 {
		a32[i] = float32(rng.NormFloat64())
	}
	putQuantized(&qa, in.A, in.SA, a32, low)
	var means []Number
	d := u.inst().D.Get()
	for range c.length {
		for i := range b32 {
			b32[i] = float32(rng.NormFloat64())
		}
		putQuantized(&qb, in.B, in.SB, b32, low)
		for c := range r.Count {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			product32(d32[c*chainRows*n:], a32[c*chainRows*n:], b32[c*n*n:][:n*n], n)
		}
		codes, err := u.run(ctx, in)
		if err != nil {
			return nil, err
		}
		got := make([]float32, len(codes))
		for i, code := range codes {
			v := d.Float64(code)
			if math.IsInf(v, 0) || math.IsNaN(v) {
				return means, nil
			}
			got[i] = float32(v)
		}
		means = append(means, Number(relativeError(got, d32, chainRows*n)))
		a32, d32 = d32, a32
		putQuantized(&qa, in.A, in.SA, got, false)
	}
	return means, nil
}

// product32 computes D = A*B of a tile in FP32 arithmetic, products in order. Each row
// of A and column of B has n elements.
func product32(d, a, b []float32, n int) {
	for i := range chainRows {
		row := a[i*n:][:n]
		for j := range n {
			column := b[j*n:][:n]
			sum := float32(0)
			for k := range n {
				sum = float32(sum + float32(row[k]*column[k]))
			}
			d[i*n+j] = sum
		}
	}
}

// relativeError is the mean over tiles of equation (1).
func relativeError(got, want []float32, tile int) float64 {
	mean := 0.0
	for t := 0; t < len(got); t += tile {
		var num, den float64
		for i := t; i < t+tile; i++ {
			x := float64(got[i]) - float64(want[i])
			num += x * x
			den += float64(got[i]) * float64(got[i])
		}
		mean += math.Sqrt(num/den) / float64(len(got)/tile)
	}
	return mean
}

// quantizer converts numbers to a format, in blocks with scales if it has them.
type quantizer struct {
	f     *fp.Format
	scale fp.ID
	block int
}

// putQuantized writes the codes of values and their scales. With back the
// values become those of the codes.
func putQuantized[T float32 | float64](q *quantizer, codes, scales []byte, values []T, back bool) {
	w := int(q.f.Width)
	if q.scale == fp.None {
		for i, v := range values {
			code := encode(q.f, float64(v))
			mma.Store(codes, w, i, code)
			if back {
				values[i] = T(q.f.Float64(code))
			}
		}
		return
	}
	s := q.scale.Get()
	for from := 0; from < len(values); from += q.block {
		part := values[from : from+q.block]
		most := 0.0
		for _, v := range part {
			most = max(most, math.Abs(float64(v)))
		}
		code := s.FromFloat64(q.scaleFor(most))
		unit := s.Float64(code)
		mma.Store(scales, int(s.Width), from/q.block, code)
		for i, v := range part {
			c := q.f.FromFloat64(float64(v) / unit)
			mma.Store(codes, w, from+i, c)
			if back {
				part[i] = T(q.f.Float64(c) * unit)
			}
		}
	}
}

// scaleFor is the scale of a block whose largest magnitude is most: for powers of two that
// of OCP MX, section 6.3, else the one that makes it the largest number.
func (q *quantizer) scaleFor(most float64) float64 {
	if most == 0 {
		return 1
	}
	if q.scale == fp.E8M0 {
		_, e := math.Frexp(most)
		return math.Ldexp(1, max(-127, min(127, e-1-int(q.f.Emax()))))
	}
	s := q.scale.Get()
	return max(s.Float64(1), most/q.f.Float64(q.f.MaxFinite()))
}

// encode returns the code of a number, rounded to nearest; beyond the range it is an
// infinity or a NaN where the format has one.
func encode(f *fp.Format, v float64) uint64 {
	d := fp.FP64.Get()
	code := math.Float64bits(v)
	switch n := d.Decode(code); n.Class {
	case fp.NaN:
		if f.HasNaN() {
			return f.QuietNaN(false)
		}
		return f.MaxFinite()
	case fp.Inf:
		if f.HasInf() {
			return f.InfCode(n.Neg)
		}
		return f.Encode(fp.Dyadic{Lo: 1, Q: 10000, Neg: n.Neg}, fp.RNE, fp.OverInf)
	default:
		return f.Encode(d.Dyadic(n), fp.RNE, fp.OverInf)
	}
}

// report makes the table and the plot.
func (c *chain) report(units []unit, all []chained) *Result {
	res := &Result{}
	t := Table{Name: "chain", Title: "Mean relative L2 error of chains of matrix products against FP32 arithmetic", Note: "overflow: an infinity or a NaN in one of the chains.",
		Head: []string{"unit", "init"}}
	lengths := []int{}
	for n := 1; n <= c.length; n++ {
		if n <= 4 || n%2 == 0 || n == c.length {
			lengths = append(lengths, n)
			t.Head = append(t.Head, fmt.Sprintf("N=%d", n))
		}
	}
	p := Plot{Name: "chain", Title: "Relative error of chains of matrix products", Kind: "lines", X: "products N", Y: "mean relative L2 error", LogY: true}
	for i, u := range units {
		for _, s := range []struct {
			init string
			errs []Number
		}{{"low", all[i].Low}, {"FP32", all[i].FP32}} {
			row := []any{u.name, s.init}
			for _, n := range lengths {
				if n <= len(s.errs) {
					row = append(row, s.errs[n-1])
				} else {
					row = append(row, "overflow")
				}
			}
			t.add(row...)
			line := Series{Name: u.inst().A.String() + " " + u.name + ", init " + s.init}
			for n, e := range s.errs {
				line.X, line.Y = append(line.X, Number(n+1)), append(line.Y, e)
			}
			p.Series = append(p.Series, line)
		}
	}
	res.Tables, res.Plots = []Table{t}, []Plot{p}
	return res
}

// checkFigure17 holds what section 8.2 says of Figure 17, which is printed without
// numbers, against the first three units: TF32, BF16, FP16.
func checkFigure17(all []chained, res *Result) {
	tf32, bf16, half := all[0], all[1], all[2]
	t := Table{Name: "figure17", Title: "What Sun et al. say of Figure 17, and what comes out here", Head: []string{"the paper", "here", "agrees", "remark"}}
	say := func(claim, here string, holds bool, remark string) {
		if !holds && remark == "" {
			res.Failures = append(res.Failures, "Figure 17: "+claim+": "+here)
		}
		t.add(claim, here, agrees(holds), remark)
	}
	// between compares errors after the same product, as long as both are there.
	between := func(low, high float64, pairs ...[2][]Number) (string, bool) {
		least, most := math.Inf(1), 0.0
		for _, p := range pairs {
			for i := range min(len(p[0]), len(p[1])) {
				ratio := float64(p[0][i] / p[1][i])
				least, most = min(least, ratio), max(most, ratio)
			}
		}
		return fmt.Sprintf("factor %s to %s", Number(least), Number(most)), least >= low && most <= high
	}
	// Beside FP32 arithmetic the first product of low numbers has only its rounding errors.
	both := func(x, y chained) [][2][]Number {
		return [][2][]Number{{x.FP32, y.FP32}, {x.Low[1:], y.Low[1:]}}
	}
	grows := true // by every three products: few chains make the mean uneven
	for _, m := range all[:3] {
		for _, s := range [][]Number{m.Low, m.FP32} {
			for i := 3; i < len(s); i++ {
				grows = grows && s[i] > s[i-3]
			}
		}
	}
	say("errors increase with the length", fmt.Sprintf("each is above the third before it; from %s to %s (TF32, low)", tf32.Low[0], tf32.Low[len(tf32.Low)-1]), grows, "")
	here, ok := between(4, 16, both(bf16, tf32)...)
	say("BF16 suffers more than TF32", here+", low from N = 2 on", ok, "")
	here, ok = between(0.9, 1.1, both(half, tf32)...)
	say("FP16 gives the error level of TF32", here+", low from N = 2 on", ok, "")
	here, ok = between(1, math.Inf(1), [2][]Number{tf32.FP32, tf32.Low}, [2][]Number{bf16.FP32, bf16.Low}, [2][]Number{half.FP32, half.Low})
	say("FP32 initialization always causes higher errors", here, ok, "")
	say("with low-precision initialization almost zero at N = 1", fmt.Sprintf("%s, %s, %s", tf32.Low[0], bf16.Low[0], half.Low[0]), tf32.Low[0] < 1e-6 && bf16.Low[0] < 1e-6 && half.Low[0] < 1e-6, "")
	last := len(half.Low)
	say("FP16 runs into overflow after N >= 10; its line stops there", fmt.Sprintf("the last finite D is at N = %d", last), last == 9,
		"when the first infinity comes depends on the draws: a |D| above 65504 is one as the next A, and D after N products is about 8^(N/2); with seeds 1 to 8, of 1000 chains, the last finite D is at N = 8 or 9")
	res.Tables = append(res.Tables, t)
}
