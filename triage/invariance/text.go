package invariance

import (
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// asks are the questions in words.
var asks = map[string]string{
	"run":         "the run, or the process",
	"request":     "the request, and what was asked before",
	"size":        "the size of the tile, which is the batch of a library",
	"place":       "the place in the tile",
	"neighbours":  "the other rows and columns of the tile",
	"environment": "variables of the environment",
}

// Write writes the answer for people.
func (a *Answer) Write(w io.Writer, width int) {
	said := "no, " + readable.Thousands(a.Compared) + " results are equal"
	switch a.Depends {
	case Yes:
		said = fmt.Sprintf("YES, %s of %s results differ", readable.Thousands(a.Differ), readable.Thousands(a.Compared))
	case Unasked:
		said = "not asked: " + a.Why
	}
	g := readable.Table{Width: width}
	g.Add(fmt.Sprintf("%-11s", a.Question), said)
	if a.Depends == Yes {
		g.Add("", "depends on "+asks[a.Question])
		g.Add("  input", a.Input)
		apart := ""
		if a.apart != "" {
			apart = ", " + a.apart
		}
		g.Add("  "+a.DHere, a.Here)
		g.Add("  "+a.DThere, a.There+apart)
	}
	for n, kind := range a.Kinds {
		g.Add(fmt.Sprintf("  kind %d", n+1), strings.Join(kind, ", "))
	}
	g.Write(w, nil)
}
