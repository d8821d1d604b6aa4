package defect

import (
	"slices"
	"strings"
)

// What may be wrong with the result of each of several sums, after it is rounded: an operation on its
// code, as on that of the result.

// stepNames are the operations, in the order in which they are tried.
var stepNames = []string{"field", "add", "negate", "plus-zero", "max", "inf", "fill", "cut", "set", "clear", "flip"}

// hasStep reports whether there is such an effect.
func (e *Effect) hasStep() bool {
	return slices.Contains(stepNames, e.Do) && e.N > -64 && e.N < 64
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
	if name != "" {
		noun = "the result of " + name
	}
	return strings.Replace(strings.Replace(find(e.Do).text, "%w", noun, 1), "%s", e.number(), 1)
}
