package mma

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
)

// fieldByPath is FindField for paths that must be there.
func fieldByPath(t testing.TB, path string) Field {
	t.Helper()
	f, ok := FindField(path)
	if !ok {
		t.Fatalf("there is no parameter %q", path)
	}
	return f
}

// TestFieldList pins the names of the parameters and of their values: model
// files and bundles are made of them.
func TestFieldList(t *testing.T) {
	var s strings.Builder
	for _, f := range Fields() {
		fmt.Fprintf(&s, "%-19s %s\n", f.Path, f.Kind())
	}
	golden.Rows(t, "testdata/fields.golden", s.String())
}

// fieldSamples are values of a field: all of an enumeration and of small
// numbers, the extremes of others.
func fieldSamples(f Field) []int {
	if vals := f.Values(); vals != nil {
		return vals
	}
	var vals []int
	switch f.value(&Params{}).Interface().(type) {
	case Exp:
		return []int{math.MinInt16, -139, -1, 0, 1, 127, math.MaxInt16}
	case Merge:
		return []int{0, int(MergeBy(1)), int(MergeBy(2, 1)), int(MergeBy(1, 2)), int(MergeBy(8, 16, 4, 1, 2)), int(MergeHalves(255))}
	case Passes:
		for _, p := range append(PassLists, 0) {
			vals = append(vals, int(p))
		}
		return vals
	case int32:
		return []int{-65535, -1, 0, 1, 128, 65535}
	case fp.ID:
		for _, id := range append(fp.All(), fp.None) {
			vals = append(vals, int(id))
		}
		return vals
	}
	for v := range 256 {
		vals = append(vals, v)
	}
	return vals
}

// TestFieldText sets every field to every value and takes the value through its
// number and its text: nothing else of the program may change.
func TestFieldText(t *testing.T) {
	for _, f := range Fields() {
		texts := map[string]int{}
		for _, v := range fieldSamples(f) {
			var p, q Params
			f.SetInt(&p, v)
			if got := f.Int(&p); got != v {
				t.Errorf("%s: %d comes back as %d", f.Path, v, got)
			}
			text := f.Text(&p)
			if other, dup := texts[text]; dup {
				t.Errorf("%s: %d and %d are both %q", f.Path, other, v, text)
			}
			texts[text] = v
			if err := f.setText(&q, text); err != nil || q != p {
				t.Errorf("%s: text %q of %d comes back as %+v, %v", f.Path, text, v, q, err)
			}
			if d := Diff(&Params{}, &p); v != 0 && (len(d) != 1 || d[0].Path != f.Path || d[0].To != text) || v == 0 && d != nil {
				t.Errorf("%s=%s: the difference from nothing is %v", f.Path, text, d)
			}
		}
	}
}

func TestFieldTextErrors(t *testing.T) {
	for _, tc := range []struct{ path, text, want string }{
		{"l", "256", `l: "256" is not a number in range`},
		{"l", "-1", `l: "-1" is not a number in range`},
		{"l", "", `l: "" is not a number in range`},
		{"l", "4.5", `l: "4.5" is not a number in range`},
		{"l", "exact", `l: "exact" is not a number in range`},
		{"join.align.f", "1e2", `join.align.f: "1e2" is not a number in range`},
		{"join.align.f", "none", `join.align.f: "none" is not a number in range`},
		{"join.align.floor", "exact", `join.align.floor: "exact" is not a number in range`},
		{"join.align.floor", "-32769", `join.align.floor: "-32769" is not a number in range`},
		{"special.negzero", "yes", `special.negzero: "yes" is not true or false`},
		{"stage0.fixed", "", `stage0.fixed: "" is not true or false`},
		{"acc.mode", "RZ", `acc.mode: unknown rounding mode "RZ" (one of rne, rz, rd, ru, rna, rto, rs)`},
		{"in.widen", "fp17", `in.widen: unknown format "fp17"`},
		{"in.sub", "flush", `in.sub: "flush" is not one of keep, zero, plus-zero`},
		{"order", "", `order: "" is not one of ascending, descending, swap-pairs, split4, even-odd, halves`},
		{"merge", "4-3-1", `merge: "4-3-1" is not sequential or a list of powers of two such as 4-2-1`},
		{"merge", "256-128", `merge: "256-128" is not sequential or a list of powers of two such as 4-2-1`},
		{"merge", "1-1-1-1-1-1-1-1-1", `merge: "1-1-1-1-1-1-1-1-1" is not sequential or a list of powers of two such as 4-2-1`},
		{"merge", "4--1", `merge: "4--1" is not sequential or a list of powers of two such as 4-2-1`},
		{"acc.over", "unknown(3)", `acc.over: "unknown(3)" is not one of inf, ieee, max, sat, wrap`},
	} {
		p := Params{L: 3}
		err := fieldByPath(t, tc.path).setText(&p, tc.text)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s=%q: error %v, want %s", tc.path, tc.text, err, tc.want)
		}
		if p != (Params{L: 3}) {
			t.Errorf("%s=%q: the program has changed: %+v", tc.path, tc.text, p)
		}
	}
}

// TestUnknownEnum checks that a value without a name shows as what it is.
func TestUnknownEnum(t *testing.T) {
	for _, path := range []string{"in.sub", "prod.exp", "scale", "order", "start", "stage0.sum", "stage1.split", "acc.flush", "out.over", "special.nan"} {
		var p Params
		f := fieldByPath(t, path)
		f.SetInt(&p, 77)
		if got := f.Text(&p); got != "unknown(77)" {
			t.Errorf("%s = 77 is %q", path, got)
		}
	}
	p := Params{Acc: Round{Mode: 77}}
	if got := fieldByPath(t, "acc.mode").Text(&p); got != "mode(77)" {
		t.Errorf("acc.mode = 77 is %q", got)
	}
}

// TestDiffApply takes the difference between any two programs of the catalogue
// from the one to the other.
func TestDiffApply(t *testing.T) {
	rows := Arithmetics()
	for _, x := range rows {
		for _, y := range rows {
			p := x.Params
			if err := p.Apply(Diff(&x.Params, &y.Params)); err != nil || p != y.Params {
				t.Errorf("%s to %s: %+v, %v", x.FullName(), y.FullName(), p, err)
			}
		}
	}
	var p Params
	if err := p.Apply([]Change{{Path: "join.f", To: "3"}}); err == nil || err.Error() != `there is no parameter "join.f"` {
		t.Errorf("an unknown parameter gives %v", err)
	}
	if err := p.Apply([]Change{{"l", "1", "2"}, {"l", "2", "x"}}); err == nil {
		t.Error("a bad value is accepted")
	}
}
