package report

import (
	"maps"
	"slices"
)

// axis is the columns that all rows share, from high weights to low ones.
type axis []column

// column is one weight, or a gap that stands for the weights 2^hi to 2^lo.
type column struct{ hi, lo int32 }

func (c column) gap() bool { return c.hi != c.lo }

// gapWidth is the columns of text that a gap takes.
const gapWidth = 3

func (c column) width() int {
	if c.gap() {
		return gapWidth
	}
	return 1
}

// width returns the columns of text that an axis takes.
func (a axis) width() int {
	n := 0
	for _, c := range a {
		n += c.width()
	}
	return n
}

const (
	maxColumns = 60 // of an axis, where sides stand one below the other
	minGap     = 6  // weights that a gap stands for, unless room is scarce
	tightGap   = gapWidth + 1
	tailBits   = 3 // dropped bits that are always shown
)

// layout is an axis and how the panels stand.
type layout struct {
	axis
	sideBySide bool
}

// arrange finds the layout: side by side if that leaves out nothing but empty
// columns and tails of dropped bits, else one below the other on an axis of at
// most stacked columns.
func arrange(rows []*row, sideBySide, stacked int) layout {
	for _, level := range levels {
		if a := level(rows); a != nil && a.width() <= sideBySide {
			return layout{a, true}
		}
	}
	stacked = min(stacked, maxColumns)
	for _, level := range levels {
		if a := level(rows); a != nil && a.width() <= stacked {
			return layout{axis: a}
		}
	}
	return layout{axis: fitted(rows, stacked)}
}

// levels are axes of fewer and fewer weights; nil is one far too long.
var levels = []func(rows []*row) axis{
	contiguous,
	func(rows []*row) axis { return axisOf(rows, (*row).drawn, minGap) },
	func(rows []*row) axis { return axisOf(rows, (*row).essential, minGap) },
}

func extent(rows []*row) (hi, lo int32) {
	hi, lo = rows[0].extent()
	for _, r := range rows {
		h, l := r.extent()
		hi, lo = max(hi, h), min(lo, l)
	}
	return hi, lo
}

func contiguous(rows []*row) axis {
	hi, lo := extent(rows)
	if hi-lo >= 2*maxColumns {
		return nil
	}
	var a axis
	for w := hi; w >= lo; w-- {
		a = append(a, column{w, w})
	}
	return a
}

// axisOf returns an axis with the weights that rows want.
func axisOf(rows []*row, wants func(*row) []int32, gap int32) axis {
	set := map[int32]bool{}
	for _, r := range rows {
		for _, w := range wants(r) {
			set[w] = true
		}
	}
	return fromWeights(rows, set, gap)
}

// fromWeights returns an axis with a set of weights and gaps between them; fewer
// than gap missing weights are put in.
func fromWeights(rows []*row, set map[int32]bool, gap int32) axis {
	hi, lo := extent(rows)
	var a axis
	next := hi
	skip := func(to int32) { // from next down to the weight to
		switch n := next - to + 1; {
		case n <= 0:
		case n < gap || n == 1:
			for ; next >= to; next-- {
				a = append(a, column{next, next})
			}
		default:
			a = append(a, column{next, to})
		}
		next = to - 1
	}
	for _, w := range slices.Backward(slices.Sorted(maps.Keys(set))) {
		skip(w + 1)
		skip(w)
	}
	skip(lo)
	return a
}

// drawn returns all weights at which a row has a bit or a mark.
func (r *row) drawn() []int32 {
	ws := r.atMarks(1)
	for w := r.top; w >= r.low(); w-- {
		ws = append(ws, w)
	}
	return ws
}

// essential returns the weights of a row that cannot be left out without hiding
// what counts: bits that take part, the ends of the dropped ones, cuts.
func (r *row) essential() []int32 {
	ws := r.atMarks(tailBits)
	for w := r.top; w >= r.low(); w-- {
		if r.at(w).kept() || w > r.top-tailBits {
			ws = append(ws, w)
		}
	}
	if r.sum && len(r.bits) > 0 {
		ws = append(ws, r.low())
	}
	return ws
}

// atMarks returns the weights next to marks: one above, and n below if the row
// has bits there.
func (r *row) atMarks(n int32) []int32 {
	var ws []int32
	for _, m := range r.marks {
		ws = append(ws, m.after)
		for w := m.after - 1; w >= m.after-n && w >= r.low(); w-- {
			ws = append(ws, w)
		}
	}
	return ws
}

// fitted returns an axis of at most the given number of columns: weights are taken
// in by importance, and by distance from what counts, while there is room.
func fitted(rows []*row, columns int) axis {
	f := fitter{rows: rows, set: map[int32]bool{}, columns: columns}
	f.best = fromWeights(rows, f.set, tightGap)
	for radius := int32(0); radius < maxColumns; radius++ {
		before := len(f.set)
		for _, events := range importance {
			for _, r := range rows {
				for _, w := range events(r) {
					f.extend(w + radius)
					f.extend(w - radius)
				}
			}
		}
		if radius > 1 && len(f.set) == before {
			break // no room is left
		}
	}
	return f.best
}

type fitter struct {
	rows    []*row
	set     map[int32]bool
	columns int
	best    axis
}

// extend takes a weight into the set if the axis stays within the columns.
func (f *fitter) extend(w int32) {
	top, bottom := f.best[0].hi, f.best[len(f.best)-1].lo
	if f.set[w] || w > top || w < bottom {
		return
	}
	f.set[w] = true
	if a := fromWeights(f.rows, f.set, tightGap); a.width() <= f.columns {
		f.best = a
		return
	}
	delete(f.set, w)
}

// importance is what an axis shows, most important first.
var importance = []func(r *row) []int32{
	func(r *row) []int32 { return r.atMarks(1) },
	(*row).onlyHere,
	func(r *row) []int32 { return r.ends()[:1] },
	func(r *row) []int32 { return r.ends()[1:] },
}

// onlyHere returns the weights of the bits that only this side keeps.
func (r *row) onlyHere() []int32 { return r.weights(onlyHere) }

// weights returns those of the bits in a state.
func (r *row) weights(of state) []int32 {
	var ws []int32
	for i, s := range r.bits {
		if s == of {
			ws = append(ws, r.top-int32(i))
		}
	}
	return ws
}

// ends returns the weights of the first and the last bit.
func (r *row) ends() []int32 { return []int32{r.top, r.low()} }
