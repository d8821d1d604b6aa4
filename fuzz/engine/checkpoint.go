package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The checkpoint is a second journal, beside that of the campaign, for the epoch in progress. It
// has the results of the units that are done, the place where the time limit cut the epoch, and
// what triage has so far: answers of slow units, verdicts and findings. When the epoch is
// complete, its delta is written to the journal and the checkpoint is removed. So it does
// not make the journal longer, and an epoch shorter than checkpointEvery never has one.
//
// It does not change what is found: work that is missing in it is done again.

// checkpointEvery is how long finished work waits until it is written. A kill loses that much
// work, and what was in progress.
const checkpointEvery = 2 * time.Second

// checkpointSuffix is added to the journal's name.
const checkpointSuffix = ".epoch"

// CheckpointFile is the name of the checkpoint in a campaign's directory.
const CheckpointFile = JournalFile + checkpointSuffix

// checkpointHead tells which epoch it is of.
type checkpointHead struct {
	Campaign string `json:"campaign"` // digest of the journal's options
	Epoch    int    `json:"epoch"`
}

// checkpointRecord is every other record.
type checkpointRecord struct {
	Units    []*unitRecord     `json:"units,omitempty"`
	Cut      []int             `json:"cut,omitempty"` // units of each pair that the epoch is to have
	Answers  []*answerRecord   `json:"answers,omitempty"`
	Inferred []*inferredRecord `json:"inferred,omitempty"`
	Verdicts []*verdictRecord  `json:"verdicts,omitempty"`
	Findings []*finding.Case   `json:"findings,omitempty"`
}

// unitRecord is the result of a unit.
type unitRecord struct {
	Number int     `json:"number"` // in the plan of its pair
	Unit   Unit    `json:"unit"`
	Result *Result `json:"result"`
}

// inferredRecord is what inference has found of a side of a pair.
type inferredRecord struct {
	Pair     int               `json:"pair"`
	Units    uint64            `json:"units"` // as in verdictRecord
	Inferred *finding.Inferred `json:"inferred"`
}

// verdictRecord is what triage.Explain said of a pair.
type verdictRecord struct {
	Pair    int             `json:"pair"`
	Units   uint64          `json:"units"` // units of the pair in the epoch that were done by then
	Verdict *triage.Verdict `json:"verdict"`
}

// checkpoint writes the file, and holds what an earlier run wrote. Without a path it does
// neither.
type checkpoint struct {
	path  string // "": the campaign has no journal
	head  checkpointHead
	by    journal.Writer
	pairs []*pair
	every time.Duration

	mu      sync.Mutex
	log     *journal.Journal[checkpointRecord] // nil: not yet begun
	pending checkpointRecord
	timer   *time.Timer // not nil: something is pending
	err     error
	saved   savedEpoch // of an earlier run
}

// savedEpoch is what a checkpoint had when it was opened.
type savedEpoch struct {
	units    map[turn]*unitRecord
	cut      []int // units of each pair that the epoch is to have; nil: it was not cut
	answers  map[answerKey]*savedAnswer
	inferred []*inferredRecord
	learned  map[int]*finding.Pair // pairs with what was inferred of them
	verdicts map[int]*verdictRecord
	findings map[finding.CaseKey]*finding.Case
}

// errEarlierEpoch reports that a checkpoint is of an epoch that the journal has.
var errEarlierEpoch = errors.New("it is of an earlier epoch")

// openCheckpoint reads the checkpoint of the epoch in progress. One of an epoch that the
// journal already has is removed.
func (c *Campaign) openCheckpoint() error {
	options, err := json.Marshal(c.asked)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(options)
	k := &checkpoint{path: c.cfg.Journal + checkpointSuffix, pairs: c.pairs, every: checkpointEvery, by: c.writer(),
		head: checkpointHead{hex.EncodeToString(sum[:8]), c.state.Epochs}}
	k.forget()
	c.saving, c.finder.Memory = k, k
	if _, err := os.Stat(k.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if k.log, err = k.open(k.read); errors.Is(err, errEarlierEpoch) {
		return os.Remove(k.path)
	}
	return err
}

func (k *checkpoint) open(replay func(*checkpointRecord) error) (*journal.Journal[checkpointRecord], error) {
	kind := journal.Kind[checkpointHead]{Of: "epoch", Version: 1, By: k.by, Versions: versions.Current(), Differ: func(have, want checkpointHead) error {
		if have.Campaign == want.Campaign && have.Epoch < want.Epoch {
			return errEarlierEpoch
		}
		return fmt.Errorf("%w: this file is of epoch %d of campaign %s, the journal is of campaign %s and at epoch %d; without the file the epoch begins anew",
			ErrOtherCampaign, have.Epoch, have.Campaign, want.Campaign, want.Epoch)
	}}
	return journal.Open(k.path, kind, k.head, replay)
}

// read takes a record of an earlier run.
func (k *checkpoint) read(r *checkpointRecord) error {
	if err := k.take(r); err != nil {
		return fmt.Errorf("%w; without the file the epoch begins anew", err)
	}
	return nil
}

func (k *checkpoint) take(r *checkpointRecord) error {
	s := &k.saved
	for _, u := range r.Units {
		if u == nil || u.Result == nil || !k.isPair(u.Unit.Pair) || u.Number < 0 {
			return errors.New("a unit is out of place")
		}
		s.units[turn{u.Unit.Pair, u.Number}] = u // of another plan than the one before, if there is one
	}
	if r.Cut != nil {
		if len(r.Cut) != len(k.pairs) {
			return fmt.Errorf("a cut of %d pairs, of %d", len(r.Cut), len(k.pairs))
		}
		for _, n := range r.Cut {
			if n < 0 {
				return fmt.Errorf("a cut at unit %d", n)
			}
		}
		s.cut = r.Cut
	}
	for _, a := range r.Answers {
		if a == nil || !k.isPair(a.Pair) || !s.answer(a) {
			return errors.New("an answer is out of place")
		}
	}
	for _, x := range r.Inferred {
		if x == nil || x.Inferred == nil || !k.isPair(x.Pair) {
			return errors.New("an inference is out of place")
		}
		p := *k.learned(x.Pair)
		if err := p.CheckInferred(x.Inferred); err != nil {
			return fmt.Errorf("pair %d: %w", x.Pair, err)
		}
		p.Learn([]finding.Inferred{*x.Inferred})
		s.learned[x.Pair], s.inferred = &p, append(s.inferred, x)
	}
	for _, v := range r.Verdicts {
		if v == nil || v.Verdict == nil || !k.isPair(v.Pair) {
			return errors.New("a verdict is out of place")
		}
		if err := k.learned(v.Pair).CheckVerdict(v.Verdict); err != nil {
			return fmt.Errorf("pair %d: verdict: %w", v.Pair, err)
		}
		s.verdicts[v.Pair] = v
	}
	for _, f := range r.Findings {
		if f == nil || !k.isPair(f.Pair) {
			return errors.New("a finding is out of place")
		}
		if err := k.learned(f.Pair).CheckFinding(f, f.Pair); err != nil {
			return fmt.Errorf("pair %d: finding: %w", f.Pair, err)
		}
		s.findings[f.Key()] = f
	}
	return nil
}

// learned is a pair with what an earlier run has inferred in the epoch.
func (k *checkpoint) learned(i int) *finding.Pair {
	if p := k.saved.learned[i]; p != nil {
		return p
	}
	return k.pairs[i].Pair
}

func (k *checkpoint) isPair(i int) bool { return i >= 0 && i < len(k.pairs) }

// forget drops what an earlier run had.
func (k *checkpoint) forget() {
	k.saved = savedEpoch{
		units: map[turn]*unitRecord{}, answers: map[answerKey]*savedAnswer{},
		learned: map[int]*finding.Pair{}, verdicts: map[int]*verdictRecord{}, findings: map[finding.CaseKey]*finding.Case{},
	}
}

// add adds something to what is written next.
func (k *checkpoint) add(to func(r *checkpointRecord)) {
	if k.path == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	to(&k.pending)
	if k.timer == nil {
		k.timer = time.AfterFunc(k.every, func() { _ = k.flush() })
	}
}

// flush writes what is pending.
func (k *checkpoint) flush() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer == nil {
		return k.err
	}
	k.timer.Stop()
	k.timer = nil
	r := k.pending
	k.pending = checkpointRecord{}
	if k.err == nil && k.log == nil {
		k.log, k.err = k.open(func(*checkpointRecord) error { return nil })
	}
	for _, one := range r.split() {
		if k.err == nil {
			k.err = k.log.Append(one)
		}
	}
	return k.err
}

// recordBytes is about the largest size of a record: a journal has a limit.
const recordBytes = 4 << 20

// split divides what is pending into records that are not too long.
func (r *checkpointRecord) split() []*checkpointRecord {
	all := []*checkpointRecord{{Cut: r.Cut, Inferred: r.Inferred, Verdicts: r.Verdicts}}
	size := 0
	room := func(n int) *checkpointRecord {
		if size += n; size > recordBytes {
			all, size = append(all, &checkpointRecord{}), n
		}
		return all[len(all)-1]
	}
	for _, u := range r.Units {
		to := room(u.Result.size())
		to.Units = append(to.Units, u)
	}
	for _, a := range r.Answers {
		to := room(100 + 2*len(a.D))
		to.Answers = append(to.Answers, a)
	}
	for _, f := range r.Findings { // each may be long
		all = append(all, &checkpointRecord{Findings: []*finding.Case{f}})
	}
	return all
}

// failed returns the error of the last write.
func (k *checkpoint) failed() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// reset removes the checkpoint: its epoch is complete, the next one is begun.
func (k *checkpoint) reset(epoch int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.timer != nil {
		k.timer.Stop()
		k.timer = nil
	}
	k.pending = checkpointRecord{}
	k.head.Epoch = epoch
	k.forget()
	if k.log == nil {
		return nil
	}
	err := k.log.Remove()
	k.log = nil
	return err
}

// close writes what is pending and closes the file.
func (k *checkpoint) close() error {
	err := k.flush()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.log != nil {
		err = errors.Join(err, k.log.Close())
		k.log = nil
	}
	return err
}

// dots returns the number of dot products that an earlier run has said to have computed: those of
// the units of each pair before the first that is missing.
func (k *checkpoint) dots() (n uint64) {
	for i := range k.pairs {
		for number := 0; ; number++ {
			u := k.saved.units[turn{i, number}]
			if u == nil {
				break
			}
			n += u.Result.Dots
		}
	}
	return n
}

// result returns the result of a unit in an earlier run; nil if there is none that fits.
func (k *checkpoint) result(number int, u *Unit) *Result {
	have := k.saved.units[turn{u.Pair, number}]
	if have == nil || have.Unit != *u || k.pairs[u.Pair].checkResult(u, have.Result) != nil {
		return nil
	}
	return have.Result
}

func (k *checkpoint) addResult(number int, u *Unit, r *Result) {
	k.add(func(c *checkpointRecord) { c.Units = append(c.Units, &unitRecord{number, *u, r}) })
}

// size is an upper estimate of the bytes that a result takes.
func (r *Result) size() int {
	n := 1000 + 40*(len(r.Unnamed)+len(r.Differ)+len(r.Agree)+len(r.Against)) + 400*len(r.Kinds) + 8*len(r.Where.Ulps) + 32*len(r.Where.Spread)
	for i := range r.Fresh {
		n += 200 + 12*len(r.Fresh[i].Features)
	}
	return n
}

func (k *checkpoint) setCut(at []int) { k.add(func(r *checkpointRecord) { r.Cut = at }) }

// Verdict returns what triage.Explain said of the same cases in an earlier run, nil if
// it was not asked.
func (k *checkpoint) Verdict(pair int, units uint64, differ int) *triage.Verdict {
	if v := k.saved.verdicts[pair]; v != nil && v.Units == units && v.Verdict.Differ == differ {
		return v.Verdict
	}
	return nil
}

// KeepVerdict keeps it.
func (k *checkpoint) KeepVerdict(pair int, units uint64, v *triage.Verdict) {
	k.add(func(r *checkpointRecord) { r.Verdicts = append(r.Verdicts, &verdictRecord{pair, units, v}) })
}

// Inferred returns what an earlier run has inferred, nil if it has not.
func (k *checkpoint) Inferred(pair int, units uint64, side string, effort int) *finding.Inferred {
	for _, x := range k.saved.inferred {
		if x.Pair == pair && x.Units == units && x.Inferred.Side == side && x.Inferred.Effort == effort {
			return x.Inferred
		}
	}
	return nil
}

// KeepInferred keeps it.
func (k *checkpoint) KeepInferred(pair int, units uint64, r *finding.Inferred) {
	k.add(func(c *checkpointRecord) { c.Inferred = append(c.Inferred, &inferredRecord{pair, units, r}) })
}

// Finding returns what an earlier run has made of a candidate, nil if it has not.
func (k *checkpoint) Finding(f *finding.Case) *finding.Case {
	if have := k.saved.findings[f.Key()]; have != nil && have.Number == f.Number {
		return have
	}
	return nil
}

// KeepFinding keeps it.
func (k *checkpoint) KeepFinding(f *finding.Case) {
	k.add(func(r *checkpointRecord) { r.Findings = append(r.Findings, f) })
}
