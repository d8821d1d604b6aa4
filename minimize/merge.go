package minimize

import "slices"

// merges returns the best of some candidates with the changes of the others
// added: of the second, of the second and third, and so on. A change that
// touches a bit which an earlier one has set otherwise is left out.
func (l *layout) merges(base candidate, hits []candidate) []candidate {
	var list []candidate
	v := slices.Clone(hits[0].v)
	for _, h := range hits[1:] {
		if merge(v, base.v, h.v) {
			list = append(list, l.candidate(slices.Clone(v)))
		}
	}
	return list
}

// merge adds the change from base to other to v, and says whether it is
// compatible and changes anything.
func merge(v, base, other vector) bool {
	news := false
	for i, code := range other {
		done, change := v[i]^base[i], code^base[i]
		if done == change {
			continue
		}
		if done&change != 0 {
			return false
		}
		news = news || change != 0
	}
	if !news {
		return false
	}
	for i, code := range other {
		v[i] = base[i] ^ (v[i] ^ base[i] | code ^ base[i])
	}
	return true
}
