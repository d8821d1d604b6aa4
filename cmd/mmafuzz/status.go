package main

import (
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// statusLine is a line on stderr that says how far something is: rewritten in place
// on a terminal, a new line every ten seconds elsewhere.
type statusLine struct {
	*app
	last time.Time // when it was shown
	on   bool      // the cursor is on it
}

// statusEvery is the time between status lines where they cannot be rewritten.
const statusEvery = 10 * time.Second

func (s *statusLine) show(text string) {
	if !s.tty {
		if time.Since(s.last) >= statusEvery {
			s.last = time.Now()
			fmt.Fprintln(s.stderr, text)
		}
		return
	}
	fmt.Fprintf(raw(s.stderr), "\r\x1b[K%s", shorten(printable.Line(text), s.widthErr-1))
	s.on = true
}

// clear makes room for a line above the status line.
func (s *statusLine) clear() {
	if s.on {
		fmt.Fprint(raw(s.stderr), "\r\x1b[K")
		s.on = false
	}
}

// shorten cuts text to so many columns.
func shorten(text string, columns int) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:columns])
	}
	return text
}
