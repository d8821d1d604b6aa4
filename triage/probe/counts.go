package probe

import "slices"

// counts say for every pair of terms how many terms vanish with U at one, -U at the
// other and a small number everywhere else: those that are added to U or -U before
// these cancel, themselves included.
type counts [][]int

func newCounts(n int) counts {
	m := make(counts, n)
	for i := range m {
		m[i] = make([]int, n)
	}
	return m
}

// set sets the count of a pair.
func (m counts) set(i, j, n int) { m[i][j], m[j][i] = n, n }

// counts returns the counts that a tree of n terms gives.
func (t *Tree) counts(n int) counts {
	m := newCounts(n)
	t.count(m)
	return m
}

func (t *Tree) count(m counts) {
	for x, a := range t.Children {
		for _, b := range t.Children[x+1:] {
			n := t.size()
			if t.Kind == Exact {
				n = a.size() + b.size()
			}
			for _, i := range a.Terms() {
				for _, j := range b.Terms() {
					m.set(i, j, n)
				}
			}
		}
		a.count(m)
	}
}

// tree returns the tree that gives these counts. ok is false if there is none of our
// kinds.
func (m counts) tree() (t *Tree, ok bool) {
	all := make([]int, len(m))
	for i := range all {
		all[i] = i
	}
	t, ok = m.grow(all)
	if !ok {
		return nil, false
	}
	for i, row := range t.counts(len(m)) {
		if !slices.Equal(row, m[i]) {
			return nil, false
		}
	}
	return t, true
}

// grow returns the tree of a set of terms.
func (m counts) grow(set []int) (t *Tree, ok bool) {
	if len(set) == 1 {
		return &Tree{Kind: Leaf, Term: set[0]}, true
	}
	parts, kind := m.divide(set)
	if len(parts) < 2 {
		return nil, false
	}
	t = &Tree{Kind: kind}
	for _, s := range parts {
		c, ok := m.grow(s)
		if !ok {
			return nil, false
		}
		t.Children = append(t.Children, c)
	}
	return t, true
}

// divide returns the terms of each child of a node, and the node's kind.
func (m counts) divide(set []int) ([][]int, Kind) {
	for _, j := range set[1:] {
		if m[set[0]][j] >= len(set) {
			parts := m.classes(set)
			if len(parts) == 2 {
				return parts, Add
			}
			return parts, Swamped
		}
	}
	return m.disjoint(nil, set), Exact
}

// classes divides the terms of a node that swamps: two terms are in one child if
// they meet before all terms have.
func (m counts) classes(set []int) [][]int {
	var parts [][]int
	for left := set; len(left) > 0; {
		part, rest := m.split(left, len(set)-1)
		parts, left = append(parts, part), rest
	}
	return parts
}

// split divides terms into the first with those whose count with it is at most n,
// and the rest.
func (m counts) split(terms []int, n int) (in, out []int) {
	for i, j := range terms {
		if i == 0 || m[terms[0]][j] <= n {
			in = append(in, j)
		} else {
			out = append(out, j)
		}
	}
	return in, out
}

// disjoint divides the terms of an exact node. A child of n leaves is closed: U and
// -U in it make at most n terms vanish; and in two children they make all terms of
// both vanish. parts are the children found so far, left are the other terms. It
// returns nil if there is no such division.
func (m counts) disjoint(parts [][]int, left []int) [][]int {
	if len(left) == 0 {
		return parts
	}
	for n := len(m) - 1; n >= 1; n-- {
		part, rest := m.split(left, n)
		if len(part) != n || !m.apart(part, parts) {
			continue
		}
		if all := m.disjoint(append(parts[:len(parts):len(parts)], part), rest); len(all) > 1 {
			return all
		}
	}
	return nil
}

// apart reports whether the counts of a part with others are those of children of an
// exact node.
func (m counts) apart(part []int, others [][]int) bool {
	for _, o := range others {
		for _, i := range part {
			for _, j := range o {
				if m[i][j] != len(part)+len(o) {
					return false
				}
			}
		}
	}
	return true
}
