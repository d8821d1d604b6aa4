package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// output is the standard output, or the standard error. It shows control characters
// instead of writing them (see package printable), whoever's text they come with, but
// for line ends, tabs and the program's own colours, which come with ownMark. It keeps
// its first error, after which it takes no more: a full disk is noticed in one place,
// whoever writes.
type output struct {
	w    io.Writer
	err  error
	rest []byte // of the last write: the beginning of a character or of ownMark
}

// ownMark stands where the program's own escape sequences begin. It is not to be
// guessed, so that nobody else's text has it.
var ownMark = []byte("\x1b" + rand.Text())

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil && len(o.rest) == 0 && simple(p) {
		return o.put(p)
	}
	text := append(o.rest, p...)
	n := whole(text)
	o.rest = slices.Clone(text[n:])
	if _, err := o.put(shown(text[:n])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// put writes what is fit for a terminal.
func (o *output) put(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = fmt.Errorf("writing to standard output: %w", err)
	}
	return n, o.err
}

// finish writes what looked like the beginning of something.
func (o *output) finish() {
	if rest := o.rest; len(rest) > 0 {
		o.rest = nil
		_, _ = o.put(shown(rest))
	}
}

// simple reports whether text has printable ASCII, line ends and tabs only, as most
// has.
func simple(p []byte) bool {
	for _, c := range p {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// whole returns how much of a text can be shown without what follows it.
func whole(text []byte) int {
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

// shown makes text fit for a terminal.
func shown(text []byte) []byte {
	parts := bytes.Split(text, ownMark)
	for i := range parts {
		parts[i] = []byte(printable.Text(string(parts[i])))
	}
	return bytes.Join(parts, []byte("\x1b"))
}

// rawOutput writes to an output as it is.
type rawOutput struct{ *output }

func (r rawOutput) Write(p []byte) (int, error) { return r.put(p) }

// raw returns a writer for what is fit for a terminal already, or no text, and has its
// own control characters.
func raw(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		o.finish()
		return rawOutput{o}
	}
	return w
}

// underneath returns what an output writes to.
func underneath(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.w
	}
	return w
}

// writeJSON writes one JSON object in a line, with the version of the schema if
// it has none of its own.
func (a *app) writeJSON(object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	var version struct {
		V *int `json:"v"`
	}
	if err := json.Unmarshal(body, &version); err != nil {
		return err
	}
	if version.V == nil {
		head := fmt.Appendf(nil, `{"v":%d`, schemaVersion)
		if len(body) > len("{}") {
			head = append(head, ',')
		}
		body = append(head, body[1:]...)
	}
	_, err = a.stdout.Write(append(visible(body), '\n'))
	return err
}

// visible writes the characters of JSON that cannot be seen, which are in strings, as
// \u and digits: it means the same.
func visible(body []byte) []byte {
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
