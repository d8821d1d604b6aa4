package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ParameterInWords says what a parameter of a program is; its path if there is none.
func ParameterInWords(path string) string {
	if f, ok := mma.FindField(path); ok {
		return f.Words
	}
	return path
}

// ChangesTable shows in what two programs for some formats differ. a and b are whose programs they are.
func ChangesTable(f mma.Formats, caption string, changes []mma.Change, a, b string) *document.Table {
	t := &document.Table{Caption: caption, Columns: document.Columns("part of the arithmetic", a, b, "parameter")}
	for _, c := range changes {
		t.Add(readable.Converted(f, ParameterInWords(c.Path)), valueInWords(c.Path, c.From, absent(changes, c.Path, false)), valueInWords(c.Path, c.To, absent(changes, c.Path, true)), "`"+c.Path+"`")
	}
	return t
}

// absent reports whether a parameter belongs to a stage that the program changed from (or, if
// to is set, the one changed to) does not have.
func absent(changes []mma.Change, path string, to bool) bool {
	stage, _, _ := strings.Cut(path, ".")
	return slices.ContainsFunc(changes, func(c mma.Change) bool {
		value := c.From
		if to {
			value = c.To
		}
		return c.Path == stage+".sum" && value == mma.Off.String()
	})
}

// valueInWords writes a rounding mode in words, and other values as they are.
func valueInWords(path, value string, absent bool) string {
	switch {
	case absent:
		return "no such sum"
	case (path == "join.cf" || path == "join.cmode") && (value == "" || value == "none" || value == mma.Frac(0).String()):
		return "as the other terms"
	}
	for m, words := range modeWords {
		if m.String() == value {
			return words + " (" + modeName(m) + ")"
		}
	}
	if value == "" {
		return "none"
	}
	return value
}

// OperandTable lists the operands of an input that are not all zero bits.
func OperandTable(in *Input) *document.Table {
	f, d := in.Formats, in.Dot
	if in.converts() {
		t := &document.Table{Columns: document.Columns("operand", "value", "code")}
		t.Add("a", Decimal(f.A, d.A[0]), "`"+mma.FormatCode(f.A, d.A[0])+"`")
		if name := readable.Beside(f); name != "" {
			t.Add(name, strings.TrimPrefix(Decimal(f.B, d.B[0]), map[bool]string{true: "1"}[f.B.IsOne()]), "`"+mma.FormatCode(f.B, d.B[0])+"`")
		}
		return t
	}
	t := &document.Table{Columns: document.Columns("term", "a", "b", "codes", "scales")}
	var zeros []int
	for k := range d.A {
		if d.A[k]|d.B[k] == 0 {
			zeros = append(zeros, k)
			continue
		}
		scales := ""
		if f.Scale != fp.None {
			i := k / int(f.Block)
			scales = Decimal(f.Scale, d.SA[i]) + " × " + Decimal(f.Scale, d.SB[i])
		}
		t.Add("p"+strconv.Itoa(k), Decimal(f.A, d.A[k]), Decimal(f.B, d.B[k]), "`"+mma.FormatCode(f.A, d.A[k])+"` × `"+mma.FormatCode(f.B, d.B[k])+"`", scales)
	}
	if len(zeros) > 0 {
		t.Add(strings.Join(Ranges("p", zeros), " "), "0", "0", "", "")
	}
	if f.C != fp.None {
		t.Add("c", Decimal(f.C, d.C), "", "`"+mma.FormatCode(f.C, d.C)+"`", "")
	}
	if f.Scale == fp.None {
		t.Columns = t.Columns[:4]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][:4]
		}
	}
	return t
}
