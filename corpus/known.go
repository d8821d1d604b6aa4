package corpus

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Known is a list of known differences, so that a nightly comparison fails only on
// something new. It is a JSON file:
//
//	{
//	  "v": 1,
//	  "known": [
//	    {
//	      "id": "HOPPER-F25",
//	      "reason": "Hopper keeps 25 bits below the largest exponent, Ampere 24",
//	      "expires": "2027-06-30",
//	      "instruction": "mma.*",
//	      "pair": ["a100*", "h100*"],
//	      "labels": ["truncation-width"],
//	      "changes": ["join.align.f 24→25"]
//	    }
//	  ]
//	}
//
// An entry covers a difference if all of its scope fits; a part of the scope that
// is missing fits everything. In patterns, * stands for anything.
//
//	instruction  pattern for the name of the instruction, or of either if the machines have one each
//	pair         two patterns for the names of the machines, in either order
//	bucket       pattern for the primary cause, or for the kind of cases beneath it:
//	             a+b, a|b, :CLASS
//	labels       all labels of the kind of cases are in this list
//	changes      the difference is explained, and all changes that explain the cases are
//	             in this list: PATH FROM→TO or PATH FROM->TO, from the first machine
//	             of pair to the second; without pair, from either to the other
//	rule         pattern for the rule of a defect, or for what results depend on in a tile or on
//	             what came before, with the target that has it
//	difference   id of this one difference, as compare prints it
//
// What run and compare call defect, layout or schedule is known by its rule, not by the cases that show it:
// another rule is another difference. If its words change with the inputs that were asked, such as
// the bound of a condition, it is new. A layout without a rule is known by its cases alone. An entry
// without a rule that was made for one defect, as earlier versions did, covers none, and a line says so.
//
// By marks, some of a difference's cases, compare finds it again among others that nothing explains.
//
// A difference of several kinds of cases is known if each of them is covered. Lists that
// were made when every kind was a difference of its own are read as they are; their
// ids of differences may no longer occur, and compare then lists the entries as unused.
//
// The last day on which an entry holds is expires; without it, it holds for ever.
// A difference that only an expired entry covers counts as new.
type Known struct {
	Version int          `json:"v"`
	Entries []KnownEntry `json:"known"`
}

// KnownEntry is a known difference, or many with one reason.
type KnownEntry struct {
	ID      string `json:"id"`
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"` // YYYY-MM-DD

	Instruction string   `json:"instruction,omitempty"`
	Pair        []string `json:"pair,omitempty"`
	Bucket      string   `json:"bucket,omitempty"`
	Labels      []string `json:"labels,omitempty"`
	Changes     []string `json:"changes,omitempty"`
	Rule        string   `json:"rule,omitempty"`
	Difference  string   `json:"difference,omitempty"`
	Marks       Marks    `json:"marks,omitempty"`
}

// KnownVersion is the version of lists of known differences.
const KnownVersion = 1

// DateLayout is how dates are written.
const DateLayout = time.DateOnly

const maxKnownFile = 16 << 20

// OpenKnown reads a list of known differences from a file.
func OpenKnown(file string) (*Known, error) {
	f, err := Open(file, "list of known differences", maxKnownFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	k, err := ReadKnown(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

// ReadKnown reads a list of known differences.
func ReadKnown(r io.Reader) (*Known, error) {
	k := &Known{}
	if err := readStrict(r, "list of known differences", maxKnownFile, KnownVersion, k); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for n := range k.Entries {
		e := &k.Entries[n]
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("entry %d: %w", n+1, err)
		}
		if ids[e.ID] {
			return nil, fmt.Errorf("entry %d: %s is the id of another entry", n+1, e.ID)
		}
		ids[e.ID] = true
	}
	return k, nil
}

func (e *KnownEntry) check() error {
	if err := checkName("the id", e.ID); err != nil {
		return err
	}
	if e.Reason == "" {
		return fmt.Errorf("%s has no reason", e.ID)
	}
	if e.Pair != nil && len(e.Pair) != 2 {
		return fmt.Errorf("%s: a pair is two machines, not %d", e.ID, len(e.Pair))
	}
	if e.Labels != nil && len(e.Labels) == 0 || e.Changes != nil && len(e.Changes) == 0 {
		return fmt.Errorf("%s: an empty list of labels or changes covers nothing: leave it out", e.ID)
	}
	for _, c := range e.Changes {
		if !strings.Contains(c, "→") && !strings.Contains(c, "->") {
			return fmt.Errorf("%s: %q is no change of the form PATH FROM→TO", e.ID, c)
		}
	}
	if e.scopeless() {
		return fmt.Errorf("%s has no scope: it would cover everything", e.ID)
	}
	if _, err := time.Parse(DateLayout, e.Expires); e.Expires != "" && err != nil {
		return fmt.Errorf("%s: expires is %q, not a date such as 2027-06-30", e.ID, e.Expires)
	}
	return nil
}

func (e *KnownEntry) scopeless() bool {
	return e.Instruction == "" && e.Pair == nil && e.Bucket == "" && e.Labels == nil && e.Changes == nil && e.Rule == "" && e.Difference == ""
}

// Difference is a difference of two machines, as far as the scopes of entries go.
type Difference struct {
	ID           string
	A, B         string   // machines
	Instructions []string // one, or A's and B's
	Bucket       string   // primary cause
	Detail       string   // the kind of cases beneath it; "": all of the bucket
	Labels       []string
	Changes      []string // PATH FROM→TO, from A to B; none: it is not explained
	Rule         string   // Identity of its Defect
}

// Covers reports whether a difference is in an entry's scope.
func (e *KnownEntry) Covers(d *Difference) bool {
	return (e.Difference == "" || e.Difference == d.ID) &&
		(e.Rule == "" || matches(e.Rule, d.Rule)) &&
		(e.Instruction == "" || slices.ContainsFunc(d.Instructions, func(i string) bool { return matches(e.Instruction, i) })) &&
		(e.Bucket == "" || matches(e.Bucket, d.Bucket) || d.Detail != "" && matches(e.Bucket, d.Detail)) &&
		(e.Labels == nil || subset(d.Labels, e.Labels)) &&
		(e.coversFrom(d.A, d.B, d.Changes, false) || e.coversFrom(d.B, d.A, d.Changes, true))
}

// coversFrom reports whether the machines are those of the entry in this order, and
// the changes among its changes, which are turned if the machines are.
func (e *KnownEntry) coversFrom(a, b string, changes []string, turned bool) bool {
	if e.Pair != nil && !(matches(e.Pair[0], a) && matches(e.Pair[1], b)) {
		return false
	}
	if e.Changes == nil {
		return true
	}
	list := make([]string, len(e.Changes))
	for i, text := range e.Changes {
		list[i] = arrow(text, turned)
	}
	return len(changes) > 0 && subset(changes, list)
}

// arrow writes a change PATH FROM->TO with an arrow, turned if need be.
func arrow(change string, turned bool) string {
	change = strings.Replace(change, "->", "→", 1)
	path, values, ok := strings.Cut(change, " ")
	from, to, both := strings.Cut(values, "→")
	if !turned || !ok || !both {
		return change
	}
	return path + " " + to + "→" + from
}

// Expired reports whether an entry no longer holds on a day.
func (e *KnownEntry) Expired(day time.Time) bool {
	return e.Expires != "" && day.UTC().Format(DateLayout) > e.Expires
}

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}
