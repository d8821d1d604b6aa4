package study

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The tables are text files of tab-separated columns under testdata. Their first
// line holds the digest of what they were made from, so that a test notices when
// they are out of date without making them anew, which takes hours.

// Digest identifies what the tables are made from: arithmetics, mutants,
// generators, and the limits of the searches.
func Digest() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	put := func(v any) {
		if err := enc.Encode(v); err != nil {
			panic("study: " + err.Error()) // plain data always encodes
		}
	}
	for _, i := range Arithmetics() {
		put([]any{i.FullName(), i.Formats, i.K, i.Params})
		for _, s := range triage.Singles(i.Params, i.Formats, i.K) {
			put([]any{s.Knob, s.Params})
		}
	}
	for _, g := range Generators() {
		put([]any{g.Name, g.Version, g.M, g.N})
	}
	for _, a := range arguments {
		put([]any{a.Name, a.Text})
	}
	put([]any{SeparateFirst, SeparateMost, separateChunk, sameMost, evidenceRounds, evidenceMost})
	return hex.EncodeToString(h.Sum(nil))
}

const digestLine = "# made from "

// writeHead writes the first lines of a table.
func writeHead(w io.Writer, command string, columns ...string) {
	fmt.Fprintf(w, "%s%s\n# by %s\n%s\n", digestLine, Digest(), command, strings.Join(columns, "\t"))
}

// ReadTable reads a table's digest and its rows of cells.
func ReadTable(r io.Reader) (digest string, rows [][]string, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	head := true
	for lines.Scan() {
		text := lines.Text()
		switch {
		case strings.HasPrefix(text, digestLine):
			digest = strings.TrimPrefix(text, digestLine)
		case strings.HasPrefix(text, "#"):
		case head:
			head = false
		default:
			rows = append(rows, strings.Split(text, "\t"))
		}
	}
	return digest, rows, lines.Err()
}

// SeparationCommand is the command that makes the separation table.
const SeparationCommand = "mmafuzz selfcheck generators"

// WriteSeparations writes the separation table.
func WriteSeparations(w io.Writer, seps []*Separation) error {
	b := bufio.NewWriter(w)
	columns := []string{"base", "other", "change", "argument", "inputs"}
	for _, g := range Generators() {
		columns = append(columns, g.Name)
	}
	writeHead(b, SeparationCommand, columns...)
	for _, s := range seps {
		cells := []string{s.Base, s.Other, changeText(s.Change), orDash(s.Argument), fmt.Sprint(s.Limit)}
		for _, n := range s.First {
			if n == 0 {
				cells = append(cells, "-")
			} else {
				cells = append(cells, fmt.Sprint(n))
			}
		}
		fmt.Fprintln(b, strings.Join(cells, "\t"))
	}
	return b.Flush()
}

// ParseSeparation is the inverse of a row of WriteSeparations, but for the
// changes, which stay text.
func ParseSeparation(cells []string) (s Separation, change string, err error) {
	if len(cells) != 5+len(Generators()) {
		return s, "", fmt.Errorf("%d columns", len(cells))
	}
	s = Separation{Base: cells[0], Other: cells[1], Argument: strings.TrimPrefix(cells[3], "-")}
	if s.Limit, err = strconv.ParseUint(cells[4], 10, 64); err != nil {
		return s, "", err
	}
	for _, c := range cells[5:] {
		var n uint64
		if c != "-" {
			if n, err = strconv.ParseUint(c, 10, 64); err != nil {
				return s, "", err
			}
		}
		s.First = append(s.First, n)
	}
	return s, cells[2], nil
}

// ConfusionCommand is the command that makes the confusion table.
const ConfusionCommand = "mmafuzz selfcheck triage"

// WriteOutcomes writes the confusion table.
func WriteOutcomes(w io.Writer, outs []*Outcome) error {
	b := bufio.NewWriter(w)
	writeHead(b, ConfusionCommand, "base", "knob", "change", "labels", "result", "verdict", "its labels", "equals", "differing cases", "asked")
	for _, o := range outs {
		fmt.Fprintln(b, strings.Join(o.cells(), "\t"))
	}
	return b.Flush()
}

func (o *Outcome) cells() []string {
	return []string{
		o.Base, o.Knob, changeText(o.Change), triage.Join(o.Labels), string(o.Result),
		orDash(changeText(o.Got)), orDash(labelText(o.GotBy)), fmt.Sprint(o.Equals), fmt.Sprint(o.Differ), fmt.Sprint(o.Asked),
	}
}

func labelText(ls []triage.Label) string {
	if len(ls) == 0 {
		return ""
	}
	return triage.Join(ls)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// changeText writes changes in one cell.
func changeText(changes []mma.Change) string {
	s := make([]string, len(changes))
	for i, c := range changes {
		s[i] = c.String()
	}
	return strings.Join(s, ", ")
}

// MinimizerCommand is the command that makes the minimizer table.
const MinimizerCommand = "mmafuzz selfcheck minimizer"

// WriteShrinkings writes the minimizer table.
func WriteShrinkings(w io.Writer, all []*Shrinking) error {
	b := bufio.NewWriter(w)
	writeHead(b, MinimizerCommand, "a", "b", "findings", "terms before", "terms after", "queries", "batches", "worst batches", "1-minimal")
	for _, s := range all {
		fmt.Fprintln(b, strings.Join(s.cells(), "\t"))
	}
	return b.Flush()
}

func (s *Shrinking) cells() []string {
	return []string{
		s.A, s.B, fmt.Sprint(s.Findings), fmt.Sprintf("%.1f", s.TermsBefore), fmt.Sprintf("%.1f", s.TermsAfter),
		fmt.Sprintf("%.0f", s.Queries), fmt.Sprintf("%.1f", s.Batches), fmt.Sprint(s.WorstBatches), fmt.Sprint(s.Minimal),
	}
}

// ModelsCommand is the command that makes the table of models and oracle.
const ModelsCommand = "mmafuzz selfcheck models"

// WriteModels writes the comparison of models and oracle.
func WriteModels(w io.Writer, checks []*ModelCheck) error {
	b := bufio.NewWriter(w)
	writeHead(b, ModelsCommand, "operation", "arithmetics", "raw", "directed", "mismatches")
	for _, c := range checks {
		fmt.Fprintf(b, "%s\t%d\t%d\t%d\t%d\n", c.Operation, c.Arithmetics, c.Raw, c.Directed, c.Mismatches)
	}
	return b.Flush()
}
