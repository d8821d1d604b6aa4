package fleet

import (
	"bytes"
	"fmt"
	"log/slog"
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
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// warnings returns what is said while a test runs.
func warnings(t *testing.T) *bytes.Buffer {
	t.Helper()
	before, said := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(said, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return said
}

// done returns a directory of one shard that has done all units, its log, and the merged results.
func done(t *testing.T) (p *Plan, pairs []devices.Pair, dir, log, want string) {
	t.Helper()
	p, pairs = newPlan(t, 1)
	dir = t.TempDir()
	shards(t, p, pairs, dir, 1)
	logs, err := filepath.Glob(filepath.Join(dir, unitsDir, "*"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	return p, pairs, dir, logs[0], union(t, dir)
}

// TestDamaged damages the log of a shard in every way: it is set aside and said, what is good still
// counts, and the same shard computes the rest again. Nothing needs a person.
func TestDamaged(t *testing.T) {
	p, pairs, dir, log, want := done(t)
	other, _ := newPlan(t, 2)
	good, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	second := len(lines[0])
	with := func(at int, b byte) []byte {
		body := bytes.Clone(good)
		body[at] = b
		return body
	}
	plus := func(line string) []byte { return slices.Concat(good, journal.LineOf([]byte(line))) }
	type damage struct {
		body []byte
		lost int  // units at least
		said bool // it cannot be taken for what a killed shard leaves
	}
	cases := map[string]damage{
		"empty":               {nil, len(p.Units()), false},
		"cut short":           {good[:len(good)-5], 1, false},
		"cut to zeros":        {append(bytes.Clone(good[:second]), make([]byte, 4096)...), len(p.Units()) - 1, false},
		"a byte":              {with(second+20, good[second+20]^1), 1, true},
		"checksum":            {with(second, 'x'), 1, true},
		"two lines joined":    {with(second-1, ' '), 2, true},
		"a line in two":       {with(second+300, '\n'), 1, true},
		"zeros in the middle": {slices.Concat(good[:second], make([]byte, 512), good[second+512:]), 1, true},
		"a line of text":      {slices.Concat(good, []byte("hello\n")), 0, true},
		"something else":      {bytes.Repeat([]byte{0xff, '\n'}, 1000), len(p.Units()), true},
		"another plan":        {plus(`{"plan":"` + other.Digest() + `","unit":3,"result":{}}`), 0, true},
		"no such unit":        {plus(fmt.Sprintf(`{"plan":%q,"unit":%d,"result":{}}`, p.Digest(), len(p.Units()))), 0, true},
		"no result":           {plus(`{"plan":"` + p.Digest() + `","unit":3,"result":null}`), 0, true},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range tier.Of(3, 10, 400) {
		at := rng.IntN(len(good) - 1)
		cases[fmt.Sprintf("byte %d of case %d", at, i)] = damage{with(at, good[at]^byte(1<<rng.IntN(8))), 1, true}
	}
	for name, c := range cases {
		said := warnings(t)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := prepare(dir, journal.ByShard, p); err != nil {
			t.Fatal(err)
		}
		writeLog(t, dir, filepath.Base(log), c.body)
		if s := look(t, dir); len(p.Units())-s.Done < c.lost {
			t.Errorf("%s: status has %d of %d", name, s.Done, s.Units)
		}
		m, err := Merge(t.Context(), []string{dir}, filepath.Join(t.TempDir(), "out"))
		if err != nil || len(m.Missing) < c.lost {
			t.Errorf("%s: merge: %v, %v", name, m, err)
			continue
		}
		s := Shard{Plan: p, Pairs: slices.Clone(pairs), Dir: dir, Of: 1, Workers: 2}
		if err := s.Run(t.Context()); err != nil || s.done.Here != len(m.Missing) {
			t.Errorf("%s: %d units again, %d are missing: %v", name, s.done.Here, len(m.Missing), err)
		}
		if union(t, dir) != want {
			t.Errorf("%s: another result", name)
		}
		_, err = os.Stat(log + damagedSuffix)
		if strings.Contains(said.String(), filepath.Base(log)) != c.said || (err == nil) != c.said {
			t.Errorf("%s: %v, it says %q", name, err, said)
		}
	}
}

// TestTornLine holds that the part of a line that a killed shard leaves does not make its log look
// alive for ever: others would wait for it.
func TestTornLine(t *testing.T) {
	p, _, dir, log, _ := done(t)
	good, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, good[:len(good)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(log, before, before); err != nil {
		t.Fatal(err)
	}
	x := newIndex(p, dir)
	for range 3 {
		if err := x.update(); err != nil {
			t.Fatal(err)
		}
		for name, l := range x.logs {
			if age := time.Since(l.grown); age < time.Minute {
				t.Errorf("%s counts as written %v ago", name, age)
			}
		}
	}
	if err := os.WriteFile(log, good, 0o666); err != nil { // somebody goes on
		t.Fatal(err)
	}
	if err := x.update(); err != nil {
		t.Fatal(err)
	}
	for name, l := range x.logs {
		if age := time.Since(l.grown); age > time.Minute {
			t.Errorf("%s counts as written %v ago", name, age)
		}
	}
}

// TestDamagedPlan damages the plan in a directory: a shard, which has its own, writes it again, and
// merge takes that of another directory.
func TestDamagedPlan(t *testing.T) {
	p, pairs, dir, _, want := done(t)
	said := warnings(t)
	damage := func() {
		if err := os.WriteFile(filepath.Join(dir, planFile), []byte("{"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	other := t.TempDir()
	if err := prepare(other, journal.ByShard, p); err != nil {
		t.Fatal(err)
	}
	damage()
	if _, err := Merge(t.Context(), []string{dir}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "this is no plan of a campaign") {
		t.Errorf("no plan: %v", err)
	}
	if union(t, dir, other) != want {
		t.Error("another result")
	}
	shards(t, p, pairs, dir, 1)
	if union(t, dir) != want || !strings.Contains(said.String(), "it is now campaign.json.damaged") {
		t.Errorf("it says %q", said)
	}
}

// TestMergesAtOnce runs merges of parts of the units into one directory at the same time, with the
// same process id, while a shard begins there: nothing is lost, and nothing is left of what was
// being written.
func TestMergesAtOnce(t *testing.T) {
	p, _, _, _, want := done(t)
	lines := strings.SplitAfter(strings.TrimSuffix(want, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	const merges = 5
	parts := make([]string, merges)
	for i := range parts {
		parts[i] = t.TempDir()
		if err := prepare(parts[i], journal.ByShard, p); err != nil {
			t.Fatal(err)
		}
		body := ""
		for n, line := range lines {
			if n%merges == i || n%7 == 0 {
				body += line
			}
		}
		writeLog(t, parts[i], fmt.Sprintf("%d-of-5.host.A", i), []byte(body))
	}
	for trial := range tier.Of(5, 15, 200) {
		out := t.TempDir()
		var wg sync.WaitGroup
		for i := range merges {
			wg.Go(func() {
				m, err := Merge(t.Context(), []string{parts[i], parts[(i+trial)%merges]}, out)
				if err != nil {
					t.Errorf("trial %d: %v", trial, err)
				} else if n := len(m.index.at); n < len(lines)/merges {
					t.Errorf("trial %d: merged %d units", trial, n)
				}
			})
		}
		wg.Go(func() {
			if err := prepare(out, journal.ByShard, p); err != nil {
				t.Errorf("trial %d: %v", trial, err)
				return
			}
			log, err := newShardLog(out, 0, 1)
			if err != nil {
				t.Errorf("trial %d: %v", trial, err)
				return
			}
			for n := range 3 {
				if _, err := log.add([]byte(lines[n])); err != nil {
					t.Errorf("trial %d: %v", trial, err)
				}
			}
			if err := log.close(); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		if union(t, out) != want {
			t.Fatalf("trial %d: units are lost", trial)
		}
		entries, err := os.ReadDir(filepath.Join(out, unitsDir))
		if err != nil || len(entries) > merges+1 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") }) {
			t.Fatalf("trial %d: %v, %v", trial, entries, err)
		}
	}
}
