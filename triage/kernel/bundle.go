package kernel

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// The files of a bundle.
const caseName = "case.json"

var (
	kernelFiles  = [2]string{"a.json", "b.json"}
	changedFiles = [2]string{"a-changed.json", "b-changed.json"}
	productFiles = [2]string{"D-a.npy", "D-b.npy"}
)

//go:embed reproduce.py
var reproduce []byte

// caseFile is case.json: what reproduce.py reads, for which all numbers are hexadecimal
// floating-point literals.
type caseFile struct {
	V      int           `json:"v"`
	Label  string        `json:"label"`
	M      int           `json:"m"`
	N      int           `json:"n"`
	K      int           `json:"k"`
	Row    int           `json:"row"`
	Column int           `json:"column"`
	A      []string      `json:"a"` // the row of A
	B      []string      `json:"b"` // the column of B
	Sides  []caseSide    `json:"sides"`
	Scales [2]caseScales `json:"scales,omitzero"`
	report
}

// caseSide is one of the two sides, or one of them with the change that makes it give the other's
// result.
type caseSide struct {
	Name   string   `json:"name"`
	Result string   `json:"result"`
	Code   string   `json:"code"`
	Format string   `json:"format"`
	Plan   []caseOp `json:"plan,omitempty"` // if all of its operations are those of IEEE 754
}

// caseScales are codes of scales of A and B.
type caseScales struct {
	A []uint64 `json:"a,omitempty"`
	B []uint64 `json:"b,omitempty"`
}

// caseOp is an operation: the products K added to Z, or X*Y + Z. A number is a literal, or the
// result #N of operation N.
type caseOp struct {
	K       []int32 `json:"k,omitempty"`
	X       string  `json:"x,omitempty"`
	Y       string  `json:"y,omitempty"`
	Z       string  `json:"z"`
	Product []int   `json:"product,omitempty"` // significant bits, least and largest exponent of products
	To      []int   `json:"to"`                // the same of sums
	Relu    string  `json:"relu,omitempty"`    // what of the result becomes +0: negative, -0, nan
}

// Save writes the bundle of the smallest product below a directory and returns its directory:
// the matrices, both results, the schedules, and a program that computes an element again.
func (f *Found) Save(dir string) (string, error) {
	c := f.Smallest
	dir = filepath.Join(dir, readable.Slug(f.Label()))
	if err := checkForeign(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	known := f.known()
	file, err := f.caseFile(known)
	if err != nil {
		return "", err
	}
	body, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return "", err
	}
	// The case is written first: by it checkForeign knows the other files, also those of a run that was
	// killed here.
	if err := corpus.ReplaceFile(filepath.Join(dir, caseName), append(body, '\n')); err != nil {
		return "", err
	}
	files := map[string][]byte{"reproduce.py": reproduce, "README.md": f.readme(known)}
	side, _, _ := f.changedSide()
	for name, k := range map[string]*schedule.Kernel{kernelFiles[0]: known[0], kernelFiles[1]: known[1], changedFiles[side]: f.changed(), changedFiles[1-side]: nil} {
		var text bytes.Buffer
		if k != nil {
			if err := k.Write(&text); err != nil {
				return "", err
			}
		}
		files[name] = text.Bytes()
	}
	for name, body := range files {
		if err := corpus.ReplaceOrRemoveFile(filepath.Join(dir, name), body); err != nil {
			return "", err
		}
	}
	o := c.Operands[0]
	return dir, errors.Join(f.saveScales(dir),
		WriteMatrix(filepath.Join(dir, "A.npy"), c.formats.A, o.M, o.K, o.A),
		WriteMatrix(filepath.Join(dir, "B.npy"), c.formats.B, o.K, o.N, transposed(o.B, c.formats.B, o.N, o.K)),
		WriteMatrix(filepath.Join(dir, productFiles[0]), c.D, o.M, o.N, c.Products[0]),
		WriteMatrix(filepath.Join(dir, productFiles[1]), c.D, o.M, o.N, c.Products[1]))
}

// checkForeign returns a *corpus.ForeignError if files of a bundle would replace others.
func checkForeign(dir string) error {
	ours := func() bool { return Rerun(dir) != nil }
	names := slices.Concat([]string{caseName, "A.npy", "B.npy", "reproduce.py", "README.md"}, kernelFiles[:], changedFiles[:], productFiles[:], scaleNames[:])
	for _, name := range names {
		if err := corpus.CheckForeign(filepath.Join(dir, name), "file of a bundle", ours); err != nil {
			return err
		}
	}
	return nil
}

// Rerun returns the kernels or targets and then the flags by which mmafuzz gemm computes the product of a
// bundle again; nil: it is no bundle of a product.
func Rerun(dir string) []string {
	file, err := readCase(dir)
	if err != nil {
		return nil
	}
	in := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	var words []string
	for i, name := range kernelFiles {
		if target := file.Sides[i].Name; strings.HasPrefix(target, "exec:") { // of which the file is what was inferred
			words = append(words, target)
		} else {
			words = append(words, in(name))
		}
	}
	words = append(words, "--a", in("A.npy"), "--b", in("B.npy"))
	for i, name := range scaleNames {
		if _, err := os.Stat(in(name)); err == nil {
			words = append(words, "--"+ScaleFlags[i], in(name))
		}
	}
	return words
}

// readCase reads the case of a bundle.
func readCase(dir string) (*caseFile, error) {
	body, err := corpus.ReadFile(filepath.Join(dir, caseName), "file of a bundle", corpus.MaxMember)
	if err != nil {
		return nil, err
	}
	file := &caseFile{}
	if err := json.Unmarshal(body, file); err != nil {
		return nil, err
	}
	if file.V != 1 || len(file.Sides) < 2 || file.K != len(file.A) {
		return nil, errors.New("it is no case of a matrix product")
	}
	return file, nil
}

// WriteMatrix writes codes of a format, row after row, to a file .npy.
func WriteMatrix(file string, id fp.ID, rows, columns int, codes []byte) error {
	out, err := corpus.Replace(file)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := npy.Write(out, &npy.Matrix{Rows: rows, Columns: columns, Kind: npy.KindOf(id), Width: id.Width(), Data: codes}); err != nil {
		return err
	}
	return out.Commit()
}

// transposed returns the transpose of a matrix that has lines rows of depth elements each.
func transposed(codes []byte, id fp.ID, lines, depth int) []byte {
	w := id.Width()
	out := make([]byte, 0, len(codes))
	for k := range depth {
		for n := range lines {
			out = append(out, codes[(n*depth+k)*w:][:w]...)
		}
	}
	return out
}

// known returns the schedules of both sides; that of a black box is the one that was inferred. It is nil for a
// side whose schedule is not known, or whose inferred schedule does not give the side's result of the smallest
// product: it may have been inferred at another shape.
func (f *Found) known() (all [2]*schedule.Kernel) {
	c := f.Smallest
	for i, k := range c.kernels {
		if all[i] = k; k != nil || f.Sides == nil || f.Sides.kernels[i] == nil {
			continue
		}
		k = f.Sides.kernels[i]
		if d, id, err := gemm.Multiply(context.Background(), k, c.Operands[i], gemm.Options{Workers: 1}); err == nil && id == c.D && wrong(id, d, c.Products[i]) == 0 {
			all[i] = k
		}
	}
	return all
}

// changed returns the kernel of a side with the change that explains the other, nil if there is none.
func (f *Found) changed() *schedule.Kernel {
	if side, _, _ := f.changedSide(); f.Answer == nil || f.Rest > 0 || f.Smallest.kernels[side] == nil {
		return nil
	}
	return portable(f.Answer.Kernel)
}

// caseFile makes case.json.
func (f *Found) caseFile(known [2]*schedule.Kernel) (*caseFile, error) {
	c := f.Smallest
	o := c.Operands[0]
	file := &caseFile{V: 1, Label: f.Label(), M: o.M, N: o.N, K: o.K, Row: c.Row, Column: c.Column,
		A: literals(o.A, c.formats.A, c.Row, o.K), B: literals(o.B, c.formats.B, c.Column, o.K)}
	file.Headline, file.Words = f.Headline(), f.paragraphs()
	if f.Sides != nil {
		file.Fields = f.Sides.Fields
	}
	for i, o := range c.Operands {
		file.Scales[i] = caseScales{o.ScaleA, o.ScaleB}
	}
	changed, _, _ := f.changedSide()
	for i, s := range []struct {
		name     string
		code     uint64
		operands *gemm.Operands
		k        *schedule.Kernel
	}{
		{f.A, c.A, c.Operands[0], known[0]},
		{f.B, c.B, c.Operands[1], known[1]},
		{[2]string{f.A, f.B}[changed] + ", changed", [2]uint64{c.A, c.B}[1-changed], c.Operands[changed], f.changed()},
	} {
		if i == 2 && s.k == nil {
			continue
		}
		side := caseSide{Name: s.name, Result: literal(c.D, s.code), Code: mma.FormatCode(c.D, s.code), Format: c.D.String()}
		if s.k != nil {
			var err error
			if side.Plan, err = planOf(s.k, s.operands, [2]int{c.Row, c.Column}); err != nil {
				return nil, err
			}
		}
		file.Sides = append(file.Sides, side)
	}
	return file, nil
}

// literal writes a code as a hexadecimal floating-point literal.
func literal(id fp.ID, code uint64) string {
	return strconv.FormatFloat(id.Get().Float64(code), 'x', -1, 64)
}

// literals writes a line of a matrix.
func literals(codes []byte, id fp.ID, line, depth int) (all []string) {
	for k := range depth {
		all = append(all, literal(id, mma.Load(codes, id.Width(), line*depth+k)))
	}
	return all
}

// planOf returns the operations of an element, nil if some are not those of IEEE 754.
func planOf(k *schedule.Kernel, o *gemm.Operands, at [2]int) (all []caseOp, err error) {
	if k.Preparation() != (schedule.Preparation{}) { // its operations take other numbers than the operands: scaled or cast before
		return nil, nil
	}
	plans, err := k.PlansAt(o.Shape, o.Given(), [][2]int{at})
	if err != nil {
		return nil, err
	}
	for _, op := range plans[0].Ops {
		u := op.Unit
		plain := mma.FMA(u.D)
		plain.Prod.Round, plain.Special.NaN = u.Params.Prod.Round, u.Params.Special.NaN
		f := u.D.Get()
		if u.Params != plain || u.Params.Prod.Round.Flush != mma.NoFlush || !f.HasInf() {
			return nil, nil
		}
		next := caseOp{Relu: op.Relu.String(), K: op.K, Z: operand(k, o, &op, op.Z, at, u.D), To: []int{int(f.FracBits) + 1, int(f.Emin()), int(f.Emax())}}
		if op.K == nil {
			next.X, next.Y = operand(k, o, &op, op.X, at, u.A), operand(k, o, &op, op.Y, at, u.B)
		}
		if r := u.Params.Prod.Round; r != (mma.Round{}) {
			next.Product = []int{int(r.Frac) + 1, int(r.Emin), int(r.Emax)}
		}
		all = append(all, next)
	}
	return all, nil
}

// operand writes an operand of an operation.
func operand(k *schedule.Kernel, o *gemm.Operands, op *schedule.Op, r schedule.Ref, at [2]int, id fp.ID) string {
	code := uint64(0)
	switch r.Kind {
	case schedule.Value:
		return fmt.Sprintf("#%d", r.N)
	case schedule.NegZero:
		return "-0x0p+0"
	case schedule.One:
		return "0x1p+0"
	case schedule.Alpha:
		code = o.Alpha
	case schedule.Factor:
		code = r.Code
	case schedule.Beta:
		code = o.Beta
	case schedule.ScaleA:
		code = o.ScaleA[k.ScaleA.Index(at[0], r.N*k.ScaleA.K, o.K)]
	case schedule.ScaleB:
		code = o.ScaleB[k.ScaleB.Index(at[1], r.N*k.ScaleB.K, o.K)]
	}
	return literal(id, code)
}

// readme is the README of a bundle.
func (f *Found) readme(known [2]*schedule.Kernel) []byte {
	var b strings.Builder
	side, x, other := f.changedSide()
	fmt.Fprintf(&b, "# %s\n\n%s (A) and %s (B) give different results for the same matrices.\n\n%s\n", readable.Markdown(f.Label()), readable.MarkdownCode(f.A), readable.MarkdownCode(f.B), readable.Markdown(f.Smallest.String()))
	for _, text := range f.words() {
		fmt.Fprintf(&b, "\n%s\n", readable.Markdown(text))
	}
	files := []string{"`A.npy` and `B.npy` the matrices", "`" + productFiles[0] + "` and `" + productFiles[1] + "` what A and B give (numbers, or codes as unsigned integers)"}
	for i, letter := range []string{"A", "B"} {
		if known[i] == nil {
			continue
		}
		what := "the schedule of " + letter
		if f.Smallest.kernels[i] == nil {
			what += ", as it was inferred"
		}
		files = append(files, "`"+kernelFiles[i]+"` "+what)
	}
	if f.changed() != nil {
		files = append(files, "`"+changedFiles[side]+"` the schedule of "+x+" with the change that gives the bits of "+other)
	}
	for i, scales := range f.scaleFiles() {
		if scales != nil {
			files = append(files, "`"+scaleNames[i]+"` scales")
		}
	}
	files = append(files, "`"+caseName+"` one element, operation by operation where its schedule is known", "`reproduce.py` a program that computes it again, with Python alone")
	fmt.Fprintf(&b, "\nFound by `mmafuzz run`, seed %d.\n\nFiles: %s.\n\n    python3 %s/reproduce.py\n    %s\n", f.Seed, strings.Join(files, "; "), bundleName, f.command(bundleName))
	return []byte(b.String())
}

// bundleName is what the files of a bundle call its directory.
const bundleName = "BUNDLE"
