package mma

// Sequence returns the order in which k products are taken.
func Sequence(o Order, k int) []int {
	seq := make([]int, 0, k)
	pick := func(want func(i int) bool) {
		for i := range k {
			if want(i) {
				seq = append(seq, i)
			}
		}
	}
	switch o {
	case Ascending:
		pick(func(int) bool { return true })
	case Descending:
		for i := k - 1; i >= 0; i-- {
			seq = append(seq, i)
		}
	case SwapPairs:
		for i := range k {
			if i^1 < k {
				seq = append(seq, i^1)
			} else {
				seq = append(seq, i)
			}
		}
	case Split4:
		pick(func(i int) bool { return i%4 < 2 })
		pick(func(i int) bool { return i%4 >= 2 })
	case EvenOdd:
		pick(func(i int) bool { return i%2 == 0 })
		pick(func(i int) bool { return i%2 == 1 })
	case Halves:
		h := k / 2
		for i := range h {
			seq = append(seq, i, i+h)
		}
		if k%2 == 1 {
			seq = append(seq, k-1)
		}
	}
	return seq
}
