//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
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

// TestKillShards kills shards of a campaign at random moments, by -9 and by TERM, requeues
// them, and runs some of them twice: what is merged is the same, to the last byte, as that of
// one shard that nothing happened to.
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
	killed, ended := 0, 0
	for _, n := range []int{3, 7}[:tier.Of(1, 1, 2)] {
		dir := t.TempDir()
		fleetPlan(t, dir)
		shard := func(i int) *process {
			return start(t, dir, "run", "--campaign", "c.json", "--shard", fmt.Sprintf("%d/%d", i, n), "--out", "units", "--workers", "1")
		}
		running := []int{0} // the first one is there twice
		for i := range n {
			running = append(running, i)
		}
		left := tier.Of(0, 4, 20) // kills
		for len(running) > 0 {
			i := running[0]
			running = running[1:]
			p := shard(i)
			if left > 0 {
				left--
				with := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}[rng.IntN(2)]
				time.Sleep(time.Duration(50+rng.IntN(300)) * time.Millisecond)
				_ = p.Process.Signal(with)
			}
			switch code := p.wait(t); code {
			case exitAgree:
				ended++
			case -1, exitIncomplete:
				killed++
				running = append(running, i)
			default:
				t.Fatalf("shard %d: exit code %d: %s", i, code, &p.stderr)
			}
		}
		if d := differences(want, mergedTree(t, dir)); d != "" {
			t.Errorf("%d shards, %d killed: different: %s", n, killed, d)
		}
	}
	t.Logf("%d shards ended, %d were killed; %d files", ended, killed, len(want))
	if killed == 0 {
		t.Error("no shard was killed before its end")
	}
}

// TestKillTriage kills shards that divide the triage of some fifty cases, by -9 and by TERM: what is
// merged is the same as if none had done any.
func TestKillTriage(t *testing.T) {
	t.Parallel()
	if !tier.Long() {
		t.Skip("kills a dozen processes; TestTriage of package fleet has the same in one")
	}
	dir := t.TempDir()
	plan := start(t, dir, "campaign", "plan", "--targets", "sim:turing,sim:ampere,sim:cdna1,sim:cdna3", "--inst", "mma.m16n8k8.f32.f16.f16.f32",
		"--gen", "pattern,cut,special", "--count", "4000", "--unit", "1024", "--out", "c.json")
	if code := plan.wait(t); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &plan.stderr)
	}
	one := start(t, dir, "run", "--campaign", "c.json", "--out", "units")
	if code := one.wait(t); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &one.stderr)
	}
	want := mergedTree(t, dir)
	if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	const n = 3
	rng := rand.New(rand.NewPCG(7, 8))
	shard := func(i int) *process {
		return start(t, dir, "run", "--campaign", "c.json", "--shard", fmt.Sprintf("%d/%d", i, n), "--out", "units", "--workers", "1", "--lease", "1s")
	}
	running := [n]*process{shard(0), shard(1), shard(2)}
	killed := 0
	for left := 8; left > 0; left-- {
		time.Sleep(time.Duration(200+rng.IntN(600)) * time.Millisecond)
		i := rng.IntN(n)
		_ = running[i].Process.Signal([]os.Signal{syscall.SIGKILL, syscall.SIGTERM}[left%2])
		switch code := running[i].wait(t); code {
		case -1, exitIncomplete:
			killed++
		case exitAgree:
		default:
			t.Fatalf("shard %d: exit code %d: %s", i, code, &running[i].stderr)
		}
		running[i] = shard(i)
	}
	for i, p := range running {
		if code := p.wait(t); code != exitAgree {
			t.Errorf("shard %d: exit code %d: %s", i, code, &p.stderr)
		}
	}
	cases, err := filepath.Glob(filepath.Join(dir, "units", "triage", "case-*"))
	if err != nil || len(cases) < 30 || killed == 0 {
		t.Errorf("%d cases, %d shards were killed: %v", len(cases), killed, err)
	}
	if d := differences(want, mergedTree(t, dir)); d != "" {
		t.Errorf("%d killed: different: %s", killed, d)
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
		if leases, _ := filepath.Glob(filepath.Join(dir, "units", "leases", "0*")); len(leases) > 0 {
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
	if left, _ := filepath.Glob(filepath.Join(dir, "units", "leases", "*")); left != nil {
		t.Errorf("leases are left: %v", left)
	}
}
