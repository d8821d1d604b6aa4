package defect

import (
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
		id, every := roundedSums(e.N)
		return slices.Contains(stored, id) && every >= 0 && every <= mma.MaxK
	}
	return slices.Contains(stepNames, e.Do) && e.N > -64 && e.N < 64
}

// roundsTo is that sums are kept in a format of fewer bits in between.
const roundsTo = "to"

// stored are such formats.
var stored = []fp.ID{fp.BF16, fp.FP16, fp.FP32}

// roundedSums is n of it: the format, and which sums: every so many-th of those that add products, the last of
// each accumulator (endsLanes), or any that meet the conditions (0).
func roundedSums(n int64) (id fp.ID, every int64) { return fp.ID(n & 0xff), n >> 8 }

const endsLanes = 1

// ofSeveral reports whether an effect on the results of sums says itself which of them it happens to.
func (e *Effect) ofSeveral() bool { return e.On == OnStep && e.Do == roundsTo && e.N>>8 > 0 }

// storedEffects are these effects.
func (s *search) storedEffects() (all []Effect) {
	if s.f.D.Get().Integer() || s.u.Program.Step(s.u.K) == s.u.K && s.u.Program.Lanes < 2 {
		return nil
	}
	for _, id := range stored {
		if id.Get().FracBits >= s.f.D.Get().FracBits {
			continue
		}
		for every := range int64(s.u.K) {
			if every == 0 || every == endsLanes && s.u.Program.Lanes > 1 || every > endsLanes && s.u.K%int(every) == 0 {
				all = append(all, Effect{On: OnStep, Do: roundsTo, N: every<<8 | int64(id)})
			}
		}
	}
	return all
}

// severalSums are the numbers of these sums.
func (r *runner) severalSums(v *view) (numbers []int) {
	p, k := r.m.Params(), len(v.dot.A)
	_, every := roundedSums(r.effect.N)
	lanes, sums := max(1, int(p.Lanes)), 0
	for lane := range lanes {
		n := (k - lane + lanes - 1) / lanes
		sums += (n + p.Step(n) - 1) / max(1, p.Step(n))
		if every == endsLanes {
			numbers = append(numbers, sums-1)
		}
	}
	for i := int(every) - 1; every > endsLanes && i < sums; i += int(every) {
		numbers = append(numbers, i)
	}
	return numbers
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
	_, every := roundedSums(e.N)
	switch {
	case e.ofSeveral() && every == endsLanes:
		noun = "the last sum of each accumulator"
	case e.ofSeveral():
		noun = fmt.Sprintf("the result of each sum whose number, counted from 1, %d divides,", every)
	case name != "":
		noun = "the result of " + name
	}
	return strings.Replace(strings.Replace(find(e.Do).text, "%w", noun, 1), "%s", e.number(), 1)
}
