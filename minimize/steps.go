package minimize

import "slices"

// steps returns distances 1..n to try on the way to a target n away, largest
// first: all of them, or of very many the largest and the smallest at distances
// that double.
func steps(n int) []int {
	const all = 32
	var list []int
	if n <= all {
		for d := n; d > 0; d-- {
			list = append(list, d)
		}
		return list
	}
	for d := 1; d < n; d *= 2 {
		list = append(list, d, n-d)
	}
	list = append(list, n, n/2)
	slices.Sort(list)
	list = slices.Compact(list)
	slices.Reverse(list)
	return list
}
