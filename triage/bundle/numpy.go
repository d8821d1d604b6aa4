package bundle

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// numpyProgram runs a case, whose data numpyRepro puts in the place of the line DATA.
//
//go:embed repro_numpy.py
var numpyProgram string

const numpyFile = "repro_numpy.py"

// numpyRepro is a Python program with the case as NumPy arrays: it gives them to NumPy, to a
// function, or to a child, and says which side's result comes out. It needs no mmafuzz.
func numpyRepro(m *corpus.Mismatch) ([]byte, error) {
	dot, err := m.Dot()
	if err != nil {
		return nil, err
	}
	f := m.Formats
	var data strings.Builder
	operand := func(name string, id fp.ID, codes []uint64, shape string) {
		fmt.Fprintf(&data, "%s = %s.reshape(%s)\n", name, numpyArray(id, codes), shape)
	}
	operand("a", f.A, dot.A, "1, -1")
	operand("b", f.B, dot.B, "-1, 1")
	names := "a, b"
	if f.C != fp.None {
		operand("c", f.C, []uint64{dot.C}, "1, 1")
		names += ", c"
	}
	if f.Scale != fp.None {
		fmt.Fprintf(&data, "# a scale of each %d elements\n", f.Block)
		operand("sa", f.Scale, dot.SA, "1, -1")
		operand("sb", f.Scale, dot.SB, "-1, 1")
		names += ", sa, sb"
	}
	side := &m.A // the child's, whose instruction is named where it has several
	if strings.HasPrefix(m.B.Target, "exec:") && !strings.HasPrefix(m.A.Target, "exec:") {
		side = &m.B
	}
	fmt.Fprintf(&data, "operands = (%s)\nline = %q\ninstruction = %q\n\n", names, childLine(f, dot), side.Instruction)
	data.WriteString("# What each side gave.\nsides = [\n")
	for _, s := range []*corpus.SideRecord{&m.A, &m.B} {
		code, array := "-", "None"
		if s.Result != corpus.NoResult {
			d, err := mma.ParseCode("result", f.D, s.Result)
			if err != nil {
				return nil, err
			}
			code, array = s.Result, numpyArray(f.D, []uint64{d})
		}
		fmt.Fprintf(&data, "    (%s, %q, %s),\n", strconv.QuoteToASCII(printable.Line(s.Target+" "+s.Instruction)), code, array)
	}
	data.WriteString("]\n")
	return []byte(strings.Replace(numpyProgram, "DATA\n", data.String(), 1)), nil
}

// childLine is a dot product as a child reads it: all elements, in hexadecimal.
func childLine(f mma.Formats, d *mma.Dot) string {
	codes := func(id fp.ID, all []uint64) string {
		var words []string
		for _, code := range all {
			words = append(words, mma.FormatCode(id, code))
		}
		return strings.Join(words, ",")
	}
	line := codes(f.A, d.A) + " " + codes(f.B, d.B) + " " + mma.FormatCode(f.C, d.C)
	if f.Scale != fp.None {
		line += " sa=" + codes(f.Scale, d.SA) + " sb=" + codes(f.Scale, d.SB)
	}
	return line
}

// numpyArray writes codes as an array of their type in NumPy; if it has none, as one of float32,
// which has all values of the format.
func numpyArray(id fp.ID, codes []uint64) string {
	if id.Flags() != 0 {
		return fmt.Sprintf("np.array(%v, np.uint8)", codes)
	}
	var values []string
	if id == fp.FP64 || id == fp.FP32 || id == fp.FP16 {
		for _, code := range codes {
			values = append(values, "0x"+mma.FormatCode(id, code))
		}
		bits := 8 * id.Get().Width
		return fmt.Sprintf("np.array([%s], np.uint%d).view(np.float%d)", strings.Join(values, ", "), bits, bits)
	}
	for _, code := range codes {
		v := id.Get().Float64(code)
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			text = fmt.Sprintf("float(%q)", strings.ToLower(text))
		}
		values = append(values, text)
	}
	return fmt.Sprintf("np.array([%s], np.float32)", strings.Join(values, ", "))
}
