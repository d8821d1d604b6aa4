package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// svgGolden are the cases whose drawings are in the golden file: one sum, groups with
// scales, sides of different structure, results that are no numbers.
var svgGolden = []string{"truncation-width", "group-scales", "fused-against-chain", "nan-code"}

const svgFile = "testdata/drawings.golden"

// TestSVG draws all cases: each is well-formed XML, and some are compared with the golden
// file, with what happens in words.
func TestSVG(t *testing.T) {
	var golden strings.Builder
	for _, c := range pictureCases {
		if c.b == "" {
			continue
		}
		m, _ := c.mismatch(t)
		words := strings.Join(InWords(m), "\n")
		svg := string(SVG(m, SVGOptions{Key: true}).Titled(c.name).File())
		if err := wellFormed(svg); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, g := range svgGolden {
			if g == c.name {
				svg = string(SVG(m, SVGOptions{Key: true}).Titled(c.name).SVG())
				fmt.Fprintf(&golden, "<<< %s\n%s\n\n%s\n>>> %s\n\n", c.name, words, svg, c.name)
			}
		}
	}
	if *update {
		if err := os.WriteFile(svgFile, []byte(golden.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(svgFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := golden.String(); got != string(want) {
		t.Errorf("%s: %s\nrun with -update and look at the difference", svgFile, firstDifferentLine(got, string(want)))
	}
}

func wellFormed(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestConversionHasNoTerm draws a conversion: its row is a number, no term of a sum.
func TestConversionHasNoTerm(t *testing.T) {
	i, err := mma.Lookup("ada", "cvt.rn.satfinite.e4m3x2.f32")
	if err != nil {
		t.Fatal(err)
	}
	d := mma.NewDot(i.Formats, 1)
	d.A[0], d.B[0] = 0x3a800001, 1
	other := i.Params
	other.Acc.Mode = fp.RU
	side := func(p mma.Params) Side {
		unit, err := sim.New(i.Formats, 1, p)
		if err != nil {
			t.Fatal(err)
		}
		tr := &sim.Trace{}
		return Side{Name: "unit", Params: &p, Trace: tr, Result: unit.Dot(d, tr)}
	}
	m := &Mismatch{Input: Input{Formats: i.Formats, Dot: d}, A: side(i.Params), B: side(other)}
	svg := string(SVG(m, SVGOptions{}).Titled("").SVG())
	if strings.Contains(svg, ">term") || !strings.Contains(svg, ">number<") {
		t.Error(svg)
	}
}
