package document

import (
	"bytes"
	"io"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// Save writes a document to a directory: as page.html, its tables as tables.md, and of what has a
// name each table as NAME.csv and each figure as NAME.svg, with its numbers as NAME.csv.
func (d *Document) Save(dir string) error {
	save := func(name string, write func(io.Writer) error) error {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		return corpus.ReplaceFile(filepath.Join(dir, name), b.Bytes())
	}
	for _, f := range []struct{ name, format string }{{"page.html", "html"}, {"tables.md", "markdown"}} {
		if err := save(f.name, func(w io.Writer) error { return d.Write(w, f.format, Options{}) }); err != nil {
			return err
		}
	}
	tables := blocksOf[*Table](d)
	for _, f := range blocksOf[Figure](d) {
		if f.Name == "" {
			continue
		}
		if err := corpus.ReplaceFile(filepath.Join(dir, f.Name+".svg"), f.SVG()); err != nil {
			return err
		}
		if t := f.numbers(); t != nil {
			tables = append(tables, t)
		}
	}
	for _, t := range tables {
		if t.Name == "" {
			continue
		}
		if err := save(t.Name+".csv", t.CSV); err != nil {
			return err
		}
	}
	return nil
}
