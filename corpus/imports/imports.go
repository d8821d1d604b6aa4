// Package imports reads other people's files of operands and results, so that they become
// recordings: NumPy's .npy and .npz, .safetensors, CSV, JSON lines, lines of text such as those
// of TestFloat, and $readmemh of Verilog.
//
// What a file does not say is found out, or asked for in an error whose hint has the flag:
//
//   - which array or column is which operand: by names, or --columns
//   - formats: by the types of arrays, an instruction, or --formats
//   - whether text is numbers or codes: if it can be read in one way alone, or --values
//   - the layout: if the shapes fit one alone, or --layout
//
// If several ways of reading a file are left, the instruction whose results they are decides, if
// it is given: see decide.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// The event imported comes last in import:
//
//	file         string   the recording
//	name         string   name of the machine
//	instruction  string   ARCH/NAME
//	formats      string   of D, A, B and C
//	k            number   elements of each dot product
//	dots         number   dot products in the recording
//	layout       string   as --layout gives it
//	values       string?  as --values gives it, of text
//	filled       number?  elements of K that the files do not have, filled up with zeros
//	left_out     number?  dot products with a NaN that is given as a number, so that its code is not known
//	no_flags     bool?    a column of exception flags was left out
//	rounded      number?  numbers in text that their formats lack, so that they were rounded to nearest
//	right        number?  results that are those of the target, of checked ones
//	checked      number?
//
// The API of this package is not promised: it may change in any version.
package imports

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Options say which files are read, and what these do not say themselves.
type Options struct {
	Files   []string // [OPERAND=]FILE[:ARRAY]
	Formats string   // of A, B, C and D, with commas
	Columns string   // such as a*8,b*8,c,d,-
	Layout  string   // such as mk,kn,mn
	Values  string   // one of Values
	// Instruction is the one whose results they are; nil: it is not known.
	Instruction *mma.Instruction
	// Right returns how many of the results d are those that the instruction gives; nil: it
	// cannot be asked.
	Right func(in *mma.Batch, d []byte) (int, error)
}

// Values are the ways of reading text: as numbers, as codes in hexadecimal, as codes in decimal.
var Values = []string{"numbers", "hex", "codes"}

// operands are the arrays that a recording is made of.
var operands = []string{"a", "b", "c", "d", "sa", "sb"}

// Imported is what files hold: dot products of one instruction, and their results.
type Imported struct {
	Instruction string `json:"instruction"` // ARCH/NAME
	Formats     string `json:"formats"`
	K           int    `json:"k"`
	Dots        int    `json:"dots"`
	Layout      string `json:"layout"`
	Values      string `json:"values,omitempty"`
	Filled      int    `json:"filled,omitempty"`
	LeftOut     int    `json:"left_out,omitempty"`
	NoFlags     bool   `json:"no_flags,omitempty"`
	Rounded     int    `json:"rounded,omitempty"`
	Right       int    `json:"right,omitempty"`
	Checked     int    `json:"checked,omitempty"`

	row *mma.Instruction
	product
}

// Read reads files. Errors have hints.
func Read(o Options) (*Imported, error) {
	var f mma.Formats
	var err error
	if o.Instruction != nil {
		f = o.Instruction.Formats
	} else if o.Formats != "" {
		if f, err = parseFormats(o.Formats); err != nil {
			return nil, err
		}
	}
	if o.Values != "" && !slices.Contains(Values, o.Values) {
		return nil, fmt.Errorf("--values is %.40q, not %s", o.Values, strings.Join(Values, ", "))
	}
	arrays, err := o.load(f)
	if err != nil {
		return nil, err
	}
	if f.D == fp.None {
		if f, err = formatsOf(arrays); err != nil {
			return nil, err
		}
	}
	ways, err := o.ways(f, arrays)
	if err != nil {
		return nil, err
	}
	way, err := o.decide(ways)
	if err != nil {
		return nil, err
	}
	way.NoFlags = arrays["d"].flags
	if way.describe(&o, f); way.Dots == 0 {
		return nil, errors.New("every dot product has a NaN that is given as a number, so that its code is not known")
	}
	return way, nil
}

// parseFormats reads --formats.
func parseFormats(text string) (f mma.Formats, err error) {
	names := strings.Split(text, ",")
	if len(names) != 4 {
		return f, hint.New("for example --formats fp16,fp16,fp32,fp32, or e4m3,e4m3,none,fp32 if there is no C", "--formats has %d formats; it is those of A, B, C and D", len(names))
	}
	for i, id := range []*fp.ID{&f.A, &f.B, &f.C, &f.D} {
		if *id, err = fp.Parse(strings.TrimSpace(names[i])); err != nil {
			return f, hint.Add(fmt.Errorf("--formats: %w", err), "mmafuzz list formats lists them")
		}
	}
	if err = f.Validate(); err != nil {
		return f, fmt.Errorf("--formats: %w", err)
	}
	return f, nil
}

// formatsOf returns the formats that the types of arrays give.
func formatsOf(arrays map[string]*array) (f mma.Formats, err error) {
	unknown, names := "", ""
	for i, id := range []*fp.ID{&f.A, &f.B, &f.C, &f.D} {
		role := operands[i]
		x := arrays[role]
		switch {
		case x != nil:
			*id = x.id
			if x.unsigned() && x.width == 1 && arrays["d"].id == fp.S32 {
				*id = fp.U8
			}
		case role == "b":
			*id = fp.One
		}
		name := id.String()
		if x != nil && *id == fp.None {
			name = "?"
			if unknown == "" {
				unknown = fmt.Sprintf("%s does not say in which format %s is", x.from, strings.ToUpper(role))
			}
		}
		names += "," + name
	}
	switch {
	case arrays["sa"] != nil || arrays["sb"] != nil:
		return f, hint.New("--target T --inst I names an instruction that has them", "the scales are those of an instruction, which is not given")
	case unknown != "":
		return f, hint.New(fmt.Sprintf("--formats %s with formats in place of ?, such as fp16,fp16,fp32,fp32 (mmafuzz list formats), or --target T --inst I", names[1:]), "%s", unknown)
	}
	if err := f.Validate(); err != nil {
		return f, hint.New("--formats fp16,fp16,fp32,fp32, or the like, gives those of A, B, C and D", "the types of the arrays are those of no instruction: %v", err)
	}
	return f, nil
}

// ways returns the ways in which arrays can be read that give different dot products.
func (o *Options) ways(f mma.Formats, arrays map[string]*array) (all []*Imported, err error) {
	values := []string{""}
	for _, x := range arrays {
		if slices.ContainsFunc(x.text, func(e string) bool { return !strings.HasPrefix(strings.ToLower(e), "0x") }) {
			values = Values
		}
	}
	if o.Values != "" {
		values = []string{o.Values}
	}
	layouts, err := fitting(o.Layout, f, arrays)
	if err != nil {
		return nil, err
	}
	var failed []string
	for _, v := range values {
		read, err := decodeAll(f, arrays, v)
		if err != nil {
			failed = append(failed, strings.TrimPrefix("as "+v+": ", "as : ")+err.Error())
			continue
		}
		rounded := 0
		for _, x := range read {
			rounded += x.rounded
		}
		for _, l := range layouts {
			p, err := l.product(f, o.Instruction, read)
			if err != nil {
				return nil, err
			}
			way := &Imported{Layout: l.name, Values: v, Rounded: rounded, product: *p}
			if !slices.ContainsFunc(all, func(w *Imported) bool { return w.same(p) }) {
				all = append(all, way)
			}
		}
	}
	if all == nil {
		return nil, errors.New(strings.Join(failed, "; "))
	}
	return all, nil
}

// decide returns the way that is the only one, or the one in which results are those of the
// instruction: an eighth of them at least, since it may be another instruction in truth, and eight
// times as many as in any other way.
func (o *Options) decide(ways []*Imported) (*Imported, error) {
	var list []string
	best := 0
	for i, w := range ways {
		share := ""
		if o.Right != nil {
			if err := w.check(o.Right); err != nil {
				return nil, err
			}
			if w.Right > ways[best].Right {
				best = i
			}
			share = fmt.Sprintf(" (right in %d of %d)", w.Right, w.Checked)
		}
		list = append(list, w.flags()+share)
	}
	switch {
	case len(ways) == 1:
		return ways[0], nil
	case o.Right != nil && ways[best].plausible(ways):
		return ways[best], nil
	case o.Right != nil:
		return nil, hint.New("add the flags of one of them", "the instruction does not decide among %d ways to read the files: %s", len(ways), strings.Join(list, ", or "))
	}
	return nil, hint.New("add the flags of one of them; with --target T --inst I the results decide", "the files can be read in %d ways: %s", len(ways), strings.Join(list, ", or "))
}

// plausible reports whether the results of a way are right so often that it is taken.
func (w *Imported) plausible(ways []*Imported) bool {
	const times = 8
	return w.Right > 0 && times*w.Right >= w.Checked && !slices.ContainsFunc(ways, func(x *Imported) bool { return x != w && times*x.Right > w.Right })
}

// flags are those that ask for a way.
func (w *Imported) flags() string {
	flags := "--layout " + w.Layout
	if w.Values != "" {
		flags += " --values " + w.Values
	}
	return flags
}

// mostChecked is how many results are compared with those of an instruction.
const mostChecked = 1024

// check counts right results.
func (w *Imported) check(right func(*mma.Batch, []byte) (int, error)) error {
	n, width := w.batch.Dots(), w.batch.D.Width()
	step := max(1, n/mostChecked)
	var dots []*mma.Dot
	var d []byte
	for i := 0; i < n; i += step {
		if w.uncoded == nil || !w.uncoded[i] {
			dot := mma.NewDot(w.batch.Formats, w.batch.K)
			w.batch.Get(i, dot)
			dots = append(dots, dot)
			d = append(d, w.d[i*width:(i+1)*width]...)
		}
	}
	if w.Checked = len(dots); w.Checked == 0 {
		return nil
	}
	var err error
	w.Right, err = right(mma.BatchOf(w.batch.Formats, w.batch.K, dots), d)
	return err
}

// describe fills in what is said about a way.
func (w *Imported) describe(o *Options, f mma.Formats) {
	if w.row = o.Instruction; w.row == nil {
		w.row = &mma.Instruction{Arch: "imported", Name: fmt.Sprintf("dot%d.%s", w.batch.K, f), K: w.batch.K, Formats: f}
	}
	w.Instruction, w.Formats, w.K = w.row.FullName(), f.String(), w.batch.K
	for _, lost := range w.uncoded {
		if lost {
			w.LeftOut++
		}
	}
	w.Dots, w.Filled = w.batch.Dots()-w.LeftOut, w.batch.K-w.depth
}

// same reports whether two products are the same dot products with the same results.
func (p *product) same(q *product) bool {
	x, y := p.batch, q.batch
	return x.Shape == y.Shape && slices.Equal(p.uncoded, q.uncoded) && bytes.Equal(x.A, y.A) && bytes.Equal(x.B, y.B) && bytes.Equal(x.C, y.C) &&
		bytes.Equal(x.SA, y.SA) && bytes.Equal(x.SB, y.SB) && bytes.Equal(p.d, q.d)
}
