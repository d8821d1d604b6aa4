package probe

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// finding is what the answer to a question says: Value, Why and Evidence of an Answer.
type finding struct {
	value, why string
	seen       []Seen
}

// undecided is the finding for a question that these formats cannot decide.
func undecided(format string, args ...any) finding {
	return finding{value: "-", why: fmt.Sprintf(format, args...)}
}

// Reasons that several questions have.
const (
	noNumbers = "no such numbers in these formats"
	oneTerm   = "one term only"

	treeUnknown = "the summation tree is not known"
)

func yesNo(yes bool, seen ...Seen) finding {
	if yes {
		return finding{value: "yes", seen: seen}
	}
	return finding{value: "no", seen: seen}
}

// outcome is a result that a question foresees, and the answer it stands for.
type outcome struct {
	is         func(*Prober, Seen) bool
	value, why string
}

// equals, isClass, isLargest and otherwise are the outcomes of a number, an infinity
// or a NaN, d's largest number, and any result.
func equals(n number, value string) outcome {
	return outcome{is: func(p *Prober, s Seen) bool { return p.is(s, n) }, value: value}
}

func isClass(c fp.Class, value string) outcome {
	return outcome{is: func(p *Prober, s Seen) bool { return p.d.Decode(s.Got).Class == c }, value: value}
}

func isLargest(value string) outcome {
	return outcome{is: func(p *Prober, s Seen) bool { return s.Got&^p.d.SignBit() == p.d.MaxFinite() }, value: value}
}

func otherwise(value string) outcome {
	return outcome{is: func(*Prober, Seen) bool { return true }, value: value}
}

// because adds a remark to an outcome.
func (o outcome) because(why string) outcome { o.why = why; return o }

// decide returns the finding of the first outcome that a result is. Without one the
// answer is the result's code.
func (p *Prober) decide(s Seen, outcomes ...outcome) finding {
	for _, o := range outcomes {
		if o.is(p, s) {
			return finding{o.value, o.why, []Seen{s}}
		}
	}
	return finding{value: p.hex(s.Got), seen: []Seen{s}}
}

// try asks for one sum and decides. missing is the reason if the formats lack the
// terms.
func (p *Prober) try(t terms, missing string, outcomes ...outcome) finding {
	s, ok := p.sum(t)
	if !ok {
		return undecided("%s", missing)
	}
	return p.decide(s, outcomes...)
}

// hex writes a code of d.
func (p *Prober) hex(c uint64) string { return fmt.Sprintf("%0*X", p.d.Digits(), c) }

// result returns the number that a result stands for; ok is false for infinities
// and NaNs.
func (p *Prober) result(s Seen) (n number, ok bool) {
	if n := p.d.Decode(s.Got); n.Class == fp.Inf || n.Class == fp.NaN {
		return number{}, false
	}
	return value(p.d, s.Got), true
}

// is reports whether a result is a number, in which 2^shift stands for 1. Zeros of
// both signs are the same number.
func (p *Prober) is(s Seen, n number) bool {
	r, ok := p.result(s)
	n = n.scaled(p.shift).reduced()
	return ok && (r == n || r.sig == 0 && n.sig == 0)
}
