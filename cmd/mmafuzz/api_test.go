package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// promised are the packages for Go programs outside this module: their API is
// documented, has examples, and stays compatible.
var promised = []string{
	"sim/fp", "sim/mma", "sim", "oracle", "devices", "fuzz/gen", "minimize", "triage", "fuzz", "fuzz/fuzztest",
}

// notPromised is what the documentation of every other package says that others could
// import.
const notPromised = "The API of this package is not promised: it may change in any version."

// sources are parsed files by the folder that they lie in, relative to the module.
type sources map[string][]*ast.File

// add parses a file. test files count as uses, not as declarations; see isTest.
func (s sources) add(name string, text any) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := filepath.ToSlash(filepath.Dir(name))
	if strings.HasSuffix(name, "_test.go") {
		f.Doc = nil // of a test, not of the package
		if !strings.HasSuffix(f.Name.Name, "_test") {
			dir += " (tests)" // the package itself, which may use what it likes
		} else {
			dir += " (external tests)"
		}
	}
	s[dir] = append(s[dir], f)
	return nil
}

// importable lists the packages that another module can import.
func (s sources) importable() []string {
	var all []string
	for dir, files := range s {
		if !strings.Contains(dir, " ") && files[0].Name.Name != "main" && !slices.Contains(strings.Split(dir, "/"), "internal") {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return all
}

// doc returns the documentation of a package in one line.
func (s sources) doc(dir string) string {
	var text []string
	for _, f := range s[dir] {
		text = append(text, strings.Fields(f.Doc.Text())...)
	}
	return strings.Join(text, " ")
}

// selections returns "PACKAGE NAME" of everything that is selected from a package by
// another one or by external tests, and " NAME" of every selected field or method.
func (s sources) selections() map[string]bool {
	used := map[string]bool{}
	for dir, files := range s {
		for _, f := range files {
			imports := map[string]string{}
			for _, i := range f.Imports {
				p := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), module)
				name := path.Base(p)
				if i.Name != nil {
					name = i.Name.Name
				}
				imports[name] = p
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && imports[x.Name] != "" {
						used[imports[x.Name]+" "+sel.Sel.Name] = true
					}
					used[dir+" ."+sel.Sel.Name] = true
				}
				return true
			})
		}
	}
	return used
}

// standard are methods that are called through interfaces of the standard library.
var standard = []string{"Error", "Is", "MarshalJSON", "MarshalText", "Read", "Set", "String", "Type", "UnmarshalJSON", "UnmarshalText", "Unwrap", "Write"}

// unused lists the exported functions, methods, types, variables and constants of a
// package that nothing outside it uses. A type is used by the exported declarations
// that mention it, a constant also by its type and by those that are declared with it.
func (s sources) unused(dir string, used map[string]bool) []string {
	decls, mentions := map[string][]string{}, map[string]bool{} // by which other names a name is used
	mention := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				mentions[id.Name] = true
			}
			return true
		})
	}
	for _, f := range s[dir] {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiver(d)) || strings.HasPrefix(d.Name.Name, "Fuzz") {
					continue // go-fuzz calls FuzzX
				}
				mention(d.Type)
				if d.Recv == nil {
					decls[d.Name.Name] = nil
				} else if !slices.Contains(standard, d.Name.Name) {
					decls[receiver(d)+"."+d.Name.Name] = nil
				}
			case *ast.GenDecl:
				exportedSpecs(d, decls, mention)
			}
		}
	}
	var all []string
	isUsed := func(name string) bool { return used[dir+" "+name] || mentions[name] }
	for name, others := range decls {
		_, method, isMethod := strings.Cut(name, ".")
		if isMethod && !selectedOutside(used, dir, method) || !isMethod && !isUsed(name) && !slices.ContainsFunc(others, isUsed) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// selectedOutside reports whether another package selects a field or method of a name.
func selectedOutside(used map[string]bool, dir, name string) bool {
	for key := range used {
		if from, ok := strings.CutSuffix(key, " ."+name); ok && from != dir && from != dir+" (tests)" {
			return true
		}
	}
	return false
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if g, ok := t.(*ast.IndexExpr); ok {
		t = g.X
	}
	return t.(*ast.Ident).Name
}

// exportedSpecs adds the exported names of types, variables and constants to decls, and
// calls mention with the exported part of their types.
func exportedSpecs(d *ast.GenDecl, decls map[string][]string, mention func(ast.Node)) {
	var constants []string // of the declaration, and their types
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			decls[spec.Name.Name] = nil
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				mention(spec.Type)
				continue
			}
			for _, field := range fields.Fields.List {
				if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
					mention(field.Type)
				}
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if !name.IsExported() {
					continue
				}
				decls[name.Name] = nil
				mentionValue(spec, mention)
				if d.Tok == token.CONST {
					constants = append(constants, name.Name)
				}
			}
			if id, ok := spec.Type.(*ast.Ident); ok && d.Tok == token.CONST && id.IsExported() {
				constants = append(constants, id.Name)
			}
		}
	}
	for _, name := range constants {
		if _, ok := decls[name]; ok {
			decls[name] = append(decls[name], constants...)
		}
	}
}

// mentionValue calls mention with the type of a variable.
func mentionValue(spec *ast.ValueSpec, mention func(ast.Node)) {
	if spec.Type != nil {
		if _, plain := spec.Type.(*ast.Ident); !plain {
			mention(spec.Type)
		}
	}
	for _, v := range spec.Values {
		if c, ok := v.(*ast.CompositeLit); ok && c.Type != nil {
			mention(c.Type)
		}
	}
}

// moduleSources returns the sources of the module.
func moduleSources(t *testing.T) sources {
	t.Helper()
	s, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var parsed = sync.OnceValues(func() (sources, error) {
	s := sources{}
	const root = "../.."
	return s, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || rel == filepath.Join("sim", "internal", "simd", "gen")):
			return filepath.SkipDir // gen is a module of its own
		case !d.IsDir() && strings.HasSuffix(p, ".go"):
			text, err := fs.ReadFile(os.DirFS(root), filepath.ToSlash(rel))
			if err != nil {
				return err
			}
			return s.add(rel, text)
		}
		return nil
	})
})

// TestAPI holds that what others can import is promised or says that it is not, and that
// nothing is exported that no other package, no example and no other external test uses.
func TestAPI(t *testing.T) {
	t.Parallel()
	s := moduleSources(t)
	for _, dir := range promised {
		if strings.Contains(s.doc(dir), notPromised) {
			t.Errorf("%s is promised and says that it is not", dir)
		}
		if !slices.ContainsFunc(slices.Concat(s[dir+" (tests)"], s[dir+" (external tests)"]), hasExample) {
			t.Errorf("%s is promised and has no example with an output", dir)
		}
	}
	for _, dir := range s.importable() {
		if !slices.Contains(promised, dir) && !strings.Contains(s.doc(dir), notPromised) {
			t.Errorf("%s can be imported and is not promised: move it below a folder internal, or say in its documentation: %s", dir, notPromised)
		}
	}
	used := s.selections()
	for _, dir := range slices.Sorted(maps.Keys(s)) {
		if strings.Contains(dir, " ") || s[dir][0].Name.Name == "main" {
			continue
		}
		for _, name := range s.unused(dir, used) {
			t.Errorf("%s.%s is exported, and no other package and no example uses it: unexport it", dir, name)
		}
	}
}

// mostExports is how many identifiers package sim/mma may export: everything else knows it, and
// what one package alone needs belongs there.
const mostExports = 200

// TestExports holds how much package sim/mma exports, and that programs use all of what is
// promised, of this module or in examples: tests alone are no users.
func TestExports(t *testing.T) {
	t.Parallel()
	s := moduleSources(t)
	if n := len(s.exports("sim/mma")); n == 0 || n > mostExports {
		t.Errorf("sim/mma exports %d identifiers; at most %d are wanted", n, mostExports)
	}
	used := s.programs().selections()
	for _, dir := range promised {
		for _, name := range s.unused(dir, used) {
			t.Errorf("%s.%s is exported, and neither another package nor an example uses it: unexport it", dir, name)
		}
	}
}

// exports returns the constants, variables, functions, types, and methods of types that a
// package exports.
func (s sources) exports(dir string) map[string][]string {
	all := map[string][]string{}
	for _, f := range s[dir] {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case !d.Name.IsExported():
				case d.Recv == nil:
					all[d.Name.Name] = nil
				case ast.IsExported(receiver(d)):
					all[receiver(d)+"."+d.Name.Name] = nil
				}
			case *ast.GenDecl:
				exportedSpecs(d, all, func(ast.Node) {})
			}
		}
	}
	return all
}

// programs returns the sources without tests, but with examples.
func (s sources) programs() sources {
	all := sources{}
	for dir, files := range s {
		if !strings.Contains(dir, " ") {
			all[dir] = files
			continue
		}
		for _, f := range files {
			examples := &ast.File{Name: f.Name, Imports: f.Imports}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(fn.Name.Name, "Example") {
					examples.Decls = append(examples.Decls, d)
				}
			}
			all[dir] = append(all[dir], examples)
		}
	}
	return all
}

// hasExample reports whether a file has an example whose output is compared.
func hasExample(f *ast.File) bool {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
			continue
		}
		for _, c := range f.Comments {
			if c.Pos() > fn.Pos() && c.End() < fn.End() && strings.HasPrefix(c.Text(), "Output:") {
				return true
			}
		}
	}
	return false
}

// TestUnused tests the rule of TestAPI itself.
func TestUnused(t *testing.T) {
	t.Parallel()
	s := sources{}
	for name, text := range map[string]string{
		"a/a.go": `package a
			type Used struct{ N Mentioned }
			type Mentioned int
			type Alone int
			const One, Two Mentioned = 1, 2
			const Lonely Alone = 1
			const (
				Three = 3
				Four  = 4
			)
			var V int
			func F() {}
			func G() hidden { return hidden{} }
			func (Used) Called(int) {}
			func (Used) Idle() {}
			func (Used) String() string { return "" }
			type hidden struct{}
			func (hidden) Hidden() {}`,
		"a/a_test.go": "package a\nvar _ = V\nfunc f(u Used) { u.Idle() }",
		"a/x_test.go": "package a_test\nimport \"" + module + "a\"\nfunc f() { a.G() }",
		"b/b.go":      "package b\nimport other \"" + module + "a\"\nfunc f(u other.Used) { u.Called(other.Three) }",
		"c/c.go":      "package c\nimport \"elsewhere/a\"\nvar _ = a.F",
	} {
		if err := s.add(name, text); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"Alone", "F", "Lonely", "Used.Idle", "V"}
	if diff := cmp.Diff(want, s.unused("a", s.selections())); diff != "" {
		t.Error("unused names (-want +got):\n" + diff)
	}
	want = []string{"Alone", "F", "G", "Lonely", "Used.Idle", "V"}
	if diff := cmp.Diff(want, s.unused("a", s.programs().selections())); diff != "" {
		t.Error("names that only tests use are among the unused ones (-want +got):\n" + diff)
	}
	if err := s.add("a/y_test.go", "package a_test\nimport \""+module+"a\"\nfunc ExampleG() { a.G() }"); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(s.unused("a", s.programs().selections()), "G") {
		t.Error("an example is no user")
	}
	want = []string{"Alone", "F", "Four", "G", "Lonely", "Mentioned", "One", "Three", "Two", "Used", "Used.Called", "Used.Idle", "Used.String", "V"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.exports("a")))); diff != "" {
		t.Error("exported names (-want +got):\n" + diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, s.importable()); diff != "" {
		t.Error("importable packages (-want +got):\n" + diff)
	}
}
