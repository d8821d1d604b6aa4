package kernel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// roundedParts are the values of Only that are tried, of each part where it is known how many there are.
func roundedParts(c *schedule.Cut) (all []string) {
	n := 4
	if c.By == "count" || c.By == "spread" || c.By == "lanes" {
		n = min(c.N, 16)
	}
	for i := range n {
		all = append(all, strconv.Itoa(i+1))
	}
	return append(all, "last", "not-1", "not-last")
}

// partWords say of which parts Only is.
func partWords(only, part string) string {
	ordinals := map[string]string{"1": "first", "2": "second", "3": "third", "4": "fourth", "last": "last"}
	name, others := strings.CutPrefix(only, "not-")
	switch {
	case only == "":
		return "every " + part
	case others:
		return fmt.Sprintf("every %s but the %s", part, cmp.Or(ordinals[name], name+"th"))
	}
	return fmt.Sprintf("the %s %s", cmp.Or(ordinals[name], name+"th"), part)
}

// narrower are the formats in which results of a schedule's unit lose bits.
func (m *mutator) narrower() []fp.ID {
	u := cmp.Or(m.of.Schedules[m.s].Unit, m.of.Unit)
	if u == nil {
		return nil
	}
	i, err := u.Resolve()
	if err != nil || i.D.Integer() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(formats), func(f fp.ID) bool { return f == fp.None || f.Get().FracBits >= i.D.Get().FracBits })
}

// partials rounds the sums of some parts, and running sums after some: as where one of several is kept in memory
// in a narrower format. Where there are no such parts, it makes them of the accumulator's products.
func (m *mutator) partials() {
	levels := m.of.Schedules[m.s].Levels
	for l, level := range levels {
		where := ""
		if l > 0 {
			where = within(levels, l)
		}
		set := func(only string, change func(m *schedule.Merge), words string, args ...any) {
			m.try("promotion", "", nil, nil, func(k *schedule.Kernel) {
				merge := &k.Schedules[m.s].Levels[l].Merge
				merge.Only = only
				change(merge)
			}, "%s%s", fmt.Sprintf(words, args...), where)
		}
		for _, only := range append(roundedParts(&level.Cut), "") {
			part := partWords(only, partName(&level.Cut))
			set(only, func(*schedule.Merge) {}, "what is rounded is the sum of %s only", part)
			for _, f := range m.narrower() {
				set(only, func(m *schedule.Merge) { m.Parts = f }, "the sum of %s is rounded to %s before it is added", part, f)
				set(only, func(m *schedule.Merge) { m.Store = f }, "the running sum is rounded to %s after %s", f, part)
			}
		}
	}
	length := math.MaxInt // of an innermost part: after its last product it is its sum that is rounded, as above
	if n := len(levels); n > 0 && levels[n-1].Cut.By == "size" {
		length = levels[n-1].Cut.N
	}
	for _, f := range m.narrower() {
		for at, only := range []string{"", "1", "2", "3", "not-last"} {
			nth := max(1, at%4) // the first part after which it is rounded
			chain := schedule.Merge{Order: "chain", Store: f, Only: only}
			round := func(cut schedule.Cut, part string) {
				m.add("promotion", schedule.Level{Cut: cut, Merge: chain}, "the accumulator is rounded to %s after %s", f, partWords(only, part))
			}
			for _, n := range lengths {
				if nth*n < length {
					round(schedule.Cut{By: "size", N: n}, fmt.Sprintf("run of %d products", n))
				}
			}
			for _, n := range parts {
				if nth < n {
					round(schedule.Cut{By: "count", N: n}, fmt.Sprintf("of %d equal parts", n))
				}
			}
		}
	}
}

// partName is what a cut's parts are called.
func partName(c *schedule.Cut) string {
	switch c.By {
	case "lanes":
		return "lane"
	case "size":
		return fmt.Sprintf("run of %d products", c.N)
	}
	return "part"
}
