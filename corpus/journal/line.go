package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"regexp"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// maxLine is more bytes than any record takes.
const maxLine = 64 << 20

// Line returns the line of a record.
func Line(record any) ([]byte, error) {
	body, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return LineOf(body), nil
}

// LineOf returns the line of a record that is JSON already.
func LineOf(body []byte) []byte {
	line := append(checksum(body), ' ')
	return append(append(line, body...), '\n')
}

// Body returns the JSON of a line, with its end or without, if its checksum is right.
func Body(line []byte) (body []byte, ok bool) {
	sum, body, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	return body, ok && bytes.Equal(sum, checksum(body))
}

// ErrDamaged reports that a line is not complete, or that its checksum is wrong, or that a file is
// not one of lines.
var ErrDamaged = errors.New("it is damaged")

// Damaged makes an error an ErrDamaged; its text stays.
func Damaged(err error) error { return damaged{err} }

type damaged struct{ error }

func (d damaged) Unwrap() []error { return []error{d.error, ErrDamaged} }

// Decode reads the line of a record, with its end, that anybody may have made.
func Decode(line []byte, record any) error {
	body, ok := Body(line)
	if !ok || !bytes.HasSuffix(line, []byte("\n")) {
		return ErrDamaged
	}
	return strictjson.UnmarshalKnown(body, record, "value")
}

func checksum(body []byte) []byte {
	return fmt.Appendf(nil, "%08x", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

// scan calls each with the number and the JSON of each record, and returns the length of the
// good part of a file: it ends where the last line was cut short, or where a crash of the machine
// has left nothing but zeros. An error of each ends it.
func scan(r io.Reader, each func(n int, body []byte) error) (good int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 0; ; n++ {
		line, err := readLine(in)
		if n == 0 && !beginsAsRecord().Match(beginning(line)) {
			return 0, Damaged(errors.New("this is not a journal"))
		}
		if err == io.EOF {
			return good, nil // what has no end of line was cut short
		}
		if err != nil {
			return good, fmt.Errorf("line %d: %w", n+1, err)
		}
		body, ok := Body(line)
		if !ok {
			if corpus.OnlyZeros(in) {
				return good, nil
			}
			return good, Damaged(fmt.Errorf("line %d is damaged", n+1))
		}
		if err := each(n, body); err != nil {
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
		case len(line) > maxLine && line[len(line)-1] == 0 && corpus.OnlyZeros(in):
			return line, io.EOF
		case len(line) > maxLine:
			return line, Damaged(fmt.Errorf("longer than %d MiB: the file is damaged", maxLine>>20))
		case err != bufio.ErrBufferFull:
			return line, err
		}
	}
}

// beginning is how a line begins, without zeros that a crash of the machine has left.
func beginning(line []byte) []byte {
	const most = len("01234567 {")
	return bytes.TrimRight(line[:min(len(line), most)], "\x00")
}

// beginsAsRecord matches the beginning of a record, or what is left of that.
var beginsAsRecord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{0,8}|[0-9a-f]{8} \{?)$`) })
