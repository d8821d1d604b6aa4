package infer

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// testHeader is the header of these tests' journals: K = 2, results of four bytes.
var testHeader = header{Target: "test", Name: "x", K: 2,
	Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, Checks: 1}

// journalOf writes a journal of testHeader and lines of JSON. Of its first record, from becomes to.
func journalOf(t *testing.T, from, to string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	j, err := openJournal(path, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	j.close()
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _ := journal.Body(first)
	var body []byte
	for _, text := range append([]string{strings.Replace(string(head), from, to, 1)}, lines...) {
		line, err := journal.Line(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		body = append(body, line...)
	}
	if err := os.WriteFile(path, body, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDamagedRecords opens journals with records that have the right checksum and
// impossible contents.
func TestDamagedRecords(t *testing.T) {
	const cost = `"queries":2,"batches":1`
	for line, want := range map[string]string{
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAAAAAAAAA="}}`:                                "",
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAAAAAAAAA=","failed":[1],"why":["x"]}}`:       "",
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAA"}}`:                                        "3 bytes of results of 2 dot products",
		`{"ask":{` + cost + `,"sum":1,"n":-2,"codes":""}}`:                                           "a batch of -2 dot products",
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAAAAAAAAA=","failed":[2],"why":["x"]}}`:       "dot product 2 failed, of 2",
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAAAAAAAAA=","failed":[1,1],"why":["x","y"]}}`: "dot product 1 failed, of 2",
		`{"ask":{` + cost + `,"sum":1,"n":2,"codes":"AAAAAAAAAAA=","failed":[1]}}`:                   "1 failed, with 0 reasons",
		`{"ask":{"queries":-1,"batches":1,"sum":1,"n":2,"codes":"AAAAAAAAAAA="}}`:                    "-1 queries in 1 batches",
		`{"ask":{` + cost + `,"failures":[{"inputs":1}],"sum":1,"n":2,"codes":"AAAAAAAAAAA="}}`:      "failure: no operands",
		`{"check":{` + cost + `,"sum":1,"failures":[{"inputs":1,"dot":{"A":[1],"B":[1]}}]}}`:         "failure: 1 elements of a, not 2",
		`{"check":{` + cost + `,"sum":1,"failures":[{"inputs":1,"dot":{"A":[1,65536],"B":[1,1]}}]}}`: "failure: 10000 in a is no fp16 code",
		`{"check":{` + cost + `,"sum":1,"wrong":[{"output":-1,"code":1}]}}`:                          "wrong answer 1 to output -1",
		`{"check":{` + cost + `,"sum":1,"wrong":[{"output":1,"code":4294967296}]}}`:                  "wrong answer 100000000 to output 1",
		`{"search":{"step":1,"draws":2,"evals":3,"leaders":[],"left":0}}`:                            "a search that found no program",
		`{"search":{"step":1,"draws":2,"evals":3,"leaders":[{"stage0":{"group":3}}],"left":0}}`:      "program 0: ",
		`{"search":{"step":1,"draws":2,"evals":3,"leaders":[{"acc":{"mode":"odd one"}}],"left":0}}`:  "odd one",
		`{"search":{"step":3,"draws":2,"evals":3,"leaders":[{}],"left":0}}`:                          "a search from step 3 to 2, with 3 computed and 0 left",
		`{"search":{"step":3,"draws":4,"evals":3,"leaders":[{}],"left":-1}}`:                         "a search from step 3 to 4, with 3 computed and -1 left",
		`{}`:                         "it is not one of ask, check and search",
		`{"ask":{},"check":{}}`:      "it is not one of ask, check and search",
		`[]`:                         "it is an array, not an object",
		`{"ask":{"sum":"a string"}}`: `"ask.sum" is a string, not a whole number`,
	} {
		path := journalOf(t, "", "", line)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path, testHeader)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", line, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), path+": line 2: ") || !strings.Contains(err.Error(), want)):
			t.Errorf("%s:\n got %v\nwant line 2: %s", line, err, want)
		}
		if err == nil {
			j.close()
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the journal has changed", line)
		}
	}
	if err := (&checked{Wrong: []wrongAnswer{{Output: 8}}}).within(8); err == nil {
		t.Error("output 8 of 8 is taken")
	}
}

// TestOtherVersion opens a journal that a program with other generators has begun.
func TestOtherVersion(t *testing.T) {
	now := versions.Current().Generators
	path := journalOf(t, now, "0123456789abcdef", `{}`)
	_, err := openJournal(path, testHeader)
	want := path + ": another version of mmafuzz made it: its generators: 0123456789abcdef, this program's: " + now + "; the same catalogue and formats"
	if !errors.Is(err, corpus.ErrOtherVersion) || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestDamagedPlaces damages the journal of an inference at random places, in its first line, too: it
// is taken up again, with the records before the damage.
func TestDamagedPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), JournalFile)
	o := Options{Checks: few, Journal: path}
	want := inferred(t, volta(t), o)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	lines := strings.SplitAfter(string(whole), "\n")
	first := len(lines[0])
	for n := range tier.Of(1, 1, 12, 40) {
		body := bytes.Clone(whole)
		switch n % 4 {
		case 1:
			body[rng.IntN(first)] ^= 1 << rng.IntN(8)
		case 2:
			body[first+rng.IntN(len(body)-first)] ^= 1 << rng.IntN(8)
		case 0: // two lines in each other's place
			i, j := rng.IntN(len(lines)-1), rng.IntN(len(lines)-1)
			other := slices.Clone(lines)
			other[i], other[j] = other[j], other[i]
			body = []byte(strings.Join(other, ""))
		case 3: // a piece is lost
			from := rng.IntN(len(body))
			body = slices.Delete(body, from, min(len(body), from+1+rng.IntN(3000)))
		}
		if err := os.WriteFile(path, body, 0o666); err != nil {
			t.Fatal(err)
		}
		r := inferred(t, volta(t), o)
		if r.Verdict != want.Verdict || r.Params != want.Params || r.Stats.Queries != want.Stats.Queries {
			t.Errorf("damage %d: %s %s with %+v, want %+v", n, r.Verdict, &r.Params, r.Stats, want.Stats)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, whole) {
			t.Errorf("damage %d: the journal is another one", n)
		}
	}
}
