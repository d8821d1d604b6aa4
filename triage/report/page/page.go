// Package page makes HTML pages that are read in a browser: one file each, which loads
// nothing, needs no script to be read, and works from a file, on paper, in the dark and on
// a telephone. A page is sections of blocks:
//
//	p := page.New("What was compared", "The one sentence that matters.")
//	p.Add("Results", page.Text("..."), table.HTML(), page.Figure(chart.SVG(), "caption", nil))
//	err := p.Write(w)
//
// The blocks are functions and types of this package, one file each: Text, List, Command,
// Pre, Fold (text.go), Table (table.go), Figure (figure.go), and the pictures Plot
// (plot.go), Bars (bars.go) and Heat (heat.go). Each kind of page is a function of the
// package that has its data, such as triage/bundle.Page, and a row of the table of
// mmafuzz report.
//
// Everything that a page shows goes through html/template, and through show: text from
// elsewhere has no markup and no control characters, and is cut if it is very long. There
// are no style attributes and no handlers in the markup: the page's own policy forbids
// them.
//
// The pictures are SVG by templates and not by a library: gonum/plot, the one that is well
// kept, writes fixed colours and fonts, which are unreadable in the dark, no titles for
// those who hover or listen, and weighs 57 packages.
//
// The API of this package is not promised: it may change in any version.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// HTML is a block of a page: safe to be shown as it is.
type HTML = template.HTML

// Page is a page under way.
type Page struct {
	Title, Lead string
	Made        string // program that made it
	Sections    []Section
}

// Section is a part of a page with a heading.
type Section struct {
	Title, Anchor string
	Blocks        []HTML

	Part, PartLead string // of a page of several parts, before the first section of one
}

// Join makes one page of several: each is a part with its title and its lead.
func Join(pages ...*Page) *Page {
	if len(pages) == 1 {
		return pages[0]
	}
	all := New(fmt.Sprintf("%d results of mmafuzz", len(pages)), "")
	for _, p := range pages {
		for i, s := range p.Sections {
			if i == 0 {
				s.Part, s.PartLead = p.Title, p.Lead
			}
			s.Anchor = anchor(len(all.Sections))
			all.Sections = append(all.Sections, s)
		}
	}
	return all
}

// anchor is the place of a section in its page.
func anchor(n int) string { return fmt.Sprintf("s%d", n+1) }

// New returns a page without sections. The lead is the one sentence that matters.
func New(title, lead string) *Page {
	return &Page{Title: show(title), Lead: show(lead)}
}

// Add appends a section. Blocks that are empty are left out, and a section without blocks,
// too.
func (p *Page) Add(title string, blocks ...HTML) {
	s := Section{Title: show(title), Anchor: anchor(len(p.Sections))}
	for _, b := range blocks {
		if b != "" {
			s.Blocks = append(s.Blocks, b)
		}
	}
	if s.Blocks != nil {
		p.Sections = append(p.Sections, s)
	}
}

//go:embed page.css
var style string

//go:embed page.js
var script string

//go:embed page.tmpl charts.tmpl
var skeletons embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"show": show}).ParseFS(skeletons, "*.tmpl"))

// Write writes the page. Nothing may be loaded or run but what it brings along.
func (p *Page) Write(w io.Writer) error {
	css := compact(pictureStyle + style)
	return templates.ExecuteTemplate(w, "page", struct {
		*Page
		Style      template.CSS
		Script     template.JS
		Policy     string
		Navigation bool
	}{p, template.CSS(css), template.JS(script),
		"default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + digest(css) + "; script-src " + digest(script), len(p.Sections) > 2})
}

// digest is how a content security policy names a style or a script.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// compact leaves out the indentation and the comments of a style sheet.
func compact(css string) string {
	var b strings.Builder
	for line := range strings.Lines(css) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "/*") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// render executes one of the templates.
func render(name string, data any) HTML {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		panic("page: " + name + ": " + err.Error()) // the templates are our own
	}
	return HTML(strings.TrimSpace(b.String()))
}
