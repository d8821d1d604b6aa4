package main

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// inWords writes a detail's name in words: the primary cause, what it means, and what
// else explains the case or is needed for it.
func inWords(detail string) string {
	names, class, _ := strings.Cut(detail, ":")
	text := strings.ReplaceAll(names, "+", " together with ")
	if first, others, ok := strings.Cut(names, "|"); ok {
		text = fmt.Sprintf("%s (or %s)", first, strings.ReplaceAll(others, "|", ", or "))
	}
	var docs []string
	for _, l := range triage.NeededIn(names) {
		if doc := labelDoc(string(l)); doc != "" {
			docs = append(docs, doc)
		}
	}
	if docs != nil {
		text += ": " + strings.Join(docs, "; ")
	}
	if class != "" {
		text += "; the results differ in " + class
	}
	return text
}

// labelDoc says what a label means; "" if it is none.
func labelDoc(name string) string {
	for _, l := range triage.Labels() {
		if string(l.Label) == name {
			return l.Doc
		}
	}
	return ""
}

// freeText says what about a minimized case does not matter, a line each.
func freeText(f mma.Formats, m *minimize.Mask) []string {
	if m == nil {
		return nil
	}
	var lines []string
	add := func(what string, id fp.ID, free minimize.Free) {
		switch {
		case id == fp.None || free.Bits == 0:
		case free.Any:
			lines = append(lines, what+": any other value works here, all else equal")
		case free.Together:
			lines = append(lines, fmt.Sprintf("%s: the bits %s do not matter, all else equal", what, mma.FormatCode(id, free.Bits)))
		default:
			lines = append(lines, fmt.Sprintf("%s: single bits of %s do not matter, all else equal", what, mma.FormatCode(id, free.Bits)))
		}
	}
	for k := range m.A {
		add(fmt.Sprintf("a of p%d", k), f.A, m.A[k])
		add(fmt.Sprintf("b of p%d", k), f.B, m.B[k])
	}
	add("c", f.C, m.C)
	for k := range m.SA {
		add(fmt.Sprintf("scale of a, block %d", k), f.Scale, m.SA[k])
		add(fmt.Sprintf("scale of b, block %d", k), f.Scale, m.SB[k])
	}
	return lines
}
