package quantize

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Unit quantizes blocks as a program of somebody else does. Of its answers Scale and Codes count.
type Unit func([]Case) ([]*Block, error)

// Labels of blocks that no rule is about, and of those that no rules explain.
const (
	special     = "special"    // with an infinity or a NaN
	zeroBlock   = "zero-block" // of zeros
	unexplained = "unexplained"
)

// CompareUnit quantizes n blocks of at most most numbers by a scheme and by a unit, and looks for the
// fewest other rules by which a scheme gives all results of the unit. The label of a difference is
// that of these rules. The unit knows the largest magnitude of a tensor, or each block is one.
func CompareUnit(a *Scheme, u Unit, most int, tensor bool, n int, seed uint64) (*Comparison, error) {
	c := &Comparison{Blocks: n, Labels: map[string]int{}, Smallest: map[string]Case{}}
	r := rand.New(rand.NewPCG(seed, 1))
	var all []Case
	alone := 0 // blocks in which one number stands out
	for i := range n {
		x := a.draw(r, filled(most, i))
		if i%2 == 0 {
			a.edge(r, &x, i)
		}
		at := i / 2 % len(x.X) // the first number is the largest of many blocks
		if i%4 == 1 && len(x.X) == most {
			at = alone % most
			x.standOut()
			alone++
		}
		x.X[0], x.X[at] = x.X[at], x.X[0]
		if !tensor {
			x.Most = 0
		}
		all = append(all, x)
	}
	answers, err := u(all)
	if err != nil {
		return nil, err
	}
	var label string
	label, c.Rules = a.explainUnit(all, answers)
	for i, x := range all {
		if a.agrees(&variant{Scheme: *a}, x, answers[i]) {
			continue
		}
		c.Differ++
		kind := kindOf(x, label)
		if c.Labels[kind]++; c.Labels[kind] > 1 {
			continue
		}
		c.Smallest[kind] = Case{shrink(x.X, func(y []float32) bool {
			z := Case{y, x.Most}
			var got []*Block
			if err == nil && kindOf(z, label) == kind {
				got, err = u([]Case{z})
			}
			return got != nil && !a.agrees(&variant{Scheme: *a}, z, got[0])
		}), x.Most}
	}
	return c, err
}

// filled is how many numbers of block i are drawn where a block has most: all but in most of the long
// ones, because a program is asked for each.
func filled(most, i int) int {
	if most > 32 && i%16 > 1 {
		return 16
	}
	return most
}

// standOut makes the first number larger than all others.
func (c *Case) standOut() {
	for _, v := range c.X {
		c.X[0] = max(c.X[0], float32(math.Abs(float64(v))))
	}
	c.X[0] *= 4
	c.Most = max(c.Most, c.X[0])
}

// edge gives a block what the rules of scales and of special numbers are about: a largest magnitude
// at a border of a scale, small numbers, zeros of both signs, infinities and NaNs.
func (s *Scheme) edge(r *rand.Rand, c *Case, i int) {
	most, emax, _ := s.largest()
	e := r.IntN(60) - 30
	border := []float64{1, most / math.Ldexp(1, emax), 2, 1.5}[r.IntN(4)]
	if v := math.Float32bits(float32(math.Ldexp(border, e))); i%4 == 0 { // else as it was drawn
		c.X[0] = math.Float32frombits(v + uint32(r.IntN(3)) - 1)
		for n := 1; n < len(c.X); n++ {
			c.X[n] = float32(float64(c.X[0]) * (2*r.Float64() - 1))
		}
	}
	n := r.IntN(len(c.X))
	switch r.IntN(16) {
	case 0:
		c.X[n] = float32(math.NaN())
	case 1:
		c.X[n] = float32(math.Inf(1 - 2*r.IntN(2)))
	case 2:
		clear(c.X)
	case 3, 4:
		c.X[n] = float32(math.Copysign(0, -1))
	case 5:
		c.X[n] = -c.X[n] / 4096
	case 6: // all are small
		for n := range c.X {
			c.X[n] = math.Float32frombits(r.Uint32() & (1<<31 | (1<<(23+r.IntN(2)) - 1)))
		}
	}
	for _, v := range c.X {
		if a := float32(math.Abs(float64(v))); a <= math.MaxFloat32 {
			c.Most = max(c.Most, a)
		}
	}
}

// kindOf is the label of a block that differs, where label is that of all that no other is for.
func kindOf(c Case, label string) string {
	zero := true
	for _, v := range c.X {
		if v != v || math.IsInf(float64(v), 0) {
			return special
		}
		zero = zero && v == 0
	}
	if zero {
		return zeroBlock
	}
	return label
}

// variant is a scheme and what is done to numbers before it, inside it and to codes after it.
type variant struct {
	Scheme
	through  fp.ID // numbers are rounded to this format first
	daz      bool  // subnormal numbers are zeros
	log2     bool  // the exponent of the largest magnitude is that of its logarithm in FP32
	shift    int   // the scale is so many powers of two larger
	quotient fp.ID // what elements are rounded from is rounded to this format
	cap      int   // so many of the largest elements are not used
	lowest   bool  // the lowest integer is used, too
	ftz      bool  // subnormal elements are zeros
	positive bool  // zeros have no sign
	labels   []string
	words    []string // the other rules
}

func (v *variant) of(c Case) *Block {
	g := fp.FP32.Get()
	x := slices.Clone(c.X)
	for i := range x {
		if n := g.Decode(uint64(math.Float32bits(x[i]))); v.daz && n.Class == fp.Finite && n.Sig>>g.FracBits == 0 {
			x[i] = float32(math.Copysign(0, float64(x[i])))
		}
		x[i] = float32(rounded(float64(x[i]), v.through))
	}
	b := v.Of(Case{x, c.Most})
	if b.Most != b.Most {
		return b
	}
	if e := v.shift + v.slip(b.Most); e != 0 && b.Most != 0 {
		b.Scale = uint64(min(max(int(b.Scale)+e, 0), 254))
		b.Factor = v.Scale.Get().Float64(b.Scale) * float64(b.Tensor)
	}
	for i := range x {
		b.Codes[i] = v.code(rounded(v.Scheme.quotient(x[i], b.Factor), v.quotient))
	}
	return b
}

// slip is by how much the exponent of a number is off, if it is that of its logarithm in FP32.
func (v *variant) slip(amax float32) int {
	if !v.log2 || amax == 0 {
		return 0
	}
	l := float64(float32(math.Log2(float64(amax))))
	if v.Rule == Ceil {
		l = math.Ceil(l)
	}
	_, emax, _ := v.largest()
	return int(math.Floor(l)) - emax - v.exponent(amax)
}

// code is encode with the variant's rules.
func (v *variant) code(q float64) uint64 {
	code := v.encode(q)
	if v.Element == fp.None {
		if sign := uint64(1) << (v.Bits - 1); v.lowest && q < 0 && v.units(q) >= int(sign) {
			return sign
		}
		return code
	}
	f := v.Element.Get()
	sign := code & f.SignBit()
	if n := f.Decode(code); n.Class <= fp.Finite {
		code = sign | min(code&^f.SignBit(), f.MaxFinite()-uint64(v.cap))
		if v.ftz && n.Sig>>f.FracBits == 0 {
			code = sign
		}
	}
	if v.positive && f.Decode(code).Class == fp.Zero {
		return 0
	}
	return code
}

// rounded is a number rounded to a format; None: itself.
func rounded(x float64, id fp.ID) float64 {
	g := fp.FP64.Get()
	if n := g.Decode(math.Float64bits(x)); id != fp.None && n.Class == fp.Finite {
		f := id.Get()
		return f.Float64(f.Encode(g.Dyadic(n), fp.RNE, fp.OverInf))
	}
	return x
}

// agrees reports whether a variant gives the answer of a unit. Two NaNs as scales agree.
func (s *Scheme) agrees(v *variant, c Case, got *Block) bool {
	want := v.of(c)
	f := s.Scale.Get()
	if f.Decode(want.Scale).Class == fp.NaN {
		return f.Decode(got.Scale).Class == fp.NaN
	}
	return want.Scale == got.Scale && slices.Equal(want.Codes, got.Codes)
}

// explainUnit returns the labels of the fewest rules that have to be others for a scheme to give all
// answers to blocks of numbers, and these rules: "" if none has to be, and unexplained if there are no
// such rules.
func (s *Scheme) explainUnit(all []Case, answers []*Block) (labels, rules string) {
	var cases []Case
	var blocks []*Block
	for i, c := range all {
		if kindOf(c, "") == "" {
			cases, blocks = append(cases, c), append(blocks, answers[i])
		}
	}
	var found []*variant
	for _, v := range s.variants() {
		if found != nil && len(v.words) > len(found[0].words) {
			break
		}
		failed := -1
		for i := range cases {
			if !s.agrees(v, cases[i], blocks[i]) {
				failed = i
				break
			}
		}
		if failed < 0 {
			found = append(found, v)
		} else { // most variants fail there, too
			cases[0], cases[failed], blocks[0], blocks[failed] = cases[failed], cases[0], blocks[failed], blocks[0]
		}
	}
	if found == nil {
		return unexplained, ""
	}
	either := func(of func(*variant) []string) string {
		var texts []string
		for _, v := range found {
			if text := strings.Join(of(v), ", "); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, " or ")
	}
	return either(func(v *variant) []string { return v.labels }), either(func(v *variant) []string { return v.words })
}

// rule is another rule, in words.
type rule struct {
	words string
	set   func(*variant)
}

// variants are all schemes with other rules, those with the fewest first.
func (s *Scheme) variants() []*variant {
	all := []*variant{{Scheme: *s}}
	with := func(label string, rules ...rule) {
		for _, v := range all {
			if len(v.words) == mostRules {
				continue
			}
			for _, r := range rules {
				w := *v
				r.set(&w)
				w.labels, w.words = append(slices.Clone(v.labels), label), append(slices.Clone(v.words), r.words)
				all = append(all, &w)
			}
		}
	}
	var scales, roundings, elements []rule
	for _, r := range []Rule{Floor, Ceil, Even, RCeil} {
		if r != s.Rule && s.Scale == fp.E8M0 {
			scales = append(scales, rule{"scale " + string(r), func(v *variant) { v.Rule = r }})
		}
	}
	for _, m := range fp.Modes() {
		if m != s.ScaleRounding && s.Rule == Most {
			roundings = append(roundings, rule{"scale rounded " + m.String(), func(v *variant) { v.ScaleRounding = m }})
		}
		if m != s.Rounding {
			elements = append(elements, rule{"elements rounded " + m.String(), func(v *variant) { v.Rounding = m }})
		}
	}
	if s.Scale == fp.E8M0 {
		scales = append(scales, rule{"scales twice as large", func(v *variant) { v.shift = 1 }}, rule{"scales half as large", func(v *variant) { v.shift = -1 }},
			rule{"scale of log2 in fp32", func(v *variant) { v.log2 = true }}, rule{"scale ceil of log2 in fp32", func(v *variant) { v.Rule, v.log2 = Ceil, true }})
	}
	with("scale-rule", scales...)
	with("scale-rounding", roundings...)
	if s.Rule == Most {
		with("reciprocal", rule{map[bool]string{true: "division", false: "multiplication by 1/scale"}[s.Reciprocal], func(v *variant) { v.Reciprocal = !v.Reciprocal }})
	}
	with("element-rounding", elements...)
	switch {
	case s.Element == fp.None || !s.Element.Get().HasNaN():
	case s.Over == fp.OverMax:
		with("saturation", rule{"elements that are too large become infinities or NaNs", func(v *variant) { v.Over = fp.OverInf }})
	default:
		with("saturation", rule{"elements saturate", func(v *variant) { v.Over = fp.OverMax }})
	}
	var caps []rule
	for n := 1; n <= mostCapped && s.Element != fp.None && s.Over == fp.OverMax; n++ {
		f := s.Element.Get()
		caps = append(caps, rule{fmt.Sprintf("elements saturate at %v", f.Float64(f.MaxFinite()-uint64(n))), func(v *variant) { v.cap = n }})
	}
	with("saturation", caps...)
	if s.Element == fp.None && !s.Magnitude {
		with("saturation", rule{"the lowest element is used", func(v *variant) { v.lowest = true }})
	}
	with("double-rounding", rule{"quotients rounded to bf16 before", func(v *variant) { v.quotient = fp.BF16 }}, rule{"quotients rounded to fp16 before", func(v *variant) { v.quotient = fp.FP16 }})
	with("input-rounding", rule{"numbers rounded to bf16 before", func(v *variant) { v.through = fp.BF16 }}, rule{"numbers rounded to fp16 before", func(v *variant) { v.through = fp.FP16 }})
	with("input-ftz", rule{"subnormal numbers are zeros", func(v *variant) { v.daz = true }})
	with("output-ftz", rule{"subnormal elements are zeros", func(v *variant) { v.ftz = true }})
	with("signed-zero", rule{"zeros have no sign", func(v *variant) { v.positive = true }})
	slices.SortStableFunc(all, func(x, y *variant) int { return len(x.words) - len(y.words) })
	return all
}

const (
	mostRules  = 3 // that differ
	mostCapped = 8 // of the largest elements
)
