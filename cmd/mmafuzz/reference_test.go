package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// referenceSources are the packages, and the types in them, of which each reference consists.
var referenceSources = []struct {
	name, dir string
	types     []string // none: the documentation of the package
}{
	{name: "checklist", dir: "fuzz/checklist"},
	{name: "cuda", dir: "devices/cuda"},
	{name: "hip", dir: "devices/hip"},
	{name: "json", dir: "cmd/mmafuzz"},
	{name: "known", dir: "corpus", types: []string{"Known"}},
	{name: "plans", dir: "corpus", types: []string{"Plan"}},
	{name: "protocol", dir: "devices/exec"},
	{name: "recordings", dir: "fuzz/record"},
	{name: "schedules", dir: "sim/schedule", types: []string{"", "Kernel", "When", "Unit", "Cast", "Schedule", "Where", "Level", "Cut", "Merge", "Tail", "Blocks", "Quantized", "Step"}},
	{name: "shards", dir: "fuzz/fleet"},
	{name: "vectorfiles", dir: "corpus/vectors"},
	{name: "vulkan", dir: "devices/vulkan"},
}

// TestReferences holds that what help prints is what the packages say.
func TestReferences(t *testing.T) {
	update := flag.Lookup("update").Value.String() == "true"
	var names []string
	for _, r := range referenceSources {
		names = append(names, r.name)
		want := referenceText(t, filepath.Join("..", "..", r.dir), r.types)
		file := filepath.Join("guides", "reference", r.name+".txt")
		if update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the package says (go test ./cmd/mmafuzz -run TestReferences -update): %v", file, err)
		}
	}
	if !update && !slices.Equal(names, references()) {
		t.Errorf("references %v, want %v", references(), names)
	}
}

// referenceText is the documentation of a package, or of types in it with their fields.
func referenceText(t *testing.T, dir string, types []string) []byte {
	t.Helper()
	files := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
	}
	p, err := doc.NewFromFiles(files, parsed, dir)
	if err != nil {
		t.Fatal(err)
	}
	if types == nil {
		types = []string{""}
	}
	var texts [][]byte
	for _, name := range types {
		if name == "" {
			texts = append(texts, p.Text(p.Doc))
			continue
		}
		i := slices.IndexFunc(p.Types, func(x *doc.Type) bool { return x.Name == name })
		if i < 0 {
			t.Fatalf("%s has no type %s", dir, name)
		}
		var b bytes.Buffer
		if len(types) > 1 {
			p.Types[i].Decl.Doc = nil
			if err := format.Node(&b, files, p.Types[i].Decl); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\n")
		}
		b.Write(p.Text(p.Types[i].Doc))
		texts = append(texts, b.Bytes())
	}
	return bytes.Join(texts, []byte("\n"))
}

// TestNoPackageNeeded holds that help and guides send nobody to go doc, which a binary alone does
// not have.
func TestNoPackageNeeded(t *testing.T) {
	var out strings.Builder
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		out.Reset()
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "go doc") {
			t.Errorf("%s: %s", c.CommandPath(), &out)
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(&app{stdout: printable.NewOutput(&out), stderr: &out}))
	for _, g := range guides() {
		if strings.Contains(g.text, "go doc") {
			t.Errorf("guide %s", g.name)
		}
	}
	for _, name := range references() {
		out.Reset()
		found, err := writeReference(&out, name)
		if doc, where, _ := strings.Cut(out.String(), "where go doc "); strings.Contains(doc, "go doc ") != (where != "") {
			t.Errorf("%s: it names go doc without where it is, or says where without need", name)
		}
		if !found || err != nil || out.Len() == 0 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if found, err := writeReference(&out, "none"); found || err != nil {
		t.Errorf("none: %v, %v", found, err)
	}
}
