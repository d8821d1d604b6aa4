package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPatience waits for a shard as its units are long.
func TestPatience(t *testing.T) {
	began := time.Now()
	for _, tc := range []struct {
		each  time.Duration
		units int
		want  time.Duration
	}{
		{time.Second, 40, leastPatience},
		{6 * time.Second, 10, 2 * time.Minute},
		{30 * time.Second, 3, mostPatience},
		{time.Second, 2, mostPatience},
	} {
		all := times{}
		for n := range tc.units {
			all[n] = began.Add(time.Duration(n) * tc.each)
		}
		if got := all.patience(); got != tc.want {
			t.Errorf("%d units of %v: %v, want %v", tc.units, tc.each, got, tc.want)
		}
	}
}

// TestStatus looks at a shard that was interrupted and goes on, beside one that does not.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	p, pairs := newPlan(t, 1)
	run := func(index, after int) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: index, Of: 2, Workers: 1, Observe: func(p Progress) {
			if p.Here == after {
				if s := look(t, dir); s.Shards[index].State != stateAlive {
					t.Errorf("shard %d at work: %+v", index, s.Shards[index])
				}
				cancel()
			}
		}}
		if err := s.Run(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, ErrRound) {
			t.Fatal(err)
		}
	}
	run(0, 1)
	run(1, 2)
	run(0, 2)
	logs, err := filepath.Glob(filepath.Join(dir, unitsDir, "1-of-2.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	old := time.Now().Add(-time.Hour)
	elsewhere := strings.Replace(logs[0], thisHost(), "elsewhere", 1) // of whose processes nothing is seen here
	if err := errors.Join(os.Rename(logs[0], elsewhere), os.Chtimes(elsewhere, old, old)); err != nil {
		t.Fatal(err)
	}
	s := look(t, dir)
	var got []string
	for _, x := range s.Shards {
		got = append(got, fmt.Sprintf("%d/%d %s, %d units", x.Shard, x.Of, x.State, x.Units))
	}
	if want := []string{"0/2 ended, 3 units", "1/2 silent, 2 units"}; !slices.Equal(got, want) || s.Done != 5 || s.ETA != 0 {
		t.Errorf("%q, want %q; %d done", got, want, s.Done)
	}
	shards(t, p, pairs, dir, 2)
	s = look(t, dir)
	for _, x := range s.Shards {
		if x.State != stateDone {
			t.Errorf("shard %d is %s", x.Shard, x.State)
		}
	}
	if s.Done != s.Units || s.Round != s.Rounds || len(s.Causes) == 0 || s.Causes[0].Since == 0 {
		t.Errorf("%+v", s)
	}
}
