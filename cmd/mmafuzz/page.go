package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
)

// writePage writes a page to a file and says so, or to stdout if the file is "".
func (a *app) writePage(p *document.Document, file string) error {
	p.Made = "mmafuzz " + versions.Program()
	var b bytes.Buffer
	if err := p.Write(&b, "html", document.Options{}); err != nil {
		return err
	}
	if file == "" {
		_, err := printable.Raw(a.stdout).Write(b.Bytes())
		return err
	}
	return a.writeFile(b.Bytes(), file)
}

// formatFlag adds the flag --format of a command that prints a document.
func formatFlag(f *pflag.FlagSet, format *string, usual string) {
	f.StringVar(format, "format", usual, "`form` of what is printed: "+strings.Join(document.Formats(), ", ")+" (csv and latex: the tables)")
	f.SetAnnotation("format", printedForm, nil)
}

// figuresFlag adds the flag --figures of a command that shows figures.
func (a *app) figuresFlag(f *pflag.FlagSet) {
	f.StringVar(&a.figures, "figures", "", "`directory` that gets every figure as SVG with its numbers as CSV, and the tables as CSV, Markdown and LaTeX")
}

// export writes the files of --figures.
func (a *app) export(d *document.Document) error {
	if a.figures == "" {
		return nil
	}
	page := filepath.Join(a.figures, "page.html")
	if err := corpus.CheckForeign(page, "page", func() bool { return document.IsFile(page) }); err != nil {
		return hint.Add(err, "name another directory with --figures")
	}
	d.Made = "mmafuzz " + versions.Program()
	if err := d.Export(a.figures); err != nil {
		return hint.New("name a directory with --figures that can be made or written", "cannot write to %s: %w", a.figures, hint.Bare(err))
	}
	a.say("figures and tables: %s", a.figures)
	return nil
}

// printedForm is the annotation of a flag that says in which form results are printed.
const printedForm = "printed form"

// checkForms returns an error if two flags say in which form results are printed.
func (a *app) checkForms(f *pflag.FlagSet) error {
	format := f.Lookup("format")
	if format == nil || !format.Changed || !a.json {
		return nil
	}
	if _, ok := format.Annotations[printedForm]; !ok {
		return nil
	}
	return hint.New("leave out one of them", "--format %s and --json: results are printed in one form", printable.Line(format.Value.String()))
}

func checkFormat(format string) error { return checkWord("format", format, document.Formats()...) }

// writeDocument prints a document in one of its forms.
func (a *app) writeDocument(d *document.Document, format string, verbose bool) error {
	d.Made = "mmafuzz " + versions.Program()
	w := io.Writer(a.stdout)
	if format == "html" {
		w = printable.Raw(a.stdout)
	}
	return d.Write(w, format, document.Options{Width: a.width, Rows: a.rowWidth(), Verbose: verbose, Bold: a.bolden})
}

// writeDocumentFile writes a document in one of its printed forms to a file and says so. A file
// that is there is replaced if it begins with the same word, as an earlier one of the kind does.
func (a *app) writeDocumentFile(d *document.Document, format, file string) error {
	d.Made = "mmafuzz " + versions.Program()
	var b bytes.Buffer
	if err := d.Write(&b, format, document.Options{Width: a.width, Verbose: a.verbose}); err != nil {
		return err
	}
	err := corpus.CheckForeign(file, "report that --format "+format+" wrote", func() bool {
		old, err := os.ReadFile(file)
		begin, _, _ := bytes.Cut(b.Bytes(), []byte(" "))
		return err == nil && (len(old) == 0 || bytes.HasPrefix(old, begin))
	})
	if err != nil {
		return hint.Add(err, "name another file with --out")
	}
	return a.writeFile(b.Bytes(), file)
}

// writeFile writes a page to a file and says so.
func (a *app) writeFile(body []byte, file string) error {
	if err := corpus.ReplaceFile(file, body); err != nil {
		return hint.New("name a file with --out that can be written", "cannot write %s: %w", file, hint.Bare(err))
	}
	return a.result(written{file}, func(w io.Writer, _ int) { fmt.Fprintf(w, "report: %s\n", file) })
}

// checkPage returns an error, before a page is made, if the file would overwrite what the page is
// made of, or something that is no page.
func checkPage(file string, inputs ...string) error {
	if err := open.NotInput(file, inputs...); err != nil {
		return err
	}
	err := corpus.CheckForeign(file, "page", func() bool { return document.IsFile(file) })
	return hint.Add(err, "name another file with --out")
}

// written is what is written with --json about a page that is in a file.
type written struct {
	Page string `json:"page"`
}
