package corpus

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const goodKnown = `{"v":1,"known":[
{"id":"HOPPER-F25","reason":"one bit more","expires":"2027-06-30","instruction":"mma.*","pair":["a100*","h100*"],
 "labels":["truncation-width"],"changes":["join.align.f 24→25"]},
{"id":"2","reason":"look into it","bucket":"unexplained*"}]}`

func TestReadKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known.json")
	if err := os.WriteFile(file, []byte(goodKnown), 0o666); err != nil {
		t.Fatal(err)
	}
	k, err := OpenKnown(file)
	if err != nil {
		t.Fatal(err)
	}
	want := &Known{1, []KnownEntry{
		{ID: "HOPPER-F25", Reason: "one bit more", Expires: "2027-06-30", Instruction: "mma.*", Pair: []string{"a100*", "h100*"},
			Labels: []string{"truncation-width"}, Changes: []string{"join.align.f 24→25"}},
		{ID: "2", Reason: "look into it", Bucket: "unexplained*"},
	}}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Error(diff)
	}
	if k, err := ReadKnown(strings.NewReader(`{"v":1,"known":[]}`)); err != nil || len(k.Entries) != 0 {
		t.Errorf("an empty list: %+v, %v", k, err)
	}
	if _, err := OpenKnown(file + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestReadKnownErrors(t *testing.T) {
	entry := func(text string) string { return `{"v":1,"known":[{` + text + `}]}` }
	for _, tc := range []struct{ name, file, want string }{
		{"empty", "", "this is no list of known differences: it is empty"},
		{"later version", `{"v":2,"known":{}}`, "list of known differences version 2, this program reads 1"},
		{"unknown field", entry(`"id":"x","reason":"y","buckets":"z"`), `unknown field "buckets"`},
		{"two lists", `{"v":1,"known":[],"known":[{"id":"all","reason":"z","instruction":"*"}]}`, `"known" is there twice`},
		{"in capitals", entry(`"id":"x","reason":"y","Bucket":"z"`), `"known #1.Bucket" is written "bucket"`},
		{"no id", entry(`"reason":"y","bucket":"z"`), "entry 1: the id is missing"},
		{"bad id", entry(`"id":"a b","reason":"y","bucket":"z"`), `entry 1: the id is "a b": no blanks, no * and nothing that cannot be printed`},
		{"no reason", entry(`"id":"x","bucket":"z"`), "entry 1: x has no reason"},
		{"empty list", entry(`"id":"x","reason":"y","changes":[]`), "entry 1: x: an empty list of labels or changes covers nothing: leave it out"},
		{"no scope", entry(`"id":"x","reason":"y","expires":"2027-01-01"`), "entry 1: x has no scope: it would cover everything"},
		{"one machine", entry(`"id":"x","reason":"y","pair":["z"]`), "entry 1: x: a pair is two machines, not 1"},
		{"no date", entry(`"id":"x","reason":"y","bucket":"z","expires":"soon"`), `entry 1: x: expires is "soon", not a date such as 2027-06-30`},
		{"no such day", entry(`"id":"x","reason":"y","bucket":"z","expires":"2027-02-29"`), `entry 1: x: expires is "2027-02-29", not a date such as 2027-06-30`},
		{"no change", entry(`"id":"x","reason":"y","changes":["f 24"]`), `entry 1: x: "f 24" is no change of the form PATH FROM→TO`},
		{"twice", `{"v":1,"known":[{"id":"x","reason":"y","bucket":"z"},{"id":"x","reason":"y","bucket":"z"}]}`, "entry 2: x is the id of another entry"},
	} {
		k, err := ReadKnown(strings.NewReader(tc.file))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: %+v\n got %v\nwant %s", tc.name, k, err, tc.want)
		}
	}
}

func TestCovers(t *testing.T) {
	d := &Difference{ID: "1a2b", A: "a100-1", B: "h100-2", Instructions: []string{"mma.x", "wgmma.y"}, Bucket: "fusion-width+truncation-width:inf",
		Labels: []string{"fusion-width", "truncation-width"}, Changes: []string{"l 8→16", "join.align.f 24→25"}}
	for _, tc := range []struct {
		name string
		e    KnownEntry
		want bool
	}{
		{"one name", KnownEntry{Instruction: "mma.*"}, true},
		{"the other name", KnownEntry{Instruction: "wgmma.y"}, true},
		{"another name", KnownEntry{Instruction: "mma"}, false},
		{"pair", KnownEntry{Pair: []string{"a100*", "h100*"}}, true},
		{"pair, turned", KnownEntry{Pair: []string{"h100*", "a100*"}}, true},
		{"any pair", KnownEntry{Pair: []string{"*", "*"}}, true},
		{"half a pair", KnownEntry{Pair: []string{"a100*", "a100*"}}, false},
		{"bucket", KnownEntry{Bucket: "fusion-width+*:inf"}, true},
		{"another bucket", KnownEntry{Bucket: "fusion-width"}, false},
		{"labels", KnownEntry{Labels: []string{"truncation-width", "zero-exponent", "fusion-width"}}, true},
		{"a label too few", KnownEntry{Labels: []string{"truncation-width"}}, false},
		{"changes", KnownEntry{Changes: []string{"join.align.f 24->25", "l 8→16"}}, true},
		{"changes, turned", KnownEntry{Changes: []string{"join.align.f 25→24", "l 16->8"}}, true},
		{"some turned", KnownEntry{Changes: []string{"join.align.f 25→24", "l 8→16"}}, false},
		{"a change too few", KnownEntry{Changes: []string{"l 8→16"}}, false},
		{"other change", KnownEntry{Changes: []string{"join.align.f 24→26", "l 8→16"}}, false},
		{"changes of the pair", KnownEntry{Pair: []string{"a100*", "h100*"}, Changes: []string{"join.align.f 24→25", "l 8→16"}}, true},
		{"changes of the turned pair", KnownEntry{Pair: []string{"h100*", "a100*"}, Changes: []string{"join.align.f 25→24", "l 16→8"}}, true},
		{"changes the wrong way", KnownEntry{Pair: []string{"h100*", "a100*"}, Changes: []string{"join.align.f 24→25", "l 8→16"}}, false},
		{"difference", KnownEntry{Difference: "1a2b"}, true},
		{"another difference", KnownEntry{Difference: "1a2c"}, false},
		{"all of it", KnownEntry{Instruction: "mma.*", Pair: []string{"*", "h*"}, Bucket: "*", Difference: "1a2b"}, true},
		{"all but one", KnownEntry{Instruction: "mma.*", Pair: []string{"*", "h*"}, Bucket: "*", Difference: "1a2c"}, false},
	} {
		if got := tc.e.Covers(d); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	d.Changes = nil
	if (&KnownEntry{Changes: []string{"l 8→16"}}).Covers(d) {
		t.Error("a difference without an explanation is covered by changes")
	}
}

func TestExpired(t *testing.T) {
	e := KnownEntry{Expires: "2027-06-30"}
	for text, want := range map[string]bool{
		"2027-06-29T23:59:59Z": false, "2027-06-30T00:00:00Z": false, "2027-06-30T23:59:59Z": false,
		"2027-07-01T00:00:00Z": true, "2028-01-01T00:00:00Z": true, "2027-07-01T01:00:00+02:00": false,
	} {
		day, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Expired(day); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if (&KnownEntry{}).Expired(day) {
			t.Error("an entry without a date is expired")
		}
	}
}

// FuzzReadKnown reads anything: what is read and written is read as the same.
func FuzzReadKnown(f *testing.F) {
	f.Add([]byte(goodKnown))
	f.Add([]byte(`{"v":1,"known":[{"id":"x","reason":"y","pair":["*","*"],"changes":["->"]}]}`))
	f.Add([]byte(`{"v":1,"known":[{"id":"x","reason":"y","changes":[]}]}`))
	f.Add([]byte(`{"v":1,"known":[],"known":[{"ID":"x","reason":"y","changes":[]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ReadKnown(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		body, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadKnown(strings.NewReader(string(body)))
		if err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		x, _ := json.Marshal(again)
		if string(x) != string(body) {
			t.Errorf("%s\nis read again as\n%s", body, x)
		}
		for i := range k.Entries {
			k.Entries[i].Covers(&Difference{A: "a", B: "b", Instructions: []string{"i"}, Bucket: "c", Changes: []string{"l 8→16"}})
		}
	})
}
