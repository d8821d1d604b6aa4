package fleet

import (
	"path/filepath"
	"testing"
	"time"
)

// TestAdvice says of shards that have begun that they are to be started again, and names others.
func TestAdvice(t *testing.T) {
	p, _ := newPlan(t, 1)
	const run = "mmafuzz run --campaign a/campaign.json --shard "
	for _, c := range []struct {
		dirs   []string
		logs   []logName
		done   func(n int) bool
		advice string
	}{
		{[]string{"a"}, []logName{{0, 2, "h"}, {1, 2, "h"}}, func(n int) bool { return n == 0 }, startAgain},
		{[]string{"a"}, []logName{{0, 2, "h"}}, func(n int) bool { return n%2 == 0 },
			"shard 1/2 has no result here: name its directory, too, or start it: " + run + "1/2 --out a"},
		{[]string{"a"}, []logName{{0, 2, "h"}}, func(n int) bool { return n == 0 },
			"shard 1/2 has no result here: name its directory, too, or start it: " + run + "1/2 --out a; then " + startAgain},
		{[]string{"a", "b"}, []logName{{0, 4, "h"}, {2, 4, "h"}}, func(n int) bool { return n%2 == 0 },
			"shards 1, 3 of 4 have no result here: name their directories, too, or start them: " + run + "I/4 --out DIR --own-units"},
		{[]string{"a"}, []logName{{0, 2, "h"}, {0, 3, "h"}}, func(n int) bool { return n == 0 }, startAgain},
		{[]string{"a"}, []logName{{}}, func(n int) bool { return n == 0 }, startAgain},
	} {
		x := newIndex(p, c.dirs...)
		for i, name := range c.logs {
			x.logs[filepath.Join(c.dirs[i%len(c.dirs)], unitsDir, string(rune('A'+i)))] = &readLog{logName: name}
		}
		for n := range p.Units() {
			if c.done(n) {
				x.put(n, place{})
			}
		}
		if got := x.advice(c.dirs); got != c.advice {
			t.Errorf("%v: %s, want %s", c.logs, got, c.advice)
		}
	}
}

// TestTimes keeps of several times of a unit the first that is known.
func TestTimes(t *testing.T) {
	at := time.UnixMilli(1000)
	for _, order := range [][]time.Time{{{}, at, at.Add(1)}, {at.Add(1), {}, at}, {at, at.Add(1), {}}} {
		done := times{}
		for _, x := range order {
			done.add(7, x)
		}
		if !done[7].Equal(at) {
			t.Errorf("%v: %v", order, done[7])
		}
	}
}

// TestRanges leaves out what is more than one number.
func TestRanges(t *testing.T) {
	odd := func(n int) (all []int) {
		for i := range n {
			all = append(all, 2*i+1)
		}
		return all
	}
	for want, numbers := range map[string][]int{
		"": nil, "3-7, 9": {3, 4, 5, 6, 7, 9},
		"1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25":         odd(13),
		"1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, and 2 more": odd(14),
	} {
		if got := Ranges(numbers); got != want {
			t.Errorf("%v: %s, want %s", numbers, got, want)
		}
	}
}
