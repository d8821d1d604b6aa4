package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// finding is a mismatch with every field set.
func finding() *Mismatch {
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	return &Mismatch{
		A: SideRecord{Target: "sim:ampere", Instruction: "mma.m16n8k8.f32.f16.f16.f32", Arch: "ampere", K: 8, Result: "3f800000",
			Ulps: "0.5", Known: true, Params: &p, Environment: map[string]string{"kind": "simulator"}},
		B:       SideRecord{Target: "sim:hopper", Instruction: "mma.m16n8k16.f32.f16.f16.f32", Arch: "hopper", K: 16, Result: "3f7fffff", Ulps: "0.5"},
		Formats: half, K: 16,
		Case: "3c00 3c00 b3000000", Found: "3c00,0001 3c00,0001 b3000001", Origin: Origin{"cut@1[24,25]", 1, 77},
		Class: "value", NaN: "bits", Zero: "class", Bucket: "truncation-width", Labels: []string{"truncation-width"},
		Changes: []mma.Change{{Path: "join.align.f", From: "24", To: "25"}}, Base: "a", ProgramK: 8,
		CaseChanges: []mma.Change{{Path: "join.align.f", From: "24", To: "25"}},
		Equivalent:  [][]mma.Change{{{Path: "l", From: "8", To: "16"}}},
		Explained:   3, Kept: 4, Exact: "0x1.fffffep-1", Stable: 3, Minimal: true, OnModel: true, Free: "c: 00000001", Made: "mmafuzz 1", Versions: testVersions,
	}
}

var extraFiles = map[string][]byte{"README.md": []byte("# a finding\n"), "picture.txt": {}, "trace-a.json": []byte("{}")}

// newBundle writes a bundle and returns its directory.
func newBundle(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "down", "finding-0")
	if err := WriteBundle(dir, finding(), extraFiles); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestBundleRoundTrip(t *testing.T) {
	dir := newBundle(t)
	b, err := ReadBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := finding()
	want.Version = BundleVersion
	if diff := cmp.Diff(*want, b.Mismatch); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"README.md", "case.txt", "mismatch.json", "picture.txt", "trace-a.json"}, slices.Sorted(maps.Keys(b.Files))); diff != "" {
		t.Error(diff)
	}
	for name, data := range extraFiles {
		if string(b.Files[name]) != string(data) {
			t.Errorf("%s: %q", name, b.Files[name])
		}
	}
	const text = `# mma.m16n8k8.f32.f16.f16.f32 of fp32.fp16.fp16.fp32, K = 16: a,.. b,.. c
# sim:ampere gives 3f800000
# sim:hopper gives 3f7fffff
3c00 3c00 b3000000
`
	if diff := cmp.Diff(text, string(b.Files["case.txt"])); diff != "" {
		t.Error(diff)
	}
	d, err := b.Mismatch.Dot()
	if err != nil || len(d.A) != 16 || d.A[0] != 0x3c00 || d.C != 0xb3000000 {
		t.Errorf("the case is %+v, %v", d, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestReplaceBundle writes a bundle in place of another: nothing of that is left.
func TestReplaceBundle(t *testing.T) {
	dir := newBundle(t)
	m := finding()
	m.Bucket = "fusion-width"
	if err := WriteBundle(dir, m, nil); err != nil {
		t.Fatal(err)
	}
	b, err := ReadBundle(dir)
	if err != nil {
		t.Fatal(err)
	}
	if b.Mismatch.Bucket != "fusion-width" || len(b.Files) != 2 {
		t.Errorf("bucket %s, files %v", b.Mismatch.Bucket, slices.Sorted(maps.Keys(b.Files)))
	}
}

func TestBundleFileNames(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "../a", `a\b`, "/a", "MANIFEST"} {
		dir := filepath.Join(t.TempDir(), "b")
		if err := WriteBundle(dir, finding(), map[string][]byte{name: nil}); err == nil {
			t.Errorf("a file %q is accepted", name)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("a file %q leaves a bundle", name)
		}
	}
}

// sums writes a manifest for files as they are.
func sums(t testing.TB, dir string, names ...string) string {
	t.Helper()
	var s strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&s, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return s.String()
}

// TestDamagedBundle has what can happen to a bundle on its way, and what is said
// about it.
func TestDamagedBundle(t *testing.T) {
	write := func(dir, name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	manifest := func(dir string) string {
		data, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	all := []string{"README.md", "case.txt", "mismatch.json", "picture.txt", "trace-a.json"}
	for _, tc := range []struct {
		name   string
		damage func(dir string)
		want   string // "" for none
	}{
		{"none", func(dir string) {}, ""},
		{"litter", func(dir string) { write(dir, ".DS_Store", "x") }, ""},
		{"no manifest", func(dir string) { os.Remove(filepath.Join(dir, "MANIFEST")) }, "there is no MANIFEST: this is not a bundle, or one that was cut short"},
		{"nothing at all", func(dir string) { os.RemoveAll(dir) }, "there is no MANIFEST: this is not a bundle, or one that was cut short"},
		{"a file changed", func(dir string) { write(dir, "README.md", "# another finding\n") }, "README.md has been changed: its checksum is not that of the MANIFEST"},
		{"a file cut short", func(dir string) { os.Truncate(filepath.Join(dir, "mismatch.json"), 100) }, "mismatch.json has been changed: its checksum is not that of the MANIFEST"},
		{"a file missing", func(dir string) { os.Remove(filepath.Join(dir, "picture.txt")) }, "picture.txt is missing"},
		{"a file more", func(dir string) { write(dir, "notes.txt", "") }, ""},
		{"the name of a file of bundles", func(dir string) { write(dir, "model-a.json", "") }, "model-a.json is not listed in MANIFEST: either it was added or MANIFEST was cut short"},
		{"the same in capitals", func(dir string) { write(dir, "MODEL-A.json", "") }, "MODEL-A.json is not listed in MANIFEST: either it was added or MANIFEST was cut short"},
		{"manifest empty", func(dir string) { write(dir, "MANIFEST", "") }, "MANIFEST does not list mismatch.json"},
		{"manifest cut at a line", func(dir string) { write(dir, "MANIFEST", sums(t, dir, all[:4]...)) }, "trace-a.json is not listed in MANIFEST: either it was added or MANIFEST was cut short"},
		{"manifest cut in a sum", func(dir string) { m := manifest(dir); write(dir, "MANIFEST", m[:len(m)-len("  trace-a.json\n")-3]) }, "MANIFEST is damaged: \"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaf\""},
		{"manifest cut in a name", func(dir string) { m := manifest(dir); write(dir, "MANIFEST", m[:len(m)-3]) }, "trace-a.js is missing"},
		{"manifest with a sum changed", func(dir string) { write(dir, "MANIFEST", "0"+manifest(dir)[1:]) }, "README.md has been changed: its checksum is not that of the MANIFEST"},
		{"manifest of something else", func(dir string) { write(dir, "MANIFEST", "hello\n") }, `MANIFEST is damaged: "hello\n"`},
		{"a line twice", func(dir string) { write(dir, "MANIFEST", manifest(dir)+sums(t, dir, "case.txt")) }, "MANIFEST is damaged: it lists case.txt twice"},
		{"a path up", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  ../secret\n") }, `MANIFEST is damaged: "00  ../secret\n"`},
		{"a path down", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  a/b\n") }, `MANIFEST is damaged: "00  a/b\n"`},
		{"a path of another system", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  a\\b\n") }, `MANIFEST is damaged: "00  a\\b\n"`},
		{"an absolute path", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  /etc/passwd\n") }, `MANIFEST is damaged: "00  /etc/passwd\n"`},
		{"the directory itself", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  .\n") }, `MANIFEST is damaged: "00  .\n"`},
		{"the one above", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  ..\n") }, `MANIFEST is damaged: "00  ..\n"`},
		{"an empty name", func(dir string) { write(dir, "MANIFEST", manifest(dir)+"00  \n") }, `MANIFEST is damaged: "00  \n"`},
		{"no mismatch.json", func(dir string) {
			os.Remove(filepath.Join(dir, "mismatch.json"))
			write(dir, "MANIFEST", sums(t, dir, "README.md", "case.txt", "picture.txt", "trace-a.json"))
		}, "MANIFEST does not list mismatch.json"},
	} {
		dir := newBundle(t)
		tc.damage(dir)
		_, err := ReadBundle(dir)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "bundle "+dir+": ")
		}
		if got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestForgedBundle changes mismatch.json and the manifest with it.
func TestForgedBundle(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"newer version", `"v": 1`, `"v": 2`, "it is of version 2, this program reads 1"},
		{"newer version of other fields", `"v": 1,`, `"v": 3, "k": "sixteen",`, "it is of version 3, this program reads 1"},
		{"no version", `"v": 1,`, ``, "it is of version 0, this program reads 1"},
		{"no JSON", `{`, `[`, "mismatch.json: line 2: ':' is no JSON: a comma or ] should be there"},
		{"fields of another kind", `"class": "value"`, `"class": 3`, `mismatch.json: line 54: "class" is a number, not a string`},
		{"unknown format", `"a": "fp16"`, `"a": "fp17"`, `mismatch.json: unknown format "fp17"`},
		{"no format", `"a": "fp16"`, `"a": "none"`, "mismatch.json: impossible formats: fp32.none.fp16.fp32"},
		{"k of 0", `"k": 16,
  "case"`, `"k": 0,
  "case"`, "mismatch.json: impossible K: 0 of instructions with 8 and 16"},
		{"k of another instruction", `"k": 16,
  "case"`, `"k": 24,
  "case"`, "mismatch.json: impossible K: 24 of instructions with 8 and 16"},
		{"endless k", `"k": 16,
  "case"`, `"k": 1152921504606846976,
  "case"`, "mismatch.json: impossible K: 1152921504606846976 of instructions with 8 and 16"},
		{"no k of a side", `"k": 8`, `"k": 0`, "mismatch.json: impossible K: 16 of instructions with 0 and 16"},
		{"k of a longer program", `"program_k": 8`, `"program_k": 78`, "mismatch.json: impossible program_k: 78 of a case with K 16"},
		{"k of a program with part of the products", `"program_k": 8`, `"program_k": 6`, "mismatch.json: impossible program_k: 6 of a case with K 16"},
		{"negative k of a program", `"program_k": 8`, `"program_k": -8`, "mismatch.json: impossible program_k: -8 of a case with K 16"},
		{"case of other formats", `"case": "3c00 `, `"case": "3c `, `mismatch.json: case: a: "3c" is not a fp16 code of 4 hexadecimal digits`},
		{"no case", `"case": "3c00 3c00 b3000000"`, `"case": ""`, "mismatch.json: case: not of the form: a0,a1,.. b0,b1,.. c [sa=.. sb=..]"},
		{"no result", `"result": "3f800000"`, `"result": ""`, `mismatch.json: a.result: "" is not a fp32 code of 8 hexadecimal digits`},
		{"long result", `"result": "3f7fffff"`, `"result": "3f7fffff0"`, `mismatch.json: b.result: "3f7fffff0" is not a fp32 code of 8 hexadecimal digits`},
		{"malformed case of before", `"found": "`, `"found": "x`, `mismatch.json: found: a: "x3c00" is not a fp16 code of 4 hexadecimal digits`},
		{"twice", `"v": 1,`, `"v": 1, "b": {"target": "x"},`, `mismatch.json: line 31: "b" is there twice`},
		{"in capitals", `"instruction"`, `"Instruction"`, `mismatch.json: line 5: "a.Instruction" is written "instruction"`},
		{"a fault has no result", `"result": "3f7fffff"`, `"result": "-"`, ""},
		{"a field more", `"v": 1,`, `"v": 1, "color": "blue",`, ""},
	} {
		dir := newBundle(t)
		file := filepath.Join(dir, "mismatch.json")
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), tc.old) {
			t.Fatalf("%s: %q is not in mismatch.json:\n%s", tc.name, tc.old, body)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(body), tc.old, tc.new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		manifest := sums(t, dir, "README.md", "case.txt", "mismatch.json", "picture.txt", "trace-a.json")
		if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte(manifest), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = ReadBundle(dir)
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "bundle "+dir+": ")
		}
		if got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

// TestMismatchGolden pins mismatch.json, which other programs and later versions
// read.
func TestMismatchGolden(t *testing.T) {
	m := finding()
	m.Version = BundleVersion
	got, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/mismatch.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Error(diff)
	}
}
