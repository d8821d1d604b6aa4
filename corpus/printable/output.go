package printable

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Output is the standard output of a program, or the standard error. It shows control
// characters instead of writing them, except for line ends, tabs and the program's own
// colours, which come from Style. It keeps its first error, after which it takes no more,
// so that a full disk is noticed in one place.
type Output struct {
	w    io.Writer
	err  error
	rest []byte // of the last write: the beginning of a character or of ownMark
}

// NewOutput returns an output on top of a stream.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Err returns the first error.
func (o *Output) Err() error { return o.err }

// ownMark stands where the program's own escape sequences begin. It cannot be
// guessed, so that no other text has it.
var ownMark = []byte("\x1b" + rand.Text())

// Style writes text in a style of a terminal, such as "1" for bold: an Output takes it for
// the program's own, whatever the text is.
func Style(text, style string) string {
	mark := string(ownMark)
	return mark + "[" + style + "m" + text + mark + "[0m"
}

func (o *Output) Write(p []byte) (int, error) {
	if o.err == nil && len(o.rest) == 0 && simple(p) {
		return o.put(p)
	}
	text := append(o.rest, p...)
	n := showable(text)
	o.rest = slices.Clone(text[n:])
	if _, err := o.put(visible(text[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// put writes what is fit for a terminal.
func (o *Output) put(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = fmt.Errorf("writing to standard output: %w", err)
	}
	return n, o.err
}

// Finish writes what was held back because it looked like the beginning of a character or
// of ownMark.
func (o *Output) Finish() {
	if rest := o.rest; len(rest) > 0 {
		o.rest = nil
		_, _ = o.put(visible(rest))
	}
}

// simple reports whether text is only printable ASCII, line ends and tabs, as most text is.
func simple(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// showable returns how many bytes of a text can be shown before its continuation is known.
func showable(text []byte) int {
	if i := bytes.LastIndexByte(text, ownMark[0]); i >= 0 && len(text)-i < len(ownMark) && bytes.HasPrefix(ownMark, text[i:]) {
		return i
	}
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// visible makes text fit for a terminal.
func visible(text []byte) []byte {
	parts := bytes.Split(text, ownMark)
	for i := range parts {
		parts[i] = []byte(Text(string(parts[i])))
	}
	return bytes.Join(parts, []byte("\x1b"))
}

// rawOutput writes to an output as it is.
type rawOutput struct{ *Output }

func (r rawOutput) Write(p []byte) (int, error) { return r.put(p) }

// Raw returns a writer that changes nothing: for what is no text, or is fit for a terminal
// already and has control characters of its own.
func Raw(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		o.Finish()
		return rawOutput{o}
	}
	return w
}

// Underneath returns what an output writes to.
func Underneath(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		return o.w
	}
	return w
}

// JSON returns JSON of one line, as json.Marshal makes it, with \u and digits in place of
// each character that cannot be seen. Such characters are in strings only, so that the
// result means the same.
func JSON(body []byte) []byte {
	if simple(body) {
		return body
	}
	var b []byte
	for _, r := range string(body) {
		switch {
		case strconv.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}
