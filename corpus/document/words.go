package document

import (
	"fmt"
	"strings"
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

// words is a block of words; its kind is the name of its template.
type words struct{ kind, words string }

// Text is a paragraph. What stands between backquotes is code.
func Text(text string) Block { return words{"text", text} }

// Note is a paragraph that is less important.
func Note(text string) Block { return words{"note", text} }

// Alert is a paragraph that must not be missed.
func Alert(text string) Block { return words{"alert", text} }

// Heading is a heading within a section.
func Heading(text string) Block { return words{"heading", text} }

// Command is a command to copy.
func Command(command string) Block { return words{"command", command} }

// Pre is text whose lines and blanks stay.
func Pre(text string) Block { return words{"pre", text} }

// verbatim reports whether lines and blanks stay.
func (w words) verbatim() bool { return w.kind == "command" || w.kind == "pre" }

func (w words) empty() bool { return w.words == "" }

func (w words) html() HTML {
	if w.verbatim() {
		return render(w.kind, show(w.words))
	}
	return render(w.kind, marked(show(w.words)))
}

func (w words) text(t *terminal) {
	switch {
	case w.verbatim():
		t.verbatim(w.words)
	case w.kind == "heading":
		t.line(t.Bold(w.words))
	default:
		t.line(w.words)
	}
}

func (w words) markdown(m *markdown) {
	switch {
	case w.verbatim():
		m.verbatim(w.words)
	case w.kind == "heading":
		m.paragraph("### " + inline(w.words))
	default:
		m.paragraph(inline(w.words))
	}
}

// list is a list of paragraphs: ul, or ol if their order matters.
type list struct {
	kind  string
	items []string
}

// List is a list of paragraphs.
func List(items ...string) Block { return list{"ul", items} }

// Steps is a list of paragraphs in an order that matters.
func Steps(items ...string) Block { return list{"ol", items} }

func (l list) empty() bool { return len(l.items) == 0 }

func (l list) html() HTML {
	var all [][]piece
	for _, i := range l.items {
		all = append(all, marked(show(i)))
	}
	return render(l.kind, all)
}

// mark is what stands before an item where there is no markup.
func (l list) mark(n int) string {
	if l.kind == "ol" {
		return fmt.Sprintf("%d. ", n+1)
	}
	return "- "
}

func (l list) text(t *terminal) {
	for n, i := range l.items {
		t.line(l.mark(n) + i)
	}
}

func (l list) markdown(m *markdown) {
	var lines []string
	for n, i := range l.items {
		lines = append(lines, l.mark(n)+inline(i))
	}
	m.paragraph(strings.Join(lines, "\n"))
}

// fold is blocks that are hidden until its summary is clicked.
type fold struct {
	summary string
	blocks  []Block
}

// Fold hides blocks until its summary is clicked. A terminal shows them only if it is to show all.
func Fold(summary string, blocks ...Block) Block { return fold{summary, present(blocks)} }

func (f fold) empty() bool { return len(f.blocks) == 0 }

func (f fold) html() HTML {
	return render("fold", struct {
		Summary []piece
		Blocks  []HTML
	}{marked(show(f.summary)), renderAll(f.blocks)})
}

func (f fold) text(t *terminal) {
	if t.Verbose {
		t.line(f.summary)
		t.indented(2, f.blocks)
	}
}

func (f fold) markdown(m *markdown) {
	m.paragraph(inline(f.summary))
	m.blocks(f.blocks)
}

// some is blocks that not all media show, or that a terminal indents.
type some struct {
	page, terminal bool
	indent         int
	blocks         []Block
}

// OnPage is blocks that only a page and files show.
func OnPage(blocks ...Block) Block { return some{page: true, blocks: present(blocks)} }

// OnTerminal is blocks that only a terminal shows.
func OnTerminal(blocks ...Block) Block { return some{terminal: true, blocks: present(blocks)} }

// Indent is blocks that a terminal indents.
func Indent(blanks int, blocks ...Block) Block {
	return some{true, true, blanks, present(blocks)}
}

func (s some) empty() bool { return len(s.blocks) == 0 }

func (s some) html() HTML {
	var b strings.Builder
	if s.page {
		for _, h := range renderAll(s.blocks) {
			b.WriteString(string(h) + "\n")
		}
	}
	return HTML(strings.TrimSuffix(b.String(), "\n"))
}

func (s some) text(t *terminal) {
	if s.terminal {
		t.indented(s.indent, s.blocks)
	}
}

func (s some) markdown(m *markdown) {
	if s.page {
		m.blocks(s.blocks)
	}
}

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
		if !code && !strings.Contains(text[i+1:], "`") {
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

// plain is a text without the marks of code.
func plain(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}
