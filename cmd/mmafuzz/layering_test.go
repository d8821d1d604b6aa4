package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/mmafuzz/mmafuzz/"

// layers are the packages of the module from the bottom to the top. A package may
// import packages of the layers below it, not of its own: so the judge (oracle)
// shares no code with the judged (sim). A folder below one of these belongs to its
// layer, unless it is listed itself; within one folder imports are free.
var layers = [][]string{
	{"sim/fp", "sim/parallel", "corpus/hint", "corpus/strictjson"},
	{"sim/mma"},
	{"sim/schedule", "sim/byvalue"},
	{"sim", "oracle", "corpus"},
	{"minimize", "devices", "fuzz/internal/simd"},
	{"fuzz/gen"},
	{"triage"},
	{"fuzz/finding"},
	{"fuzz/engine"},
	{"fuzz"},
	{"fuzz/bisect", "fuzz/cases", "fuzz/record", "fuzz/compare", "fuzz/doctor", "fuzz/evidence", "fuzz/fleet"},
	{"fuzz/bench", "fuzz/checklist", "fuzz/listing", "fuzz/summary", "fuzz/vectors"},
	{"fuzz/pages", "fuzz/atlas"},
	{"cmd"},
}

// entryOf returns the entry of layers that a package belongs to, the longest that
// fits, and the layer; "" and -1 if there is none.
func entryOf(pkg string) (entry string, layer int) {
	layer = -1
	for n, names := range layers {
		for _, name := range names {
			if (pkg == name || strings.HasPrefix(pkg, name+"/")) && len(name) > len(entry) {
				entry, layer = name, n
			}
		}
	}
	return entry, layer
}

// allowed reports whether a package may import another.
func allowed(importer, imported string) bool {
	from, upper := entryOf(importer)
	to, lower := entryOf(imported)
	return from == to || lower < upper
}

// imports returns the imports of all packages of the module as "IMPORTER IMPORTED", without
// those of tests, for all platforms and build tags.
func (s sources) imports() []string {
	var all []string
	for dir, files := range s {
		if strings.Contains(dir, " ") {
			continue
		}
		for _, f := range files {
			for _, i := range f.Imports {
				if imported, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); ok {
					all = append(all, dir+" "+imported)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestLayering holds that data flows one way: see layers.
func TestLayering(t *testing.T) {
	t.Parallel()
	imports := moduleSources(t).imports()
	if len(imports) == 0 {
		t.Fatal("no package imports another")
	}
	for _, line := range imports {
		importer, imported, _ := strings.Cut(line, " ")
		if _, layer := entryOf(importer); layer < 0 {
			t.Errorf("%s is in no layer: add it to layers", importer)
		} else if !allowed(importer, imported) {
			t.Errorf("%s must not import %s, which is not in a layer below: see layers", importer, imported)
		}
	}
}

// TestAllowed tests the rule itself.
func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		importer, imported string
		want               bool
	}{
		{"sim", "sim/fp", true},
		{"sim/fp", "sim", false},
		{"sim/internal/simd", "sim/mma", true},
		{"sim", "sim/internal/simd", true},
		{"oracle", "sim", false},
		{"oracle", "sim/schedule", true},
		{"oracle", "sim/gemm", false},
		{"sim", "oracle", false},
		{"devices/simulated", "sim", true},
		{"devices/cuda", "devices", true},
		{"devices", "minimize", false},
		{"fuzz/gen", "devices", true},
		{"fuzz/gen", "fuzz", false},
		{"fuzz", "fuzz/gen", true},
		{"fuzz", "fuzz/engine", true},
		{"fuzz/engine", "fuzz/finding", true},
		{"fuzz/finding", "fuzz/engine", false},
		{"fuzz/engine", "fuzz", false},
		{"fuzz/internal/simd", "fuzz/gen", false},
		{"triage/infer", "fuzz/gen", true},
		{"triage/infer", "fuzz", false},
		{"cmd/mmafuzz", "fuzz/vectors", true},
		{"fuzz/compare", "fuzz", true},
		{"fuzz", "fuzz/compare", false},
		{"fuzz/compare", "fuzz/record", false},
		{"fuzz/summary", "fuzz/compare", true},
		{"fuzz", "cmd/mmafuzz", false},
	} {
		if got := allowed(c.importer, c.imported); got != c.want {
			t.Errorf("%s imports %s: %v, want %v", c.importer, c.imported, got, c.want)
		}
	}
}

// TestTopLevel checks that the entries of the repository are those that the project has: a
// stray file is easily committed and seldom noticed.
func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil || len(out) == 0 {
		t.Skip("not a checkout of git: what is tracked is not known")
	}
	want := []string{"LICENSE", "README.md", "cmd", "corpus", "devices", "fuzz", "go.mod", "go.sum", "minimize", "oracle", "sim", "triage"}
	var got []string
	for file := range strings.Lines(string(out)) {
		if entry, _, _ := strings.Cut(strings.TrimSpace(file), "/"); !strings.HasPrefix(entry, ".") {
			got = append(got, entry)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("entries of the repository (-want +got):\n%s", diff)
	}
}
