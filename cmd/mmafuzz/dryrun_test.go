package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// edit inserts text behind a place in a file that is there once.
type edit struct{ file, place, text string }

// dryRuns are additions to the project as .github/CONTRIBUTING.md describes them: the first
// paragraph of the section names the files that are touched, and nothing fails.
var dryRuns = []struct {
	section  string
	edits    []edit
	create   map[string]string // files
	packages string
	scripts  string
}{
	{
		section: "An architecture",
		edits: []edit{
			{"sim/mma/arch.go", "var Archs = []Arch{\n", "\t{\"made-up\", \"mu1\", \"Made-up architecture\"},\n"},
			{"sim/mma/catalog_nvidia.go", "var nvidia = []decl{\n",
				"\t{archs: \"made-up\", names: \"mma.m16n8k16.f32.bf16.bf16.f32\", params: TFDPA(16, 27, rz32(), -133), source: \"made up\", evidence: \"made up\"},\n"},
		},
		packages: "sim/mma oracle fuzz/gen/... fuzz/vectors triage/probe triage/study devices devices/internal/nvidia/ptx",
		scripts:  "list|diff|eval|show|errors",
	},
	{
		section: "An arithmetic",
		edits: []edit{{"sim/mma/catalog_nvidia.go", "var nvidia = []decl{\n",
			"\t{archs: \"turing\", names: \"mma.m16n8k16.f32.f16.f16.f32\", params: TFDPA(8, 24, rz32(), -131), source: \"made up\", evidence: \"made up\"},\n"}},
		packages: "sim/mma oracle fuzz/gen/... fuzz/selfcheck fuzz/vectors triage/probe triage/study devices devices/internal/nvidia/ptx",
		scripts:  "list|diff|eval|show|errors",
	},
	{
		section: "A parameter",
		edits: []edit{
			{"sim/mma/params.go", "\tFirstOver bool `json:\"firstover,omitzero\"`\n",
				"\t// Less: the nominal exponent of an exact product that is not zero is one less.\n\tLess bool `json:\"less,omitzero\"`\n"},
			{"sim/mma/params.go", "var productRows = []Row{\n",
				"\t{key: \"prod.less\", Words: \"whether a product is aligned as if it were less\", Size: 2, Refined: 1, Encoded: anyValue, Alone: \"lower exponent\"},\n"},
			{"sim/product.go", "\tweight := int32(x.p.Weight(x.m.formats))\n", "\tif x.p.Prod.Less {\n\t\tt.e--\n\t}\n"},
			{"oracle/product.go", "\tif e.Prod.Up {\n\t\tt.e++\n\t}\n", "\tif e.Prod.Less && !t.isZero() {\n\t\tt.e--\n\t}\n"},
			{"triage/prove/internal/encode/product.go", "\tif e.Prod.Up {\n\t\tx.e = e.AddInt(x.e, 1)\n\t}\n", "\tif e.Prod.Less {\n\t\tx.e = e.AddInt(x.e, -1)\n\t}\n"},
			{"triage/study/bound_operands.go", "\tif e.p.Prod.Up {\n\t\texponent++\n\t}\n", "\tif e.p.Prod.Less {\n\t\texponent--\n\t}\n"},
		},
		packages: "sim/... oracle fuzz/engine fuzz/selfcheck triage triage/change triage/infer triage/report triage/study triage/prove/...",
		scripts:  "list|diff|eval|show|errors|prove|infer",
	},
	{
		section: "A format",
		edits: []edit{
			{"sim/fp/format.go", "\tUE4M3\n", "\tE2M2\n"},
			{"sim/fp/format.go", "bit 7 of the byte is ignored\"},\n", "\tE2M2: {E2M2, \"e2m2\", 2, 2, 1, true, AllFinite, false, 0, 1, \"made up\"},\n"},
			{"sim/fp/facts_test.go", "var golden = []facts{\n", "\t{id: fp.E2M2, name: \"e2m2\", sign: 1, exp: 2, frac: 2, bias: 1, width: 1, codeBits: 5, emax: 2, maxCode: 0xF, " +
				"minSub: 0.25, minNorm: 1, most: 7, negZero: true, over: [2]uint64{0xF, 0x1F}, samples: []sampling{{4, 1}, {0x1F, -7}}},\n"},
		},
		packages: "sim/fp sim/mma oracle fuzz/gen/... corpus/...",
		scripts:  "list|eval|errors",
	},
	{
		section: "A generator",
		edits: []edit{{"fuzz/gen/generator.go", "\t\tDoc: \"sums of a chosen condition number\"},\n",
			"\t{Name: \"small\", Version: 1, Weight: 1, M: tileM, N: tileN, fill: valueTile(smallValue), Doc: \"small integers\"},\n"}},
		create: map[string]string{"fuzz/gen/small.go": `package gen

// smallValue is an integer of at most 8 in magnitude.
func smallValue(d *draw) float64 { return float64(d.between(-8, 8)) }
`},
		packages: "sim/mma oracle fuzz/gen/... fuzz/vectors triage/probe devices",
		scripts:  "list|diff|eval|show|errors",
	},
	{
		section: "A label",
		edits: []edit{
			{"triage/label.go", "const (\n", "\tProductWeight Label = \"product-weight\" // products of another weight\n"},
			{"triage/label.go", "var labelDocs = []LabelDoc{\n", "\t{ProductWeight, \"products of another weight\"},\n"},
			{"sim/mma/params.go", "{key: \"prod.up\", ", "Label: \"product-weight\", "},
		},
		create: map[string]string{"triage/testdata/product-weight.case": `# A product counts as if it were at least 2.
a hopper/mma.m16n8k16.f32.f16.f16.f32
set prod.up=true
case 3c00 3c00 b3000000 = 3f7fffff 3f800000
labels product-weight
changes prod.up false→true
`},
		packages: "sim/mma triage triage/change triage/report triage/infer fuzz/gen",
		scripts:  "list|diff|eval|show|errors",
	},
}

// failed is a line of go test, or the beginning of one, about a test or a package.
var failed = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)|^(?:FAIL|ok)\s+` + regexp.QuoteMeta(module) + `(\S+)`)

// TestDryRun makes each addition in a copy of the project: no test fails, and the files that
// are touched are those that CONTRIBUTING.md names.
func TestDryRun(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("takes minutes: .ci/nightly additions")
	}
	for _, d := range dryRuns {
		t.Run(d.section, func(t *testing.T) {
			dir := copyOfProject(t)
			for _, e := range d.edits {
				name := filepath.Join(dir, e.file)
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Count(string(text), e.place) != 1 {
					t.Fatalf("%s does not have %q once", e.file, e.place)
				}
				write(t, name, strings.Replace(string(text), e.place, e.place+e.text, 1))
			}
			for file, text := range d.create {
				write(t, filepath.Join(dir, file), text)
			}
			args := []string{"-short"}
			for _, p := range strings.Fields(d.packages) {
				args = append(args, "./"+p)
			}
			out := goTest(t, dir, args...) + goTest(t, dir, "-short", "-run", "TestScript/("+d.scripts+")$", "./cmd/mmafuzz")
			if red := redTests(out); len(red) > 0 {
				t.Errorf("tests that fail: %s\n%s", red, out)
			}
		})
	}
}

// TestAdditions holds that CONTRIBUTING.md names the files that the additions of TestDryRun
// touch, and no others. A name in it may have a * or NAME in place of what each addition has
// of its own.
func TestAdditions(t *testing.T) {
	text, err := os.ReadFile("../../.github/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dryRuns {
		_, rest, ok := strings.Cut(string(text), "## "+d.section+"\n\n")
		if !ok {
			t.Errorf("CONTRIBUTING.md has no section %q", d.section)
			continue
		}
		paragraph, _, _ := strings.Cut(rest, "\n\n")
		touched := map[string]bool{}
		for _, e := range d.edits {
			touched[e.file] = false
		}
		for file := range d.create {
			touched[file] = false
		}
		for _, m := range regexp.MustCompile("`([^` ]+/[^` ]+[.][a-z]+)`").FindAllStringSubmatch(paragraph, -1) {
			found := false
			for file := range touched {
				if ok, _ := path.Match(strings.ReplaceAll(m[1], "NAME", "*"), file); ok {
					touched[file], found = true, true
				}
			}
			if !found {
				t.Errorf("%s: %s is named, and not touched", d.section, m[1])
			}
		}
		for file, named := range touched {
			if !named {
				t.Errorf("%s: %s is touched, and not named", d.section, file)
			}
		}
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
