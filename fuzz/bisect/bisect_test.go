package bisect

import (
	"errors"
	"math/bits"
	"testing"
)

// TestSearch looks for every change among every number of versions.
func TestSearch(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for first := range n {
			tests := 0
			r, err := Search(n, func(v int) (Verdict, error) {
				tests++
				if v >= first {
					return New, nil
				}
				return Old, nil
			})
			if err != nil || !r.Exact() || r.New != first || tests > bits.Len(uint(n)) {
				t.Errorf("%d of %d: %+v after %d tests, %v", first, n, r, tests, err)
			}
		}
	}
}

// TestSkipped passes over versions that cannot be tested.
func TestSkipped(t *testing.T) {
	for _, c := range []struct {
		versions string // o as before, n as after, - not to be tested
		want     Range
	}{
		{"oo-nn", Range{1, 3}},
		{"o---n", Range{0, 4}},
		{"----n", Range{-1, 4}},
		{"-o-nn", Range{1, 3}},
		{"ooon-", Range{2, 3}},
		{"-oonn", Range{2, 3}},
	} {
		asked := map[int]bool{}
		r, err := Search(len(c.versions), func(v int) (Verdict, error) {
			if asked[v] {
				t.Errorf("%s: version %d is tested twice", c.versions, v)
			}
			asked[v] = true
			return map[byte]Verdict{'o': Old, 'n': New, '-': Skipped}[c.versions[v]], nil
		})
		if err != nil || r != c.want || r.Exact() != (c.want.New-c.want.Old == 1) {
			t.Errorf("%s: %+v, %v", c.versions, r, err)
		}
	}
	broken := errors.New("broken")
	if _, err := Search(3, func(int) (Verdict, error) { return Old, broken }); err != broken {
		t.Error(err)
	}
}
