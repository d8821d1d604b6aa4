package kernel

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// Report is a Result with what it is about.
type Report struct {
	Target      string            `json:"target"`
	Instruction string            `json:"instruction"`
	Environment map[string]string `json:"environment,omitempty"`
	Seed        uint64            `json:"seed"`
	NaN         string            `json:"nan"` // how they were compared: bits or class
	Zero        string            `json:"zero"`
	*Result
}

// Headline is the verdict in a line.
func (r *Report) Headline() string {
	what := fmt.Sprintf("%s %s, %d x %d elements of %d products: ", r.Target, r.Instruction, r.Shape.M, r.Shape.N, r.Shape.K)
	switch r.Verdict {
	case Found:
		return what + fmt.Sprintf("%s found", readable.Plural(len(r.Kernel.Schedules), "schedule"))
	case Varies:
		return what + "it changes from run to run"
	}
	return what + "unexplained"
}

// Document is the report for people.
func (r *Report) Document() *document.Document {
	d := document.New(r.Headline(), "How the products of each element are added, by the answers of the black box alone.")
	d.Untitled = true
	d.Add("What was found", document.OnTerminal(document.Text(r.Headline())), document.Indent(2, r.found()...))
	if r.Verdict == Found {
		d.Add("What proves it", document.Indent(2, r.proofs()...))
	}
	d.Add("What it took", document.Text(fmt.Sprintf("%s products of matrices were asked; seed %d.", readable.Thousands(uint64(r.Products)), r.Seed)))
	return d
}

func (r *Report) found() (all []document.Block) {
	if r.Verdict != Found {
		all = append(all, document.Text(r.Why))
		if r.Witness != nil {
			all = append(all, document.Text("witness: "+r.Witness.String()))
		}
		return all
	}
	for n := range r.Kernel.Schedules {
		s := &r.Kernel.Schedules[n]
		where := "all other elements"
		if len(r.Kernel.Schedules) == 1 {
			where = "all elements"
		}
		var parts []string
		for _, w := range s.Where {
			parts = append(parts, fmt.Sprintf("rows %s in columns %s", w.Rows, w.Columns))
		}
		if len(parts) > 0 {
			where = strings.Join(parts, "; ")
		}
		all = append(all, document.Text(fmt.Sprintf("schedule %d, %s of %s elements: %s", n, readable.Thousands(uint64(r.Elements[n])), readable.Thousands(uint64(r.Shape.M*r.Shape.N)), where)),
			document.Indent(2, document.List(words(r.Kernel, s, r.Shape.K)...)))
	}
	return all
}

// proofs says what was validated and which fields were distinguished.
func (r *Report) proofs() []document.Block {
	blocks := []document.Block{document.Text(fmt.Sprintf("validated: %s elements of fresh matrices, %s; none differs. NaNs are compared by %s, zeros by %s.",
		readable.Thousands(uint64(r.Validated)), strings.Join(r.Kinds, ", "), r.NaN, r.Zero))}
	var open []string
	for i := range r.Fields {
		f := &r.Fields[i]
		name := fmt.Sprintf("schedule %d, %s = %s", f.Schedule, f.Name, f.Value)
		if len(f.Open) > 0 {
			open = append(open, name+": not distinguished from "+strings.Join(f.Open, ", "))
		}
		if len(f.Same) > 0 {
			open = append(open, name+": at this shape the same operations as "+strings.Join(f.Same, ", "))
		}
	}
	told := 0
	for i := range r.Fields {
		if r.Fields[i].distinguished() {
			told++
		}
	}
	blocks = append(blocks, document.Text(fmt.Sprintf("%d of %d fields: every other value that was tried gives other results.", told, len(r.Fields))))
	if open != nil {
		blocks = append(blocks, document.List(open...))
	}
	return blocks
}
