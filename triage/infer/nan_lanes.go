package infer

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A fault may show only if several lanes have one NaN, which random inputs hardly ever hit on. So
// each NaN of a, and each of b, is asked for in all lanes at once, where a format has few enough.

// nanBits is the number of bits of the widest codes whose NaNs are all asked for.
const nanBits = 16

// allNaNs returns all NaNs of a format; none if its codes are too wide.
func allNaNs(id fp.ID) []uint64 {
	f := id.Get()
	var codes []uint64
	if f.Integer() || !f.HasNaN() || f.CodeBits() > nanBits {
		return nil
	}
	for code := range f.CodeMask() + 1 {
		if f.Decode(code).Class == fp.NaN {
			codes = append(codes, code)
		}
	}
	return codes
}

// nanLanes returns a dot product for each NaN of a, and for each of b, which all lanes have, times 1.
func nanLanes(f mma.Formats, k int) []*mma.Dot {
	var dots []*mma.Dot
	for _, ofB := range []bool{false, true} {
		id, other := f.A, f.B
		if ofB {
			id, other = f.B, f.A
		}
		for _, nan := range allNaNs(id) {
			d := newDesigner(f, k, nil)
			d.start()
			nans, ones := d.dot.A, d.dot.B
			if ofB {
				nans, ones = ones, nans
			}
			for i := range nans {
				nans[i], ones[i] = nan, code(other.Get(), false, 0, 0)
			}
			dots = append(dots, d.dot)
		}
	}
	return dots
}

// nansCovered says which NaNs were compared in several lanes at once; "": none were to be.
func (t *Report) nansCovered() string {
	if t.K < 2 || t.NaN == oracle.ByClass.String() {
		return ""
	}
	var all []string
	some := false
	for _, o := range []struct {
		name string
		id   fp.ID
	}{{"a", t.Formats.A}, {"b", t.Formats.B}} {
		f := o.id.Get()
		some = some || f.HasNaN() && !f.Integer()
		if len(allNaNs(o.id)) > 0 {
			all = append(all, "each NaN of "+o.name)
		}
	}
	switch {
	case !some:
		return ""
	case len(all) == 0:
		return " NaNs in several lanes at once were only drawn at random: a fault that one code of them shows there may have been missed."
	}
	return fmt.Sprintf(" All lanes had %s; NaNs that differ from lane to lane were only drawn at random: a fault that two of them show together may have been missed.", strings.Join(all, ", then "))
}
