package finding

import (
	"slices"
)

// A few of the cases in buckets become findings: one of each primary cause of two targets
// first, then others as long as there is room.

// The reasons to make a finding of a candidate, the best first.
const (
	newCause   = iota // the first of its primary cause for the two targets
	newForInst        // the first of its primary cause for the instruction
	newDetail         // the first of its detail for the two targets
	another           // one more of its bucket
	reasons
	noReason = reasons
)

// choose returns the candidates that become findings: one of each primary cause of
// two targets first, then others as long as there is room.
func (t *Finder) choose(all []*Gathered) []*Case {
	var cases []*Case
	states := make([]*PairState, len(all))
	for i, g := range all {
		states[i] = g.Before
		if g.x != nil {
			g.x.sortCandidates()
			cases = append(cases, g.x.candidates...)
		}
	}
	if len(cases) == 0 {
		return nil
	}
	kept := keptIn(states)
	var chosen []*Case
	for reason := range reasons {
		cases = slices.DeleteFunc(cases, func(f *Case) bool {
			k := kept[t.pairs[f.Pair].targets()]
			if k.reason(f, t.PerBucket) != reason || !k.room(reason, t.MaxFindings) {
				return false
			}
			if t.wanted(all[f.Pair].x, f) {
				f.Number = k.add(f)
				chosen = append(chosen, f)
			}
			return true
		})
	}
	return chosen
}

// sortCandidates puts first the candidates that show their bucket best: those whose values
// differ by the primary cause alone, and of those that depend on what is around them those that do so
// among zeros.
func (x *pairTriage) sortCandidates() {
	rest := func(f *Case) int {
		switch {
		case f.Detail != f.Bucket:
			return 2
		case f.Place == "" || f.spot != nil:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(x.candidates, func(a, b *Case) int { return rest(a) - rest(b) })
}

// wanted asks the configuration whether a candidate is worth a finding.
func (t *Finder) wanted(x *pairTriage, f *Case) bool {
	if t.Keep == nil {
		return true
	}
	b := Bucket{Name: f.Bucket}
	for _, have := range []*Bucket{x.st.Buckets[f.Bucket], x.d.Buckets[f.Bucket]} {
		if have != nil {
			b.Add(have)
		}
	}
	return t.Keep(x.index, &b, x.verdict)
}

// keptFindings counts the findings of two targets.
type keptFindings struct {
	n       int
	causes  map[string]bool
	details map[string]bool
	numbers map[inBucket]int
}

type inBucket struct {
	pair   int
	bucket string
}

// keptIn counts the findings of every two targets.
func keptIn(states []*PairState) map[targets]*keptFindings {
	all := map[targets]*keptFindings{}
	for _, p := range states {
		k := all[targets{p.TargetA, p.TargetB}]
		if k == nil {
			k = &keptFindings{causes: map[string]bool{}, details: map[string]bool{}, numbers: map[inBucket]int{}}
			all[targets{p.TargetA, p.TargetB}] = k
		}
		for _, f := range p.Findings {
			k.add(f)
		}
	}
	return all
}

// add counts a finding and returns its number.
func (k *keptFindings) add(f *Case) int {
	k.n++
	k.causes[f.Bucket], k.details[f.Detail] = true, true
	k.numbers[inBucket{f.Pair, f.Bucket}]++
	return k.numbers[inBucket{f.Pair, f.Bucket}]
}

// reason returns the best reason to make a finding of a candidate.
func (k *keptFindings) reason(f *Case, perBucket int) int {
	have := k.numbers[inBucket{f.Pair, f.Bucket}]
	switch {
	case !k.causes[f.Bucket]:
		return newCause
	case have == 0:
		return newForInst
	case !k.details[f.Detail]:
		return newDetail
	case have < perBucket:
		return another
	}
	return noReason
}

// Full reports whether two targets have as many findings as they may have but for places that
// are kept for causes that have not been seen yet.
func Full(states []*PairState, most int) bool {
	for _, k := range keptIn(states) {
		if !k.room(another, most) {
			return true
		}
	}
	return false
}

// room reports whether there is room for one more finding. A third of all places is kept for
// primary causes, including those that have not been seen yet.
func (k *keptFindings) room(reason, most int) bool {
	if reason == newCause {
		return k.n < most
	}
	return k.n+max(0, (most+2)/3-len(k.causes)) < most
}
