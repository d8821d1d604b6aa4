package document

import (
	"cmp"
	"slices"
	"strings"
)

// Figure is a picture with its caption.
type Figure struct {
	Name    string // of its files; "": it has none
	Picture Picture
	Caption string
	Numbers *Table // what the picture shows, for those who cannot see it; nil: it is elsewhere
	Text    string // the same drawn in characters, for a terminal; "": a terminal does not show it
}

// Picture is a picture: Plot, Bars, Heat or Canvas.
type Picture interface {
	SVG() HTML
	empty() bool
	data() *Table // its numbers; nil: it shows none
}

func (f Figure) empty() bool { return f.Picture == nil || f.Picture.empty() }

// telling reports whether a picture says more than its numbers: one or two bars and a curve of one
// value do not.
func telling(p Picture) bool {
	const few = 2
	switch p := p.(type) {
	case *Bars:
		return len(p.Bars) > few
	case *Plot:
		return slices.ContainsFunc(p.Series, func(s Series) bool {
			return len(s.Points) > few && slices.ContainsFunc(s.Points, func(q Point) bool { return q.Y != s.Points[0].Y })
		})
	}
	return true
}

func (f Figure) html() HTML {
	if t := f.numbers(); t != nil && !telling(f.Picture) {
		return Text(f.Caption).html() + t.html()
	}
	d := struct {
		Picture HTML
		Caption []piece
		Label   string
		Numbers HTML
	}{Picture: f.Picture.SVG(), Caption: marked(show(f.Caption)), Label: show(f.Caption)}
	if f.Numbers != nil {
		d.Numbers = Fold("The numbers", f.Numbers).html()
	}
	return render("figure", d)
}

// numbers returns the table of what a figure shows, nil if there is none.
func (f Figure) numbers() *Table {
	t := f.Numbers
	if t == nil {
		t = f.Picture.data()
	}
	if t == nil || t.empty() {
		return nil
	}
	named := *t
	named.Name = cmp.Or(t.Name, f.Name)
	named.Caption = cmp.Or(t.Caption, f.Caption)
	return &named
}

// SVG returns the picture as a file of its own, which brings its colours along.
func (f Figure) SVG() []byte { return standalone(f.Picture.SVG()) }

// standalone makes the SVG of a page a file of its own.
func standalone(picture HTML) []byte {
	svg := strings.Replace(string(picture), "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
	style := "<style>" + usedStyle(svg) + "</style>\n"
	at := strings.Index(svg, "\n") + 1
	return []byte(svg[:at] + style + `<rect class="f-paper" width="100%" height="100%"/>` + "\n" + svg[at:] + "\n")
}
