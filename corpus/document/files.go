package document

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// Save writes a document to a directory: as page.html, and its tables as tables.md. It also writes
// each table that has a name as NAME.csv, and each figure that has one as NAME.svg, with its numbers
// as NAME.csv.
func (d *Document) Save(dir string) error {
	return d.save(dir, func(name, _ string, _ int) string { return name })
}

// Export does what Save does, and writes the tables as tables.tex, too. Tables and figures without a
// name also get files, named after the first words of their captions: table-1-CAPTION.csv,
// figure-1-CAPTION.svg and so on. index.csv says what each of them shows.
func (d *Document) Export(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := d.saveForm(dir, "tables.tex", "latex"); err != nil {
		return err
	}
	index := Table{Columns: Columns("file", "what it shows")}
	captions := map[string]string{}
	named := func(name, kind string, n int) string {
		numbered := fmt.Sprintf("%s-%d", kind, n+1)
		return cmp.Or(name, strings.TrimSuffix(numbered+"-"+slug(captions[numbered]), "-"))
	}
	for n, f := range blocksOf[Figure](d) {
		captions[fmt.Sprintf("figure-%d", n+1)] = f.Caption
		index.Add(named(f.Name, "figure", n)+".svg", f.Caption)
	}
	for n, t := range blocksOf[*Table](d) {
		captions[fmt.Sprintf("table-%d", n+1)] = t.Caption
		index.Add(named(t.Name, "table", n)+".csv", t.Caption)
	}
	if err := saveCSV(dir, "index", &index); err != nil {
		return err
	}
	return d.save(dir, named)
}

// slug is the first words of a caption as a part of a file's name.
func slug(caption string) string {
	const most = 8
	words := strings.FieldsFunc(strings.ToLower(caption), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words[:min(len(words), most)], "-")
}

// saveCSV writes a table as NAME.csv, or nothing if the name is "".
func saveCSV(dir, name string, t *Table) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := t.CSV(&b); err != nil {
		return err
	}
	return corpus.ReplaceFile(filepath.Join(dir, name+".csv"), b.Bytes())
}

// save writes the files. name returns the name of the file of a figure or table, which is number n of
// its kind and may have a name of its own; "" means that it gets no file.
func (d *Document) save(dir string, name func(name, kind string, n int) string) error {
	if err := cmp.Or(d.saveForm(dir, "page.html", "html"), d.saveForm(dir, "tables.md", "markdown")); err != nil {
		return err
	}
	for n, f := range blocksOf[Figure](d) {
		if f.Name = name(f.Name, "figure", n); f.Name == "" {
			continue
		}
		if err := corpus.ReplaceFile(filepath.Join(dir, f.Name+".svg"), f.SVG()); err != nil {
			return err
		}
		if t := f.numbers(); t != nil {
			if err := saveCSV(dir, t.Name, t); err != nil {
				return err
			}
		}
	}
	for n, t := range blocksOf[*Table](d) {
		if err := saveCSV(dir, name(t.Name, "table", n), t); err != nil {
			return err
		}
	}
	return nil
}

// saveForm writes a document in one of Formats to a file.
func (d *Document) saveForm(dir, file, format string) error {
	var b bytes.Buffer
	if err := d.Write(&b, format, Options{}); err != nil {
		return err
	}
	return corpus.ReplaceFile(filepath.Join(dir, file), b.Bytes())
}
