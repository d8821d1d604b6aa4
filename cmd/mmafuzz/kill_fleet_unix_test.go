//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// fleetPlan writes a plan of some 60 units into a directory. All generators are in it, but few
// inputs of each.
func fleetPlan(t *testing.T, dir string) {
	t.Helper()
	p := start(t, dir, "campaign", "plan", "--targets", "sim:ampere,sim:hopper,sim:turing", "--inst", "mma.m16n8k8.f32.f16.f16.f32",
		"--gen", "pattern,cut,tie,raw", "--count", "16000", "--unit", "1024", "--out", "c.json")
	if code := p.wait(t); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &p.stderr)
	}
}

// mergedTree merges what shards have left, and returns all files and the summary.
func mergedTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	p := start(t, dir, "merge", "--json", "units", "--out", "out")
	if code := p.wait(t); code != exitMismatch {
		t.Fatalf("merge: exit code %d: %s", code, &p.stderr)
	}
	saveSummary(t, filepath.Join(dir, "out"), p)
	files, err := readTree(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// noStrays checks that nothing is in a directory of shards or of a result but what belongs there:
// nothing of processes that were killed while they wrote.
func noStrays(t *testing.T, dir string) {
	t.Helper()
	logs, err := os.ReadDir(filepath.Join(dir, "units"))
	if err != nil {
		t.Error(err)
	}
	for _, e := range logs {
		if strings.HasPrefix(e.Name(), ".") || !strings.Contains(e.Name(), "-of-") && !strings.HasPrefix(e.Name(), "merged.") {
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
	for _, pattern := range []string{".*", "*/.*", "*.damaged"} {
		if left, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || left != nil {
			t.Errorf("%v is left in %s, %v", left, dir, err)
		}
	}
}

// TestKillShards kills shards of a campaign and merges at random moments, by -9 and by TERM, starts
// them again, and runs some of them twice: what is merged is the same, to the last byte, as that
// of one shard that nothing happened to, and no file is left over.
func TestKillShards(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes many processes")
	}
	complete := t.TempDir()
	fleetPlan(t, complete)
	one := start(t, complete, "run", "--campaign", "c.json", "--out", "units", "--workers", "1")
	if code := one.wait(t); code != exitAgree {
		t.Fatalf("one shard: exit code %d: %s", code, &one.stderr)
	}
	want := mergedTree(t, complete)
	if len(want) < 20 {
		t.Fatalf("%d files", len(want))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	kill := func(p *process, within int) {
		time.Sleep(time.Duration(rng.IntN(within)) * time.Millisecond)
		_ = p.Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[rng.IntN(2)])
	}
	killed, ended := 0, 0
	for _, n := range []int{3, 7}[:tier.Of(1, 1, 2)] {
		dir := t.TempDir()
		fleetPlan(t, dir)
		running := []int{0} // the first one is there twice
		for i := range n {
			running = append(running, i)
		}
		left := tier.Of(0, 4, 10, 120) // kills
		for len(running) > 0 {
			i := running[0]
			running = running[1:]
			p := start(t, dir, "run", "--campaign", "c.json", "--shard", fmt.Sprintf("%d/%d", i, n), "--out", "units", "--workers", "1", "--wait", "1s")
			if left > 0 {
				left--
				kill(p, []int{1, 200}[min(ended+killed, 1)]) // the first one as soon as it starts
			}
			switch code := p.wait(t); code {
			case exitAgree:
				ended++
			case -1, exitIncomplete: // the latter also where it needs results of others
				killed++
				running = append(running, i)
			default:
				t.Fatalf("shard %d: exit code %d: %s", i, code, &p.stderr)
			}
		}
		for range tier.Of(0, 2, 3, 50) {
			p := start(t, dir, "merge", "--json", "units", "--out", "out")
			kill(p, 1500)
			switch code := p.wait(t); code {
			case -1, exitIncomplete:
				killed++
			case exitMismatch:
				ended++
				if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
					t.Fatal(err)
				}
			default:
				t.Fatalf("merge: exit code %d: %s", code, &p.stderr)
			}
		}
		if d := differences(want, mergedTree(t, dir)); d != "" {
			t.Errorf("%d shards, %d killed: different: %s", n, killed, d)
		}
		noStrays(t, filepath.Join(dir, "units"))
		noStrays(t, filepath.Join(dir, "out"))
	}
	t.Logf("%d ended, %d were killed or are to go on; %d files", ended, killed, len(want))
	if killed == 0 {
		t.Error("nothing was killed before its end")
	}
}

// TestMergeNamespaces runs five merges into one directory at the same time, each in a namespace of
// processes, where it has the same id, as in containers. Nothing is lost.
func TestMergeNamespaces(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "-pf", "--mount-proc", "true").Run(); err != nil {
		t.Skipf("no namespaces here: %v; TestMergesAtOnce of package fleet has merges in one process", err)
	}
	dir := t.TempDir()
	p := start(t, dir, "campaign", "plan", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32",
		"--gen", "cut,raw", "--count", "8000", "--unit", "128", "--rounds", "1", "--out", "c.json")
	if code := p.wait(t); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &p.stderr)
	}
	const n = 5
	for i := range n {
		p := start(t, dir, "run", "--campaign", "c.json", "--shard", fmt.Sprintf("%d/%d", i, n), "--out", fmt.Sprintf("units%d", i))
		if code := p.wait(t); code != exitAgree {
			t.Fatalf("exit code %d: %s", code, &p.stderr)
		}
	}
	program, err := exec.LookPath("mmafuzz")
	if err != nil {
		t.Fatal(err)
	}
	for trial := range tier.Of(1, 2, 5, 200) {
		out := filepath.Join(dir, fmt.Sprintf("out%d", trial))
		var all []*exec.Cmd
		for i := range n {
			c := exec.Command("unshare", "-pf", "--mount-proc", program, "merge", fmt.Sprintf("units%d", i), "--out", out)
			c.Dir = dir
			all = append(all, c)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range all {
			_ = c.Wait()
			if code := c.ProcessState.ExitCode(); code != exitIncomplete && code != exitMismatch && code != exitTrouble { // trouble: another one is finishing
				t.Errorf("trial %d: exit code %d", trial, code)
			}
		}
		p := start(t, dir, "status", out)
		if code := p.wait(t); code != exitAgree {
			t.Errorf("trial %d: exit code %d: %s%s", trial, code, &p.stdout, &p.stderr)
		}
		noStrays(t, out)
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShardTerm checks that TERM, once or many times, ends a shard soon with 75, without its units
// in progress.
func TestShardTerm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "campaign", "plan", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--count", "1000000000000", "--out", "c.json")
	if code := p.wait(t); code != exitAgree {
		t.Fatalf("plan: exit code %d: %s", code, &p.stderr)
	}
	p = start(t, dir, "run", "--campaign", "c.json", "--shard", "3/5", "--out", "units")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if begun, _ := filepath.Glob(filepath.Join(dir, "units", "units", ".3-of-5.*")); len(begun) > 0 {
			break
		}
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for p.Process.Signal(syscall.SIGTERM) == nil {
			time.Sleep(time.Millisecond)
		}
	}()
	code := p.wait(t)
	<-ended
	if code != exitIncomplete || !strings.Contains(p.stderr.String(), "mmafuzz: interrupted\nmmafuzz: hint: the same command goes on") {
		t.Errorf("exit code %d: %s", code, &p.stderr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "units", "units", "*")); left != nil {
		t.Errorf("it has left %v", left)
	}
	noStrays(t, filepath.Join(dir, "units"))
}
