package mma

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Row is what is told of a parameter, once: validation, the lists of parameters, the words of
// pictures, the labels of differences, the changes that a search tries and the refusals of
// analyses are made of it.
type Row struct {
	key     string // path; or TYPE.NAME, of a structure that stands at several places
	Label   string // of package triage: which part of an arithmetic a difference here is; "": that of the place
	Words   string // what the parameter is, for people; with %s, the place is put there
	Brief   string // the same in a few words, for a list of changes: followed by two values
	Size    int    // what it adds to the size of a program that has it: see package triage/change
	Refined int    // the least value that makes a program Refined; 0: none does
	// Alone is the name of the change that sets it to each of its values, of a number to usual
	// ones, all else being equal, in a search. Without one, package triage/change has changes of
	// its own for it.
	Alone string
	// Encoded is the last value that package triage/prove encodes, and that package
	// triage/study follows in bounds of the error; 0: none.
	Encoded int

	most int                             // the largest value, of a field of one byte; 0: that of its type
	span func(u *use) (lo, hi int)       // the numbers that make sense in a program, besides 0; nil: it is no number
	used func(p *Params, f Formats) bool // it has a meaning in the program; nil: as its place
}

// anyValue is Row.Encoded of a parameter of which every value is encoded.
const anyValue = math.MaxInt

// place is a part of the computation that several parameters belong to.
type place struct {
	prefix string // of their paths
	words  string
	brief  string // in Row.Brief; "": the parameter's own words are enough
	label  string // of those that have none of their own
	// apart: the rows of its structure were written for other places. The label counts for
	// all of its parameters.
	apart bool
	used  func(p *Params, f Formats) bool // the program reaches it; nil: always
}

// places are in the order in which they are looked for: parts before what they belong to.
var places = []place{
	{prefix: "in.a.", words: "a", brief: "a", label: "operand-rounding"},
	{prefix: "in.b.", words: "b", brief: "b", label: "operand-rounding"},
	{prefix: "in.narrowc.", words: "c", brief: "c", label: "operand-rounding", used: func(_ *Params, f Formats) bool { return f.C != fp.None }},
	{prefix: "in.", words: "operands", label: "input-ftz"},
	{prefix: "prod.round.", words: "products", brief: "products", label: "product-handling"},
	{prefix: "prod.", words: "products", brief: "products", label: "product-handling"},
	{prefix: "scaleround.", words: "product of scales", brief: "the product of scales", label: "product-handling", apart: true,
		used: func(p *Params, _ Formats) bool { return p.ScaleRound != Round{} }},
	{prefix: "stage0.round.", words: "first partial sums", brief: "first partial sums", label: "intermediate-rounding",
		used: func(p *Params, _ Formats) bool { return p.Stage0.Sum != Off && !p.Stage0.Fixed }},
	{prefix: "stage1.round.", words: "second partial sums", brief: "second partial sums", label: "intermediate-rounding",
		used: func(p *Params, _ Formats) bool { return p.Stage1.Sum != Off && !p.Stage1.Fixed }},
	{prefix: "stage0.", words: "first partial sums", brief: "first partial sums", used: func(p *Params, _ Formats) bool { return p.Stage0.Sum != Off }},
	{prefix: "stage1.", words: "second partial sums", brief: "second partial sums", used: func(p *Params, _ Formats) bool { return p.Stage1.Sum != Off }},
	{prefix: "join.post.", words: "sum with the accumulator", brief: "the sum with c", label: "intermediate-rounding"},
	{prefix: "join.", words: "sum with the accumulator"},
	{prefix: "acc.", words: "result of a step", brief: "the result", label: "output-rounding"},
	{prefix: "late.", words: "additions after the last step", brief: "additions after the last step", label: "output-rounding", used: (*Params).LateAdds},
	{prefix: "out.", words: "final result", brief: "the final result", label: "output-rounding", used: func(p *Params, _ Formats) bool { return p.Out != Round{} }},
	{prefix: "special.", words: "special values", label: "signed-zero"},
	{prefix: "", words: "whole computation"},
}

func placeOf(path string) *place {
	return &places[slices.IndexFunc(places, func(x place) bool { return strings.HasPrefix(path, x.prefix) })]
}

// Field is one scalar of Params. Its path is made of the JSON names: join.align.f,
// acc.mode, special.negzero.
type Field struct {
	Path string
	*Row
	kind   reflect.Type
	offset uintptr
	size   uintptr
	values int // of an enumeration
}

// Fields returns every field of Params, in the order of the program.
var Fields = sync.OnceValue(func() []Field {
	rows := map[string]*Row{}
	for _, table := range [][]Row{paramRows, inputRows, narrowRows, productRows, stageRows, alignRows, joinRows, roundRows, specialRows} {
		for i := range table {
			rows[table[i].key] = &table[i]
		}
	}
	return fieldsOf(rows, reflect.TypeFor[Params](), "", 0)
})

func fieldsOf(rows map[string]*Row, t reflect.Type, prefix string, offset uintptr) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := prefix + name
		if f.Type.Kind() == reflect.Struct {
			all = append(all, fieldsOf(rows, f.Type, path+".", offset+f.Offset)...)
			continue
		}
		row, shared := rows[path], rows[strings.ToLower(t.Name())+"."+name]
		if row == nil {
			row = shared
		}
		if row == nil {
			panic("mma: the parameter " + path + " has no row")
		}
		x := Field{path, row.at(path), f.Type, offset + f.Offset, f.Type.Size(), valuesOf(f.Type)}
		if path == "acc.mode" { // the only one that can have random bits
			x.values = int(fp.RS) + 1
		}
		all = append(all, x)
	}
	return all
}

// at returns the row of a parameter at its place.
func (r Row) at(path string) *Row {
	at := placeOf(path)
	if r.Label == "" || at.apart {
		r.Label = at.label
	}
	if at.apart {
		r.Refined = 1
	}
	switch {
	case strings.Contains(r.Words, "%s"):
		r.Words = fmt.Sprintf(r.Words, at.words)
	case r.key != path:
		r.Words = at.words + ": " + r.Words
	}
	switch {
	case strings.Contains(r.Brief, "%s"):
		r.Brief = fmt.Sprintf(r.Brief, at.brief)
	case r.key != path && at.brief != "":
		r.Brief += " of " + at.brief
	}
	if r.used == nil {
		r.used = at.used
	}
	return &r
}

// FindField returns the field of a path.
func FindField(path string) (Field, bool) {
	for _, f := range Fields() {
		if f.Path == path {
			return f, true
		}
	}
	return Field{}, false
}

// at points to the field in a program.
func (f *Field) at(p *Params) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(p), f.offset) }

func (f *Field) value(p *Params) reflect.Value { return reflect.NewAt(f.kind, f.at(p)).Elem() }

// Int returns the field's value as a number: enumerations by position, false and
// true as 0 and 1.
func (f Field) Int(p *Params) int { return f.int(p) }

func (f *Field) int(p *Params) int {
	switch f.size {
	case 1:
		return int(*(*uint8)(f.at(p)))
	case 2:
		return int(*(*int16)(f.at(p)))
	case 4:
		if f.kind.Kind() == reflect.Int32 {
			return int(*(*int32)(f.at(p)))
		}
		return int(*(*uint32)(f.at(p)))
	default:
		return int(*(*uint64)(f.at(p)))
	}
}

// SetInt is the inverse of Int. Params.Validate checks whether the result makes sense.
func (f Field) SetInt(p *Params, n int) {
	switch f.size {
	case 1:
		if f.kind.Kind() == reflect.Bool && n != 0 {
			n = 1
		}
		*(*uint8)(f.at(p)) = uint8(n)
	case 2:
		*(*int16)(f.at(p)) = int16(n)
	case 4:
		*(*uint32)(f.at(p)) = uint32(n)
	default:
		*(*uint64)(f.at(p)) = uint64(n)
	}
}

// use is a numeric field in a program, with what the program is for.
type use struct {
	path string
	p    *Params
	f    Formats
	k    int
}

// Numeric reports whether the field is a number: a count of bits or of terms, or a bound of
// exponents. 0 means absent.
func (f Field) Numeric() bool { return f.span != nil }

// Range returns the values of a number that make sense in a program for k products of the
// given formats, besides 0; ok is false for other fields, and where the program has no use
// for it.
func (f Field) Range(p *Params, formats Formats, k int) (lo, hi int, ok bool) {
	if f.span == nil || f.used != nil && !f.used(p, formats) {
		return 0, 0, false
	}
	lo, hi = f.span(&use{f.Path, p, formats, k})
	return lo, hi, true
}

// Text returns the field's value as in a model file. The zero values of bit
// counts and exponents read "exact" and "none".
func (f Field) Text(p *Params) string {
	v := f.value(p)
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprint(v.Interface())
}

// setText is the inverse of Text.
func (f Field) setText(p *Params, s string) error {
	v := f.value(p)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if _, ok := u.(*fp.Mode); ok && s != "" && !slices.Contains(strings.Split(f.Kind(), ", "), s) {
			return fmt.Errorf("%s: unknown rounding mode %q (one of %s)", f.Path, s, f.Kind())
		}
		if err := u.UnmarshalText([]byte(s)); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		return nil
	}
	switch {
	case v.Type() == reflect.TypeFor[Frac]() && s == "exact", v.Type() == reflect.TypeFor[Exp]() && s == "none":
		v.SetZero()
		return nil
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%s: %q is not true or false", f.Path, s)
		}
		v.SetBool(b)
		return nil
	}
	n, err := strconv.ParseInt(s, 10, max(16, 8*int(f.size)))
	if err != nil || v.CanUint() && (n < 0 || v.OverflowUint(uint64(n))) {
		return fmt.Errorf("%s: %q is not a number in range", f.Path, s)
	}
	f.SetInt(p, int(n))
	return nil
}

// Values returns every value that the field can sensibly have, as Int returns them:
// those of an enumeration but OverWrap, both of a bool, nil for numbers.
func (f Field) Values() []int {
	var vals []int
	for i := range f.values {
		vals = append(vals, i)
	}
	return vals
}

// valuesOf returns how many values a type has: 0 if it is no enumeration.
func valuesOf(t reflect.Type) int {
	switch v := reflect.Zero(t).Interface().(type) {
	case bool:
		return 2
	case fp.Mode:
		return len(fp.Modes()) + 1
	case Over:
		return int(OverWrap) // which is none of floating-point programs
	case interface{ names() []string }:
		return len(v.names())
	}
	return 0
}

// Kind describes what values the field can have.
func (f Field) Kind() string {
	switch f.value(&Params{}).Interface().(type) {
	case Frac:
		return fmt.Sprintf("exact, or fraction bits 1..%d", f.most)
	case Exp:
		return "none, or an exponent"
	case fp.ID:
		return "none, or a format"
	case int32:
		return "an integer within the bits of the operand"
	case Merge:
		return inSequence + ", or distances such as 4-2-1"
	case Passes:
		return wholeOperands + ", or parts of a and b such as 10-01-00"
	}
	vals := f.Values()
	if vals == nil {
		return "0..255"
	}
	var names []string
	for _, v := range vals {
		var p Params
		f.SetInt(&p, v)
		if text := f.Text(&p); text != "" {
			names = append(names, text)
		}
	}
	return strings.Join(names, ", ")
}

// limits are the fields that have a largest value, and that value. Validate runs for every
// mutant of a search: this is the part of the rows that it needs.
var limits = sync.OnceValue(func() (all []limit) {
	for _, f := range Fields() {
		if most := max(f.most, f.values-1); most > 0 && f.kind.Kind() != reflect.Bool {
			all = append(all, limit{f.offset, uint8(most), f})
		}
	}
	return all
})

type limit struct {
	offset uintptr
	most   uint8
	field  Field
}

// checkFields rejects values beyond the largest one of a parameter, and those without a
// name: the latter cannot come from a model file, but they can come from code.
func (p *Params) checkFields() error {
	all := limits()
	for i := range all {
		x := &all[i]
		switch v := *(*uint8)(unsafe.Add(unsafe.Pointer(p), x.offset)); {
		case v <= x.most:
		case x.field.kind == reflect.TypeFor[fp.Mode]() && fp.Mode(v) == fp.RS:
			return fmt.Errorf("%s: rs is not one of %s", x.field.Path, x.field.Kind())
		case x.field.values > 0:
			return fmt.Errorf("%s: unknown value %d", x.field.Path, v)
		default:
			return fmt.Errorf("%s = %d is above %d", x.field.Path, v, x.most)
		}
	}
	return nil
}

// Diff returns the fields in which two programs differ.
func Diff(p, q *Params) []Change {
	var d []Change
	all := Fields()
	for i := range all {
		if f := &all[i]; f.int(p) != f.int(q) {
			d = append(d, Change{f.Path, f.Text(p), f.Text(q)})
		}
	}
	return d
}

// Apply sets the fields of changes to their new values.
func (p *Params) Apply(changes []Change) error {
	for _, c := range changes {
		f, ok := FindField(c.Path)
		if !ok {
			return fmt.Errorf("there is no parameter %q", c.Path)
		}
		if err := f.setText(p, c.To); err != nil {
			return err
		}
	}
	return nil
}
