package exec

import "fmt"

// life is how many answers children give until they end, whatever they are asked: a simulator may
// have a licence for so many, or a leak. It is known once children have ended a few times at the
// same number.
type life struct {
	min, max int  // bounds of the number of answers, from the latest ends that agree
	ends     int  // how many ends in a row agree
	said     bool // add has reported that the number is known
}

const endsEnough = 3

// add takes note of a child that had given this many answers and ended when it was asked for some
// more. It reports whether the number is known for the first time.
func (l *life) add(answers, asked int) bool {
	low, high := max(l.min, answers), answers+max(asked, 1)-1
	if l.ends > 0 {
		high = min(high, l.max)
	}
	if l.ends++; low > high {
		low, high, l.ends = answers, answers+max(asked, 1)-1, 1
	}
	l.min, l.max = low, high
	first := !l.said && l.known() > 0
	l.said = l.said || first
	return first
}

// known returns how many answers a child gives, 0 if that is not known.
func (l *life) known() int {
	if l.ends < endsEnough || l.max >= 2*l.min {
		return 0
	}
	return l.min
}

func (l *life) String() string {
	if l.min == l.max {
		return fmt.Sprint(l.min)
	}
	return fmt.Sprintf("%d to %d", l.min, l.max)
}
