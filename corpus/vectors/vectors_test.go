package vectors_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// published are the sets in the folder sets.
func published(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("sets/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sets: %v", err)
	}
	return files
}

// example is one of them.
const example = "sets/hopper/mma.m16n8k16.f32.f16.f16.f32.json"

func read(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSchema validates the published sets, and damaged ones, against the schema.
func TestSchema(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(read(t, "../schema/vectors-1.json"), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text []byte) error {
		var instance any
		if err := json.Unmarshal(text, &instance); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(instance)
	}
	for _, file := range published(t) {
		if err := validate(read(t, file)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	text := string(read(t, example))
	for _, c := range [][2]string{
		{`"v": 1`, `"v": 2`},
		{`"compare":"bits"`, `"compare":"about"`},
		{`"id":"cut-1"`, `"id":"cut"`},
		{`"fails":[`, `"fails":["x",`},
		{`"d":"`, `"d":"0`},
		{`"k": `, `"k": -`},
		{`"groups": [`, `"group": [`},
	} {
		damaged := strings.Replace(text, c[0], c[1], 1)
		if damaged == text || validate([]byte(damaged)) == nil {
			t.Errorf("%s instead of %s is valid", c[1], c[0])
		}
	}
}

// TestRead writes what it has read, and reads it again.
func TestRead(t *testing.T) {
	for _, file := range published(t) {
		s, err := vectors.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.JSON()
		if err != nil || string(text) != string(read(t, file)) {
			t.Errorf("%s is written in another way than it is read (%v)", file, err)
		}
	}
	text := string(read(t, example))
	for _, c := range []struct{ old, new, want string }{
		{`"v": 1`, `"v": 2`, "version 2 of test vectors, this program reads 1"},
		{`"k": 16`, `"k": 16, "k": 8`, `"k" is there twice`},
		{`"compare":"bits"`, `"COMPARE":"bits"`, `"groups #1.tests #1.COMPARE" is written "compare"`},
		{`"k": 16`, `"k": 0`, "k is 0, not 1 to 255"},
		{`"k": 16`, `"k": 4`, "test products-1: 16 codes of a, 4 are needed"},
		{`"a": "fp16"`, `"a": "fp15"`, `unknown format "fp15"`},
		{`"compare":"bits"`, `"compare":"about"`, `test products-1: compare is "about", not bits, nan or zero`},
		{`"d":"`, `"d":"0`, "test products-1: "},
		{`{`, `[`, "should be there"},
		{`"groups"`, `"group"`, "it has no tests: there is nothing to check"},
		{`"groups"`, `"groups": [], "group"`, "it has no tests: there is nothing to check"},
		{`"groups"`, `"groups": [{"name": "empty", "about": "nothing", "tests": []}], "group"`, "it has no tests: there is nothing to check"},
	} {
		damaged := strings.Replace(text, c.old, c.new, 1)
		if _, err := vectors.Read([]byte(damaged)); damaged == text || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

// FuzzRead reads anything without a panic, and what it accepts it can write in all forms.
func FuzzRead(f *testing.F) {
	f.Add(read(f, example))
	f.Add([]byte(`{"v":1,"k":1,"formats":{"a":"fp16","b":"fp16","c":"none","d":"fp32"},"groups":[{"tests":[{"a":["3c00"],"b":["3c00"],"d":"3f800000","compare":"nan"}]}]}`))
	f.Add([]byte(`{"v":1,"k":1,"K":2,"formats":{"a":"fp16","a":"fp32"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := vectors.Read(text)
		if err != nil {
			return
		}
		for _, form := range vectors.Formats {
			if _, err := form.Write(s); err != nil {
				t.Errorf("%s: %v", form.Name, err)
			}
		}
	})
}

// TestFails asks the oracle, which the choice of tests does not rest on, whether the
// arithmetics that a test names fail it, and no others.
func TestFails(t *testing.T) {
	for _, file := range published(t) {
		s, err := vectors.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := s.Cases()
		if err != nil {
			t.Fatal(err)
		}
		killed := map[int]bool{}
		for n, o := range s.Others {
			eval, err := evaluator(s, &o)
			if err != nil {
				t.Fatalf("%s: %v", o.Name, err)
			}
			for i := range cases {
				c := &cases[i]
				listed := contains(c.Fails, n)
				killed[n] = killed[n] || listed
				if right := c.Right(s.Formats.D, eval(c.Dot)); right == listed {
					t.Errorf("%s, test %s: %s %v passes: %v", file, c.ID, o.Name, o.Changes, right)
				}
			}
		}
		if len(killed) != len(s.Others) || len(s.Others) < s.Rates.Killed {
			t.Errorf("%s: of %d arithmetics %d fail some test", file, len(s.Others), len(killed))
		}
	}
}

func contains(list []int, n int) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

// evaluator returns the slow interpreter of an arithmetic that fails tests.
func evaluator(s *vectors.Set, o *vectors.Other) (func(d *mma.Dot) uint64, error) {
	if o.Kind == vectors.KindReference {
		r, _ := oracle.FindReference(o.Name)
		return func(d *mma.Dot) uint64 { return r.Eval(s.Formats, d) }, nil
	}
	p := s.Params
	err := p.Apply(o.Changes)
	return func(d *mma.Dot) uint64 { return oracle.Eval(&p, s.Formats, s.K, d) }, err
}

// TestRight judges results of formats with infinities and without.
func TestRight(t *testing.T) {
	for _, tc := range []struct {
		d       fp.ID
		compare string
		got     uint64
		want    bool
	}{
		{fp.FP16, vectors.CompareNaN, 0xfe01, true},
		{fp.FP16, vectors.CompareNaN, 0x7c00, false},
		{fp.E4M3, vectors.CompareNaN, 0xff, true},
		{fp.E4M3, vectors.CompareNaN, 0x7e, false},
		{fp.FP32, vectors.CompareZero, 0x80000000, true},
		{fp.FP32, vectors.CompareZero, 1, false},
		{fp.E4M3FNUZ, vectors.CompareZero, 0x80, false}, // a NaN
		{fp.FP16, vectors.CompareBits, 0x3c00, true},
		{fp.FP16, vectors.CompareBits, 0xbc00, false},
	} {
		c := vectors.Case{Test: &vectors.Test{Compare: tc.compare}, Want: 0x3c00}
		if got := c.Right(tc.d, tc.got); got != tc.want {
			t.Errorf("%s by %s: %x is right: %v, want %v", tc.d, tc.compare, tc.got, got, tc.want)
		}
	}
}

// TestNPZ reads the arrays of NumPy's form.
func TestNPZ(t *testing.T) {
	s, err := vectors.Open(example)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := s.Cases()
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	for _, f := range vectors.Formats {
		if f.Name == "npz" {
			if body, err = f.Write(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	matrix := func(name string) *npy.Matrix {
		f, err := z.Open(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := npy.Read(f, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a, d, id := matrix("a"), matrix("d"), matrix("id")
	for i := range cases {
		got := make([]uint64, s.K)
		for k := range got {
			got[k] = a.Code(i, k)
		}
		if diff := cmp.Diff(cases[i].Dot.A, got); diff != "" || d.Code(i, 0) != cases[i].Want {
			t.Errorf("%s: %s", cases[i].ID, diff)
		}
		if name := string(id.Data[i*id.Columns:][:id.Columns]); strings.TrimRight(name, "\x00") != cases[i].ID {
			t.Errorf("%q is not %q", name, cases[i].ID)
		}
	}
}
