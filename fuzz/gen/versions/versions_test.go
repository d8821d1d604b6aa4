package versions

import (
	"regexp"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestDigests changes the data: what results depend on changes the digest, nothing else
// does.
func TestDigests(t *testing.T) {
	base := mma.Catalog()[:3]
	for _, tc := range []struct {
		name   string
		change func(rows []mma.Instruction)
		other  bool
	}{
		{"nothing", func([]mma.Instruction) {}, false},
		{"source and evidence", func(rows []mma.Instruction) { rows[1].Source, rows[1].Evidence = "a paper", "a chip" }, false},
		{"a parameter", func(rows []mma.Instruction) { rows[1].Params.Join.Align.F++ }, true},
		{"K", func(rows []mma.Instruction) { rows[2].K *= 2 }, true},
		{"a format", func(rows []mma.Instruction) { rows[0].D = fp.BF16 }, true},
		{"a name", func(rows []mma.Instruction) { rows[0].Name += "x" }, true},
		{"what is not known", func(rows []mma.Instruction) { rows[0].Unknown ^= mma.FacetNaN }, true},
		{"the order", func(rows []mma.Instruction) { rows[0], rows[1] = rows[1], rows[0] }, true},
	} {
		rows := slices.Clone(base)
		tc.change(rows)
		if other := catalogue(rows) != catalogue(base); other != tc.other {
			t.Errorf("%s: another digest: %v, want %v", tc.name, other, tc.other)
		}
	}
	all := gen.Versions()
	raw := *all[0]
	raw.Doc = "something else"
	if again := append([]*gen.Generator{&raw}, all[1:]...); generators(again) != generators(all) {
		t.Error("the documentation of a generator changes the digest")
	}
	raw.Version++
	if again := append([]*gen.Generator{&raw}, all[1:]...); generators(again) == generators(all) {
		t.Error("the version of a generator does not change the digest")
	}
	if ids := fp.All(); formats(ids[1:]) == formats(ids) {
		t.Error("a format less does not change the digest")
	}
}

// TestCurrent checks that the digests are there, and are different ones.
func TestCurrent(t *testing.T) {
	d := Current()
	for what, digest := range d.Named() {
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(digest) {
			t.Errorf("%s: %q", what, digest)
		}
	}
	if len(map[string]bool{d.Catalogue: true, d.Generators: true, d.Formats: true}) != 3 {
		t.Errorf("two digests are the same: %+v", d)
	}
}
