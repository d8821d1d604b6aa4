package stochastic

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unit rounds what float64 holds exactly, by a random number from 0 to 1.
type unit struct {
	formats mma.Formats
	k       int
	round   func(x *exact, random float64) uint64
	exact   func(x *exact, random float64) uint64 // of values that are numbers; nil: no rounding
	common  bool                                  // one random number for each batch
	dice    *rand.Rand
}

// exact is a value between two numbers of magnitudes near and far, and how far it is from near.
type exact struct {
	near, far uint64
	fraction  float64
	negative  bool
}

func (u *unit) Instruction() *mma.Instruction { return &mma.Instruction{Formats: u.formats, K: u.k} }

func (u *unit) Run(_ context.Context, in *mma.Batch, out []byte) error {
	f, dot := u.formats, mma.NewDot(u.formats, in.K)
	random := u.dice.Float64()
	for i := range in.Dots() {
		in.Get(i, dot)
		sum := 0.
		for n := range dot.A {
			sum += f.A.Get().Float64(dot.A[n]) * f.B.Get().Float64(dot.B[n])
		}
		if f.C != fp.None {
			sum += f.C.Get().Float64(dot.C)
		}
		if !u.common {
			random = u.dice.Float64()
		}
		mma.Store(out, f.D.Width(), i, u.code(sum, random))
	}
	return nil
}

func (u *unit) code(sum, random float64) uint64 {
	d := u.formats.D.Get()
	single := fp.FP64.Get()
	near := d.Encode(single.Dyadic(single.Decode(math.Float64bits(sum))), fp.RZ, fp.OverMax)
	x := exact{near: near, far: near + 1, negative: sum < 0}
	low, high := d.Float64(x.near), d.Float64(x.far)
	if sum == low {
		if u.exact != nil {
			return u.exact(&x, random)
		}
		return near
	}
	x.fraction = (sum - low) / (high - low)
	return u.round(&x, random)
}

func sound(x *exact, random float64) uint64 {
	if random < x.fraction {
		return x.far
	}
	return x.near
}

// TestJudge judges units without a defect and with planted ones.
func TestJudge(t *testing.T) {
	var (
		narrow  = mma.Formats{A: fp.FP16, B: fp.One, D: fp.E4M3}
		brain   = mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.BF16}
		halves  = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
		singles = mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
		sixBits = func(x *exact, r float64) uint64 { return sound(x, math.Floor(r*64)/64) }
		bitsOf  = func(r float64, n int) uint64 { return uint64(math.Floor(r*(1<<40))) & (1<<n - 1) } // independent of its upper bits
		oneIn64 = func(x *exact, r float64) uint64 {
			return map[bool]uint64{true: x.far, false: sound(x, r)}[bitsOf(r, 6) == 0]
		}
		nearest = func(x *exact, r float64) uint64 { return sound(x, .5) }
		upward  = func(x *exact, r float64) uint64 {
			if up := map[bool]uint64{true: x.near, false: x.far}[x.negative]; bitsOf(r, 6) == 0 {
				return up
			}
			return sound(x, r)
		}
		either = func(x *exact, r float64) uint64 { return sound(&exact{near: x.near, far: x.far, fraction: .5}, r) }
		seldom = func(x *exact, r float64) uint64 {
			return sound(&exact{near: x.near, far: x.far, fraction: map[bool]float64{true: .7, false: x.fraction}[x.fraction == 27./32]}, r)
		}
		tiesAway = func(x *exact, r float64) uint64 {
			return map[bool]uint64{true: x.far, false: sound(x, r)}[x.fraction == .5]
		}
		fourBits = func(x *exact, r float64) uint64 {
			return sound(&exact{near: x.near, far: x.far, fraction: math.Floor(x.fraction*16) / 16}, r)
		}
		beyond = func(x *exact, r float64) uint64 { return sound(x, r) + map[bool]uint64{true: 1}[bitsOf(r, 13) == 0] }
		flips  = func(x *exact, r float64) uint64 { return nearest(x, r) ^ map[bool]uint64{true: 1}[bitsOf(r, 3) == 0] }
	)
	for _, tc := range []struct {
		name    string
		formats mma.Formats
		k       int
		round   func(*exact, float64) uint64
		common  bool
		found   bool
		defect  Defect
		alone   bool // a single input shows the defect
	}{
		{"sound conversion", narrow, 1, sound, false, true, "", false},
		{"sound product", brain, 1, sound, false, true, "", false},
		{"sound sum", halves, 1, sound, false, true, "", false},
		{"sound sum of four", halves, 4, sound, false, true, "", false},
		{"six random bits", narrow, 1, sixBits, false, true, "", false},
		{"one random number for a batch", narrow, 1, sound, true, true, "", false},
		{"away in one of 64", narrow, 1, oneIn64, false, true, Bias, true},
		{"away in one of 64, product", brain, 1, oneIn64, false, true, Bias, true},
		{"upward in one of 64", narrow, 1, upward, false, true, Bias, true},
		{"four random bits", narrow, 1, fourBits, false, true, Bias, false},
		{"half of the answers up", narrow, 1, either, false, true, Bias, true},
		{"one fraction too seldom", narrow, 1, seldom, false, true, Share, true},
		{"ties away", narrow, 1, tiesAway, false, true, Bias, true},
		{"beyond a neighbour", narrow, 1, beyond, false, true, Third, true},
		{"to nearest", narrow, 1, nearest, false, false, "", false},
		{"flips", narrow, 1, flips, false, false, "", false},
		{"sound sum in FP32", singles, 1, sound, false, true, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			judge := func() *Judgement {
				u := &unit{tc.formats, tc.k, tc.round, nil, tc.common, rand.New(rand.NewPCG(1, 2))}
				j, err := Judge(t.Context(), u, Options{K: tc.k, Seed: 1, Answers: Most, Looks: 3})
				if err != nil {
					t.Fatal(err)
				}
				return j
			}
			j := judge()
			if (j != nil) != tc.found {
				t.Fatalf("found %+v, want %v", j, tc.found)
			}
			if j == nil {
				return
			}
			t.Log(j.Text("unit"))
			if j.Defect != tc.defect || tc.alone && j.Case == nil || tc.defect == "" && j.Case != nil {
				t.Errorf("defect %q with input %v, want %q", j.Defect, j.Case, tc.defect)
			}
			if tc.name != "away in one of 64" {
				return
			}
			if d := cmp.Diff(j, judge()); d != "" {
				t.Errorf("a second time: %s", d)
			}
		})
	}
}

// TestUnjudged checks that units of whose rounding nothing can be said are refused, and not asked.
func TestUnjudged(t *testing.T) {
	for _, tc := range []struct {
		formats mma.Formats
		k       int
		want    Unjudged
	}{
		{mma.Formats{A: fp.U8, B: fp.S8, C: fp.S32, D: fp.S32}, 4, Integers},
		{mma.Formats{A: fp.FP16, B: fp.One, D: fp.S8}, 1, Integers},
		{mma.Formats{A: fp.S32, B: fp.One, D: fp.FP16}, 1, Integers},
		{mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}, 32, Scales},
		{mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, 4, NoInputs}, // no bit of a product is lost
	} {
		u := &unit{formats: tc.formats, k: tc.k}
		if j, err := Judge(t.Context(), u, Options{K: tc.k, Seed: 1, Answers: Least, Looks: 1}); j != nil || err != tc.want {
			t.Errorf("%v: %+v, %v; want %q", tc.formats, j, err, tc.want)
		}
	}
	if want := "whether u rounds stochastically is not known: formats with integers are not judged. Its results that change may be a defect or may be meant."; Integers.Text("u") != want {
		t.Errorf("got %q, want %q", Integers.Text("u"), want)
	}
}

// TestExact judges units that change one of 256 values that need no rounding, and what is said of them.
func TestExact(t *testing.T) {
	moved := func(x *exact, r float64) uint64 {
		return sound(&exact{near: x.near, far: x.far, fraction: 1. / 256}, r)
	}
	conversion, wide := mma.Formats{A: fp.FP32, B: fp.One, D: fp.BF16}, mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP16}
	for _, tc := range []struct {
		name    string
		formats mma.Formats
		exact   func(*exact, float64) uint64
		defect  Defect
		text    string
	}{
		{"sound", conversion, nil, "", " inputs that need no rounding kept their values. No defect in what was asked, normal and subnormal results; a bias of 0.0"},
		{"not asked", conversion, nil, "", "Not asked: each binade by itself, the places in a tile."},
		{"sound product", wide, nil, "", " inputs that need no rounding kept their values. "},
		{"moved", conversion, moved, Third, "with a defect: it changes a value that is a number of bf16. The simplest input asked that shows it, "},
		{"moved product", wide, moved, Third, "it changes a value that is a number of fp16. "},
	} {
		u := &unit{tc.formats, 1, sound, tc.exact, false, rand.New(rand.NewPCG(1, 2))}
		j, err := Judge(t.Context(), u, Options{K: 1, Seed: 1, Answers: Least, Looks: 3})
		if err != nil || j == nil || j.Defect != tc.defect || !strings.Contains(j.Text("unit"), tc.text) {
			t.Errorf("%s: %+v, %v; want defect %q and %q", tc.name, j, err, tc.defect, tc.text)
		} else {
			t.Log(j.Text("unit"))
		}
	}
}

// TestSubnormal judges units that do something else where results are subnormal.
func TestSubnormal(t *testing.T) {
	eight, half, brain := mma.Formats{A: fp.FP16, B: fp.One, D: fp.E4M3}, mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP16}, mma.Formats{A: fp.FP32, B: fp.One, D: fp.BF16}
	low := func(f mma.Formats, round func(*exact, float64) uint64) func(*exact, float64) uint64 {
		return func(x *exact, r float64) uint64 {
			if !isNormal(f.D.Get(), x.near) {
				return round(x, r)
			}
			return sound(x, r)
		}
	}
	zero := func(f mma.Formats, x *exact) uint64 { return x.near & f.D.Get().SignBit() }
	for _, tc := range []struct {
		name    string
		formats mma.Formats
		round   func(f mma.Formats, x *exact, r float64) uint64
		defect  Defect
		low     Subnormal
		text    string
	}{
		{"sound", eight, func(_ mma.Formats, x *exact, r float64) uint64 { return sound(x, r) }, "", SubnormalSound, "normal and subnormal results; "},
		{"flushed before", eight, func(f mma.Formats, x *exact, _ float64) uint64 { return zero(f, x) }, "", SubnormalZero, "It makes zeros of what is below the normal numbers of e4m3. "},
		{"flushed after", half, func(f mma.Formats, x *exact, r float64) uint64 {
			if code := sound(x, r); isNormal(f.D.Get(), code) {
				return code
			}
			return zero(f, x)
		}, "", SubnormalZero, "It makes zeros of what is below the normal numbers of fp16. "},
		{"sometimes flushed", half, func(f mma.Formats, x *exact, r float64) uint64 {
			return map[bool]uint64{true: zero(f, x), false: sound(x, r)}[r > .9]
		}, Third, SubnormalDefect, "with a defect that subnormal results show: an answer is neither"},
		{"to nearest", brain, func(_ mma.Formats, x *exact, _ float64) uint64 { return sound(x, .5) }, Share, SubnormalFixed, "with a defect that subnormal results show: they are not rounded stochastically. "},
		{"cut off", half, func(_ mma.Formats, x *exact, _ float64) uint64 { return x.near }, Share, SubnormalFixed, "it gave 0001 in 0 of 64 answers instead of about "},
		{"away in one of 16", eight, func(_ mma.Formats, x *exact, r float64) uint64 { return sound(x, r*15/16) }, Bias, SubnormalDefect, " with a probability below 1e-13. In normal results that share is +0.00"},
	} {
		u := &unit{tc.formats, 1, low(tc.formats, func(x *exact, r float64) uint64 { return tc.round(tc.formats, x, r) }), nil, false, rand.New(rand.NewPCG(1, 2))}
		if strings.HasPrefix(tc.name, "flushed") {
			u.exact = func(x *exact, _ float64) uint64 {
				return map[bool]uint64{true: x.near, false: zero(tc.formats, x)}[isNormal(tc.formats.D.Get(), x.near)]
			}
		}
		j, err := Judge(t.Context(), u, Options{K: 1, Seed: 1, Answers: 4 * Least, Looks: 3})
		if err != nil || j == nil || j.Defect != tc.defect || j.Low != tc.low || !strings.Contains(j.Text("unit"), tc.text) {
			t.Errorf("%s: %+v, %v; want defect %q, subnormal results %q and %q", tc.name, j, err, tc.defect, tc.low, tc.text)
		} else {
			t.Log(j.Text("unit"))
		}
	}
}

// TestDoubt judges units by too few answers: a bias that they make likely, but do not prove, takes more.
func TestDoubt(t *testing.T) {
	for _, tc := range []struct {
		name    string
		bias    float64
		defect  Defect
		answers int
	}{
		{"sound", 0, "", Most / 8},
		{"away in one more of 64", 1. / 64, Bias, Most / 4},
		{"nearer zero in one more of 64", -1. / 64, Bias, Most / 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			round := func(x *exact, r float64) uint64 { return sound(x, r-tc.bias) }
			u := &unit{mma.Formats{A: fp.FP32, B: fp.One, D: fp.BF16}, 1, round, nil, false, rand.New(rand.NewPCG(1, 2))}
			j, err := Judge(t.Context(), u, Options{K: 1, Seed: 1, Answers: Most / 8, Looks: 3})
			if err != nil || j == nil || j.Defect != tc.defect || j.Doubt != 0 || j.Answers != tc.answers {
				t.Errorf("%+v, %v; want defect %q from %d answers", j, err, tc.defect, tc.answers)
			}
		})
	}
	j := &Judgement{Formats: mma.Formats{A: fp.FP32, B: fp.One, D: fp.BF16}, Answers: Most, Doubt: 5}
	if text := j.Text("unit"); strings.Contains(text, "No defect") || !strings.Contains(text, "Nothing is decided: one of the two is 5.0 standard deviations") {
		t.Error(text)
	}
}

// TestTail compares the bound with exact probabilities of sums of two kinds of events, counted
// by convolution.
func TestTail(t *testing.T) {
	const n = 40
	for _, shares := range [][]float64{{.5, .5}, {.1, .7}, {1. / 64, 63. / 64}, {1. / 64, 1. / 64}} {
		probability := []float64{1}
		mean := 0.
		for _, p := range shares {
			for range n {
				next := make([]float64, len(probability)+1)
				for i, q := range probability {
					next[i] += q * (1 - p)
					next[i+1] += q * p
				}
				probability, mean = next, mean+p
			}
		}
		above, below := 0., 1.
		for k := len(probability) - 1; k >= 0; k-- {
			above += probability[k]
			bound := math.Exp(tail(shares, n, float64(k)-mean))
			if exact := above; float64(k) > mean && (bound < exact*(1-1e-9) || exact > 1e-200 && bound > 30*exact) {
				t.Errorf("%v: at least %d of %d: bound %g, exactly %g", shares, k, 2*n, bound, exact)
			}
			if float64(k) < mean && bound < below*(1-1e-9)-1e-12 {
				t.Errorf("%v: at most %d of %d: bound %g, exactly %g", shares, k, 2*n, bound, below)
			}
			below -= probability[k]
		}
	}
}

// TestNeighbours compares what is explained by stochastic rounding with the roundings of every FP16 number.
func TestNeighbours(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.One, D: fp.E4M3}
	dot := mma.NewDot(f, 1)
	a, d := f.A.Get(), f.D.Get()
	for code := range uint64(0x5f00) { // up to 448
		dot.A[0] = code
		low, high := d.Encode(a.Dyadic(a.Decode(code)), fp.RD, fp.OverMax), d.Encode(a.Dyadic(a.Decode(code)), fp.RU, fp.OverMax)
		between := low != high
		for _, pair := range [][2]uint64{{low, high}, {high, low}} {
			if got := Neighbours(f, oracle.Policy{}, dot, pair[0], pair[1]); got != between {
				t.Fatalf("%x: %x and %x are neighbours: %v", code, pair[0], pair[1], got)
			}
		}
		if Neighbours(f, oracle.Policy{}, dot, low, high+1) || low > 0 && Neighbours(f, oracle.Policy{}, dot, low-1, high) {
			t.Fatalf("%x: more than %x and %x are neighbours", code, low, high)
		}
	}
	for code, want := range map[uint64]bool{0x5f00: false, 0x5f01: true, 0x5f7f: true, 0x5f80: false, 0x7c00: false} { // 448, 480, infinity
		if dot.A[0] = code; Neighbours(f, oracle.Policy{}, dot, 0x7e, 0x7f) != want {
			t.Errorf("%x: the largest number and a NaN are neighbours: %v", code, !want)
		}
	}
}
