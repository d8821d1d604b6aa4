//go:build unix

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

var (
	damages = flag.Int("damages", 0, "files of every kind that TestDamages damages (0: as many as the tier says)")
	kills   = flag.Int("kills", 0, "kills of every command by TestKill... (0: as many as the tier says)")
)

// damageKind is a kind of file that mmafuzz reads again.
type damageKind struct {
	name   string
	text   string     // of the file
	copy   string     // the file is a copy of this one
	make   [][]string // commands that make it, and what the others need
	files  string     // pattern
	read   [][]string // commands that read it
	result string     // a file that has the results, where what is printed also says how they came about
	again  string     // all files under this path are made again as they were; "": not asked
	// healed: what is damaged is made again, and nobody is needed. plain: the file has no checksum,
	// so that one with another number in it is another good one.
	healed, plain bool
}

var (
	damageRun   = []string{"run", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "3000", "--out", "out"}
	damageStudy = []string{"study", "bias", "sim:volta", "sim:turing", "--count", "50", "--out", "out"}
	planArgs    = []string{"campaign", "plan", "--targets", "sim:ampere,sim:hopper,sim:turing", "--inst", "mma.m16n8k8.f32.f16.f16.f32",
		"--gen", "pattern,cut,tie,raw", "--count", "4000", "--unit", "1024", "--out", "c.json"}
	shardArgs = []string{"run", "--campaign", "c.json", "--out", "units", "--workers", "1"}
	damageRec = []string{"record", "--target", "sim:hopper", "--plan", "smoke", "--out", "x.rec"}
	setArgs   = []string{"vectors", "--arch", "volta", "--inst", "mma.m8n8k4.f32.f16.f16.f32", "--format", "json", "--out", "set"}
)

const damageModel = `{
  "v": 1,
  "name": "plain",
  "formats": {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"},
  "k": 4,
  "params": {
    "join": {"align": {"f": 24, "mode": "rz"}},
    "acc": {"frac": 23, "mode": "rz", "emin": -126, "emax": 127}
  }
}
`

var damageKinds = []damageKind{
	{name: "bundles of a run", make: [][]string{damageRun}, files: "out/*/*/*", read: [][]string{damageRun}, healed: true},
	{name: "journals of a run", make: [][]string{damageRun}, files: "out/journal", read: [][]string{damageRun}, again: "out/", healed: true},
	{name: "journals of a study", make: [][]string{damageStudy}, files: "out/journal", read: [][]string{damageStudy}, again: "out/", healed: true},
	{name: "bundles", make: [][]string{damageRun}, files: "out/*/truncation-width-1/*", read: [][]string{{"replay", "out/mma.m16n8k8.f32.f16.f16.f32/truncation-width-1"}}},
	{name: "unit logs", make: [][]string{planArgs, shardArgs}, files: "units/units/*", read: [][]string{shardArgs, {"merge", "units", "--out", "merged"}}, healed: true},
	{name: "plans", make: [][]string{planArgs}, files: "c.json", read: [][]string{shardArgs}, plain: true},
	{name: "recordings", make: [][]string{damageRec}, files: "x.rec", read: [][]string{{"run", "--a", "replay:x.rec", "--b", "sim:hopper"}}},
	{name: "vectors", copy: "../../corpus/vectors/sets/volta/mma.m8n8k4.f32.f16.f16.f32.json", files: "set.json",
		read: [][]string{{"vectors", "--check", "set.json", "--target", "sim:volta"}}, plain: true},
	{name: "models", text: damageModel, files: "m.json",
		read: [][]string{{"run", "--a", "model:m.json", "--b", "ref:exact", "--count", "2000", "--out", "out"}}, plain: true},
	{name: "journals of an inference", make: [][]string{inferArgs}, files: "out/journal", read: [][]string{inferArgs}, result: "out/model.json", healed: true}, // the last one: only in the long tier
}

// TestDamages damages files of every kind in every way. No damage ends in a panic, and none is
// silent: the results are the same, or it is said what is wrong.
func TestDamages(t *testing.T) {
	n := max(*damages, tier.Of(1, 1, 2, 340))
	made := maker(t)
	for _, kind := range damageKinds[:len(damageKinds)-tier.Of(1, 1, 0)] {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			text := kind.text
			if kind.copy != "" {
				text = string(read(t, kind.copy))
			}
			whole := made(kind.make)
			if text != "" {
				whole = t.TempDir()
				writeFile(t, filepath.Join(whole, kind.files), text)
			}
			want := kind.outcome(t, copied(t, whole))
			rng := rand.New(rand.NewPCG(9, 10))
			counts := map[string]int{}
			for range n {
				dir := copied(t, whole)
				files, err := filepath.Glob(filepath.Join(dir, kind.files))
				if err != nil || len(files) == 0 {
					t.Fatalf("no files %s", kind.files)
				}
				file := files[rng.IntN(len(files))]
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, file, string(damaged(rng, body)))
				got := kind.outcome(t, dir)
				verdict := kind.verdict(want, got)
				counts[verdict]++
				if verdict == "" {
					t.Errorf("%s: %s; stdout:\n%s\nstderr:\n%s", file, got.codes, got.stdout, got.stderr)
				}
				if err := os.RemoveAll(dir); err != nil && verdict != "" {
					t.Fatal(err)
				}
			}
			t.Logf("%d damaged: %v", n, counts)
		})
	}
}

// maker returns a function that returns a directory in which commands were run, each sequence of
// commands once. Nothing may be written there.
func maker(t *testing.T) func(commands [][]string) string {
	all := map[string]func() string{}
	var mu sync.Mutex
	return func(commands [][]string) string {
		mu.Lock()
		key := fmt.Sprint(commands)
		if all[key] == nil {
			all[key] = sync.OnceValue(func() string {
				dir := t.TempDir()
				for _, args := range commands {
					if p := start(t, dir, args...); p.wait(t) > exitMismatch {
						t.Errorf("%v: %s", args, &p.stderr)
					}
				}
				return dir
			})
		}
		make := all[key]
		mu.Unlock()
		return make()
	}
}

// killKinds are commands that are killed and go on, or begin again; TestKill9 has run and
// TestKill9Infer infer.
var killKinds = []struct {
	name string
	make [][]string // what they need
	args []string
	same []string // the files that are as without a kill; nil: all
}{
	{name: "shard", make: [][]string{planArgs}, args: shardArgs, same: []string{}},
	{name: "merge", make: [][]string{planArgs, shardArgs}, args: []string{"merge", "units", "--out", "merged"}},
	{name: "record", args: damageRec},
	{name: "compare", make: [][]string{damageRec}, args: []string{"compare", "x.rec", "sim:ampere", "--out", "out", "--date", "2026-01-01"}},
	{name: "kernels", args: []string{"run", "--a", "sim:ampere/mma.m16n8k16.f32.f16.f16.f32@plain", "--b", "sim:ampere/mma.m16n8k16.f32.f16.f16.f32@split-k", "--out", "out"}},
	{name: "vectors", args: setArgs}, // the last one: only in the long tier
}

// TestKills kills each command at random moments, again and again until it ends by itself: no file
// is left over and nothing is lost.
func TestKills(t *testing.T) {
	n := max(*kills, tier.Of(0, 1, 1, 43))
	made := maker(t)
	for _, kind := range killKinds[:tier.Of(4, 2, len(killKinds))] {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			before := made(kind.make)
			whole := copied(t, before)
			began := time.Now()
			p := start(t, whole, kind.args...)
			code := p.wait(t)
			length := time.Since(began)
			want := tree(t, whole)
			if code > exitMismatch {
				t.Fatalf("%v: exit code %d: %s", kind.args, code, &p.stderr)
			}
			rng := rand.New(rand.NewPCG(11, 12))
			killed := 0
			for tries := int64(0); killed < n && tries < 20*int64(n); {
				dir := copied(t, before)
				for most := killed + 4; ; tries++ {
					p := start(t, dir, kind.args...)
					if killed < min(most, n) {
						timer := time.AfterFunc(time.Duration(rng.Int64N(int64(length)*(tries%4+1)/3)), func() { _ = p.Process.Kill() })
						defer timer.Stop()
					}
					again := p.wait(t)
					if again == -1 {
						killed++
						continue
					}
					if again != code {
						t.Fatalf("after %d kills: exit code %d: %s", killed, again, &p.stderr)
					}
					break
				}
				got := tree(t, dir)
				if left := slices.DeleteFunc(slices.Sorted(maps.Keys(got)), func(name string) bool {
					_, ok := want[name]
					return ok || strings.HasPrefix(name, "units/units/") && !strings.HasPrefix(filepath.Base(name), ".")
				}); len(left) > 0 {
					t.Errorf("after %d kills there is left: %v", killed, left)
				}
				for name, body := range want {
					if kind.same == nil && got[name] != body || slices.Contains(kind.same, name) && got[name] != body {
						t.Errorf("after %d kills %s is another one", killed, name)
					}
				}
				tries++
			}
			t.Logf("killed %d times", killed)
		})
	}
}

// tree returns the files of a directory, without times.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		files[name] = masked(body)
	}
	return files
}

// outcome is what commands print and leave.
type outcome struct {
	codes          string
	stdout, stderr string
	files          map[string]string
}

// outcome runs the commands that read.
func (k *damageKind) outcome(t *testing.T, dir string) (o outcome) {
	t.Helper()
	for _, args := range k.read {
		p := start(t, dir, args...)
		o.codes += string(rune('0' + p.wait(t)%70)) // 75: 5
		o.stdout += masked(p.stdout.String())
		o.stderr += p.stderr.String()
	}
	o.files = tree(t, dir)
	return o
}

// verdict says what became of a damage; "" if it was silent, a panic, or nothing that it may be.
func (k *damageKind) verdict(want, got outcome) string {
	said := strings.Contains(got.stderr, "WRN") || strings.Contains(got.stderr, "mmafuzz: ")
	switch {
	case strings.Contains(got.stderr, "goroutine ") || strings.ContainsAny(got.codes, "-/346789"):
		return ""
	case got.codes == want.codes && got.stdout == want.stdout && maps.Equal(got.files, want.files):
		return "same files"
	case strings.Contains(got.codes, "2"):
		if !said || k.healed {
			return ""
		}
		return "refused"
	case got.codes == want.codes && (got.stdout == want.stdout || k.result != "" && got.files[k.result] == want.files[k.result]):
		return "same results"
	case k.again != "" && !maps.Equal(under(k.again, got.files), under(k.again, want.files)):
		return ""
	case said:
		return "said"
	case k.plain:
		return "another good file"
	}
	return ""
}

// under returns the files under a path, without those that were set aside.
func under(path string, files map[string]string) map[string]string {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(name, _ string) bool {
		return !strings.HasPrefix(name, path) || strings.HasSuffix(name, journal.DamagedSuffix)
	})
	return files
}

// damaged damages a file: bits, bytes, blocks, lines, its end.
func damaged(r *rand.Rand, body []byte) []byte {
	body = slices.Clone(body)
	if len(body) == 0 {
		return []byte("x")
	}
	at := r.IntN(len(body))
	end := min(len(body), at+1+r.IntN(200))
	switch r.IntN(8) {
	case 0, 1:
		body[at] ^= 1 << r.IntN(8)
	case 2:
		body[at] = byte(r.IntN(256))
	case 3:
		body = body[:at]
	case 4:
		clear(body[at:end])
	case 5:
		body = slices.Delete(body, at, end)
	case 6:
		body = slices.Insert(body, at, slices.Clone(body[at:end])...)
	case 7:
		lines := strings.SplitAfter(string(body), "\n")
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		body = []byte(strings.Join(lines, ""))
	}
	return body
}

// copied copies a directory.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
