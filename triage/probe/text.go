package probe

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
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

// WriteAnswers writes answers for people in lines of a width, with their evidence if that is
// wanted. Evidence is to be copied: its lines stay whole.
func (p *Prober) WriteAnswers(w io.Writer, title string, answers []Answer, evidence bool, width int) error {
	var b bytes.Buffer
	b.WriteString(readable.Hanging(title, width))
	l := newLayout(answers, width)
	for _, a := range answers {
		l.write(&b, &a)
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

// layout is the widths of the columns of answers.
type layout struct {
	id, question, value int
	below               bool // values stand below their questions: there is no room beside them
}

const (
	indent     = 2  // blanks before an answer
	gap        = 2  // blanks between columns
	leastValue = 18 // columns that a value needs beside its question
)

func newLayout(answers []Answer, width int) layout {
	var l layout
	for _, a := range answers {
		l.id, l.question = max(l.id, len(a.ID)), max(l.question, len(a.Question))
	}
	rest := width - indent - l.id - gap
	l.question = min(l.question, rest*2/3)
	l.value = rest - l.question - gap
	if l.value < leastValue {
		l.question, l.value, l.below = rest, rest-gap, true
	}
	return l
}

// write writes an answer: its name, its question and its value.
func (l *layout) write(b *bytes.Buffer, a *Answer) {
	value := a.Value
	if a.Why != "" {
		value += " (" + a.Why + ")"
	}
	questions, values := readable.Wrap(a.Question, l.question), readable.Wrap(value, l.value)
	id := a.ID
	line := func(question, value string) {
		text := fmt.Sprintf("%*s%-*s%*s%-*s%*s%s", indent, "", l.id, id, gap, "", l.question, question, gap, "", value)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
		id = ""
	}
	if l.below {
		for _, q := range questions {
			line(q, "")
		}
		for _, v := range values {
			line(strings.Repeat(" ", gap)+v, "")
		}
		return
	}
	for i := range max(len(questions), len(values)) {
		line(at(questions, i), at(values, i))
	}
}

// at returns a line of a cell, "" behind its last one.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
