package mma

import (
	"slices"
	"testing"
)

func TestSequence(t *testing.T) {
	for _, tc := range []struct {
		o    Order
		k    int
		want []int
	}{
		{Ascending, 1, []int{0}},
		{Ascending, 5, []int{0, 1, 2, 3, 4}},
		{Descending, 1, []int{0}},
		{Descending, 4, []int{3, 2, 1, 0}},
		{SwapPairs, 1, []int{0}},
		{SwapPairs, 4, []int{1, 0, 3, 2}},
		{SwapPairs, 5, []int{1, 0, 3, 2, 4}},
		{Split4, 2, []int{0, 1}},
		{Split4, 3, []int{0, 1, 2}},
		{Split4, 8, []int{0, 1, 4, 5, 2, 3, 6, 7}},
		{Split4, 10, []int{0, 1, 4, 5, 8, 9, 2, 3, 6, 7}},
		{EvenOdd, 1, []int{0}},
		{EvenOdd, 7, []int{0, 2, 4, 6, 1, 3, 5}},
		{Halves, 1, []int{0}},
		{Halves, 2, []int{0, 1}},
		{Halves, 6, []int{0, 3, 1, 4, 2, 5}},
		{Halves, 7, []int{0, 3, 1, 4, 2, 5, 6}},
	} {
		if got := Sequence(tc.o, tc.k); !slices.Equal(got, tc.want) {
			t.Errorf("%s of %d: %v, want %v", tc.o, tc.k, got, tc.want)
		}
	}
}

// TestSequencePermutes checks that every order of every length takes each
// product once.
func TestSequencePermutes(t *testing.T) {
	for o := range Ascending.names() {
		for k := 1; k <= MaxK; k++ {
			seq := Sequence(Order(o), k)
			slices.Sort(seq)
			if !slices.Equal(seq, Sequence(Ascending, k)) {
				t.Errorf("%s of %d is no permutation: %v", Order(o), k, seq)
			}
		}
	}
}
