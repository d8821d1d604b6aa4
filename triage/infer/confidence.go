package infer

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// Tested is a kind of input with the bound on differences that follows from the test.
type Tested struct {
	Class
	// Independent is the number of inputs that were drawn independently of each other:
	// those on the diagonals of tiles, since others share a row or a column. 0: the
	// inputs are enumerated, not drawn.
	Independent int `json:"independent"`
	// OneIn: with a confidence of 95 % the unit differs on at most one in OneIn inputs
	// of this kind. 0: too few were drawn for a bound below one half.
	OneIn int `json:"one_in"`
}

// tested returns the bound that follows from a class of inputs. The unit was right on all
// of them.
func tested(c Class) Tested {
	t := Tested{Class: c}
	if g, err := gen.Find(c.Name); err != nil { // a question family of this package, whose inputs are drawn singly
		t.Independent = c.Asked
	} else if g.Size == nil {
		tiles := (c.Asked + g.M*g.N - 1) / (g.M * g.N)
		t.Independent = tiles * min(g.M, g.N)
	}
	if n := oneIn(t.Independent); n > 1 {
		t.OneIn = n
	}
	return t
}

// oneIn bounds the rate of differences after a number of independent inputs without one:
// with a confidence of 95 % it is at most 3/inputs (0.05 > e^-3), returned as one in n.
func oneIn(inputs int) int { return inputs / 3 }

// bound writes the bound on the rate of differences.
func (t *Tested) bound() string {
	switch {
	case t.Asked == 0:
		return "nothing was compared"
	case t.Of > 0 && uint64(t.Asked) >= t.Of:
		return "no differences: all inputs of this kind were compared"
	case t.Of > 0:
		return fmt.Sprintf("no bound: enumerated, %d in all", t.Of)
	case t.OneIn == 0:
		return "no bound: too few"
	}
	return fmt.Sprintf("one in %d", t.OneIn)
}

// confidence writes how much was tested.
func (t *Report) confidence() string {
	n, least, failed := 0, 0, 0
	for _, c := range t.Classes {
		n += c.Asked
		failed += c.Failed
		if c.Name != codesName && (least == 0 || c.Asked < least) { // the class of all codes may be small
			least = c.Asked
		}
	}
	s := fmt.Sprintf("%d dot products of %d kinds, at least %d of each; none differs", n, len(t.Classes), least)
	if failed > 0 {
		s += fmt.Sprintf("; on %d others the unit fails", failed)
	}
	return t.qualified(s)
}

// confident writes the weakest bound, to follow the sentence of confidence.
func (t *Report) confident() string {
	var worst *Tested
	for i := range t.Classes {
		if c := &t.Classes[i]; c.Independent > 0 && (worst == nil || c.OneIn < worst.OneIn) {
			worst = c
		}
	}
	switch {
	case worst == nil:
		return "This gives no bound for untested inputs: the inputs were enumerated, not drawn."
	case worst.OneIn == 0:
		return fmt.Sprintf("This gives no bound for untested inputs: of %s only %d were drawn independently.", worst.Name, worst.Independent)
	}
	return fmt.Sprintf("For every randomly drawn kind, at most one input in %d differs (95 %% confidence for each kind). The weakest kind is %s with %d independent inputs; inputs that share a row or column of a tile are not independent.",
		worst.OneIn, worst.Name, worst.Independent)
}
