package minimize

import "slices"

// merges returns the first of some candidates with the changes of the others
// added: of the second, of the second and third, and so on in growing steps to
// all. A change that contradicts an earlier one is left out.
func (l *layout) merges(base *candidate, hits []*candidate) []*candidate {
	var list []*candidate
	v := slices.Clone(hits[0].v)
	added, next := 0, 1
	for i, h := range hits[1:] {
		if merge(v, base.v, h.v) {
			added++
		}
		if added >= next || added > 0 && i == len(hits)-2 {
			list = append(list, l.candidate(slices.Clone(v)))
			next = added + 1 + added/2
		}
	}
	return list
}

// merge adds the change from base to other to v, and reports whether v has changed. It
// does nothing if in any element the bits that v and other have flipped overlap but are
// not the same.
func merge(v, base, other vector) bool {
	added := false
	for i := range v {
		done, more := v[i]^base[i], other[i]^base[i]
		if done != more && done&more != 0 {
			return false
		}
		added = added || more&^done != 0
	}
	if added {
		for i := range v {
			v[i] |= other[i] &^ base[i]
			v[i] &^= base[i] &^ other[i]
		}
	}
	return added
}
