package vectors

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Format is a form in which a set can be written.
type Format struct {
	Name  string // as users choose it
	Ext   string // of the file
	Write func(s *Set) ([]byte, error)
}

// Formats are the forms of a set.
var Formats = []Format{
	{"json", ".json", (*Set).JSON},
	{"csv", ".csv", (*Set).csv},
	{"c", ".h", (*Set).header},
	{"readmemh", ".hex", (*Set).readmemh},
	{"npz", ".npz", (*Set).npz},
}

// compareNumbers are the ways of comparing in the forms for programs.
var compareNumbers = map[string]uint64{CompareBits: 0, CompareNaN: 1, CompareZero: 2}

// csv writes a row for each test; the codes of a vector are separated by blanks.
func (s *Set) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"id", "group", "a", "b", "sa", "sb", "c", "d", "compare", "comment"}}
	for _, g := range s.Groups {
		for _, t := range g.Tests {
			vector := func(codes []string) string { return strings.Join(codes, " ") }
			rows = append(rows, []string{t.ID, g.Name, vector(t.A), vector(t.B), vector(t.SA), vector(t.SB), t.C, t.D, t.Compare, t.Comment})
		}
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

// part is one of the things that a test consists of, as the forms for programs lay it out.
type part struct {
	name   string
	width  int // bytes of an element; 0: there is none
	length int
	codes  func(c *Case) []uint64
	scalar bool
}

// parts returns the parts of every test, without those that the instruction does not have.
func (s *Set) parts() []part {
	f := s.Formats
	blocks := f.Blocks(s.K)
	all := []part{
		{"a", f.A.Width(), s.K, func(c *Case) []uint64 { return c.Dot.A }, false},
		{"b", f.B.Width(), s.K, func(c *Case) []uint64 { return c.Dot.B }, false},
		{"sa", f.Scale.Width(), blocks, func(c *Case) []uint64 { return c.Dot.SA }, false},
		{"sb", f.Scale.Width(), blocks, func(c *Case) []uint64 { return c.Dot.SB }, false},
		{"c", f.C.Width(), 1, func(c *Case) []uint64 { return []uint64{c.Dot.C} }, true},
		{"d", f.D.Width(), 1, func(c *Case) []uint64 { return []uint64{c.Want} }, true},
		{"compare", 1, 1, func(c *Case) []uint64 { return []uint64{compareNumbers[c.Compare]} }, true},
	}
	return slices.DeleteFunc(all, func(p part) bool { return p.width == 0 })
}

// title describes a file.
func (s *Set) title() string {
	return fmt.Sprintf("Test vectors of %s, %s, K = %d, %s: mmafuzz vectors", printable.Line(s.Instruction), s.Formats, s.K, s.Arithmetic)
}

// comments and trigraphs are what ends a comment of C, begins another one in it, or is another
// character in a string.
var (
	comments  = strings.NewReplacer("*/", "* /", "/*", "/ *")
	trigraphs = strings.NewReplacer("??", `?\?`)
)

// header writes a header file of C with an array of structures.
func (s *Set) header() ([]byte, error) {
	cases, err := s.Cases()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "/* %s\n   compare: 0 d's bits are right, 1 any NaN is, 2 a zero of either sign is */\n", comments.Replace(s.title()))
	fmt.Fprintf(&b, "#include <stdint.h>\n\n#define MMA_INSTRUCTION %s\n#define MMA_K %d\n#define MMA_TESTS %d\n\nstruct mma_test {\n    const char *id;\n", trigraphs.Replace(strconv.Quote(printable.Line(s.Instruction))), s.K, len(cases))
	parts := s.parts()
	for _, p := range parts {
		array := fmt.Sprintf("[%d]", p.length)
		if p.scalar {
			array = ""
		}
		fmt.Fprintf(&b, "    uint%d_t %s%s;\n", 8*p.width, p.name, array)
	}
	b.WriteString("};\n\nstatic const struct mma_test mma_tests[MMA_TESTS] = {\n")
	for i := range cases {
		c := &cases[i]
		fmt.Fprintf(&b, "    /* %s */\n    {%q", comments.Replace(c.Comment), c.ID)
		for _, p := range parts {
			var list []string
			for _, code := range p.codes(c) {
				list = append(list, fmt.Sprintf("0x%0*x", 2*p.width, code))
			}
			text := strings.Join(list, ", ")
			if !p.scalar {
				text = "{" + text + "}"
			}
			b.WriteString(", " + text)
		}
		b.WriteString("},\n")
	}
	b.WriteString("};\n")
	return b.Bytes(), nil
}

// readmemh writes a word for each test: the parts one above the other, element 0 in the
// lowest bits of its part.
func (s *Set) readmemh() ([]byte, error) {
	cases, err := s.Cases()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// %s\n// %d words; from the lowest bit on:", s.title(), len(cases))
	parts := s.parts()
	at := 0
	for _, p := range parts {
		bits := 8 * p.width * p.length
		fmt.Fprintf(&b, " %s[%d:%d]", p.name, at+bits-1, at)
		at += bits
	}
	b.WriteString("\n// compare: 0 d's bits are right, 1 any NaN is, 2 a zero of either sign is\n")
	for i := range cases {
		for _, p := range slices.Backward(parts) {
			for _, code := range slices.Backward(p.codes(&cases[i])) {
				fmt.Fprintf(&b, "%0*x", 2*p.width, code)
			}
		}
		fmt.Fprintf(&b, " // %s\n", cases[i].ID)
	}
	return b.Bytes(), nil
}

// npz writes a zip of .npy files: one for each part, with a row for each test, and id.npy
// with the names of the tests as rows of characters.
func (s *Set) npz() ([]byte, error) {
	cases, err := s.Cases()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, m *npy.Matrix) error {
		w, err := z.Create(name + ".npy")
		if err != nil {
			return err
		}
		return npy.Write(w, m)
	}
	for _, p := range s.parts() {
		m := &npy.Matrix{Rows: len(cases), Columns: p.length, Kind: 'u', Width: p.width, Data: make([]byte, len(cases)*p.length*p.width)}
		for i := range cases {
			for j, code := range p.codes(&cases[i]) {
				mma.Store(m.Data, p.width, i*p.length+j, code)
			}
		}
		if err := add(p.name, m); err != nil {
			return nil, err
		}
	}
	if err := add("id", names(cases)); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// names returns the names of tests as rows of ASCII, filled up with zeros.
func names(cases []Case) *npy.Matrix {
	longest := 0
	for i := range cases {
		longest = max(longest, len(cases[i].ID))
	}
	m := &npy.Matrix{Rows: len(cases), Columns: longest, Kind: 'u', Width: 1, Data: make([]byte, len(cases)*longest)}
	for i := range cases {
		copy(m.Data[i*longest:], cases[i].ID)
	}
	return m
}

// Right reports whether a result is right for a test whose results are of a format.
func (c *Case) Right(d fp.ID, got uint64) bool {
	switch c.Compare {
	case CompareNaN:
		return d.Get().Decode(got).Class == fp.NaN
	case CompareZero:
		return d.Get().Decode(got).Class == fp.Zero
	}
	return got == c.Want
}
