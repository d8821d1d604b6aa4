package triage

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A knob is one way of changing a program: one parameter, or the several fields
// that one design decision sets together. Singles turns each of them; they are
// the hypotheses of triage, the mutants of the generator table and the steps of
// a search for larger changes.
type knob struct {
	name string
	turn func(u *unit) []mma.Params
}

// unit is a program with what is needed to know which changes make sense.
type unit struct {
	p mma.Params
	f mma.Formats
	k int
}

// with returns the program changed by a function.
func (u *unit) with(change func(p *mma.Params)) mma.Params {
	p := u.p
	change(&p)
	return p
}

// Single is a program that differs from another by one knob.
type Single struct {
	Knob   string
	Params mma.Params
}

// Singles returns every valid program that one knob makes of p, without
// duplicates, in the order of the knobs.
func Singles(p mma.Params, f mma.Formats, k int) []Single {
	u := &unit{p, f, k}
	seen := map[mma.Params]bool{p: true}
	var all []Single
	for _, kn := range knobs {
		for _, q := range kn.turn(u) {
			if seen[q] || q.Validate(f, k) != nil {
				continue
			}
			seen[q] = true
			all = append(all, Single{kn.name, q})
		}
	}
	return all
}

// knobs is the list. Plain fields come first, so that a change that is one field
// is known as that.
var knobs = []knob{
	{"width", fields(isWidth, near(-3, -2, -1, 1, 2, 3))},
	{"mode", fields(isMode, otherValues)},
	{"floor", fields(isFloor, near(-3, -2, -1, 1, 2, 3))},
	{"steps", stepWidths},
	{"groups", fields(isGroup, halfDouble)},
	{"order", fields(isPath("order"), otherValues)},
	{"lanes", lanes},
	{"sums", fields(isSum, otherSums)},
	{"split", fields(isSplit, otherValues)},
	{"flush inputs", fields(isInFlush, otherValues)},
	{"flush results", fields(isOutFlush, otherValues)},
	{"product exponent", fields(isPath("prod.exp"), otherValues)},
	{"product rounding", productRounding},
	{"overflow", fields(isOver, otherValues)},
	{"product overflow", productOverflow},
	{"zero sign", fields(isZeroSign, otherValues)},
	{"nan code", fields(isPath("special.nan"), otherNaNs)},
	{"c left", fields(isPath("special.cleft"), otherValues)},
	{"drop", drop},
	{"no floor", fields(isFloor, toZero)},
	{"new floor", newFloor},
	{"exact", exactSums},
	{"c apart", cApart},
	{"c joined", cJoined},
	{"c late", cLate},
	{"c early", cEarly},
	{"c cut", cCut},
	{"scale place", scalePlace},
	{"new stage", newStage},
	{"no stage", noStage},
	{"post", post},
	{"result width", resultWidth},
	{"double rounding", doubleRounding},
	{"widen", widen},
}

// fields returns a turn that gives each field that is chosen each of the values
// proposed for it.
func fields(choose func(path string) bool, values func(f mma.Field, p *mma.Params) []int) func(*unit) []mma.Params {
	return func(u *unit) []mma.Params {
		var out []mma.Params
		for _, f := range mma.Fields() {
			if !choose(f.Path) {
				continue
			}
			for _, v := range values(f, &u.p) {
				out = append(out, u.with(func(p *mma.Params) { f.SetInt(p, v) }))
			}
		}
		return out
	}
}

func isPath(want string) func(string) bool {
	return func(path string) bool { return path == want }
}

func isWidth(path string) bool {
	return strings.HasSuffix(path, ".f") || strings.HasSuffix(path, ".frac") || path == "join.cf" || path == "join.cdrop"
}
func isMode(path string) bool     { return strings.HasSuffix(path, "mode") }
func isFloor(path string) bool    { return strings.HasSuffix(path, ".floor") }
func isGroup(path string) bool    { return strings.HasSuffix(path, ".group") }
func isSum(path string) bool      { return strings.HasSuffix(path, ".sum") }
func isSplit(path string) bool    { return strings.HasSuffix(path, ".split") }
func isInFlush(path string) bool  { return path == "in.sub" || path == "in.c" || path == "in.acc" }
func isOutFlush(path string) bool { return strings.HasSuffix(path, ".flush") }
func isOver(path string) bool     { return strings.HasSuffix(path, ".over") }
func isZeroSign(path string) bool { return path == "special.negzero" || path == "special.tinysign" }

// near proposes values at the given distances from one that is set.
func near(steps ...int) func(mma.Field, *mma.Params) []int {
	return func(f mma.Field, p *mma.Params) []int {
		v := f.Int(p)
		if v == 0 {
			return nil
		}
		var vals []int
		for _, s := range steps {
			if v+s != 0 && (v > 0) == (v+s > 0) {
				vals = append(vals, v+s)
			}
		}
		return vals
	}
}

// otherValues proposes every other value of an enumeration; of a mode, only if
// one is set.
func otherValues(f mma.Field, p *mma.Params) []int {
	now := f.Int(p)
	if isMode(f.Path) && now == 0 {
		return nil
	}
	var vals []int
	for _, v := range f.Values() {
		if v != now && !(isMode(f.Path) && v == 0) {
			vals = append(vals, v)
		}
	}
	return vals
}

// otherNaNs proposes every other NaN rule; of those that are orders of operands only
// the plain one unless there is an order already.
func otherNaNs(f mma.Field, p *mma.Params) []int {
	return slices.DeleteFunc(otherValues(f, p), func(v int) bool {
		return v > int(mma.NaNFirst) && !p.Special.NaN.Operand()
	})
}

// otherSums proposes other kinds of sums for a stage that is there.
func otherSums(f mma.Field, p *mma.Params) []int {
	if f.Int(p) == int(mma.Off) {
		return nil
	}
	return slices.DeleteFunc(otherValues(f, p), func(v int) bool { return v == int(mma.Off) })
}

func halfDouble(f mma.Field, p *mma.Params) []int {
	v := f.Int(p)
	if v == 0 {
		return nil
	}
	return []int{v / 2, v * 2}
}

func toZero(f mma.Field, p *mma.Params) []int { return []int{0} }

// stepWidths halves and doubles L, and tries one product and all.
func stepWidths(u *unit) []mma.Params {
	l := u.p.Step(u.k)
	var out []mma.Params
	for _, n := range []int{l / 2, l * 2, 1, u.k} {
		if n < 1 || min(n, u.k) == l {
			continue
		}
		out = append(out, u.with(func(p *mma.Params) { p.L = uint8(n) }))
	}
	return out
}

func lanes(u *unit) []mma.Params {
	if u.p.Lanes > 1 {
		return []mma.Params{u.with(func(p *mma.Params) { p.Lanes, p.Late = 0, lateOf(p, u.f) })}
	}
	return []mma.Params{u.with(func(p *mma.Params) { p.Lanes, p.Late = 2, lateRound(p) })}
}

// lateRound is the rounding of additions after the last step for a program that
// has none yet: that of its steps, to nearest.
func lateRound(p *mma.Params) mma.Round {
	if p.Late != (mma.Round{}) {
		return p.Late
	}
	r := p.Acc
	r.Mode = fp.RNE
	return r
}

// lateOf drops the rounding of late additions if there are none any more.
func lateOf(p *mma.Params, f mma.Formats) mma.Round {
	if p.Lanes > 1 || p.Start != mma.StartC && f.C != fp.None {
		return p.Late
	}
	return mma.Round{}
}

func productRounding(u *unit) []mma.Params {
	if u.p.Prod.Round.Frac != 0 {
		return []mma.Params{u.with(func(p *mma.Params) { p.Prod.Round = mma.Round{} })}
	}
	var out []mma.Params
	for _, m := range []fp.Mode{fp.RNE, fp.RZ} {
		out = append(out, u.with(func(p *mma.Params) { p.Prod.Round = mma.To(fp.FP32, m) }))
	}
	if u.f.D == fp.FP16 {
		out = append(out, u.with(func(p *mma.Params) { p.Prod.Round = mma.To(fp.FP16, fp.RNE) }))
	}
	return out
}

func productOverflow(u *unit) []mma.Params {
	r := u.p.Prod.Round
	switch {
	case r.Emax != 0:
		return []mma.Params{u.with(func(p *mma.Params) { p.Prod.Round.Emax = 0 })}
	case r.Frac == 0:
		return []mma.Params{u.with(func(p *mma.Params) { p.Prod.Round.Emax = 127 })}
	}
	return nil
}

// drop turns the dropping of small accumulators on and off.
func drop(u *unit) []mma.Params {
	j := u.p.Join
	if j.CDrop != 0 {
		return []mma.Params{u.with(func(p *mma.Params) { p.Join.CDrop = 0 })}
	}
	f := j.CF
	if f == 0 {
		f = j.Align.F
	}
	if f == 0 {
		f = 24
	}
	return []mma.Params{
		u.with(func(p *mma.Params) { p.Join.CDrop = f }),
		u.with(func(p *mma.Params) { p.Join.CDrop = f + 1 }),
	}
}

// newFloor gives an alignment without a floor those that are known.
func newFloor(u *unit) []mma.Params {
	var out []mma.Params
	for _, f := range mma.Fields() {
		if !isFloor(f.Path) || f.Int(&u.p) != 0 || !aligned(u, f.Path) {
			continue
		}
		for _, v := range []int{-126, -131, -132, -133, -139, -19, -20, -21} {
			out = append(out, u.with(func(p *mma.Params) { f.SetInt(p, v) }))
		}
	}
	return out
}

// aligned says whether the alignment that a floor belongs to cuts anything.
func aligned(u *unit, floor string) bool {
	switch floor {
	case "stage0.align.floor":
		return u.p.Stage0.Align.F != 0
	case "stage1.align.floor":
		return u.p.Stage1.Align.F != 0
	}
	return u.p.Join.Align.F != 0 || u.p.Join.CF != 0
}

// exactSums makes cut sums exact, or cuts exact ones like the known units.
func exactSums(u *unit) []mma.Params {
	var out []mma.Params
	if u.p.Join.Align.F != 0 {
		out = append(out, u.with(func(p *mma.Params) { p.Join = mma.Join{Post: p.Join.Post} }))
	} else {
		for _, f := range []mma.Frac{23, 24, 25} {
			out = append(out, u.with(func(p *mma.Params) { p.Join.Align = mma.Align{F: f, Mode: fp.RZ} }))
		}
	}
	if s := u.p.Stage0; s.Sum != mma.Off && s.Align.F != 0 {
		out = append(out, u.with(func(p *mma.Params) { p.Stage0.Align = mma.Align{} }))
	}
	if s := u.p.Stage1; s.Sum != mma.Off && s.Align.F != 0 {
		out = append(out, u.with(func(p *mma.Params) { p.Stage1.Align = mma.Align{} }))
	}
	return out
}

// cApart sums the products alone and adds c to their sum: exactly, or cut as
// before, or after rounding the sum to the accumulator's width.
func cApart(u *unit) []mma.Params {
	if u.p.Stage0.Sum != mma.Off || u.p.L == 1 {
		return nil
	}
	apart := func(round mma.Round, join mma.Align) mma.Params {
		return u.with(func(p *mma.Params) {
			p.Stage0 = mma.Stage{Sum: mma.Fused, Align: p.Join.Align, Round: round}
			p.Join.Align = join
		})
	}
	return []mma.Params{
		apart(mma.Round{}, u.p.Join.Align),
		apart(mma.Round{}, mma.Align{}),
		apart(roundOf(u.p.Acc), mma.Align{}),
	}
}

// roundOf is a rounding to the width of another, without its overflow and flush.
func roundOf(r mma.Round) mma.Round {
	return mma.Round{Frac: r.Frac, Mode: r.Mode, Emin: r.Emin, Emax: r.Emax}
}

// cJoined adds the products and c in one fused sum.
func cJoined(u *unit) []mma.Params {
	s := u.p.Stage0
	if s.Sum != mma.Fused || s.Group != 0 || u.p.Stage1.Sum != mma.Off {
		return nil
	}
	return []mma.Params{u.with(func(p *mma.Params) {
		p.Stage0 = mma.Stage{}
		p.Join = mma.Join{Align: mma.Align{F: s.Align.F, Mode: s.Align.Mode, Floor: p.Join.Align.Floor}, Post: p.Join.Post}
	})}
}

// cLate adds c after the last step.
func cLate(u *unit) []mma.Params {
	if u.p.Start != mma.StartC {
		return nil
	}
	var out []mma.Params
	for _, start := range []mma.Start{mma.StartZero, mma.StartEmpty} {
		for _, m := range []fp.Mode{fp.RNE, fp.RZ} {
			out = append(out, u.with(func(p *mma.Params) {
				p.Start, p.Late = start, lateRound(p)
				p.Late.Mode = m
				p.Late = orNone(p.Late, lateOf(p, u.f))
			}))
		}
	}
	return out
}

// orNone returns r, or nothing if that is what is left of it.
func orNone(r, left mma.Round) mma.Round {
	if left == (mma.Round{}) {
		return left
	}
	return r
}

// cEarly starts the accumulator with c.
func cEarly(u *unit) []mma.Params {
	if u.p.Start == mma.StartC {
		return nil
	}
	out := []mma.Params{u.with(func(p *mma.Params) { p.Start = mma.StartC; p.Late = lateOf(p, u.f) })}
	other := mma.StartZero
	if u.p.Start == mma.StartZero {
		other = mma.StartEmpty
	}
	return append(out, u.with(func(p *mma.Params) { p.Start = other }))
}

// cCut cuts the accumulator by another mode than the terms, or like them.
func cCut(u *unit) []mma.Params {
	j := u.p.Join
	if j.CMode != 0 || j.CF != 0 {
		return []mma.Params{u.with(func(p *mma.Params) { p.Join.CF, p.Join.CMode = 0, 0 })}
	}
	if j.Align.F == 0 {
		return nil
	}
	var out []mma.Params
	for _, m := range fp.Modes() {
		if m != j.Align.Mode {
			out = append(out, u.with(func(p *mma.Params) { p.Join.CMode = m }))
		}
	}
	for _, f := range []int{-1, 1} {
		out = append(out, u.with(func(p *mma.Params) { p.Join.CF = mma.Frac(int(j.Align.F) + f) }))
	}
	return out
}

func scalePlace(u *unit) []mma.Params {
	if u.f.Scale == fp.None {
		return nil
	}
	if u.p.Scale == mma.ScaleGroup {
		return []mma.Params{
			u.with(func(p *mma.Params) { p.Scale, p.Stage0 = mma.ScaleProduct, mma.Stage{} }),
			u.with(func(p *mma.Params) { p.Stage0.Fixed = !p.Stage0.Fixed }),
		}
	}
	return []mma.Params{u.with(func(p *mma.Params) {
		p.Scale, p.Stage0 = mma.ScaleGroup, mma.Stage{Sum: mma.Fused, Group: 16, Fixed: true}
	})}
}

// newStage puts a sum of groups before what is there: groups of 2 and 4 with the
// window of the final sum, even and odd products apart, and sequential and
// pairwise sums of products rounded like the accumulator.
func newStage(u *unit) []mma.Params {
	if u.p.Stage0.Sum != mma.Off || u.p.L == 1 {
		return nil
	}
	var out []mma.Params
	stage := func(s mma.Stage) {
		out = append(out, u.with(func(p *mma.Params) { p.Stage0 = s }))
	}
	window := mma.Align{F: u.p.Join.Align.F, Mode: u.p.Join.Align.Mode}
	if window.F != 0 {
		stage(mma.Stage{Sum: mma.Fused, Group: 2, Align: window})
		stage(mma.Stage{Sum: mma.Fused, Group: 4, Align: window})
		stage(mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: 2, Align: window})
	}
	for _, sum := range []mma.Sum{mma.Sequential, mma.Pairwise, mma.PairHalves} {
		stage(mma.Stage{Sum: sum, Round: roundOf(u.p.Acc)})
	}
	return out
}

// noStage takes a stage away.
func noStage(u *unit) []mma.Params {
	var out []mma.Params
	if u.p.Stage1.Sum != mma.Off {
		out = append(out, u.with(func(p *mma.Params) { p.Stage1 = mma.Stage{} }))
	}
	if u.p.Stage0.Sum != mma.Off {
		out = append(out, u.with(func(p *mma.Params) { p.Stage0, p.Stage1 = p.Stage1, mma.Stage{} }))
	}
	return out
}

// post turns the rounding before the final one off and on.
func post(u *unit) []mma.Params {
	if u.p.Join.Post != (mma.Round{}) {
		return []mma.Params{u.with(func(p *mma.Params) { p.Join.Post = mma.Round{} })}
	}
	var out []mma.Params
	for _, m := range []fp.Mode{fp.RZ, fp.RD} {
		out = append(out, u.with(func(p *mma.Params) { p.Join.Post = mma.Round{Frac: 31, Mode: m, Emin: -126} }))
	}
	return out
}

// resultWidth tries E8M13 results and full ones.
func resultWidth(u *unit) []mma.Params {
	d := u.f.D.Get()
	var out []mma.Params
	for _, n := range []uint8{13, d.FracBits} {
		if mma.Frac(n) != u.p.Acc.Frac && n <= d.FracBits {
			out = append(out, u.with(func(p *mma.Params) { p.Acc.Frac = mma.Frac(n) }))
		}
	}
	return out
}

// doubleRounding rounds to FP32 before D, or no longer.
func doubleRounding(u *unit) []mma.Params {
	if u.p.Out != (mma.Round{}) {
		return []mma.Params{u.with(func(p *mma.Params) { p.Acc, p.Out = p.Out, mma.Round{} })}
	}
	if u.f.D != fp.FP16 {
		return nil
	}
	var out []mma.Params
	for _, m := range []fp.Mode{fp.RZ, fp.RNE} {
		out = append(out, u.with(func(p *mma.Params) { p.Acc, p.Out = mma.To(fp.FP32, m), p.Acc }))
	}
	return out
}

// widen turns the conversion of operands to a wider format on and off.
func widen(u *unit) []mma.Params {
	var out []mma.Params
	for _, id := range []fp.ID{fp.None, fp.FP16, fp.FP32} {
		if id != u.p.In.Widen {
			out = append(out, u.with(func(p *mma.Params) { p.In.Widen = id }))
		}
	}
	return out
}
