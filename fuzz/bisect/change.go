package bisect

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Change is where the results of an input changed.
type Change struct {
	Instruction string   `json:"instruction"`
	Cause       string   `json:"cause"`
	First       string   `json:"first"`           // version with other results
	Last        string   `json:"last,omitempty"`  // version before it with those of A; "": there is none
	Among       []string `json:"among,omitempty"` // versions that could not be tested, any of which may be the first
	Input       string   `json:"input"`
	Before      string   `json:"before"`
	After       string   `json:"after"` // by the last version of all
}

// Write writes the change for people.
func (c *Change) Write(w io.Writer) {
	fmt.Fprintf(w, "%s  %s\n", c.Instruction, c.Cause)
	fmt.Fprintf(w, "  changed in  %s\n", c.First)
	if len(c.Among) > 0 {
		fmt.Fprintf(w, "  or in       %s, which could not be tested\n", strings.Join(c.Among, ", "))
	}
	fmt.Fprintf(w, "  last as A   %s\n", cmp.Or(c.Last, "none of these versions"))
	fmt.Fprintf(w, "  input       %s\n", c.Input)
	fmt.Fprintf(w, "  result      %s, was %s\n\n", c.After, c.Before)
}
