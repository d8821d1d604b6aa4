package corpus

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodPlan = `{"v":1,"name":"p","seed":3,"entries":[
{"instructions":["mma.*","hopper/wgmma.*"],"k":16,"inputs":[{"source":"raw@1","count":128}]},
{"instructions":["*"],"inputs":[{"source":"cut@1[*]","count":1},{"source":"tie@1[24]","count":2}]}]}`

func TestReadPlan(t *testing.T) {
	p, err := ReadPlan(strings.NewReader(goodPlan))
	if err != nil {
		t.Fatal(err)
	}
	want := &Plan{Version: 1, Name: "p", Seed: 3, Entries: []PlanEntry{
		{[]string{"mma.*", "hopper/wgmma.*"}, 16, []PlanInput{{"raw@1", 128}}},
		{[]string{"*"}, 0, []PlanInput{{"cut@1[*]", 1}, {"tie@1[24]", 2}}},
	}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	for name, entry := range map[string]int{"hopper mma.m16": 0, "hopper wgmma.m64": 0, "blackwell wgmma.m64": 1, "x86 vdpbf16ps": 1} {
		arch, inst, _ := strings.Cut(name, " ")
		if got := p.Entry(arch, inst); got != &p.Entries[entry] {
			t.Errorf("%s: entry %+v", name, got)
		}
	}
	p.Entries = p.Entries[:1]
	if e := p.Entry("x86", "vdpbf16ps"); e != nil {
		t.Errorf("an instruction that no entry has: %+v", e)
	}
}

func TestReadPlanErrors(t *testing.T) {
	edit := func(old, new string) string {
		if !strings.Contains(goodPlan, old) {
			t.Fatalf("%q is not in the plan", old)
		}
		return strings.Replace(goodPlan, old, new, 1)
	}
	for _, tc := range []struct{ name, file, want string }{
		{"empty", "", "this is no plan: it is empty"},
		{"text", "hello", "this is no plan: 'h' is no JSON: a value should begin there"},
		{"cut short", goodPlan[:60], "this is no plan: line 2: the JSON is cut short"},
		{"something after it", goodPlan + "{}", "this is no plan: line 3: '{' stands behind the end of the JSON"},
		{"no version", `{"name":"p"}`, `this is no plan: it has no "v", its version`},
		{"later version", edit(`"v":1`, `"v":2`), "plan version 2, this program reads 1"},
		{"unknown field", edit(`"k":16`, `"length":16`), `unknown field "length"`},
		{"wrong type", edit(`"k":16`, `"k":"16"`), `line 2: "entries #1.k" is a string, not a whole number`},
		{"wrong type further on", edit(`"count":2}`, `"count":-2}`), `line 3: "entries #2.inputs #2.count" is -2, not a whole number in range`},
		{"twice", edit(`"k":16`, `"k":16,"k":8`), `line 2: "entries #1.k" is there twice`},
		{"in capitals", edit(`"k":16`, `"K":16`), `line 2: "entries #1.K" is written "k"`},
		{"no name", edit(`"p"`, `""`), "the plan's name is missing"},
		{"bad name", edit(`"p"`, `"p q"`), `the plan's name is "p q": no blanks, no * and nothing that cannot be printed`},
		{"long name", edit(`"p"`, `"`+strings.Repeat("p", 101)+`"`), "the plan's name is longer than 100 bytes"},
		{"no entries", `{"v":1,"name":"p"}`, "the plan has no entries"},
		{"no instructions", edit(`["mma.*","hopper/wgmma.*"]`, `[]`), `entry 1: it names no instructions; ["*"] stands for all`},
		{"no inputs", edit(`[{"source":"raw@1","count":128}]`, `[]`), "entry 1: it has no inputs"},
		{"no source", edit(`"raw@1"`, `""`), "entry 1: an input without a source"},
		{"negative k", edit(`"k":16`, `"k":-1`), "entry 1: k is -1; 0 is the instruction's own, 65025 the most"},
		{"large k", edit(`"k":16`, `"k":65026`), "entry 1: k is 65026; 0 is the instruction's own, 65025 the most"},
		{"no count", edit(`,"count":1}`, `}`), "entry 2: cut@1[*]: the count is 0, not 1 to 4294967296"},
		{"large count", edit(`"count":2`, `"count":4294967297`), "entry 2: tie@1[24]: the count is 4294967297, not 1 to 4294967296"},
		{"too long", strings.Repeat(" ", 1<<20) + goodPlan, "longer than 1024 KiB: this is no plan"},
	} {
		p, err := ReadPlan(strings.NewReader(tc.file))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: %+v\n got %v\nwant %s", tc.name, p, err, tc.want)
		}
	}
}

func TestOpenPlan(t *testing.T) {
	all, err := Plans()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d plans, %v", len(all), err)
	}
	for _, p := range all {
		if got, err := OpenPlan(p.Name); err != nil || got.Name != p.Name || p.About == "" {
			t.Errorf("%s: %+v, %v", p.Name, got, err)
		}
		if _, err := os.Stat(filepath.Join("plans", p.Name+".json")); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(file, []byte(goodPlan), 0o666); err != nil {
		t.Fatal(err)
	}
	if p, err := OpenPlan(file); err != nil || p.Name != "p" {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenPlan(file); err == nil || err.Error() != file+": this is no plan: the JSON is cut short" {
		t.Error(err)
	}
	if _, err := OpenPlan("nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"abc", "abc", true}, {"abc", "abcd", false},
		{"ab*", "ab", true}, {"ab*", "abc", true}, {"ab*", "a", false}, {"*bc", "abc", true}, {"*bc", "abcd", false},
		{"a*c", "ac", true}, {"a*c", "abcbc", true}, {"a*c", "abcb", false}, {"a*b*c", "abc", true}, {"a*b*c", "acb", false},
		{"a**c", "abc", true}, {"*b*", "abc", true}, {"*x*", "abc", false}, {"ab*ba", "aba", false}, {"a*a", "a", false},
		{"mma.*.f32.[x]", "mma.m16.f32.[x]", true}, {"a/*", "a/b/c", true}, {"kind::*", "kind::f8", true}, {"a?c", "abc", false},
	} {
		if got := matches(tc.pattern, tc.name); got != tc.want {
			t.Errorf("%q as %q: %v", tc.name, tc.pattern, got)
		}
	}
}

func TestMachineName(t *testing.T) {
	for target, want := range map[string]string{
		"sim:hopper":                         "sim:hopper",
		"exec:./mine -x 'a*b'\n":             "exec:./mine--x-'a-b'-",
		strings.Repeat("ä", 51):              strings.Repeat("ä", 50),
		"x" + strings.Repeat("ä", 51):        "x" + strings.Repeat("ä", 49),
		"bad\xff" + strings.Repeat("x", 200): "bad\ufffd" + strings.Repeat("x", 94),
	} {
		got := MachineName(target)
		if err := CheckMachine(got); err != nil || got != want {
			t.Errorf("%q: %q, %v", target, got, err)
		}
	}
	if CheckMachine("") == nil || CheckMachine("a b") == nil {
		t.Error("bad names are good")
	}
}

// FuzzReadPlan reads anything: what is read and written is read as the same.
func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(goodPlan))
	f.Add([]byte(`{"v":1,"name":"é","seed":18446744073709551615,"entries":[{"instructions":["**"],"inputs":[{"source":"x","count":1}]}]}`))
	f.Add([]byte(`{"v":1e0}`))
	f.Add([]byte(strings.Replace(goodPlan, `"k":16`, `"k":16,"K":8`, 1)))
	f.Add([]byte(strings.Replace(goodPlan, `"count":128`, `"count":4294967296`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadPlan(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		body, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadPlan(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Error(diff)
		}
		p.Entry("hopper", string(data))
	})
}
