package bundle

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sideOf is a simulated side of a mismatch.
func sideOf(t testing.TB, arch, name, result string) corpus.SideRecord {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	return corpus.SideRecord{Target: "sim:" + arch, Instruction: name, Arch: arch, K: i.K, Result: result, Ulps: "0.5", Known: true, Params: &i.Params}
}

const half8 = "mma.m16n8k8.f32.f16.f16.f32"

// ampereHopper is 1 - 1.5 * 2^-25, of which Ampere drops what Hopper keeps.
func ampereHopper(t testing.TB) *corpus.Mismatch {
	t.Helper()
	i, err := mma.Lookup("ampere", half8)
	if err != nil {
		t.Fatal(err)
	}
	return &corpus.Mismatch{
		A: sideOf(t, "ampere", half8, "3f800000"), B: sideOf(t, "hopper", half8, "3f7fffff"), Formats: i.Formats, K: i.K,
		Case: "3c00 3c00 b3400000", Class: "value", NaN: "bits", Zero: "bits",
		Bucket: "truncation-width", Detail: "truncation-width", Labels: []string{"truncation-width"},
		Changes: []mma.Change{{Path: "join.align.f", From: "24", To: "25"}}, Base: "a", ProgramK: i.K,
		CaseChanges: []mma.Change{{Path: "join.align.f", From: "24", To: "25"}},
		Explained:   7, Kept: 9, Exact: "x", Stable: 3, Minimal: true, Free: "c: the sign", Made: "mmafuzz",
	}
}

// ampereReference has a side without parameters, and no explanation.
func ampereReference(t testing.TB) *corpus.Mismatch {
	t.Helper()
	m := ampereHopper(t)
	m.B = corpus.SideRecord{Target: "ref:fma64", Instruction: half8, Arch: "ref", K: m.K, Result: "3f7fffff", Ulps: "0.5"}
	m.Bucket, m.Detail, m.Labels = "unexplained", "unexplained", []string{"unexplained"}
	m.Changes, m.CaseChanges, m.Base, m.ProgramK = nil, nil, "", 0
	m.Nearest = &corpus.Nearest{From: "sim:hopper", Differ: 4, Case: m.Case, Unit: "3f7fffff", Program: "3f800000"}
	m.Next = []string{InferCommand("ref:fma64", m.B.Instruction, InferDir("", m.B.Instruction, ""))}
	return m
}

// TestWrite writes bundles, reads them, and runs their cases again.
func TestWrite(t *testing.T) {
	for _, tc := range []struct {
		name   string
		m      *corpus.Mismatch
		files  []string
		readme []string
	}{
		{"both sides are known", ampereHopper(t),
			[]string{"MANIFEST", "README.md", "case.txt", "extra.bin", "mismatch.json", "picture.txt", "repro_a.cu", "repro_a.py", "repro_b.cu", "repro_b.py",
				"repro_numpy.py", "repro_test.go", "trace-a.json", "trace-b.json"},
			[]string{"# truncation-width\n", "sim:ampere's arithmetic with the change kept bits (F) 24→25 gives sim:hopper's result.", "This change alone explains 7 differing cases of this pair and keeps 9 agreeing ones.\nModel files (`mmafuzz help model`) name it `join.align.f`.",
				"Repeated 3 of 3 times.", "mmafuzz replay BUNDLE"}},
		{"nothing explains one side", ampereReference(t),
			[]string{"MANIFEST", "README.md", "case.txt", "extra.bin", "mismatch.json", "picture.txt", "repro_a.cu", "repro_a.py", "repro_numpy.py", "repro_test.go", "trace-a.json"},
			[]string{"Nothing explains the difference. The program that comes nearest is sim:hopper as it is", "    mmafuzz infer --target ref:fma64 "}},
	} {
		t.Chdir(t.TempDir())
		if err := Write("bundle", tc.m, map[string][]byte{"extra.bin": {1}}); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		b, err := corpus.ReadBundle("bundle")
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		have := append(slices.Collect(maps.Keys(b.Files)), "MANIFEST")
		slices.Sort(have)
		if diff := cmp.Diff(tc.files, have); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
		for _, want := range tc.readme {
			if !strings.Contains(string(b.Files["README.md"]), want) {
				t.Errorf("%s: README.md does not say %q:\n%s", tc.name, want, b.Files["README.md"])
			}
		}
		r, err := openRerun(&b.Mismatch)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		want := results{A: 0x3f800000, B: 0x3f7fffff, Class: oracle.Value}
		if got, err := r.run(t.Context()); err != nil || got != want {
			t.Errorf("%s: the case gives %+v (%v), want %+v", tc.name, got, err, want)
		}
	}
}

// TestModelTravels has a made-up unit come with its bundle.
func TestModelTravels(t *testing.T) {
	t.Chdir(t.TempDir())
	m := ampereHopper(t)
	m.B.Target, m.B.Instruction, m.B.Arch = "model:gone.json", "mine", "model"
	if err := Write("bundle", m, nil); err != nil {
		t.Fatal(err)
	}
	local := Local(m, "bundle")
	if want := "model:" + filepath.Join("bundle", "model-b.json"); local.A.Target != m.A.Target || local.B.Target != want {
		t.Fatalf("targets %s and %s, want %s", local.A.Target, local.B.Target, want)
	}
	r, err := openRerun(local)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.run(t.Context()); err != nil || got.B != 0x3f7fffff {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestComplete tells complete bundles from damaged ones and from what others have written.
func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("out/bundle", ampereHopper(t), nil); err != nil {
		t.Fatal(err)
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check := func(dir string, whole, damaged, occupied bool) {
		t.Helper()
		ok, damage, err := Complete(dir)
		if ok != whole || (damage != nil) != damaged || errors.As(err, new(*OccupiedError)) != occupied || err != nil && !occupied {
			t.Errorf("%s: %v, %v, %v", dir, ok, damage, err)
		}
	}
	check("out/bundle", true, false, false)
	check("out/none", false, false, false)
	write(filepath.Join("out", "bundle", "notes.txt")) // its reader's
	check("out/bundle", true, false, false)
	if err := os.Remove(filepath.Join("out", "bundle", "notes.txt")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join("out", "bundle", "case.txt"))
	check("out/bundle", false, true, false)
	write(filepath.Join("out", "file"))
	check("out/file", false, true, true)
	if dirs, err := Below("out"); err != nil || len(dirs) != 1 || !Is(dirs[0]) {
		t.Errorf("bundles below out: %q, %v", dirs, err)
	}
}

// TestReadmeText holds what a README says of the changes of a pair, and of what may be the cause as well.
func TestReadmeText(t *testing.T) {
	width, step := mma.Change{Path: "join.align.f", From: "24", To: "25"}, mma.Change{Path: "l", From: "8", To: "16"}
	subnormal, flush := mma.Change{Path: "in.c", From: "keep", To: "zero"}, mma.Change{Path: "acc.flush", From: "keep", To: "before"}
	for _, tc := range []struct {
		all, some  []mma.Change
		equivalent [][]mma.Change
		same       int
		want       []string
	}{
		{[]mma.Change{width}, []mma.Change{width}, nil, 0, []string{"This change alone explains 1 differing case of this pair and keeps 9 agreeing ones.\nModel files (`mmafuzz help model`) name it `join.align.f`."}},
		{[]mma.Change{width, step}, []mma.Change{width, step}, nil, 0, []string{"These changes together explain 1 differing case of this pair and keep 9", "name them `join.align.f`, `l`."}},
		{[]mma.Change{width, step}, []mma.Change{width}, nil, 0, []string{"All of kept bits (F) 24→25, products in a step (L) 8→16 together explain 1 differing case"}},
		{[]mma.Change{subnormal}, []mma.Change{subnormal}, [][]mma.Change{{flush}, {width}}, 1, []string{
			"Or, which no input tells apart: flush to zero of the result keep→before.", "Or, which the cases of this pair do not tell apart: kept bits (F) 24→25."}},
	} {
		m := ampereHopper(t)
		m.Changes, m.CaseChanges, m.Equivalent, m.Same, m.Explained, m.Kept = tc.all, tc.some, tc.equivalent, tc.same, 1, 9
		text := readme(m, "", nil, nil)
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%v: README.md does not say %q:\n%s", tc.all, want, text)
			}
		}
	}
}

// TestInstead holds that a picture names what may be the cause as well, from A to B.
func TestInstead(t *testing.T) {
	m := ampereHopper(t)
	m.Changes, m.CaseChanges = []mma.Change{{Path: "in.c", From: "keep", To: "zero"}}, nil
	m.Equivalent, m.Same = [][]mma.Change{{{Path: "acc.flush", From: "keep", To: "before"}}, {{Path: "l", From: "8", To: "4"}}}, 1
	for base, want := range map[string]string{"a": "keep→before", "b": "before→keep"} {
		m.Base = base
		pic, err := Picture(m, "")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := textPicture(pic); err != nil || !strings.Contains(text, "\n        or, which no input tells apart: flush to zero of the result "+want+"\n") {
			t.Errorf("base %s: %v\n%s", base, err, text)
		}
	}
}

// TestDirection holds that a picture says changes in a direction in which they give the other side's result.
func TestDirection(t *testing.T) {
	floor := mma.Change{Path: "join.align.floor", From: "none", To: "6"}
	for _, c := range []struct {
		base string
		back bool
		want string
	}{
		{"a", false, "A to B  least exponent (e_zero) none→6"},
		{"a", true, "B to A  least exponent (e_zero) 6→none"},
		{"b", true, "A to B  least exponent (e_zero) 6→none"},
		{"b", false, "B to A  least exponent (e_zero) none→6"},
	} {
		m := ampereHopper(t)
		m.CaseChanges, m.Base, m.CaseBack = []mma.Change{floor}, c.base, c.back
		pic, err := Picture(m, "")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := textPicture(pic); err != nil || !strings.Contains(text, "\n"+c.want+"\n") {
			t.Errorf("base %s, back %t: no line %q: %v\n%s", c.base, c.back, c.want, err, text)
		}
	}
}

// TestNearestText holds that one case is no cases.
func TestNearestText(t *testing.T) {
	n := &corpus.Nearest{From: "sim:hopper", Changes: []mma.Change{{Path: "l", From: "8", To: "16"}}, Differ: 1, Explained: 1, Agree: 300, Kept: 300}
	if got, want := NearestText(n), "sim:hopper with products in a step (L) 8→16 explains 1 of the 1 differing case looked into (100%) and breaks 0 of 300 agreeing ones"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWitnessText holds that each result has the name of whose it is.
func TestWitnessText(t *testing.T) {
	n := &corpus.Nearest{Of: "fn:mine", Case: "0 0 1", Program: "3f800000", Unit: "3f800001"}
	if got, want := WitnessText(n), "for example on 0 0 1: the nearest program gives 3f800000, fn:mine gives 3f800001"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
