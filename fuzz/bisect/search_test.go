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
			r, err := search(n, func(v int) (verdict, error) {
				tests++
				if v >= first {
					return asAfter, nil
				}
				return asBefore, nil
			})
			if err != nil || !r.exact() || r.new != first || tests > bits.Len(uint(n)) {
				t.Errorf("%d of %d: %+v after %d tests, %v", first, n, r, tests, err)
			}
		}
	}
}

// TestSkipped passes over versions that cannot be tested.
func TestSkipped(t *testing.T) {
	for _, c := range []struct {
		versions string // o as before, n as after, - not to be tested
		want     span
	}{
		{"oo-nn", span{1, 3}},
		{"o---n", span{0, 4}},
		{"----n", span{-1, 4}},
		{"-o-nn", span{1, 3}},
		{"ooon-", span{2, 3}},
		{"-oonn", span{2, 3}},
	} {
		asked := map[int]bool{}
		r, err := search(len(c.versions), func(v int) (verdict, error) {
			if asked[v] {
				t.Errorf("%s: version %d is tested twice", c.versions, v)
			}
			asked[v] = true
			return map[byte]verdict{'o': asBefore, 'n': asAfter, '-': untested}[c.versions[v]], nil
		})
		if err != nil || r != c.want || r.exact() != (c.want.new-c.want.old == 1) {
			t.Errorf("%s: %+v, %v", c.versions, r, err)
		}
	}
	broken := errors.New("broken")
	if _, err := search(3, func(int) (verdict, error) { return asBefore, broken }); err != broken {
		t.Error(err)
	}
}
