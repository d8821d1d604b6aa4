package bundle

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// inWords writes the Detail of a cause in words: the primary cause, what else explains the
// case or is needed for it, what the labels mean (of alternatives, the first alone), and the
// kind of difference.
func inWords(detail string, f mma.Formats) string {
	names, class, _ := strings.Cut(detail, ":")
	text := strings.ReplaceAll(names, "+", " together with ")
	if first, others, ok := strings.Cut(names, "|"); ok {
		text = fmt.Sprintf("%s (or %s)", first, strings.ReplaceAll(others, "|", ", or "))
	}
	var docs []string
	for _, l := range triage.NeededIn(names) {
		if doc := LabelDocOf(string(l), f); doc != "" {
			docs = append(docs, doc)
		}
	}
	if docs != nil {
		text += ": " + strings.Join(docs, "; ")
	}
	if class != "" {
		text += "; kind of difference: " + class
	}
	return text
}

// LabelDocOf is LabelDoc for cases of some formats.
func LabelDocOf(name string, f mma.Formats) string {
	if name == string(triage.Unexplained) && f.A != fp.None && f.Validate() != nil {
		return "the cause was not looked for: no program has these formats"
	}
	return LabelDoc(name)
}

// LabelDoc returns what the name of a bucket means: a label, fault or unstable; "" if there is no
// such name.
func LabelDoc(name string) string {
	for _, l := range triage.Labels() {
		if string(l.Label) == name {
			return l.Doc
		}
	}
	switch name {
	case oracle.Fault.String():
		return "a target failed on the input and gave no result"
	case Unstable:
		return "the case does not repeat itself: a unit changes its answers"
	}
	return ""
}
