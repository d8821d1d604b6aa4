package infer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The journal of an inference is a corpus.Log: a header with what is inferred and the
// options, then all questions with their answers, and what the searches found, in the
// order of the loop. An inference that is resumed takes the same course, since that
// depends on the seed and the answers alone; as long as there are records, it takes
// answers and findings from them. So nothing that a killed process had learned is asked
// again.

// record is a line of the journal after the header: one of these.
type record struct {
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
	Left    int          `json:"left"`
}

// ErrOtherInference is the error of a journal that belongs to another inference, or to
// another version of this program.
var ErrOtherInference = errors.New("the journal is of another inference")

// header must be the same when an inference is resumed.
type header struct {
	Version int `json:"v"`
	// Versions of what the questions and the programs are made of.
	Versions corpus.Versions `json:"versions"`
	Target   string          `json:"target"`
	Files    string          `json:"files,omitempty"` // digest of the target's files
	Name     string          `json:"instruction"`
	K        int             `json:"k"`
	Formats  mma.Formats     `json:"formats"`
	Seed     uint64          `json:"seed"`
	Checks   int             `json:"checks"`
	Effort   int             `json:"effort"`
	NaN      string          `json:"nan"`
	Zero     string          `json:"zero"`
}

// differences lists the points in which a journal's header is not the expected one.
func (h *header) differences(want *header) string {
	var d []string
	for _, p := range []struct {
		what       string
		have, want any
	}{
		{"version", h.Version, want.Version}, {"target", h.Target, want.Target}, {"target's digest", h.Files, want.Files},
		{"instruction", h.Name, want.Name}, {"K", h.K, want.K}, {"formats", h.Formats, want.Formats},
		{"seed", h.Seed, want.Seed}, {"number of checks", h.Checks, want.Checks}, {"effort", h.Effort, want.Effort},
		{"comparison of NaNs (nan)", h.NaN, want.NaN}, {"comparison of zeros (zero)", h.Zero, want.Zero},
	} {
		if p.have != p.want {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", p.what, p.have, p.want))
		}
	}
	return strings.Join(d, "; ")
}

// journalVersion is 5 since the search is made in attempts.
const journalVersion = 5

// journal is the records that are there and the log for new ones. A nil journal
// keeps nothing.
type journal struct {
	log     *corpus.Log
	records []record // not yet used
}

func openJournal(path string, want header) (*journal, error) {
	j := &journal{}
	fresh := true
	log, err := corpus.OpenLog(path, func(n int, body []byte) error {
		if n > 0 {
			var r record
			if err := mma.JSONError(body, json.Unmarshal(body, &r)); err != nil {
				return err
			}
			if err := r.check(&want); err != nil {
				return err
			}
			j.records = append(j.records, r)
			return nil
		}
		fresh = false
		var have header
		if err := mma.JSONError(body, json.Unmarshal(body, &have)); err != nil {
			return err
		}
		if err := have.Versions.Check(versions.Current()); err != nil {
			return err
		}
		if have != want {
			return fmt.Errorf("%w: %s", ErrOtherInference, have.differences(&want))
		}
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

// next takes the next record, nil if none is left. It must be the expected one.
func (j *journal) next(expected func(r *record) bool) (*record, error) {
	if j == nil || len(j.records) == 0 {
		return nil, nil
	}
	r := &j.records[0]
	if !expected(r) {
		return nil, fmt.Errorf("%w: it asks other questions", ErrOtherInference)
	}
	j.records = j.records[1:]
	return r, nil
}

func (j *journal) write(r *record) error {
	if j == nil {
		return nil
	}
	return j.log.Record(r)
}

func (j *journal) close() {
	if j != nil {
		j.log.Close()
	}
}
