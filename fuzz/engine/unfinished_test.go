package engine

import "testing"

// TestUnfinishedText says what was compared and what was not.
func TestUnfinishedText(t *testing.T) {
	for _, tc := range []struct {
		x    Unfinished
		want string
	}{
		{Unfinished{Why: "interrupted", Dots: 1024}, "incomplete: interrupted; 1,024 dot products were compared"},
		{Unfinished{Why: "interrupted", Dots: 1024, Of: 3000, Unexamined: 7}, "incomplete: interrupted; 1,024 of 3,000 dot products were compared"},
		{Unfinished{Why: "interrupted", Dots: 3104, Of: 3000, Unexamined: 1}, "incomplete: interrupted; all 3,104 dot products were compared, and 1 mismatch not examined"},
		{Unfinished{Why: "it is gone", Dots: 9, Of: 30, OfPairs: 3, Pairs: 1, Instructions: []string{"x", "y"}},
			"incomplete: it is gone; 9 of 30 dot products were compared; 1 of 3 pairs are complete, not x, y"},
	} {
		if got := tc.x.String(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
