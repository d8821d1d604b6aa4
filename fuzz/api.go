package fuzz

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What a campaign is made of. Its steps are in the packages engine and finding.
type (
	// Config says what a campaign does.
	Config = engine.Config
	// Observer is told of a campaign's progress.
	Observer = engine.Observer
	// Campaign is a campaign in progress: Run, State, Resumed, Complete, Unfinished, Unexplained.
	Campaign = engine.Campaign
	// State is all that a campaign knows after an epoch.
	State = engine.State
	// PairState is the state of one pair.
	PairState = finding.PairState
	// FirstLook is what the first inputs of a pair with a slow unit have shown.
	FirstLook = engine.FirstLook
	// Sum is what was compared of a pair and what was found.
	Sum = finding.Sum
	// Bucket is the differing cases of one primary cause.
	Bucket = finding.Bucket
	// Detail is cases of a bucket that need the same combination of labels.
	Detail = finding.Detail
	// Cause is the buckets of one primary cause, over all pairs.
	Cause = engine.Cause
	// Case is a differing case, with what was found out about it; a finding has all of it.
	Case = finding.Case
	// CaseRef names an input: a source of package gen and an index.
	CaseRef = finding.CaseRef
	// Sample is an input with the results of both sides.
	Sample = finding.Sample
	// Tally is a number of dot products, and how many of them differ.
	Tally = finding.Tally
	// Where says where in the space of inputs the differing cases of a pair lie.
	Where = finding.Where
	// Unexplained is what is known of a pair that no change of a program explains.
	Unexplained = finding.Unexplained
	// Inferred is what inference has found of a side of which nothing was known.
	Inferred = finding.Inferred
	// Unfinished describes a campaign that ended before it was complete.
	Unfinished = engine.Unfinished
	// Past is what can be read from the journal of a campaign without its targets.
	Past = engine.Past
	// GoneError reports that a target does not answer any more.
	GoneError = engine.GoneError
	// EndToEnd is the inner loop of a campaign.
	EndToEnd = engine.EndToEnd
)

// Constants of campaigns.
const (
	// Unstable is the bucket of findings that cannot be repeated.
	Unstable = finding.Unstable
	// JournalFile is the name of a campaign's journal in the campaign's directory.
	JournalFile = engine.JournalFile
	// DefaultFindings is the number of findings of two targets that are kept by default.
	DefaultFindings = engine.DefaultFindings
	// TriageRuns is how often TriageCase runs a case of units that may change their answers.
	TriageRuns = finding.TriageRuns
	// SpreadMost is the largest spread that Where counts separately.
	SpreadMost = finding.SpreadMost
	// Interrupted, NothingCompared: reasons why a campaign is unfinished.
	Interrupted     = engine.Interrupted
	NothingCompared = engine.NothingCompared
	// Unended is what Past.Incomplete says of a campaign that has not come to its end.
	Unended = engine.Unended
)

// Errors of campaigns.
var (
	// ErrAgree reports that two units do not differ on a case.
	ErrAgree = finding.ErrAgree
	// ErrOtherCampaign reports that a journal belongs to a campaign of another configuration.
	ErrOtherCampaign = engine.ErrOtherCampaign
	// ErrInUse reports that another process works on a journal.
	ErrInUse = engine.ErrInUse
)

// New prepares a campaign. If its journal has an earlier part of it, the campaign continues
// from there.
func New(cfg Config) (*Campaign, error) { return engine.New(cfg) }

// TriageCase explains and minimizes one case of a pair outside of a campaign. The evidence is
// fresh: inputs of every generator, and the case itself. cfg.Pairs holds just this pair.
// The error is ErrAgree if the two sides do not differ on it. Units that may change their answers
// are asked several times; a case that changes is unstable, and neither explained nor minimized.
func TriageCase(ctx context.Context, cfg Config, dot *mma.Dot) (*Case, error) {
	return engine.TriageCase(ctx, cfg, dot)
}

// Workers returns the number of workers that pairs have by default.
func Workers(pairs []devices.Pair) int { return engine.Workers(pairs) }

// Causes merges the buckets of a campaign, the largest first.
func Causes(s *State) []Cause { return engine.Causes(s) }

// LabelsIn returns the labels in a detail's name.
func LabelsIn(detail string) []string { return finding.LabelsIn(detail) }

// IsUnknown reports whether a target's arithmetic is to be found out, by its kind.
func IsUnknown(target string) bool { return finding.IsUnknown(target) }

// ReadPast reads the journal of a campaign, also of one that is running. Findings are as
// the journal has them: without Mismatch and Dir, and their dot products are not checked.
func ReadPast(journal string) (*Past, error) { return engine.ReadPast(journal) }

// HoldCampaignOf locks the journal of the campaign that a bundle belongs to, if there is one
// two directories above it, so that no run writes the bundle meanwhile. ErrInUse: one is at
// work.
func HoldCampaignOf(dir string) (release func() error, err error) { return engine.HoldCampaignOf(dir) }

// RemoveDir removes the directory of a campaign. It is an error, and nothing is removed, if
// something is there that no campaign has written.
func RemoveDir(dir string) error { return engine.RemoveDir(dir) }

// NewEndToEnd returns a loop over a pair of units and a source of ParseSource, such
// as raw. Neither side of the pair may be a recording.
func NewEndToEnd(pair devices.Pair, source gen.Source, seed uint64) (*EndToEnd, error) {
	return engine.NewEndToEnd(pair, source, seed)
}
