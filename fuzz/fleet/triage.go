package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Triage is what takes time in merging: the search for verdicts, and the minimization of a
// case of each cause. If there are many such steps, shards that share a directory divide them
// when all units are done. Every shard runs all of the merge, whose adding-up is quick, and so
// comes to the same slow steps; the shard that reaches a step first does it and leaves the
// result in triage/KEY, where KEY is a digest of all that the step depends on (finding.Sharing).
// Merging takes these results and does the missing steps itself, so that its outcome is the
// same with all of them, with some, or with none.

// manySteps is the least number of steps that shards divide.
const manySteps = 16

// stepLine is the content of the file of a step's result: one line of a log.
type stepLine struct {
	Plan   string          `json:"plan"`
	Step   string          `json:"step"`
	Result json.RawMessage `json:"result"`
}

// readStep reads the result of a step into result, and reports whether the directory has
// it.
func readStep(dir string, p *Plan, key string, result any) (bool, error) {
	file := filepath.Join(dir, triageDir, key)
	line, err := corpus.ReadFile(file, "result of a step of triage", unitBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s := stepLine{}
	switch err := journal.Decode(line, &s); {
	case errors.Is(err, journal.ErrDamaged):
		return false, fmt.Errorf("%s: %w: remove it, and run the same command again", file, err)
	case err != nil:
		return false, fmt.Errorf("%s: %w", file, err)
	case s.Plan != p.Digest():
		return false, &OtherPlanError{file, s.Plan, p.Digest()}
	case s.Step != key:
		return false, fmt.Errorf("%s: it holds the result of step %.80q, not of the step that it is named for: remove it, and run the same command again", file, s.Step)
	}
	if err := strictjson.Error(s.Result, json.Unmarshal(s.Result, result)); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	return true, nil
}

// triage does this shard's part of the triage, if there are many steps and several shards.
func (s *Shard) triage(ctx context.Context) error {
	if _, err := s.index.add(s.Dir); err != nil {
		return err
	}
	if s.Of == 1 || len(s.index.missing()) > 0 {
		return s.checkOwn(ctx)
	}
	if n, err := s.steps(); n < cmp.Or(s.many, manySteps) || err != nil {
		return err
	}
	cfg, err := s.Plan.Config(s.Pairs)
	if err != nil {
		return err
	}
	cfg.Workers = s.Workers
	cfg.Sharing = finding.Sharing{Once: s.tellOnce, Order: uint64(s.Index) + 1}
	c, err := fuzz.New(cfg)
	if err != nil {
		return err
	}
	s.done.Triaging = true
	s.tell(false)
	return (&Merged{Plan: s.Plan, Dir: s.Dir, index: s.index}).Finish(ctx, c)
}

// checkOwn reads the results of this shard's units, of which earlier runs may have written
// some: a damaged one counts as done in the index, which knows names of files alone. Where
// there is triage to divide, steps reads all.
func (s *Shard) checkOwn(ctx context.Context) error {
	for i := range s.Plan.Units() {
		n := s.Plan.Units()[i].Number
		if _, done := s.index.at[n]; !done || n%s.Of != s.Index {
			continue
		}
		if _, _, err := s.index.line(n); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// steps returns about how many steps the triage has: one minimization for each kind of
// differing cases, at most MaxFindings for each two targets, and one verdict for each pair
// that differs.
func (s *Shard) steps() (n int, err error) {
	type kind struct {
		pair   int
		detail string
	}
	kinds, pairs := map[kind]bool{}, map[int]bool{}
	for i := range s.Plan.Units() {
		u := &s.Plan.Units()[i]
		_, r, err := s.index.line(u.Number)
		if err != nil {
			return 0, err
		}
		for j := range r.Kinds {
			kinds[kind{u.Pair, r.Kinds[j].Detail}] = true
		}
		if r.Dots > r.Classes[oracle.Same] {
			pairs[u.Pair] = true
		}
	}
	room := map[[2]string]int{}
	for k := range kinds {
		p := &s.Plan.Pairs[k.pair]
		if of := [2]string{p.A, p.B}; room[of] < s.Plan.MaxFindings {
			room[of]++
			n++
		}
	}
	return n + len(pairs), nil
}

// tellOnce calls s.once and reports to the observer each step that this shard does itself.
func (s *Shard) tellOnce(ctx context.Context, key string, result any, do func() error) error {
	return s.once(ctx, key, result, func() error {
		err := do()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done.Triaged++
		s.tell(false)
		return err
	})
}

// once does a step under a lease, or waits for the shard that does it.
func (s *Shard) once(ctx context.Context, key string, result any, do func() error) error {
	for wait := pollEvery / 64; ; wait = min(2*wait, pollEvery) {
		if done, err := readStep(s.Dir, s.Plan, key, result); done || err != nil {
			return err
		}
		beats, err := readHeartbeats(s.Dir)
		if err != nil {
			return err
		}
		taken, err := s.watch.take(key, beats)
		if err != nil {
			return err
		}
		if taken {
			return errors.Join(s.step(key, result, do), s.me.giveBack(key))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// step does a step whose lease this shard has, unless another shard has just done it.
func (s *Shard) step(key string, result any, do func() error) error {
	if done, err := readStep(s.Dir, s.Plan, key, result); done || err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	body, err := json.Marshal(result)
	if err != nil {
		return err
	}
	line, err := journal.Line(stepLine{s.Plan.Digest(), key, body})
	if err != nil {
		return err
	}
	return write(filepath.Join(s.Dir, triageDir, key), s.me.name, line)
}
