package minimize

import (
	"slices"
	"testing"
)

// TestSteps holds that with few values two rounds find any threshold, and that
// with many there are few steps.
func TestSteps(t *testing.T) {
	p := &proposals{}
	for n := range 513 {
		list := p.steps(n)
		if len(list) > 48 || n > 0 && (list[0] != n || list[len(list)-1] != 1) {
			t.Fatalf("steps to %d: %v", n, list)
		}
		for threshold := range n + 1 {
			left := threshold
			for range 2 {
				left -= largest(p.steps(n-threshold+left), left)
			}
			if left != 0 {
				t.Fatalf("threshold %d of %d: %d left", threshold, n, left)
			}
		}
	}
	p.values = make([]int, few+1)
	if got := p.steps(100); !slices.Equal(got, []int{100, 50, 25, 12, 6, 3, 1}) {
		t.Errorf("steps to 100 with many values: %v", got)
	}
}

// largest returns the largest step that is not beyond a threshold.
func largest(steps []int, threshold int) int {
	for _, d := range steps {
		if d <= threshold {
			return d
		}
	}
	return 0
}

// TestMerges holds what is merged with what.
func TestMerges(t *testing.T) {
	l := newLayout(half, 2)
	at := func(text string) *candidate { return l.candidate(l.vector(parse(t, half, 2, text))) }
	base := at("3fff,3c01 3c00,3c00 3fc00000")
	for _, c := range []struct {
		why  string
		hits []string
		want []string
	}{
		{"one success", []string{"3ffe,3c01 3c00,3c00 3fc00000"}, nil},
		{"different elements", []string{"3c00,3c01 3c00,3c00 3fc00000", "3fff,3c00 3c00,3c00 3fc00000", "3fff,3c01 3c00,3c00 00000000"},
			[]string{"3c00,3c00 3c00,3c00 3fc00000", "3c00,3c00 3c00,3c00 00000000"}},
		{"different bits", []string{"3ffe,3c01 3c00,3c00 3fc00000", "3ffb,3c01 3c00,3c00 3fc00000"}, []string{"3ffa,3c01 3c00,3c00 3fc00000"}},
		{"bits set and cleared", []string{"3ffe,3c01 3c00,3c00 3fc00000", "bfff,3c01 3c00,3c00 3fc00000"}, []string{"bffe,3c01 3c00,3c00 3fc00000"}},
		{"a contradiction left out", []string{"3ffc,3c01 3c00,3c00 3fc00000", "3ffa,3c01 3c00,3c00 3fc00000", "3fff,3c01 3c00,3c00 00000000"},
			[]string{"3ffc,3c01 3c00,3c00 00000000"}},
		{"nothing new", []string{"3c00,3c00 3c00,3c00 3fc00000", "3fff,3c00 3c00,3c00 3fc00000"}, nil},
	} {
		var hits []*candidate
		for _, h := range c.hits {
			hits = append(hits, at(h))
		}
		var got, want []id
		for _, m := range l.merges(base, hits) {
			got = append(got, m.id)
		}
		for _, text := range c.want {
			want = append(want, at(text).id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %x, want %x", c.why, got, want)
		}
	}
}
