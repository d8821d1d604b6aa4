package finding

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Sharing divides the long steps of triage among processes that merge the same units at the
// same time: the search for a verdict and the minimization of a case. All of them go through
// all steps, so that each knows everything in the end, but a step is done by one of them.
type Sharing struct {
	// Once fills result, a pointer, by calling do, or with what do gave another process for
	// the same key, as JSON. The key, which can be the name of a file, stands for all that the
	// step depends on. It may be called from several goroutines.
	Once func(ctx context.Context, key string, result any, do func() error) error
	// Order is another number in each of the processes: it shuffles the steps, so that two
	// seldom want the same one. 0: they are not shuffled. It does not change what is found.
	Order uint64
}

// once does a step of triage that depends on from, which is plain data.
func (t *Finder) once(ctx context.Context, what string, from []any, result any, do func() error) error {
	if t.Sharing.Once == nil {
		return do()
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(from); err != nil {
		return err
	}
	return t.Sharing.Once(ctx, what+"-"+hex.EncodeToString(h.Sum(nil)[:12]), result, do)
}

// search looks for a verdict.
func (x *pairTriage) search(ctx context.Context, u *triage.Unknown) (v *triage.Verdict, err error) {
	from := []any{x.index, u.Formats, u.K, u.Base, u.Policy, u.Differ, u.Agree, u.Seed, u.Length, u.Effort, u.Ask != nil}
	var found *triage.Verdict // by this process
	err = x.t.once(ctx, "verdict", from, &v, func() (err error) {
		found, err = triage.Explain(ctx, u)
		v = found
		return err
	})
	switch {
	case err != nil || found != nil:
		return v, err
	case v == nil:
		return nil, errors.New("what another process has found is no verdict")
	}
	return v, x.p.CheckVerdict(v)
}

// idle returns the labels of the difference between two programs that no input shows.
func (x *pairTriage) idle(ctx context.Context, seed uint64) (idle []triage.Label, err error) {
	err = x.t.once(ctx, "idle", []any{x.index, seed}, &idle, func() error {
		if err := ctx.Err(); err != nil {
			return err // with long dot products the next step takes seconds
		}
		idle = x.p.Programs.Idle(seed)
		return nil
	})
	return idle, err
}

// finding makes a finding of a chosen case. The error is minimize.ErrStart if it is no longer
// the case that it was.
func (x *pairTriage) finding(ctx context.Context, f *Case) error {
	var made *Case
	err := x.t.once(ctx, "case", []any{f, x.verdict, x.k, x.isUnstable()}, &made, func() error {
		err := x.minimize(ctx, f)
		if errors.Is(err, minimize.ErrStart) {
			return nil
		}
		made = f
		return err
	})
	switch {
	case err != nil || made == f:
		return err
	case made == nil:
		return minimize.ErrStart
	}
	if err := x.p.CheckFinding(made, f.Pair); err != nil {
		return fmt.Errorf("what another process has made of a case: %w", err)
	}
	if made.Key() != f.Key() || made.Number != f.Number || made.Bucket != f.Bucket {
		return errors.New("what another process has made of a case is of another one")
	}
	*f = *made
	return nil
}
