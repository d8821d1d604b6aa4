package main

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// bareGoroutines are the packages that the library for Python has in it, and that start goroutines
// otherwise than by a parallel.Group, with how many; none of these can panic, or ends more than itself.
var bareGoroutines = map[string]int{
	"cmd/python":     1, // a job: guarded
	"corpus/journal": 1, // guarded
	"devices/exec":   4, // a supervisor's two, in a process of its own; a child's stderr, guarded; and its end
	"devices/gpu":    1, // calls of a driver: guarded
	"sim/parallel":   1, // the group itself
	"triage/eval":    1, // guarded
}

// TestGoroutines holds that a panic on whatever goroutine is an error of the call of the library for
// Python for which it works, and not the end of the process: see package parallel.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	all := moduleSources(t)
	for _, dir := range reached(all, "cmd/python") {
		n := 0
		for _, f := range all[dir] {
			ast.Inspect(f, func(x ast.Node) bool {
				switch x := x.(type) {
				case *ast.GoStmt:
					n++
				case *ast.SelectorExpr:
					if p, ok := x.X.(*ast.Ident); ok && p.Name == "sync" && x.Sel.Name == "WaitGroup" {
						n++
					}
				}
				return true
			})
		}
		if n != bareGoroutines[dir] {
			t.Errorf("%s has %d go statements and WaitGroups, and %d are known: let a parallel.Group start them, or guard them", dir, n, bareGoroutines[dir])
		}
	}
}

// reached lists the packages that a package imports, at any distance, and itself.
func reached(all sources, from string) []string {
	imports := all.imports()
	list := []string{from}
	for i := 0; i < len(list); i++ {
		for _, line := range imports {
			if importer, imported, _ := strings.Cut(line, " "); importer == list[i] && !slices.Contains(list, imported) {
				list = append(list, imported)
			}
		}
	}
	return list
}
