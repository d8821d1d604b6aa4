// Gen writes the assembly of package simd with avo:
//
//	go generate ./sim/internal/simd
//
// It is a module of its own, so that the project does not depend on avo.
package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	if err := declare("../args.go"); err != nil {
		log.Fatal(err)
	}
	ConstraintExpr("amd64,!purego")
	transpose8()
	transpose16()
	transpose32()
	transpose64()
	decodeHalf()
	largest8()
	largest512()
	steps2()
	steps512()
	widen()
	chains()
	tiny512()
	fmaTiny512()
	wides()
	scales()
	halves()
	late()
	Generate()
}

// declare makes the argument blocks of package simd known to avo, which looks
// types up in the universe if it is given no package. They are read from their
// source, so that the package need not compile before its assembly is written.
func declare(file string) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		return err
	}
	conf := types.Config{Importer: importer.Default()}
	pkg, err := conf.Check("simd", fset, []*ast.File{f}, nil)
	if err != nil {
		return err
	}
	for _, name := range pkg.Scope().Names() {
		if t, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok {
			universal := types.NewTypeName(token.NoPos, nil, name, nil)
			types.NewNamed(universal, t.Type().Underlying(), nil)
			types.Universe.Insert(universal)
		}
	}
	return nil
}
