package engine

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// The first record of a campaign's journal tells the configuration, every other one is what an
// epoch adds to the state, or a part of the state that a compaction has made of earlier epochs
// (compact.go).

// journalOptions are all that a campaign's findings depend on, besides the program.
type journalOptions struct {
	Seed       uint64   `json:"seed"`
	Generators []string `json:"generators"` // with versions
	Pairs      []string `json:"pairs"`
	PerBucket  int      `json:"per_bucket"`
	Most       int      `json:"max_findings"`
	Policies   []string `json:"policies"`
	Files      []string `json:"files,omitempty"` // of the targets that are made of files: their digests
	Plan       string   `json:"plan,omitempty"`  // see Config.Plan
	NoInfer    bool     `json:"no_infer,omitempty"`
	Effort     int      `json:"effort,omitempty"`
}

// journalVersion is raised whenever a campaign of the same options would find something else, or
// records change their meaning. It is 6 since defects have identities.
const journalVersion = 6

// journalKind describes the journals of campaigns.
func journalKind(by journal.Writer) journal.Kind[journalOptions] {
	return journal.Kind[journalOptions]{Of: "campaign", Version: journalVersion, By: by, Versions: versions.Current(), Differ: func(have, want journalOptions) error {
		return fmt.Errorf("%w: %s", ErrOtherCampaign, strings.Join(have.differences(&want), "; "))
	}}
}

// record is every other record: one of these.
type record struct {
	Epoch *delta      `json:"epoch,omitempty"`
	State *stateHead  `json:"state,omitempty"`
	Pair  *pairRecord `json:"pair,omitempty"`
}

// writer is the command that the campaign's journal belongs to.
func (c *Campaign) writer() journal.Writer {
	if c.cfg.Plan != "" {
		return journal.ByMerge
	}
	return journal.ByRun
}

func (c *Campaign) options() journalOptions {
	h := journalOptions{Seed: c.cfg.Seed, PerBucket: c.cfg.PerBucket, Most: c.cfg.MaxFindings, Plan: c.cfg.Plan, NoInfer: c.cfg.NoInfer, Effort: c.cfg.Effort}
	for _, p := range c.pairs {
		h.Pairs = append(h.Pairs, fmt.Sprintf("%s %s | %s %s", p.TargetA, p.A.Instruction().Name, p.TargetB, p.B.Instruction().Name))
		h.Policies = append(h.Policies, policyName(p.Policy))
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
func (h *journalOptions) addFiles(target, digest string) {
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

// differences lists where the options of a journal differ from the expected ones.
func (h *journalOptions) differences(want *journalOptions) []string {
	var d []string
	point := func(what string, have, want any) {
		if have != want {
			d = append(d, fmt.Sprintf("its %s is %v, not %v", what, have, want))
		}
	}
	if h.Plan != want.Plan {
		return []string{fmt.Sprintf("its plan is %s, not %s", cmp.Or(h.Plan, "none"), cmp.Or(want.Plan, "none"))}
	}
	point("seed", h.Seed, want.Seed)
	point("number of cases per bucket", h.PerBucket, want.PerBucket)
	point("number of findings kept", h.Most, want.Most)
	point("choice of --no-infer", h.NoInfer, want.NoInfer)
	point("effort", h.Effort, want.Effort)
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

// openJournal reads the journal, if there is one, and opens it for appending. Its findings are
// reported.
func (c *Campaign) openJournal() error {
	if err := c.checkDirectory(); err != nil {
		return err
	}
	kind := journalKind(c.writer())
	kind.Forget = c.prepare
	j, err := journal.Open(c.cfg.Journal, kind, c.asked, c.replay)
	if errors.Is(err, corpus.ErrInUse) {
		return fmt.Errorf("%s: %w", c.cfg.Journal, ErrInUse)
	}
	if err != nil {
		return err
	}
	c.jour = j
	if err := c.resume(); err != nil {
		c.jour = nil
		return errors.Join(err, j.Close())
	}
	return nil
}

// resume reports the findings that the journal has, and begins the journal if it has nothing.
func (c *Campaign) resume() error {
	found, err := c.state.findings()
	if err != nil {
		return fmt.Errorf("%s: %w", c.cfg.Journal, err)
	}
	for _, f := range found {
		c.finder.Resume(f)
	}
	if err := c.finder.Report(found); err != nil {
		return err
	}
	return errors.Join(c.jour.Begin(), c.compact())
}

// checkDirectory returns an error if the journal cannot be begun or resumed, where
// another command has written, or where something else is in the places of bundles: before
// there is a journal, so that a campaign that is refused leaves none.
func (c *Campaign) checkDirectory() error {
	dir, file := filepath.Split(c.cfg.Journal)
	if file == JournalFile {
		if err := journal.CheckWriter(filepath.Clean(dir), c.writer()); err != nil {
			return err
		}
	}
	if journal.HasRecords(c.cfg.Journal) {
		return nil // it tells which bundles are the campaign's
	}
	return c.finder.CheckPlaces()
}

// replay adds a record of the journal to the state.
func (c *Campaign) replay(r *record) error {
	return c.state.replay(r, func(pair int, d *finding.Sum, most uint64) error {
		if err := c.pairs[pair].CheckSum(d, c.state.Pairs[pair], pair, most); err != nil {
			return err
		}
		return c.learned(pair, d)
	})
}

// replay adds a record of a journal to a state. check returns what is impossible about a pair in
// it, which can have so many dot products at most.
func (s *State) replay(r *record, check func(pair int, d *finding.Sum, most uint64) error) error {
	switch {
	case r.Epoch != nil && r.State == nil && r.Pair == nil:
		return s.replayEpoch(r.Epoch, check)
	case r.State != nil && r.Epoch == nil && r.Pair == nil:
		return s.replayHead(r.State)
	case r.Pair != nil && r.Epoch == nil && r.State == nil:
		return s.replayPair(r.Pair, check)
	}
	return errors.New("it is not one of epoch, state and pair")
}

func (s *State) replayEpoch(d *delta, check func(pair int, d *finding.Sum, most uint64) error) error {
	switch {
	case s.missing > 0:
		return journal.Damaged(fmt.Errorf("%d pairs of the state before it are missing", s.missing))
	case d.Epoch != s.Epochs: // lines were lost, doubled or exchanged
		return journal.Damaged(fmt.Errorf("it is of epoch %d, expected epoch %d", d.Epoch, s.Epochs))
	case len(d.Pairs) != len(s.Pairs):
		return fmt.Errorf("it has %d pairs, expected %d", len(d.Pairs), len(s.Pairs))
	}
	for i := range d.Pairs {
		if err := check(i, &d.Pairs[i], finding.MaxEpochDots); err != nil {
			return fmt.Errorf("pair %d: %w", i, err)
		}
	}
	s.apply(d)
	return nil
}
