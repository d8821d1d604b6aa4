package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// FuzzBundle reads anything as a bundle's mismatch.json and makes of it all that people
// look at: only what can be seen, and a Go test that is Go.
func FuzzBundle(f *testing.F) {
	dir := f.TempDir()
	for _, m := range []*corpus.Mismatch{ampereHopper(f), ampereReference(f)} {
		m.Version = corpus.BundleVersion
		body, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		f.Add(bytes.ReplaceAll(body, []byte(`"target": "`), []byte(`"target": "exec:\n`+"`"+`\u001b[2J\"`)))
		f.Add(bytes.ReplaceAll(body, []byte(`"target": "sim:`), []byte(`"target": "a Go function\u007f`)))
	}
	unknown := ampereHopper(f)
	unknown.Version, unknown.B.Known, unknown.ProgramK = corpus.BundleVersion, false, unknown.K+1
	body, err := json.Marshal(unknown)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, data := range map[string][]byte{"mismatch.json": body, "MANIFEST": fmt.Appendf(nil, "%x  mismatch.json\n", sha256.Sum256(body))} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		b, err := corpus.ReadBundle(dir)
		if err != nil {
			return
		}
		m := Local(&b.Mismatch, "bundle")
		made, err := files(m)
		if err != nil {
			return
		}
		names := []string{"picture.txt", "README.md"}
		if functionOf(m) == "" {
			names = append(names, "repro_test.go")
		}
		for _, name := range names {
			if text := string(made[name]); text == "" || printable.Text(text) != text {
				t.Fatalf("%s\nis shown in %s as %q", body, name, text)
			}
		}
		if text, is := made["repro_test.go"]; is != (functionOf(m) == "") {
			t.Fatalf("%s\nhas repro_test.go: %v", body, is)
		} else if _, err := parser.ParseFile(token.NewFileSet(), "repro_test.go", text, parser.SkipObjectResolution); is && err != nil {
			t.Fatalf("%s\nis no Go: %v", body, err)
		}
		pic, err := Picture(m, "bundle")
		if err != nil {
			t.Fatal(err)
		}
		var colour strings.Builder
		if err := report.Text(&colour, pic, report.TextOptions{Width: 60, Color: true, All: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(colour.String(), "\x1b[2J") {
			t.Fatalf("%s\nis shown as %q", body, colour.String())
		}
	})
}
