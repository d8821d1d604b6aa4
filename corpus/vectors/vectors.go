// Package vectors reads and writes test vectors: dot products with the results that an
// arithmetic gives, chosen so that units of other arithmetics fail (package fuzz/vectors chooses
// them). Each set says which: every other value of each parameter was tried, how many of them
// fail a test, how many are proved to compute the same function, and those of which neither is
// known.
//
// A Set is the vectors of one arithmetic. Its native form is JSON, which
// corpus/schema/vectors-1.json describes; the others carry the same tests for consumers
// that do not read JSON:
//
//	.json  everything: the rule and its source, the tests in groups, what fails each
//	.csv   a row for each test, for scripts and spreadsheets
//	.h     arrays of C
//	.hex   $readmemh of Verilog: a word for each test
//	.npz   arrays of NumPy
//
// In the project's sources, corpus/vectors/testdata has consumers: a program in C, a bench in
// SystemVerilog, a script in Python. corpus/vectors/sets has the vectors of some instructions;
// mmafuzz vectors makes those of all; corpus/vectors/table.tsv has sizes and rates. Its rows
// with - are not measured yet: other values of their parameters were never tried.
//
// # Operands
//
// Codes are strings of all hexadecimal digits of their format's container: FP8, FP6, FP4 and
// scales two, FP16 and BF16 four, FP32 and TF32 (the register) eight, FP64 sixteen. An
// instruction without C has none. A scale applies to a block of consecutive products.
//
// # Right answers
//
// A result is right if it has the bits of d; where compare is nan, any NaN is, because
// nobody has shown which one the unit gives, and where it is zero, a zero of either sign.
//
// The API of this package is not promised: it may change in any version.
package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Version is the version of the sets that this program writes. Fields may be added under
// one version; none is removed or changes its meaning.
const Version = 1

// maxFile is more bytes than any set takes.
const maxFile = 64 << 20

// Set is the test vectors of one arithmetic.
type Set struct {
	Version     int         `json:"v"`
	Instruction string      `json:"instruction"`    // ARCH/NAME
	Also        []string    `json:"also,omitempty"` // other instructions of the same arithmetic, formats and k
	Formats     mma.Formats `json:"formats"`
	K           int         `json:"k"`
	Arithmetic  string      `json:"arithmetic"` // its name in the literature, with its parameters
	Params      mma.Params  `json:"params"`
	Digest      string      `json:"digest"`             // of what the tests were chosen from
	Source      string      `json:"source,omitempty"`   // where the rule is published
	Evidence    string      `json:"evidence,omitempty"` // what it was checked against
	Rates       Rates       `json:"rates"`
	// Parameters has a row for each parameter that was given every other value, all else being
	// equal, and for each pair of parameters that was (A+B). It is missing in sets that were made
	// before this was done.
	Parameters []Parameter `json:"parameters,omitempty"`
	Assumed    string      `json:"assumed,omitempty"` // under which Parameter.Same holds
	Others     []Other     `json:"others"`            // the arithmetics that tests tell from this one
	Groups     []Group     `json:"groups"`
}

// Rates count the arithmetics that were to be told from this one.
type Rates struct {
	Changes   int `json:"changes"`   // made of this one by one decision changed
	Killed    int `json:"killed"`    // of these, that fail some test
	Same      int `json:"same"`      // that compute the same function, proved or by a written argument
	Undecided int `json:"undecided"` // that differ only in what nobody has shown of the instruction
	Open      int `json:"open"`      // that no input was found to tell apart
}

// Parameter counts the arithmetics that other values of a parameter, or of two, make of this one,
// all else being equal: all that are valid and, of bounds of exponents, that some sum can reach.
type Parameter struct {
	Path      string   `json:"path"`
	Values    int      `json:"values"`
	Killed    int      `json:"killed"`         // of these, that fail some test
	Same      int      `json:"same"`           // that are proved to compute the same function
	Undecided int      `json:"undecided"`      // that differ only in what nobody has shown of the instruction
	Open      []string `json:"open,omitempty"` // the values of which this is not known: they pass all tests
}

// Values adds up the rows of the parameters.
func (s *Set) Values() Rates {
	var r Rates
	for _, p := range s.Parameters {
		r.Changes += p.Values
		r.Killed += p.Killed
		r.Same += p.Same
		r.Undecided += p.Undecided
		r.Open += len(p.Open)
	}
	return r
}

// The kinds of other arithmetics.
const (
	KindChange      = "change"      // this arithmetic with one decision changed
	KindValue       = "value"       // with another value of one parameter or of two, if a test is for it
	KindRefinement  = "refinement"  // with something that no known unit does
	KindInstruction = "instruction" // of the catalogue
	KindReference   = "reference"   // chains of CPU operations, the exact sum, integers added up in too few bits
)

// Other is an arithmetic that fails some tests.
type Other struct {
	Kind    string       `json:"kind"`
	Name    string       `json:"name"`              // of the change, the instruction or the reference
	Changes []mma.Change `json:"changes,omitempty"` // from this arithmetic to it
}

// Group is the tests of one idea.
type Group struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Tests []Test `json:"tests"`
}

// The ways of comparing a result with D.
const (
	CompareBits = "bits"
	CompareNaN  = "nan"  // any NaN is right
	CompareZero = "zero" // a zero of either sign is right
)

// Test is one test vector.
type Test struct {
	ID      string   `json:"id"` // GROUP-NUMBER
	Comment string   `json:"comment"`
	A       []string `json:"a"`
	B       []string `json:"b"`
	SA      []string `json:"sa,omitempty"` // scales of A and B, one a block
	SB      []string `json:"sb,omitempty"`
	C       string   `json:"c,omitempty"`
	D       string   `json:"d"`
	Compare string   `json:"compare"`
	Fails   []int    `json:"fails"` // numbers of the Others that give another result
}

// NewTest returns the test of a dot product and its result.
func NewTest(f mma.Formats, d *mma.Dot, want uint64) Test {
	t := Test{A: codes(f.A, d.A), B: codes(f.B, d.B), D: mma.FormatCode(f.D, want), Compare: CompareBits, Fails: []int{}}
	if f.Scale != fp.None {
		t.SA, t.SB = codes(f.Scale, d.SA), codes(f.Scale, d.SB)
	}
	if f.C != fp.None {
		t.C = mma.FormatCode(f.C, d.C)
	}
	return t
}

func codes(id fp.ID, all []uint64) []string {
	s := make([]string, len(all))
	for i, c := range all {
		s[i] = mma.FormatCode(id, c)
	}
	return s
}

// Case is a test as codes.
type Case struct {
	*Test
	Group string
	Dot   *mma.Dot
	Want  uint64
}

// Cases returns all tests in their order. The set must be one that Read has returned, or
// that was made of NewTest.
func (s *Set) Cases() ([]Case, error) {
	var all []Case
	for g := range s.Groups {
		group := &s.Groups[g]
		for n := range group.Tests {
			c, err := s.parse(&group.Tests[n])
			if err != nil {
				return nil, fmt.Errorf("test %s: %w", group.Tests[n].ID, err)
			}
			c.Group = group.Name
			all = append(all, c)
		}
	}
	return all, nil
}

func (s *Set) parse(t *Test) (c Case, err error) {
	f := s.Formats
	c = Case{Test: t, Dot: mma.NewDot(f, s.K)}
	for _, v := range []struct {
		what string
		id   fp.ID
		to   []uint64
		text []string
	}{
		{"a", f.A, c.Dot.A, t.A}, {"b", f.B, c.Dot.B, t.B}, {"sa", f.Scale, c.Dot.SA, t.SA}, {"sb", f.Scale, c.Dot.SB, t.SB},
	} {
		if len(v.text) != len(v.to) {
			return c, fmt.Errorf("%d codes of %s, %d are needed", len(v.text), v.what, len(v.to))
		}
		for i, text := range v.text {
			if v.to[i], err = mma.ParseCode(v.what, v.id, text); err != nil {
				return c, err
			}
		}
	}
	if f.C != fp.None {
		if c.Dot.C, err = mma.ParseCode("c", f.C, t.C); err != nil {
			return c, err
		}
	} else if t.C != "" {
		return c, fmt.Errorf("c is %s, but the instruction has none", t.C)
	}
	switch t.Compare {
	case CompareBits, CompareNaN, CompareZero:
	default:
		return c, fmt.Errorf("compare is %q, not %s, %s or %s", t.Compare, CompareBits, CompareNaN, CompareZero)
	}
	c.Want, err = mma.ParseCode("d", f.D, t.D)
	return c, err
}

// Read reads a set from JSON and checks all of its tests.
func Read(text []byte) (*Set, error) {
	var version struct {
		V int `json:"v"`
	}
	// The version first: the other fields of another version may not fit Set.
	if err := strictjson.Error(text, json.Unmarshal(text, &version)); err != nil {
		return nil, err
	}
	if version.V != Version {
		return nil, fmt.Errorf("version %d of test vectors, this program reads %d", version.V, Version)
	}
	s := &Set{}
	if err := strictjson.Unmarshal(text, s); err != nil {
		return nil, err
	}
	if err := s.Formats.Validate(); err != nil {
		return nil, err
	}
	if s.K < 1 || s.K > mma.MaxK {
		return nil, fmt.Errorf("k is %d, not 1 to %d", s.K, mma.MaxK)
	}
	if all, err := s.Cases(); err != nil {
		return nil, err
	} else if len(all) == 0 {
		return nil, errors.New("it has no tests: there is nothing to check")
	}
	printable.Strings(s)
	return s, nil
}

// Open reads a set from a file.
func Open(file string) (*Set, error) {
	text, err := corpus.ReadFile(file, "set of test vectors", maxFile)
	if err != nil {
		return nil, err
	}
	s, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Is reports whether a file is a set, of this version or of another one.
func Is(file string) bool {
	var head struct {
		Instruction string             `json:"instruction"`
		Groups      *[]json.RawMessage `json:"groups"`
	}
	text, err := corpus.ReadFile(file, "set of test vectors", maxFile)
	return err == nil && json.Unmarshal(text, &head) == nil && head.Instruction != "" && head.Groups != nil
}

// JSON writes the set: a line for each test, so that a difference of two sets can be read.
func (s *Set) JSON() ([]byte, error) {
	head := *s
	head.Groups, head.Others, head.Parameters = nil, nil, nil
	text, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(text, []byte("\n}"))
	text = bytes.Replace(text, []byte(",\n  \"others\": null,\n  \"groups\": null"), nil, 1)
	b := bytes.NewBuffer(text)
	if len(s.Parameters) > 0 {
		b.WriteString(",\n  \"parameters\": [")
		if err := lines(b, "    ", s.Parameters); err != nil {
			return nil, err
		}
		b.WriteString("\n  ]")
	}
	b.WriteString(",\n  \"others\": [")
	if err := lines(b, "    ", s.Others); err != nil {
		return nil, err
	}
	b.WriteString("\n  ],\n  \"groups\": [")
	for i, g := range s.Groups {
		if i > 0 {
			b.WriteString(",")
		}
		about, err := compact(g.About)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(b, "\n    {\"name\": %q, \"about\": %s, \"tests\": [", g.Name, about)
		if err := lines(b, "      ", g.Tests); err != nil {
			return nil, err
		}
		b.WriteString("\n    ]}")
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes(), nil
}

// lines writes the elements of an array of JSON, a line each.
func lines[T any](b *bytes.Buffer, indent string, all []T) error {
	for i := range all {
		text, err := compact(all[i])
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n" + indent)
		b.Write(text)
	}
	return nil
}

// compact writes JSON in one line, with characters of HTML as they are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
