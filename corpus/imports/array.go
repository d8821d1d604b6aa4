package imports

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// array is an operand as it lies in a file.
type array struct {
	from  string // the file, and the array in it
	shape []int
	byRow bool // the first dimension is known to be t

	// Elements of binary files.
	code   func(i int) uint64 // the bits of an element; nil: it is text
	id     fp.ID              // their format; None: they are codes of a format of this width
	width  int                // bytes
	signed bool               // they are integers in two's complement

	// Elements of text files.
	text  []string
	flags bool     // of D: a column of exception flags, of TestFloat, stands beside it
	rows  []string // where each row of the file is, for errors; all have the same number of elements
}

// unsigned reports whether the elements are unsigned integers, or have a type of which the width
// alone is known.
func (x *array) unsigned() bool { return x.code != nil && x.id == fp.None }

func (x *array) elements() int {
	n := 1
	for _, side := range x.shape {
		n *= side
	}
	return n
}

// decoded is the codes of an array in the format of its operand.
type decoded struct {
	*array
	codes   []uint64
	uncoded map[int]bool // NaNs that were given as numbers: their codes are not known
	rounded int          // decimal numbers that are none of the format
}

// decodeAll returns the codes of all arrays; values says what text is.
func decodeAll(f mma.Formats, arrays map[string]*array, values string) (map[string]*decoded, error) {
	all := map[string]*decoded{}
	ids := map[string]fp.ID{"a": f.A, "b": f.B, "c": f.C, "d": f.D, "sa": f.Scale, "sb": f.Scale}
	for _, role := range operands {
		x := arrays[role]
		if x == nil {
			continue
		}
		read, err := x.decode(ids[role], values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.ToUpper(role), err)
		}
		all[role] = read
	}
	return all, nil
}

// decode returns the codes of an array in a format.
func (x *array) decode(id fp.ID, values string) (*decoded, error) {
	r := &decoded{array: x, codes: make([]uint64, x.elements()), uncoded: map[int]bool{}}
	if id == fp.None {
		return r, x.nothing()
	}
	for i := range r.codes {
		var code uint64
		var rounded bool
		var err error
		if x.code == nil {
			code, rounded, err = parse(x.text[i], id.Get(), values)
		} else {
			code, err = x.element(i, id)
		}
		if errors.Is(err, errNaN) {
			r.uncoded[i], err = true, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.place(i), err)
		}
		if r.codes[i] = code; rounded {
			r.rounded++
		}
	}
	return r, nil
}

// nothing returns an error unless an operand that the instruction does not have is all zeros or
// dashes.
func (x *array) nothing() error {
	for i := range x.elements() {
		if x.code != nil && x.code(i) != 0 || x.code == nil && strings.Trim(x.text[i], "0.x") != "" && x.text[i] != "-" {
			return fmt.Errorf("%s: the instruction has no such operand; leave the array out", x.place(i))
		}
	}
	return nil
}

// place says where an element is.
func (x *array) place(i int) string {
	if x.code == nil {
		return x.rows[i/(len(x.text)/len(x.rows))]
	}
	return fmt.Sprintf("%s, element %d", x.from, i)
}

// errNaN reports a NaN that is given as a number.
var errNaN = errors.New("a NaN without a code")

// element returns the code of an element of a binary file in a format.
func (x *array) element(i int, id fp.ID) (uint64, error) {
	f := id.Get()
	code := x.code(i)
	switch {
	case x.id == id:
		return code, nil
	case x.signed && f.Integer():
		unused := 64 - 8*x.width
		return integer(int64(code<<unused)>>unused, f)
	case x.id != fp.None && !x.signed:
		v := x.id.Get().Float64(code)
		if f.Integer() && v == math.Trunc(v) && math.Abs(v) < 1<<53 { // the smallest is beyond what encode takes
			return integer(int64(v), f)
		}
		got, err := encode(v, f)
		if err == nil && f.Float64(got) != v {
			err = fmt.Errorf("%v is no %s number", v, f.Name)
		}
		return got, err
	case x.width < int(f.Width):
		return 0, fmt.Errorf("its elements have %d bytes, codes of %s have %d", x.width, f.Name, f.Width)
	}
	if code > f.CodeMask() {
		return 0, fmt.Errorf("%x is no %s code", code, f.Name)
	}
	return code, nil
}

// parse reads an element of text, and reports whether it is a number that was rounded.
func parse(text string, f *fp.Format, values string) (code uint64, rounded bool, err error) {
	text = strings.ToLower(strings.TrimSpace(text))
	digits, prefixed := strings.CutPrefix(text, "0x")
	switch {
	case prefixed && !strings.Contains(digits, "p") || values == "hex":
		if !prefixed && len(digits) != f.Digits() {
			return 0, false, fmt.Errorf("%.40q is no %s code of %d hexadecimal digits", text, f.Name, f.Digits())
		}
		code, err = strconv.ParseUint(digits, 16, 64)
	case values == "codes":
		code, err = strconv.ParseUint(text, 10, 64)
	default:
		return number(text, f)
	}
	if err != nil || code > f.CodeMask() {
		return 0, false, fmt.Errorf("%.40q is no %s code", text, f.Name)
	}
	return code, false, nil
}

// number returns the code of a decimal number, rounded to nearest, as programs print numbers, and
// reports whether the format lacks the number itself.
func number(text string, f *fp.Format) (code uint64, rounded bool, err error) {
	if f.Integer() {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, false, fmt.Errorf("%.40q is no integer", text)
		}
		code, err = integer(n, f)
		return code, false, err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxNumber {
		return 0, false, fmt.Errorf("%.40q is no number of fp64", text)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		code, err = encode(v, f)
		return code, false, err
	}
	exact, ok := new(big.Rat).SetString(text)
	if ok && f.ID != fp.FP64 {
		v = toOdd(exact, v)
	}
	if code, err = encode(v, f); err != nil {
		return 0, false, err
	}
	// Without an exact number, its exponent is so small that v is 0.
	return code, !ok || exact.Cmp(new(big.Rat).SetFloat64(f.Float64(code))) != 0, nil
}

// maxNumber bounds the characters of a number.
const maxNumber = 1000

// toOdd returns the neighbour of a number whose last bit is 1, unless v, the nearest float64, is
// the number: rounded again, to fewer bits, it gives what the number does.
func toOdd(exact *big.Rat, v float64) float64 {
	if v == 0 || math.Float64bits(v)&1 == 1 {
		return v
	}
	switch exact.Cmp(new(big.Rat).SetFloat64(v)) {
	case 1:
		return math.Nextafter(v, math.Inf(1))
	case -1:
		return math.Nextafter(v, math.Inf(-1))
	}
	return v
}

// encode returns the code of a number rounded to nearest. A number too large for the format is an
// error, and a NaN is errNaN.
func encode(v float64, f *fp.Format) (uint64, error) {
	switch {
	case math.IsNaN(v):
		return 0, errNaN
	case math.IsInf(v, 0) && f.HasInf():
		return f.InfCode(v < 0), nil
	case !f.Signed && math.Signbit(v):
		return 0, fmt.Errorf("%v: %s has no negative numbers", v, f.Name)
	}
	if f.ID != fp.FP64 {
		most := f.Float64(f.MaxFinite())
		if end := most + (most-f.Float64(f.MaxFinite()-1))/2; math.Abs(v) >= end { // it would round to more
			return 0, fmt.Errorf("%v is larger than all numbers of %s", v, f.Name)
		}
	}
	return f.FromFloat64(v), nil
}

// integer returns the code of an integer.
func integer(n int64, f *fp.Format) (uint64, error) {
	code := uint64(n) & f.CodeMask()
	if int64(f.Float64(code)) != n {
		return 0, fmt.Errorf("%d is no integer of %s", n, f.Name)
	}
	return code, nil
}
