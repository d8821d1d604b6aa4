// Package kernel explains where matrix products differ: by which field of a schedule, and
// from which partial sum on.
//
// The API of this package is not promised: it may change in any version.
package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// mutant is a kernel that differs from another in one field.
type mutant struct {
	Label  string // which part of the schedule is another: see Labels
	Words  string
	Kernel *schedule.Kernel
}

// Labels are the parts of a schedule by which two can differ, and what they are.
var Labels = [][2]string{
	{"tail", "the products that are left over: where they are added, or that they are not"},
	{"split-k", "into how many parts K is cut, and where"},
	{"k-order", "the order in which partial sums are added"},
	{"lanes", "how many interleaved accumulators there are"},
	{"promotion", "the formats of partial sums"},
	{"scale", "how scales are multiplied in"},
	{"unit", "what adds the products"},
	{"epilogue", "what becomes of the sum"},
}

// mutants returns kernels that differ from one in one field of one schedule.
func mutants(k *schedule.Kernel) []mutant {
	m := &mutator{of: k, seen: map[string]bool{textOf(k): true}}
	for s := range k.Schedules { // the first of those that are the same for a K is told
		m.dropped(s)
		m.levels(s)
		m.added(s)
		m.tails(s)
		m.units(s)
	}
	m.epilogue()
	return m.all
}

// mutator collects mutants.
type mutator struct {
	of   *schedule.Kernel
	seen map[string]bool
	all  []mutant
}

func textOf(k *schedule.Kernel) string {
	var b strings.Builder
	if err := k.Write(&b); err != nil {
		return ""
	}
	return b.String()
}

// try adds the mutant that a change makes, if it is valid and new.
func (m *mutator) try(label string, change func(k *schedule.Kernel), words string, args ...any) {
	k := clone(m.of)
	change(k)
	if text := textOf(k); k.Validate() == nil && !m.seen[text] {
		m.seen[text] = true
		m.all = append(m.all, mutant{label, fmt.Sprintf(words, args...), k})
	}
}

// clone returns a copy that shares nothing that a change changes.
func clone(k *schedule.Kernel) *schedule.Kernel {
	c := *k
	c.Schedules = slices.Clone(k.Schedules)
	for i := range c.Schedules {
		c.Schedules[i].Levels = slices.Clone(k.Schedules[i].Levels)
	}
	c.Epilogue = slices.Clone(k.Epilogue)
	return &c
}

// The values that are tried.
var (
	grains  = []int{1, 2, 4, 8, 16, 32, 64, 128}
	lengths = []int{4, 8, 16, 32, 64, 128, 256, 320, 384, 448, 512, 1024, 2048, 4096}
	parts   = []int{2, 3, 4, 5, 6, 7, 8, 16, 32}
	formats = []fp.ID{fp.None, fp.FP16, fp.BF16, fp.FP32, fp.FP64}
	orders  = []string{"forward", "reverse", "neighbours", "halves", "chain", "chain-reverse"}
)

// dropped forgets left-over products.
func (m *mutator) dropped(s int) {
	drop := func(of int) *schedule.Tail { return &schedule.Tail{Of: of, Into: "drop"} }
	const words = "the last products, their number mod %d, are dropped"
	for l, level := range m.of.Schedules[s].Levels {
		for _, of := range append(slices.Clone(lengths), level.Cut.N) {
			m.try("tail", func(k *schedule.Kernel) { k.Schedules[s].Levels[l].Tail = drop(of) }, words, of)
		}
	}
	const whole = 1 << 16 // a level that cuts nothing, for a tail
	for _, of := range lengths {
		m.try("tail", func(k *schedule.Kernel) {
			l := schedule.Level{Cut: schedule.Cut{By: "size", N: whole}, Merge: schedule.Merge{Order: "chain"}, Tail: drop(of)}
			k.Schedules[s].Levels = append(k.Schedules[s].Levels, l)
		}, words+" from each part", of)
	}
}

// intos are the places of left-over products.
var intos = [][2]string{{"lane", "to the first part"}, {"after", "after the other parts"}, {"apart", "as a part of their own"}}

// tails changes where left-over products are added.
func (m *mutator) tails(s int) {
	for l, level := range m.of.Schedules[s].Levels {
		if level.Tail != nil {
			m.try("tail", func(k *schedule.Kernel) { k.Schedules[s].Levels[l].Tail = nil }, "the last products are like the others")
		}
		for _, of := range append(slices.Clone(lengths), level.Cut.N) {
			for _, into := range intos {
				m.try("tail", func(k *schedule.Kernel) { k.Schedules[s].Levels[l].Tail = &schedule.Tail{Of: of, Into: into[0]} }, "the last products, their number mod %d, are added "+into[1], of)
			}
		}
	}
}

// levels changes each field of each level.
func (m *mutator) levels(s int) {
	for l, level := range m.of.Schedules[s].Levels {
		cut := func(label string, change func(c *schedule.Cut), words string, args ...any) {
			m.try(label, func(k *schedule.Kernel) { change(&k.Schedules[s].Levels[l].Cut) }, words, args...)
		}
		merge := func(label string, change func(c *schedule.Merge), words string, args ...any) {
			m.try(label, func(k *schedule.Kernel) { change(&k.Schedules[s].Levels[l].Merge) }, words, args...)
		}
		label := "split-k"
		if level.Cut.By == "lanes" {
			label = "lanes"
		}
		m.try(label, func(k *schedule.Kernel) { k.Schedules[s].Levels = slices.Delete(k.Schedules[s].Levels, l, l+1) }, "there is no cut by %s %d", level.Cut.By, level.Cut.N)
		for _, n := range slices.Concat(parts, lengths, []int{level.Cut.N - 1, level.Cut.N + 1, level.Cut.N * 2, level.Cut.N / 2}) {
			cut(label, func(c *schedule.Cut) { c.N = n }, "%s %d is %d", level.Cut.By, level.Cut.N, n)
		}
		for _, g := range grains {
			cut("split-k", func(c *schedule.Cut) { c.Grain = g }, "grain %d is %d", level.Cut.Grain, g)
			cut("lanes", func(c *schedule.Cut) { c.Vector = g }, "vector %d is %d", level.Cut.Vector, g)
		}
		for _, by := range []string{"count", "spread"} {
			cut("split-k", func(c *schedule.Cut) { c.By = by }, "%s is %s", level.Cut.By, by)
		}
		for _, rest := range []string{"last", "first", "halve", "halve-down"} {
			cut("split-k", func(c *schedule.Cut) { c.Rest = rest }, "the shorter run is %s", rest)
		}
		for _, o := range orders {
			merge("k-order", func(m *schedule.Merge) { m.Order = o }, "order %s is %s", level.Merge.Order, o)
		}
		for _, start := range []string{"", "zero"} {
			merge("k-order", func(m *schedule.Merge) { m.Start = start }, "the sum starts from %q", start)
		}
		for _, f := range formats {
			merge("promotion", func(m *schedule.Merge) { m.Format = f }, "partial sums are added in %s", f)
			merge("promotion", func(m *schedule.Merge) { m.Parts = f }, "partial sums are rounded to %s", f)
			merge("promotion", func(m *schedule.Merge) { m.Store = f }, "sums are stored in %s", f)
		}
		for _, scale := range []string{"(sa*sb)*p", "sa*(sb*p)", "sb*(sa*p)"} {
			if level.Merge.Scale != "" {
				merge("scale", func(m *schedule.Merge) { m.Scale = scale }, "scale %s is %s", level.Merge.Scale, scale)
			}
		}
		merge("scale", func(m *schedule.Merge) { m.Fused = !m.Fused }, "scale and sum are fused, or are not")
	}
}

// added adds a level.
func (m *mutator) added(s int) {
	add := func(label string, l schedule.Level, words string, args ...any) {
		for at := range len(m.of.Schedules[s].Levels) + 1 {
			m.try(label, func(k *schedule.Kernel) { k.Schedules[s].Levels = slices.Insert(k.Schedules[s].Levels, at, l) }, words, args...)
		}
	}
	forward, halves := schedule.Merge{Order: "forward"}, schedule.Merge{Order: "halves"}
	for _, n := range lengths {
		add("split-k", schedule.Level{Cut: schedule.Cut{By: "size", N: n}, Merge: forward}, "a new accumulator begins after every %d products", n)
		add("split-k", schedule.Level{Cut: schedule.Cut{By: "size", N: n, Rest: "first"}, Merge: schedule.Merge{Order: "chain"}}, "the short one of the runs of %d products is the first", n)
		add("k-order", schedule.Level{Cut: schedule.Cut{By: "size", N: n}, Merge: schedule.Merge{Order: "chain-reverse"}}, "runs of %d products are added last first", n)
	}
	for _, n := range parts {
		for _, g := range grains {
			add("split-k", schedule.Level{Cut: schedule.Cut{By: "count", N: n, Grain: g}, Merge: forward}, "K is split among %d accumulators in multiples of %d", n, g)
			add("lanes", schedule.Level{Cut: schedule.Cut{By: "lanes", N: n, Vector: g}, Merge: forward}, "there are %d lanes, to which %d products are dealt at a time, added in order", n, g)
			add("lanes", schedule.Level{Cut: schedule.Cut{By: "lanes", N: n, Vector: g}, Merge: halves}, "there are %d lanes, to which %d products are dealt at a time, added by halves", n, g)
		}
	}
}

// units changes the operation.
func (m *mutator) units(s int) {
	set := func(change func(u *schedule.Unit), words string) {
		m.try("unit", func(k *schedule.Kernel) {
			if u := k.Schedules[s].Unit; u != nil {
				c := *u
				change(&c)
				k.Schedules[s].Unit = &c
			} else if k.Unit != nil {
				c := *k.Unit
				change(&c)
				k.Unit = &c
			}
		}, "%s", words)
	}
	op := func(name string) func(*schedule.Unit) {
		return func(u *schedule.Unit) {
			if u.Op != "" {
				u.Op = name
				u.Product = fp.None
			}
		}
	}
	set(op("fma"), "the products are not rounded: fused multiply-add")
	set(op("mul-add"), "the products are rounded: multiply, then add")
	set(func(u *schedule.Unit) {
		if u.Op != "" {
			u.Start = "empty"
		}
	}, "the first product is added to nothing")
}

// epilogue changes the steps after the sum.
func (m *mutator) epilogue() {
	m.try("epilogue", func(k *schedule.Kernel) { k.CFirst = !k.CFirst }, "the sum starts from C, or does not")
	for i, s := range m.of.Epilogue {
		m.try("epilogue", func(k *schedule.Kernel) { k.Epilogue = slices.Delete(k.Epilogue, i, i+1) }, "there is no %s", s.Op)
		m.try("epilogue", func(k *schedule.Kernel) { k.Epilogue[i].Saturate = !s.Saturate }, "%s saturates, or does not", s.Op)
		for _, f := range formats {
			m.try("epilogue", func(k *schedule.Kernel) { k.Epilogue[i].Format = f }, "%s is rounded to %s", s.Op, f)
		}
		for _, op := range []string{"beta-c", "beta-c-mul"} {
			if strings.HasPrefix(s.Op, "beta-c") {
				m.try("epilogue", func(k *schedule.Kernel) { k.Epilogue[i].Op = op }, "%s is %s", s.Op, op)
			}
		}
	}
}
