//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// stallArgs is a run with a child that answers twenty requests, as long as there is a
// file stalls: what a slow child does before it is killed.
var stallArgs = []string{"run", "--json", "--a", "exec:mmachild -bad stalls ampere mma.m16n8k8.f32.f16.f16.f32 join.align.f=25",
	"--b", "sim:ampere", "--count", "3000", "--workers", "1", "--out", "out"}

// TestKill9InEpoch kills a run again and again in the middle of its first epoch, which
// no part of it completes, as soon as it has written what it has done: it comes to its
// end, which is that of the uninterrupted run to the last byte.
func TestKill9InEpoch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for checkpoints")
	}
	complete := t.TempDir()
	p := start(t, complete, stallArgs...)
	if code := p.wait(t); code != exitMismatch {
		t.Fatalf("the uninterrupted run: exit code %d: %s", code, &p.stderr)
	}
	saveSummary(t, complete, p)
	want, err := readTree(complete)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	stalls := filepath.Join(dir, "stalls")
	if err := os.WriteFile(stalls, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for {
		p := start(t, dir, stallArgs...)
		if killedWhenWritten(t, p, filepath.Join(dir, "out", "journal.epoch")) {
			if kills++; kills > 20 {
				t.Fatal("killed 20 times, and no end in sight")
			}
			continue
		}
		if code := p.ProcessState.ExitCode(); code != exitMismatch {
			t.Fatalf("after %d kills: exit code %d: %s", kills, code, &p.stderr)
		}
		saveSummary(t, dir, p)
		break
	}
	if kills < 2 {
		t.Errorf("killed %d times: nothing was interrupted", kills)
	}
	if err := os.Remove(stalls); err != nil {
		t.Fatal(err)
	}
	got, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := differences(want, got); d != "" {
		t.Errorf("after %d kills, different: %s", kills, d)
	}
}

// killedWhenWritten kills a process when a file has grown, and reports whether it did so
// before the process ended.
func killedWhenWritten(t *testing.T, p *process, file string) bool {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := size()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.Wait()
	}()
	limit := time.After(2 * time.Minute)
	for {
		select {
		case <-ended:
			return false
		case <-limit:
			_ = p.Process.Kill()
			<-ended
			t.Fatalf("nothing was written: %s", &p.stderr)
		case <-time.After(20 * time.Millisecond):
		}
		if size() > before {
			_ = p.Process.Kill()
			<-ended
			return true
		}
	}
}
