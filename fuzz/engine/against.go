package engine

import (
	"iter"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
)

const (
	againstPerUnit = 4       // cases that a unit keeps which speak against the verdict
	againstFirst   = 1 << 20 // dot products of a pair of which all that agree are looked at
	againstLater   = 8       // of so many later chunks it is one
)

// against keeps a few cases on which the sides agree, while the programs that explain their differences
// say otherwise: a verdict that is made of differing cases alone may claim too many of them. Two models
// are what they are.
func (w *worker) against(p *pair, st *finding.PairState, ch *finding.Chunk, r *Result) {
	if p.Attributor == nil || p.Defect != nil || p.Spec.D.Flags() != 0 || p.A.Model() != nil && p.B.Model() != nil ||
		st.UnstablePair || st.RoundsStochastically(0) || st.RoundsStochastically(1) || len(r.Against) == againstPerUnit ||
		st.Dots > againstFirst && ch.First/uint64(ch.Dots)%againstLater != 0 {
		return
	}
	w.same = slices.AppendSeq(w.same[:0], w.agreeing(ch))
	width := p.Spec.D.Width()
	w.loadResults(p, w.same)
	for j, shown := range w.labels.Shown(p.Attributor, &w.batch, w.same, w.resA, w.resB) {
		if !shown && len(r.Against) < againstPerUnit {
			r.Against = append(r.Against, w.sample(ch, w.same[j], oracle.Same, width))
		}
	}
}

// agreeing are the cases of a chunk that do not differ.
func (w *worker) agreeing(ch *finding.Chunk) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		j := 0
		for i := range int32(ch.Dots) {
			if j < len(w.at) && w.at[j] == i {
				j++
			} else if !yield(i) {
				return
			}
		}
	}
}
