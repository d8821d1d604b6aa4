package page

import (
	"fmt"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// longest is the number of bytes of a text that are shown, at most.
const longest = 2000

// show makes text fit to be shown: without control characters, and not endless.
func show(text string) string {
	if n := len(text); n > longest {
		cut := longest
		for cut > longest-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		return printable.Text(text[:cut]) + fmt.Sprintf(" … (%d bytes in all)", n)
	}
	return printable.Text(text)
}

// Text is a paragraph. What stands between backquotes is code.
func Text(text string) HTML { return render("text", marked(show(text))) }

// Note is a paragraph that is less important.
func Note(text string) HTML { return render("note", marked(show(text))) }

// Alert is a paragraph that must not be missed.
func Alert(text string) HTML { return render("alert", marked(show(text))) }

// List is a list of paragraphs.
func List(items ...string) HTML { return list("ul", items) }

// Steps is a list of paragraphs in an order that matters.
func Steps(items ...string) HTML { return list("ol", items) }

func list(kind string, items []string) HTML {
	if len(items) == 0 {
		return ""
	}
	var all [][]piece
	for _, i := range items {
		all = append(all, marked(show(i)))
	}
	return render(kind, all)
}

// Command is a command to copy.
func Command(command string) HTML { return render("command", show(command)) }

// Pre is text whose lines and blanks stay.
func Pre(text string) HTML { return render("pre", show(text)) }

// Fold hides blocks until its summary is clicked.
func Fold(summary string, blocks ...HTML) HTML {
	return render("fold", struct {
		Summary []piece
		Blocks  []HTML
	}{marked(show(summary)), blocks})
}

// Heading is a heading within a section.
func Heading(text string) HTML { return render("heading", marked(show(text))) }

// piece is a part of a text.
type piece struct {
	Text string
	Code bool
}

// marked finds what stands between backquotes. A last one without a partner stays a
// backquote.
func marked(text string) []piece {
	var all []piece
	start, code := 0, false
	for i := range len(text) {
		if text[i] != '`' {
			continue
		}
		if !code && !contains(text[i+1:], '`') {
			break
		}
		if i > start {
			all = append(all, piece{text[start:i], code})
		}
		start, code = i+1, !code
	}
	if start < len(text) {
		all = append(all, piece{text[start:], code})
	}
	return all
}

func contains(s string, c byte) bool {
	for i := range len(s) {
		if s[i] == c {
			return true
		}
	}
	return false
}
