package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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

// manyCauses makes one with more causes.
func manyCauses(t *testing.T) (*Plan, []devices.Pair) {
	t.Helper()
	return planOf(t, fuzz.Config{Seed: 1, Count: 1000, Generators: []string{"pattern", "cut"}, PerBucket: 1, MaxFindings: 7}, "sim:hopper", "sim:turing")
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
	t.Chdir(t.TempDir())
	const out = "out" // bundles name it
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
	cfg.Journal, cfg.Bundles, cfg.Sharing.Once = filepath.Join(out, "journal"), out, m.Once
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
	if n := strings.Count(want[mergedFile], "\n"); n != len(p.Units()) || n < 20 {
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
	parts := make([]string, 3)
	for i := range parts {
		parts[i] = t.TempDir()
		if err := prepare(parts[i], "test", p); err != nil {
			t.Fatal(err)
		}
		for n := range p.Units() {
			if n%3 == i || n%5 == 0 {
				copyFile(t, numbered(one, unitsDir, n), numbered(parts[i], unitsDir, n))
			}
		}
	}
	for _, order := range [][]string{{parts[2], parts[0], parts[1]}, {parts[0], parts[1], parts[0], parts[2], parts[1]}} {
		if union(t, order...) != want[mergedFile] {
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
	if union(t, parts[0], half, parts[1]) != want[mergedFile] {
		t.Error("another result in two steps")
	}
	// Into one of them, which compacts it, also under the eyes of a shard.
	before := newIndex(p)
	if _, err := before.add(parts[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(t.Context(), []string{parts[1], half}, parts[1]); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(parts[1], unitsDir)); err != nil || len(left) > 0 {
		t.Errorf("not compacted: %v %v", left, err)
	}
	for n := range before.at {
		if _, _, err := before.line(n); err != nil {
			t.Error(err)
		}
	}
	if d := differing(want, merge(t, pairs, parts[1], parts[0])); d != nil {
		t.Errorf("compacted: other files %v", d)
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
	return files(t, out)[mergedFile]
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, body, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefused tries what must not be merged.
func TestRefused(t *testing.T) {
	p, _ := newPlan(t, 1)
	q, _ := newPlan(t, 2)
	dirs := []string{t.TempDir(), t.TempDir()}
	for i, plan := range []*Plan{p, q} {
		if err := prepare(dirs[i], "test", plan); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Merge(t.Context(), dirs, t.TempDir()); !errors.As(err, new(*OtherPlanError)) {
		t.Errorf("of two plans: %v", err)
	}
	if err := prepare(dirs[0], "test", q); !errors.As(err, new(*OtherPlanError)) {
		t.Errorf("another plan's shard: %v", err)
	}
	line, err := journal.Line(unitLine{p.Digest(), 3, &engine.Result{Dots: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"damaged":       {bytes.Replace(line, []byte(`"dots":5`), []byte(`"dots":6`), 1), "unit 3 is damaged"},
		"cut short":     {line[:len(line)/2], "unit 3 is damaged"},
		"empty":         {nil, "unit 3 is damaged"},
		"other plan":    {lineOf(t, unitLine{q.Digest(), 3, &engine.Result{}}), "has units of plan"},
		"other unit":    {lineOf(t, unitLine{p.Digest(), 4, &engine.Result{}}), "not the result of unit 3"},
		"without":       {lineOf(t, unitLine{p.Digest(), 3, nil}), "not the result of unit 3"},
		"too many dots": {line, ""},
	} {
		if err := os.WriteFile(numbered(dirs[0], unitsDir, 3), c.body, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Merge(t.Context(), dirs[:1], t.TempDir())
		if fmt.Sprint(err) == "<nil>" && c.want == "" {
			continue // its numbers are checked when it is added up
		}
		if c.want == "" || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func lineOf(t *testing.T, v any) []byte {
	t.Helper()
	line, err := journal.Line(v)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// TestDead leaves leases of shards that are no more, in every way in which that is seen, with
// clocks that jump: others take over, and nothing else changes.
func TestDead(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dir := t.TempDir()
	if err := prepare(dir, "test", p); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for name, body := range map[string]string{
		"0-of-2.ended":  `{"v":1,"shard":0,"of":2,"host":"elsewhere","pid":1,"beat":7,"ended":true}`,
		"1-of-2.killed": fmt.Sprintf(`{"v":1,"shard":1,"of":2,"host":%q,"pid":%d,"beat":7}`, host, os.Getpid()),
		"1-of-2.silent": `{"v":1,"shard":1,"of":2,"host":"elsewhere","pid":1,"beat":7}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, shardsDir, name), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	holders := []string{"0-of-2.ended", "1-of-2.killed", "1-of-2.silent", "1-of-2.nobody", ""}
	for n := range p.Units() {
		if err := os.WriteFile(numbered(dir, leasesDir, n), []byte(holders[n%len(holders)]+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var jumps sync.WaitGroup
	jumps.Go(func() {
		rng := rand.New(rand.NewPCG(1, 2))
		for ctx.Err() == nil {
			_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
				then := time.Now().Add(time.Duration(rng.Int64N(2e18) - 1e18)) // some 30 years, either way
				_ = os.Chtimes(path, then, then)
				return nil
			})
			time.Sleep(10 * time.Millisecond)
		}
	})
	s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: 0, Of: 2, Workers: 2, Lease: 300 * time.Millisecond}
	err := s.Run(t.Context())
	cancel()
	jumps.Wait()
	if err != nil {
		t.Fatal(err)
	}
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	if union(t, one) != union(t, dir) {
		t.Error("another result")
	}
}

// TestRounds has shards with directories of their own, which cannot go on without each other.
func TestRounds(t *testing.T) {
	t.Parallel()
	p, pairs := newPlan(t, 1)
	dirs := []string{filepath.Join(t.TempDir(), "0"), filepath.Join(t.TempDir(), "1")}
	stopped := 0
	for round := 0; ; round++ {
		left := 0
		for i, dir := range dirs {
			s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: i, Of: len(dirs), Workers: 1, Lease: 50 * time.Millisecond}
			if err := s.Run(t.Context()); errors.Is(err, ErrRound) {
				left++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if left == 0 {
			break
		}
		stopped++
		for _, dir := range dirs {
			if _, err := Merge(t.Context(), dirs, dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	if stopped < 1 || stopped >= p.Rounds {
		t.Errorf("stopped %d times for %d rounds", stopped, p.Rounds)
	}
	one := t.TempDir()
	shards(t, p, pairs, one, 1)
	if union(t, one) != union(t, dirs...) {
		t.Error("another result")
	}
}

// TestTriage has shards do the triage: what is merged is the same with all that they have
// done, with some of it, and with none. Leases of dead shards, and interruptions, cost nothing
// but time.
func TestTriage(t *testing.T) {
	p, pairs := manyCauses(t)
	dir := t.TempDir()
	shards(t, p, pairs, dir, 1) // which leaves triage to merge
	before := stepsIn(t, dir)
	if slices.ContainsFunc(before, isCase) {
		t.Errorf("one shard has done %v", before)
	}
	want := merge(t, pairs, dir)
	// The first one of two is interrupted after some steps, and another one has died.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: 0, Of: 2, Workers: 1, Lease: 300 * time.Millisecond, many: 4}
	first.Observe = func(p Progress) {
		if p.Triaged == 3 {
			cancel()
		}
	}
	if err := first.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, leasesDir, "*")); left != nil {
		t.Errorf("leases are left: %v", left)
	}
	some := stepsIn(t, dir)
	if len(some) < len(before)+3 {
		t.Fatalf("only %v", some)
	}
	if d := differing(want, merge(t, pairs, dir)); d != nil {
		t.Errorf("with %d steps: other files %v", len(some), d)
	}
	second := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: 1, Of: 2, Workers: 2, Lease: 300 * time.Millisecond, many: 4}
	if err := second.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := stepsIn(t, dir)
	if len(all) < 5 || second.done.Triaged != len(all)-len(some) {
		t.Errorf("%d steps, after %d the second shard did %d", len(all), len(some), second.done.Triaged)
	}
	if d := differing(want, merge(t, pairs, dir)); d != nil {
		t.Errorf("with all steps: other files %v", d)
	}
	cases := slices.DeleteFunc(slices.Clone(all), func(key string) bool { return !isCase(key) })
	// Two of them are gone, and somebody who is dead has their leases.
	for i, key := range cases[:2] {
		if err := os.Remove(filepath.Join(dir, triageDir, key)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, leasesDir, key), []byte([]string{"nobody\n", ""}[i]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	third := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Index: 0, Of: 2, Workers: 2, Lease: 300 * time.Millisecond, many: 4}
	if err := third.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := stepsIn(t, dir); !slices.Equal(again, all) || third.done.Triaged != 2 {
		t.Errorf("%d steps again, %d done", len(again), third.done.Triaged)
	}
	// Merging takes what is there, after a look at it.
	file := filepath.Join(dir, triageDir, cases[0])
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(filepath.Join(dir, triageDir, cases[1]))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := journal.Body(good)
	changed := func(from, to string) []byte {
		if !bytes.Contains(body, []byte(from)) {
			t.Fatalf("there is no %s in %s", from, body)
		}
		return lineOf(t, json.RawMessage(bytes.Replace(body, []byte(from), []byte(to), 1)))
	}
	for name, c := range map[string]struct {
		line []byte
		want string
	}{
		"damaged":       {bytes.Replace(good, []byte(`"queries":`), []byte(`"queries":1`), 1), "it is damaged"},
		"of another":    {other, "it holds the result of step"},
		"of other plan": {changed(p.Digest(), "0123456789abcdef"), "has units of plan 0123456789abcdef"},
		"impossible":    {changed(`"queries":`, `"queries":-1`), "what another process has made of a case"},
		"other case":    {changed(`"number":`, `"number":9`), "is of another one"},
		"no case":       {lineOf(t, stepLine{p.Digest(), cases[0], json.RawMessage("[]")}), "it is an array, not an object"},
		"unknown field": {changed(`"result":{`, `"result":[],"x":{`), `unknown field "x"`},
	} {
		if err := os.WriteFile(file, c.line, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := finish(t, pairs, filepath.Join(t.TempDir(), "out"), dir); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func isCase(key string) bool { return strings.HasPrefix(key, "case-") }

// stepsIn lists the steps of triage in a directory.
func stepsIn(t *testing.T, dir string) (keys []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, triageDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		keys = append(keys, e.Name())
	}
	return keys
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
