package checklist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// State says what became of a part of a step.
type State string

// The states.
const (
	Began   State = "began"
	OK      State = "ok"
	Differs State = "differs" // the device is not what was expected
	Failed  State = "failed"  // it could not be done
	Skipped State = "skipped" // there is nothing to do, or no time
)

// Row is a part of a step: of one instruction, as a rule.
type Row struct {
	Step  string `json:"step"`
	Key   string `json:"key"`
	State State  `json:"state"`
	Text  string `json:"text,omitempty"` // in a line
	Data  any    `json:"data,omitempty"`
}

// attempts is how often a part may end the program before it is left alone.
const attempts = 2

// journal is the rows so far, and the file that they are in.
type journal struct {
	mu    sync.Mutex
	file  *os.File
	rows  []Row
	index map[string]int // of step and key, in rows
	began map[string]int // how often
}

// openJournal reads what an earlier part of the run has written. A last line that
// was cut short is dropped.
func openJournal(path, head string) (*journal, error) {
	j := &journal{index: map[string]int{}, began: map[string]int{}}
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := body[:bytes.LastIndexByte(body, '\n')+1]
	in := bufio.NewScanner(bytes.NewReader(whole))
	in.Buffer(nil, 64<<20)
	for n := 1; in.Scan(); n++ {
		if n == 1 {
			if in.Text() != head {
				return nil, fmt.Errorf("%s is the journal of another checklist: %s, not %s", path, in.Text(), head)
			}
			continue
		}
		var r Row
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
		j.take(r)
	}
	if j.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return nil, err
	}
	if err := j.file.Truncate(int64(len(whole))); err != nil {
		return nil, err
	}
	if _, err := j.file.Seek(int64(len(whole)), 0); err != nil {
		return nil, err
	}
	if len(whole) == 0 {
		_, err = j.file.WriteString(head + "\n")
	}
	return j, err
}

// name is the key of an index.
func (r *Row) name() string { return r.Step + "\x00" + r.Key }

// take takes a row in, in place of an earlier one of its name.
func (j *journal) take(r Row) {
	if r.State == Began {
		j.began[r.name()]++
		return
	}
	if i, ok := j.index[r.name()]; ok {
		j.rows[i] = r
		return
	}
	j.index[r.name()] = len(j.rows)
	j.rows = append(j.rows, r)
}

// write takes a row in and writes it.
func (j *journal) write(r Row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(r)
	_, err = j.file.Write(append(line, '\n'))
	return err
}

// done returns the row of a part that need not be done: it has been, for good. What
// there was no time for may be done now.
func (j *journal) done(step, key string) (Row, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := Row{Step: step, Key: key}
	if i, ok := j.index[r.name()]; ok && j.rows[i].Text != noTime {
		return j.rows[i], true
	}
	return r, false
}

// noTime is the text of a part that was not reached.
const noTime = "not reached: no time left"

// do does a part of a step, unless it has been done, and writes what became of it.
// A panic is a failure of the part. The error is that of the journal.
func (j *journal) do(step, key string, part func() Row) error {
	if _, ok := j.done(step, key); ok {
		return nil
	}
	r := Row{Step: step, Key: key}
	if j.began[r.name()] >= attempts {
		r.State, r.Text = Failed, fmt.Sprintf("it has ended the program %d times and is left alone", attempts)
		return j.write(r)
	}
	r.State = Began
	if err := j.write(r); err != nil {
		return err
	}
	r = guarded(part)
	r.Step, r.Key = step, key
	return j.write(r)
}

// guarded makes a failure of a panic.
func guarded(part func() Row) (r Row) {
	defer func() {
		if p := recover(); p != nil {
			r = Row{State: Failed, Text: fmt.Sprintf("panic: %v", p), Data: strings.Split(string(debug.Stack()), "\n")}
		}
	}()
	return part()
}

// of returns the rows of a step, in order.
func (j *journal) of(step string) []Row {
	j.mu.Lock()
	defer j.mu.Unlock()
	var rows []Row
	for _, r := range j.rows {
		if r.Step == step {
			rows = append(rows, r)
		}
	}
	return rows
}

func (j *journal) close() error { return j.file.Close() }
