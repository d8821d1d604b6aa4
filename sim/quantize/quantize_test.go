package quantize_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/quantize"
)

func parse(t *testing.T, text string) *quantize.Scheme {
	t.Helper()
	s, err := quantize.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// third is the scale of a block of NVFP4: 448 * (8/2688 in FP32), which is 4/3 but for rounding.
var third = 448 * float64(float32(8)/2688)

// TestKnown looks at blocks whose scale and codes were worked out by hand.
func TestKnown(t *testing.T) {
	for _, tc := range []struct {
		scheme string
		x      []float32
		scale  uint64
		codes  []uint64
		values []float64
	}{
		{"mxfp8", []float32{957}, 0x80, []uint64{0x7e}, []float64{896}}, // 957 / 2 = 478.5 saturates
		{"mxfp8:ceil", []float32{957}, 0x81, []uint64{0x77}, []float64{960}},
		{"mxfp8:rceil", []float32{957}, 0x81, []uint64{0x77}, []float64{960}},
		{"mxfp8:even", []float32{957}, 0x80, []uint64{0x7e}, []float64{896}},
		{"mxfp8:even", []float32{1000}, 0x81, []uint64{0x78}, []float64{1024}}, // 1000 is 1024 to 3 fraction bits
		{"mxfp8:rceil", []float32{896}, 0x80, []uint64{0x7e}, []float64{896}},
		{"mxfp8:ceil", []float32{896}, 0x81, []uint64{0x76}, []float64{896}},
		{"mxfp8:nosat", []float32{957, -2}, 0x80, []uint64{0x7f, 0xb8}, []float64{math.NaN(), -2}},
		{"mxfp8", []float32{0, 0}, 0, []uint64{0, 0}, []float64{0, 0}},
		{"mxfp4", []float32{6, 5, -2.5, 0.25}, 0x7f, []uint64{7, 6, 0xc, 0}, []float64{6, 4, -2, 0}},
		{"mxfp4:rna", []float32{6, 5, -2.5, 0.25}, 0x7f, []uint64{7, 7, 0xd, 1}, []float64{6, 6, -3, 0.5}},
		{"mxfp6", []float32{7.5, -0.0625}, 0x7f, []uint64{0x1f, 0x20}, []float64{7.5, math.Copysign(0, -1)}},
		{"mxint8", []float32{1.984375, -2, 0.0078125}, 0x80, []uint64{0x40, 0xc0, 0}, []float64{2, -2, 0}}, // the scale is 2: units of 2^-5
		{"mxint8", []float32{1.9921875, -1}, 0x7f, []uint64{0x7f, 0xc0}, []float64{1.984375, -1}},
		{"bfp8", []float32{1.984375, -1, 0.0234375}, 0x7f, []uint64{0x7f, 0xc0, 0x02}, []float64{1.984375, -1, 0.03125}},
		{"bfp4", []float32{7, -3, 0.5}, 0x81, []uint64{7, 0xb, 0}, []float64{7, -3, 0}},
		{"fp8-tensor", []float32{896, 3}, 0x40000000, []uint64{0x7e, 0x3c}, []float64{896, 3}},
		// The scales are 448 * (8/2688 in FP32) = 1.3333334: 2.3333333 by it is below 1.75, the tie, but the
		// product with its reciprocal 0.75 in FP32 is the tie.
		{"nvfp4", []float32{8, 2.3333333}, 0x7e, []uint64{7, 3}, []float64{6 * third, 1.5 * third}},
		{"nvfp4:reciprocal", []float32{8, 2.3333333}, 0x7e, []uint64{7, 4}, []float64{6 * third, 2 * third}},
		{"nvfp4", []float32{0, float32(math.Copysign(0, -1))}, 0, []uint64{0, 8}, []float64{0, math.Copysign(0, -1)}}, // of a scale of 0
		{"fp8-row:reciprocal", []float32{0x1p-149, 0}, 1, []uint64{0x7e, 0}, []float64{448 * 0x1p-149, 0}},            // 1/scale is infinite
		{"nvfp4", []float32{2688, 6}, 0x7e, []uint64{7, 0}, []float64{2688, 0}},
	} {
		b := parse(t, tc.scheme).Of(quantize.Case{X: tc.x})
		if b.Scale != tc.scale || !slices.Equal(b.Codes, tc.codes) || fmt.Sprint(b.Values) != fmt.Sprint(tc.values) {
			t.Errorf("%s of %v: scale %x, codes %x, values %v; want %x, %x, %v", tc.scheme, tc.x, b.Scale, b.Codes, b.Values, tc.scale, tc.codes, tc.values)
		}
	}
}

// TestNotFinite looks at blocks with infinities and NaNs.
func TestNotFinite(t *testing.T) {
	for _, s := range quantize.Schemes() {
		for _, v := range []float64{math.Inf(-1), math.NaN()} {
			b := s.Of(quantize.Case{X: []float32{1, float32(v)}})
			if n := s.Scale.Get().Decode(b.Scale); n.Class != fp.NaN || b.Codes[0] != 0 || !math.IsNaN(b.Values[0]) {
				t.Errorf("%s of %v: %+v", s.Name, v, b)
			}
		}
	}
}

// TestJudge compares every scheme with definitions in exact and correctly rounded numbers of
// package math/big: the nearest element, of two the one with the even code, and the scale by
// its inequality.
func TestJudge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range quantize.Schemes() {
		rules := []string{s.Name}
		if s.Scale == fp.E8M0 {
			rules = append(rules, s.Name+":ceil", s.Name+":even", s.Name+":rceil")
		} else {
			rules = append(rules, s.Name+":reciprocal")
		}
		for _, rule := range rules {
			s := parse(t, rule)
			for range 10 {
				x := make([]float32, 8)
				for i := range x {
					x[i] = math.Float32frombits(r.Uint32()&(1<<31|1<<23-1)>>(r.IntN(2)*12)<<(r.IntN(2)*3) | uint32(110+r.IntN(14))<<23)
				}
				judge(t, s, x)
			}
		}
	}
}

func judge(t *testing.T, s *quantize.Scheme, x []float32) {
	t.Helper()
	b := s.Of(quantize.Case{X: x})
	for i, v := range x {
		q := new(big.Float).SetPrec(24).Quo(big.NewFloat(float64(v)), big.NewFloat(b.Factor))
		if s.Reciprocal {
			q.Mul(big.NewFloat(float64(v)), new(big.Float).SetPrec(24).Quo(big.NewFloat(1), big.NewFloat(float64(float32(b.Factor)))))
		} else if s.Scale != fp.E8M0 {
			q.Quo(big.NewFloat(float64(v)), big.NewFloat(float64(float32(b.Factor))))
		}
		want := nearest(elements(s), q)
		if got := elements(s)[b.Codes[i]]; got != want {
			t.Fatalf("%s of %v: element %d is %v, want %v", s.Name, x, i, got, want)
		}
	}
	if s.Scale != fp.E8M0 {
		return
	}
	// amax lies between two bounds of the scale.
	amax, most, e := 0.0, slices.Max(slices.Collect(func(yield func(float64) bool) {
		for _, v := range elements(s) {
			if !yield(v) {
				return
			}
		}
	})), float64(int(b.Scale)-127)
	for _, v := range x {
		amax = max(amax, math.Abs(float64(v)))
	}
	top := math.Exp2(math.Floor(math.Log2(most))) // 2^emax
	scale := math.Exp2(e)
	half := top // amax from which the next power of two is taken
	ok := false
	switch s.Rule {
	case quantize.Floor:
		ok = scale*top <= amax && amax < 2*scale*top
	case quantize.Ceil:
		ok = scale*top/2 < amax && amax <= scale*top
	case quantize.RCeil:
		ok = amax <= most*scale && amax > most*scale/2
	case quantize.Even:
		frac := 6.0
		if s.Element != fp.None {
			frac = float64(s.Element.Get().FracBits)
		} else {
			frac = float64(s.Bits - 2)
		}
		up := 2 - math.Exp2(-frac-1) // significands from here on are rounded to 2: a tie, and 2 is even
		ok = amax < up*scale*half && amax >= up*scale*half/2
	}
	if !ok {
		t.Fatalf("%s: the largest number is %v, the scale 2^%v", s.Name, amax, e)
	}
}

// elements returns the numbers of all finite codes.
func elements(s *quantize.Scheme) map[uint64]float64 {
	all := map[uint64]float64{}
	if s.Element != fp.None {
		f := s.Element.Get()
		for code := range uint64(1) << f.Bits() {
			if f.Decode(code).Class < fp.Inf {
				all[code] = f.Float64(code)
			}
		}
		return all
	}
	for n := range 1 << (s.Bits - 1) {
		v := math.Ldexp(float64(n), 2-s.Bits)
		all[uint64(n)] = v
		if s.Magnitude {
			all[uint64(n|1<<(s.Bits-1))] = -v
		} else if n > 0 {
			all[uint64(1<<s.Bits-n)] = -v
		}
	}
	return all
}

// nearest returns the number nearest to q, of two the one with an even code.
func nearest(all map[uint64]float64, q *big.Float) float64 {
	var best uint64
	var least *big.Float
	for code, v := range all {
		d := new(big.Float).SetPrec(200).Sub(q, big.NewFloat(v))
		d.Abs(d)
		if least == nil || d.Cmp(least) < 0 || d.Cmp(least) == 0 && code%2 == 0 && all[best] != v {
			best, least = code, d
		}
	}
	return all[best]
}

// TestCompare looks at labels of pairs that differ in one rule, and at the smallest blocks.
func TestCompare(t *testing.T) {
	for _, tc := range []struct{ a, b, label string }{
		{"mxfp8", "mxfp8:ceil", "scale-rule"},
		{"mxfp4", "mxfp4:even", "scale-rule"},
		{"mxfp4", "mxfp4:rz", "element-rounding"},
		{"mxfp8", "mxfp8:nosat", "saturation"},
		{"nvfp4", "nvfp4:reciprocal", "reciprocal"},
		{"nvfp4", "nvfp4:scale-ru", "scale-rounding"},
		{"fp8-row", "fp8-row:reciprocal", "reciprocal"},
	} {
		a, b := parse(t, tc.a), parse(t, tc.b)
		c, err := quantize.Compare(a, b, 600, 1)
		if err != nil {
			t.Fatal(err)
		}
		if c.Differ == 0 || len(c.Labels) != 1 || c.Labels[tc.label] != c.Differ {
			t.Errorf("%s and %s: %+v, want %s", tc.a, tc.b, c.Labels, tc.label)
			continue
		}
		x := c.Smallest[tc.label]
		p, q := a.Of(x), b.Of(x)
		if len(x.X) > 2 || p.Scale == q.Scale && slices.Equal(p.Codes, q.Codes) {
			t.Errorf("%s and %s: the smallest block is %v", tc.a, tc.b, x)
		}
		if again, _ := quantize.Compare(a, b, 600, 1); fmt.Sprint(again) != fmt.Sprint(c) {
			t.Errorf("%s and %s: %v, then %v", tc.a, tc.b, c, again)
		}
	}
	if _, err := quantize.Compare(parse(t, "mxfp8"), parse(t, "mxfp4"), 1, 1); err == nil {
		t.Error("blocks of different formats are compared")
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"mxfp9":            "known: mxfp8, ",
		"nvfp4:ceil":       `"ceil" is not one of its rules`,
		"mxfp8:scale-ru":   `"scale-ru" is not one of its rules`,
		"mxfp4:nosat":      `"nosat" is not one of its rules`,
		"fp8-row:scale-xx": `"scale-xx" is not one of its rules`,
	} {
		if _, err := quantize.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestCompareUnit looks at what is said of units with one mistake each.
func TestCompareUnit(t *testing.T) {
	of := func(scheme string, change func(*quantize.Block)) quantize.Unit {
		s := parse(t, scheme)
		return func(cases []quantize.Case) ([]*quantize.Block, error) {
			var all []*quantize.Block
			for _, c := range cases {
				b := s.Of(c)
				if change != nil {
					change(b)
				}
				all = append(all, b)
			}
			return all, nil
		}
	}
	each := func(code func(uint64) uint64) func(*quantize.Block) {
		return func(b *quantize.Block) {
			for i := range b.Codes {
				b.Codes[i] = code(b.Codes[i])
			}
		}
	}
	for _, tc := range []struct {
		scheme string
		unit   quantize.Unit
		labels string
		rules  string
	}{
		{"mxfp8", of("mxfp8", nil), "map[]", ""},
		{"mxfp8", of("mxfp8:ceil", nil), "scale-rule", "scale ceil"},
		{"mxfp4", of("mxfp4:rceil:rna", nil), "scale-rule, element-rounding", "scale rceil, elements rounded rna"},
		{"nvfp4", of("nvfp4:reciprocal", nil), "reciprocal", "multiplication by 1/scale"},
		{"mxfp8", of("mxfp8", func(b *quantize.Block) { b.Scale = max(b.Scale, 1) }), "unexplained zero-block", ""},
		{"mxfp8", of("mxfp8", func(b *quantize.Block) { b.Scale &= 0x7f | b.Scale>>1&0x40 }), "special unexplained", ""},
		{"mxfp8", of("mxfp8", each(func(c uint64) uint64 { return c&0x80 | min(c&0x7f, 0x77) })), "saturation", "elements saturate at 240"},
		{"mxfp8", of("mxfp8", each(func(c uint64) uint64 { return map[bool]uint64{true: 0, false: c}[c == 0x80] })), "signed-zero", "zeros have no sign"},
		{"mxfp8", of("mxfp8", each(func(c uint64) uint64 { return map[bool]uint64{true: c & 0x80, false: c}[c&0x78 == 0] })), "output-ftz", "subnormal elements are zeros"},
		{"mxfp8", func(cases []quantize.Case) ([]*quantize.Block, error) {
			cases = slices.Clone(cases)
			for i := range cases {
				x := slices.Clone(cases[i].X)
				for n, v := range x {
					if v != v {
						x[n] = 0
					}
				}
				cases[i].X = x
			}
			return of("mxfp8", nil)(cases)
		}, "special", ""},
	} {
		c, err := quantize.CompareUnit(parse(t, tc.scheme), tc.unit, 16, true, 600, 1)
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		for label := range c.Labels {
			labels = append(labels, label)
		}
		slices.Sort(labels)
		if got := strings.Join(labels, " "); got != strings.TrimPrefix(tc.labels, "map[]") || c.Rules != tc.rules {
			t.Errorf("%s: %v, rules %q; want %q, %q", tc.scheme, c.Labels, c.Rules, tc.labels, tc.rules)
		}
		for label, x := range c.Smallest {
			if len(x.X) > 2 {
				t.Errorf("%s, %s: the smallest block is %v", tc.scheme, label, x)
			}
		}
	}
}

// TestWholeBlock compares units that overlook one number of a block when they make its scale.
func TestWholeBlock(t *testing.T) {
	s := parse(t, "mxfp8")
	for _, n := range []int{16, 32, 48, 128} {
		for at := range n {
			if at%4 != n/16%4 && at != n-1 {
				continue
			}
			overlooks := func(cases []quantize.Case) (all []*quantize.Block, _ error) {
				for _, c := range cases {
					b := s.Of(c)
					if at < len(c.X) {
						x := slices.Clone(c.X)
						x[at] = 0
						b.Scale = s.Of(quantize.Case{X: x}).Scale
					}
					all = append(all, b)
				}
				return all, nil
			}
			c, err := quantize.CompareUnit(s, overlooks, n, false, 3200, 1)
			if err != nil {
				t.Fatal(err)
			}
			if c.Differ == 0 {
				t.Errorf("nobody sees that number %d of %d is overlooked", at, n)
			}
		}
	}
}

// TestSpecialInJSON: blocks with infinities and NaNs are shown number by number, and written as JSON.
func TestSpecialInJSON(t *testing.T) {
	x := quantize.Case{X: []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1.5}}
	got, err := json.Marshal(quantize.Comparison{Smallest: map[string]quantize.Case{"special": x}})
	if want := `"special":{"most":0,"x":["+Inf","-Inf","NaN",1.5]}`; err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	for _, name := range []string{"mxfp8", "nvfp4"} {
		s := parse(t, name)
		if _, err := json.Marshal(s.Of(x)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.Explain(x); !strings.Contains(got, "  -Inf → ") || !strings.Contains(got, "  1.5 → ") {
			t.Errorf("%s: the numbers are not in\n%s", name, got)
		}
	}
}
