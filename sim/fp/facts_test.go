package fp_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// span is an inclusive range of codes.
type span struct{ lo, hi uint64 }

func (s span) has(code uint64) bool { return s.lo <= code && code <= s.hi }

// facts are what the format specifications say of a format, written out, and
// not computed, so that they check the package's table and its methods. The
// reference decoder below reads nothing else.
type facts struct {
	id                    fp.ID
	name                  string
	sign, exp, frac, low  int
	bias                  int
	width                 int
	emin, emax            int
	maxCode               uint64
	minSub, minNorm, most float64 // most: the largest finite value
	negZero               bool
	inf, nan              []span
	nans                  uint64     // NaN codes
	quiet, ones           uint64     // NaN; 0 in both where there is none
	over                  [2]uint64  // what overflow gives under OverInf: +, -
	codeBits              int        // with bits that are dropped or ignored
	samples               []sampling // further codes with their values
}

type sampling struct {
	code  uint64
	value float64
}

var golden = []facts{
	{
		id: fp.FP64, name: "fp64", sign: 1, exp: 11, frac: 52, bias: 1023, width: 8, codeBits: 64,
		emin: -1022, emax: 1023, maxCode: 0x7FEFFFFFFFFFFFFF,
		minSub: 0x1p-1074, minNorm: 0x1p-1022, most: math.MaxFloat64, negZero: true,
		inf:  []span{{0x7FF0000000000000, 0x7FF0000000000000}, {0xFFF0000000000000, 0xFFF0000000000000}},
		nan:  []span{{0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF}, {0xFFF0000000000001, 0xFFFFFFFFFFFFFFFF}},
		nans: 1<<53 - 2, quiet: 0x7FF8000000000000, ones: 0x7FFFFFFFFFFFFFFF,
		over:    [2]uint64{0x7FF0000000000000, 0xFFF0000000000000},
		samples: []sampling{{0x3FF0000000000000, 1}, {0xC004000000000000, -2.5}, {1, 0x1p-1074}},
	},
	{
		id: fp.FP32, name: "fp32", sign: 1, exp: 8, frac: 23, bias: 127, width: 4, codeBits: 32,
		emin: -126, emax: 127, maxCode: 0x7F7FFFFF,
		minSub: 0x1p-149, minNorm: 0x1p-126, most: math.MaxFloat32, negZero: true,
		inf:  []span{{0x7F800000, 0x7F800000}, {0xFF800000, 0xFF800000}},
		nan:  []span{{0x7F800001, 0x7FFFFFFF}, {0xFF800001, 0xFFFFFFFF}},
		nans: 1<<24 - 2, quiet: 0x7FC00000, ones: 0x7FFFFFFF,
		over:    [2]uint64{0x7F800000, 0xFF800000},
		samples: []sampling{{0x3F800000, 1}, {0x3F801FFF, 1 + 0x1FFFp-23}, {0xC0200000, -2.5}},
	},
	tf32(fp.TF32, "tf32"),
	tf32(fp.XF32, "xf32"),
	{
		id: fp.BF16, name: "bf16", sign: 1, exp: 8, frac: 7, bias: 127, width: 2, codeBits: 16,
		emin: -126, emax: 127, maxCode: 0x7F7F,
		minSub: 0x1p-133, minNorm: 0x1p-126, most: 0xFFp120, negZero: true,
		inf: []span{{0x7F80, 0x7F80}, {0xFF80, 0xFF80}}, nan: []span{{0x7F81, 0x7FFF}, {0xFF81, 0xFFFF}},
		nans: 254, quiet: 0x7FC0, ones: 0x7FFF, over: [2]uint64{0x7F80, 0xFF80},
		samples: []sampling{{0x3F80, 1}, {0xC020, -2.5}},
	},
	{
		id: fp.FP16, name: "fp16", sign: 1, exp: 5, frac: 10, bias: 15, width: 2, codeBits: 16,
		emin: -14, emax: 15, maxCode: 0x7BFF,
		minSub: 0x1p-24, minNorm: 0x1p-14, most: 65504, negZero: true,
		inf: []span{{0x7C00, 0x7C00}, {0xFC00, 0xFC00}}, nan: []span{{0x7C01, 0x7FFF}, {0xFC01, 0xFFFF}},
		nans: 2046, quiet: 0x7E00, ones: 0x7FFF, over: [2]uint64{0x7C00, 0xFC00},
		samples: []sampling{{0x3C00, 1}, {0xC100, -2.5}, {0x03FF, 0x3FFp-24}},
	},
	{
		id: fp.E5M2, name: "e5m2", sign: 1, exp: 5, frac: 2, bias: 15, width: 1, codeBits: 8,
		emin: -14, emax: 15, maxCode: 0x7B,
		minSub: 0x1p-16, minNorm: 0x1p-14, most: 57344, negZero: true,
		inf: []span{{0x7C, 0x7C}, {0xFC, 0xFC}}, nan: []span{{0x7D, 0x7F}, {0xFD, 0xFF}},
		nans: 6, quiet: 0x7E, ones: 0x7F, over: [2]uint64{0x7C, 0xFC},
		samples: []sampling{{0x3C, 1}, {0xC1, -2.5}},
	},
	{
		id: fp.E4M3, name: "e4m3", sign: 1, exp: 4, frac: 3, bias: 7, width: 1, codeBits: 8,
		emin: -6, emax: 8, maxCode: 0x7E,
		minSub: 0x1p-9, minNorm: 0x1p-6, most: 448, negZero: true,
		nan:  []span{{0x7F, 0x7F}, {0xFF, 0xFF}},
		nans: 2, quiet: 0x7F, ones: 0x7F, over: [2]uint64{0x7F, 0xFF},
		samples: []sampling{{0x38, 1}, {0xC2, -2.5}, {0x77, 240}, {0x78, 256}},
	},
	{
		id: fp.E5M2FNUZ, name: "e5m2fnuz", sign: 1, exp: 5, frac: 2, bias: 16, width: 1, codeBits: 8,
		emin: -15, emax: 15, maxCode: 0x7F,
		minSub: 0x1p-17, minNorm: 0x1p-15, most: 57344,
		nan:  []span{{0x80, 0x80}},
		nans: 1, quiet: 0x80, ones: 0x80, over: [2]uint64{0x80, 0x80},
		samples: []sampling{{0x40, 1}, {0x81, -0x1p-17}, {0xFF, -57344}},
	},
	{
		id: fp.E4M3FNUZ, name: "e4m3fnuz", sign: 1, exp: 4, frac: 3, bias: 8, width: 1, codeBits: 8,
		emin: -7, emax: 7, maxCode: 0x7F,
		minSub: 0x1p-10, minNorm: 0x1p-7, most: 240,
		nan:  []span{{0x80, 0x80}},
		nans: 1, quiet: 0x80, ones: 0x80, over: [2]uint64{0x80, 0x80},
		samples: []sampling{{0x40, 1}, {0x81, -0x1p-10}, {0xFF, -240}},
	},
	{
		id: fp.E3M2, name: "e3m2", sign: 1, exp: 3, frac: 2, bias: 3, width: 1, codeBits: 6,
		emin: -2, emax: 4, maxCode: 0x1F,
		minSub: 0x1p-4, minNorm: 0x1p-2, most: 28, negZero: true, over: [2]uint64{0x1F, 0x3F},
		samples: []sampling{{0x0C, 1}, {0x31, -2.5}},
	},
	{
		id: fp.E2M3, name: "e2m3", sign: 1, exp: 2, frac: 3, bias: 1, width: 1, codeBits: 6,
		emin: 0, emax: 2, maxCode: 0x1F,
		minSub: 0x1p-3, minNorm: 1, most: 7.5, negZero: true, over: [2]uint64{0x1F, 0x3F},
		samples: []sampling{{0x08, 1}, {0x32, -2.5}},
	},
	{
		id: fp.E2M1, name: "e2m1", sign: 1, exp: 2, frac: 1, bias: 1, width: 1, codeBits: 4,
		emin: 0, emax: 2, maxCode: 0x7,
		minSub: 0.5, minNorm: 1, most: 6, negZero: true, over: [2]uint64{0x7, 0xF},
		samples: []sampling{{0, 0}, {1, .5}, {2, 1}, {3, 1.5}, {4, 2}, {5, 3}, {6, 4}, {7, 6}, {0xF, -6}},
	},
	{
		// No zero and no subnormals: 00 is the smallest number of all.
		id: fp.E8M0, name: "ue8m0", exp: 8, bias: 127, width: 1, codeBits: 8,
		emin: -127, emax: 127, maxCode: 0xFE,
		minSub: 0x1p-127, minNorm: 0x1p-127, most: 0x1p127,
		nan:  []span{{0xFF, 0xFF}},
		nans: 1, quiet: 0xFF, ones: 0xFF, over: [2]uint64{0xFF, 0xFF},
		samples: []sampling{{0, 0x1p-127}, {0x7F, 1}, {0x80, 2}},
	},
	{
		// Bit 7 is ignored, so that every code has a twin.
		id: fp.UE4M3, name: "ue4m3", exp: 4, frac: 3, bias: 7, width: 1, codeBits: 8,
		emin: -6, emax: 8, maxCode: 0x7E,
		minSub: 0x1p-9, minNorm: 0x1p-6, most: 448,
		nan:  []span{{0x7F, 0x7F}, {0xFF, 0xFF}},
		nans: 2, quiet: 0x7F, ones: 0x7F, over: [2]uint64{0x7F, 0x7F},
		samples: []sampling{{0x38, 1}, {0xB8, 1}, {0x80, 0}, {0x81, 0x1p-9}, {0xFE, 448}},
	},
	{
		id: fp.One, name: "one", width: 1, minSub: 1, minNorm: 1, most: 1, samples: []sampling{{0, 1}, {0xFF, 1}},
	},
}

// tf32 is the golden row of TF32 and of XF32, which differ in name only. The
// low bits are dropped before a code is read: 7F800001 is Inf and not NaN.
func tf32(id fp.ID, name string) facts {
	return facts{
		id: id, name: name, sign: 1, exp: 8, frac: 10, low: 13, bias: 127, width: 4, codeBits: 32,
		emin: -126, emax: 127, maxCode: 0x7F7FE000,
		minSub: 0x1p-136, minNorm: 0x1p-126, most: 0x7FFp117, negZero: true,
		inf:  []span{{0x7F800000, 0x7F801FFF}, {0xFF800000, 0xFF801FFF}},
		nan:  []span{{0x7F802000, 0x7FFFFFFF}, {0xFF802000, 0xFFFFFFFF}},
		nans: 1<<24 - 2<<13, quiet: 0x7FC00000, ones: 0x7FFFE000,
		over: [2]uint64{0x7F800000, 0xFF800000},
		samples: []sampling{
			{0x3F800000, 1}, {0x3F801FFF, 1}, {0x3F802000, 1 + 0x1p-10}, {0xC0200001, -2.5},
			{0x00001FFF, 0}, {0x00002000, 0x1p-136}, {0x7F7FFFFF, 0x7FFp117},
			{0x7F800001, math.Inf(1)}, {0xFF801FFF, math.Inf(-1)}, {0x7F802000, math.NaN()},
		},
	}
}

// small reports whether every code of the format can be tried.
func (g *facts) small() bool { return g.codeBits <= 16 }

func (g *facts) signBit() uint64 { return uint64(g.sign) << (g.exp + g.frac + g.low) }

func (g *facts) isNaN(code uint64) bool { return among(g.nan, code) }
func (g *facts) isInf(code uint64) bool { return among(g.inf, code) }

func among(spans []span, code uint64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.has(code) })
}

// value is the reference decoder. A NaN is a NaN; its sign is lost.
func (g *facts) value(code uint64) float64 {
	if g.isNaN(code) {
		return math.NaN()
	}
	s := 1.0
	if code&g.signBit() != 0 {
		s = -1
	}
	if g.isInf(code) {
		return math.Inf(int(s))
	}
	magnitude := code >> g.low % (1 << (g.exp + g.frac))
	field, frac := int(magnitude>>g.frac), float64(magnitude%(1<<g.frac))
	one := math.Ldexp(1, g.frac)
	switch {
	case g.frac == 0:
		return math.Ldexp(1, field-g.bias)
	case field == 0:
		return math.Copysign(math.Ldexp(frac, 1-g.bias-g.frac), s)
	}
	return s * math.Ldexp(one+frac, field-g.bias-g.frac)
}

// codes maps the non-negative values of a small format to their codes.
func (g *facts) codes() map[float64]uint64 { return codeTables()[g.id] }

var codeTables = sync.OnceValue(func() map[fp.ID]map[float64]uint64 {
	tables := map[fp.ID]map[float64]uint64{}
	for i := range golden {
		g := &golden[i]
		if !g.small() {
			continue
		}
		t := map[float64]uint64{}
		for code := range g.maxCode + 1 {
			t[g.value(code)] = code
		}
		tables[g.id] = t
	}
	return tables
})

// eachFormat runs a test on every golden row.
func eachFormat(t *testing.T, test func(t *testing.T, g *facts, f *fp.Format)) {
	for i := range golden {
		g := &golden[i]
		t.Run(g.name, func(t *testing.T) { test(t, g, g.id.Get()) })
	}
}

// same compares floats as values with signed zeros, all NaNs being equal.
func same(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Float64bits(a) == math.Float64bits(b)
}

// TestGoldenComplete fails for a format of which nobody wrote down the facts.
func TestGoldenComplete(t *testing.T) {
	ids := append(fp.All(), fp.One)
	if len(ids) != len(golden) {
		t.Errorf("%d formats, %d golden rows", len(ids), len(golden))
	}
	for _, id := range ids {
		if id.Get().ID != id {
			t.Errorf("row of %v holds the ID %v", id, id.Get().ID)
		}
		if !slices.ContainsFunc(golden, func(g facts) bool { return g.id == id }) {
			t.Errorf("there are no facts of %v", id)
		}
	}
}

func TestGoldenFacts(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		type fact struct {
			name      string
			got, want any
		}
		mask := ^uint64(0) >> (64 - g.codeBits)
		for _, c := range []fact{
			{"name", f.Name, g.name},
			{"signed", f.Signed, g.sign == 1},
			{"exponent bits", int(f.ExpBits), g.exp},
			{"fraction bits", int(f.FracBits), g.frac},
			{"dropped bits", int(f.Low), g.low},
			{"bias", int(f.Bias), g.bias},
			{"width", int(f.Width), g.width},
			{"width by ID", g.id.Width(), g.width},
			{"digits", f.Digits(), 2 * g.width},
			{"bits", int(f.Bits()), g.sign + g.exp + g.frac},
			{"code bits", int(f.CodeBits()), g.codeBits},
			{"code mask", f.CodeMask(), mask},
			{"sign bit", f.SignBit(), g.signBit()},
			{"emin", int(f.Emin()), g.emin},
			{"emax", int(f.Emax()), g.emax},
			{"max finite code", f.MaxFinite(), g.maxCode},
			{"max finite", f.Float64(g.maxCode), g.most},
			{"min subnormal", f.Float64(g.lowest()), g.minSub},
			{"min normal", f.Float64(f.Encode(fp.Dyadic{Lo: 1, Q: int32(g.emin)}, fp.RNE, fp.OverMax)), g.minNorm},
			{"has Inf", f.HasInf(), len(g.inf) > 0},
			{"has NaN", f.HasNaN(), len(g.nan) > 0},
			{"has -0", f.HasNegZero(), g.negZero},
			{"source", f.Source != "", true},
		} {
			if c.got != c.want {
				t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
			}
		}
		for _, s := range g.samples {
			if v := f.Float64(s.code); !same(v, s.value) {
				t.Errorf("code %X is %v, want %v", s.code, v, s.value)
			}
		}
	})
}

// lowest is the code of the smallest positive number.
func (g *facts) lowest() uint64 {
	if g.frac == 0 {
		return 0
	}
	return 1 << g.low
}

func TestSpecialCodes(t *testing.T) {
	eachFormat(t, func(t *testing.T, g *facts, f *fp.Format) {
		if g.nans == 0 {
			mustPanic(t, "QuietNaN", func() { f.QuietNaN(false) })
			mustPanic(t, "OnesNaNCode", func() { f.OnesNaNCode() })
		} else {
			checkCode(t, "QuietNaN(+)", f.QuietNaN(false), g.quiet)
			checkCode(t, "QuietNaN(-)", f.QuietNaN(true), g.quiet|g.signBit())
			checkCode(t, "OnesNaNCode", f.OnesNaNCode(), g.ones)
		}
		if len(g.inf) == 0 {
			mustPanic(t, "InfCode", func() { f.InfCode(false) })
			return
		}
		checkCode(t, "InfCode(+)", f.InfCode(false), g.inf[0].lo)
		checkCode(t, "InfCode(-)", f.InfCode(true), g.inf[1].lo)
	})
}

func checkCode(t *testing.T, what string, got, want uint64) {
	t.Helper()
	if got != want {
		t.Errorf("%s: code %X, want %X", what, got, want)
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s does not panic", what)
		}
	}()
	f()
}

func TestNoFormat(t *testing.T) {
	past := fp.ID(255)
	mustPanic(t, "None.Get", func() { fp.None.Get() })
	mustPanic(t, fmt.Sprint(past, ".Get"), func() { past.Get() })
	if w := fp.None.Width(); w != 0 {
		t.Errorf("None has width %d", w)
	}
}
