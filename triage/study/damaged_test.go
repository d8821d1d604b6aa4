package study_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestForged refuses journals with a record whose checksum is right and that no study has made:
// it is neither a crash nor a result.
func TestForged(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, c := range small {
		if c.study == "gemm" { // what it keeps are digests of files
			continue
		}
		t.Run(c.study, func(t *testing.T) {
			c.request.Dir = t.TempDir()
			run(t, c.study, c.request, c.args...)
			file := filepath.Join(c.request.Dir, journal.File)
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(was, []byte("\n"))
			n := longest(lines[1:]) + 1
			for _, made := range forgeries(t, lines[n]) {
				forged := append([][]byte{}, lines...)
				forged[n] = withMade(t, lines[n], made)
				if err := os.WriteFile(file, bytes.Join(forged, nil), 0o666); err != nil {
					t.Fatal(err)
				}
				s, runner := find(t, c.study, c.args...)
				if _, err := s.Run(t.Context(), runner, c.request, nil); err == nil || !strings.Contains(err.Error(), "the journal is damaged") {
					t.Errorf("%.200s: %v", made, err)
				}
			}
		})
	}
}

// longest is the number of the longest line.
func longest(lines [][]byte) (n int) {
	for i := range lines {
		if len(lines[i]) > len(lines[n]) {
			n = i
		}
	}
	return n
}

// forgeries are what a record made, with one thing less or more.
func forgeries(t *testing.T, line []byte) []string {
	var r struct{ Made json.RawMessage }
	if body, ok := journal.Body(line); !ok || json.Unmarshal(body, &r) != nil {
		t.Fatalf("%.100s is no record", line)
	}
	all := []string{`"x"`, `{"Nobody": 1}`, `[{}]`}
	var list []any
	if json.Unmarshal(r.Made, &list) == nil {
		short, err := json.Marshal(list[1:])
		if err != nil {
			t.Fatal(err)
		}
		return append(all, "null", string(short), strings.Replace(string(r.Made), "[", fmt.Sprintf("[%s,", marshal(t, list[0])), 1))
	}
	var fields map[string]any
	if err := json.Unmarshal(r.Made, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name]
		switch v := v.(type) {
		case []any:
			if len(v) != 2 || name == "Steps" { // of more than the two numbers of an array none is read
				fields[name] = append(slices.Clip(v), v...)
			}
		case string:
			if name == "Name" || name == "Bound" {
				fields[name] = v + "x"
			}
		}
		if name == "N" || name == "Tried" {
			fields[name] = -1
		}
		if !reflect.DeepEqual(fields[name], v) {
			all = append(all, marshal(t, fields))
		}
		fields[name] = v
	}
	return all
}

func marshal(t *testing.T, v any) string {
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// withMade is the line of a record that made something else.
func withMade(t *testing.T, line []byte, made string) []byte {
	body, _ := journal.Body(line)
	var r struct {
		Key  string          `json:"key"`
		Made json.RawMessage `json:"made"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	r.Made = json.RawMessage(made)
	forged, err := journal.Line(&r)
	if err != nil {
		t.Fatal(err)
	}
	return forged
}
