package compare

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
)

// named is a target that has a name alone.
type named struct {
	devices.Target
	name string
}

func (t named) Name() string { return t.name }

// TestNameSides has recordings of one machine in several files.
func TestNameSides(t *testing.T) {
	type recording struct{ file, name string }
	for _, c := range []struct {
		files []recording
		want  []string // none: they have no different names
	}{
		{[]recording{{"d1/night.rec", "site-a"}, {"d2/night.rec", "site-b"}}, []string{"site-a", "site-b"}},
		{[]recording{{"old.rec", "site-a"}, {"new.rec", "site-a"}}, []string{"old", "new"}},
		{[]recording{{"d1/night.rec", "site-a"}, {"d2/night.rec", "site-a"}}, []string{"d1-night", "d2-night"}},
		{[]recording{{"d1/night.rec", ""}, {"d2/night.rec", ""}, {"d1/day.rec", "x"}}, []string{"d1-night", "d2-night", "x"}},
		{[]recording{{"d1/night.rec", ""}, {"d1/night.rec", ""}}, nil},
	} {
		var sides []*Side
		for _, f := range c.files {
			sides = append(sides, &Side{Spec: f.file, Target: named{name: "replay:" + f.file}, Recording: &corpus.Recording{Header: corpus.Header{Name: f.name}}})
		}
		if err := nameSides(sides); (err != nil) != (c.want == nil) {
			t.Errorf("%v: %v", c.files, err)
		}
		for n, want := range c.want {
			if sides[n].Name != want {
				t.Errorf("%v: %s, want %s", c.files, sides[n].Name, want)
			}
		}
	}
}
