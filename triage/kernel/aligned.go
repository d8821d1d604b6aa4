package kernel

import (
	"maps"
	"slices"
)

// aligned returns two values of JSON in which the shorter one of two lists, such as the levels of a schedule, has nulls
// for what only the other has, so that as few fields as possible differ: a level that is added around others changes
// none of theirs.
func aligned(x, y any) (any, any) {
	switch of := x.(type) {
	case map[string]any:
		other, ok := y.(map[string]any)
		if !ok {
			break
		}
		of, other = maps.Clone(of), maps.Clone(other)
		for name := range of {
			if _, ok := other[name]; ok {
				of[name], other[name] = aligned(of[name], other[name])
			}
		}
		return of, other
	case []any:
		if other, ok := y.([]any); ok && len(of) < len(other) {
			long, short := padded(other, of)
			return short, long
		} else if ok {
			long, short := padded(of, other)
			return long, short
		}
	}
	return x, y
}

// padded aligns two lists, the longer one first.
func padded(long, short []any) (x, y []any) {
	differ := func(a, b any) int { return len(fieldsThatDiffer(aligned(a, b))) }
	fewest := make([][]int, len(long)+1) // fields that differ of long[i:] and short[j:]
	for i := len(long); i >= 0; i-- {
		fewest[i] = make([]int, len(short)+1)
		for j := range fewest[i] {
			switch {
			case i == len(long):
				fewest[i][j] = (len(short) - j) << 20 // more than there are: every entry of the shorter list has its place
			case j == len(short):
				fewest[i][j] = fewest[i+1][j] + differ(long[i], nil)
			default:
				fewest[i][j] = min(fewest[i+1][j]+differ(long[i], nil), fewest[i+1][j+1]+differ(long[i], short[j]))
			}
		}
	}
	j := 0
	for i, a := range long {
		var b any
		if j < len(short) && fewest[i][j] == fewest[i+1][j+1]+differ(a, short[j]) {
			a, b = aligned(a, short[j])
			j++
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// withoutNulls returns a value of JSON without what its lists lack.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			v[name] = withoutNulls(x)
		}
	case []any:
		for i, x := range v {
			v[i] = withoutNulls(x)
		}
		return slices.DeleteFunc(v, func(x any) bool { return x == nil })
	}
	return v
}
