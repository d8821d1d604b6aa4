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

func TestRecurs(t *testing.T) {
	for _, tc := range []struct {
		name          string
		at            []int
		n, every, ins int
		want          bool
	}{
		{"none", nil, 100, 8, 3, false},
		{"all", []int{5, 13, 21, 29}, 32, 8, 3, true},
		{"elsewhere", []int{5, 13, 22, 29}, 32, 8, 3, false},
		{"one input of three does not show it", []int{5, 21, 29, 45}, 48, 8, 3, true},
		{"one is missing", []int{5, 21, 29}, 48, 8, 3, false},
		{"one input alone", []int{5, 29}, 48, 8, 3, false},
		{"no other input comes there", []int{4, 13, 22}, 30, 9, 3, true},
	} {
		if got := recurs(tc.at, tc.n, tc.every, tc.ins); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
