package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// Log, which messages call a journal, is a text file of one record a line: a CRC-32C of the
// rest in hexadecimal, a space, and JSON. Each line is appended in one write. A last line
// that was cut short, and zeros that a crash of the machine left at the end, are dropped
// when the log is opened again. Only one process can have it open.
type Log struct {
	f       *os.File
	head    int64      // bytes of the first record
	size    int64      // bytes of all records
	syncing chan error // not nil: a sync is in progress
	behind  bool       // lines have been written since that sync began
}

// OpenLog opens a log for appending, or makes it, with the directories that it is in. It
// calls replay with the number and the JSON of each record that is there; an error of
// replay ends OpenLog, and the file stays as it is. Other errors are those of the file and
// of its contents; ErrInUse if another process has it open.
func OpenLog(path string, replay func(n int, body []byte) error) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := openStore(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &Log{f: f}
	l.size, err = replayLog(f, func(n int, body []byte) error {
		if n == 0 {
			l.head = int64(len("01234567 ") + len(body) + len("\n"))
		}
		return replay(n, body)
	})
	if err == nil {
		// Drop a line that was cut short, then go on after the last good one.
		if err = f.Truncate(l.size); err == nil {
			_, err = f.Seek(l.size, io.SeekStart)
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// HoldLog locks a log as OpenLog does, and leaves it as it is. ErrInUse: another process has
// it open. There may be none: then nothing is locked.
func HoldLog(path string) (release func() error, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return func() error { return nil }, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f.Close, nil
}

// maxLog is more bytes than any log has.
const maxLog = 1 << 40

// ReadLog reads a log that anybody may have made and that a process may have open: the
// records that are whole. It calls replay as OpenLog does.
func ReadLog(path string, replay func(n int, body []byte) error) error {
	f, err := Open(path, "journal", maxLog)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := replayLog(f, replay); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// FirstRecord returns the JSON of the first record of a log that anybody may have made and that a
// process may have open; nil if it is no log, or has no records.
func FirstRecord(path string) (first []byte) {
	enough := errors.New("one record is enough")
	_ = ReadLog(path, func(_ int, body []byte) error {
		first = bytes.Clone(body)
		return enough
	})
	return first
}

// maxLine is more bytes than any record takes.
const maxLine = 64 << 20

// replayLog applies the records of a log and returns the length of the good part: it
// ends where the last line was cut short or damaged, or where a crash of the machine has
// left nothing but zeros.
func replayLog(r io.Reader, replay func(n int, body []byte) error) (good int64, err error) {
	in := bufio.NewReaderSize(r, 1<<20)
	for n := 0; ; n++ {
		line, err := readLine(in)
		if n == 0 && !headOfRecord.Match(beginning(line)) {
			return 0, errors.New("this is not a journal")
		}
		if err == io.EOF {
			return good, nil // what has no end of line was cut short
		}
		if err != nil {
			return good, fmt.Errorf("line %d: %w", n+1, err)
		}
		body, ok := LogBody(line)
		if !ok {
			if OnlyZeros(in) {
				return good, nil
			}
			return good, fmt.Errorf("line %d is damaged", n+1)
		}
		if err := replay(n, body); err != nil {
			if n > 0 {
				err = fmt.Errorf("line %d: %w", n+1, err)
			}
			return good, err
		}
		good += int64(len(line))
	}
}

// readLine reads a line with its end. io.EOF: the file ends, perhaps in zeros, before the
// line does.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine && line[len(line)-1] == 0 && OnlyZeros(in):
			return line, io.EOF
		case len(line) > maxLine:
			return line, fmt.Errorf("longer than %s: the file is damaged", byteSize(maxLine))
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}

// beginning is how a line begins, without zeros that a crash of the machine has left.
func beginning(line []byte) []byte {
	return bytes.TrimRight(line[:min(len(line), headLen)], "\x00")
}

// headOfRecord is how a record begins, or what is left of that.
var headOfRecord = regexp.MustCompile(`^([0-9a-f]{0,8}|[0-9a-f]{8} \{?)$`)

const headLen = 10

// LogLine returns the line of a record.
func LogLine(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line := fmt.Appendf(nil, "%08x ", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(append(line, body...), '\n'), nil
}

// LogBody returns the JSON of a line, with its end or without, if its checksum is right.
func LogBody(line []byte) (body []byte, ok bool) {
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	return body, ok && string(sum) == fmt.Sprintf("%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

// Record appends one record and waits until it is on disk.
func (l *Log) Record(v any) error {
	if err := l.Append(v); err != nil {
		return err
	}
	return l.wait()
}

// Append appends one record and starts writing it to disk in the background. If an earlier
// write is still under way, a later call starts it. A later call also returns an error of
// the background write. What a crash of the machine leaves of the last records is cut off
// by OpenLog.
func (l *Log) Append(v any) error {
	line, err := LogLine(v)
	if err != nil {
		return err
	}
	if _, err := l.f.Write(line); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if l.size += int64(len(line)); l.head == 0 {
		l.head = l.size
	}
	l.behind = true
	select {
	case err := <-l.syncing:
		if l.syncing = nil; err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	default:
	}
	if l.syncing == nil {
		l.sync()
	}
	return nil
}

// Tail returns the bytes of all records but the first.
func (l *Log) Tail() int64 { return l.size - l.head }

// DropTail removes all records but the first, once these are of no more use.
func (l *Log) DropTail() error {
	err := l.wait()
	if err == nil {
		err = l.f.Truncate(l.head)
	}
	if err == nil {
		_, err = l.f.Seek(l.head, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	l.size = l.head
	return nil
}

// sync starts to sync all lines to disk.
func (l *Log) sync() {
	done := make(chan error, 1)
	go func() { done <- l.f.Sync() }()
	l.syncing, l.behind = done, false
}

// wait waits until the last line is on disk.
func (l *Log) wait() error {
	for l.syncing != nil {
		err := <-l.syncing
		if l.syncing = nil; err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		if l.behind {
			l.sync()
		}
	}
	return nil
}

// Close waits until the last line is on disk and closes the log.
func (l *Log) Close() error { return errors.Join(l.wait(), l.f.Close()) }
