package engine

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// hand is a unit as somebody might write it, in numbers: products, sums, roundings. The zero hand adds
// the products to c one after the other, each sum rounded to FP32.
type hand struct {
	in, inC func(x float64) float64 // nil: as it is
	product rounded                 // zero: exact
	sum     func(h *hand, products []float64, c float64) float64
	acc     rounded // of every sum; zero: FP32
	out     rounded // of the result; zero: none
	result  func(x float64) float64
}

// rounded is a format's precision and range, and how numbers are rounded to it.
type rounded struct {
	bits, emin, emax int
	mode             big.RoundingMode
	over             func(inf float64) float64 // what is beyond the range; nil: infinity
}

var (
	single     = rounded{bits: 24, emin: -126, emax: 127}
	singleCut  = rounded{bits: 24, emin: -126, emax: 127, mode: big.ToZero, over: limit(math.MaxFloat32)}
	half       = rounded{bits: 11, emin: -14, emax: 15}
	halfMost   = rounded{bits: 11, emin: -14, emax: 15, over: limit(65504)}
	brain      = rounded{bits: 8, emin: -126, emax: 127}
	brainCut   = rounded{bits: 8, emin: -126, emax: 127, mode: big.ToZero, over: limit(0x1.fep127)}
	brainAway  = rounded{bits: 8, emin: -126, emax: 127, mode: big.ToNearestAway}
	short      = rounded{bits: 20, emin: -126, emax: 127}
	singleMost = rounded{bits: 24, emin: -126, emax: 127, over: limit(math.MaxFloat32)}
)

func limit(most float64) func(float64) float64 {
	return func(inf float64) float64 { return math.Copysign(most, inf) }
}

// of rounds the exact sum of two numbers.
func (r rounded) of(x, y float64) float64 {
	if s := x + y; s == 0 || s != s || math.IsInf(x, 0) || math.IsInf(y, 0) || r.bits == 0 {
		return s
	}
	exact := new(big.Float).SetPrec(3000)
	exact.Add(big.NewFloat(x).SetPrec(3000), big.NewFloat(y).SetPrec(3000))
	e := max(exact.MantExp(nil)-1, r.emin)
	// The number of bits above the last place; a number below it needs one to be rounded to.
	places := exact.MantExp(nil) - (e - r.bits + 1)
	z := new(big.Float).SetMode(r.mode)
	if places < 1 { // at most one unit of the last place
		unit := math.Copysign(math.Ldexp(1, e-r.bits+1), x+y)
		twice := new(big.Float).Mul(exact, big.NewFloat(2)).Cmp(big.NewFloat(unit)) * exact.Sign()
		if up := twice > 0 || twice == 0 && r.mode == big.ToNearestAway; up && r.mode != big.ToZero {
			return unit
		}
		return math.Copysign(0, x+y)
	}
	z.SetPrec(uint(places)).Set(exact)
	d, _ := z.Float64()
	if math.Abs(d) >= math.Ldexp(1, r.emax+1) {
		if d = math.Inf(z.Sign()); r.over != nil {
			d = r.over(d)
		}
	}
	return d
}

func chained(h *hand, products []float64, c float64) float64 {
	for _, p := range products {
		c = h.acc.of(c, p)
	}
	return c
}

func backwards(h *hand, products []float64, c float64) float64 {
	slices.Reverse(products)
	return chained(h, products, c)
}

// inPairs adds neighbours, and c at the end.
func inPairs(h *hand, products []float64, c float64) float64 {
	for n := len(products); n > 1; n /= 2 {
		for i := range n / 2 {
			products[i] = h.acc.of(products[2*i], products[2*i+1])
		}
	}
	return h.acc.of(products[0], c)
}

// cLast adds c to the sum of the products.
func cLast(h *hand, products []float64, c float64) float64 {
	return h.acc.of(chained(h, products[1:], products[0]), c)
}

// inHalves adds c and the first half of the products, then the second half, then the two.
func inHalves(h *hand, products []float64, c float64) float64 {
	n := len(products) / 2
	return h.acc.of(chained(h, products[:n], c), chained(h, products[n+1:], products[n]))
}

// interleaved has two sums, one of them with c.
func interleaved(h *hand, products []float64, c float64) float64 {
	other := products[1]
	for i, p := range products {
		if i%2 == 0 {
			c = h.acc.of(c, p)
		} else if i > 1 {
			other = h.acc.of(other, p)
		}
	}
	return h.acc.of(c, other)
}

func (h hand) unit(f mma.Formats, k int) devices.Unit {
	if h.acc.bits == 0 {
		h.acc = single
	}
	if h.sum == nil {
		h.sum = chained
	}
	read := func(id fp.ID, code uint64, how func(float64) float64) float64 {
		x := id.Get().Float64(code)
		if how != nil {
			x = how(x)
		}
		return x
	}
	return devices.Func(&mma.Instruction{Name: "own", Formats: f, K: k}, func(d *mma.Dot) uint64 {
		products := make([]float64, k)
		for i := range products {
			products[i] = read(f.A, d.A[i], h.in) * read(f.B, d.B[i], h.in)
			if h.product.bits > 0 && products[i] != 0 {
				products[i] = h.product.of(products[i], 0)
			}
		}
		x := h.sum(&h, products, read(f.C, d.C, h.inC))
		if h.out.bits > 0 && x != 0 {
			x = h.out.of(x, 0)
		}
		if h.result != nil {
			x = h.result(x)
		}
		switch to := f.D.Get(); {
		case x != x:
			return to.InfCode(false) | 1
		case math.IsInf(x, 0):
			return to.InfCode(x < 0)
		default:
			return to.FromFloat64(x)
		}
	})
}

// flushed makes numbers below the normal ones of a format zeros of their sign.
func flushed(least float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.Abs(x) < least {
			return math.Copysign(0, x)
		}
		return x
	}
}

func to(r rounded) func(float64) float64 {
	return func(x float64) float64 {
		if x == 0 {
			return x
		}
		return r.of(x, 0)
	}
}

func positive(x float64) float64 { return x + 0 }

var (
	tf32      = rounded{bits: 11, emin: -126, emax: 127}
	tf32Cut   = rounded{bits: 11, emin: -126, emax: 127, mode: big.ToZero, over: limit(0x1.ffcp127)}
	inHalf    = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	allHalf   = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
	inBrain   = mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	outBrain  = mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.BF16}
	inSingle  = mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	inEight   = mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	fromEight = mma.Formats{A: fp.E5M2, B: fp.E5M2, C: fp.FP32, D: fp.FP16}
)

// handPairs are pairs of a unit and a variant of it, with the causes that may be named.
var handPairs = []struct {
	f      mma.Formats
	k      int
	a, b   hand
	causes string
}{
	{inHalf, 4, hand{}, hand{acc: singleCut}, "output-rounding overflow"},
	{inHalf, 8, hand{}, hand{sum: backwards}, "summation-order"},
	{inHalf, 8, hand{}, hand{sum: interleaved}, "summation-order"},
	{inHalf, 4, hand{}, hand{sum: cLast}, "summation-order accumulate-placement signed-zero"},
	{inHalf, 4, hand{}, hand{in: flushed(0x1p-14)}, "input-ftz"},
	{inHalf, 4, hand{}, hand{result: flushed(0x1p-126)}, "output-ftz defect"},
	{inHalf, 4, hand{}, hand{product: half}, "product-handling intermediate-rounding overflow"},
	{inHalf, 8, hand{}, hand{sum: inHalves}, "summation-order"},
	{inHalf, 4, hand{}, hand{acc: short}, "output-rounding"},
	{inHalf, 4, hand{}, hand{result: positive}, "signed-zero"},
	{inBrain, 4, hand{product: single}, hand{product: single, acc: singleMost}, "overflow"},
	{allHalf, 4, hand{acc: half}, hand{acc: halfMost}, "overflow"},
	{allHalf, 4, hand{acc: half}, hand{out: half}, "output-rounding intermediate-rounding overflow"},
	{allHalf, 4, hand{acc: half}, hand{acc: half, sum: backwards}, "summation-order"},
	{allHalf, 4, hand{acc: half}, hand{acc: half, product: half}, "product-handling intermediate-rounding overflow"},
	{inBrain, 8, hand{}, hand{sum: inPairs}, "summation-order fusion-width accumulate-placement signed-zero"},
	{inBrain, 4, hand{}, hand{product: single}, "product-handling intermediate-rounding overflow"},
	{inBrain, 4, hand{product: single}, hand{product: single, acc: singleCut}, "output-rounding overflow"},
	{inBrain, 4, hand{product: single, sum: inPairs}, hand{product: single}, "summation-order accumulate-placement signed-zero"},
	{inBrain, 2, hand{product: single}, hand{product: singleCut}, "product-handling intermediate-rounding overflow"},
	{outBrain, 4, hand{product: single, out: brain}, hand{product: single, out: brainCut}, "output-rounding overflow"},
	{outBrain, 4, hand{product: single, out: brain}, hand{product: single, out: brainAway}, "output-rounding"},
	{outBrain, 4, hand{product: single, out: brain}, hand{product: single, acc: brain}, "output-rounding intermediate-rounding"},
	{outBrain, 4, hand{product: single, out: brain}, hand{product: single, out: brain, inC: to(brain)}, "operand-rounding"},
	{inSingle, 2, hand{product: single}, hand{product: single, in: to(tf32)}, "operand-rounding"},
	{inSingle, 2, hand{product: single, in: to(tf32)}, hand{product: single, in: to(tf32Cut)}, "operand-rounding overflow"},
	{inSingle, 2, hand{product: single}, hand{product: single, in: flushed(0x1p-126)}, "input-ftz"},
	{inSingle, 2, hand{}, hand{product: single}, "product-handling intermediate-rounding overflow"},
	{inEight, 8, hand{}, hand{acc: short}, "output-rounding"},
	{fromEight, 4, hand{out: half}, hand{out: halfMost}, "overflow"},
}

func changesOf(st *finding.PairState) []mma.Change {
	if st.Verdict == nil {
		return nil
	}
	return st.Verdict.Changes
}

// labelsOfDefect returns the labels of the change that a defect makes to a program, if it does that
// under a condition.
func labelsOfDefect(t *testing.T, v *triage.Verdict) string {
	if v.Defect == nil {
		return ""
	}
	p := v.Program
	if err := p.Apply(v.Defect.Effect.Changes); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(triage.LabelsOf(&v.Program, &p))
}

// TestHandWritten compares units that somebody has written, of which nothing is known, with variants
// of them. At least seven in eight differences get their cause, and none a wrong one.
func TestHandWritten(t *testing.T) {
	tier.SkipUnderRace(t)
	pairs := handPairs[:tier.Of(1, 1, 2, len(handPairs))]
	right := 0
	for n, tc := range pairs {
		p := devices.Pair{A: tc.a.unit(tc.f, tc.k), B: tc.b.unit(tc.f, tc.k), TargetA: "a", TargetB: "b", K: tc.k}
		st := runCampaign(t, Config{Pairs: []devices.Pair{p}, Seed: 1, Count: 9000}).Pairs[0]
		var wrong, named uint64
		for name, b := range st.Buckets {
			for _, d := range b.Details { // a detail names all parts that would do
				labels, _, _ := strings.Cut(d.Name, ":")
				if name == string(triage.Defect) {
					labels += " " + labelsOfDefect(t, st.Verdict)
				}
				switch {
				case slices.ContainsFunc(strings.Fields(tc.causes), func(l string) bool { return strings.Contains(labels, l) }):
					named += d.Cases
				case name != "unexplained":
					wrong += d.Cases
				}
			}
		}
		all := st.Mismatches()
		t.Logf("%d (%s): %d of %d right, %d wrong: %s, %d inferred", n, tc.causes, named, all, wrong, mma.Brief(changesOf(st)), len(st.Inferred))
		if wrong > 0 {
			t.Errorf("pair %d, whose causes are %s: %d of %d cases have others\n%s", n, tc.causes, wrong, all, causesText(&State{Pairs: []*finding.PairState{st}}))
		}
		if 2*named > all {
			right++
		}
	}
	if len(pairs)-right > len(pairs)/8 {
		t.Errorf("%d of %d right", right, len(pairs))
	}
}
