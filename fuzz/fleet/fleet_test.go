package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

const inst = "mma.m16n8k16.f32.f16.f16.f32"

func openTarget(t testing.TB) func(string) (devices.Target, error) {
	opened := map[string]devices.Target{}
	return func(name string) (devices.Target, error) {
		if opened[name] != nil {
			return opened[name], nil
		}
		target, err := devices.Open(name)
		if err == nil {
			opened[name] = target
			t.Cleanup(func() { target.Close() })
		}
		return target, err
	}
}

// newPlan makes a plan of two pairs in 30 units or so.
func newPlan(t testing.TB, seed uint64) (*Plan, []devices.Pair) {
	t.Helper()
	return planOf(t, fuzz.Config{Seed: seed, Count: 6000, Generators: []string{"pattern", "cut", "raw"}, PerBucket: 1, MaxFindings: 8}, "sim:hopper", "sim:turing")
}

func planOf(t testing.TB, cfg fuzz.Config, others ...string) (*Plan, []devices.Pair) {
	t.Helper()
	open := openTarget(t)
	var pairs []devices.Pair
	for _, b := range others {
		x, err := open("sim:ampere")
		if err != nil {
			t.Fatal(err)
		}
		y, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		ps, err := devices.Pairs(x, y, inst, "")
		if err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, ps...)
	}
	cfg.Pairs = pairs
	p, err := cutPlan(t.Context(), cfg, Rule{Rounds: 3, Unit: 512})
	if err != nil {
		t.Fatal(err)
	}
	return p, pairs
}

// slowUnit takes a while for every dot product.
type slowUnit struct{ devices.Unit }

func (u slowUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	time.Sleep(time.Duration(in.Dots()) * 200 * time.Microsecond)
	return u.Unit.Run(ctx, in, out)
}

// TestSlowPlan checks that units are so large, also where they then take long, that a plan is
// not refused for having too many.
func TestSlowPlan(t *testing.T) {
	t.Parallel()
	_, pairs := newPlan(t, 1)
	pairs[0].B = slowUnit{pairs[0].B}
	cfg := fuzz.Config{Pairs: pairs, Seed: 1, Count: 1e12, Generators: []string{"cut", "raw"}}
	p, err := cutPlan(t.Context(), cfg, Rule{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Units()); n > mostUnits || n < mostUnits/16 {
		t.Errorf("%d units, at most %d are possible", n, mostUnits)
	}
}

// shards runs n shards at once in a directory that they share.
func shards(t *testing.T, p *Plan, pairs []devices.Pair, dir string, n int) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: n, Workers: 1 + i%2}
			errs[i] = s.Run(t.Context())
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// merge merges directories and returns all files of the result by name.
func merge(t *testing.T, pairs []devices.Pair, dirs ...string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if err := finish(t, pairs, out, dirs...); err != nil {
		t.Fatal(err)
	}
	return files(t, out)
}

// finish merges directories, to the end.
func finish(t *testing.T, pairs []devices.Pair, out string, dirs ...string) error {
	t.Helper()
	m, err := Merge(t.Context(), dirs, out)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Missing) > 0 {
		t.Fatalf("units %s are missing", Ranges(m.Missing))
	}
	cfg, err := m.Plan.Config(slices.Clone(pairs))
	if err != nil {
		t.Fatal(err)
	}
	cfg.Journal, cfg.Bundles = filepath.Join(out, "journal"), out
	c, err := fuzz.New(cfg)
	if err == nil {
		err = m.Finish(t.Context(), c)
	}
	return err
}

// files reads all files below a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestShards runs one plan as one shard and as several: the result of merging is the same to
// the last byte, however it is merged.
func TestShards(t *testing.T) {
	p, pairs := newPlan(t, 1)
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	want := merge(t, pairs, one)
	if n := strings.Count(union(t, one), "\n"); n != len(p.Units()) || n < 20 {
		t.Errorf("%d results of %d units", n, len(p.Units()))
	}
	if n := len(want); n < 20 {
		t.Errorf("only %d files: %v", n, want)
	}
	for _, n := range []int{3, 7}[:tier.Of(1, 1, 2)] {
		dir := t.TempDir()
		shards(t, p, pairs, dir, n)
		if d := differing(want, merge(t, pairs, dir)); d != nil {
			t.Errorf("%d shards: other files %v", n, d)
		}
	}
	// Directories with parts of the units, that have some in common, in any order and in
	// one step or two.
	all := strings.SplitAfter(strings.TrimSuffix(union(t, one), "\n"), "\n")
	parts := make([]string, 3)
	for i := range parts {
		parts[i] = t.TempDir()
		if err := prepare(parts[i], journal.ByShard, p); err != nil {
			t.Fatal(err)
		}
		log, err := newShardLog(parts[i], i, 3)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range all {
			if n%3 == i || n%5 == 0 {
				if _, err := log.add([]byte(strings.TrimSuffix(line, "\n") + "\n")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := log.close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, order := range [][]string{{parts[2], parts[0], parts[1]}, {parts[0], parts[1], parts[0], parts[2], parts[1]}} {
		if union(t, order...) != union(t, one) {
			t.Errorf("another result in the order %v", order)
		}
	}
	half := filepath.Join(t.TempDir(), "half")
	m, err := Merge(t.Context(), []string{parts[1], parts[2]}, half)
	if err != nil || len(m.Missing) == 0 {
		t.Fatal(m, err)
	}
	for _, n := range m.Missing {
		if n%3 != 0 || n%5 == 0 {
			t.Errorf("unit %d is missing", n)
		}
	}
	if union(t, parts[0], half, parts[1]) != union(t, one) {
		t.Error("another result in two steps")
	}
	// Into one of them, and again with more, which replaces what was merged before, under the
	// eyes of somebody who reads it.
	if _, err := Merge(t.Context(), []string{parts[1], half}, parts[1]); err != nil {
		t.Fatal(err)
	}
	before := newIndex(p, parts[1])
	if err := before.update(); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), parts, parts[1]); err != nil {
		t.Fatal(err)
	}
	if logs, err := filepath.Glob(filepath.Join(parts[1], unitsDir, "*")); err != nil || len(logs) != 2 {
		t.Errorf("want the log of a shard and one that was merged: %v %v", logs, err)
	}
	for n := range before.at {
		if _, _, err := before.line(n); err != nil {
			t.Error(err)
		}
	}
	if d := differing(want, merge(t, pairs, parts[1], parts[0])); d != nil {
		t.Errorf("merged in steps: other files %v", d)
	}
}

// differing lists the files that two results do not have in common.
func differing(want, got map[string]string) (names []string) {
	for name := range want {
		if got[name] != want[name] {
			names = append(names, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// union merges directories without looking at what is in the units, and returns them all.
func union(t *testing.T, dirs ...string) string {
	t.Helper()
	out := t.TempDir()
	if _, err := Merge(t.Context(), dirs, out); err != nil {
		t.Fatal(err)
	}
	logs := files(t, filepath.Join(out, unitsDir))
	if len(logs) != 1 {
		t.Fatalf("%d merged logs", len(logs))
	}
	for _, body := range logs {
		return body
	}
	return ""
}

// TestRefused tries what must not be merged.
func TestRefused(t *testing.T) {
	p, _ := newPlan(t, 1)
	q, _ := newPlan(t, 2)
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, plan := range []*Plan{p, q} {
		if err := prepare(dirs[i], journal.ByShard, plan); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Merge(t.Context(), dirs, t.TempDir()); !errors.As(err, new(*OtherPlanError)) {
		t.Errorf("of two plans: %v", err)
	}
	if err := prepare(dirs[0], journal.ByShard, q); !errors.As(err, new(*OtherPlanError)) {
		t.Errorf("another plan's shard: %v", err)
	}
	// The checksum is right, so that somebody has made it.
	writeLog(t, dirs[0], "0-of-1.host.A", journal.LineOf([]byte(`{"plan":"`+p.Digest()+`","unit":3,"result":{"dots":true}}`)))
	if _, err := Merge(t.Context(), dirs[:1], t.TempDir()); err == nil || !strings.Contains(err.Error(), "0-of-1.host.A: unit 3: ") {
		t.Errorf("a forged result: %v", err)
	}
}

func writeLog(t *testing.T, dir, name string, body []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, unitsDir, name), body, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRounds has shards with directories of their own, which cannot go on without each other, and
// do not wait for each other. The status of the directories says in either order who has done what,
// and which merge helps.
func TestRounds(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dirs := []string{filepath.Join(t.TempDir(), "0"), filepath.Join(t.TempDir(), "1")}
	stopped, did := 0, make([]int, len(dirs))
	check := func(advice string) {
		t.Helper()
		for _, dirs := range [][]string{dirs, {dirs[1], dirs[0]}} {
			s := look(t, dirs...)
			for i, x := range s.Shards {
				if x.Units != did[i] || x.Dots == 0 {
					t.Errorf("shard %d has done %d units: %+v", i, did[i], x)
				}
			}
			if !strings.Contains(s.advice, advice) {
				t.Errorf("%q lacks %q", s.advice, advice)
			}
		}
	}
	for round := 0; ; round++ {
		left := 0
		for i, dir := range dirs {
			here := 0
			s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: len(dirs), Workers: 1, OwnOnly: true, Observe: func(p Progress) {
				if here = p.Here; p.Waiting {
					t.Errorf("shard %d waits for what nobody does", i)
				}
			}}
			if err := s.Run(t.Context()); errors.Is(err, ErrRound) {
				left++
			} else if err != nil {
				t.Fatal(err)
			}
			did[i] += here
		}
		if left == 0 {
			break
		}
		stopped++
		check(" --out " + dirs[0])
		for i, dir := range dirs {
			m, err := Merge(t.Context(), dirs, dir)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				check(" --out " + dirs[1] + "; then " + startAgain)
				if want := "mmafuzz merge " + strings.Join(dirs, " ") + " --out " + dirs[1] + "; then " + startAgain; !strings.HasSuffix(m.Advice, ": "+want) {
					t.Errorf("%q, want %q", m.Advice, want)
				}
			} else if check(startAgain); m.Advice != startAgain {
				t.Errorf("%q, want %q", m.Advice, startAgain)
			}
		}
	}
	check("")
	if stopped < 1 || stopped >= p.Rounds {
		t.Errorf("stopped %d times for %d rounds", stopped, p.Rounds)
	}
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	if union(t, one) != union(t, dirs...) {
		t.Error("another result")
	}
}

// TestLone runs a shard alone, beside the log of one that has died: it waits for nobody, and does
// what its own units need. The others find that done.
func TestLone(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dir := t.TempDir()
	if err := prepare(dir, journal.ByShard, p); err != nil {
		t.Fatal(err)
	}
	writeLog(t, dir, "1-of-3.host.A", nil)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, unitsDir, "1-of-3.host.A"), old, old); err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{}
	for _, u := range p.Units() {
		want[u.Number] = u.Round < p.Rounds-1 || u.Number%3 == 0
	}
	var last Progress
	run := func(i int) {
		t.Helper()
		s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: 3, Workers: 2, Observe: func(p Progress) {
			last = p
			if p.Waiting {
				t.Errorf("shard %d waits for what nobody does", i)
			}
		}}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	run(0)
	x := newIndex(p, dir)
	if err := x.update(); err != nil {
		t.Fatal(err)
	}
	for n := range p.Units() {
		if _, done := x.at[n]; done != want[n] {
			t.Errorf("unit %d of round %d is done: %t", n, p.Units()[n].Round, done)
		}
	}
	done, others := len(x.at), 0
	for n := range x.at {
		if n%3 != 0 {
			others++
		}
	}
	if last.Here != done || last.Others != others || others == 0 {
		t.Errorf("%d units, %d of them of others; want %d and %d", last.Here, last.Others, done, others)
	}
	run(1)
	run(2)
	if last.Done != last.Of || done == last.Of {
		t.Errorf("%d units of %d were done by the first, in the end %d", done, last.Of, last.Done)
	}
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	if union(t, one) != union(t, dir) {
		t.Error("another result")
	}
}

// TestLastProgress holds that a shard that is interrupted, or cannot go on, tells at last what others
// have done meanwhile.
func TestLastProgress(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dir := t.TempDir()
	var last [2]Progress
	run := func(ctx context.Context, i int, first func()) error {
		s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: 2, Workers: 1, Wait: time.Nanosecond, OwnOnly: true, Observe: func(p Progress) {
			if last[i] = p; p.Here == 1 && first != nil {
				first()
				first = nil
			}
		}}
		return s.Run(ctx)
	}
	ctx, kill := context.WithCancel(t.Context())
	if err := run(ctx, 0, func() {
		if err := run(t.Context(), 1, nil); !errors.Is(err, ErrRound) {
			t.Error(err)
		}
		kill()
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	x := newIndex(p, dir)
	if err := x.update(); err != nil {
		t.Fatal(err)
	}
	if last[0].Done != len(x.at) || last[1].Done != len(x.at) || last[1].Here != len(x.at)-1 {
		t.Errorf("at last %+v; %d units are done", last, len(x.at))
	}
}

// TestRestart has a shard wait for another one, which was killed on another machine a moment ago, and
// whose work is done when it is started again. A process of this machine is seen to have ended:
// then it does not wait.
func TestRestart(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dir := t.TempDir()
	run := func(ctx context.Context, i int, observe func(Progress)) error {
		s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: 2, Workers: 1, Observe: observe}
		return s.Run(ctx)
	}
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	if err := run(ctx, 1, func(p Progress) {
		if p.Here == 1 {
			kill()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	here := t.TempDir()
	if err := os.CopyFS(here, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, unitsDir, "1-of-2.*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	if err := os.Rename(logs[0], strings.Replace(logs[0], thisHost(), "elsewhere", 1)); err != nil {
		t.Fatal(err)
	}
	var again sync.WaitGroup
	waited := false
	err = run(t.Context(), 0, func(p Progress) {
		if p.Waiting && !waited {
			waited = true
			again.Go(func() {
				if err := run(t.Context(), 1, nil); err != nil {
					t.Error(err)
				}
			})
		}
	})
	again.Wait()
	if err != nil || !waited {
		t.Fatalf("it has waited: %v; %v", waited, err)
	}
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	if union(t, one) != union(t, dir) {
		t.Error("another result")
	}
	dir = here
	if err := run(t.Context(), 0, func(p Progress) {
		if p.Waiting {
			t.Error("it waits for a process that has ended")
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// TestUnits checks that the units of a plan are a partition of its inputs.
func TestUnits(t *testing.T) {
	t.Parallel()
	p, _ := newPlan(t, 1)
	got := map[string][]engine.Unit{}
	round := 0
	for n, u := range p.Units() {
		if u.Number != n || u.Round < round {
			t.Errorf("unit %d is number %d in round %d after %d", n, u.Number, u.Round, round)
		}
		round = u.Round
		name := fmt.Sprint(u.Pair, u.Source)
		got[name] = append(got[name], u.Unit)
	}
	if round != p.Rounds-1 {
		t.Errorf("%d rounds, want %d", round+1, p.Rounds)
	}
	for i := range p.Pairs {
		all := uint64(0)
		for _, s := range p.Pairs[i].Sources {
			us := got[fmt.Sprint(i, s.Source)]
			slices.SortFunc(us, func(x, y engine.Unit) int { return int(x.First) - int(y.First) })
			next := uint64(0)
			for _, u := range us {
				if u.First != next {
					t.Errorf("%s: a unit begins at %d, want %d", s.Source, u.First, next)
				}
				next += u.Dots
			}
			if next != s.Dots {
				t.Errorf("%s: units of %d dot products, want %d", s.Source, next, s.Dots)
			}
			all += s.Dots
		}
		if all < p.Count || all > p.Count+2048 {
			t.Errorf("pair %d has %d dot products, want %d", i, all, p.Count)
		}
	}
}
