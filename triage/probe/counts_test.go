package probe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// randomTree returns a tree of terms, with every kind of node.
func randomTree(r *rand.Rand, terms []int) *Tree {
	if len(terms) == 1 {
		return &Tree{Kind: Leaf, Term: terms[0]}
	}
	parts := 2 + r.IntN(min(len(terms)-1, 4))
	t := &Tree{Kind: Add}
	if parts > 2 {
		t.Kind = []Kind{Swamped, Exact}[r.IntN(2)]
	}
	for ; parts > 0; parts-- {
		n := 1 + r.IntN(len(terms)-parts+1)
		if parts == 1 {
			n = len(terms)
		}
		t.Children = append(t.Children, randomTree(r, terms[:n]))
		terms = terms[n:]
	}
	return t
}

// TestTreeOfCounts builds trees from the counts that random trees give. Only trees with
// exact sums share their counts with others.
func TestTreeOfCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for range 500 {
		n := 2 + r.IntN(16)
		want := randomTree(r, r.Perm(n))
		got, ok := want.counts(n).tree()
		if !ok {
			t.Fatalf("no tree gives the counts of %s", want.Formula(n))
		}
		exact := strings.Contains(want.Formula(n), "{")
		if got.Formula(n) != want.Formula(n) && (!exact || !slices.EqualFunc(got.counts(n), want.counts(n), slices.Equal)) {
			t.Errorf("%s, want %s", got.Formula(n), want.Formula(n))
		}
	}
}

// TestNoTree finds no tree for counts that no tree gives.
func TestNoTree(t *testing.T) {
	for _, m := range []counts{
		{{0, 2, 3}, {2, 0, 2}, {3, 2, 0}},                        // 0 meets 1 first, and 1 meets 2 first
		{{0, 3, 3, 3}, {3, 0, 3, 3}, {3, 3, 0, 3}, {3, 3, 3, 0}}, // every pair is in a sum of three terms
		{{0, 2, 4, 4}, {2, 0, 4, 4}, {4, 4, 0, 3}, {4, 4, 3, 0}}, // the sum of 2 and 3 has a third term
		{{0, 1}, {1, 0}}, // a term does not meet the other
	} {
		if got, ok := m.tree(); ok {
			t.Errorf("%v: %s", m, got.Formula(len(m)))
		}
	}
}
