package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// statusLine is a line on stderr that shows progress: rewritten in place on a terminal, a
// new line every ten seconds elsewhere. On a terminal it is never still for long: where nothing
// new is shown, it says for how long.
type statusLine struct {
	*app
	last time.Time // when something new was shown

	mu     sync.Mutex
	on     bool // the cursor is on it
	fields []statusField
	beat   *time.Timer // until the same is shown again
}

// newStatusLine returns a line without anything on it. On a terminal it shows at once, elsewhere
// first after statusEvery.
func newStatusLine(a *app) statusLine { return statusLine{app: a, last: time.Now()} }

// statusEvery is the time between status lines where they cannot be rewritten, and beatEvery that
// after which the same one is.
const (
	statusEvery = 10 * time.Second
	beatEvery   = time.Second
)

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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.fields = time.Now(), fields
	s.draw(fields)
}

// expect shows on a terminal what is being done until there is progress to show.
func (s *statusLine) expect(what string) {
	if s.tty && !s.json {
		s.show(statusField{what, 1})
	}
}

// redraw shows on a terminal what was shown before the line was cleared.
func (s *statusLine) redraw() {
	if s.tty && s.fields != nil {
		s.show(s.fields...)
	}
}

// draw draws fields, and does so every second with the time since they were new. The lock is held.
func (s *statusLine) draw(fields []statusField) {
	fmt.Fprintf(printable.Raw(s.stderr), "\r\x1b[K%s", fitting(fields, s.widthErr-1))
	s.on = true
	if s.beat != nil {
		s.beat.Stop()
	}
	s.beat = time.AfterFunc(beatEvery, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.on {
			s.draw(append(slices.Clone(s.fields), statusField{fmt.Sprintf("(for %s)", readable.Clock(time.Since(s.last))), 0}))
		}
	})
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		s.beat.Stop()
		fmt.Fprint(printable.Raw(s.stderr), "\r\x1b[K")
		s.on = false
	}
}
