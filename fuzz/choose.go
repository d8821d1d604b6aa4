package fuzz

import "slices"

// candidate is a differing case of which a finding may be made.
type candidate struct {
	x *examiner
	example
	bucket, detail string
	pure           bool // plain values, explained by the primary cause alone
	number         int  // of the finding within its bucket
}

// pure says whether a kind shows its primary cause best.
func (k *kind) pure() bool { return k.name() == string(k.cause.Primary) }

// The reasons to make a finding of a candidate, the best first.
const (
	newCause   = iota // the first of its primary cause for the two targets
	newForInst        // for the instruction
	newDetail         // of its detail for the two targets
	another           // of a bucket of the instruction
	reasons
	noReason = reasons
)

// choose returns the candidates of which findings are made: one of each primary cause of
// two targets, and others as long as there is room.
func (c *Campaign) choose(xs []*examiner) []*candidate {
	var all []*candidate
	for _, x := range xs {
		if x == nil {
			continue
		}
		x.sortCandidates()
		for i := range x.candidates {
			all = append(all, &x.candidates[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	kept := c.kept()
	var chosen []*candidate
	for reason := range reasons {
		all = slices.DeleteFunc(all, func(cd *candidate) bool {
			k := kept[cd.x.p.targets()]
			if k.reason(cd, c.cfg.PerBucket) != reason || !k.room(reason, c.cfg.MaxFindings) {
				return false
			}
			if c.wanted(cd) {
				k.take(cd)
				chosen = append(chosen, cd)
			}
			return true
		})
	}
	return chosen
}

// sortCandidates has the first candidate of each bucket the one that shows it best.
func (x *examiner) sortCandidates() {
	slices.SortStableFunc(x.candidates, func(a, b candidate) int {
		switch {
		case a.pure == b.pure:
			return 0
		case a.pure:
			return -1
		}
		return 1
	})
}

// wanted asks the configuration whether a candidate is worth a finding.
func (c *Campaign) wanted(cd *candidate) bool {
	if c.cfg.Keep == nil {
		return true
	}
	x := cd.x
	b := Bucket{Name: cd.bucket}
	for _, have := range []*Bucket{x.st.Buckets[cd.bucket], x.d.Buckets[cd.bucket]} {
		if have != nil {
			b.Add(have)
		}
	}
	return c.cfg.Keep(x.index, &b, x.verdict)
}

// targets are the two targets of a pair.
type targets [2]string

func (p *pairRun) targets() targets { return targets{p.TargetA, p.TargetB} }

// keptFindings is what findings two targets have.
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

// kept returns the findings that there are.
func (c *Campaign) kept() map[targets]*keptFindings {
	all := map[targets]*keptFindings{}
	for i, p := range c.pairs {
		k := all[p.targets()]
		if k == nil {
			k = &keptFindings{causes: map[string]bool{}, details: map[string]bool{}, numbers: map[inBucket]int{}}
			all[p.targets()] = k
		}
		for _, f := range c.state.Pairs[i].Findings {
			k.add(i, f.Bucket, f.Detail)
		}
	}
	return all
}

// add counts a finding and returns its number.
func (k *keptFindings) add(pair int, bucket, detail string) int {
	k.n++
	k.causes[bucket], k.details[detail] = true, true
	k.numbers[inBucket{pair, bucket}]++
	return k.numbers[inBucket{pair, bucket}]
}

func (k *keptFindings) take(cd *candidate) {
	cd.number = k.add(cd.x.index, cd.bucket, cd.detail)
}

// reason says why a finding is to be made of a candidate.
func (k *keptFindings) reason(cd *candidate, perBucket int) int {
	have := k.numbers[inBucket{cd.x.index, cd.bucket}]
	switch {
	case !k.causes[cd.bucket]:
		return newCause
	case have == 0:
		return newForInst
	case !k.details[cd.detail]:
		return newDetail
	case have < perBucket:
		return another
	}
	return noReason
}

// room says whether there is room for one more finding. A third of all places is for
// primary causes, also such as have not come yet.
func (k *keptFindings) room(reason, most int) bool {
	if reason == newCause {
		return k.n < most
	}
	return k.n+max(0, (most+2)/3-len(k.causes)) < most
}
