package triage

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// The inputs on which Closest compares programs.
const (
	closestCorners = 1024 // extremes, before the inputs of gen.Probe
	closestSeed    = 1
)

// Closest returns the program that, of those which compute the same as to on dot products of k
// elements, differs from another one in the fewest labels, and in no part that can be left out; and
// the number of these labels. A program that inference found is one of many that compute the same:
// a difference that others of them do not have is no cause. That two compute the same is tried, on
// extremes and on the inputs of gen.Probe.
func Closest(f mma.Formats, k int, policy oracle.Policy, from, to Program) (Program, int) {
	n := NewAttributor(f, k, policy, from, to)
	want := n.model(n.all())
	if len(n.labels) == 0 || n.from.K != n.to.K || want == nil {
		return to, len(n.labels)
	}
	sp := gen.Spec{Formats: f, K: k}
	next, stop := iter.Pull(batches(f, gen.CornerCases(sp, closestCorners), func(round int) []*mma.Dot {
		return gen.Probe(sp, closestSeed, round, inOrder(&n.from.Params, &n.to.Params)...)
	}))
	defer stop()
	c := alikeTo{policy: policy, want: want, next: next}
	set := search.Fewest(len(n.labels), func(set uint32) bool { return c.same(n.model(set)) })
	few := &between{formats: f, from: n.from, to: n.to, fusion: -1}
	for _, part := range Parts(&n.from.Params, &n.to.Params) {
		if set>>slices.Index(n.labels, part.Label)&1 != 0 {
			few.parts = append(few.parts, part.Changes)
		}
	}
	closest, _ := n.program(set)
	if len(few.parts) <= mostParts {
		closest, _ = few.program(search.LeaveOut(len(few.parts), func(set uint32) bool { return c.same(few.compile(set)) }))
	}
	return closest, bits.OnesCount32(set)
}

// alikeTo compares programs with one.
type alikeTo struct {
	policy oracle.Policy
	want   *sim.Model
	next   func() (*mma.Batch, bool)
	tried  []comparison // the one on which a program failed last is the first
}

// comparison is a batch with the results of the program that others are compared with.
type comparison struct {
	batch *mma.Batch
	want  []byte
}

// same reports whether a program computes the same as the one that is wanted.
func (c *alikeTo) same(m *sim.Model) bool {
	if m == nil {
		return false
	}
	for i := 0; ; i++ {
		if i == len(c.tried) {
			b, ok := c.next()
			if !ok {
				return true
			}
			c.tried = append(c.tried, comparison{b, resultsOf(c.want, b)})
		}
		x := c.tried[i]
		if differ(x.batch.Formats, c.policy, resultsOf(m, x.batch), x.want) {
			c.tried[0], c.tried[i] = c.tried[i], c.tried[0]
			return false
		}
	}
}

// resultsOf returns what a program computes of a batch.
func resultsOf(m *sim.Model, b *mma.Batch) []byte {
	out := make([]byte, b.Dots()*b.Formats.D.Width())
	m.Run(b, out)
	return out
}
