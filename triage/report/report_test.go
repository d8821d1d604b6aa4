package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var update = flag.Bool("update", false, "write the golden file")

const goldenFile = "testdata/pictures.golden"

// pictureCase is a dot product on one unit or two.
type pictureCase struct {
	name   string
	a, b   string // ARCH/INSTRUCTION; b "": a single picture
	dot    string
	setA   []string // PATH=VALUE, changes of a's program
	change func(m *Mismatch, o *TextOptions)
}

// unit returns an instruction with some parameters changed.
func unit(t *testing.T, name string, set []string) *mma.Instruction {
	t.Helper()
	arch, inst, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set {
		path, value, _ := strings.Cut(s, "=")
		if err := i.Params.Apply([]mma.Change{{Path: path, To: value}}); err != nil {
			t.Fatal(err)
		}
	}
	return i
}

// side runs a dot product.
func side(t *testing.T, i *mma.Instruction, d *mma.Dot) Side {
	t.Helper()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatalf("%s: %v", i.FullName(), err)
	}
	s := Side{Name: "sim:" + i.FullName(), Trace: &sim.Trace{}, Params: &i.Params}
	s.Result = m.Dot(d, s.Trace)
	return s
}

// mismatch builds the case; B is a copy of A where the case has one unit.
func (c *pictureCase) mismatch(t *testing.T) (*Mismatch, TextOptions) {
	t.Helper()
	i := unit(t, c.a, c.setA)
	j := i
	if c.b != "" {
		j = unit(t, c.b, nil)
	}
	d, err := mma.ParseDot(i.Formats, max(i.K, j.K), true, padded(i.Formats, c.dot))
	if err != nil {
		t.Fatal(err)
	}
	m := &Mismatch{
		Input: Input{Title: i.Name, Formats: i.Formats, Dot: d, Rerun: []string{"mmafuzz", "replay", "out/" + c.name}},
		A:     side(t, i, d), B: side(t, j, d),
		Changes: mma.Diff(&i.Params, &j.Params),
	}
	var o TextOptions
	if c.change != nil {
		c.change(m, &o)
	}
	return m, o
}

// padded returns the fields of a dot product in which 0 may stand for a code of
// all zeros.
func padded(f mma.Formats, dot string) []string {
	fields := strings.Fields(dot)
	for i, id := range []fp.ID{f.A, f.B} {
		codes := strings.Split(fields[i], ",")
		for j := range codes {
			if codes[j] == "0" {
				codes[j] = mma.FormatCode(id, 0)
			}
		}
		fields[i] = strings.Join(codes, ",")
	}
	return fields
}

// text draws the case.
func (c *pictureCase) text(t *testing.T) string {
	t.Helper()
	m, o := c.mismatch(t)
	var b bytes.Buffer
	err := Text(&b, m, o)
	if c.b == "" {
		b.Reset()
		err = TextOne(&b, &m.Input, &m.A, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkWidth(t, c.name, b.String(), o)
	return b.String()
}

func checkWidth(t *testing.T, name, text string, o TextOptions) {
	t.Helper()
	for l := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > o.width() {
			t.Errorf("%s: a line has %d columns of %d:\n%s", name, n, o.width(), l)
		}
	}
}

func TestPictures(t *testing.T) {
	var b strings.Builder
	for _, c := range pictureCases {
		fmt.Fprintf(&b, "<<< %s\n%s>>> %s\n\n", c.name, c.text(t), c.name)
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s: %s\nrun with -update and look at the difference", goldenFile, firstDifferentLine(got, string(want)))
	}
}

func firstDifferentLine(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is\n%s\nand was\n%s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, and were %d", len(g), len(w))
}
