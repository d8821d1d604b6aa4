package fuzz

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The journal is a corpus.Log. Its first record is a header with the campaign's
// configuration, every other record is the delta of an epoch after those of the
// snapshot (compact.go). A journal that a program with
// another catalogue, other generators or formats has begun is refused with
// corpus.ErrOtherVersion.

// journalHeader must be the same when a campaign is resumed.
//
// Version is raised whenever a campaign of the same configuration would find something else,
// or records change their meaning. Versions are digests of the data that results depend on.
type journalHeader struct {
	Version    int             `json:"v"`
	Versions   corpus.Versions `json:"versions"`
	Seed       uint64          `json:"seed"`
	Generators []string        `json:"generators"` // with versions
	Pairs      []string        `json:"pairs"`
	PerBucket  int             `json:"per_bucket"`
	Most       int             `json:"max_findings"`
	Policies   []string        `json:"policies"`
	Files      []string        `json:"files,omitempty"` // of the targets that are made of files: their digests
	Plan       string          `json:"plan,omitempty"`  // see Config.Plan
}

// journalVersion is 2 since buckets are primary causes, 3 since it may have a snapshot. A journal of
// version 2 is read, and stays one that programs of that version read: it is not compacted.
const (
	journalVersion = 3
	plainJournal   = 2
)

func (c *Campaign) header() journalHeader {
	version := journalVersion
	if !c.compacts {
		version = plainJournal
	}
	h := journalHeader{Version: version, Versions: versions.Current(), Seed: c.cfg.Seed, PerBucket: c.cfg.PerBucket, Most: c.cfg.MaxFindings, Plan: c.cfg.Plan}
	for _, p := range c.pairs {
		h.Pairs = append(h.Pairs, fmt.Sprintf("%s %s | %s %s", p.TargetA, p.A.Instruction().Name, p.TargetB, p.B.Instruction().Name))
		h.Policies = append(h.Policies, policyName(p.policy))
		var names []string
		for _, s := range p.sources {
			names = append(names, s.String())
		}
		h.Generators = append(h.Generators, strings.Join(names, " "))
		h.addFiles(p.TargetA, p.DigestA)
		h.addFiles(p.TargetB, p.DigestB)
	}
	return h
}

// addFiles adds the files of a target, once.
func (h *journalHeader) addFiles(target, digest string) {
	if text := target + " (" + digest + ")"; digest != "" && !slices.Contains(h.Files, text) {
		h.Files = append(h.Files, text)
	}
}

func policyName(p oracle.Policy) string {
	return fmt.Sprintf("NaNs by %s, zeros by %s", p.NaN, p.Zero)
}

// ErrOtherCampaign reports that a journal belongs to a campaign of another
// configuration.
var ErrOtherCampaign = errors.New("the directory holds another campaign")

// ErrInUse reports that another process works on a journal.
var ErrInUse = errors.New("another process is working in this directory")

// differences lists where a journal's header differs from the expected one.
func (h *journalHeader) differences(want *journalHeader) []string {
	var d []string
	point := func(what string, have, want any) {
		if have != want {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", what, have, want))
		}
	}
	if h.Version != want.Version {
		return []string{fmt.Sprintf("its journal is of version %d, this program writes version %d", h.Version, want.Version)}
	}
	if h.Plan != want.Plan {
		return []string{fmt.Sprintf("its plan is %s, not %s", cmp.Or(h.Plan, "none"), cmp.Or(want.Plan, "none"))}
	}
	point("seed", h.Seed, want.Seed)
	point("number of cases per bucket", h.PerBucket, want.PerBucket)
	point("number of findings kept", h.Most, want.Most)
	point("number of pairs", len(h.Pairs), len(want.Pairs))
	if n := len(h.Pairs); n != len(want.Pairs) || n != len(h.Policies) || n != len(h.Generators) {
		return d
	}
	if slices.Equal(h.Pairs, want.Pairs) && !slices.Equal(h.Files, want.Files) {
		return append(d, fmt.Sprintf("it was begun with %s, which is now %s", filesText(h.Files), filesText(want.Files)))
	}
	for i := range h.Pairs {
		point("pair", h.Pairs[i], want.Pairs[i])
		point("comparison", h.Policies[i], want.Policies[i])
		point("list of generators", h.Generators[i], want.Generators[i])
		if d != nil {
			break // one example is enough
		}
	}
	return d
}

func filesText(files []string) string {
	if len(files) == 0 {
		return "files that it does not tell"
	}
	return strings.Join(files, " and ")
}

// openJournal reads the journal, if there is one, and opens it for appending.
func (c *Campaign) openJournal() error {
	if err := c.checkDirectory(); err != nil {
		return err
	}
	fresh, stale := true, false
	var observed error // not one of reading the journal
	l, err := corpus.OpenLog(c.cfg.Journal, func(n int, body []byte) error {
		fresh = false
		if n == 0 {
			if err := c.replayHeader(body); err != nil {
				return err
			}
			observed = c.reportSnapshot()
			return observed
		}
		d, err := c.replayRecord(body)
		if err == nil {
			stale = stale || d == nil
		}
		if err == nil && d != nil {
			observed = c.reportAll(d)
			return observed
		}
		return err
	})
	if observed != nil {
		return observed
	}
	if errors.Is(err, corpus.ErrInUse) {
		return fmt.Errorf("%s: %w", c.cfg.Journal, ErrInUse)
	}
	if err != nil {
		return err
	}
	c.jour = l
	switch {
	case fresh: // a snapshot without a journal is of nothing
		if err := os.Remove(c.cfg.Journal + stateSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return c.jour.Record(c.header())
	case stale && c.state.Epochs == c.state.base:
		if err := c.jour.DropTail(); err != nil {
			return err
		}
	}
	return c.compact()
}

// checkDirectory returns an error if the journal cannot be begun, or gone on from, where
// another command has written, or where something else is in the places of bundles: before
// there is a journal, so that a campaign that is refused leaves none.
func (c *Campaign) checkDirectory() error {
	dir, file := filepath.Split(c.cfg.Journal)
	me := corpus.ByRun
	if c.cfg.Plan != "" {
		me = corpus.ByMerge
	}
	if file == JournalFile {
		if err := corpus.CheckWriter(filepath.Clean(dir), me); err != nil {
			return err
		}
	}
	if corpus.HasRecords(c.cfg.Journal) {
		return nil // it tells which bundles are the campaign's
	}
	return c.finder.CheckPlaces()
}

// replayHeader checks the header, and reads the snapshot.
func (c *Campaign) replayHeader(body []byte) error {
	var have journalHeader
	if json.Unmarshal(body, &have) != nil || have.Version == 0 {
		return errors.New("the first line is not that of a campaign: the file is damaged, or something else")
	}
	if err := have.Versions.Check(versions.Current()); err != nil {
		return err
	}
	c.compacts = have.Version != plainJournal
	want := c.header()
	if !reflect.DeepEqual(have, want) {
		return fmt.Errorf("%w: %s", ErrOtherCampaign, strings.Join(have.differences(&want), "; "))
	}
	if !c.compacts {
		return nil
	}
	campaign, err := c.digest()
	if err == nil {
		c.snapshot, err = c.state.load(c.cfg.Journal, campaign, func(i int, d *Sum) error {
			return c.pairs[i].checkDelta(d, c.state.Pairs[i], i, maxStateDots)
		})
	}
	return err
}

// reportSnapshot reports the findings of the snapshot.
func (c *Campaign) reportSnapshot() error {
	all, err := c.state.findings()
	if err != nil {
		return err
	}
	for _, f := range all {
		c.finder.Resume(f)
	}
	return c.finder.Report(all)
}

// digest identifies the campaign.
func (c *Campaign) digest() (string, error) {
	head, err := json.Marshal(c.header())
	return digestOf(head), err
}

// digestOf is the digest of the header of a journal.
func digestOf(header []byte) string {
	sum := sha256.Sum256(header)
	return hex.EncodeToString(sum[:8])
}

// has reports whether the record of an epoch, the next one in a journal, is one that the
// snapshot has.
func (s *State) has(d *delta) bool { return d.Epoch >= 0 && d.Epoch < s.base && s.Epochs == s.base }

// replayRecord adds a record to the state. It returns the epoch's delta, nil for one that
// the snapshot has.
func (c *Campaign) replayRecord(body []byte) (*delta, error) {
	d := &delta{}
	if err := mma.JSONError(body, json.Unmarshal(body, d)); err != nil {
		return nil, err
	}
	if c.state.has(d) {
		return nil, nil
	}
	if err := c.check(d); err != nil {
		return nil, err
	}
	c.state.apply(d)
	for i := range d.Pairs {
		for _, f := range d.Pairs[i].Findings {
			c.finder.Resume(f)
		}
	}
	return d, nil
}
