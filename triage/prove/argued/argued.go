// Package argued is a list of arguments, in words, why two programs compute the same function,
// each with a condition on formats and parameters under which it holds. For every one-parameter
// mutant of Arithmetics, either some input tells it from its base or an argument holds: the tests
// of package selfcheck check that, and compare the arguments with what package prove decides.
//
// The API of this package is not promised: it may change in any version.
package argued

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// argument is a written reason why a mutant computes the same function as its
// base, and the condition under which the reason holds.
type argument struct {
	Name  string
	Text  string
	holds func(u *ranges, q *mma.Params, changed []string) bool
}

// Equivalent returns the name of an argument why the program q computes the same function as
// an instruction's own, "" if there is none.
func Equivalent(i *mma.Instruction, q *mma.Params) string {
	return first(i, q, func(*argument) bool { return true })
}

// inAnySum lists the arguments whose conditions check every parameter of the sum with the accumulator
// that matters to them. The conditions of the others leave out parameters that no program of the
// catalogue uses.
var inAnySum = []string{"cut-off-unseen", "subnormal-c-above-floor", "subnormal-c-alone", "apart-exact", "cut-down-beside"}

// EquivalentInAnySum returns what Equivalent does for an instruction in which parameters of the sum
// with the accumulator may have any values.
func EquivalentInAnySum(i *mma.Instruction, q *mma.Params) string {
	return first(i, q, func(a *argument) bool { return slices.Contains(inAnySum, a.Name) })
}

func first(i *mma.Instruction, q *mma.Params, wanted func(*argument) bool) string {
	u := newRanges(i)
	var changed []string
	for _, c := range mma.Diff(&i.Params, q) {
		changed = append(changed, c.Path)
	}
	for n := range arguments {
		if a := &arguments[n]; wanted(a) && a.holds(u, q, changed) {
			return a.Name
		}
	}
	return ""
}

// Text returns the text of an argument.
func Text(name string) string {
	for _, a := range arguments {
		if a.Name == name {
			return a.Text
		}
	}
	return ""
}

// ranges is the ranges of numbers that the formats of an instruction allow.
type ranges struct {
	p     mma.Params
	f     mma.Formats
	k     int
	steps int
	// Products that are not zero are multiples of 2^lowP, below 2^highP, and
	// have nominal exponents of at least minE. Sums of all of them are below
	// 2^highS.
	lowP, highP, highS, minE int
	bareP                    int // highP without scales
	bitsP                    int // significant bits of a product, at most
	// c is a multiple of 2^lowC, with exponents from minC to maxC; without c these are
	// the ranges of D's format.
	lowC, minC, maxC int
	d                *fp.Format
	hasC             bool
}

func newRanges(i *mma.Instruction) *ranges {
	a, b, d := i.A.Get(), i.B.Get(), i.D.Get()
	u := &ranges{p: i.Params, f: i.Formats, k: i.K, d: d, hasC: i.C != fp.None}
	l := i.Params.Step(i.K)
	u.steps = (i.K + l - 1) / l
	u.lowP = int(a.Emin()) - int(a.FracBits) + int(b.Emin()) - int(b.FracBits)
	u.highP = int(a.Emax()+b.Emax()) + 2
	u.bareP = u.highP
	u.minE = int(a.Emin() + b.Emin())
	u.bitsP = int(a.FracBits+b.FracBits) + 2
	if i.Scale != fp.None {
		s := i.Scale.Get()
		u.lowP += 2 * (int(s.Emin()) - int(s.FracBits))
		u.highP += 2 * int(s.Emax()+1)
		u.minE += 2 * int(s.Emin())
		u.bitsP += 2 * int(s.FracBits+1)
	}
	u.highS = u.highP + bits.Len(uint(i.K))
	c := d
	if u.hasC {
		c = i.C.Get()
	}
	u.lowC, u.minC, u.maxC = int(c.Emin())-int(c.FracBits), int(c.Emin()), int(c.Emax())
	return u
}

// only reports whether all changed fields begin with one of the prefixes.
func only(changed []string, prefixes ...string) bool {
	return len(changed) > 0 && !slices.ContainsFunc(changed, func(path string) bool {
		return !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) })
	})
}

// fused reports whether every stage of the program that adds makes a fused sum.
func fused(p *mma.Params) bool {
	return (p.Stage0.Sum == mma.Off || p.Stage0.Sum == mma.Fused) && (p.Stage1.Sum == mma.Off || p.Stage1.Sum == mma.Fused)
}

// cuts reports whether any sum of the program cuts its terms.
func cuts(p *mma.Params) bool {
	return p.Stage0.Align.F != 0 || p.Stage1.Align.F != 0 || p.Join.Align.F != 0 || p.Join.CF != 0 || p.Join.CDrop != 0
}

// firstNaN reports whether the payload of a NaN may depend on the order of terms.
func firstNaN(p *mma.Params) bool { return p.Special.OperandNaN() }

// arguments lists all arguments. Each condition is meant to be sufficient and easy to
// check by eye; the tests run a million inputs on mutants that meet one.
var arguments = []argument{
	{"order-in-sum", "A fused sum does not depend on the order of its terms, and the permutation leaves each step the products that it had.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "order") && fused(&u.p) && !firstNaN(&u.p) && u.p.Lanes <= 1 &&
				u.p.Stage0.Group == 0 && u.p.Stage1.Group == 0 && u.sameSteps(q)
		}},
	{"neighbours-commute", "Exchanging the two products of each pair exchanges the operands of an addition, or the even with the odd group, and both are symmetric.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			s := u.p.Stage0
			return only(ch, "order") && swapsPairs(u.p.Order, q.Order) && !firstNaN(&u.p) && u.p.Lanes <= 1 && u.p.L%2 == 0 &&
				(s.Sum == mma.Pairwise || s.Sum == mma.Fused && s.Split == mma.Interleaved && s.Group == 2)
		}},
	{"whole-group", "The group is as large as the step with both values: there is one group.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			l := u.p.Step(u.k)
			oneGroup := func(s mma.Stage) bool { return s.Split == mma.Adjacent && (s.Group == 0 || int(s.Group) >= l) }
			return only(ch, "stage0.group") && oneGroup(u.p.Stage0) && oneGroup(q.Stage0)
		}},
	{"uncut-groups", "Every product is a multiple of the last bit kept beside the largest exponent there is: no product is cut, alone or as a part of a group, and groups keep the largest exponent.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			s, f := q.Stage0, int(u.p.Join.Align.F)
			top := max(u.highP-1, int(u.p.Join.Align.Floor))
			if u.p.Join.Align.Floor == 0 {
				top = u.highP - 1
			}
			return only(ch, "stage0.") && u.p.Stage0.Sum == mma.Off && s.Sum == mma.Fused && s.Round == (mma.Round{}) && u.p.Stage1.Sum == mma.Off &&
				f != 0 && u.p.Prod.Round.Frac == 0 && !firstNaN(&u.p) && !u.p.Special.NegZero && (s.Align.Floor == 0 || int(s.Align.Floor) <= u.minE) &&
				u.highP-1-int(s.Align.F) <= u.lowP && max(top, u.maxC, int(u.p.Acc.Emax))-f <= u.lowP
		}},
	{"fixed-point-groups", "Groups are summed exactly and in fixed point: neither the exponents of their products nor the order of the additions shows.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			s := u.p.Stage0
			return only(ch, "prod.exp", "in.widen", "stage0.sum") && s.Fixed && q.Stage0.Sum != mma.Off && s.Align.F == 0 && s.Round == (mma.Round{}) &&
				u.p.Prod.Round.Frac == 0 && u.p.In.Sub == mma.KeepSub && !firstNaN(&u.p) && !u.p.Special.NegZero
		}},
	{"exact-partial-sum", "Nothing is cut or rounded before the one rounding at the end: partial sums are exact.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "stage0.sum", "stage0.group", "stage0.split") && !cuts(&u.p) && !cuts(q) && q.Stage0.Sum != mma.Off &&
				u.p.Stage0.Round == (mma.Round{}) && q.Stage0.Round == (mma.Round{}) && !firstNaN(&u.p) && !u.p.Special.NegZero
		}},
	{"two-terms", "There are two terms to add: all orders of additions are the same one.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			p := &u.p
			pair := only(ch, "stage0.sum") && p.L == 2 && p.Stage0.Split == mma.Adjacent && p.Stage0.Group == 0
			groups := only(ch, "stage1.sum") && p.Stage0.Split == mma.Interleaved && p.Stage0.Group == 2 && p.Stage1.Split == mma.Adjacent && p.Stage1.Group == 0
			return (pair || groups) && u.f.A != fp.None && u.k%2 == 0 && !firstNaN(p) && q.Stage0.Sum != mma.Off && q.Stage1.Sum != mma.Off == (p.Stage1.Sum != mma.Off)
		}},
	{"exact-or-flushed", "Operands are normal or zero, so that products have few bits: normal ones are exact at both widths, and the others are flushed either way.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			a, b := u.p.Prod.Round, q.Prod.Round
			return only(ch, "prod.round.frac", "prod.round.mode", "prod.round.flush") && u.p.In.Sub != mma.KeepSub && u.p.In.Widen == fp.None &&
				a.Flush != mma.NoFlush && b.Flush != mma.NoFlush && int(min(a.Frac, b.Frac)) >= u.bitsP
		}},
	{"exact-when-tiny", "Every term is a multiple of the smallest subnormal, so that tiny sums are exact: they are tiny before and after rounding.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			p := &u.p
			unit := func(r mma.Round) int { return int(r.Emin) - int(r.Frac) }
			flushed := func(a, b mma.Round) bool { return a == b || a.Flush != mma.NoFlush && b.Flush != mma.NoFlush }
			return only(ch, "stage0.round.flush", "acc.flush") && flushed(p.Stage0.Round, q.Stage0.Round) && flushed(p.Acc, q.Acc) && !cuts(p) &&
				p.Prod.Round.Flush != mma.NoFlush && p.Stage1.Sum == mma.Off && unit(p.Prod.Round) == unit(p.Acc) &&
				(p.Stage0.Sum == mma.Off || unit(p.Stage0.Round) == unit(p.Acc)) && u.lowC >= unit(p.Acc)
		}},
	{"flushed-before", "Results are flushed: no accumulator that is handed on is subnormal, and its sign stays.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "in.acc") && u.p.Acc.Flush != mma.NoFlush && int32(u.p.Acc.Emin) == u.d.Emin() && u.p.In.Acc != mma.FlushPlus && q.In.Acc != mma.FlushPlus
		}},
	{"never-minus-zero", "The accumulator starts from a c without -0 and no sum is tiny: no zero is -0, whatever the signs of products.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			signs := only(ch, "special.negzero") || only(ch, "in.sub") && u.p.In.Sub != mma.KeepSub && q.In.Sub != mma.KeepSub
			return signs && u.p.Start == mma.StartC && u.p.Lanes <= 1 && u.p.In.C == mma.FlushPlus && u.p.Acc.Mode != fp.RD &&
				u.p.Late == (mma.Round{}) && u.lowP-int(u.d.FracBits)-2 >= u.minC
		}},
	{"cut-down-twice", "The sum of products is cut by RD, and the total again at no smaller a bit, or c is so large that it is: RD twice is RD once.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return (only(ch, "join.align.f") || only(ch, "join.align.floor")) && u.cutDownTwice(&u.p) && u.cutDownTwice(q)
		}},
	{"no-result-overflow-down", "The products together are below the last bit that RD leaves beside the largest number, and one such bit more or less rounds to it.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			p := u.p.Join.Post
			return only(ch, "acc.over") && u.infinitiesStay(q) && p.Mode == fp.RD && u.p.Join.Align.Mode == fp.RD && u.p.Start == mma.StartC && u.p.Acc.Mode == fp.RNE &&
				p.Frac >= u.p.Acc.Frac+2 && u.p.Join.Align.F >= p.Frac && u.highS < int(u.p.Acc.Emax)-int(u.p.Join.Align.F)
		}},
	{"one-step", "There is one step: no accumulator is handed from one to the next.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "in.acc") && u.steps == 1 && u.p.Lanes <= 1
		}},
	{"floor-below-exponents", "No product that is not zero, and no c where there is one, has a nominal exponent below the floors: they are never the largest.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			least := u.minE
			if slices.Contains(ch, "join.align.floor") {
				least = min(least, u.minC)
			}
			return only(ch, "join.align.floor", "stage0.align.floor", "stage1.align.floor") && least >= u.topFloor(q) && !u.normalises(q)
		}},
	{"floor-below-bits", "Every product and c is a multiple of the last bit that the floors retain: nothing is cut there.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			f := int(u.p.Join.Align.F)
			if c := int(u.p.Join.CF); c != 0 {
				f = min(f, c)
			}
			return only(ch, "join.align.floor") && u.p.Stage0.Sum == mma.Off && min(u.lowP, u.lowC) >= u.topFloor(q)-f
		}},
	{"floor-below-bits-two-sums", "Every product is a multiple of the last bit that the floors retain, and so is c at its own width: nothing is cut there.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			top := u.topFloor(q)
			cf := int(u.p.Join.CF)
			if cf == 0 {
				cf = int(u.p.Join.Align.F)
			}
			return only(ch, "join.align.floor") && u.p.Stage0.Align.F != 0 && u.p.Prod.Round.Frac == 0 &&
				u.lowP >= top-int(u.p.Join.Align.F) && u.lowC >= top-cf
		}},
	{"overflow-to-nearest", "IEEE 754 section 7.4: under rounding to nearest an overflow is an infinity.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			nearest := func(m fp.Mode) bool { return m == fp.RNE || m == fp.RNA }
			over := func(o mma.Over) bool { return o == mma.OverInf || o == mma.OverIEEE }
			for _, r := range u.rounds(q) {
				if r[0].Over != r[1].Over && !(nearest(r[0].Mode) && over(r[0].Over) && over(r[1].Over)) {
					return false
				}
			}
			return only(ch, "acc.over", "late.over", "out.over", "prod.round.over", "stage0.round.over", "stage1.round.over", "join.post.over")
		}},
	{"no-result-overflow", "The products together are below half a unit of the largest number, and are cut off beside a c as large as that: no result overflows.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			half := int(u.p.Acc.Emax) - int(u.d.FracBits) - 1
			cut := half
			if f := u.p.Join.Align.F; f != 0 {
				cut = int(u.p.Acc.Emax) - int(f)
			}
			mode := u.p.Acc.Mode
			directed := mode == fp.RD || mode == fp.RU || u.p.Join.Align.Mode == fp.RD || u.p.Join.Align.Mode == fp.RU
			return only(ch, "acc.over", "late.over") && u.infinitiesStay(q) && u.highS < min(half, cut) && !directed && u.p.Start == mma.StartC
		}},
	{"no-late-overflow", "The products together are far below half a unit of the largest number: adding them to c does not overflow.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			half := int(u.p.Acc.Emax) - int(u.d.FracBits) - 1
			return only(ch, "acc.over", "late.over") && u.infinitiesStay(q) && u.highS < half && (u.p.Late.Frac == 0 || u.p.Late.Mode == fp.RNE || u.p.Late.Mode == fp.RZ) && u.p.Start != mma.StartC
		}},
	{"no-partial-overflow", "The products together are below the largest number: no product and no partial sum of products overflows.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "prod.round.over", "prod.round.emax", "stage0.round.over", "stage1.round.over") && u.infinitiesStay(q) && u.highS < 127 &&
				u.reaches(u.highS, q)
		}},
	{"no-product-overflow", "Every product is below 2^128.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			scaled := u.p.Scale == mma.ScaleGroup && u.bareP <= 128 // scales come later
			high := u.highP
			if scaled {
				high = u.bareP
			}
			return only(ch, "prod.round.emax", "prod.round.over") && u.infinitiesStay(q) && high <= 128 && u.reaches(high, q)
		}},
	{"exact-products", "Products are exact at both widths: the rounding and its flush do nothing.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "prod.round") && u.exactProducts(u.p.Prod.Round) && u.exactProducts(q.Prod.Round) && u.highP < 127 && !u.alignsProducts(q)
		}},
	{"dropped-anyway", "An accumulator of an exponent that is dropped is below the last bit kept: truncation makes it zero.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "join.cdrop") && u.truncatesC() && u.cutOfC() > 0 &&
				(u.p.Join.CDrop == 0 || int(u.p.Join.CDrop) >= u.cutOfC()) && (q.Join.CDrop == 0 || int(q.Join.CDrop) >= u.cutOfC())
		}},
	{"dropped-below-quarter", "The other term has no more bits than the result, and an accumulator of an exponent that is dropped is below a quarter of its last place: rounding to nearest gives the same.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "join.cdrop") && u.p.Join.CDrop == 0 && !cuts(&u.p) && u.p.Acc.Mode == fp.RNE && u.p.Stage0.Group == 0 &&
				u.p.Stage0.Round.Frac == u.p.Acc.Frac && int(q.Join.CDrop) >= int(u.p.Acc.Frac)+2
		}},
	{"truncated-twice", "Truncation to more bits before truncation changes nothing.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "join.post") && u.p.Acc.Mode == fp.RZ && u.postIs(q, func(r mma.Round) bool {
				return r.Mode == fp.RZ && r.Frac >= u.p.Acc.Frac && r.Emin <= u.p.Acc.Emin && r.Flush == mma.NoFlush && r.Emax == 0
			})
		}},
	{"exact-post", "The sum has no more bits than the rounding before the last keeps: it does nothing.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "join.post") && u.postIs(q, func(r mma.Round) bool {
				return int(r.Frac)+1 >= u.sumBits() && int(r.Emin)-int(r.Frac) <= u.lowSum() && r.Flush == mma.NoFlush && r.Emax == 0
			})
		}},
	{"exact-first-rounding", "The sum has no more bits than the first of the two roundings keeps: it does nothing.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			first := func(p *mma.Params) bool {
				return p.Out == (mma.Round{}) || int(p.Acc.Frac)+1 >= u.sumBits() && int(p.Acc.Emin)-int(p.Acc.Frac) <= u.lowSum() && u.highS < int(p.Acc.Emax)
			}
			last := func(p *mma.Params) mma.Round {
				if p.Out == (mma.Round{}) {
					return p.Acc
				}
				return p.Out
			}
			return only(ch, "acc.", "out.") && first(&u.p) && first(q) && last(&u.p) == last(q) && u.steps == 1
		}},
	{"same-exponents", "The wider format has the exponent range of the operands' own: the conversion changes no exponent.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			emin := func(id fp.ID, own *fp.Format) bool { return id == fp.None || id.Get().Emin() == own.Emin() }
			return only(ch, "in.widen") && emin(u.p.In.Widen, u.f.A.Get()) && emin(u.p.In.Widen, u.f.B.Get()) &&
				emin(q.In.Widen, u.f.A.Get()) && emin(q.In.Widen, u.f.B.Get())
		}},
	{"normal-when-widened", "With both conversions every operand is a normal number: its exponent is that of its value.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "in.widen") && u.allNormal(u.p.In.Widen) && u.allNormal(q.In.Widen)
		}},
	{"largest-cuts-nothing", "A product with a subnormal factor is so small that where it is the largest, and counts with a larger exponent, nothing is cut all the same.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			a, b := u.f.A.Get(), u.f.B.Get()
			top := int(max(a.Emin()+b.Emax(), a.Emax()+b.Emin()))
			return only(ch, "in.widen", "prod.exp") && u.p.Prod.Exp != mma.Normalised && q.Prod.Exp != mma.Normalised && u.p.In.Sub == mma.KeepSub &&
				u.p.Start != mma.StartC && u.p.Stage0.Sum == mma.Off && u.p.Join.Align.F != 0 && top-int(u.p.Join.Align.F) <= u.lowP
		}},
	{"no-subnormals-left", "With the conversion every operand is a normal number or zero, and the sign of a zero never shows.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			signs := u.p.In.Sub == mma.FlushPlus || q.In.Sub == mma.FlushPlus
			return only(ch, "in.sub") && u.allNormal(u.p.In.Widen) && (!signs || !u.p.Special.NegZero)
		}},
	{"normal-exponents", "With the conversion every operand is a normal number: its exponent field is that of its value.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "prod.exp") && u.allNormal(u.p.In.Widen) && u.p.Prod.Exp != mma.Normalised && q.Prod.Exp != mma.Normalised
		}},
	{"partial-never-tiny", "Until c is added, every sum is a multiple of a normal number: no accumulator is tiny.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "acc.flush", "in.acc", "acc.emin") && u.p.Start != mma.StartC && u.hasC && u.lowP >= int(u.p.Acc.Emin) && u.p.Stage0.Sum == mma.Off
		}},
	{"starts-from-plus-zero", "The accumulator starts from +0, and a sum with a +0 in it is not -0.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "special.negzero") && u.p.Start == mma.StartZero && u.p.Acc.Mode != fp.RD && u.p.Late.Mode != fp.RD && u.p.Lanes <= 1
		}},
	{"nothing-cut-to-zero", "No sum cuts or drops a term: it is zero only if all of its terms are, or if they cancel.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "special.zerosonly") && !cuts(&u.p) && u.exactSum() && u.nothingDropped() &&
				u.p.Stage0.Align.Drop == 0 && u.p.Stage1.Align.Drop == 0 && !u.p.Stage0.Fixed && !u.p.Stage1.Fixed
		}},
	{"zero-start-hidden", "Whether an accumulator starts from +0 or from nothing shows in the sign of a zero only, and that is always +0.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "start") && u.p.Start != mma.StartC && q.Start != mma.StartC && !u.p.Special.NegZero
		}},
	{"exponents-unused", "No sum cuts its terms: nominal exponents are not used.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			widens := slices.Contains(ch, "in.widen") && u.p.In.Sub != mma.KeepSub
			return only(ch, "prod.exp", "in.widen") && !cuts(&u.p) && !widens
		}},
	{"no-subnormal-operands", "Subnormal operands are flushed, and normal ones have normalised significands.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "prod.exp") && u.p.In.Sub != mma.KeepSub && u.p.Prod.Exp != mma.Normalised && q.Prod.Exp != mma.Normalised
		}},
	{"no-underflow", "Every product and c is a multiple of the smallest result: nothing but zero becomes zero.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			unit := int(u.p.Acc.Emin) - int(u.p.Acc.Frac)
			return only(ch, "special.tinysign") && min(u.lowP, u.cutLow()) >= unit && !u.flushesAny() && u.normalPost(unit)
		}},
	{"tiny-sign-hidden", "Both operands of the last addition are multiples of the smallest result: it makes nothing but zero zero, and a sum of zeros is +0 whatever their signs.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			unit := int(u.p.Late.Emin) - int(u.p.Late.Frac)
			return only(ch, "special.tinysign") && u.p.Late.Frac != 0 && u.p.Out == (mma.Round{}) && !u.p.Special.NegZero && !u.flushesAny() &&
				min(u.lowC, int(u.p.Acc.Emin)-int(u.p.Acc.Frac)) >= unit
		}},
	{"no-tiny-results", "Every sum of products is zero or large beside the smallest normal number, and subnormal c are flushed: no result is tiny.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "acc.flush", "stage0.round.flush", "stage1.round.flush", "prod.round.flush", "join.post.flush", "special.tinysign", "in.acc") &&
				u.p.In.C != mma.KeepSub && u.lowP-int(u.d.FracBits)-2 >= u.minC && !slices.Contains(ch, "in.c")
		}},
	{"no-tiny-partial", "Every product and sum of products is zero or above the smallest normal number.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "stage0.round.flush", "stage1.round.flush", "prod.round.flush") && u.lowP >= int(fp.FP32.Get().Emin())
		}},
	{"cut-off-unseen", "What is cut off is seen only by the next rounding, and that truncates toward zero, where it would be a larger magnitude, or down, where it would be a larger value.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			r := u.p.Join.Post
			if r == (mma.Round{}) {
				r = u.p.Acc
			}
			down := u.p.Join.Align.Mode == fp.RD
			return only(ch, "join.align.sticky") && max(u.p.Join.Align.Sticky, q.Join.Align.Sticky) <= mma.StickyRound && r.Frac != 0 &&
				(r.Mode == fp.RZ && !down || r.Mode == fp.RD && down && r.Flush == mma.NoFlush)
		}},
	{"subnormal-c-above-floor", "The floor is no less than the exponents of subnormal accumulators: these never decide the alignment.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			return only(ch, "join.cnorm") && u.nothingDropped() && u.p.Join.Align.Floor != 0 && int(u.p.Join.Align.Floor) >= max(u.minC, int(u.d.Emin()))
		}},
	{"subnormal-c-alone", "A subnormal accumulator decides the alignment only where no product counts, and there nothing of it is cut, by either exponent. Where it is dropped beside a product, truncation makes it zero anyway.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			j, emin, floor := u.p.Join, max(u.minC, int(u.d.Emin())), int(u.p.Join.Align.Floor)
			if floor == 0 {
				floor = u.lowAcc()
			}
			cut, drop := u.cutOfC(), int(j.CDrop)
			if drop == 0 {
				drop = int(j.Align.Drop)
			}
			least := min(u.lowP, u.minE)
			dropped := drop == 0 || u.truncatesC() && j.Align.Sticky == mma.StickyOff && !u.p.Special.NegZero && cut != 0 && emin <= least-cut && u.lowAcc() >= floor-drop
			return only(ch, "join.cnorm") && dropped && u.plainSum() && !j.CBeside && u.p.Stage0.Sum == mma.Off && u.p.Stage1.Sum == mma.Off && !u.p.Prod.Zeros &&
				(j.Align.Bits == 0 || int(j.Align.Bits) >= max(int(j.Align.F), cut)+2) && least >= emin && (cut == 0 || max(emin, floor)-cut <= u.lowAcc())
		}},
	{"too-large-anyway", "What is too large for the rounding before the last one is too large for that, too, and both make it an infinity.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			above := func(r mma.Round) bool { return r.Over == mma.OverInf && (r.Emax == 0 || r.Emax >= u.p.Acc.Emax) }
			return only(ch, "join.post.emax") && u.exactSum() && above(u.p.Join.Post) && above(q.Join.Post) &&
				u.p.Acc.Over == mma.OverInf && u.p.Acc.Emax != 0 && u.p.Acc.Mode != fp.RD
		}},
	{"exact-when-small", "Every term is a multiple of the last bit that either range of exponents leaves: small sums are exact in both.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			keeps := func(r mma.Round) bool {
				return r.Frac != 0 && r.Flush == mma.NoFlush && (!r.HasEmin() || int(r.Emin)-int(r.Frac) <= min(u.lowP, u.lowAcc()))
			}
			return only(ch, "join.post.emin") && u.exactSum() && keeps(u.p.Join.Post) && keeps(q.Join.Post)
		}},
	{"apart-exact", "There are one sum of products and the accumulator, which the first of the two roundings leaves as they are.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			s, post := u.p.Stage0, u.p.Join.Post
			return only(ch, "join.apart") && u.exactSum() && s.Sum == mma.Fused && s.Group == 0 && u.p.Stage1.Sum == mma.Off && u.p.Start == mma.StartC &&
				s.Align.F != 0 && int(s.Align.F)+u.growth() <= int(post.Frac) && max(u.fracAcc(), 1) <= int(post.Frac) &&
				post.Flush == mma.NoFlush && post.Emax == 0 && (!post.HasEmin() || int(post.Emin)-int(post.Frac) <= min(u.lowP, u.lowAcc()))
		}},
	{"cut-down-beside", "Beside a larger c the sum of products is cut by RD, or not at all, and the total by RD at no smaller a bit; of c nothing is cut.",
		func(u *ranges, q *mma.Params, ch []string) bool {
			j := u.p.Join
			return only(ch, "join.cbeside") && u.exactSum() && u.nothingDropped() && !j.CNorm && u.cutDownTwice(&u.p) && int(j.CF) >= u.fracAcc() &&
				(j.Align.F == 0 || j.Align.F >= u.p.Stage0.Align.F) && u.minE >= max(u.minC, int(u.d.Emin())) && int(j.Align.Floor)-int(j.Align.F) <= u.lowP
		}},
}

// infinitiesStay reports whether both programs leave infinities as they are, wherever they differ in
// what becomes of a number that is too large.
func (u *ranges) infinitiesStay(q *mma.Params) bool {
	for _, r := range u.rounds(q) {
		if r[0].Over != r[1].Over && (max(r[0].Over, r[1].Over) >= mma.OverSat) {
			return false
		}
	}
	return true
}

// reaches reports whether the products' rounding has room, in both programs, for numbers below 2^high.
func (u *ranges) reaches(high int, q *mma.Params) bool {
	room := func(r mma.Round) bool {
		return r.Emax == 0 || int(r.Emax) >= high || r.Frac == 0 && int(r.Emax) == high-1
	}
	return room(u.p.Prod.Round) && room(q.Prod.Round)
}

// rounds returns the roundings of both programs side by side.
func (u *ranges) rounds(q *mma.Params) [][2]mma.Round {
	return [][2]mma.Round{{u.p.Acc, q.Acc}, {u.p.Late, q.Late}, {u.p.Out, q.Out}, {u.p.Prod.Round, q.Prod.Round},
		{u.p.Stage0.Round, q.Stage0.Round}, {u.p.Stage1.Round, q.Stage1.Round}, {u.p.Join.Post, q.Join.Post}}
}

// plainSum reports whether the last sum adds its terms as they are, except that there may be a
// sticky bit and an adder of limited width, and whether products are those of whole operands, not of
// parts of them.
func (u *ranges) plainSum() bool {
	p := &u.p
	for _, a := range []mma.Align{p.Stage0.Align, p.Stage1.Align, p.Join.Align} {
		if a.Negate != mma.NegateExact {
			return false
		}
	}
	return !p.Join.Apart && !p.Join.CGrid && p.Leaf == mma.NoLeaf && p.Prod.Shift == 0 && p.Passes == 0 && p.In.NarrowC == (mma.Narrow{})
}

// exactSum reports whether plainSum holds and there is neither a sticky bit nor an adder of limited
// width: then terms have no other bits than products and accumulators.
func (u *ranges) exactSum() bool {
	for _, a := range []mma.Align{u.p.Stage0.Align, u.p.Stage1.Align, u.p.Join.Align} {
		if a.Sticky != mma.StickyOff || a.Bits != 0 {
			return false
		}
	}
	return u.plainSum()
}

// nothingDropped reports whether the exponent of the accumulator decides nothing but the alignment.
func (u *ranges) nothingDropped() bool {
	j := u.p.Join
	return j.CDrop == 0 && j.Align.Drop == 0 && !j.CBeside && !j.CGrid && u.p.Leaf == mma.NoLeaf
}

// lowAcc returns the exponent of the last bit of accumulators: of c, and of results.
func (u *ranges) lowAcc() int { return min(u.lowC, int(u.d.Emin())-int(u.d.FracBits)) }

// fracAcc returns the most fraction bits of an accumulator.
func (u *ranges) fracAcc() int {
	if u.hasC {
		return max(int(u.d.FracBits), int(u.f.C.Get().FracBits))
	}
	return int(u.d.FracBits)
}

// growth returns the bits by which a sum of products may exceed its largest exponent.
func (u *ranges) growth() int { return 2 + bits.Len(uint(u.p.Step(u.k)-1)) }

// sameSteps reports whether two orders give every step the same products.
func (u *ranges) sameSteps(q *mma.Params) bool {
	l := u.p.Step(u.k)
	a, b := mma.Sequence(u.p.Order, u.k), mma.Sequence(q.Order, u.k)
	for at := 0; at < u.k; at += l {
		x, y := slices.Clone(a[at:min(at+l, u.k)]), slices.Clone(b[at:min(at+l, u.k)])
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			return false
		}
	}
	return true
}

func swapsPairs(a, b mma.Order) bool {
	return a == mma.Ascending && b == mma.SwapPairs || a == mma.SwapPairs && b == mma.Ascending
}

// allNormal reports whether every operand that is not zero is a normal number in a format.
func (u *ranges) allNormal(id fp.ID) bool {
	if id == fp.None {
		return false
	}
	for _, o := range []fp.ID{u.f.A, u.f.B} {
		if f := o.Get(); f.Emin()-int32(f.FracBits) < id.Get().Emin() {
			return false
		}
	}
	return true
}

// topFloor returns the highest of the floors in which the two programs differ.
func (u *ranges) topFloor(q *mma.Params) int {
	top := -1 << 20
	for _, f := range [][2]mma.Exp{
		{u.p.Join.Align.Floor, q.Join.Align.Floor}, {u.p.Stage0.Align.Floor, q.Stage0.Align.Floor}, {u.p.Stage1.Align.Floor, q.Stage1.Align.Floor},
	} {
		if f[0] == f[1] {
			continue
		}
		for _, e := range f {
			if e != 0 {
				top = max(top, int(e))
			}
		}
	}
	return top
}

// normalises reports whether products may have nominal exponents other than the sum of their
// factors' exponent fields.
func (u *ranges) normalises(q *mma.Params) bool {
	return u.p.Prod.Exp != mma.FieldSum || u.p.Prod.Round.Frac != 0 || u.p.In.Widen != fp.None
}

// exactProducts reports whether a rounding leaves every product as it is.
func (u *ranges) exactProducts(r mma.Round) bool {
	return r.Frac == 0 && r.Flush == mma.NoFlush && r.Emax == 0 ||
		int(r.Frac)+1 >= u.bitsP && u.lowP >= int(r.Emin) && (r.Emax == 0 || u.highP <= int(r.Emax))
}

// alignsProducts reports whether a sum cuts its terms: then the nominal exponents of products
// matter, which a rounding of products normalises.
func (u *ranges) alignsProducts(q *mma.Params) bool { return cuts(&u.p) || cuts(q) }

// truncatesC reports whether the accumulator is cut toward zero.
func (u *ranges) truncatesC() bool {
	m := u.p.Join.CMode
	if m == 0 {
		m = u.p.Join.Align.Mode
	}
	return m == fp.RZ
}

func (u *ranges) cutOfC() int {
	if f := int(u.p.Join.CF); f != 0 {
		return f
	}
	return int(u.p.Join.Align.F)
}

// postIs reports whether the rounding before the last one has a property in both programs; a
// program without such a rounding counts as having it.
func (u *ranges) postIs(q *mma.Params, ok func(mma.Round) bool) bool {
	for _, r := range []mma.Round{u.p.Join.Post, q.Join.Post} {
		if r != (mma.Round{}) && !ok(r) {
			return false
		}
	}
	return true
}

// cutDownTwice reports whether a program cuts the sum of products by RD beside c, and then
// the total by RD again, in such a way that the second cut alone would do: if the first cut
// drops anything, the last bit of the total is above what it drops. If c is much larger than
// the sum, the total's exponent is at most one below that of c; without c, or with a tiny
// one, the total's last bit is that of subnormals.
func (u *ranges) cutDownTwice(p *mma.Params) bool {
	j, post := p.Join, p.Join.Post
	f1, f, floor := int(p.Stage0.Align.F), int(j.Align.F), int(j.Align.Floor)
	if f == 0 {
		f = 1 << 12 // exact
	}
	return p.Stage0.Sum == mma.Fused && f1 != 0 && p.Stage1 == u.p.Stage1 && j.Align.Mode == fp.RD && post.Mode == fp.RD && post.Emin != 0 &&
		f > int(post.Frac) && f-f1 >= u.growth() && int(j.CF) <= f && j.CF != 0 &&
		(floor == 0 || floor-f <= int(post.Emin)-int(post.Frac) && floor-int(j.CF) <= u.lowC) && u.lowC >= int(post.Emin)-int(post.Frac)
}

// sumBits returns the largest number of bits of a final sum: its terms are multiples of
// 2^(E-F), where E is the largest exponent and F the bits kept below it, and have the largest
// significands of their formats.
func (u *ranges) sumBits() int {
	if u.p.Stage0.Sum != mma.Off || u.p.Join.Align.F == 0 {
		return 1 << 20
	}
	l := u.p.Step(u.k)
	largest := 1.0
	for _, id := range []fp.ID{u.f.A, u.f.B, u.f.Scale, u.f.Scale} {
		if id != fp.None {
			largest *= 2 - math.Ldexp(1, -int(id.Get().FracBits))
		}
	}
	return int(u.p.Join.Align.F) + int(math.Ceil(math.Log2(float64(l)*largest+2)))
}

// lowSum returns the exponent of the lowest bit that a final sum can have.
func (u *ranges) lowSum() int {
	low := min(u.lowP, u.lowC)
	if f := u.p.Join.Align; f.Floor != 0 {
		low = max(low, int(f.Floor)-int(f.F)) // the largest exponent is never below the floor
	}
	return low
}

// cutLow returns the exponent of the lowest bit that c can have after it was cut: without
// products, c is cut at its own exponent.
func (u *ranges) cutLow() int {
	if f := u.cutOfC(); f != 0 && u.truncatesC() {
		return max(u.lowC, u.minC-f)
	}
	return u.lowC
}

// flushesAny reports whether any rounding flushes.
func (u *ranges) flushesAny() bool {
	p := &u.p
	for _, r := range []mma.Round{p.Prod.Round, p.Stage0.Round, p.Stage1.Round, p.Join.Post, p.Acc, p.Late, p.Out} {
		if r.Flush != mma.NoFlush {
			return true
		}
	}
	return false
}

// normalPost reports whether the rounding before the last one makes no multiple of 2^unit
// zero.
func (u *ranges) normalPost(unit int) bool {
	r := u.p.Join.Post
	return r == (mma.Round{}) || int(r.Emin)-int(r.Frac) <= unit
}
