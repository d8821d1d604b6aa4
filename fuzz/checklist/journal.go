package checklist

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// State describes what became of a part of a step.
type State string

// The states.
const (
	Began   State = "began"
	OK      State = "ok"
	Differs State = "differs" // the device does not behave as expected
	Failed  State = "failed"  // it could not be done
	Skipped State = "skipped" // there is nothing to do, or no time
)

// Row is the outcome of a part of a step, which is about one instruction as a rule.
type Row struct {
	Step  string `json:"step"`
	Key   string `json:"key"`
	State State  `json:"state"`
	Text  string `json:"text,omitempty"` // one line
	Data  any    `json:"data,omitempty"`
}

// attempts is how often a part may end the program before it is left alone.
const attempts = 2

// journal holds the rows so far, and the corpus.Log with a header and these rows.
type journal struct {
	mu    sync.Mutex
	log   *corpus.Log
	rows  []Row
	index map[string]int // from a row's name to its place in rows
	began map[string]int // how often the part of that name was begun
}

// header must be the same when a checklist is resumed.
type header struct {
	Version  int             `json:"v"`
	Versions corpus.Versions `json:"versions"`
	Target   string          `json:"target"`
}

const journalVersion = 2

func newHeader(target string) header {
	return header{journalVersion, versions.Current(), target}
}

// ErrOtherChecklist reports that a journal belongs to the checklist of another target.
var ErrOtherChecklist = errors.New("the journal is of another checklist")

// check explains why a checklist cannot go on from a journal with this header, nil if it
// can.
func (h *header) check(want *header) error {
	switch {
	case h.Target != want.Target:
		return fmt.Errorf("%w: its target is %s, not %s", ErrOtherChecklist, h.Target, want.Target)
	case h.Version != want.Version:
		return fmt.Errorf("%w: its version is %d, not %d", ErrOtherChecklist, h.Version, want.Version)
	}
	return h.Versions.Check(versions.Current())
}

// openJournal reads what an earlier part of the run has written.
func openJournal(path string, want header) (*journal, error) {
	j := &journal{index: map[string]int{}, began: map[string]int{}}
	fresh := true
	log, err := corpus.OpenLog(path, func(n int, body []byte) error {
		if n == 0 {
			fresh = false
			var have header
			if err := mma.JSONError(body, json.Unmarshal(body, &have)); err != nil {
				return err
			}
			return have.check(&want)
		}
		var r Row
		if err := mma.JSONError(body, json.Unmarshal(body, &r)); err != nil {
			return err
		}
		if err := r.check(); err != nil {
			return err
		}
		printable.Strings(&r)
		j.take(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	j.log = log
	if fresh {
		return j, log.Record(want)
	}
	return j, nil
}

// check describes what is impossible in a row of a journal, nil if nothing is.
func (r *Row) check() error {
	if !slices.ContainsFunc(steps, func(s step) bool { return s.name == r.Step }) {
		return fmt.Errorf("there is no step %q", r.Step)
	}
	if !slices.Contains([]State{Began, OK, Differs, Failed, Skipped}, r.State) {
		return fmt.Errorf("there is no state %q", r.State)
	}
	return nil
}

// name is the key of an index.
func (r *Row) name() string { return r.Step + "\x00" + r.Key }

// take adds a row, in place of an earlier one of the same name.
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

// write adds a row and writes it to the log.
func (j *journal) write(r Row) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.take(r)
	return j.log.Append(r)
}

// done returns the row of a part, and whether the part need not be done again. A part for
// which there was no time is to be done now.
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

// do does a part of a step, unless it has been done, and writes its outcome. A panic is a
// failure of the part. The error is the journal's.
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

// guarded does a part; a panic becomes a failure.
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

func (j *journal) close() error { return j.log.Close() }
