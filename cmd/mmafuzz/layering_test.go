package main

import (
	"os"
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
	{"sim/fp", "corpus/hint", "corpus/strictjson"},
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

// importsOf returns the imports of all packages of the module as "IMPORTER IMPORTED",
// without those of tests, for one platform.
func importsOf(t *testing.T, goos, goarch string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-e", "-f", `{{range .Imports}}{{$.ImportPath}} {{.}}{{"\n"}}{{end}}`, module+"...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "GOPROXY=off") // -e, off: other platforms' modules may be missing
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list for %s/%s: %v", goos, goarch, err)
	}
	var all []string
	for line := range strings.Lines(string(out)) {
		importer, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(imported, module) {
			all = append(all, strings.TrimPrefix(importer, module)+" "+strings.TrimPrefix(imported, module))
		}
	}
	return all
}

// TestLayering holds that data flows one way: see layers.
func TestLayering(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command lists the imports: ", err)
	}
	var imports []string
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"darwin", "arm64"}} {
		imports = append(imports, importsOf(t, platform[0], platform[1])...)
	}
	if len(imports) == 0 {
		t.Fatal("go list lists no imports")
	}
	slices.Sort(imports)
	imports = slices.Compact(imports)
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
