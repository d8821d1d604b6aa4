package probe

import (
	"math"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Profile is the element-wise profiling of Sun et al. (TPDS 2023, section 8.1,
// Tables 12 to 15): mean absolute errors of three operations against FP32
// arithmetic, on normally distributed numbers, which are first rounded to the
// format of A and B ("init low"), or kept in FP32 for the reference ("init
// FP32").
//
//	multiplication  d = a0*b0
//	inner product   d = a0*b0 + a1*b1
//	accumulation    d = a0*b0 + c
//
// The reference is FP32 arithmetic in order. Where D is narrower than FP32 there
// is a second reference, rounded to D at the end. The paper prints averages only,
// without seeds: figures of the same order mean agreement.
type Profile struct {
	Operation string `json:"operation"`
	// Mean absolute errors, one for each way to draw numbers; Narrow against the
	// reference rounded to D.
	Low        float64 `json:"init_low"`
	FP32       float64 `json:"init_fp32"`
	NarrowLow  float64 `json:"rounded_init_low"`
	NarrowFP32 float64 `json:"rounded_init_fp32"`
}

// Profiles draws n inputs for each operation and returns the errors. Inputs
// follow from seed.
func (p *Prober) Profiles(seed uint64, n int) ([]Profile, error) {
	var all []Profile
	for _, op := range []string{"multiplication", "inner product", "accumulation"} {
		if op == "accumulation" && p.c == nil {
			continue
		}
		r := Profile{Operation: op}
		r.Low, r.NarrowLow = p.profile(op, true, seed, n)
		r.FP32, r.NarrowFP32 = p.profile(op, false, seed, n)
		all = append(all, r)
	}
	return all, p.err
}

// profile returns the mean errors of an operation.
func (p *Prober) profile(op string, low bool, seed uint64, n int) (wide, narrow float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	dots := make([]*mma.Dot, n)
	refs := make([]float32, n)
	for i := range dots {
		dots[i], refs[i] = p.drawn(op, low, rng)
	}
	for i, s := range p.ask(dots...) {
		got := p.d.Float64(s.Got)
		wide += math.Abs(got-float64(refs[i])) / float64(n)
		narrow += math.Abs(got-round(p.d, refs[i])) / float64(n)
	}
	return wide, narrow
}

// round returns v rounded to a format.
func round(f *fp.Format, v float32) float64 { return f.Float64(f.FromFloat64(float64(v))) }

// drawn returns an input of an operation and the reference's result. Products and
// sums are converted explicitly so that nothing fuses them.
func (p *Prober) drawn(op string, low bool, rng *rand.Rand) (*mma.Dot, float32) {
	draw := func(f *fp.Format) (uint64, float32) {
		v := float32(rng.NormFloat64())
		c := f.FromFloat64(float64(v))
		if low {
			v = float32(f.Float64(c))
		}
		return c, v
	}
	d := p.blank()
	terms := 1
	if op == "inner product" {
		terms = min(2, p.k)
	}
	sum := float32(0)
	for k := range terms {
		ca, a := draw(p.a)
		cb, b := draw(p.b)
		d.A[k], d.B[k] = ca, cb
		sum = float32(sum + float32(a*b))
	}
	if op == "accumulation" {
		cc, c := draw(p.c)
		d.C = cc
		sum = float32(sum + c)
	}
	return d, sum
}
