// Package kernel explains where matrix products differ: by which field of a schedule, and
// from which partial sum on.
//
// A run of kernels that is killed goes on where it was: the file progress.json in its directory
// says how far it is, and is removed in the end.
//
// The API of this package is not promised: it may change in any version.
package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Mutant is a kernel that differs from another in one field.
type Mutant struct {
	Label  string // which part of the schedule is another: see Labels
	Words  string
	Kernel *schedule.Kernel
	// Field is the field of Schedule, such as levels[0].cut.n, which was Was and is Value;
	// "": something is added to the kernel.
	Schedule          int
	Field, Was, Value string
}

// Labels are the parts of a schedule by which two can differ, and what they are.
var Labels = [][2]string{
	{"missing", "products that are not added"},
	{"tail", "the products that are left over: where they are added, or that they are not"},
	{"split-k", "into how many parts K is cut, and where"},
	{"k-order", "the order in which partial sums are added"},
	{"lanes", "how many interleaved accumulators there are"},
	{"promotion", "the formats of partial sums"},
	{"scale", "how scales are multiplied in"},
	{"unit", "what adds the products"},
	{"cast", "how operands are rounded before they are multiplied"},
	{"epilogue", "what becomes of the sum"},
}

// Mutants returns kernels that differ from one in one field of one schedule.
func Mutants(k *schedule.Kernel) []Mutant {
	m := &mutator{of: k, seen: map[string]bool{textOf(k): true}}
	for m.s = range k.Schedules { // the first of those that are the same for a K is told
		unit, put := cmp.Or(k.Schedules[m.s].Unit, k.Unit), func(k *schedule.Kernel, u *schedule.Unit) {
			if s := &k.Schedules[m.s]; s.Unit != nil {
				s.Unit = u
			} else {
				k.Unit = u
			}
		}
		m.operations("unit", unit, put) // before lanes of one product each, which round it as mul-add does
		m.dropped()
		m.levels()
		m.added()
		m.tails()
		m.units("unit", unit, put)
	}
	m.scaled() // before steps that change places
	m.epilogue()
	m.dequantized()
	for m.s = range k.Schedules { // after a rounding of the whole sum
		m.partials()
	}
	return m.all
}

// mutator collects mutants.
type mutator struct {
	of   *schedule.Kernel
	s    int // the schedule that is changed
	seen map[string]bool
	all  []Mutant
}

func textOf(k *schedule.Kernel) string {
	var b strings.Builder
	if err := k.Write(&b); err != nil {
		return ""
	}
	return b.String()
}

// try adds the mutant that a change of a field makes, if it is valid and new.
func (m *mutator) try(label, field string, was, value any, change func(k *schedule.Kernel), words string, args ...any) {
	k := clone(m.of)
	change(k)
	if text := textOf(k); k.Validate() == nil && !m.seen[text] {
		m.seen[text] = true
		m.all = append(m.all, Mutant{label, fmt.Sprintf(words, args...), k, m.s, field, named(was), named(value)})
	}
}

// named writes the value of a field.
func named(v any) string {
	if text := fmt.Sprint(v); text != "" && text != fp.None.String() {
		return text
	}
	return "default"
}

// clone returns a copy that shares nothing that a change changes.
func clone(k *schedule.Kernel) *schedule.Kernel {
	c := *k
	c.Schedules = slices.Clone(k.Schedules)
	for i := range c.Schedules {
		c.Schedules[i].Levels = slices.Clone(k.Schedules[i].Levels)
		for n := range c.Schedules[i].Levels {
			if t := &c.Schedules[i].Levels[n].Tail; *t != nil {
				own := **t
				*t = &own
			}
		}
	}
	c.Epilogue = slices.Clone(k.Epilogue)
	return &c
}

// The values that are tried.
var (
	grains  = []int{1, 2, 4, 8, 16, 32, 64, 128}
	lengths = []int{4, 8, 16, 32, 64, 128, 256, 320, 384, 448, 512, 1024, 2048, 4096}
	blocks  = multiples(32, 1024) // of K, as libraries choose them by the sizes of caches
	parts   = []int{2, 3, 4, 5, 6, 7, 8, 16, 32}
	formats = []fp.ID{fp.None, fp.FP16, fp.BF16, fp.FP32, fp.FP64}
	orders  = []string{"forward", "reverse", "neighbours", "halves", "pairwise", "chain", "chain-reverse"}
)

// cutWords say that a cut has another number, first the new one.
var cutWords = map[string]string{
	"size":     "a new accumulator begins after every %d products, not %d",
	"count":    "K is split among %d accumulators, not %d",
	"spread":   "K is spread over %d accumulators, not %d",
	"pairwise": "sequences of up to %d products are not halved, not those of up to %d",
	"lanes":    "there are %d lanes, not %d",
	"stream":   "products are spread over %d workers, not %d",
}

// multiples returns the multiples of step up to most.
func multiples(step, most int) (all []int) {
	for n := step; n <= most; n += step {
		all = append(all, n)
	}
	return all
}

// dropped forgets left-over products.
func (m *mutator) dropped() {
	levels := m.of.Schedules[m.s].Levels
	for l, level := range levels {
		for _, of := range append(slices.Clone(lengths), level.Cut.N) {
			m.tail(l, of, "drop", leftOver(l)+" are dropped", of)
		}
	}
	const whole = 1 << 16 // a level that cuts nothing, for a tail
	for _, at := range slices.Compact([]int{len(levels), 0}) {
		for _, of := range append([]int{2, 3}, lengths...) {
			m.try("tail", "", nil, nil, func(k *schedule.Kernel) {
				l := schedule.Level{Cut: schedule.Cut{By: "size", N: whole}, Merge: schedule.Merge{Order: "chain"}, Tail: &schedule.Tail{Of: of, Into: "drop"}}
				k.Schedules[m.s].Levels = slices.Insert(k.Schedules[m.s].Levels, at, l)
			}, leftOver(at)+" are dropped", of)
		}
	}
}

// leftOver are the products that the tail of a level is about, in words, with their number's divisor.
func leftOver(level int) string {
	if level == 0 {
		return ofK + "%d)"
	}
	return "the last products of each part (its length mod %d)"
}

// ofK begins the words for what is left over of all products: a divisor of K follows.
const ofK = "the last products (K mod "

// tail replaces the tail of a level.
func (m *mutator) tail(l, of int, into, words string, args ...any) {
	t := m.of.Schedules[m.s].Levels[l].Tail
	field, was, value := fmt.Sprintf("levels[%d].tail", l), any("none"), any(fmt.Sprintf("%d %s", of, into))
	switch {
	case t != nil && t.Of == of:
		field, was, value = field+".into", t.Into, into
	case t != nil && t.Into == into:
		field, was, value = field+".of", t.Of, of
	case t != nil:
		field = "" // two fields are others
	}
	m.try("tail", field, was, value, func(k *schedule.Kernel) {
		next := &schedule.Tail{Of: of, Into: into}
		if t != nil && into != "drop" {
			next.Unit = t.Unit
			lanes := into == "lane" || into == "deal"
			next.Front, next.Last, next.Reverse = t.Front, t.Last && lanes, t.Reverse && into != "deal"
		}
		if t != nil && into == "apart" {
			next.Format = t.Format
		}
		k.Schedules[m.s].Levels[l].Tail = next
	}, words, args...)
}

// intos are the places of left-over products.
var intos = [][2]string{{"lane", "to the first part"}, {"deal", "to all parts in turn"}, {"after", "after the other parts"}, {"apart", "as a part of their own"}}

// tails changes where left-over products are added.
func (m *mutator) tails() {
	for l, level := range m.of.Schedules[m.s].Levels {
		of := append(slices.Clone(lengths), level.Cut.N)
		field := fmt.Sprintf("levels[%d].tail", l)
		if t := level.Tail; t != nil {
			m.try("tail", field, "there is one", "none", func(k *schedule.Kernel) { k.Schedules[m.s].Levels[l].Tail = nil }, "the last products are like the others")
			of = append(of, t.Of, t.Of/2, t.Of*2, t.Of-1, t.Of+1)
		}
		for _, of := range of {
			for _, into := range intos {
				m.tail(l, of, into[0], leftOver(l)+" are added "+into[1], of)
			}
		}
		if level.Tail == nil {
			continue
		}
		m.ends(field, func(k *schedule.Kernel) *schedule.Tail { return k.Schedules[m.s].Levels[l].Tail })
		for _, f := range formats {
			m.try("promotion", field+".format", level.Tail.Format, f, func(k *schedule.Kernel) { k.Schedules[m.s].Levels[l].Tail.Format = f }, "the sum of the last products is added in %s", f)
		}
		m.units(field+".unit", level.Tail.Unit, func(k *schedule.Kernel, u *schedule.Unit) { k.Schedules[m.s].Levels[l].Tail.Unit = u })
	}
}

// ends changes which left-over products a tail has, and at which end they are added.
func (m *mutator) ends(field string, tail func(k *schedule.Kernel) *schedule.Tail) {
	t := tail(m.of)
	m.try("tail", field+".front", t.Front, !t.Front, func(k *schedule.Kernel) { tail(k).Front = !t.Front }, "the first products are left over, not the last, or the last")
	m.try("tail", field+".last", t.Last, !t.Last, func(k *schedule.Kernel) { tail(k).Last = !t.Last }, "left-over products are added to the last parts, not the first, or to the first")
	m.try("tail", field+".reverse", t.Reverse, !t.Reverse, func(k *schedule.Kernel) { tail(k).Reverse = !t.Reverse }, "left-over products are added last first, or are not")
}

// levels changes each field of each level.
func (m *mutator) levels() {
	for l, level := range m.of.Schedules[m.s].Levels {
		at := fmt.Sprintf("levels[%d]", l)
		cut := func(label, field string, was, value any, change func(c *schedule.Cut), words string, args ...any) {
			m.try(label, at+".cut."+field, was, value, func(k *schedule.Kernel) { change(&k.Schedules[m.s].Levels[l].Cut) }, words, args...)
		}
		merge := func(label, field string, was, value any, change func(c *schedule.Merge), words string, args ...any) {
			m.try(label, at+".merge."+field, was, value, func(k *schedule.Kernel) { change(&k.Schedules[m.s].Levels[l].Merge) }, words, args...)
		}
		c, order := &level.Cut, &level.Merge
		label := "split-k"
		if c.By == "lanes" {
			label = "lanes"
		}
		whole := label
		if order.Order == "chain-reverse" && order.Store == fp.None { // it is there only to take products last first
			whole = "k-order"
		}
		m.try(whole, at, "there is one", "none", func(k *schedule.Kernel) { k.Schedules[m.s].Levels = slices.Delete(k.Schedules[m.s].Levels, l, l+1) }, "there is no cut by %s %d", c.By, c.N)
		numbers := slices.Concat(parts, lengths, []int{c.N - 1, c.N + 1, c.N * 2, c.N / 2})
		if c.By == "size" {
			numbers = append(numbers, blocks...)
		}
		for _, n := range numbers {
			cut(label, "n", c.N, n, func(c *schedule.Cut) { c.N = n }, cutWords[c.By], n, c.N)
		}
		for _, n := range []int{0, level.Head - 1, level.Head + 1} {
			if level.Head > 0 {
				m.try("lanes", at+".head", level.Head, n, func(k *schedule.Kernel) { k.Schedules[m.s].Levels[l].Head = n }, "the first part has %d products before its own", n)
			}
		}
		for _, g := range grains {
			cut("split-k", "grain", max(c.Grain, 1), g, func(c *schedule.Cut) { c.Grain = g }, "cuts are at multiples of %d products, not of %d", g, max(c.Grain, 1))
			cut("lanes", "vector", max(c.Vector, 1), g, func(c *schedule.Cut) { c.Vector = g }, "lanes get %d products at a time, not %d", g, max(c.Vector, 1))
		}
		for _, by := range []string{"size", "count", "spread", "pairwise", "lanes"} {
			label := label
			if by == "lanes" {
				label = by
			}
			cut(label, "by", c.By, by, func(c *schedule.Cut) {
				if *c = (schedule.Cut{By: by, N: c.N, Grain: c.Grain}); by == "size" || by == "lanes" {
					c.Grain = 0
				}
			}, "K is cut by %s, not by %s", by, c.By)
		}
		for _, rest := range []string{"last", "first", "halve", "halve-down"} {
			cut("split-k", "rest", cmp.Or(c.Rest, "last"), rest, func(c *schedule.Cut) {
				if c.Rest = rest; rest == "last" || rest == "first" {
					c.Grain = 0
				}
			}, "%s", restWords[rest])
		}
		for _, o := range orders {
			merge("k-order", "order", order.Order, o, func(m *schedule.Merge) {
				if m.Order = o; o != "forward" && o != "reverse" {
					m.Start = ""
				}
			}, "partial sums are added in the order %s, not %s", o, order.Order)
		}
		for _, start := range []string{"", "zero"} {
			merge("k-order", "start", order.Start, start, func(m *schedule.Merge) { m.Start = start }, "the sum starts from %q", start)
		}
		for _, f := range formats {
			merge("promotion", "format", order.Format, f, func(m *schedule.Merge) { m.Format = f }, "%s", formatWords(f, "partial sums are added in %s", "partial sums are added in the accumulator's format"))
			if f == fp.FP64 { // which rounds nothing that is narrower
				continue
			}
			merge("promotion", "parts", order.Parts, f, func(m *schedule.Merge) { m.Parts = f }, "%s", formatWords(f, "partial sums are rounded to %s", "partial sums are not rounded to another format"))
			merge("promotion", "store", order.Store, f, func(m *schedule.Merge) { m.Store = f }, "%s", formatWords(f, "sums are stored in %s", "sums are stored in the format that they have"))
		}
		for _, scale := range partialScales {
			if order.Scale != "" {
				merge("scale", "scale", order.Scale, scale, func(m *schedule.Merge) { m.Scale = scale }, "partial sums are multiplied by the scales in the order %s, not %s", scale, order.Scale)
			}
		}
		merge("scale", "fused", order.Fused, !order.Fused, func(m *schedule.Merge) { m.Fused = !m.Fused }, "scale and sum are fused, or are not")
	}
}

// restWords says where the shorter of runs is, by schedule.Cut.Rest.
var restWords = map[string]string{
	"last": "the shorter block is the last one", "first": "the shorter block is the first one",
	"halve": "what is less than two blocks is halved, the first half being the larger", "halve-down": "what is less than two blocks is halved, the second half being the larger",
}

// formatWords says in words what a format is for, or that there is none.
func formatWords(f fp.ID, of, without string) string {
	if f == fp.None {
		return without
	}
	return fmt.Sprintf(of, f)
}

// scaled multiplies the scales in elsewhere: in another order after the sum, or into partial sums.
func (m *mutator) scaled() {
	isScale := func(s schedule.Step) bool { return strings.HasPrefix(s.Op, "scale-") }
	at := slices.IndexFunc(m.of.Epilogue, isScale)
	if at < 0 {
		return
	}
	orders := [][]string{{"scale-ab"}, {"scale-a", "scale-b"}, {"scale-b", "scale-a"}}
	words := []string{"by their product", "by that of A, then by that of B", "by that of B, then by that of A"}
	without := func(k *schedule.Kernel) { k.Epilogue = slices.DeleteFunc(k.Epilogue, isScale) }
	for i, ops := range orders {
		m.try("scale", "", nil, nil, func(k *schedule.Kernel) {
			without(k)
			for j, op := range ops {
				step := m.of.Epilogue[at] // rounded as before, which converts a sum of integers
				step.Op = op
				k.Epilogue = slices.Insert(k.Epilogue, at+j, step)
			}
		}, "the sum is multiplied by the scales: %s", words[i])
	}
	for n := range m.of.Schedules[m.s].Levels {
		for i, scale := range partialScales {
			for _, fused := range []bool{false, true} {
				m.try("scale", "", nil, nil, func(k *schedule.Kernel) {
					without(k)
					merge := &k.Schedules[m.s].Levels[n].Merge
					merge.Scale, merge.Fused = scale, fused
				}, "partial sums are multiplied by the scales, %s%s, not the whole sum", words[i], map[bool]string{true: ", in one rounding with the addition"}[fused])
			}
		}
	}
}

// dequantized rounds elements that are multiplied by their scales to other formats.
func (m *mutator) dequantized() {
	u := m.of.Unit
	if m.of.Dequantize == nil || u == nil || u.Op == "" {
		return
	}
	was := cmp.Or(u.In, u.Acc)
	for _, f := range []fp.ID{fp.FP32, fp.BF16, fp.FP16, fp.FP64} {
		m.try("scale", "unit.in", was, f, func(k *schedule.Kernel) {
			c := *u
			c.Product = cmp.Or(u.Product, u.Acc)
			if c.In = f; f == u.Acc {
				c.In = fp.None
			}
			if u.Op == "fma" {
				c.Product = fp.None
			}
			k.Unit = &c
		}, "elements times their scales are rounded to %s, not to %s", f, was)
	}
}

// partialScales are the orders in which a partial sum is multiplied by scales, as those of scaled are.
var partialScales = []string{"(sa*sb)*p", "sb*(sa*p)", "sa*(sb*p)"}

// add adds a level at each place.
func (m *mutator) add(label string, l schedule.Level, words string, args ...any) {
	for at := range len(m.of.Schedules[m.s].Levels) + 1 {
		m.try(label, "", nil, nil, func(k *schedule.Kernel) { k.Schedules[m.s].Levels = slices.Insert(k.Schedules[m.s].Levels, at, l) },
			"%s%s", fmt.Sprintf(words, args...), within(m.of.Schedules[m.s].Levels, at))
	}
}

// added adds a level.
func (m *mutator) added() {
	forward, halves := schedule.Merge{Order: "forward"}, schedule.Merge{Order: "halves"}
	for _, n := range append(slices.Clone(lengths), blocks...) {
		m.add("split-k", schedule.Level{Cut: schedule.Cut{By: "size", N: n}, Merge: forward}, "a new accumulator begins after every %d products", n)
		m.add("split-k", schedule.Level{Cut: schedule.Cut{By: "size", N: n, Rest: "first"}, Merge: schedule.Merge{Order: "chain"}}, "the short one of the runs of %d products is the first", n)
		m.add("k-order", schedule.Level{Cut: schedule.Cut{By: "size", N: n}, Merge: schedule.Merge{Order: "chain-reverse"}}, "runs of %d products are added last first", n)
	}
	for _, n := range parts {
		for _, g := range grains {
			m.add("split-k", schedule.Level{Cut: schedule.Cut{By: "count", N: n, Grain: g}, Merge: forward}, "K is split among %d accumulators in multiples of %d", n, g)
			m.add("lanes", schedule.Level{Cut: schedule.Cut{By: "lanes", N: n, Vector: g}, Merge: forward}, "products are dealt to %d lanes, %d at a time, added in order", n, g)
			m.add("lanes", schedule.Level{Cut: schedule.Cut{By: "lanes", N: n, Vector: g}, Merge: halves}, "products are dealt to %d lanes, %d at a time, added by halves", n, g)
		}
	}
}

// within says where a level is that is added to others: after the one before at, or around the first.
func within(levels []schedule.Level, at int) string {
	switch {
	case len(levels) == 0:
		return ""
	case at == 0:
		return fmt.Sprintf(", and each part is cut by %s %d as before", levels[0].Cut.By, levels[0].Cut.N)
	}
	switch cut := levels[at-1].Cut; cut.By {
	case "lanes":
		return fmt.Sprintf(", within each of its %d lanes", cut.N)
	case "count":
		return fmt.Sprintf(", within each of its %d parts", cut.N)
	case "size":
		return fmt.Sprintf(", within each run of %d products", cut.N)
	}
	return ", within each of its parts"
}

// operations changes what a unit does; put replaces the unit.
func (m *mutator) operations(field string, u *schedule.Unit, put func(k *schedule.Kernel, u *schedule.Unit)) {
	if u == nil || u.Op == "" {
		return
	}
	for _, op := range [][2]string{{"fma", "the products are not rounded: fused multiply-add"}, {"mul-add", "the products are rounded: multiply, then add"}} {
		m.try("unit", field+".op", u.Op, op[0], func(k *schedule.Kernel) {
			c := *u
			c.Op, c.Product = op[0], fp.None
			put(k, &c)
		}, "%s", op[1])
	}
}

// units changes the fields of a unit; put replaces it.
func (m *mutator) units(field string, u *schedule.Unit, put func(k *schedule.Kernel, u *schedule.Unit)) {
	if u == nil || u.Op == "" {
		return
	}
	m.operations(field, u, put)
	set := func(name string, was, value any, change func(u *schedule.Unit), words string, args ...any) {
		m.try("unit", field+"."+name, was, value, func(k *schedule.Kernel) {
			c := *u
			change(&c)
			put(k, &c)
		}, words, args...)
	}
	set("start", u.Start, "", func(u *schedule.Unit) { u.Start = "" }, "the first product is added to zero")
	set("start", u.Start, "empty", func(u *schedule.Unit) { u.Start = "empty" }, "the first product is added to nothing")
	if u.Op == "fma" {
		set("start", u.Start, "second", func(u *schedule.Unit) { u.Start = "second" }, "the first product is added to the second, which is rounded")
	}
	if wide := map[fp.ID]fp.ID{fp.FP32: fp.FP64, fp.FP16: fp.FP32}[u.Acc]; wide != fp.None && u.Op == "fma" && u.In == fp.None {
		set("sum", u.Sum, fp.None, func(u *schedule.Unit) { u.Sum = fp.None }, "sums are rounded once")
		set("sum", u.Sum, wide, func(u *schedule.Unit) { u.Sum = wide }, "sums are rounded to %s, then to %s", wide, u.Acc)
	}
	set("subnormals", u.Subnormals, "", func(u *schedule.Unit) { u.Subnormals = "" }, "subnormal numbers are numbers")
	set("subnormals", u.Subnormals, "zero", func(u *schedule.Unit) { u.Subnormals = "zero" }, "subnormal numbers are zeros")
	m.casts(field, u, put)
	for _, f := range formats {
		set("product", cmp.Or(u.Product, u.Acc), f, func(u *schedule.Unit) { u.Product = f }, "products are rounded to %s", f)
		set("acc", u.Acc, f, func(u *schedule.Unit) { u.In, u.Product, u.Acc = cmp.Or(u.In, u.Acc), cmp.Or(u.Product, u.Acc), f }, "the accumulator is %s", f)
	}
}
