package prove

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// dotValue writes the values of a dot product as mma.FormatDot writes its codes; scales are left out.
func dotValue(f mma.Formats, d *mma.Dot) string {
	n := len(d.A)
	for n > 1 && d.A[n-1]|d.B[n-1] == 0 {
		n--
	}
	text := list(f.A, d.A[:n])
	if !f.B.IsOne() {
		text += " * " + list(f.B, d.B[:n])
	}
	if f.C != fp.None {
		text += " + " + report.Decimal(f.C, d.C)
	}
	return " (" + text + ")"
}

func list(id fp.ID, codes []uint64) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = report.Decimal(id, c)
	}
	return strings.Join(words, ",")
}

// value writes the value of a result.
func value(id fp.ID, code uint64) string { return " (" + report.Decimal(id, code) + ")" }
