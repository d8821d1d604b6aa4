package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// statusLine is a line on stderr that shows progress: rewritten in place on a terminal, a
// new line every ten seconds elsewhere.
type statusLine struct {
	*app
	last time.Time // when it was shown
	on   bool      // the cursor is on it
}

// newStatusLine returns a line without anything on it. On a terminal it shows at once, elsewhere
// first after statusEvery.
func newStatusLine(a *app) statusLine { return statusLine{app: a, last: time.Now()} }

// statusEvery is the time between status lines where they cannot be rewritten.
const statusEvery = 10 * time.Second

// statusField is a part of the line.
type statusField struct {
	text string
	keep int // on a narrow terminal, the field with the smallest keep is dropped first
}

// show shows the fields, or as many of them as have room.
func (s *statusLine) show(fields ...statusField) {
	if !s.tty {
		if time.Since(s.last) >= statusEvery {
			s.last = time.Now()
			fmt.Fprintln(s.stderr, joined(fields))
		}
		return
	}
	fmt.Fprintf(printable.Raw(s.stderr), "\r\x1b[K%s", fitting(fields, s.widthErr-1))
	s.on = true
}

// joined writes fields on one line, without those that have no text.
func joined(fields []statusField) string {
	var texts []string
	for _, f := range fields {
		if f.text != "" {
			texts = append(texts, printable.Line(f.text))
		}
	}
	return strings.Join(texts, "  ")
}

// fitting writes fields in at most columns columns; if a single field is left, it is cut.
func fitting(fields []statusField, columns int) string {
	fields = slices.Clone(fields)
	for len(fields) > 1 && utf8.RuneCountInString(joined(fields)) > columns {
		least := slices.MinFunc(fields, func(x, y statusField) int { return cmp.Compare(x.keep, y.keep) })
		fields = slices.DeleteFunc(fields, func(f statusField) bool { return f == least })
	}
	return readable.Shorten(joined(fields), columns)
}

// clear erases the status line, so that something else can be printed in its place.
func (s *statusLine) clear() {
	if s.on {
		fmt.Fprint(printable.Raw(s.stderr), "\r\x1b[K")
		s.on = false
	}
}
