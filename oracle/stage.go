package oracle

import "github.com/mmafuzz/mmafuzz/sim/mma"

// stage sums the groups of a stage; an absent stage leaves the terms as they
// are. With scale, each sum is multiplied by the scales of its block.
func (e *evaluator) stage(terms []term, s *mma.Stage, scale bool) []term {
	if s.Sum == mma.Off {
		return terms
	}
	size := int(s.Group)
	if s.Deep && s.Split == mma.Interleaved {
		size = (len(terms) + size - 1) / size
	}
	n := groups(len(terms), s.Split, size)
	sums := e.space(n)
	for i := range n {
		group := e.member(terms, s.Split, size, i)
		t := e.group(sorted(group, s.Sort), s)
		if s.Fixed && !t.null {
			t.e = 0
		}
		if scale {
			e.scale(&t, group[0].element)
		}
		sums = append(sums, t)
	}
	if s.Deep && len(sums) > 1 {
		return e.stage(sums, s, false)
	}
	return sums
}

// groups is the number of groups into which a Split divides terms, none of which is empty.
func groups(terms int, how mma.Split, size int) int {
	switch {
	case how == mma.Interleaved:
		return min(size, terms)
	case size == 0:
		return min(1, terms)
	}
	return (terms + size - 1) / size
}

// member returns group i of a Split.
func (e *evaluator) member(terms []term, how mma.Split, size, i int) []term {
	switch {
	case how == mma.Interleaved:
		return e.dealt(terms, i, size, 1)
	case size == 0:
		return terms
	}
	return terms[i*size : min((i+1)*size, len(terms))]
}

// dealt returns the elements r, r+n, r+2n, ... of a sequence, each of which has some terms.
func (e *evaluator) dealt(sequence []term, r, n, each int) []term {
	if n == 1 {
		return sequence[r*each:]
	}
	out := e.space(len(sequence))
	for lo := r * each; lo < len(sequence); lo += n * each {
		out = append(out, sequence[lo:lo+each]...)
	}
	return out
}

// group adds the terms of one group.
func (e *evaluator) group(terms []term, s *mma.Stage) term {
	switch s.Sum {
	case mma.Sequential:
		sum := terms[0]
		for _, t := range terms[1:] {
			sum = e.add(s, append(e.space(2), sum, t))
		}
		return sum
	case mma.Pairwise:
		return e.tree(terms, s, mma.Adjacent)
	case mma.PairHalves:
		return e.tree(terms, s, mma.Interleaved)
	}
	return e.add(s, terms)
}

// add is a fused sum with the stage's alignment and rounding.
func (e *evaluator) add(s *mma.Stage, terms []term) term {
	t := e.fused(terms, nil, &mma.Join{Align: s.Align}, &s.Round)
	if s.Plus && t.isZero() {
		t.neg = false
	}
	e.round(&t, &s.Round)
	return t
}

// tree adds the pairs of each level until one term is left. Adjacent pairs are t[0] with t[1],
// t[2] with t[3] and so on; interleaved ones t[i] with t[i+h], h = ceil(n/2). An odd term, the
// last or the middle one, stays alone.
func (e *evaluator) tree(terms []term, s *mma.Stage, how mma.Split) term {
	for len(terms) > 1 {
		size, pairs := 2, (len(terms)+1)/2
		if how == mma.Interleaved {
			size = pairs
		}
		sums := e.space(pairs)
		for i := range pairs {
			if p := e.member(terms, how, size, i); len(p) == 2 {
				sums = append(sums, e.add(s, p))
			} else {
				sums = append(sums, p[0])
			}
		}
		terms = sums
	}
	return terms[0]
}
