package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// FuzzShow reads anything as a bundle's mismatch.json and makes of it all that people
// look at: only what can be seen, and a Go test that is Go.
func FuzzShow(f *testing.F) {
	dir := f.TempDir()
	var seeds []string
	for _, side := range []string{"sim:hopper", "ref:fma64"} {
		out := filepath.Join(f.TempDir(), "out")
		args := []string{"run", "--a", "sim:ampere", "--b", side, "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "1000", "--out", out}
		if code := run(args, strings.NewReader(""), io.Discard, io.Discard); code != exitMismatch {
			f.Fatalf("%v: exit %d", args, code)
		}
		made, _ := filepath.Glob(filepath.Join(out, "*", "*", "mismatch.json"))
		seeds = append(seeds, made...)
	}
	for _, seed := range seeds {
		body, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
		f.Add(bytes.ReplaceAll(body, []byte(`"target": "`), []byte(`"target": "exec:\n`+"`"+`\u001b[2J\"`)))
	}
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
		m := withModels(&b.Mismatch, "bundle")
		pic, err := pictureOf(m, "bundle")
		if err != nil {
			return
		}
		var text, colour strings.Builder
		for b, o := range map[*strings.Builder]report.TextOptions{&text: {Width: 100}, &colour: {Width: 60, Color: true, All: true}} {
			if err := report.Text(b, pic, o); err != nil {
				t.Fatal(err)
			}
		}
		readme := bundleReadme(m, "bundle", text.String(), []string{"repro.cu"})
		for _, made := range []string{text.String(), readme, reproTest(m)} {
			if printable.Text(made) != made {
				t.Fatalf("%s\nis shown as %q", body, made)
			}
		}
		if strings.Contains(colour.String(), "\x1b[2J") {
			t.Fatalf("%s\nis shown as %q", body, colour.String())
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "repro_test.go", reproTest(m), parser.SkipObjectResolution); err != nil {
			t.Fatalf("%s\nis no Go: %v", body, err)
		}
		programs(m)
	})
}
