package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mark is a differing case of a recording: hashes of its input, and of that with both results.
type Mark struct{ Input, Results uint32 }

// Marks are a sample of differing cases, by which they are recognised among more cases: those whose
// inputs have the least hashes, in this order. As text they are hexadecimal numbers.
type Marks []Mark

// MostMarks is the number of marks of a sample. A sample of fewer has all cases.
const MostMarks = 128

func (x Mark) compare(y Mark) int {
	return cmp.Or(cmp.Compare(x.Input, y.Input), cmp.Compare(x.Results, y.Results))
}

// Add returns marks with others.
func (m Marks) Add(others ...Mark) Marks {
	for _, x := range others {
		if i, there := slices.BinarySearchFunc(m, x, Mark.compare); !there && i < MostMarks {
			m = slices.Insert(m, i, x)
		}
	}
	return m[:min(len(m), MostMarks)]
}

// Find looks up marks in samples of cases: so many differ with the same results, so many with
// others, and so many are not there. What the samples do not reach is not counted.
func (m Marks) Find(in []Marks) (same, others, none int) {
	for _, x := range m {
		differs, known := false, true
		is := func(all Marks) bool {
			i, there := slices.BinarySearchFunc(all, x, Mark.compare)
			differs = differs || i < len(all) && all[i].Input == x.Input || i > 0 && all[i-1].Input == x.Input
			known = known && (len(all) < MostMarks || x.Input <= all[len(all)-1].Input)
			return there
		}
		switch {
		case slices.ContainsFunc(in, is):
			same++
		case differs:
			others++
		case known:
			none++
		}
	}
	return same, others, none
}

// MarshalText writes marks.
func (m Marks) MarshalText() ([]byte, error) {
	var words []string
	for _, x := range m {
		words = append(words, fmt.Sprintf("%08x%08x", x.Input, x.Results))
	}
	return []byte(strings.Join(words, " ")), nil
}

// UnmarshalText reads marks.
func (m *Marks) UnmarshalText(text []byte) error {
	*m = nil
	for _, word := range strings.Fields(string(text)) {
		x, err := strconv.ParseUint(word, 16, 64)
		if err != nil || len(word) != 16 {
			return fmt.Errorf("%q is no mark of a case, which has 16 hexadecimal digits", word)
		}
		*m = m.Add(Mark{uint32(x >> 32), uint32(x)})
	}
	return nil
}
