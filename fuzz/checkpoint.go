package fuzz

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
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The checkpoint is a second journal, beside that of the campaign, for the epoch in progress. It
// has the parts of the chunks that are done, the place where the time limit cut the epoch, and
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

// checkpointHead tells which epoch it is of.
type checkpointHead struct {
	Campaign string `json:"campaign"` // digest of the journal's options
	Epoch    int    `json:"epoch"`
}

// checkpointRecord is every other record.
type checkpointRecord struct {
	Parts    []*partRecord    `json:"parts,omitempty"`
	Cut      []int            `json:"cut,omitempty"` // chunks of each pair that the epoch is to have
	Answers  []*answerRecord  `json:"answers,omitempty"`
	Verdicts []*verdictRecord `json:"verdicts,omitempty"`
	Findings []*Case          `json:"findings,omitempty"`
}

// verdictRecord is what triage.Explain said of a pair.
type verdictRecord struct {
	Pair    int             `json:"pair"`
	Chunks  uint64          `json:"chunks"` // chunks of the pair in the epoch that were done by then
	Verdict *triage.Verdict `json:"verdict"`
}

// checkpoint writes the file, and holds what an earlier run wrote. Without a path it does
// neither.
type checkpoint struct {
	path  string // "": the campaign has no journal
	head  checkpointHead
	by    journal.Writer
	pairs []*pairRun
	every time.Duration

	mu      sync.Mutex
	log     *journal.Journal[checkpointRecord] // nil: not yet begun
	epoch   *epoch                             // whose parts are written; nil: none is in progress
	pending checkpointRecord
	timer   *time.Timer // not nil: something is pending
	err     error
	saved   savedEpoch // of an earlier run
}

// savedEpoch is what a checkpoint had when it was opened.
type savedEpoch struct {
	parts    [][]*partRecord // by pair
	cut      []int           // chunks of each pair that the epoch is to have; nil: it was not cut
	answers  map[answerKey]*savedAnswer
	verdicts map[int]*verdictRecord
	findings map[findingKey]*Case
}

// findingKey identifies the case that a finding was made of.
type findingKey struct {
	pair   int
	detail string
	origin CaseRef
}

// errEarlierEpoch reports that a checkpoint is of an epoch that the journal has.
var errEarlierEpoch = errors.New("it is of an earlier epoch")

// openCheckpoint reads the checkpoint of the epoch in progress. One of an epoch that the
// journal already has is removed.
func (c *Campaign) openCheckpoint() error {
	options, err := json.Marshal(c.options())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(options)
	k := &checkpoint{path: c.cfg.Journal + checkpointSuffix, pairs: c.pairs, every: checkpointEvery, by: c.writer(),
		head: checkpointHead{hex.EncodeToString(sum[:8]), c.state.Epochs}}
	k.forget()
	c.saving = k
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
	for _, p := range r.Parts {
		if p == nil || !k.isPair(p.Pair) || p.Chunk < 0 || p.Chunk > len(s.parts[p.Pair]) {
			return errors.New("a part is out of place")
		}
		// A part of a chunk that has one already is of another plan, which replaces the first.
		s.parts[p.Pair] = append(s.parts[p.Pair][:p.Chunk], p)
	}
	if r.Cut != nil {
		if len(r.Cut) != len(k.pairs) {
			return fmt.Errorf("a cut of %d pairs, of %d", len(r.Cut), len(k.pairs))
		}
		for _, n := range r.Cut {
			if n < 0 {
				return fmt.Errorf("a cut at chunk %d", n)
			}
		}
		s.cut = r.Cut
	}
	for _, a := range r.Answers {
		if a == nil || !k.isPair(a.Pair) || !s.answer(a) {
			return errors.New("an answer is out of place")
		}
	}
	for _, v := range r.Verdicts {
		if v == nil || v.Verdict == nil || !k.isPair(v.Pair) {
			return errors.New("a verdict is out of place")
		}
		if err := k.pairs[v.Pair].checkVerdict(v.Verdict); err != nil {
			return fmt.Errorf("pair %d: verdict: %w", v.Pair, err)
		}
		s.verdicts[v.Pair] = v
	}
	for _, f := range r.Findings {
		if f == nil || !k.isPair(f.Pair) {
			return errors.New("a finding is out of place")
		}
		if err := k.pairs[f.Pair].checkFinding(f, f.Pair); err != nil {
			return fmt.Errorf("pair %d: finding: %w", f.Pair, err)
		}
		s.findings[f.key()] = f
	}
	return nil
}

func (k *checkpoint) isPair(i int) bool { return i >= 0 && i < len(k.pairs) }

// forget drops what an earlier run had.
func (k *checkpoint) forget() {
	k.saved = savedEpoch{
		parts: make([][]*partRecord, len(k.pairs)), answers: map[answerKey]*savedAnswer{},
		verdicts: map[int]*verdictRecord{}, findings: map[findingKey]*Case{},
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
	k.soon()
}

// touch starts the timer after which new parts of the epoch are written.
func (k *checkpoint) touch() { k.add(func(*checkpointRecord) {}) }

// soon starts the timer after which what is pending is written.
func (k *checkpoint) soon() {
	if k.timer == nil {
		k.timer = time.AfterFunc(k.every, func() { _ = k.flush() })
	}
}

// begin makes an epoch the one in progress.
func (k *checkpoint) begin(e *epoch) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.epoch = e
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
	if k.epoch != nil {
		r.Parts = k.epoch.records()
	}
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
	all := []*checkpointRecord{{Cut: r.Cut, Verdicts: r.Verdicts}}
	size := 0
	room := func(n int) *checkpointRecord {
		if size += n; size > recordBytes {
			all, size = append(all, &checkpointRecord{}), n
		}
		return all[len(all)-1]
	}
	for _, p := range r.Parts {
		to := room(p.size())
		to.Parts = append(to.Parts, p)
	}
	for _, a := range r.Answers {
		to := room(100 + 2*len(a.D))
		to.Answers = append(to.Answers, a)
	}
	for _, f := range r.Findings { // each may be long
		all = append(all, &checkpointRecord{Findings: []*Case{f}})
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
	k.pending, k.epoch = checkpointRecord{}, nil
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

// dots returns the number of dot products in the parts that an earlier run made.
func (k *checkpoint) dots() (n uint64) {
	for _, parts := range k.saved.parts {
		for _, p := range parts {
			for _, c := range p.Classes {
				n += c
			}
		}
	}
	return n
}

func (k *checkpoint) setCut(at []int) { k.add(func(r *checkpointRecord) { r.Cut = at }) }

// verdict returns what triage.Explain said of the same cases in an earlier run, nil if
// it was not asked.
func (k *checkpoint) verdict(pair int, chunks uint64, differ int) *triage.Verdict {
	if v := k.saved.verdicts[pair]; v != nil && v.Chunks == chunks && v.Verdict.Differ == differ {
		return v.Verdict
	}
	return nil
}

func (k *checkpoint) addVerdict(pair int, chunks uint64, v *triage.Verdict) {
	k.add(func(r *checkpointRecord) { r.Verdicts = append(r.Verdicts, &verdictRecord{pair, chunks, v}) })
}

func (f *Case) key() findingKey { return findingKey{f.Pair, f.Detail, f.Origin} }

// finding returns what an earlier run has made of a candidate, nil if it has not.
func (k *checkpoint) finding(f *Case) *Case {
	if have := k.saved.findings[f.key()]; have != nil && have.Number == f.Number {
		return have
	}
	return nil
}

func (k *checkpoint) addFinding(f *Case) {
	k.add(func(r *checkpointRecord) { r.Findings = append(r.Findings, f) })
}
