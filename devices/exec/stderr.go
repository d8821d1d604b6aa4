package exec

import (
	"bufio"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// The last lines of a child's stderr that error messages quote.
const (
	tailLines = 4
	tailWidth = 200
)

// stderrLog passes what a child writes to stderr to the log, and keeps the last
// lines.
type stderrLog struct {
	name string
	file *os.File
	done chan struct{} // closed at the end of the stream

	mu   sync.Mutex
	tail []string
}

func readStderr(name string, file *os.File) *stderrLog {
	l := &stderrLog{name: name, file: file, done: make(chan struct{})}
	go l.run()
	return l
}

func (l *stderrLog) run() {
	defer close(l.done)
	if err := parallel.Guarded(l.read); err != nil {
		l.add(err.Error())
	}
}

// read reads lines to the end of the stream.
func (l *stderrLog) read() error {
	r := bufio.NewReader(l.file)
	for {
		// A line longer than the buffer arrives in pieces.
		line, err := r.ReadSlice('\n')
		if text := clean(string(line), len(line)); text != "" {
			l.add(text)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}

func (l *stderrLog) add(text string) {
	slog.Debug(text, "target", l.name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == tailLines {
		l.tail = l.tail[1:]
	}
	l.tail = append(l.tail, clean(text, tailWidth))
}

// close ends the reading at the end of the stream, or when patience is over because
// another process holds the stream open.
func (l *stderrLog) close(patience time.Duration) {
	select {
	case <-l.done:
	case <-time.After(patience):
	}
	_ = l.file.Close()
	<-l.done
}

// lastWords quotes the last lines, "" if there is none.
func (l *stderrLog) lastWords() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tail) == 0 {
		return ""
	}
	return fmt.Sprintf("; its stderr ends: %s", strings.Join(l.tail, " | "))
}

// clean turns what a child has written into a line of text of limited length.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = printable.Line(strings.TrimSpace(s))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
