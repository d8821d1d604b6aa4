package exec

// life is how many answers children give until they end, whatever they are asked: a simulator may
// have a licence for so many, or a leak. It is known once children have ended a few times at the
// same number.
type life struct {
	min, max int // answers before the end: between these, by all ends in a row that agree
	ends     int
}

const endsEnough = 3

// add takes note of a child that had given some answers and ended when it was asked for so many
// more. It reports whether the number is known from now on.
func (l *life) add(answers, asked int) bool {
	before := l.known()
	low, high := max(l.min, answers), answers+max(asked, 1)-1
	if l.ends > 0 {
		high = min(high, l.max)
	}
	if l.ends++; low > high {
		low, high, l.ends = answers, answers+max(asked, 1)-1, 1
	}
	l.min, l.max = low, high
	return before == 0 && l.known() > 0
}

// known returns how many answers a child gives, 0 if that is not known.
func (l *life) known() int {
	if l.ends < endsEnough || l.max >= 2*l.min {
		return 0
	}
	return l.min
}
