package quantize

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// decisions are the rules in which schemes of the same formats can differ, with the label of a
// difference and what takes the rule over from another scheme.
var decisions = []struct {
	label string
	take  func(s, from *Scheme)
}{
	{"scale-rule", func(s, from *Scheme) { s.Rule = from.Rule }},
	{"scale-rounding", func(s, from *Scheme) { s.ScaleRounding = from.ScaleRounding }},
	{"reciprocal", func(s, from *Scheme) { s.Reciprocal = from.Reciprocal }},
	{"element-rounding", func(s, from *Scheme) { s.Rounding = from.Rounding }},
	{"saturation", func(s, from *Scheme) { s.Over = from.Over }},
}

// Comparison is what two schemes made of the same blocks.
type Comparison struct {
	Blocks   int             `json:"blocks"`
	Differ   int             `json:"differ"`
	Labels   map[string]int  `json:"labels"`         // blocks that differ, by labels
	Smallest map[string]Case `json:"smallest"`       // one of each, as small as it gets
	Rules    string          `json:"rules,omitzero"` // with a unit: the labels of the rules that have to be others for all its results
}

// Case is a block, and the largest magnitude of its tensor.
type Case struct {
	X    []float32 `json:"x"`
	Most float32   `json:"most"`
}

// MarshalJSON writes infinities and NaNs, for which JSON has no numbers, as "+Inf", "-Inf" and "NaN".
func (c Case) MarshalJSON() ([]byte, error) {
	value := func(v float32) any {
		if x := float64(v); math.IsInf(x, 0) || x != x {
			return fmt.Sprint(v)
		}
		return v
	}
	x := make([]any, len(c.X))
	for i, v := range c.X {
		x[i] = value(v)
	}
	return json.Marshal(map[string]any{"x": x, "most": value(c.Most)})
}

// Compare quantizes n blocks by two schemes of the same formats.
func Compare(a, b *Scheme, n int, seed uint64) (*Comparison, error) {
	if a.Element != b.Element || a.Bits != b.Bits || a.Magnitude != b.Magnitude || a.Scale != b.Scale || a.Rows != b.Rows || a.Columns != b.Columns || a.Tensor != b.Tensor {
		return nil, fmt.Errorf("%s and %s have elements, scales or blocks of different kinds", a.Name, b.Name)
	}
	c := &Comparison{Blocks: n, Labels: map[string]int{}, Smallest: map[string]Case{}}
	r := rand.New(rand.NewPCG(seed, 0))
	for range n {
		x := a.draw(r, min(max(a.Columns, 8), 16))
		if same(a, b, x) {
			continue
		}
		c.Differ++
		label := cause(a, b, x)
		if c.Labels[label]++; c.Labels[label] == 1 {
			c.Smallest[label] = Case{shrink(x.X, func(y []float32) bool {
				return !same(a, b, Case{y, x.Most}) && cause(a, b, Case{y, x.Most}) == label
			}), x.Most}
		}
	}
	return c, nil
}

// draw returns a block of n numbers. Every other block has a scale of few bits, and numbers that
// are half way between two elements; others have random ones, of exponents in a window.
func (s *Scheme) draw(r *rand.Rand, n int) Case {
	c := Case{X: make([]float32, n)}
	most, _, _ := s.largest()
	if r.IntN(2) == 0 {
		unit := math.Ldexp(float64(2*r.IntN(16)+1), r.IntN(20)-10)
		c.Most = float32(most * unit)
		if s.Tensor {
			f := s.Scale.Get()
			c.Most *= float32(f.Float64(f.MaxFinite()))
			unit *= f.Float64(1 + r.Uint64N(f.MaxFinite()))
		}
		c.X[0] = float32(most * unit)
		for i := 1; i < n; i++ {
			code := s.encode(most * r.Float64())
			c.X[i] = float32((s.value(code) + s.value(max(code, 1)-1)) / 2 * unit)
		}
		return c
	}
	low := uint32(100 + r.IntN(40))
	for i := range c.X {
		c.X[i] = math.Float32frombits(r.Uint32()&(1<<31|1<<23-1) | (low+uint32(r.IntN(14)))<<23)
		c.Most = max(c.Most, float32(math.Abs(float64(c.X[i]))))
	}
	c.Most *= float32(1 + r.IntN(8))
	return c
}

// Of quantizes a block as part of its tensor, whose scale is that of its finite numbers.
func (s *Scheme) Of(c Case) *Block {
	for _, v := range c.X {
		if a := float32(math.Abs(float64(v))); a <= math.MaxFloat32 {
			c.Most = max(c.Most, a)
		}
	}
	return s.quantize(c.X, s.tensorScale(c.Most))
}

func same(a, b *Scheme, c Case) bool {
	p, q := a.Of(c), b.Of(c)
	return p.Scale == q.Scale && slices.Equal(p.Codes, q.Codes)
}

// cause returns the labels of the fewest rules that a must take over from b to give b's result.
func cause(a, b *Scheme, c Case) string {
	best, fewest := "unexplained", len(decisions)+1
	for set := range 1 << len(decisions) {
		s, labels := *a, []string{}
		for i, d := range decisions {
			if set>>i&1 == 1 {
				d.take(&s, b)
				labels = append(labels, d.label)
			}
		}
		if len(labels) < fewest && same(&s, b, c) {
			best, fewest = strings.Join(labels, ", "), len(labels)
		}
	}
	return best
}

// shrink leaves numbers out, then takes bits from those that remain, as long as bad holds.
func shrink(x []float32, bad func([]float32) bool) []float32 {
	for i := 0; i < len(x) && len(x) > 1; {
		if y := slices.Delete(slices.Clone(x), i, i+1); bad(y) {
			x = y
		} else {
			i++
		}
	}
	for i := range x {
		for bit := range 31 { // the magnitude as an integer becomes as short as possible
			y := slices.Clone(x)
			if y[i] = math.Float32frombits(math.Float32bits(x[i]) &^ (1 << bit)); bad(y) {
				x = y
			}
		}
	}
	return x
}
