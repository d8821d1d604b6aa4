package finding

import (
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Where says where in the space of inputs the differing cases of a pair lie, and how far
// their results are apart. It is for reports: nothing is decided by it.
type Where struct {
	Sources map[string]Tally `json:"sources,omitempty"` // by generator: all dot products
	// Ulps counts the cases in which two numbers differ by how far they are apart, in
	// steps between neighbouring codes: element n those from 2^(n-1) on and below 2^n.
	Ulps []uint64 `json:"ulps,omitempty"`
	// Spread counts the traced inputs (a sample) by how many binades the largest and the
	// smallest term of a sum are apart; the last element has all that are wider.
	Spread []Tally `json:"spread,omitempty"`
}

// Tally is a number of dot products, and how many of them differ.
type Tally struct {
	Dots       uint64 `json:"dots"`
	Mismatches uint64 `json:"mismatches"`
}

// Add adds counts.
func (t *Tally) Add(o Tally) {
	t.Dots += o.Dots
	t.Mismatches += o.Mismatches
}

// TallyOf returns the tally of one dot product.
func TallyOf(differs bool) Tally {
	if differs {
		return Tally{1, 1}
	}
	return Tally{1, 0}
}

// SpreadMost is the largest spread that Where counts separately; wider ones are counted
// together.
const SpreadMost = 64

// Add adds the counts of another part of a campaign.
func (w *Where) Add(o *Where) {
	if w.Sources == nil && o.Sources != nil {
		w.Sources = map[string]Tally{}
	}
	for name, t := range o.Sources {
		sum := w.Sources[name]
		sum.Add(t)
		w.Sources[name] = sum
	}
	for n, cases := range o.Ulps {
		if cases > 0 {
			w.AddUlps(n, cases)
		}
	}
	for n, t := range o.Spread {
		if t.Dots > 0 {
			w.AddSpread(n, t)
		}
	}
}

// AddUlps adds cases whose distance has n bits.
func (w *Where) AddUlps(n int, cases uint64) {
	if n >= len(w.Ulps) {
		w.Ulps = append(w.Ulps, make([]uint64, n+1-len(w.Ulps))...)
	}
	w.Ulps[n] += cases
}

// AddSpread adds traced inputs of a spread.
func (w *Where) AddSpread(n int, t Tally) {
	if n = min(n, SpreadMost+1); n >= len(w.Spread) {
		w.Spread = append(w.Spread, make([]Tally, n+1-len(w.Spread))...)
	}
	w.Spread[n].Add(t)
}

// Reset empties w and keeps its memory.
func (w *Where) Reset() { *w = Where{Ulps: w.Ulps[:0], Spread: w.Spread[:0]} }

// Check returns an error if this cannot be the record of an epoch or a chunk of so many dot
// products.
func (w *Where) Check(dots uint64) error {
	const most = 1000 // names of generators
	cases, traced := uint64(0), Tally{}
	for _, n := range w.Ulps {
		cases += min(n, MaxEpochDots)
	}
	for _, t := range w.Spread {
		traced.Add(Tally{min(t.Dots, MaxEpochDots), min(t.Mismatches, MaxEpochDots)})
		if t.Mismatches > t.Dots {
			return errors.New("more inputs of a spread differ than there are")
		}
	}
	if len(w.Ulps) > 65 || len(w.Spread) > SpreadMost+2 || len(w.Sources) > most || cases > dots || traced.Dots > dots {
		return fmt.Errorf("distances of %d cases and spreads of %d inputs, of %d dot products", cases, traced.Dots, dots)
	}
	for name, t := range w.Sources {
		if err := CheckName(name); err != nil || t.Dots > dots || t.Mismatches > t.Dots {
			return fmt.Errorf("%d of %d dot products of %.40q differ", t.Mismatches, t.Dots, name)
		}
	}
	return nil
}

// StepsApart is how many codes two numbers of a format are apart.
func StepsApart(f *fp.Format, x, y uint64) uint64 {
	a, b := x&^f.SignBit(), y&^f.SignBit()
	switch {
	case (x^y)&f.SignBit() != 0:
		return a + b
	case a < b:
		return b - a
	}
	return a - b
}

// SpreadOf is by how many binades the largest and the smallest term of a sum are apart at
// most; ok is false if no sum has two terms.
func SpreadOf(tr *sim.Trace) (spread int, ok bool) {
	for i := range tr.Sums {
		var hi, lo int32
		n := 0
		for j := range tr.Sums[i].Terms {
			t := &tr.Sums[i].Terms[j]
			if t.Kind != sim.Finite || t.Value.IsZero() {
				continue
			}
			e := t.Value.Exponent()
			if n++; n == 1 {
				hi, lo = e, e
			}
			hi, lo = max(hi, e), min(lo, e)
		}
		if n > 1 {
			spread, ok = max(spread, int(hi-lo)), true
		}
	}
	return spread, ok
}
