package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	order "github.com/mmafuzz/mmafuzz/triage/kernel"
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
		d.Add("How it was checked", document.Indent(2, r.checks()...))
	}
	d.Add("What it took", document.Text(fmt.Sprintf("%s were asked; seed %d.", products(r.Products), r.Seed)))
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
	if r.Restricted != "" {
		text := "This holds only where " + r.Restricted + ": with these numbers, which quantizers do not give, nothing here explains the results."
		if r.Restricted == onlyWithoutC {
			text = "This holds only where " + onlyWithoutC + ", which changes no sum: nothing here adds other numbers as it does. " + r.Witness.String() + "."
		}
		all = append(all, document.Text(text))
	}
	for n := range r.Kernel.Schedules {
		s := &r.Kernel.Schedules[n]
		all = append(all, document.Text(fmt.Sprintf("schedule %d, %s of %s elements: %s", n, readable.Thousands(uint64(r.Elements[n])), readable.Thousands(uint64(r.Shape.M*r.Shape.N)), r.Kernel.Places(n))),
			document.Indent(2, document.List(words(r.Kernel, s, r.Shape.K)...)))
	}
	if text := r.addendWords(); text != "" {
		all = append(all, document.Text(text))
	}
	for _, o := range order.Orders("order of summation", r.Kernel, r.Shape) {
		all = append(all, o.Figure())
	}
	if open := r.undetermined(); open != nil {
		all = append(all, open)
	}
	return all
}

func products(n int) string {
	return readable.Thousands(uint64(n)) + " products of matrices"
}

// undetermined names the fields that have other values with the same results.
func (r *Report) undetermined() document.Block {
	var open []string
	var tried []int
	for i := range r.Fields {
		if f := &r.Fields[i]; len(f.Open) > 0 {
			tried = append(tried, f.Products)
			open = append(open, f.openWords(len(r.Kernel.Schedules)))
		}
	}
	if open == nil {
		return nil
	}
	on := products(slices.Min(tried))
	if slices.Min(tried) < slices.Max(tried) {
		on = "at least " + on
	}
	return document.Text("Not determined, because these values give the same results on " + on + " of this shape, on which each was tried: " + strings.Join(open, "; ") + ".")
}

// place names a field, with its schedule if there are several.
func (f *Field) place(schedules int) string {
	if schedules == 1 {
		return f.Name
	}
	return fmt.Sprintf("schedule %d, %s", f.Schedule, f.Name)
}

// checks says what was validated, what that cannot rule out, and which fields were
// distinguished.
func (r *Report) checks() []document.Block {
	told := 0
	var same []string
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.distinguished() {
			told++
		}
		if len(f.Same) > 0 {
			same = append(same, fmt.Sprintf("%s = %s: at this shape the same operations as %s", f.place(len(r.Kernel.Schedules)), f.Value, strings.Join(readable.First(f.Same, 4), ", ")))
		}
	}
	blocks := []document.Block{
		document.Text(fmt.Sprintf("%s elements of %s that had no part in the search, of %d kinds: %s. None differs; NaNs are compared by %s, zeros by %s.",
			readable.Thousands(uint64(r.Validated)), products(r.ValidatedProducts), len(r.Kinds), strings.Join(r.Kinds, ", "), r.NaN, r.Zero)),
		document.Text(fmt.Sprintf("Not ruled out: that other values than these matrices have, another shape or other threads change the order, and what happens less often than once in %s.", products(r.ValidatedProducts))),
		document.Text(fmt.Sprintf("%d of %d fields: every other value that was tried gives other results.", told, len(r.Fields))),
	}
	if same != nil {
		blocks = append(blocks, document.List(same...))
	}
	return blocks
}
