package infer

import (
	"strings"
	"testing"
)

// TestTested has the bounds that follow from numbers of inputs.
func TestTested(t *testing.T) {
	for _, c := range []struct {
		name                      string
		asked, independent, oneIn int
		of                        uint64
		bound                     string
	}{
		{"cut", 1, 1, 0, 0, "no bound: too few"},
		{"cut", 2, 2, 0, 0, "no bound: too few"},
		{"cut", 5, 5, 0, 0, "no bound: too few"},
		{"cut", 6, 6, 2, 0, "one in 2"},
		{"cut", 100_000, 100_000, 33_333, 0, "one in 33333"},
		{"pattern", 100_000, 0, 0, 2_000_000, "no bound: enumerated, 2000000 in all"},
		{"corner", 20_159, 0, 0, 20_160, "no bound: enumerated, 20160 in all"},
		{"corner", 20_160, 0, 0, 20_160, "no differences: all inputs of this kind were compared"},
		{"corner", 0, 0, 0, 20_160, "nothing was compared"},
		// Of the 128 results of a tile 8 share no row and no column.
		{"raw", 1, 8, 2, 0, "one in 2"},
		{"normal", 128, 8, 2, 0, "one in 2"},
		{"normal", 129, 16, 5, 0, "one in 5"},
		{"dnn", 100_000, 6256, 2085, 0, "one in 2085"},
	} {
		got := tested(Class{Name: c.name, Asked: c.asked, Of: c.of})
		if got.Independent != c.independent || got.OneIn != c.oneIn || got.bound() != c.bound {
			t.Errorf("%s %d: %d independent, one in %d, %q", c.name, c.asked, got.Independent, got.OneIn, got.bound())
		}
	}
}

// TestConfident checks that the kind of which least is known decides.
func TestConfident(t *testing.T) {
	for _, c := range []struct {
		classes []Class
		want    string
	}{
		{[]Class{{Name: "pattern", Asked: 900}}, "no bound for untested inputs: the inputs were enumerated"},
		{[]Class{{Name: "cut", Asked: 2}, {Name: "raw", Asked: 128}}, "no bound for untested inputs: of cut only 2 were drawn independently"},
		{[]Class{{Name: "pattern", Asked: 5}, {Name: "cut", Asked: 1000}, {Name: "raw", Asked: 1000}}, "at most one input in 21 differs (95 % confidence for each kind). The weakest kind is raw with 64 independent inputs;"},
	} {
		r := &Report{}
		for _, x := range c.classes {
			r.Classes = append(r.Classes, tested(x))
		}
		if got := r.confident(); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
