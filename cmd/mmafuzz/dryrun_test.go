package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// dryRuns are additions to the project as .github/CONTRIBUTING.md describes them.
var dryRuns = []struct {
	name     string
	insert   []insertion
	create   map[string]string
	packages []string
	run      string // of the scripts of this package
	red      []string
	stale    string // what a failing table of fuzz/selfcheck says of each row
}{
	{
		name: "arithmetic",
		insert: []insertion{{"sim/mma/catalog_nvidia.go", "var nvidia = []decl{\n",
			"\t{archs: \"turing\", names: \"mma.m16n8k16.f32.f16.f16.f32\", params: TFDPA(4, 22, rz32(), -130), source: \"made up\", evidence: \"made up\"},\n"}},
		packages: []string{"./sim/mma", "./oracle", "./fuzz/gen", "./fuzz/selfcheck", "./fuzz/vectors", "./triage/probe", "./devices"},
		run:      "TestScript/(list|diff|eval|show)$",
		red: []string{
			"cmd/mmafuzz TestScript/list",
			"sim/mma TestCatalogGolden",
			"triage/probe TestCatalog",
		},
		stale: `not measured yet`,
	},
	{
		name: "generator",
		insert: []insertion{{"fuzz/gen/generator.go", "\t\tDoc: \"sums of a chosen condition number\"},\n",
			"\t{Name: \"small\", Version: 1, Weight: 1, M: tileM, N: tileN, fill: valueTile(smallValue), Doc: \"small integers\"},\n"}},
		create: map[string]string{"fuzz/gen/small.go": `package gen

// smallValue is an integer of at most 8 in magnitude.
func smallValue(d *draw) float64 { return float64(d.between(-8, 8)) }
`},
		packages: []string{"./sim/mma", "./oracle", "./fuzz/gen", "./fuzz/selfcheck", "./fuzz/vectors", "./triage/probe", "./devices"},
		run:      "TestScript/(list|diff|eval|show)$",
		red: []string{
			"cmd/mmafuzz TestScript/list",
			"fuzz/gen TestGeneratorsGolden",
			"fuzz/selfcheck TestCausesTable", "fuzz/selfcheck TestSeparations",
		},
		stale: `the row is stale: go test ./fuzz/selfcheck -run CausesTable|columns of generators`,
	},
	{
		// Its struct field and its row, both interpreters, and the encoder of proofs: four files.
		name: "field",
		insert: []insertion{
			{"sim/mma/params.go", "\tFirstOver bool `json:\"firstover,omitzero\"`\n",
				"\t// Less: the nominal exponent of an exact product of numbers that are not zero is one less.\n\tLess bool `json:\"less,omitzero\"`\n"},
			{"sim/mma/params.go", "var productRows = []Row{\n",
				"\t{key: \"prod.less\", Words: \"whether a product is aligned as if it were less\", Size: 2, Refined: 1, Encoded: anyValue, Alone: \"lower exponent\"},\n"},
			{"sim/product.go", "\tdown := int32(x.m.formats.Down)\n", "\tif x.p.Prod.Less {\n\t\tt.e--\n\t}\n"},
			{"oracle/product.go", "\tif e.Prod.Up {\n\t\tt.e++\n\t}\n", "\tif e.Prod.Less && !t.isZero() {\n\t\tt.e--\n\t}\n"},
			{"triage/prove/internal/encode/product.go", "\tif e.Prod.Up {\n\t\tx.e = e.AddInt(x.e, 1)\n\t}\n", "\tif e.Prod.Less {\n\t\tx.e = e.AddInt(x.e, -1)\n\t}\n"},
		},
		packages: []string{"./sim/...", "./oracle", "./fuzz", "./fuzz/gen", "./fuzz/selfcheck", "./triage/..."},
		run:      "TestScript/(list|diff|eval|show|prove|infer|usage|json)$",
	},
}

// insertion puts text behind a line of a file that is there once.
type insertion struct{ file, after, text string }

// failed is a line of go test, or the beginning of one, about a test or a package.
var failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)|^(?:FAIL|ok)\s+` + regexp.QuoteMeta(module) + `(\S+)`)

// TestDryRun makes each addition in a copy of the project: the tests that turn red are
// those of the places that CONTRIBUTING.md names.
func TestDryRun(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("takes minutes: .ci/nightly additions")
	}
	for _, d := range dryRuns {
		t.Run(d.name, func(t *testing.T) {
			dir := copyOfProject(t)
			for _, edit := range d.insert {
				name := filepath.Join(dir, edit.file)
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Count(string(text), edit.after) != 1 {
					t.Fatalf("%s does not have the line %q once", edit.file, edit.after)
				}
				write(t, name, strings.Replace(string(text), edit.after, edit.after+edit.text, 1))
			}
			for file, text := range d.create {
				write(t, filepath.Join(dir, file), text)
			}
			out := goTest(t, dir, append([]string{"-short"}, d.packages...)...) +
				goTest(t, dir, "-short", "-run", d.run, "./cmd/mmafuzz")
			if diff := cmp.Diff(d.red, redTests(out)); diff != "" {
				t.Errorf("tests that fail (-want +got):\n%s\n%s", diff, out)
			}
			stale := regexp.MustCompile(d.stale)
			for line := range strings.Lines(out) {
				if strings.Contains(line, "go test ./fuzz/selfcheck") && !stale.MatchString(line) {
					t.Errorf("a row that the addition does not touch: %s", line)
				}
			}
		})
	}
}

// redTests returns PACKAGE TEST of each failing test, and of a parent not if one of its
// subtests is there.
func redTests(out string) []string {
	red := map[string]bool{}
	var tests []string // of the package whose line comes next
	for _, m := range failed.FindAllStringSubmatch(out, -1) {
		if m[1] != "" {
			tests = append(tests, m[1])
			continue
		}
		for _, name := range tests {
			if !slices.ContainsFunc(tests, func(o string) bool { return strings.HasPrefix(o, name+"/") }) {
				red[m[2]+" "+name] = true
			}
		}
		tests = nil
	}
	return slices.Sorted(maps.Keys(red))
}

// copyOfProject copies the files of the module, but those of version control.
func copyOfProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const root = "../.."
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		switch to := filepath.Join(dir, rel); {
		case d.Name() == ".git":
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case !d.Type().IsRegular():
			return nil
		default:
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(to, text, 0o666)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// goTest runs tests in a folder and returns what they print.
func goTest(t *testing.T, dir string, args ...string) string {
	t.Helper()
	test := exec.CommandContext(t.Context(), "go", append([]string{"test"}, args...)...)
	test.Dir = dir
	test.Env = append(os.Environ(), tier.Variable+"=")
	out, err := test.CombinedOutput()
	if err != nil && test.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out)
}
