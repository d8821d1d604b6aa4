package kernel

import (
	"fmt"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// report is what people are shown of a run of kernels: at its end, and of its bundle.
type report struct {
	Headline string        `json:"headline,omitempty"`
	Words    []string      `json:"words,omitempty"`
	Fields   []FieldChange `json:"fields,omitempty"` // of the schedules of both sides

	label   string
	names   [2]string
	kernels [2]*schedule.Kernel // nil: not known
	depth   int                 // of the pictures: K
	again   []document.Block
}

func (r *report) document() *document.Document {
	d := document.New(r.Headline, "Matrix products of drawn shapes and operands, compared bit for bit.")
	d.Untitled = true
	blocks := []document.Block{document.OnTerminal(document.Text(r.Headline))}
	if r.label != "" {
		blocks = append(blocks, document.Text("label: "+r.label+labelOf(r.label)))
	}
	for _, text := range r.Words {
		blocks = append(blocks, document.Text(text))
	}
	if r.Fields != nil {
		blocks = append(blocks, fieldTable(r.Fields))
	}
	d.Add("What was found", blocks...)
	if r.depth > 0 {
		d.Add("In which order", figures(r.names, r.kernels, r.depth)...)
	}
	if r.again != nil {
		d.Add("Again", r.again...)
	}
	return d
}

// Page shows the bundle of a product, for which Rerun has words.
func Page(dir string) (*document.Document, error) {
	file, err := readCase(dir)
	if err != nil {
		return nil, err
	}
	r := &file.report
	r.label, r.depth = file.Label, file.K
	if r.Headline == "" { // of an earlier version
		r.Headline = fmt.Sprintf("%s and %s give different results for the same matrices", file.Sides[0].Name, file.Sides[1].Name)
	}
	for i := range r.kernels {
		r.names[i] = file.Sides[i].Name
		for n, name := range []string{kernelFiles[i], changedFiles[1-i]} { // of a black box there may be the other's schedule, changed
			body, err := corpus.ReadFile(filepath.Join(dir, name), "file of a bundle", corpus.MaxMember)
			if err != nil || r.kernels[i] != nil {
				continue
			}
			if r.kernels[i], err = schedule.Read(body); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
			if n > 0 {
				r.names[i] = file.Sides[1-i].Name + ", changed"
			}
		}
	}
	r.again = []document.Block{document.Text("bundle: " + dir), document.Command(readable.ShellCommand(append([]string{"mmafuzz", "gemm"}, Rerun(dir)...)...))}
	return r.document(), nil
}
