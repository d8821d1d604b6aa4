package schedule

import (
	"slices"
	"strconv"
	"strings"
)

// Split cuts the head off a sequence.
func (l *Level) Split(seq []int32) (head, body []int32) {
	n := min(l.Head, len(seq))
	return seq[:n], seq[n:]
}

// Parts returns the parts of a sequence, with those products of the head and the tail that
// they get, and the main part and the tail of which they get nothing.
func (l *Level) Parts(seq []int32, tile []int) (parts [][]int32, main, rest []int32) {
	head, body := l.Split(seq)
	main, rest = l.Tail.Cut(body)
	parts = l.Cut.parts(main, tile)
	if len(head) > 0 { // no tail is in front
		main = seq[:len(head)+len(main)]
		parts[0] = slices.Concat(head, parts[0])
	}
	if l.Tail == nil || l.Tail.Into != "lane" && l.Tail.Into != "deal" {
		return parts, main, rest
	}
	return l.Tail.deal(parts, rest), main, nil
}

// deal returns parts with products of a tail.
func (t *Tail) deal(parts [][]int32, rest []int32) [][]int32 {
	n := len(parts)
	more := make([][]int32, n)
	for i, k := range rest {
		to := 0
		switch {
		case t.Into == "lane" && t.Last:
			to = n - 1
		case t.Into == "deal" && t.Last:
			to = n - 1 - (len(rest)-1-i)%n
		case t.Into == "deal":
			to = i % n
		}
		more[to] = append(more[to], k)
	}
	parts = slices.Clone(parts)
	for i, m := range more {
		if t.Front {
			parts[i] = append(m, parts[i]...)
		} else {
			parts[i] = append(slices.Clip(parts[i]), m...)
		}
	}
	return parts
}

// parts returns the parts of a sequence; at least one, which may be empty. tile are the
// numbers of products after which stream-K cuts.
func (c *Cut) parts(seq []int32, tile []int) [][]int32 {
	if c.By == "lanes" {
		return c.lanes(seq)
	}
	var parts [][]int32
	from := 0
	for _, end := range c.ends(len(seq), tile) {
		if end = min(end, len(seq)); end > from {
			parts = append(parts, seq[from:end])
			from = end
		}
	}
	if parts == nil {
		parts = [][]int32{nil}
	}
	return parts
}

// Cut cuts the tail off a sequence, in the order in which it is added; without one, all is main.
func (t *Tail) Cut(seq []int32) (main, rest []int32) {
	if t == nil {
		return seq, nil
	}
	n := len(seq) % t.Of
	if main, rest = seq[:len(seq)-n], seq[len(seq)-n:]; t.Front {
		rest, main = seq[:n], seq[n:]
	}
	if t.Reverse {
		rest = slices.Clone(rest)
		slices.Reverse(rest)
	}
	return main, rest
}

// lanes deals a sequence out.
func (c *Cut) lanes(seq []int32) [][]int32 {
	parts := make([][]int32, c.N)
	vector := max(c.Vector, 1)
	for i, k := range seq {
		lane := i / vector % c.N
		parts[lane] = append(parts[lane], k)
	}
	return parts
}

// Ends returns where the runs of a sequence of n products end, but for those of stream-K.
func (c *Cut) Ends(n int) []int { return c.ends(n, nil) }

// ends returns where the runs of a sequence of n products end.
func (c *Cut) ends(n int, tile []int) []int {
	grain := max(c.Grain, 1)
	grains := ceil(n, grain)
	var ends []int
	switch c.By {
	case "stream":
		return append(slices.Clone(tile), n)
	case "count":
		size := ceil(grains, c.N) * grain
		for end := size; end < n; end += size {
			ends = append(ends, end)
		}
	case "spread":
		for i := 1; i < c.N; i++ {
			ends = append(ends, i*grains/c.N*grain)
		}
	case "size":
		return c.sized(n, grain)
	case "pairwise":
		return c.halved(0, n)
	}
	return append(ends, n)
}

// Half returns how many of n products the first half of a pairwise cut has; 0: they are not cut.
func (c *Cut) Half(n int) int {
	grain := max(c.Grain, 1)
	half := n / 2 / grain * grain
	if c.Rest == "halve" {
		half = ceil(ceil(n, 2), grain) * grain
	}
	if n <= c.N || half >= n {
		return 0
	}
	return half
}

// halved returns where the runs of a pairwise cut of n products end, that begin at from.
func (c *Cut) halved(from, n int) []int {
	half := c.Half(n)
	if half == 0 {
		return []int{from + n}
	}
	return append(c.halved(from, half), c.halved(from+half, n-half)...)
}

// sized returns where runs of N products end.
func (c *Cut) sized(n, grain int) (ends []int) {
	from := 0
	if c.Rest == "first" && n%c.N > 0 {
		from = n % c.N
		ends = append(ends, from)
	}
	for from < n {
		size := c.N
		if left := n - from; left > c.N && left < 2*c.N && (c.Rest == "halve" || c.Rest == "halve-down") {
			half := left / 2
			if c.Rest == "halve" {
				half = left - half
			}
			size = ceil(half, grain) * grain
		}
		from = min(from+size, n)
		ends = append(ends, from)
	}
	return ends
}

func ceil(n, by int) int { return (n + by - 1) / by }

// kRange writes the products of a sequence.
func kRange(seq []int32) string {
	n := len(seq)
	if n == 0 {
		return "no k"
	}
	if int(seq[n-1]-seq[0]) == n-1 && n > 1 {
		return "k " + strconv.Itoa(int(seq[0])) + ".." + strconv.Itoa(int(seq[n-1]))
	}
	const shown = 4
	var words []string
	for _, k := range seq[:min(n, shown)] {
		words = append(words, strconv.Itoa(int(k)))
	}
	if n > shown {
		words = append(words, "... "+strconv.Itoa(int(seq[n-1])))
	}
	return "k " + strings.Join(words, ", ")
}

// Along returns the number of blocks along K.
func (b *Blocks) Along(depth int) int {
	if b.K == 0 {
		return 1
	}
	return ceil(depth, b.K)
}

// Count returns the number of scales of a matrix of so many lines.
func (b *Blocks) Count(lines, depth int) int {
	if b.Lines == 0 {
		return b.Along(depth)
	}
	return ceil(lines, b.Lines) * b.Along(depth)
}

// Index returns the number of the scale of an element: scales lie line after line of blocks, one
// for each block along K.
func (b *Blocks) Index(line, k, depth int) int {
	n := 0
	if b.Lines > 0 {
		n = line / b.Lines * b.Along(depth)
	}
	if b.K > 0 {
		n += k / b.K
	}
	return n
}

// Part is what a part is called.
func (c *Cut) Part() string {
	if c.By == "lanes" {
		return "lane"
	}
	return "block"
}
