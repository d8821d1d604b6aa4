package mma

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Field is one scalar of Params. Its path is made of the JSON names: join.align.f,
// acc.mode, special.negzero.
type Field struct {
	Path  string
	index []int
}

// Fields returns every field of Params, in the order of the program.
var Fields = sync.OnceValue(func() []Field {
	return fieldsOf(reflect.TypeFor[Params](), "", nil)
})

func fieldsOf(t reflect.Type, prefix string, index []int) []Field {
	var all []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(append([]int(nil), index...), i)
		if f.Type.Kind() == reflect.Struct {
			all = append(all, fieldsOf(f.Type, prefix+name+".", at)...)
			continue
		}
		all = append(all, Field{prefix + name, at})
	}
	return all
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

func (f Field) value(p *Params) reflect.Value { return reflect.ValueOf(p).Elem().FieldByIndex(f.index) }

// Int returns the field's value as a number: enumerations by position, false and
// true as 0 and 1.
func (f Field) Int(p *Params) int {
	switch v := f.value(p); v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case reflect.Int16:
		return int(v.Int())
	default:
		return int(v.Uint())
	}
}

// SetInt is the inverse of Int. Params.Validate checks whether the result makes sense.
func (f Field) SetInt(p *Params, n int) {
	switch v := f.value(p); v.Kind() {
	case reflect.Bool:
		v.SetBool(n != 0)
	case reflect.Int16:
		v.SetInt(int64(n))
	default:
		v.SetUint(uint64(n))
	}
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

// SetText is the inverse of Text.
func (f Field) SetText(p *Params, s string) error {
	v := f.value(p)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
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
	n, err := strconv.ParseInt(s, 10, 16)
	if err != nil || v.CanUint() && (n < 0 || v.OverflowUint(uint64(n))) {
		return fmt.Errorf("%s: %q is not a number in range", f.Path, s)
	}
	f.SetInt(p, int(n))
	return nil
}

// Values returns every value that the field can sensibly have, as Int returns them:
// those of an enumeration, both of a bool, nil for numbers.
func (f Field) Values() []int {
	n := 0
	switch f.value(&Params{}).Interface().(type) {
	case bool:
		n = 2
	case fp.Mode:
		n = len(fp.Modes()) + 1
	case InFlush:
		n = len(inFlushNames)
	case ProdExp:
		n = len(prodExpNames)
	case ScaleAt:
		n = len(scaleAtNames)
	case Order:
		n = len(orderNames)
	case Start:
		n = len(startNames)
	case Sum:
		n = len(sumNames)
	case Split:
		n = len(splitNames)
	case OutFlush:
		n = len(outFlushNames)
	case Over:
		n = len(overNames)
	case NaNRule:
		n = len(nanRuleNames)
	case Gate:
		n = len(gateNames)
	case Sticky:
		n = len(stickyNames)
	case Negate:
		n = len(negateNames)
	case Leaf:
		n = len(leafNames)
	case Sort:
		n = len(sortNames)
	}
	var vals []int
	for i := range n {
		vals = append(vals, i)
	}
	return vals
}

// Kind describes what values the field can have.
func (f Field) Kind() string {
	switch f.value(&Params{}).Interface().(type) {
	case Frac:
		most := MaxFrac
		if strings.HasSuffix(f.Path, ".align.f") || f.Path == "join.cf" || f.Path == "join.cdrop" || strings.HasSuffix(f.Path, ".align.drop") {
			most = MaxF
		}
		return fmt.Sprintf("exact, or fraction bits 1..%d", most)
	case Exp:
		return "none, or an exponent"
	case fp.ID:
		return "none, or a format"
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

// Change is a field that has one value in a program and another in a second.
type Change struct {
	Path string `json:"path"`
	From string `json:"from"`
	To   string `json:"to"`
}

// String writes PATH FROM->TO with an arrow.
func (c Change) String() string { return c.Path + " " + c.From + "→" + c.To }

// symbols are the names that the literature has for parameters.
var symbols = map[string]string{
	"l": "L", "join.align.f": "F", "join.align.floor": "e_zero", "join.post.frac": "F2",
	"join.align.mode": "alignment", "join.cmode": "alignment of c", "join.cf": "F of c",
	"stage0.align.f": "F of products", "stage0.align.mode": "alignment of products",
	"acc.mode": "rounding", "acc.frac": "result bits", "acc.flush": "result flush",
	"in.sub": "subnormal inputs", "in.c": "subnormal c", "special.nan": "NaN code", "special.ones": "ones of a NaN",
}

// Brief is String with the literature's symbol for the parameter where it has
// one.
func (c Change) Brief() string {
	name := c.Path
	if s, ok := symbols[name]; ok {
		name = s
	}
	word := func(s string) string {
		switch {
		case s == "": // the name of no rounding mode
			return "none"
		case s == "0" && c.Path == "l":
			return "all"
		}
		return s
	}
	return name + " " + word(c.From) + "→" + word(c.To)
}

// Brief writes changes with commas between them.
func Brief(changes []Change) string {
	s := make([]string, len(changes))
	for i, c := range changes {
		s[i] = c.Brief()
	}
	return strings.Join(s, ", ")
}

// Reversed returns changes that undo those given.
func Reversed(changes []Change) []Change {
	back := slices.Clone(changes)
	for i, c := range changes {
		back[i].From, back[i].To = c.To, c.From
	}
	return back
}

// Diff returns the fields in which two programs differ.
func Diff(p, q *Params) []Change {
	var d []Change
	for _, f := range Fields() {
		if f.Int(p) != f.Int(q) {
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
		if err := f.SetText(p, c.To); err != nil {
			return err
		}
	}
	return nil
}
