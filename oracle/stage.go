package oracle

import "github.com/mmafuzz/mmafuzz/sim/mma"

// stage sums the groups of a stage; an absent stage leaves the terms as they
// are. With scale, each sum is multiplied by the scales of its block.
func (e *evaluator) stage(terms []term, s mma.Stage, scale bool) []term {
	if s.Sum == mma.Off {
		return terms
	}
	var sums []term
	size := int(s.Group)
	if s.Deep && s.Split == mma.Interleaved {
		size = (len(terms) + size - 1) / size
	}
	for _, group := range split(terms, s.Split, size) {
		t := e.group(sorted(group, s.Sort), s)
		if s.Fixed && !t.null {
			t.e = 0
		}
		if scale {
			t = e.scaled(t, group[0].element)
		}
		sums = append(sums, t)
	}
	if s.Deep && len(sums) > 1 {
		return e.stage(sums, s, false)
	}
	return sums
}

// split divides terms into groups, none of which is empty.
func split(terms []term, how mma.Split, n int) [][]term {
	var groups [][]term
	if how == mma.Interleaved {
		for r := range min(n, len(terms)) {
			groups = append(groups, dealt(terms, r, n))
		}
		return groups
	}
	if n == 0 {
		n = len(terms)
	}
	for lo := 0; lo < len(terms); lo += n {
		groups = append(groups, terms[lo:min(lo+n, len(terms))])
	}
	return groups
}

// dealt returns the terms r, r+n, r+2n, ...
func dealt[T any](terms []T, r, n int) []T {
	if n == 1 {
		return terms
	}
	var out []T
	for ; r < len(terms); r += n {
		out = append(out, terms[r])
	}
	return out
}

// group adds the terms of one group.
func (e *evaluator) group(terms []term, s mma.Stage) term {
	switch s.Sum {
	case mma.Sequential:
		sum := terms[0]
		for _, t := range terms[1:] {
			sum = e.add(s, sum, t)
		}
		return sum
	case mma.Pairwise:
		return e.tree(terms, s, neighbours)
	case mma.PairHalves:
		return e.tree(terms, s, halves)
	}
	return e.add(s, terms...)
}

// add is a fused sum with the stage's alignment and rounding.
func (e *evaluator) add(s mma.Stage, terms ...term) term {
	t := e.fused(terms, nil, mma.Join{Align: s.Align}, s.Round.Mode)
	if s.Plus && t.isZero() {
		t.neg = false
	}
	return e.round(t, s.Round)
}

// tree adds the pairs of each level until one term is left.
func (e *evaluator) tree(terms []term, s mma.Stage, pairs func([]term) [][]term) term {
	for len(terms) > 1 {
		var sums []term
		for _, p := range pairs(terms) {
			if len(p) == 2 {
				sums = append(sums, e.add(s, p...))
			} else {
				sums = append(sums, p[0])
			}
		}
		terms = sums
	}
	return terms[0]
}

// neighbours pairs t[0] with t[1], t[2] with t[3] and so on; an odd last term
// stays alone.
func neighbours(t []term) [][]term {
	return split(t, mma.Adjacent, 2)
}

// halves pairs t[i] with t[i+h], h = ceil(n/2); an odd middle term stays alone.
func halves(t []term) [][]term {
	return split(t, mma.Interleaved, (len(t)+1)/2)
}
