package probe

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Evidence writes what an answer rests on: inputs and results, as mmafuzz eval reads and
// writes them.
func (p *Prober) Evidence(a *Answer) []string {
	var lines []string
	for _, s := range a.Evidence {
		lines = append(lines, mma.FormatDot(p.f, s.Dot)+" = "+mma.FormatCode(p.f.D, s.Got))
	}
	return lines
}

// WriteAnswers writes answers for people, with their evidence if that is wanted.
func (p *Prober) WriteAnswers(w io.Writer, title string, answers []Answer, evidence bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n", title)
	for _, a := range answers {
		remark := ""
		if a.Why != "" {
			remark = " (" + a.Why + ")"
		}
		fmt.Fprintf(&b, "  %-19s %-62s %s%s\n", a.ID, a.Question, a.Value, remark)
		if evidence {
			for _, line := range p.Evidence(&a) {
				fmt.Fprintf(&b, "      %s\n", line)
			}
		}
	}
	b.WriteString("\n")
	_, err := w.Write(b.Bytes())
	return err
}

// WriteProfiles writes the profiles of n inputs of a seed for people.
func WriteProfiles(w io.Writer, rows []Profile, seed uint64, n int) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Sun et al. (2023), Tables 12 to 15: mean absolute errors of %d inputs, seed %d\n", n, seed)
	fmt.Fprintf(&b, "  %-16s %12s %12s %24s %12s\n", "", "init low", "init FP32", "to d rounded: init low", "init FP32")
	for _, r := range rows {
		fmt.Fprintf(&b, "  %-16s %12.2e %12.2e %24.2e %12.2e\n", r.Operation, r.Low, r.FP32, r.NarrowLow, r.NarrowFP32)
	}
	b.WriteString("\n")
	_, err := w.Write(b.Bytes())
	return err
}
