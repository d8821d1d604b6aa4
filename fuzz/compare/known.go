package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// Known is a list of known differences on a day.
type Known struct {
	List *corpus.Known // nil: none
	Day  time.Time     // on which entries hold or have expired
}

// KnownUse says how an entry of a list was used.
type KnownUse struct {
	ID      string `json:"id"`
	Reason  string `json:"reason"`
	Expires string `json:"expires,omitempty"`
	Hits    int    `json:"hits"`  // differences that it covers
	State   string `json:"state"` // used, unused, unclear (as What says) or expired
	What    string `json:"what,omitempty"`
}

// Text says what the entry is, and what else is known of its use.
func (u *KnownUse) Text() string {
	text := strings.TrimSpace(u.Expires + " " + u.Reason)
	if u.What != "" {
		text += ": " + u.What
	}
	return text
}

// stateOf returns the state of a difference, and the entries of the list that cover at
// least a part of it. The state is known if entries that hold on the day cover all of it,
// expired if entries that have expired are needed for that, and otherwise unlisted: beyond are the kinds
// that no entry covers then.
func (k *Known) stateOf(d *Difference, unlisted string) (state string, hits []int, beyond []string) {
	if k.List == nil {
		return unlisted, nil, nil
	}
	known := true
	for _, scope := range d.scopes() {
		holds, listed := false, false
		for i := range k.List.Entries {
			e := &k.List.Entries[i]
			if !e.Covers(scope) {
				continue
			}
			if !slices.Contains(hits, i) {
				hits = append(hits, i)
			}
			listed, holds = true, holds || !e.Expired(k.Day)
		}
		if known = known && holds; !listed {
			beyond = append(beyond, scope.Detail)
		}
	}
	switch {
	case known:
		return StateKnown, hits, nil
	case beyond == nil:
		return StateExpired, hits, nil
	}
	return unlisted, hits, beyond
}

// Covers reports whether a finding of a campaign is a known difference, by the rule of its bucket, too.
func (k *Known) Covers(p *devices.Pair, f *fuzz.Case, rule string) bool {
	if k.List == nil {
		return false
	}
	kind := fuzz.Detail{Name: f.Detail, Class: f.Class, Cases: 1}
	d := NewDifference(p, &fuzz.Bucket{Name: f.Bucket, Cases: 1, Details: []fuzz.Detail{kind}}, f.Verdict, rule)
	state, _, _ := k.stateOf(&d, StateNew)
	return state == StateKnown
}

// SetStates sets the State and Known of differences, and returns how the list's entries were
// used. unlisted returns the state of a difference that the entries do not cover.
func (k *Known) SetStates(ds []Difference, unlisted func(d *Difference) string) (uses []KnownUse, n Counts) {
	uses = k.uses()
	for i := range ds {
		d := &ds[i]
		var hits []int
		var beyond []string
		d.State, hits, beyond = k.stateOf(d, unlisted(d))
		for _, h := range hits {
			uses[h].Hits++
			if e := &k.List.Entries[h]; d.Known == "" && e.Expired(k.Day) == (d.State == StateExpired) {
				d.Known = e.ID
			}
		}
		if d.Known != "" {
			d.Beyond = beyond
		}
		n.add(d.State)
	}
	for i := range uses {
		if u := &uses[i]; u.State == "" {
			u.State = "unused"
			if u.Hits > 0 {
				u.State = "used"
			} else if namesNoRule(k.List.Entries[i], ds) {
				u.What = "names no rule, so it does not say which defect is known; what was found is new"
			}
		}
	}
	return uses, n
}

// namesNoRule reports whether an entry is for one difference without its rule, of the kind of some that
// are recognised by theirs.
func namesNoRule(e corpus.KnownEntry, ds []Difference) bool {
	one := e.Difference != "" && e.Rule == ""
	e.Difference = ""
	return one && slices.ContainsFunc(ds, func(d Difference) bool { return d.rule() != "" && e.Covers(d.scopes()[0]) })
}

// uses returns the entries of the list, all without hits.
func (k *Known) uses() []KnownUse {
	uses := []KnownUse{}
	if k.List == nil {
		return uses
	}
	for _, e := range k.List.Entries {
		u := KnownUse{ID: e.ID, Reason: e.Reason, Expires: e.Expires}
		if e.Expired(k.Day) {
			u.State = "expired"
		}
		uses = append(uses, u)
	}
	return uses
}

// accept returns a list with the entries of another one, which may be nil, and with new entries
// for the differences that are news and that these do not cover on the day.
func (k *Known) accept(ds []Difference, reason string, list *corpus.Known) *corpus.Known {
	all := &corpus.Known{Version: corpus.KnownVersion, Entries: []corpus.KnownEntry{}}
	if list != nil {
		all.Entries = append(all.Entries, list.Entries...)
	}
	ids := map[string]bool{}
	for _, e := range all.Entries {
		ids[e.ID] = true
	}
	kept := &Known{List: all, Day: k.Day}
	news, _ := groups(ds, (*Difference).isNews)
	for _, g := range news {
		left := slices.DeleteFunc(g, func(d *Difference) bool {
			state, _, _ := kept.stateOf(d, "")
			return state == StateKnown
		})
		for _, e := range entriesOf(left, reason) {
			name := e.ID
			for n := 2; ids[e.ID]; n++ {
				e.ID = fmt.Sprintf("%s-%d", name, n)
			}
			ids[e.ID] = true
			all.Entries = append(all.Entries, e)
		}
	}
	return all
}

// listedMarks is the number of a difference's marks in an entry, which people read.
const listedMarks = 32

// entriesOf returns entries that cover the differences of an instruction of two machines:
// one, with the changes, for all differences that are explained, and one for each other.
func entriesOf(g []*Difference, reason string) []corpus.KnownEntry {
	if len(g) == 0 {
		return nil
	}
	var all []corpus.KnownEntry
	explained := corpus.KnownEntry{Reason: reason, Instruction: g[0].Instruction, Pair: []string{g[0].A, g[0].B}}
	for _, d := range g {
		if len(d.Changes) == 0 {
			e := explained
			if e.ID, e.Changes, e.Bucket, e.Rule = "known-"+d.ID, nil, d.Bucket, d.rule(); e.Rule == "" {
				e.Difference = d.ID
			}
			e.Marks = d.Marks[:min(len(d.Marks), listedMarks)]
			all = append(all, e)
			continue
		}
		if explained.ID == "" {
			explained.ID = "known-" + d.ID
		}
		for _, scope := range d.scopes() {
			for _, change := range scope.Changes {
				if !slices.Contains(explained.Changes, change) {
					explained.Changes = append(explained.Changes, change)
				}
			}
		}
	}
	if explained.ID != "" {
		all = append([]corpus.KnownEntry{explained}, all...)
	}
	return all
}
