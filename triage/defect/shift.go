package defect

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim"
)

// shifts are the operations on the number of places by which the terms of a sum are aligned: what a
// shifter does whose distance lacks bits.
var shifts = map[string]struct {
	text       string // with %s for what is aligned, %d for n and %[3]d for 2^n
	do         func(places int32, n int64) int32
	from, most int64 // the least n and the largest
	lead       bool  // the distance is that of leading bits, not of exponents
}{
	"modulo":      {"%[1]s is aligned by its distance modulo %[3]d", func(p int32, n int64) int32 { return p & (1<<n - 1) }, 2, mostShift, false},
	"modulo-lead": {"%[1]s is aligned by the distance of its leading bit modulo %[3]d", func(p int32, n int64) int32 { return p & (1<<n - 1) }, 2, mostShift, true},
	far:           {"%[1]s is lost where its leading bit is at least %[2]d places below that of the largest term", nil, 2, 127, true},
	"clear":       {"bit %[2]d of the distance by which %[1]s is aligned is stuck at 0", func(p int32, n int64) int32 { return p &^ (1 << n) }, 0, mostShift, false},
	"set":         {"bit %[2]d of the distance by which %[1]s is aligned is stuck at 1", func(p int32, n int64) int32 { return p | 1<<n }, 0, mostShift, false},
	skipsStage: {"bit %[4]d of the distance by which %[1]s is aligned has no effect where bit %[5]d is set", func(p int32, n int64) int32 {
		low, high := crossedBits(n)
		if p>>high&1 == 1 {
			return p &^ (1 << low)
		}
		return p
	}, 0, mostShift<<6 | mostShift, false},
	"most": {"%[1]s is aligned by fewer than %[3]d places", func(p int32, n int64) int32 { return min(p, 1<<n-1) }, 2, mostShift, false},
}

// skipsStage is that a stage of the shifter is skipped where another one shifts: n is their bits, see
// crossedBits.
const skipsStage = "stage"

// far is that terms are lost that are so many places below the largest.
const far = "far"

// mostShift is the last bit of the distances that are looked at: that of 256 places.
const mostShift = 8

// aligns reports whether an effect is that terms of sums are aligned otherwise.
func (e *Effect) aligns() bool { return e.On == OnShift || e.On == OnShiftP || e.On == OnShiftC }

// shiftEffects are the operations on the alignment of each term, or of a kind of terms.
func (s *search) shiftEffects() []Effect {
	var all []Effect
	for _, on := range []Place{OnShift, OnShiftP, OnShiftC} {
		for _, do := range []string{"modulo", "modulo-lead", "most", "clear", "set"} {
			for n := shifts[do].from; n <= shifts[do].most; n++ {
				all = append(all, Effect{On: on, Do: do, N: n})
			}
		}
	}
	for low := range int64(mostShift) {
		for high := range int64(mostShift) {
			if low != high {
				for _, on := range []Place{OnShift, OnShiftP, OnShiftC} {
					all = append(all, Effect{On: on, Do: skipsStage, N: high<<6 | low})
				}
			}
		}
	}
	for n := shifts[far].most; n >= shifts[far].from; n-- { // smaller ones explain the same differing cases, and more
		for _, on := range []Place{OnShift, OnShiftP, OnShiftC} {
			all = append(all, Effect{On: on, Do: far, N: n})
		}
	}
	return all
}

// shifted is the result where terms are aligned otherwise.
func (r *runner) shifted(v *view) uint64 {
	e, x := &r.effect, shifts[r.effect.Do]
	if e.Do == far {
		return r.m.DotChanged(v.dot, sim.Change{Lost: func(acc bool, lead int32) bool {
			return (e.On == OnShift || acc == (e.On == OnShiftC)) && lead >= int32(e.N)
		}})
	}
	return r.m.DotChanged(v.dot, sim.Change{Shift: func(acc bool, places, lead int32) int32 {
		switch {
		case e.On != OnShift && acc != (e.On == OnShiftC):
			return places
		case x.lead:
			return places - lead + x.do(lead, e.N)
		}
		return x.do(places, e.N)
	}})
}

// alignment is what an effect on a single product does to its alignment, by its name in shifts; "": nothing.
// That of a bit which is stuck is called otherwise, since a bit of the product itself may be stuck too.
func (e *Effect) alignment() string {
	for _, one := range oneShift {
		if x := shifts[one.of]; e.On == OnTerm && e.Do == one.name && e.N >= x.from && e.N <= x.most {
			return one.of
		}
	}
	return ""
}

// oneShift are the operations on the alignment of a single product.
var oneShift = []struct{ name, of string }{{"modulo", "modulo"}, {"most", "most"}, {"clear-shift", "clear"}, {"set-shift", "set"}}

// oneShiftEffects are these.
func oneShiftEffects() (all []Effect) {
	for _, one := range oneShift {
		for n := shifts[one.of].from; n <= shifts[one.of].most; n++ {
			all = append(all, Effect{On: OnTerm, Do: one.name, N: n})
		}
	}
	return all
}

// shiftText says how something is aligned.
func shiftText(do, noun string, n int64) string {
	low, high := crossedBits(n)
	return fmt.Sprintf(shifts[do].text, noun, n, 1<<min(n, mostShift), low, high)
}
