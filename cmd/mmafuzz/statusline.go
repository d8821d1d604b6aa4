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

// statusLine is a line on stderr that shows progress: rewritten in place on a terminal, elsewhere
// a new line after a few seconds and then every ten. It is never still for long: where nothing new
// is shown, it says for how long.
type statusLine struct {
	*app
	last time.Time // when something was shown

	mu     sync.Mutex
	on     bool // there is something to show
	said   bool // a line that stays was written
	fields []statusField
	fresh  time.Time   // when the fields were new
	beat   *time.Timer // until the same is shown again
}

// newStatusLine returns a line without anything on it. On a terminal it shows at once, elsewhere
// first after statusFirst.
func newStatusLine(a *app) statusLine { return statusLine{app: a, last: time.Now()} }

// statusFirst is the time until the first status line where lines cannot be rewritten. Scripts, whose
// output must not depend on the machine's load, set another.
var statusFirst = 4 * time.Second

// statusEvery is the time between two such lines, and beatEvery that after which the same one is
// shown where they can be rewritten.
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fields, s.fresh, s.on = fields, time.Now(), true
	if s.tty {
		s.last = time.Now()
		s.draw(fields)
		return
	}
	wait := statusEvery
	if !s.said {
		wait = statusFirst
	}
	if wait -= time.Since(s.last); wait <= 0 {
		s.write()
	} else if s.beat == nil {
		s.beat = time.AfterFunc(wait, s.writeLater)
	}
}

// expect shows what is being done until there is progress to show.
func (s *statusLine) expect(what string) {
	if !s.json {
		s.show(statusField{what, 1})
	}
}

// redraw shows what was shown before the line was cleared.
func (s *statusLine) redraw() {
	if s.fields != nil {
		s.show(s.fields...)
	}
}

// draw draws fields on a terminal, and does so every second with the time since they were new. The
// lock is held.
func (s *statusLine) draw(fields []statusField) {
	fmt.Fprintf(printable.Raw(s.stderr), "\r\x1b[K%s", fitting(fields, s.widthErr-1))
	s.stop()
	s.beat = time.AfterFunc(beatEvery, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.on {
			s.draw(s.aged())
		}
	})
}

// write writes the fields on a line that stays, and does so again every ten seconds. The lock is
// held.
func (s *statusLine) write() {
	s.last, s.said = time.Now(), true
	fmt.Fprintln(s.stderr, joined(s.aged()))
	s.stop()
	s.beat = time.AfterFunc(statusEvery, s.writeLater)
}

func (s *statusLine) writeLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.on {
		s.write()
	}
}

// aged returns the fields with the time since they were new, if that is long.
func (s *statusLine) aged() []statusField {
	age := time.Since(s.fresh)
	if age < beatEvery {
		return s.fields
	}
	return append(slices.Clone(s.fields), statusField{fmt.Sprintf("(unchanged for %s)", readable.Clock(age)), 0})
}

// stop forgets to show the same again. The lock is held.
func (s *statusLine) stop() {
	if s.beat != nil {
		s.beat.Stop()
		s.beat = nil
	}
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
	if s.on && s.tty {
		fmt.Fprint(printable.Raw(s.stderr), "\r\x1b[K")
	}
	s.on = false
	s.stop()
}
