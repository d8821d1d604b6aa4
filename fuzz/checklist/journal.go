package checklist

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
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

// outcomes holds the rows so far, and the journal that has them.
type outcomes struct {
	mu    sync.Mutex
	log   *journal.Journal[Row]
	rows  []Row
	index map[string]int // from a row's name to its place in rows
	began map[string]int // how often the part of that name was begun
}

// header must be the same when a checklist is resumed.
type header struct {
	Target string `json:"target" is:"target"`
}

// errOtherChecklist reports that a journal belongs to the checklist of another target.
var errOtherChecklist = errors.New("the journal is of another checklist")

// openJournal reads what an earlier part of the run has written.
func openJournal(path, target string) (*outcomes, error) {
	kind := journal.Kind[header]{Of: "checklist", Version: 3, By: journal.ByChecklist, Versions: versions.Current(), Differ: func(have, want header) error {
		return fmt.Errorf("%w: %s", errOtherChecklist, strings.Join(journal.Differences(have, want), "; "))
	}}
	o := &outcomes{index: map[string]int{}, began: map[string]int{}}
	log, err := journal.Open(path, kind, header{target}, func(r *Row) error {
		if err := r.check(); err != nil {
			return err
		}
		printable.Strings(r)
		o.take(*r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.log = log
	return o, log.Begin()
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
func (o *outcomes) take(r Row) {
	if r.State == Began {
		o.began[r.name()]++
		return
	}
	if i, ok := o.index[r.name()]; ok {
		o.rows[i] = r
		return
	}
	o.index[r.name()] = len(o.rows)
	o.rows = append(o.rows, r)
}

// write adds a row and writes it to the log.
func (o *outcomes) write(r Row) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.take(r)
	return o.log.Append(&r)
}

// done returns the row of a part, and whether the part need not be done again. A part for
// which there was no time is to be done now.
func (o *outcomes) done(step, key string) (Row, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := Row{Step: step, Key: key}
	if i, ok := o.index[r.name()]; ok && o.rows[i].Text != noTime {
		return o.rows[i], true
	}
	return r, false
}

// noTime is the text of a part that was not reached.
const noTime = "not reached: no time left"

// do does a part of a step, unless it has been done, and writes its outcome. A panic is a
// failure of the part. The error is the journal's.
func (o *outcomes) do(step, key string, part func() Row) error {
	if _, ok := o.done(step, key); ok {
		return nil
	}
	r := Row{Step: step, Key: key}
	if o.began[r.name()] >= attempts {
		r.State, r.Text = Failed, fmt.Sprintf("it has ended the program %d times and is left alone", attempts)
		return o.write(r)
	}
	r.State = Began
	if err := o.write(r); err != nil {
		return err
	}
	r = guarded(part)
	r.Step, r.Key = step, key
	return o.write(r)
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
func (o *outcomes) of(step string) []Row {
	o.mu.Lock()
	defer o.mu.Unlock()
	var rows []Row
	for _, r := range o.rows {
		if r.Step == step {
			rows = append(rows, r)
		}
	}
	return rows
}

func (o *outcomes) close() error { return o.log.Close() }
