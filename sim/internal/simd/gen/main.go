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
	transposes()
	widens()
	chains()
	findSubnormals()
	fmaSubnormal()
	decodes()
	steps()
	scale("scaleRows", false)
	scale("scaleColumns", true)
	wordCodes()
	for _, i := range isas {
		i.largest(1)
		i.largest(2)
		for _, width := range []int{1, 2, 4} {
			i.rows(width)
			i.columns(width)
		}
		for _, fp32 := range []bool{false, true} {
			i.prepare(fp32)
			i.finish(fp32, false)
			i.finish(fp32, true)
		}
		i.dot()
		i.sumKinds()
		i.sumOver()
		i.toNearest(false)
		i.toNearest(true)
		i.towardZero()
		i.join(false)
		i.join(true)
		i.groups()
		i.exact(2)
		i.exact(4)
		i.round()
		i.fromFloat32()
		i.toFloat32()
		i.integers()
		i.program()
		i.exactSums()
		i.chained()
	}
	fused(false, false)
	fused(true, false)
	fused(true, true)
	fusedJoin(false)
	fusedJoin(true)
	larger16()
	decodeSmall()
	shuffle("shuffle", false)
	shuffle("shuffleCross", true)
	widenToHalf()
	addLate("late32", false)
	addLate("late16", true)
	narrowHalf()
	subnormalHalf()
	widenIntegers()
	integerTiles("integerTiles", false, false)
	integerTiles("integerTilesSaturated", true, false)
	integerTiles("integerTilesXor", false, true)
	Generate()
}

// declare makes the argument blocks of package simd known to avo, which looks up types in
// the universe if it is given no package. It reads them from their source, so that the
// package need not compile before its assembly is written.
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
