// Package grouping divides the terms of a stage into the groups that it sums.
package grouping

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Of returns the groups of terms that a stage sums first, in new slices; no group is
// empty. The two interpreters have code of their own.
func Of[T any](s *mma.Stage, terms []T) [][]T {
	n, size := len(terms), int(s.Group)
	stride := 1
	switch {
	case s.Split == mma.Interleaved:
		if stride = min(size, n); s.Deep {
			stride = (n + size - 1) / size
		}
		size = n
	case size == 0:
		size = n
	}
	var groups [][]T
	for first := 0; first < n; first += size {
		for r := range stride {
			var group []T
			for i := first + r; i < min(n, first+size); i += stride {
				group = append(group, terms[i])
			}
			groups = append(groups, group)
		}
	}
	return groups
}
