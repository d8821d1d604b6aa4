package finding

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   []int
		n    int
		want int
	}{
		{"none", nil, 100, 0},
		{"one", []int{50}, 100, 0},
		{"constant", []int{5, 37, 69}, 100, 32},
		{"not constant", []int{5, 37, 70}, 100, 0},
		{"one is missing before", []int{37, 69}, 100, 0},
		{"one is missing behind", []int{5, 37}, 100, 0},
		{"all", []int{0, 1, 2, 3}, 4, 0},
		{"the longest", []int{255, 511, 767, 1023}, 1024, 256},
		{"too long", []int{256, 513, 770}, 1024, 0},
	} {
		if got := distance(tc.at, tc.n); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
