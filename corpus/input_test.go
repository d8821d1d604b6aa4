package corpus

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestInputs writes inputs both ways and reads them.
func TestInputs(t *testing.T) {
	dir := t.TempDir()
	data := []byte("\x00\xff\"\n`")
	for n, goTest := range []bool{false, true} {
		sub := filepath.Join(dir, string(rune('a'+n)))
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := WriteInput(sub, data, goTest); err != nil {
			t.Fatal(err)
		}
		for _, beside := range []string{"x.output", "x.quoted"} { // of go-fuzz
			if err := os.WriteFile(filepath.Join(sub, beside), []byte("text"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ReadInputs(sub)
		if err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, data) {
			t.Errorf("%v: %q, %v", goTest, got, err)
		}
		again, err := ReadInputs(got[0].Name, sub)
		if err != nil || len(again) != 2 {
			t.Errorf("%v: %q, %v", goTest, again, err)
		}
	}
}

// FuzzParseInput reads anything as a file of an engine.
func FuzzParseInput(f *testing.F) {
	f.Add([]byte("go test fuzz v1\n[]byte(\"\\x01\")\n"))
	f.Add([]byte("go test fuzz v1\nint(1)\n"))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, body []byte) {
		data, err := parseInput(body)
		if err == nil && !bytes.HasPrefix(body, []byte(goTestHead)) && !bytes.Equal(data, body) {
			t.Errorf("%q is read as %q", body, data)
		}
	})
}
