package defect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What may be wrong with the result of each of several sums, after it is rounded: an operation on its
// code, as on that of the result.

// stepNames are the operations, in the order in which they are tried.
var stepNames = []string{"field", "add", "negate", "plus-zero", "max", "inf", "fill", "cut", "set", "clear", "flip"}

// hasStep reports whether there is such an effect.
func (e *Effect) hasStep() bool {
	if e.Do == roundsTo {
		id, which := roundedSums(e.N)
		return slices.Contains(stored, id) && which >= 0 && which <= oneSum+mma.MaxK
	}
	return slices.Contains(stepNames, e.Do) && e.N > -64 && e.N < 64
}

// roundsTo is that sums are kept in a format of fewer bits in between.
const roundsTo = "to"

// stored are such formats.
var stored = []fp.ID{fp.BF16, fp.FP16, fp.FP32}

// roundedSums is n of it: the format, and which of the sums that add products: any that meet the conditions (0),
// the last one of each accumulator (endsLanes), every so many-th, or one alone, by its number (from oneSum on).
func roundedSums(n int64) (id fp.ID, which int64) { return fp.ID(n & 0xff), n >> 8 }

const endsLanes, oneSum = 1, 1 << 8

// choosesSums reports whether an effect on the results of sums says itself to which of them it happens.
func (e *Effect) choosesSums() bool { return e.On == OnStep && e.Do == roundsTo && e.N>>8 > 0 }

// laneEnds are the numbers of the last sums of products of all accumulators, in their order.
func laneEnds(p *mma.Params, k int) (ends []int) {
	lanes, sums := max(1, int(p.Lanes)), 0
	for lane := range lanes {
		n := (k - lane + lanes - 1) / lanes
		sums += (n + p.Step(n) - 1) / max(1, p.Step(n))
		ends = append(ends, sums-1)
	}
	return ends
}

// storedEffects are the effects that choose the sums.
func (s *search) storedEffects() (all []Effect) {
	ends := laneEnds(&s.u.Program, s.u.K)
	sums := ends[len(ends)-1] + 1
	if s.f.D.Get().Integer() || sums == 1 {
		return nil
	}
	for _, id := range stored {
		if id.Get().FracBits >= s.f.D.Get().FracBits {
			continue
		}
		add := func(which int) { all = append(all, Effect{On: OnStep, Do: roundsTo, N: int64(which)<<8 | int64(id)}) }
		for n := range sums {
			add(oneSum + n)
		}
		if len(ends) > 1 {
			add(endsLanes)
		}
		for every := endsLanes + 1; every < sums; every++ {
			if sums%every == 0 {
				add(every)
			}
		}
	}
	return all
}

// chosenSums are the numbers of these sums.
func (r *runner) chosenSums(v *view) (numbers []int) {
	p := r.m.Params()
	ends := laneEnds(&p, len(v.dot.A))
	_, which := roundedSums(r.effect.N)
	switch every := int(which); {
	case which == endsLanes:
		return ends
	case which >= oneSum:
		return []int{every - oneSum}
	default:
		for i := every - 1; i <= ends[len(ends)-1]; i += every {
			numbers = append(numbers, i)
		}
		return numbers
	}
}

// roundedTo rounds a code to nearest even in another format and takes it back.
func roundedTo(f *fp.Format, x uint64, n int64) (uint64, bool) {
	id, _ := roundedSums(n)
	d, g := f.Decode(x), id.Get()
	if d.Class != fp.Finite {
		return x, true
	}
	switch other := g.Decode(g.Encode(f.Dyadic(d), fp.RNE, fp.OverInf)); other.Class {
	case fp.Finite:
		return f.Encode(g.Dyadic(other), fp.RNE, fp.OverInf), true
	case fp.Inf:
		return f.InfCode(d.Neg), f.HasInf()
	}
	return x & f.SignBit(), true
}

// stepEffects are the effects, if there are several sums.
func (s *search) stepEffects() (all []Effect) {
	if s.f.D.Get().Integer() || s.u.Program.Step(s.u.K) == s.u.K {
		return nil
	}
	for _, name := range stepNames {
		ns := []int64{-1, 1} // exponents
		if numbers := find(name).numbers; numbers != nil {
			ns = numbers(s.f.D.Get())
		}
		for _, n := range ns {
			all = append(all, Effect{On: OnStep, Do: name, N: n})
		}
	}
	for _, id := range stored {
		if id.Get().FracBits < s.f.D.Get().FracBits {
			all = append(all, Effect{On: OnStep, Do: roundsTo, N: int64(id)})
		}
	}
	return all
}

// stepChange changes the results of sums of some numbers; some becomes true where it does.
func (r *runner) stepChange(numbers []int, some *bool) func(sum int, code uint64) uint64 {
	return func(sum int, code uint64) uint64 {
		if !slices.Contains(numbers, sum) {
			return code
		}
		got, ok := r.op.do(r.f.D.Get(), code, r.effect.N)
		if !ok {
			return code
		}
		*some = true
		return got
	}
}

// stepText says what is wrong; name names the only sum in which it is.
func (e *Effect) stepText(name string) string {
	noun := "the result of each sum"
	_, which := roundedSums(e.N)
	switch {
	case e.choosesSums() && which == endsLanes:
		noun = "the last sum of each accumulator"
	case e.choosesSums() && which >= oneSum:
		noun = "the result of " + cmp.Or(e.Sum, fmt.Sprintf("sum %d", which-oneSum))
	case e.choosesSums():
		noun = fmt.Sprintf("the result of each sum whose number, counted from 1%s, %d divides,", e.Sum, which)
	case name != "":
		noun = "the result of " + name
	}
	return strings.Replace(strings.Replace(find(e.Do).text, "%w", noun, 1), "%s", e.number(), 1)
}
