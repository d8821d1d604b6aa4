package bisect

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
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
	Bundle      string   `json:"bundle,omitempty"`

	terms    string           // Input without the products that are zero
	mismatch *corpus.Mismatch // of A and the last version of all
	number   int              // of its cause
	earlier  bool             // First is not the last version of all
}

// Save writes the bundle of the input, on which A and the last version of all differ, into a
// directory below out.
func (c *Change) Save(out string) error {
	dir := filepath.Join(out, readable.Slug(c.Instruction), fmt.Sprintf("%s-%d", readable.Slug(c.Cause), c.number))
	if err := bundle.Vacant(dir); err != nil {
		return err
	}
	c.Bundle = dir
	return bundle.Write(dir, c.mismatch, nil)
}

// mostInput is how long an input is, at most, that is written with its zeros.
const mostInput = 200

// Write writes the change for people.
func (c *Change) Write(w io.Writer, width int) {
	title := c.Instruction + "  " + c.Cause
	if c.number > 1 {
		title += fmt.Sprintf(", input %d", c.number)
	}
	fmt.Fprint(w, readable.Flowing(title, width))
	g := readable.Table{Width: width}
	g.Add("  changed in", c.First)
	if len(c.Among) > 0 {
		g.Add("  or in", strings.Join(c.Among, ", ")+", which could not be tested")
	}
	if c.earlier {
		g.Add("  cause", "that of the last version, which "+c.First+" may not share")
	}
	g.Add("  last as A", cmp.Or(c.Last, "none of these versions"))
	if len(c.Input) <= mostInput {
		g.Add("  input", c.Input)
	} else {
		g.Add("  input", c.terms+" (other products are zero)")
	}
	g.Add("  result", c.After+", was "+c.Before)
	if c.Bundle != "" {
		g.Add("  bundle", c.Bundle)
	}
	g.Write(w, nil)
}
