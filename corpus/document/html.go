package document

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
)

// A page is one file, which loads nothing, needs no script to be read, and works from a file, on
// paper, in the dark and on a telephone.
//
// Everything that it shows goes through html/template, and through show: text from elsewhere has
// no markup and no control characters, and is cut if it is very long. There are no style
// attributes and no handlers in the markup: the page's own policy forbids them.
//
// The pictures are SVG by templates and not by a library: gonum/plot, the one that is well kept,
// writes fixed colours and fonts, which are unreadable in the dark, no titles for those who hover
// or listen, and weighs 57 packages.

// HTML is markup that is safe to be shown as it is.
type HTML = template.HTML

//go:embed document.css
var style string

//go:embed document.js
var script string

//go:embed page.tmpl charts.tmpl
var skeletons embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{"show": show, "markup": Block.html}).ParseFS(skeletons, "*.tmpl"))
})

// Style and Script are what the pages of a site share.
func Style() string  { return compact(pictureStyle() + style) }
func Script() string { return script }

// writeHTML writes a page. Nothing may be loaded or run but what it brings along, or what a site
// shares.
func (d *Document) writeHTML(w io.Writer, o Options) error {
	css, sections := Style(), d.all()
	styles, scripts := digest(css), digest(script)
	if o.Shared != "" {
		styles, scripts = "'self' file:", "'self' file:"
	}
	return templates().ExecuteTemplate(w, "page", struct {
		*Document
		Sections   []Section
		Style      template.CSS
		Script     template.JS
		Policy     string
		Navigation bool
		Shared     string
	}{d, sections, template.CSS(css), template.JS(script),
		"default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + styles + "; script-src " + scripts, len(sections) > 2, o.Shared})
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
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		panic("document: " + name + ": " + err.Error()) // the templates are our own
	}
	return HTML(strings.TrimSpace(b.String()))
}

// renderAll renders blocks one below the other.
func renderAll(blocks []Block) (all []HTML) {
	for _, b := range blocks {
		all = append(all, b.html())
	}
	return all
}
