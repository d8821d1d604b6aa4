package mma

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Limits of the parameter program. Both interpreters are exact within them.
const (
	MaxK         = 255 // products per instruction
	maxKIntegers = 256 // the same of sums of integers
	MaxFrac      = 64  // fraction bits of Join.Post, Prod.Round and the roundings of stages
	MaxF         = 100 // fraction bits of an alignment
	MaxBits      = 120 // Align.Bits
	maxScaleFrac = 7   // ScaleRound.Frac, where a product of scales can become the largest number
	maxDown      = 127 // places by which Formats.Down moves products, and Prod.Shift up or down
	leastRange   = 7   // bits, besides a sign, of a sum of integers
	maxSpan      = 120 // bits between the highest and lowest bit of an exact sum that is not rounded at once
)

// Validate returns nil if p is a complete program for k products of the given
// formats, else an error with the first thing that is wrong and where.
func (p *Params) Validate(f Formats, k int) error {
	most := MaxK
	if f.D.Integer() {
		most = maxKIntegers
	}
	if k < 1 || k > most {
		return fmt.Errorf("k = %d is not in 1..%d", k, most)
	}
	if err := f.Validate(); err != nil {
		return err // the other checks need the formats
	}
	if f.D.Flags() != 0 && !p.hasFlags() {
		return fmt.Errorf("%s: IEEE 754 has no flags for a program that narrows, flushes or aligns", f.D)
	}
	if f.D.Integer() {
		return p.checkIntegers(f)
	}
	checks := []error{
		p.checkInput(f),
		p.checkFields(),
		p.checkRounds(f, k),
		p.Stage0.check("stage0"),
		p.Stage1.check("stage1"),
		p.checkJoin(),
		p.checkScales(f, k),
		p.checkSpecial(f),
		p.checkShape(f, k),
		p.checkPasses(),
		p.checkResult(f),
	}
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return p.checkSpan(f, k)
}

// hasFlags reports whether a program consists of operations for which IEEE 754 has exceptions.
func (p *Params) hasFlags() bool {
	if p.In != (Input{}) || p.Acc.Mode == fp.RS || p.Passes != 0 || p.Stage0.Align != (Align{}) || p.Stage1.Align != (Align{}) || p.Join != (Join{Post: p.Join.Post}) {
		return false
	}
	for _, place := range Roundings {
		if place.At(p).Flush != 0 {
			return false
		}
	}
	return true
}

// Validate returns an error if the formats cannot be those of an instruction.
func (f Formats) Validate() error {
	for _, o := range []struct {
		name string
		id   fp.ID
	}{{"a", f.A}, {"b", f.B}, {"d", f.D}} {
		if o.id == fp.None {
			return fmt.Errorf("format of %s is not given", o.name)
		}
	}
	for _, id := range []fp.ID{f.A, f.B} {
		if g := id.Get(); g.Integer() != f.D.Integer() {
			return fmt.Errorf("no program adds up products of %s in %s", id, f.D)
		} else if !g.Signed && !g.Integer() && (!f.B.IsOne() || f.A.IsOne()) && !f.scaled() {
			return fmt.Errorf("%s is a scale format, not an operand format", id)
		}
	}
	for _, o := range []struct {
		name string
		id   fp.ID
	}{{"results", f.D}, {"accumulators", f.C}} {
		if o.id == fp.None {
			continue
		}
		g := o.id.Get()
		// Of a conversion: negative results are +0, or powers of two have no sign.
		clamped := (!g.NoZero || g.PowersOfTwo()) && f.Conversion()
		if !g.Signed && !g.Integer() && !clamped || g.Low != 0 || !g.HasNaN() && f.C != fp.None && !g.Integer() || g.Integer() != f.D.Integer() {
			return fmt.Errorf("%s in %s are not supported", o.name, o.id)
		}
	}
	if (f.Scale == fp.None) != (f.Block == 0) {
		return errors.New("scale format and block size must be given together")
	}
	if f.D.Integer() && (f.Scale != fp.None || f.Down != 0) {
		return errors.New("integers have no scales")
	}
	if f.Scale != fp.None && f.Scale.Get().Signed {
		return fmt.Errorf("%s is not a scale format", f.Scale)
	}
	if f.Down > maxDown {
		return fmt.Errorf("products multiplied by 2^-%d: at most 2^-%d is supported", f.Down, maxDown)
	}
	if f.Common && (f.A.FNUZ() == fp.None || f.B.FNUZ() == fp.None || f.C.FNUZ() != fp.None || f.D.FNUZ() != fp.None) {
		return fmt.Errorf("%s and %s have no FNUZ formats to be compared with by value", f.A, f.B)
	}
	return nil
}

// checkIntegers rejects all but exact sums of products of integers, which are brought into a
// range: after each step and each addition after the last one, and before that in the groups of
// Stage0, if there is one.
func (p *Params) checkIntegers(f Formats) error {
	s := p.Stage0
	in := Input{OtherSignA: p.In.OtherSignA, OtherSignB: p.In.OtherSignB, ZeroA: p.In.ZeroA, ZeroB: p.In.ZeroB}
	if want := (Params{In: in, Prod: Product{Xor: p.Prod.Xor},
		L: p.L, Lanes: p.Lanes, Start: p.Start, Order: p.Order, Stage0: s, Acc: p.Acc, Late: p.Late}); *p != want {
		return errors.New("integers have no parameters besides l, lanes, start, order, stage0, acc, late, prod.xor, in.othersigna, in.othersignb, in.zeroa and in.zerob")
	}
	switch {
	case p.Prod.Xor && (f.A != fp.B1 || f.B != fp.B1):
		return errors.New("prod.xor is for bits")
	case p.In.OtherSignA && f.A.OtherSign() == fp.None:
		return fmt.Errorf("in.othersigna: there is no other way to read %s", f.A)
	case p.In.OtherSignB && f.B.OtherSign() == fp.None:
		return fmt.Errorf("in.othersignb: there is no other way to read %s", f.B)
	case (p.In.ZeroA != 0 || p.In.ZeroB != 0) && !hasZeroPoint(p, f):
		return errors.New("in.zeroa and in.zerob: bits have no zero point")
	case !within(p.In.ZeroA, f.A):
		return fmt.Errorf("in.zeroa = %d has more bits than %s", p.In.ZeroA, f.A)
	case !within(p.In.ZeroB, f.B):
		return fmt.Errorf("in.zerob = %d has more bits than %s", p.In.ZeroB, f.B)
	case p.Order > Halves:
		return fmt.Errorf("order: unknown value %d", p.Order)
	case p.Start > StartZero:
		return errors.New("start: sums of integers begin with c or with zero")
	case p.Late != Round{} && !p.LateAdds(f):
		return errors.New("late: there is no addition after the last step")
	case s.Sum > PairHalves:
		return fmt.Errorf("stage0.sum: unknown value %d", s.Sum)
	case s.Split > Interleaved:
		return fmt.Errorf("stage0.split: unknown value %d", s.Split)
	}
	if want := (Stage{Sum: s.Sum, Split: s.Split, Group: s.Group, Round: s.Round}); s != want || s.Sum == Off && s != (Stage{}) || s.Split == Interleaved && s.Group == 0 {
		return errors.New("stage0: integers have sum, split, group and round, and nothing else")
	}
	ranges := []Round{p.Acc}
	if p.LateAdds(f) {
		ranges = append(ranges, p.Late)
	}
	if s.Round != (Round{}) { // else the sums of the stage are in no range
		ranges = append(ranges, s.Round)
	}
	for _, r := range ranges {
		most, bits := f.D.Get().FracBits, uint8(r.Frac)
		if bits < min(most, leastRange) || bits > most || r != integerRange(bits, r.Over) || r.Over < OverSat {
			return fmt.Errorf("the range of integers in %s has frac and emin %d, or less but at least %d, emax one less, mode rz, and over sat or wrap", f.D, most, min(most, leastRange))
		}
	}
	return nil
}

// within reports whether a zero point has no more bits than an operand.
func within(z int32, id fp.ID) bool { return max(z, -z)>>id.Get().CodeBits() == 0 }

// Short reports whether a rounding gives numbers of a format up to its largest exponent,
// where the largest significand makes a NaN (E4M3).
func (r *Round) Short(id fp.ID) bool {
	if id == fp.None {
		return false
	}
	f := id.Get()
	return f.Specials == fp.OnesNaN && f.FracBits > 0 && int32(r.Emax) == f.Emax() && uint8(r.Frac) == f.FracBits
}

func (p *Params) checkInput(f Formats) error {
	if p.In.OtherSignA || p.In.OtherSignB || p.Prod.Xor || p.In.ZeroA != 0 || p.In.ZeroB != 0 {
		return errors.New("in.othersigna, in.othersignb, in.zeroa, in.zerob and prod.xor are for integers")
	}
	if saturates := p.Acc.Over == OverMax || p.Acc.Over == OverSat; p.In.InfNaN && (p.In.NaNInf || !saturates || !f.D.Get().HasInf()) {
		return errors.New("in.infnan needs acc.over max or sat and a format of D that has infinities, and excludes in.naninf")
	}
	fnuz := f.Common && p.In.Widen == f.A.FNUZ()
	if w := p.In.Widen; w != fp.None && !fnuz && (w.Get().Specials != fp.IEEE || w.Get().Low != 0) {
		return fmt.Errorf("in.widen: cannot widen to %s", w)
	}
	for _, o := range []struct {
		name string
		n    Narrow
		id   fp.ID
	}{{"in.a", p.In.A, f.A}, {"in.b", p.In.B, f.B}} {
		if err := o.n.check(o.id.Get(), o.id.As(p.In.Widen).Get()); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	for _, id := range []fp.ID{f.C, f.D} { // in a longer dot product C is the D before
		if id == fp.None {
			continue
		}
		if err := p.In.NarrowC.check(id.Get(), id.Get()); err != nil {
			return fmt.Errorf("in.narrowc: %w", err)
		}
	}
	if p.In.Widen == fp.None || fnuz {
		return nil
	}
	w := p.In.Widen.Get()
	for _, id := range []fp.ID{f.A, f.B} {
		o := id.Get()
		low := o.Emin() - int32(o.FracBits)
		if o.Emax() > w.Emax() || o.FracBits > w.FracBits || low < w.Emin()-int32(w.FracBits) {
			return fmt.Errorf("in.widen: not every %s number is a %s number", id, w.Name)
		}
	}
	return nil
}

func (p *Params) checkRounds(f Formats, k int) error {
	if s := p.Prod.Shift; s < -maxDown || s > maxDown {
		return fmt.Errorf("prod.shift = %d is not in %d..%d", s, -maxDown, maxDown)
	}
	if r := p.Prod.Round; p.Prod.FirstOver && (r.Emax == 0 || r.Over >= OverMax) {
		return errors.New("prod.firstover: needs round.emax and round.over inf or ieee")
	}
	for _, r := range Roundings {
		round := *r.At(p)
		if round.Mode == fp.RS && f.B.RandomBits() != 0 && k == 1 {
			round.Mode = fp.RZ
		}
		if r.Path == "acc" && p.toPowersOfTwo(f) {
			round.Frac = 1
		}
		if err := round.check(); err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
	}
	return nil
}

func (r Round) check() error {
	switch {
	case r.Frac != 0 && r.Mode == 0:
		return errors.New("frac is set but mode is not")
	case r.Mode == fp.RS:
		return errors.New("mode rs needs random bits: b in rbits1 to rbits32, and k = 1")
	case r.Flush != NoFlush && !r.HasEmin():
		return errors.New("flush needs emin")
	case r.Over > OverSat:
		return errors.New("over wrap is for integers")
	case r.Over != OverInf && (r.Frac == 0 || r.Emax == 0):
		return errors.New("over needs frac and emax")
	case r.Emax != 0 && r.Emin != 0 && r.Emax < r.Emin:
		return errors.New("emax is below emin")
	}
	return nil
}

func (s Stage) check(name string) error {
	switch {
	case s.Sum == Off && s != Stage{}:
		return fmt.Errorf("%s: sum is off but other fields are set", name)
	case s.Split == Interleaved && s.Group == 0:
		return fmt.Errorf("%s: interleaved groups need their number in group", name)
	case s.Fixed && s.Round.Frac != 0:
		return fmt.Errorf("%s: a fixed-point sum is not rounded", name)
	case s.Align.Sticky == StickyRound && s.Round.Frac == 0:
		return fmt.Errorf("%s: the sticky bit of a rounding needs round.frac", name)
	}
	if err := s.Align.check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return s.checkShape(name)
}

func (a Align) check() error {
	switch {
	case a.F != 0 && a.Mode == 0:
		return errors.New("align.f is set but align.mode is not")
	case a.F == 0 && (a.Sticky != StickyOff || a.Negate != NegateExact || a.Bits != 0):
		return errors.New("align: sticky, negate and bits need f")
	case a.Saturate && a.Bits == 0:
		return errors.New("align.saturate needs bits")
	}
	return nil
}

func (p *Params) checkJoin() error {
	j := p.Join
	if err := j.Align.check(); err != nil {
		return fmt.Errorf("join: %w", err)
	}
	switch {
	case j.CF != 0 && j.CMode == 0 && j.Align.Mode == 0:
		return errors.New("join: cf is set but neither cmode nor align.mode is")
	case j.CMode != 0 && j.CF == 0 && j.Align.F == 0:
		return errors.New("join: cmode is set but neither cf nor align.f is")
	case j.CGrid && (j.Align.F == 0 || j.CBeside || j.Align.Bits != 0):
		return errors.New("join: cgrid needs align.f, and neither cbeside nor align.bits")
	case j.Apart && (j.Align.Sticky != StickyOff || j.Align.Negate != NegateExact || j.Align.Bits != 0):
		return errors.New("join: sums that are apart have no sticky, negate or bits")
	case j.Plus && (!p.Special.NegZero || p.Late == (Round{})):
		return errors.New("join: plus needs special.negzero and additions after the last step")
	}
	return nil
}

// cuts reports whether terms may vanish in an alignment.
func (p *Params) cuts() bool {
	cut := func(a *Align) bool { return a.F != 0 }
	return cut(&p.Join.Align) || p.Join.CF != 0 || p.Stage0.Sum != Off && cut(&p.Stage0.Align) || p.Stage1.Sum != Off && cut(&p.Stage1.Align)
}

func (p *Params) checkScales(f Formats, k int) error {
	switch r := p.ScaleRound; {
	case f.Scale == fp.None && p.Scale != ScaleProduct:
		return errors.New("scale: the instruction has no scales")
	case f.Scale == fp.None && r != Round{}:
		return errors.New("scaleround: the instruction has no scales")
	case f.Scale == fp.None:
		return nil
	case r != Round{} && (r.Frac == 0 || r.Emin == 0 || r.Emax == 0):
		return errors.New("scaleround: frac, emin and emax are required")
	case r.Over != OverInf && r.Frac > maxScaleFrac:
		return fmt.Errorf("scaleround: over needs a frac of at most %d", maxScaleFrac)
	}
	if p.Scale == ScaleProduct {
		return nil
	}
	s := p.Stage0
	l := int(p.L)
	if l == 0 {
		l = k
	}
	switch {
	case s.Sum == Off:
		return errors.New("scale: group scales need stage0")
	case p.Order != Ascending || p.Lanes > 1 || s.Split != Adjacent || s.Group == 0 || s.Deep:
		return errors.New("scale: group scales need adjacent groups of a given size in ascending order and one lane")
	case int(f.Block)%int(s.Group) != 0 || l%int(s.Group) != 0 && l < k:
		return fmt.Errorf("scale: groups of %d products do not divide blocks of %d and steps of %d", s.Group, f.Block, l)
	}
	return nil
}

// checkSpecial rejects rules of NaNs that no result can show, or no format can hold.
func (p *Params) checkSpecial(f Formats) error {
	s, d := p.Special, f.D.Get()
	if s.ZerosOnly && (!s.NegZero || p.Join.Apart) {
		return errors.New("special: zerosonly needs negzero, and a join without apart")
	}
	switch {
	case !d.HasNaN() && (s.NaN != NaNOnes && s.NaN != NaNZero || p.last(f).Over != OverSat):
		return fmt.Errorf("%s has no NaN and no infinity: special.nan must be ones or zero, and the last rounding must have over sat", d.Name)
	case s.CLeft && (p.Start == StartC || !s.OperandNaN()):
		return errors.New("special.cleft: needs a start other than c and a NaN rule that is an order of operands")
	case s.BFirst && !s.OperandNaN():
		return errors.New("special.bfirst: needs a NaN rule that is an order of operands")
	case s.Ones != 0 && (s.NaN == NaNOnes || s.NaN == NaNZero || !d.HasInf()):
		return errors.New("special.ones: needs a NaN rule other than ones and zero, and a format of D that has infinities")
	case s.Ones > d.FracBits:
		return fmt.Errorf("special.ones = %d is above the %d bits of %s", s.Ones, d.FracBits, d.Name)
	case s.NaN == NaNOfC && f.C != fp.None && f.C != f.D:
		return fmt.Errorf("special.nan: a NaN of c in %s is none of d in %s", f.C, f.D)
	}
	return nil
}

// checkResult requires that every accumulator fits 64 significant bits and that
// the last rounding leaves a number of D's format.
func (p *Params) checkResult(f Formats) error {
	if p.toPowersOfTwo(f) && p.Out == (Round{}) {
		if r := p.Acc; int32(r.Emax) > f.D.Get().Emax() || r.Emax == 0 || int32(r.Emin) < f.D.Get().Emin() || r.Emin == 0 {
			return fmt.Errorf("acc: emin %d, emax %d do not make a %s number", r.Emin, r.Emax, f.D)
		}
		return nil
	}
	if p.Acc.Frac == 0 || p.Acc.Frac > 63 {
		return errors.New("acc: frac must be 1..63, every step ends in a rounding")
	}
	name := "acc"
	if p.LateAdds(f) {
		if p.Late.Frac == 0 || p.Late.Frac > 63 {
			return errors.New("late: frac must be 1..63, there are additions after the last step")
		}
		name = "late"
	} else if p.Late != (Round{}) {
		return errors.New("late: there is no addition after the last step")
	}
	if p.Out != (Round{}) {
		name = "out"
	}
	last, d := p.last(f), f.D.Get()
	if last.Frac == 0 || int(last.Frac) > int(d.FracBits) || last.Emax == 0 || int32(last.Emax) > d.Emax() ||
		!last.HasEmin() || int32(last.Emin) < d.Emin() {
		return fmt.Errorf("%s: frac %d, emin %d, emax %d do not make a %s number", name, last.Frac, last.Emin, last.Emax, d.Name)
	}
	return nil
}

// toPowersOfTwo reports whether Acc rounds to powers of two, with no fraction bits.
func (p *Params) toPowersOfTwo(f Formats) bool {
	return p.Acc.powers(f.D)
}

// last is the rounding that makes the result.
func (p *Params) last(f Formats) Round {
	switch {
	case p.Out != (Round{}):
		return p.Out
	case p.LateAdds(f):
		return p.Late
	}
	return p.Acc
}

// LateAdds reports whether anything is added after the last step.
func (p *Params) LateAdds(f Formats) bool {
	return p.Lanes > 1 || p.Start != StartC && f.C != fp.None
}

// checkSpan rejects programs whose exact, unrounded group sums need more than
// maxSpan bits. No known unit comes near; a program that does is a mistake.
func (p *Params) checkSpan(f Formats, k int) error {
	a, b := f.A.Get(), f.B.Get()
	top := a.Emax() + b.Emax() + 2
	low := a.Emin() - int32(a.FracBits) + b.Emin() - int32(b.FracBits)
	if f.Scale != fp.None && p.Scale == ScaleProduct {
		s := f.Scale.Get()
		top += 2 * (s.Emax() + 1)
		low += 2 * (s.Emin() - int32(s.FracBits))
	}
	span := top - low + int32(bits.Len(uint(k*max(1, len(p.Passes.List())))))
	later := []Frac{max(p.Stage1.Align.F, p.Join.Align.F, p.Join.CF, MaxFrac), max(p.Join.Align.F, p.Join.CF, MaxFrac)}
	if p.Prod.Round.Frac != 0 {
		if !p.Prod.Round.HasEmin() {
			return errors.New("prod.round: a rounded product needs emin")
		}
		span = 300 // a floating-point range: no exact sums of these without a rounding
	}
	for i, s := range []Stage{p.Stage0, p.Stage1} {
		if s.Sum == Off {
			continue
		}
		if p.Start == StartC && p.Leaf != NoLeaf && p.Leaf <= []Leaf{LeafLast, SumLast}[i] {
			span = 300 // c has the range of a floating-point format
			if s.Fixed {
				return fmt.Errorf("stage%d: a sum with c is not fixed point", i)
			}
		}
		// A later sum keeps the bits of its alignment below the exponent 0 of this one.
		if high := top + int32(p.Weight(f)) + int32(bits.Len(uint(k))); s.Fixed && high+int32(later[i]) > maxSpan {
			return fmt.Errorf("stage%d: sums of products below 2^%d are too large for fixed point", i, high)
		}
		if s.Align.F == 0 && s.Round.Frac == 0 && span > maxSpan {
			return fmt.Errorf("stage%d: an exact sum of %d bits is neither aligned nor rounded", i, span)
		}
		if s.Align.F != 0 || s.Round.Frac != 0 {
			span = 300
		}
	}
	return nil
}
