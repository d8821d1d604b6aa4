package bundle

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/oracle"
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
	dots, err := m.Questions()
	if err != nil {
		return nil, err
	}
	f, dot := m.Formats, dots[len(dots)-1]
	var lines []string
	for _, d := range dots {
		lines = append(lines, strconv.Quote(childLine(f, d)))
	}
	var data strings.Builder
	var names []string
	operand := func(name string, id fp.ID, codes []uint64, shape string) {
		fmt.Fprintf(&data, "%s = %s.reshape(%s)\n", name, numpyArray(id, codes), shape)
		names = append(names, name)
	}
	operand("a", f.A, dot.A, "1, -1")
	if f.B != fp.One {
		operand("b", f.B, dot.B, "-1, 1")
	}
	if f.C != fp.None {
		operand("c", f.C, []uint64{dot.C}, "1, 1")
	}
	if f.Scale != fp.None {
		fmt.Fprintf(&data, "# a scale of each %d elements\n", f.Block)
		operand("sa", f.Scale, dot.SA, "1, -1")
		operand("sb", f.Scale, dot.SB, "-1, 1")
	}
	side := &m.A // the child's, whose instruction is named where it has several
	if strings.HasPrefix(m.B.Target, "exec:") && !strings.HasPrefix(m.A.Target, "exec:") {
		side = &m.B
	}
	all := strings.Join(names, ", ")
	fmt.Fprintf(&data, "operands = (%s,)\nlines = [%s]  # the last one is the case\ninstruction = %q\n\n", all, strings.Join(lines, ", "), side.Instruction)
	data.WriteString("# What each side gave: a code, and the number that it is of.\nsides = [\n")
	for _, s := range []*corpus.SideRecord{&m.A, &m.B} {
		code, array := "-", "None"
		if s.Result != corpus.NoResult {
			d, err := mma.ParseCode("result", f.D, s.Result)
			if err != nil {
				return nil, err
			}
			code, array = s.Result, numpyArray(f.D, []uint64{d})
		}
		fmt.Fprintf(&data, "    (%s, %q, %s),\n", strconv.QuoteToASCII(printable.Line(strings.TrimSpace(s.Target+" "+s.Instruction))), code, array)
	}
	data.WriteString("]\n")
	fmt.Fprintf(&data, "codes = np.uint%d\nnan_bits = %s\n", 8*f.D.Width(), pythonBool(Policy(m).NaN != oracle.ByClass))
	data.WriteString(numpyResult(f.D))
	what, own := numpyOwn(f, dot)
	fmt.Fprintf(&data, "\n\ndef own():\n    %s\n", own)
	return []byte(strings.NewReplacer("DATA\n", data.String(), "OWN", what, "CALL", "f("+all+")").Replace(numpyProgram)), nil
}

// numpyOwn is the statement by which NumPy computes what units of some formats do, before the
// result is rounded to its format, and what that is called.
func numpyOwn(f mma.Formats, dot *mma.Dot) (what, statement string) {
	wide := f.D
	for _, id := range []fp.ID{f.A, f.B, f.C} {
		if id.Width() > wide.Width() {
			wide = id
		}
	}
	cast := fmt.Sprintf(".astype(np.%s)", numpyType(wide))
	switch {
	case f.D.Integer():
		cast = ".astype(np.int64)"
	case f.D.Flags() != 0:
		return "nothing: NumPy has no exception flags", `raise OSError("NumPy has no exception flags: give a MODULE:FUNCTION that returns them, or a --child")`
	case f.Conversion():
		cast = ".astype(np.float64)"
	}
	factor := ""
	if f.Down != 0 {
		factor = fmt.Sprintf(" * 2.0**-%d", f.Down)
	}
	what, statement = "NumPy's own product, in the type of the result", "a"+cast+factor
	switch {
	case f.Conversion() && len(dot.A) == 1:
		what = "the number, rounded to the nearest of the result's format"
		if x := f.B.Get().Float64(dot.B[0]); x != 1 {
			statement += " * " + pythonFloat(x)
		}
	case f.B.IsOne():
		what, statement = "NumPy's own sum, in the type of the result", statement+".sum(keepdims=True)"
	case f.Scale != fp.None:
		statement = fmt.Sprintf("(%s * np.repeat(sa, %[2]d, 1)[:, :a.size]) @ (b%s * np.repeat(sb, %[2]d, 0)[:b.size])", statement, f.Block, cast)
	case len(dot.A) == 1: // whose sign of zero the @ of some builds of NumPy loses
		statement = fmt.Sprintf("(%s) * b%s", statement, cast)
	default:
		statement = fmt.Sprintf("(%s) @ b%s", statement, cast)
	}
	if f.C != fp.None {
		statement += " + c" + cast
	}
	return what, "return " + statement
}

// numpyResult says how a result is rounded.
func numpyResult(id fp.ID) string {
	text := fmt.Sprintf("result = np.%s\n", numpyType(id))
	if id.Integer() || id.Flags() != 0 || numpyHas(id) {
		return text + "fraction = None  # NumPy has a type for it\n"
	}
	g := id.Get()
	largest, overflow := g.Float64(g.MaxFinite()), math.Inf(1)
	switch {
	case g.HasInf():
	case g.HasNaN():
		overflow = math.NaN()
	default:
		overflow = largest
	}
	return text + fmt.Sprintf("fraction, emin, largest, overflow, signed = %d, %d, %s, %s, %s  # %s\n", g.FracBits, g.Emin(), pythonFloat(largest), pythonFloat(overflow), pythonBool(g.Signed), id)
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

// numpyHas reports whether NumPy has the type of a floating-point format.
func numpyHas(id fp.ID) bool { return id == fp.FP64 || id == fp.FP32 || id == fp.FP16 }

// numpyType is the type of NumPy that has all numbers of a format.
func numpyType(id fp.ID) string {
	kind, width := "float", 4
	switch {
	case id.Flags() != 0 || id.RandomBits() != 0 || id.Integer() && !id.Get().Signed:
		kind, width = "uint", id.Width()
	case id.Integer():
		kind, width = "int", id.Width()
	case numpyHas(id):
		width = id.Width()
	}
	return kind + strconv.Itoa(8*width)
}

// numpyArray writes codes as an array of the type of their format. Flags and random bits stay codes.
func numpyArray(id fp.ID, codes []uint64) string {
	var values []string
	for _, code := range codes {
		switch {
		case numpyHas(id):
			values = append(values, "0x"+mma.FormatCode(id, code))
		case id.Flags() != 0 || id.RandomBits() != 0:
			values = append(values, strconv.FormatUint(code, 10))
		default:
			values = append(values, pythonFloat(id.Get().Float64(code)))
		}
	}
	list := strings.Join(values, ", ")
	if numpyHas(id) {
		return fmt.Sprintf("np.array([%s], np.uint%d).view(np.%s)", list, 8*id.Width(), numpyType(id))
	}
	return fmt.Sprintf("np.array([%s], np.%s)", list, numpyType(id))
}

// pythonFloat writes a number in Python.
func pythonFloat(x float64) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Sprintf("float(%q)", strings.ToLower(text))
	case x == 0 && math.Signbit(x):
		return "-0.0" // -0 is an integer
	}
	return text
}

func pythonBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
