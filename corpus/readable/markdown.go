package readable

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// markup is what makes links, images, HTML, code and emphasis in a line of Markdown, and how
// it is written as what it is.
var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "://", `:\//`, "www.", `www\.`, "WWW.", `WWW\.`)

// Markdown writes a text, which anybody may have chosen, in a line of Markdown: nothing in it is
// markup.
func Markdown(text string) string { return markup.Replace(printable.Line(text)) }

// MarkdownCode writes a text as code in a line of Markdown.
func MarkdownCode(text string) string {
	text = printable.Line(text)
	fence := strings.Repeat("`", backquotes(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.TrimSpace(text) != text || text == "" {
		text = " " + text + " " // of which Markdown takes one away on each side
	}
	return fence + text + fence
}

// MarkdownBlock writes lines as a block of code.
func MarkdownBlock(text string) string {
	fence := strings.Repeat("`", max(backquotes(text)+1, 3))
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// MarkdownRow writes a row of a table, whose cells are Markdown.
func MarkdownRow(cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
	}
	return b.String() + "|\n"
}

// backquotes returns the length of the longest run of backquotes.
func backquotes(text string) int {
	most, run := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		most = max(most, run)
	}
	return most
}
