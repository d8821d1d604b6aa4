// Package document holds results for people: tables, pictures, words and commands as typed
// blocks in sections, which are laid out here and nowhere else.
//
//	d := document.New("What was compared", "The one sentence that matters.")
//	d.Add("Results", document.Text("..."), &table, document.Figure{Picture: &plot, Caption: "..."})
//	err := d.Write(w, "html", document.Options{})
//
// A command builds one document of its typed result, the same for a terminal (text.go), for a
// browser (html.go) and for papers and files (markdown.go, csv.go, latex.go). JSON is not made of
// it: that is the typed result itself.
//
// The blocks are words (words.go), Table (table.go) and Figure (figure.go) with the pictures Plot,
// Bars, Heat and Canvas. OnPage and OnTerminal are for what only one of the media shows.
//
// All text may come from elsewhere. In a browser and in Markdown it has no markup and no control
// characters; a terminal is protected by package printable, through which commands write.
//
// The API of this package is not promised: it may change in any version.
package document

import (
	"fmt"
	"io"
)

// Document is a result for people.
type Document struct {
	Title, Lead string
	Made        string // program that made it
	Command     string // that makes it again; "": not known
	Links       []Link // of a page to others of its site
	Refresh     int    // seconds after which a browser loads the page again; 0: it does not
	// Overview sums it up: it is first on a page and last in a terminal, where people look first.
	Overview []Block
	Sections []Section
	// Untitled: a terminal does not show the titles of sections.
	Untitled bool
}

// Link leads to a place in the page or to another page of its site.
type Link struct{ Text, Href string }

// Section is a part of a document with a heading.
type Section struct {
	Title, Anchor string
	Blocks        []Block

	Part, PartLead string // of a document of several parts, before the first section of one
}

// Block is a part of a section.
type Block interface {
	empty() bool // there is nothing to show
	html() HTML
	text(*terminal)
	markdown(*markdown)
}

// New returns a document without sections. The lead is the one sentence that matters.
func New(title, lead string) *Document {
	return &Document{Title: show(title), Lead: show(lead)}
}

// Add appends a section. Blocks that are empty are left out, and a section without blocks, too.
func (d *Document) Add(title string, blocks ...Block) {
	if blocks = present(blocks); blocks != nil {
		d.Sections = append(d.Sections, Section{Title: show(title), Anchor: anchor(len(d.Sections)), Blocks: blocks})
	}
}

// present returns the blocks that are not empty.
func present(blocks []Block) (all []Block) {
	for _, b := range blocks {
		if b != nil && !b.empty() {
			all = append(all, b)
		}
	}
	return all
}

// anchor is the place of a section in its page.
func anchor(n int) string { return fmt.Sprintf("s%d", n+1) }

// Join makes one document of several: each is a part with its title and its lead.
func Join(documents ...*Document) *Document {
	if len(documents) == 1 {
		return documents[0]
	}
	all := New(fmt.Sprintf("%d results of mmafuzz", len(documents)), "")
	for _, d := range documents {
		for i, s := range d.all() {
			if i == 0 {
				s.Part, s.PartLead = d.Title, d.Lead
			}
			s.Anchor = anchor(len(all.Sections))
			all.Sections = append(all.Sections, s)
		}
	}
	return all
}

// all returns the sections of a page, the overview first and the command last.
func (d *Document) all() []Section {
	page := &Document{}
	page.Add("Result", d.Overview...)
	for _, s := range d.Sections {
		s.Anchor = anchor(len(page.Sections))
		page.Sections = append(page.Sections, s)
	}
	if d.Command != "" {
		page.Add("The same again", Command(d.Command))
	}
	return page.Sections
}

// blocksOf returns the blocks of a type in a document, those within others too.
func blocksOf[T Block](d *Document) (all []T) {
	var walk func([]Block)
	walk = func(blocks []Block) {
		for _, b := range present(blocks) {
			switch b := b.(type) {
			case T:
				all = append(all, b)
			case fold:
				walk(b.blocks)
			case some:
				walk(b.blocks)
			}
		}
	}
	walk(d.Overview)
	for _, s := range d.Sections {
		walk(s.Blocks)
	}
	return all
}

// Options say how a document is written.
type Options struct {
	Width   int                 // of a terminal, in columns
	Rows    int                 // columns of a row of a table that has a name; 0: Width
	Verbose bool                // a terminal shows tables to the end and what is folded
	Bold    func(string) string // marks up names in a terminal; nil: nothing is marked up
	// Shared is, of a page of a site, the path to the directory of style.css and script.js
	// (Style, Script), with a slash at its end; "": the page brings them along.
	Shared string
}

// formats are the forms of a document.
var formats = []struct {
	name  string
	write func(*Document, io.Writer, Options) error
}{
	{"text", (*Document).writeText}, {"html", (*Document).writeHTML}, {"markdown", (*Document).writeMarkdown},
	{"csv", (*Document).writeCSV}, {"latex", (*Document).writeLaTeX},
}

// Formats returns the names of the forms of a document.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes a document in one of Formats.
func (d *Document) Write(w io.Writer, format string, o Options) error {
	for _, f := range formats {
		if f.name == format {
			return f.write(d, w, o)
		}
	}
	return fmt.Errorf("no form %q of a document", format)
}
