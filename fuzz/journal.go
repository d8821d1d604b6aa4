package fuzz

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The journal is a corpus.Log. Its first record is a header with the campaign's
// configuration, every other record is the delta of an epoch. A journal that a program with
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

// journalVersion is 2 since buckets are primary causes.
const journalVersion = 2

func (c *Campaign) header() journalHeader {
	h := journalHeader{Version: journalVersion, Versions: versions.Current(), Seed: c.cfg.Seed, PerBucket: c.cfg.PerBucket, Most: c.cfg.MaxFindings, Plan: c.cfg.Plan}
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
	fresh := true
	var observed error // not one of reading the journal
	l, err := corpus.OpenLog(c.cfg.Journal, func(n int, body []byte) error {
		fresh = false
		d, err := c.replayRecord(n, body)
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
	if fresh {
		return c.jour.Record(c.header())
	}
	return nil
}

// replayRecord adds a record to the state. It returns the epoch's delta, nil for the header.
func (c *Campaign) replayRecord(n int, body []byte) (*delta, error) {
	if n == 0 {
		var have journalHeader
		if err := mma.JSONError(body, json.Unmarshal(body, &have)); err != nil {
			return nil, err
		}
		if err := have.Versions.Check(versions.Current()); err != nil {
			return nil, err
		}
		want := c.header()
		if !reflect.DeepEqual(have, want) {
			return nil, fmt.Errorf("%w: %s", ErrOtherCampaign, strings.Join(have.differences(&want), "; "))
		}
		return nil, nil
	}
	d := &delta{}
	if err := mma.JSONError(body, json.Unmarshal(body, d)); err != nil {
		return nil, err
	}
	if err := c.check(d); err != nil {
		return nil, err
	}
	c.state.apply(d)
	for i := range d.Pairs {
		for _, f := range d.Pairs[i].Findings {
			c.resumed[f] = true
		}
	}
	return d, nil
}
