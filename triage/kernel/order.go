package kernel

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Order is the order in which the products of an element are added, for a picture.
type Order struct {
	Title string `json:"title"`
	K     int    `json:"k"`
	// Accumulators are the products that each adds, one after the other, as pairs: from and to.
	Accumulators [][][2]int `json:"accumulators"`
	// Sums add two values, in their order: an accumulator by its number from 0, or sum n as
	// -1-n. With Then the second is an accumulator that starts from the first.
	Sums []Sum `json:"sums,omitempty"`

	like []int // the accumulator of each k in another order, from which this one is told; nil: there is none
}

// Sum is a sum of two values.
type Sum struct {
	X    int  `json:"x"`
	Y    int  `json:"y"`
	Then bool `json:"then,omitempty"`
	// C is what of the matrix C is added to X, or with Then what accumulator X starts from; and Times is what X
	// is multiplied by. There is no Y then.
	C     string `json:"c,omitempty"`
	Times string `json:"times,omitempty"`
}

// nothing stands for a value that is no sum of products, and the others for what is added of C.
const nothing, wholeC, betaC = 1 << 30, 1<<30 + 1, 1<<30 + 2

// addends are their names.
var addends = map[int]string{wholeC: "matrix C", betaC: "beta * matrix C"}

// Orders returns the orders of summation of the schedules of a kernel that are not one
// accumulator of all products without C, as a picture of name shows them. Of stream-K it is that of element (0,0).
func Orders(name string, k *schedule.Kernel, s schedule.Shape) (all []*Order) {
	for n := range k.Schedules {
		one := *k
		one.Schedules = k.Schedules[n : n+1 : n+1]
		one.When = schedule.When{}
		if len(one.Schedules[0].Where) > 0 {
			one.Schedules = slices.Clone(one.Schedules)
			one.Schedules[0].Where = nil
		}
		c := one.AddsC()
		plans, err := one.PlansAt(s, schedule.Given{C: c}, [][2]int{{0, 0}})
		if err != nil {
			continue
		}
		o := orderOf(plans[0], s.K, c)
		if len(o.Accumulators) < 2 && !c && !slices.Contains(o.owners(), -1) { // there is nothing to see
			continue
		}
		if o.Title = name; len(k.Schedules) > 1 {
			o.Title += fmt.Sprintf(", schedule %d (%s)", n, k.Places(n))
		}
		all = append(all, o)
	}
	return all
}

// orderOf returns the order of a plan, which may add C.
func orderOf(p *schedule.Plan, depth int, c bool) *Order {
	o := &Order{K: depth}
	values := make([]int, len(p.Ops))
	of := func(r schedule.Ref) int {
		switch r.Kind {
		case schedule.Value:
			return values[r.N]
		case schedule.C:
			return wholeC
		}
		return nothing
	}
	add := func(s Sum) int {
		o.Sums = append(o.Sums, s)
		return -len(o.Sums)
	}
	sum := func(x, y int, then bool) int {
		switch {
		case x == nothing:
			return y
		case y == nothing:
			return x
		case addends[x] != "":
			return add(Sum{X: y, C: addends[x], Then: then})
		case addends[y] != "":
			return add(Sum{X: x, C: addends[y]})
		}
		return add(Sum{X: x, Y: y, Then: then})
	}
	product := func(op *schedule.Op) int {
		x := sum(of(op.X), of(op.Y), false)
		switch is := func(k schedule.RefKind) bool { return op.X.Kind == k || op.Y.Kind == k }; {
		case is(schedule.Beta) && x == wholeC:
			return betaC
		case is(schedule.Alpha) && c && x != nothing:
			return add(Sum{X: x, Times: "alpha"})
		}
		return x
	}
	for i := range p.Ops {
		op := &p.Ops[i]
		if op.K == nil {
			values[i] = sum(of(op.Z), product(op), false)
			continue
		}
		values[i] = of(op.Z)
		for _, ks := range ascending(op.K) {
			o.Accumulators = append(o.Accumulators, runs(ks))
			values[i] = sum(values[i], len(o.Accumulators)-1, true)
		}
	}
	return o
}

// ascending cuts the products that one accumulator adds where a smaller k follows, so that each part is added from left
// to right.
func ascending(ks []int32) (all [][]int32) {
	for from, end := 0, 1; from < len(ks); end++ {
		if end == len(ks) || ks[end] >= 0 && ks[end] < ks[end-1] {
			all, from = append(all, ks[from:end]), end
		}
	}
	return all
}

// runs returns the runs of adjacent products of a list, from and to.
func runs(ks []int32) (all [][2]int) {
	for _, k := range ks {
		switch last := len(all) - 1; {
		case k < 0: // a zero that fills up a step
		case last >= 0 && all[last][1] == int(k)-1:
			all[last][1]++
		default:
			all = append(all, [2]int{int(k), int(k)})
		}
	}
	return all
}

// Check returns an error if an order of a file makes no sense: it is drawn as it is.
func (o *Order) Check() error {
	ok := o.K > 0 && o.K <= 1<<20 && len(o.Accumulators) > 0
	for _, runs := range o.Accumulators {
		for _, r := range runs {
			ok = ok && 0 <= r[0] && r[0] <= r[1] && r[1] < o.K
		}
	}
	for n, s := range o.Sums {
		for _, v := range []int{s.X, s.Y} {
			ok = ok && v < len(o.Accumulators) && v >= -n
		}
	}
	if !ok {
		return fmt.Errorf("the order of summation %q has products, accumulators or sums that do not exist", o.Title)
	}
	return nil
}

// name is the name of a value.
func (o *Order) name(v int) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if v < 0 {
		return fmt.Sprintf("s%d", -v)
	}
	name := letters[v%len(letters)]
	if v < len(letters) {
		return string(name)
	}
	return fmt.Sprintf("%c%d", name, v/len(letters))
}

// owners returns the accumulator of each k, -1 where there is none.
func (o *Order) owners() []int {
	all := make([]int, o.K)
	for k := range all {
		all[k] = -1
	}
	for n, runs := range o.Accumulators {
		for _, r := range runs {
			for k := r[0]; k <= r[1]; k++ {
				all[k] = n
			}
		}
	}
	return all
}

const (
	stripWidth  = 64 // letters of the picture in text
	shownStrips = 4
	shownSums   = 6  // the first ones
	lastSums    = 3  // and these
	shownRows   = 24 // accumulators of the picture in a page
)

// Text is the picture for a terminal: a letter for each k or for as many as share one, and how the
// sums of the letters are added.
func (o *Order) Text() string {
	owners := o.owners()
	each, note := o.lettersOf(owners)
	lost, end := unsummed(owners)
	lines := o.strips(owners[:end])
	if each > 0 {
		lines = []string{o.letters(owners[:end], each)}
	}
	if len(lost) > o.K-end {
		note += ", . one that is not summed"
	}
	if lost != nil {
		lines = append(lines, "k "+readable.Shorten(strings.ReplaceAll(schedule.SetOf(lost).String(), "-", ".."), 60)+": not summed")
	}
	text := fmt.Sprintf("%s: K = %d, %s.\nA letter is an accumulator, which adds its products from left to right.\n", o.Title, o.K, note)
	for _, l := range lines {
		text += "  " + l + "\n"
	}
	return text + o.sumsText()
}

// unsummed returns the products that have no accumulator, and where the last ones of them begin.
func unsummed(owners []int) (lost []int, end int) {
	for k, owner := range owners {
		if owner < 0 {
			lost = append(lost, k)
		} else {
			end = k + 1
		}
	}
	return lost, end
}

// lettersOf says how many products share a letter, 0 if each has its own in more than a line, as
// interleaved accumulators need.
func (o *Order) lettersOf(owners []int) (each int, note string) {
	each = (o.K + stripWidth - 1) / stripWidth
	mixed := 0
	for k := range owners {
		if owners[k] != owners[k/each*each] {
			mixed++
		}
	}
	switch {
	case each == 1:
		return 1, "each letter a product"
	case mixed > o.K/4:
		return 0, "each letter a product"
	case mixed > 0:
		return each, fmt.Sprintf("each letter %d products, and it is the accumulator of the first of them", each)
	}
	return each, fmt.Sprintf("each letter %d products", each)
}

// letters writes a letter for each so many of some products.
func (o *Order) letters(owners []int, each int) string {
	var b strings.Builder
	for k := 0; k < len(owners); k += each {
		if owners[k] < 0 {
			b.WriteByte('.')
		} else {
			b.WriteByte(o.name(owners[k])[0])
		}
	}
	return b.String()
}

// strips writes interleaved accumulators: a line for each range of k in which they repeat
// themselves, which says where that ends; at most shownStrips, of those that are not as in the other order if there
// is one.
func (o *Order) strips(owners []int) (lines []string) {
	shown, left := 0, 0 // k from left on are not shown so far
	skipped := func(to int) {
		if to > left {
			lines = append(lines, fmt.Sprintf("... k %d..%d are not shown", left, to-1))
		}
	}
	for from := 0; from < len(owners) && shown < shownStrips; {
		end := min(from+stripWidth, len(owners))
		line := o.letters(owners[from:end], 1)
		if period := periodOf(owners[from:end]); period > 0 {
			for end < len(owners) && owners[end] == owners[end-period] {
				end++
			}
			if end > from+stripWidth {
				line += fmt.Sprintf("  and so on, up to k %d", end-1)
			}
		}
		if o.like == nil || !slices.Equal(o.like[from:end], owners[from:end]) {
			skipped(from)
			lines, left = append(lines, line), end
			shown++
		}
		from = end
	}
	skipped(len(owners))
	return lines
}

// periodOf returns after how many elements a list repeats itself, at least twice; 0 if it does not.
func periodOf(list []int) int {
	for n := 1; n <= len(list)/2; n++ {
		if slices.Equal(list[n:], list[:len(list)-n]) {
			return n
		}
	}
	return 0
}

// sumsText writes the first sums of accumulators, and the last ones.
func (o *Order) sumsText() (text string) {
	left := len(o.Sums) - shownSums - lastSums
	for n, s := range o.Sums {
		if left > 1 && n >= shownSums && n < shownSums+left {
			if n == shownSums {
				text += fmt.Sprintf("  ... %d more\n", left)
			}
			continue
		}
		sign, result := "+", o.name(-1-n)
		if s.Then {
			sign = "then"
		}
		if n == len(o.Sums)-1 {
			result = "result" // D is an accumulator, too
		}
		x, y := o.name(s.X), o.name(s.Y)
		switch {
		case s.Times != "":
			x, sign, y = s.Times, "*", x
		case s.C != "" && s.Then:
			x, y = s.C, x
		case s.C != "":
			y = s.C
		}
		text += fmt.Sprintf("  %s = %s %s %s\n", result, x, sign, y)
	}
	return text
}

// Picture is the picture for a page: a row for each accumulator with its products, and the tree of
// their sums.
func (o *Order) Picture() *document.Canvas {
	const (
		left, width, row, step = 40, 480, 18, 22
		top                    = 24
	)
	c := (&document.Canvas{}).Titled(o.Title + ": the order of summation")
	rows := min(len(o.Accumulators), shownRows)
	x := func(k int) int { return left + k*width/o.K }
	c.Text(left, 14, "small faint", "k = 0")
	c.Text(left+width, 14, "small faint end", fmt.Sprintf("K = %d", o.K))
	for n := range rows {
		y := top + n*row
		c.Text(left-8, y+12, "small end", o.name(n))
		for _, r := range o.Accumulators[n] {
			c.Rect(x(r[0]), y+2, max(1, x(r[1]+1)-x(r[0])), row-4, "f-zero k-line")
		}
	}
	if more := len(o.Accumulators) - rows; more > 0 {
		c.Text(left, top+rows*row+14, "small faint", fmt.Sprintf("and %d more accumulators", more))
		return c
	}
	at := func(places map[int][2]int, v int) [2]int {
		if p, ok := places[v]; ok {
			return p
		}
		return [2]int{left + width + 6, top + v*row + row/2}
	}
	places := map[int][2]int{}
	drawn := map[int][][2]int{} // by x, from where to where there are lines
	for n, s := range o.Sums {
		p := at(places, s.X)
		q, label := p, cmp.Or(s.C, s.Times)
		if label == "" {
			q = at(places, s.Y)
		}
		span := [2]int{min(p[1], q[1]), max(p[1], q[1])}
		to := [2]int{max(p[0], q[0]) + step, (p[1]+q[1])/2 + 4} // beside the line of an accumulator
		for slices.ContainsFunc(drawn[to[0]], func(d [2]int) bool { return d[0] <= span[1] && span[0] <= d[1] }) {
			to[0] += step
		}
		drawn[to[0]] = append(drawn[to[0]], span)
		places[-1-n] = [2]int{to[0] + 6*len(label), to[1]} // behind the words
		sign := "+"
		if s.Then {
			sign = "→"
		}
		switch {
		case s.Times != "":
			sign = "* " + label
		case label != "":
			sign += " " + label
		}
		c.Path(fmt.Sprintf("M%d %dH%dV%dH%d", p[0], p[1], to[0], q[1], q[0]), "k-ink none")
		c.Text(to[0]+4, to[1]-3, "small", sign)
	}
	c.Rect(left, top+rows*row+4, 1, 1, "none")
	return c
}

// Figure is the picture in a document.
func (o *Order) Figure() document.Figure {
	return document.Figure{Picture: o.Picture(), Caption: o.Title, Text: o.Text()}
}

// figures are the pictures of two kernels at a K, one if they are the same, none where there is nothing to see. Of long ones the parts are shown
// in which they differ.
func figures(names [2]string, kernels [2]*schedule.Kernel, depth int) (all []document.Block) {
	var orders [2][]*Order
	for i, k := range kernels {
		if k != nil {
			orders[i] = Orders(names[i], k, schedule.Shape{M: 1, N: 1, K: depth})
		}
	}
	if same := orders[0]; len(same) == 1 && len(orders[1]) == 1 {
		if other := *orders[1][0]; reflect.DeepEqual(&Order{Title: other.Title, K: same[0].K, Accumulators: same[0].Accumulators, Sums: same[0].Sums}, &other) {
			same[0].Title = names[0] + " and " + names[1]
			return append(all, same[0].Figure())
		}
	}
	for i, own := range orders {
		for _, o := range own {
			if others := orders[1-i]; len(own) == 1 && len(others) == 1 && !slices.Equal(o.owners(), others[0].owners()) {
				o.like = others[0].owners()
			}
			all = append(all, o.Figure())
		}
	}
	return all
}
