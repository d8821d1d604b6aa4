//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// recordArgs is a recording that takes a while, on any number of workers.
var recordArgs = []string{"record", "--target", "sim:hopper", "--plan", "smoke", "--out", "x.rec", "--workers"}

// TestKill9Record kills a recording at random moments and starts it again until it
// ends: it is the uninterrupted one to the last byte.
func TestKill9Record(t *testing.T) {
	if !tier.Long() {
		t.Skip("takes many runs: only with MMAFUZZ_LONG=1")
	}
	began := time.Now()
	complete := t.TempDir()
	if p := start(t, complete, append(recordArgs, "2")...); p.wait(t) != exitAgree {
		t.Fatalf("the uninterrupted recording: %s", &p.stderr)
	}
	length := time.Since(began)
	want, err := os.ReadFile(filepath.Join(complete, "x.rec"))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	killed, resumed, runs := 0, 0, 0
	few := tier.Of(0, 0, 3, 10)
	more := func() bool { return killed < few || resumed == 0 && killed < 48 }
	for more() {
		runs++
		dir := t.TempDir()
		for tries := int64(0); ; tries++ {
			p := start(t, dir, append(recordArgs, []string{"1", "2", "5"}[tries%3])...)
			if more() {
				within := int64(length) * (2 + tries) / 4
				timer := time.AfterFunc(time.Duration(rng.Int64N(within)), func() { _ = p.Process.Kill() })
				defer timer.Stop()
			}
			code := p.wait(t)
			if strings.Contains(p.stderr.String(), "resumed after") {
				resumed++
			}
			if code == -1 {
				killed++
				continue
			}
			if code != exitAgree {
				t.Fatalf("after %d kills: exit code %d: %s", killed, code, &p.stderr)
			}
			break
		}
		if got, err := os.ReadFile(filepath.Join(dir, "x.rec")); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("run %d, after %d kills in all: %d bytes, want %d that are the same (%v)", runs, killed, len(got), len(want), err)
		}
	}
	t.Logf("killed %d times in %d runs of %v, resumed %d times; %d bytes", killed, runs, length, resumed, len(want))
	if resumed == 0 {
		t.Error("nothing was resumed: the recording is too short for the kills")
	}
}
