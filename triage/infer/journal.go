package infer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The journal of an inference has all questions with their answers, and what the searches found, in the
// order of the loop. An inference that is resumed takes the same course, since that
// depends on the seed and the answers alone; as long as there are records, it takes
// answers and findings from them. So nothing that a killed process had learned is asked
// twice.

// record is a line of the journal after the header: its number, from 0, and one of these.
type record struct {
	Number int      `json:"number,omitempty"`
	Ask    *asked   `json:"ask,omitempty"`
	Check  *checked `json:"check,omitempty"`
	Search *found   `json:"search,omitempty"`
}

// cost is what a record has cost.
type cost struct {
	Queries  int       `json:"queries"`
	Batches  int       `json:"batches"`
	Failures []Failure `json:"failures,omitempty"`
}

// asked is a batch of questions.
type asked struct {
	cost
	Sum    uint64   `json:"sum"` // of the operands
	N      int      `json:"n"`
	Codes  []byte   `json:"codes"` // results, as in the buffer of D
	Failed []int    `json:"failed,omitempty"`
	Why    []string `json:"why,omitempty"` // the unit failed on these
}

// checked is a batch on which a model was checked.
type checked struct {
	cost
	Sum    uint64        `json:"sum"`
	Failed bool          `json:"failed,omitempty"`
	Why    string        `json:"why,omitempty"`
	Wrong  []wrongAnswer `json:"wrong,omitempty"`
}

type wrongAnswer struct {
	Output int    `json:"output"`
	Code   uint64 `json:"code"`
}

// found is what a search found.
type found struct {
	Step    uint64       `json:"step"`  // loop.draws before the search
	Draws   uint64       `json:"draws"` // loop.draws after it
	Evals   int64        `json:"evals"` // dot products that models have computed
	Leaders []mma.Params `json:"leaders"`
	Nearest mma.Params   `json:"nearest"` // the best on inputs that were not chosen because a program was wrong on them
	Left    int          `json:"left"`
}

// ErrOtherInference is the error of a journal that belongs to another inference, or to
// another version of this program.
var ErrOtherInference = errors.New("the journal is of another inference")

// header is what is inferred, and the options: all that the questions depend on.
type header struct {
	Target  string      `json:"target" is:"target"`
	Files   string      `json:"files,omitempty" is:"target's digest"` // digest of the target's files
	Name    string      `json:"instruction" is:"instruction"`
	K       int         `json:"k" is:"K"`
	Formats mma.Formats `json:"formats" is:"formats"`
	Seed    uint64      `json:"seed" is:"seed"`
	Checks  int         `json:"checks" is:"number of checks"`
	Effort  int         `json:"effort" is:"effort"`
	NaN     string      `json:"nan" is:"comparison of NaNs (nan)"`
	Zero    string      `json:"zero" is:"comparison of zeros (zero)"`
}

// journalVersion is 7 since records have numbers.
const journalVersion = 7

// transcript is the records that are there and the journal for new ones. A nil transcript
// keeps nothing.
type transcript struct {
	log     *journal.Journal[record]
	records []*record // not yet used
	length  int       // of the journal, in records
}

func openJournal(path string, want header) (*transcript, error) {
	kind := journal.Kind[header]{Of: "inference", Version: journalVersion, By: journal.ByInfer, Versions: versions.Current(), Differ: func(have, want header) error {
		return fmt.Errorf("%w: %s", ErrOtherInference, strings.Join(journal.Differences(have, want), "; "))
	}}
	t := &transcript{}
	log, err := journal.Open(path, kind, want, func(r *record) error {
		if r.Number != t.length { // lines were lost, doubled or exchanged
			return journal.Damaged(fmt.Errorf("it is record %d, where record %d was to be", r.Number, t.length))
		}
		t.records, t.length = append(t.records, r), t.length+1
		return r.check(&want)
	})
	if err != nil {
		return nil, err
	}
	t.log = log
	return t, log.Begin()
}

// next takes the next record, nil if none is left. It must be the expected one.
func (t *transcript) next(expected func(r *record) bool) (*record, error) {
	if t == nil || len(t.records) == 0 {
		return nil, nil
	}
	r := t.records[0]
	if !expected(r) {
		return nil, fmt.Errorf("%w: it asks other questions", ErrOtherInference)
	}
	t.records = t.records[1:]
	return r, nil
}

func (t *transcript) write(r *record) error {
	if t == nil {
		return nil
	}
	r.Number = t.length
	t.length++
	return t.log.Append(r)
}

func (t *transcript) close() {
	if t != nil {
		t.log.Close()
	}
}
