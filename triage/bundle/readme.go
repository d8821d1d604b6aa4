package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// readme is the README of a bundle: what it is, for somebody who has never
// seen one. programs are the files of its programs for GPUs, and files those that it has.
func readme(m *corpus.Mismatch, picture string, programs, files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", readable.Markdown(m.Bucket))
	fmt.Fprintf(&b, "%s (%s) and %s (%s) give different results for the same %s:\n`%s` and `%s`.\n\n",
		readable.MarkdownCode(m.A.Target), readable.Markdown(m.A.Instruction), readable.MarkdownCode(m.B.Target), readable.Markdown(m.B.Instruction), oneOf(m), resultText(&m.A), resultText(&m.B))
	b.WriteString(readable.MarkdownBlock(picture) + "\n")
	if len(m.CaseChanges) > 0 {
		side, other, changes := m.A, m.B, m.CaseChanges
		if m.Base == "b" {
			side, other = other, side
		}
		p, q := bothPrograms(m)
		if m.CaseBack {
			side, other, changes = other, side, readable.Reversed(changes)
		}
		fmt.Fprintf(&b, "%s's arithmetic with the change %s gives %s's result.\n", readable.Markdown(side.Target), changesText(m, changes, p, q), readable.Markdown(other.Target))
		explain, keep := "All of "+changesText(m, m.Changes, p, q)+" together explain", "keep"
		switch {
		case len(m.Changes) == 1:
			explain, keep = "This change alone explains", "keeps"
		case len(m.Changes) == len(m.CaseChanges):
			explain = "These changes together explain"
		}
		fmt.Fprintf(&b, "%s %s of this pair and %s %s.\nModel files (`mmafuzz help model`) name %s %s.\n\n", explain, readable.Plural(m.Explained, "differing case"), keep,
			readable.Plural(m.Kept, "agreeing one"), map[bool]string{true: "it", false: "them"}[len(m.Changes) == 1], pathsText(m.Changes))
	}
	for _, text := range equivalentTexts(m) {
		fmt.Fprintf(&b, "%s.\n\n", readable.Markdown(text))
	}
	if m.Defect != nil {
		fmt.Fprintf(&b, "A defect of %s.\n\n", readable.Markdown(readable.Converted(m.Formats, DefectText(m.Defect))))
	}
	if m.Sums != nil {
		fmt.Fprintf(&b, "How the two sides add: %s.\n\n", readable.Markdown(SumsText(m.Sums)))
	}
	if m.Past != nil {
		fmt.Fprintf(&b, "What was asked before matters: a new process does not show this mismatch with this case alone. %s.\n\n", readable.Markdown(readable.Converted(m.Formats, DefectText(m.Past))))
	}
	if m.Before != "" {
		fmt.Fprintf(&b, "The case is asked right after `%s`, by each way below to run it again except those of a GPU and of a function.\n\n", m.Before)
	} else if undecided(m, nil) {
		b.WriteString("What is below runs the case alone, which does not repeat what the mismatch depends on: that both sides agree then says nothing.")
		if m.Past == nil {
			b.WriteString(" `mmafuzz replay` asks it in its tile where the bundle has that, as `tile-a.rec` and `tile-b.rec`.")
		}
		b.WriteString("\n\n")
	}
	b.WriteString(unexplainedText(m))
	if m.OnModel {
		b.WriteString(standInText(m))
	}
	if m.Origin.Source != "" {
		fmt.Fprintf(&b, "Found as %s, seed %d, index %d. ", readable.MarkdownCode(m.Origin.Source), m.Origin.Seed, m.Origin.Index)
	}
	if text := repeatedText(m); text != "" && !m.OnModel { // a recording repeats itself
		b.WriteString(text)
	}
	b.WriteString("\n\n")
	b.WriteString("Files:\n\n- `case.txt`: the operands\n- `mismatch.json`: everything, for programs\n")
	for _, kind := range fileKinds {
		var names []string
		for _, name := range files {
			if ok, _ := filepath.Match(kind.pattern, name); ok {
				names = append(names, "`"+name+"`")
			}
		}
		if names != nil {
			fmt.Fprintf(&b, "- %s: %s\n", strings.Join(names, ", "), kind.what)
		}
	}
	b.WriteString("- `MANIFEST`: checksums\n\n")
	if len(programs) > 0 {
		fmt.Fprintf(&b, "Programs that run the case on a GPU and need nothing but its driver or compiler; each\nsays how: `%s`.\n\n", strings.Join(programs, "`, `"))
	}
	if err := functionError(m); err != nil {
		fmt.Fprintf(&b, "Re-run: %s.\n", readable.Markdown(err.Error()))
		return b.String()
	}
	fmt.Fprintf(&b, "Re-run, with the path of this directory as %s:\n\n    mmafuzz replay %s\n\n", here, here)
	if RunsCommand(m.A.Target, m.B.Target) {
		b.WriteString("This runs the command that is the target, and so does the Go test: mmafuzz shows it and asks\nfirst, or is told `--allow-exec`.\n\n")
	}
	fmt.Fprintf(&b, "The Go test, in a clone of mmafuzz or in any module that requires it:\n\n    go test %s\n\n", here+"/repro_test.go")
	fmt.Fprintf(&b, "A function of yours that takes NumPy arrays, or a child, without mmafuzz:\n\n    python3 %s MODULE:FUNCTION\n    python3 %[1]s --child COMMAND WORD...\n\nWith `--expect a` before these it is a test that fails unless the result is A's. A child answers in\nthe mode of lines (`mmafuzz help protocol`).\n", here+"/"+numpyFile)
	return b.String()
}

// oneOf is what a case is.
func oneOf(m *corpus.Mismatch) string {
	if m.Formats.Conversion() {
		return "number"
	}
	return "dot product"
}

// fileKinds says what is in the files of a bundle.
var fileKinds = []struct{ pattern, what string }{
	{"picture.txt", "the picture above"},
	{"trace-[ab].json", "every step of a sum"},
	{"model-[ab].json", "the parameters of a side (mmafuzz help model)"},
	{"repro_test.go", "a Go test"},
	{numpyFile, "the operands as NumPy arrays, for NumPy or a function of yours"},
}

// resultText is what a side gave.
func resultText(s *corpus.SideRecord) string {
	if s.Result == corpus.NoResult {
		return "no result"
	}
	return s.Result
}

// RunsCommand reports whether one of some targets runs a command that it names.
func RunsCommand(targets ...string) bool {
	return slices.ContainsFunc(targets, func(t string) bool { return strings.HasPrefix(t, "exec:") })
}

// changesText lists changes in Markdown, with the two programs where they are known.
func changesText(m *corpus.Mismatch, changes []mma.Change, programs ...*mma.Params) string {
	return readable.Markdown(readable.Converted(m.Formats, readable.Changes(changes, 20, programs...)))
}

// equivalentTexts says which other changes may be the cause as well: those that no input tells apart, and those that the
// cases do not.
func equivalentTexts(m *corpus.Mismatch) (texts []string) {
	for i, start := range []string{"Or, which no input tells apart", "Or, which the cases of this pair do not tell apart"} {
		var all []string
		for _, e := range [][][]mma.Change{m.Equivalent[:m.Same], m.Equivalent[m.Same:]}[i] {
			all = append(all, readable.Converted(m.Formats, readable.Changes(e, 20)))
		}
		if all != nil {
			texts = append(texts, start+": "+strings.Join(all, "; "))
		}
	}
	return texts
}

// pathsText lists the parameters that changes are of, by their names in model files.
func pathsText(changes []mma.Change) string {
	var paths []string
	for _, c := range changes {
		paths = append(paths, "`"+c.Path+"`")
	}
	return strings.Join(paths, ", ")
}

// standInText says which targets a model stood in for while the case was shrunk.
func standInText(m *corpus.Mismatch) string {
	if strings.HasPrefix(m.A.Target, "replay:") && strings.HasPrefix(m.B.Target, "replay:") {
		return "The case was shrunk on models of the two recorded targets, not on the targets themselves.\n\n"
	}
	return "The case was shrunk on a model of the recorded target, not on the target itself.\n\n"
}

// unexplainedText is the part of a bundle's README about a mismatch that nothing explains.
func unexplainedText(m *corpus.Mismatch) string {
	commands := next(m)
	if m.Nearest == nil && len(commands) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Nothing explains the difference.")
	if n := m.Nearest; n != nil {
		fmt.Fprintf(&b, " The program that comes nearest is %s; %s.", readable.Markdown(readable.Converted(m.Formats, NearestText(n))), readable.Markdown(WitnessText(n)))
	}
	if len(commands) > 0 {
		b.WriteString(" To find out how the unit computes, from a larger space of programs:\n\n")
		for _, c := range commands {
			fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(c, "\n", "\n    "))
		}
	} else {
		b.WriteString("\n")
	}
	return b.String() + "\n"
}

// DefaultRepetitions is the number of repetitions of a finding whose bundle does not record
// another number.
const DefaultRepetitions = 3

// repetitions returns how often the case of a finding was run again when it was found.
func repetitions(m *corpus.Mismatch) int {
	if m.Of <= 0 {
		return DefaultRepetitions
	}
	return m.Of
}

// repeatedText says how often a finding gave the same results again.
func repeatedText(m *corpus.Mismatch) string {
	of := repetitions(m)
	switch {
	case m.Class == oracle.Fault.String():
		return "" // it was not run again
	case m.Bucket == Unstable:
		return fmt.Sprintf("It does not repeat itself: %d of %d runs gave these results.", m.Stable, of)
	case m.Of != 0:
		return fmt.Sprintf("Repeated %d of %d times where it was found.", m.Stable, of)
	}
	return fmt.Sprintf("Repeated %d of %d times.", m.Stable, of)
}
