// Package decided has questions of package prove that take a solver some time, or a person, with
// their answers: whether a program computes the same function as an instruction's own, or an
// input on which it does not. What the ranges of numbers decide is not among them.
//
// The answers are data (decided.tsv), and a test of package fuzz/vectors, which asks the
// questions, finds those that are missing: go test ./fuzz/vectors -run TestDecided -update
// -timeout 0 -instructions ARCH/NAME,... A question is identified by both programs, so that an
// answer never outlives them.
//
// The API of this package is not promised: it may change in any version.
package decided

import (
	"crypto/sha256"
	_ "embed" // decided.tsv
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

//go:embed decided.tsv
var table string

// Answer is the answer to a question.
type Answer struct {
	// Verdict is same or differs, or open: the solver did not answer within its time.
	Verdict string
	// Input is where the programs differ, in the text form of eval; of a verdict Argued it is
	// the argument.
	Input string
}

// Equal reports whether the programs compute the same function.
func (a Answer) Equal() bool { return a.Verdict == Same || a.Verdict == Argued }

// The verdicts.
const (
	Same    = "same"
	Differs = "differs"
	Open    = "open"
	Argued  = "argued" // same, by an argument that a person has written, since no solver answers
)

// Key identifies the question whether two programs compute the same function.
func Key(f mma.Formats, k int, p, q *mma.Params) string {
	text, err := json.Marshal([]any{f, k, mma.Diff(&mma.Params{}, p), mma.Diff(p, q)})
	if err != nil {
		panic(err) // plain data always encodes
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:6])
}

// Row is a row of the table.
type Row struct {
	Key         string
	Instruction string
	Change      string // PATH=VALUE, with blanks between several
	Answer
}

// Rows returns the table.
func Rows() []Row {
	var all []Row
	for line := range strings.Lines(table) {
		if line[0] == '#' {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 5 {
			panic(fmt.Sprintf("decided.tsv: %q has %d columns, 5 are needed", line, len(cells)))
		}
		all = append(all, Row{cells[0], cells[1], cells[2], Answer{Verdict: cells[3], Input: cells[4]}})
	}
	return all
}

// answers are the rows of the table by key.
var answers = sync.OnceValue(func() map[string]Answer {
	all := map[string]Answer{}
	for _, r := range Rows() {
		all[r.Key] = r.Answer
	}
	return all
})

// Of returns the answer to a question; ok is false if the table does not have it.
func Of(f mma.Formats, k int, p, q *mma.Params) (a Answer, ok bool) {
	a, ok = answers()[Key(f, k, p, q)]
	return a, ok
}
