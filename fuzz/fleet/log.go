package fleet

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
)

// unitLine is a line of a log: the result of a unit. The order of the fields is part of the
// format: see lineHead.
type unitLine struct {
	At     int64          `json:"at,omitempty"` // when it was done, in milliseconds, by the clock of the shard; merged lines are without it
	Plan   string         `json:"plan"`
	Unit   int            `json:"unit"`
	Result *engine.Result `json:"result"`
}

// unitBytes is the largest size of a line, in bytes: more than any result has.
const unitBytes = 1 << 26

// lineHead matches the beginning of a line: what is known of it before it is decoded.
var lineHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{8} \{(?:"at":([0-9]{1,15}),)?"plan":"([0-9a-f]+)","unit":([0-9]{1,9}),"result":\{`)
})

// head returns when the result of a line was written, the digest of its plan and the number of its
// unit. ok: the line is one, and its checksum is right.
func head(line []byte) (at time.Time, plan string, unit int, ok bool) {
	m := lineHead().FindSubmatch(line[:min(len(line), 128)])
	if _, sum := journal.Body(line); m == nil || !sum {
		return at, "", 0, false
	}
	if ms, err := strconv.ParseInt(string(m[1]), 10, 64); err == nil {
		at = time.UnixMilli(ms)
	}
	unit, err := strconv.Atoi(string(m[3]))
	return at, string(m[2]), unit, err == nil
}

// mergedLine returns a line as merged logs have it: it depends on the result alone.
func mergedLine(line []byte) ([]byte, error) {
	body, ok := journal.Body(line)
	from := bytes.Index(body, []byte(`"plan":`))
	if !ok || from < 0 {
		return nil, journal.ErrDamaged
	}
	return journal.LineOf(append([]byte("{"), body[from:]...)), nil
}

// shardLog is the log of a shard's process, to which nobody else writes: its name is random. It
// appears with the first result. Before that there is its temporary file, which shows that the
// shard is at work.
type shardLog struct {
	path  string
	begun *corpus.Replacement // nil: it has appeared
	f     *os.File
	size  int64
}

func newShardLog(dir string, shard, of int) (l *shardLog, err error) {
	name := fmt.Sprintf("%d-of-%d.%s.%s", shard, of, thisHost(), rand.Text()[:12])
	l = &shardLog{path: filepath.Join(dir, unitsDir, name)}
	l.begun, err = corpus.ReplaceShared(l.path)
	return l, err
}

// unknownHost stands for a machine without a name.
const unknownHost = "unknown"

// thisHost returns the name of this machine as names of logs have it.
func thisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return unknownHost
	}
	return strings.Map(plain, host)
}

// plain replaces characters that a file name should not have.
func plain(r rune) rune {
	if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' {
		return r
	}
	return '-'
}

// add writes a line to disk, and returns where it is.
func (l *shardLog) add(line []byte) (place, error) {
	var err error
	if l.f == nil {
		err = retryOnce(func() error { return l.appear(line) })
	} else if _, err = l.f.Write(line); err == nil {
		err = l.f.Sync()
	}
	from := l.size
	l.size += int64(len(line))
	return place{l.path, from, l.size}, err
}

func (l *shardLog) appear(line []byte) (err error) {
	r := l.begun
	if l.begun = nil; r == nil { // for the second time
		r, err = corpus.ReplaceShared(l.path)
	}
	if err != nil {
		return err
	}
	if _, err := r.Write(line); err != nil {
		return errors.Join(err, r.Discard())
	}
	l.f, err = r.CommitOpen()
	return err
}

func (l *shardLog) close() error {
	if l.f == nil {
		return l.begun.Discard()
	}
	return l.f.Close()
}

// logName is what the name of a log says.
type logName struct {
	shard, of int // of 0: merged results
	host      string
}

var logNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\.?(\d{1,9})-of-(\d{1,9})\.([-0-9A-Za-z]*)\.[0-9A-Z]+|merged\.[0-9a-f]+)(?:\.damaged|\.[0-9A-Z]+\.mmafuzz-tmp)?$`)
})

// parseLogName parses the name of a log, also of a damaged one, or of its temporary file.
func parseLogName(name string) (n logName, ok bool) {
	m := logNames().FindStringSubmatch(name)
	if m == nil {
		return n, false
	}
	n.shard, _ = strconv.Atoi(m[1])
	n.of, _ = strconv.Atoi(m[2])
	n.host = m[3]
	return n, true
}
