package triage

import (
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// tallies counts for programs the cases in which they are wrong, a batch of cases after the other
// and no more than somebody has asked about: programs that have changes in common lie between the
// base and many others.
type tallies struct {
	ev     *evidence.Evidence
	counts map[mma.Params][]int // by program: the misses in the first batches; nil if it is not valid
	buf    []byte
}

// atMost reports whether a program is wrong in no more of the cases than so many. It takes the batches
// from number first on, of which the counts of a program have to have all before.
func (t *tallies) atMost(p *mma.Params, batches []*evidence.Cases, first, most int) bool {
	counts, known := t.counts[*p]
	if known && counts == nil {
		return false
	}
	var m *sim.Model
	for i, c := range batches {
		if first+i == len(counts) {
			if m == nil {
				var err error
				if m, err = sim.New(t.ev.Formats, t.ev.K, *p); err != nil {
					t.counts[*p] = nil
					return false
				}
			}
			counts = append(counts, len(c.Want)-t.ev.Score(m, c, &t.buf))
			t.counts[*p] = counts
		}
		if most -= counts[first+i]; most < 0 {
			return false
		}
	}
	return true
}
