package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
)

// termName returns the name of a term: p12, c, d0, g1, T.
func (v *view) termName(sum, term int) string {
	s := &v.sums[sum]
	t := &s.Terms[term]
	switch t.From {
	case sim.FromProduct:
		switch {
		case v.in.converts() && v.in.Formats.B.IsOne():
			return "a"
		case v.in.converts():
			return "a*scale"
		}
		return "p" + strconv.Itoa(t.K)
	case sim.FromGroup:
		return v.groupName(v.stepOf[sum], s.Place, t.K)
	case sim.FromPartial:
		if s.Place == sim.Late {
			return v.leaves(v.stepOf[t.K])
		}
		return v.sumName(t.K)
	case sim.FromZero:
		return "0"
	}
	if t.From == sim.FromC && s.Exec == 0 {
		return "c"
	}
	if i := v.origin(sum, term); i >= 0 {
		return v.leaves(v.stepOf[i])
	}
	return "0" // a lane without products
}

// groupName returns the name of the sum of group k of the stage before place.
func (v *view) groupName(step int, place sim.Place, k int) string {
	switch {
	case place == sim.Join && v.groups(step) == 1:
		return "T"
	case place == sim.Join && v.hasStage1():
		return "h" + strconv.Itoa(k)
	}
	return "g" + strconv.Itoa(k)
}

// groups returns how many sums the stages of a step leave for the join.
func (v *view) groups(step int) int {
	n := 0
	for _, t := range v.sums[v.steps[step].end-1].Terms {
		if t.From == sim.FromGroup {
			n++
		}
	}
	return n
}

// sumName returns the name of a sum: S, that of its group, or s and a number
// for a partial sum; of a conversion x.
func (v *view) sumName(i int) string {
	s := &v.sums[i]
	if s.Place >= sim.Join {
		if v.in.converts() {
			return "x"
		}
		return "S"
	}
	st := &v.steps[v.stepOf[i]]
	for j := i + 1; j < st.end; j++ {
		if n := &v.sums[j]; n.Place == s.Place && (n.Group == s.Group || v.deep(s.Place)) {
			return "s" + strconv.Itoa(i-st.first)
		}
	}
	after := sim.Join
	if s.Place == sim.Stage0 && v.hasStage1() {
		after = sim.Stage1
	}
	return v.groupName(v.stepOf[i], after, s.Group)
}

// deep reports whether a stage sums the sums of its groups again.
func (v *view) deep(place sim.Place) bool {
	return place == sim.Stage0 && v.p.Stage0.Deep || place == sim.Stage1 && v.p.Stage1.Deep
}

// resultName returns what the result of a sum is called where it is used.
func (v *view) resultName(i int) string {
	switch {
	case i == len(v.sums)-1:
		return "d"
	case v.sums[i].Place >= sim.Join:
		return v.leaves(v.stepOf[i])
	}
	return v.sumName(i)
}

// leaves names what a step leaves: d and its number, or the accumulator itself if it is the last of
// one of several that take turns.
func (v *view) leaves(step int) string {
	st := &v.steps[step]
	if name := v.accumulator(step); name != "" && v.laneStep(st.exec, st.lane) == step {
		return name
	}
	return "d" + strconv.Itoa(step)
}

// accumulator names the accumulator of a step if there are several that take turns, acc0, acc1 and
// so on; "" otherwise.
func (v *view) accumulator(step int) string {
	st := &v.steps[step]
	if lanes := int(v.p.Lanes); lanes < 2 || st.late || st.lane >= lanes {
		return ""
	}
	return "acc" + strconv.Itoa(st.lane)
}

// stepName says which step it is and which elements it takes; "" if there is
// only one.
func (v *view) stepName(i int) string {
	st := &v.steps[i]
	switch {
	case len(v.steps) == 1:
		return ""
	case st.late:
		return fmt.Sprintf("step %d, after the last", i)
	}
	name := fmt.Sprintf("step %d", i)
	if acc := v.accumulator(i); acc != "" {
		name += " of " + acc
	}
	var ks []int
	for j := range st.products {
		ks = append(ks, st.products[j].K)
	}
	k := Ranges("", ks)
	if len(k) > 4 {
		return fmt.Sprintf("%s (%d of k %d..%d)", name, len(ks), slices.Min(ks), slices.Max(ks))
	}
	return fmt.Sprintf("%s (k %s)", name, strings.Join(k, ","))
}

// stepPrefix is what stands before the sum number i: the step's name before its
// first one, then its number.
func (v *view) stepPrefix(i int) string {
	at := v.stepOf[i]
	switch {
	case len(v.steps) == 1:
		return ""
	case i > v.steps[at].first:
		return fmt.Sprintf("step %d: ", at)
	}
	return v.stepName(at) + ": "
}

// termNames lists the names of a sum's terms, runs of numbers joined.
func (v *view) termNames(sum int) []string {
	var names []string
	for j := range v.sums[sum].Terms {
		names = append(names, v.termName(sum, j))
	}
	return joinNames(names)
}

// joinNames joins numbered names of one letter: p0 p1 p2 c is p0..p2 c.
func joinNames(names []string) []string {
	var out []string
	for len(names) > 0 {
		prefix, _, ok := numbered(names[0])
		var ns []int
		for len(names) > 0 && ok {
			p, n, numeric := numbered(names[0])
			if !numeric || p != prefix {
				break
			}
			ns, names = append(ns, n), names[1:]
		}
		if !ok {
			out, names = append(out, names[0]), names[1:]
			continue
		}
		out = append(out, Ranges(prefix, ns)...)
	}
	return out
}

func numbered(name string) (prefix string, n int, ok bool) {
	n, err := strconv.Atoi(name[1:])
	return name[:1], n, err == nil
}

// Ranges writes numbers, each after a prefix, in as few words as possible: p0..p7, and
// p0,p2..p14 for equal steps.
func Ranges(prefix string, ns []int) []string {
	ns = slices.Sorted(slices.Values(ns))
	name := func(n int) string { return prefix + strconv.Itoa(n) }
	if len(ns) > 3 && evenly(ns) && ns[1]-ns[0] > 1 {
		return []string{name(ns[0]) + "," + name(ns[1]) + ".." + name(ns[len(ns)-1])}
	}
	var out []string
	for len(ns) > 0 {
		n := 1
		for n < len(ns) && ns[n] == ns[n-1]+1 {
			n++
		}
		switch n {
		case 1:
			out = append(out, name(ns[0]))
		case 2:
			out = append(out, name(ns[0]), name(ns[1]))
		default:
			out = append(out, name(ns[0])+".."+name(ns[n-1]))
		}
		ns = ns[n:]
	}
	return out
}

func evenly(ns []int) bool {
	for i := 2; i < len(ns); i++ {
		if ns[i]-ns[i-1] != ns[1]-ns[0] {
			return false
		}
	}
	return true
}
