package readable

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// First returns the first elements of a list, at most the given number, and if there are
// more, "and N more".
func First(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

// Changes writes the first changes of a program, at most the given number, with the two programs
// where they are known: see mma.Brief.
func Changes(changes []mma.Change, most int, programs ...*mma.Params) string {
	return strings.Join(First(strings.Split(mma.Brief(changes, programs...), ", "), most), ", ")
}

// NamedChanges writes all changes of a program, and the parameters that they are of.
func NamedChanges(changes []mma.Change, programs ...*mma.Params) string {
	var paths []string
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return fmt.Sprintf("%s (%s)", mma.Brief(changes, programs...), strings.Join(paths, ", "))
}

// Instead writes what may be the cause as well as changes; "" if there is nothing.
func Instead(others [][]mma.Change, programs ...*mma.Params) string {
	var texts []string
	for _, o := range others {
		texts = append(texts, mma.Brief(o, programs...))
	}
	if texts == nil {
		return ""
	}
	return "or, which no input tells apart: " + strings.Join(texts, "; ")
}

// Shorten cuts text to the given number of columns.
func Shorten(text string, columns int) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:columns-1]) + "…"
	}
	return text
}

// Wrap breaks text at blanks into lines of a width, at least one. A word that is
// longer than a line is not cut, nor is a command go doc NAME, which people copy, and a
// change of a parameter, NAME FROM→TO.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range words(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// words cuts text at blanks, but for those of a command go doc NAME and of a change.
func words(text string) []string {
	all := strings.Fields(text)
	for i := 0; i < len(all); i++ {
		n := wordsTogether(all[i:])
		all[i] = strings.Join(all[i:i+n], " ")
		all = slices.Delete(all, i+1, i+n)
	}
	return all
}

// wordsTogether returns how many words at the beginning of a text stay in a line.
func wordsTogether(text []string) int {
	switch {
	case len(text) > 2 && strings.TrimLeft(text[0], "(") == "go" && text[1] == "doc":
		return 3
	case len(text) > 1 && strings.Index(text[1], "→") > 0:
		return 2
	}
	return 1
}

// Flow breaks a line whose parts are two blanks apart into lines of a width: between parts, and
// within those that are longer.
func Flow(line string, width int) []string {
	var lines []string
	for _, part := range strings.Split(line, "  ") {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+2+utf8.RuneCountInString(part) <= width {
			lines[last] += "  " + part
		} else {
			lines = append(lines, Wrap(part, width)...)
		}
	}
	return lines
}

// Flowing breaks a line as Flow does, and ends each of its lines with a line end.
func Flowing(line string, width int) string { return strings.Join(Flow(line, width), "\n") + "\n" }

// Hanging breaks text into lines of a width and ends each with a line end. All lines but the
// first are indented by two blanks.
func Hanging(text string, width int) string { return Indented(0, text, width) }

// Indented does what Hanging does, behind a number of blanks.
func Indented(indent int, text string, width int) string {
	blanks := strings.Repeat(" ", indent)
	return blanks + strings.Join(Wrap(text, width-indent-2), "\n"+blanks+"  ") + "\n"
}
