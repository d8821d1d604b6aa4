package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// Set is a set of numbers of rows, columns or elements: ranges from First to Last in steps
// of Step. An empty Set has all numbers. Its text is 0-5,12-17,64-256/8.
type Set []Range

// Range is First, First+Step, ... up to Last.
type Range struct{ First, Last, Step int }

// Has reports whether a set has a number.
func (s Set) Has(n int) bool {
	for _, r := range s {
		if n >= r.First && n <= r.Last && (n-r.First)%r.Step == 0 {
			return true
		}
	}
	return len(s) == 0
}

// SetOf returns the set of ascending numbers.
func SetOf(numbers []int) Set {
	var s Set
	for _, n := range numbers {
		if last := len(s) - 1; last >= 0 && s[last].Last == n-1 {
			s[last].Last = n
		} else {
			s = append(s, Range{n, n, 1})
		}
	}
	return s
}

// String writes the set; "" for all numbers.
func (s Set) String() string {
	var parts []string
	for _, r := range s {
		text := strconv.Itoa(r.First)
		if r.Last > r.First {
			text += "-" + strconv.Itoa(r.Last)
		}
		if r.Step > 1 {
			text += "/" + strconv.Itoa(r.Step)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

// MarshalText writes what String does, for JSON.
func (s Set) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what String writes.
func (s *Set) UnmarshalText(text []byte) error {
	*s = nil
	for _, part := range strings.Split(string(text), ",") {
		r, err := parseRange(part)
		if err != nil {
			return fmt.Errorf("%q is no set of numbers such as 0-5,12,64-256/8: %w", text, err)
		}
		*s = append(*s, r)
	}
	return nil
}

func parseRange(text string) (Range, error) {
	var r Range
	ends, step, stepped := strings.Cut(text, "/")
	first, last, long := strings.Cut(ends, "-")
	if !long {
		last = first
	}
	if !stepped {
		step = "1"
	}
	for _, n := range []struct {
		to   *int
		from string
	}{{&r.First, first}, {&r.Last, last}, {&r.Step, step}} {
		v, err := strconv.ParseUint(n.from, 10, 31)
		if err != nil {
			return r, fmt.Errorf("%q is not a number up to 2147483647", n.from)
		}
		*n.to = int(v)
	}
	if r.Last < r.First || r.Step < 1 {
		return r, fmt.Errorf("%q is empty", text)
	}
	return r, nil
}
