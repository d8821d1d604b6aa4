package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// knownFlags are the flags of run and compare about lists of known differences.
type knownFlags struct {
	known, date        string
	writeKnown, reason string

	day       time.Time
	knownList *corpus.Known // of --known; nil: none

	file *corpus.Replacement // of --write-known, held from the beginning on; nil: none
	kept *corpus.Known       // what that file has already; nil: nothing
}

func (k *knownFlags) add(f *pflag.FlagSet) {
	f.StringVar(&k.known, "known", "", "`file` with a list of known differences (go doc ./corpus Known)")
	f.StringVar(&k.date, "date", "", "`date` for expiry, YYYY-MM-DD (default: today, UTC)")
	f.StringVar(&k.writeKnown, "write-known", "", "`file` for a list of known differences: what it has already, what --known has, and all that are left")
	f.StringVar(&k.reason, "reason", "", "`text`: why these are accepted")
}

func (k *knownFlags) check() (err error) {
	switch {
	case k.writeKnown != "" && k.reason == "":
		return hinted("add --reason TEXT: why these differences are accepted", "--write-known is given without --reason")
	case k.writeKnown == "" && k.reason != "":
		return hinted("add --write-known FILE", "--reason is given without --write-known")
	}
	if k.day, err = parseDate("date", k.date); k.date == "" {
		k.day = time.Now()
	}
	return err
}

// open reads the list of --known.
func (k *knownFlags) open() (err error) {
	if k.known == "" {
		return nil
	}
	k.knownList, err = corpus.OpenKnown(k.known)
	return withHint(err, "go doc ./corpus Known says what a list of known differences looks like")
}

// stateOf returns the state of a difference that is on no list, or else known if an
// entry that covers it holds today, or expired; and which entries cover it.
func (k *knownFlags) stateOf(d *difference, unlisted string) (state string, hits []int) {
	state = unlisted
	if k.knownList == nil {
		return state, nil
	}
	scope := d.scope()
	for i := range k.knownList.Entries {
		e := &k.knownList.Entries[i]
		if !e.Covers(scope) {
			continue
		}
		hits = append(hits, i)
		if !e.Expired(k.day) {
			state = stateKnown
		} else if state != stateKnown {
			state = stateExpired
		}
	}
	return state, hits
}

// settle gives differences their state, and returns what became of the list's entries.
// unlisted is the state of a difference that no entry covers.
func (k *knownFlags) settle(ds []difference, unlisted func(d *difference) string) (uses []knownUse, n tallies) {
	uses = k.uses()
	for i := range ds {
		d := &ds[i]
		var hits []int
		d.State, hits = k.stateOf(d, unlisted(d))
		for _, h := range hits {
			uses[h].Hits++
			if e := &k.knownList.Entries[h]; d.Known == "" && e.Expired(k.day) == (d.State == stateExpired) {
				d.Known = e.ID
			}
		}
		n.add(d.State)
	}
	for i := range uses {
		if u := &uses[i]; u.State == "" {
			u.State = "unused"
			if u.Hits > 0 {
				u.State = "used"
			}
		}
	}
	return uses, n
}

// uses returns the entries of the list, none used yet.
func (k *knownFlags) uses() []knownUse {
	uses := []knownUse{}
	if k.knownList == nil {
		return uses
	}
	for _, e := range k.knownList.Entries {
		u := knownUse{ID: e.ID, Reason: e.Reason, Expires: e.Expires}
		if e.Expired(k.day) {
			u.State = "expired"
		}
		uses = append(uses, u)
	}
	return uses
}

// hold begins the file of --write-known, so that nobody else writes it at the same time,
// and reads what it has already.
func (k *knownFlags) hold() (err error) {
	if k.writeKnown == "" {
		return nil
	}
	k.file, err = corpus.Replace(k.writeKnown)
	switch {
	case errors.Is(err, corpus.ErrInUse):
		return withHint(err, "wait for the other mmafuzz, or name another file with --write-known")
	case err != nil:
		return withHint(err, "name a file with --write-known that can be made or written")
	}
	info, err := os.Stat(k.writeKnown)
	if err != nil || !info.Mode().IsRegular() {
		return nil // nothing is there to be kept
	}
	k.kept, err = corpus.OpenKnown(k.writeKnown)
	return withHint(err, "its entries are kept, so it has to be a list of known differences: name another file with --write-known")
}

// write writes the list that --write-known asks for: what the file has already, as it
// is, what --known has beside that, and entries for what is left.
func (k *knownFlags) write(r *comparison) error {
	if k.file == nil {
		return nil
	}
	body, err := json.MarshalIndent(k.listOf(r, k.kept, k.knownList), "", "  ")
	if err != nil {
		return err
	}
	return commit(&k.file, append(body, '\n'))
}

// listOf returns the entries of lists, which may be nil, and entries for those of a
// result's differences that none of them covers today.
func (k *knownFlags) listOf(r *comparison, lists ...*corpus.Known) *corpus.Known {
	all := &corpus.Known{Version: corpus.KnownVersion, Entries: []corpus.KnownEntry{}}
	ids := map[string]bool{}
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, e := range list.Entries {
			if !ids[e.ID] {
				ids[e.ID] = true
				all.Entries = append(all.Entries, e)
			}
		}
	}
	kept := &knownFlags{day: k.day, knownList: all}
	groups, _ := r.inState(func(state string) bool { return state != stateKnown })
	for _, g := range groups {
		var left []*difference
		for _, d := range g {
			if state, _ := kept.stateOf(d, ""); state != stateKnown {
				left = append(left, d)
			}
		}
		for _, e := range entriesOf(left, k.reason) {
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
