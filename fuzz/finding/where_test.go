package finding

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestWhereAdd(t *testing.T) {
	var w Where
	w.Add(&Where{Sources: map[string]Tally{"cut": {10, 3}}, Ulps: []uint64{0, 2, 1}, Spread: []Tally{{}, {4, 1}}})
	w.Add(&Where{Sources: map[string]Tally{"cut": {5, 5}, "raw": {8, 0}}, Ulps: []uint64{0, 1}})
	w.AddSpread(1000, Tally{1, 1})
	want := Where{Sources: map[string]Tally{"cut": {15, 8}, "raw": {8, 0}}, Ulps: []uint64{0, 3, 1}, Spread: make([]Tally, SpreadMost+2)}
	want.Spread[1], want.Spread[SpreadMost+1] = Tally{4, 1}, Tally{1, 1}
	if diff := cmp.Diff(want, w); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

func TestWhereCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *Where
		ok   bool
	}{
		{"none", &Where{}, true},
		{"all", &Where{Sources: map[string]Tally{"cut": {10, 10}}, Ulps: []uint64{0, 10}, Spread: []Tally{{10, 2}}}, true},
		{"too many distances", &Where{Ulps: []uint64{0, 11}}, false},
		{"distances that wrap", &Where{Ulps: []uint64{1 << 63, 1 << 63}}, false},
		{"a distance of 65 bits", &Where{Ulps: make([]uint64, 66)}, false},
		{"more that differ than there are", &Where{Spread: []Tally{{1, 2}}}, false},
		{"more of a generator than there are", &Where{Sources: map[string]Tally{"cut": {11, 0}}}, false},
		{"a name with a line end", &Where{Sources: map[string]Tally{"cut\n": {1, 0}}}, false},
	} {
		if err := c.w.Check(10); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestStepsApart(t *testing.T) {
	for _, c := range []struct{ x, y, want uint64 }{
		{0x3f800000, 0x3f7fffff, 1}, {0x3f7fffff, 0x3f800000, 1}, {0, 0x80000000, 0}, {1, 0x80000001, 2}, {0x7f800000, 0xff800000, 0xff000000},
	} {
		if got := StepsApart(fp.FP32.Get(), c.x, c.y); got != c.want {
			t.Errorf("%08x and %08x are %d apart, want %d", c.x, c.y, got, c.want)
		}
	}
}
