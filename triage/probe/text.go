package probe

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// evidence writes what an answer rests on: inputs and results, as mmafuzz eval reads and
// writes them.
func (p *Prober) evidence(a *Answer) []string {
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
			for _, line := range p.evidence(&a) {
				fmt.Fprintf(&b, "      %s\n", line)
			}
		}
	}
	b.WriteString("\n")
	_, err := w.Write(b.Bytes())
	return err
}
