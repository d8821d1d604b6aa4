//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
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

// process is mmafuzz in a process of its own, in a directory of its own.
type process struct {
	*exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("mmafuzz", args...)}
	p.Dir, p.Stdout, p.Stderr = dir, &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait returns the exit code, -1 for a process that was killed.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// killArgs is a counted run with all kinds of work in it: several pairs and
// epochs, some ten bundles.
var killArgs = []string{"run", "--json", "--targets", "sim:volta,sim:ampere,sim:hopper", "--inst", "mma.m16n8k16.f32.f16.f16.f32",
	"--count", "400000", "--per-bucket", "2", "--out", "out"}

// TestKill9 kills a counted run at random moments and runs it again until it
// ends, several times over: what it finds is what an uninterrupted one finds, to
// the last byte of the bundles, the journal and the summary.
func TestKill9(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes many runs")
	}
	began := time.Now()
	complete := t.TempDir()
	if p := start(t, complete, killArgs...); p.wait(t) != exitMismatch {
		t.Fatalf("the uninterrupted run: %s", &p.stderr)
	} else {
		saveSummary(t, complete, p)
	}
	length := time.Since(began)
	want, err := readTree(complete)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	killed, resumed, runs := 0, 0, 0
	few := max(*kills, tier.Of(0, 1, 3, 12))
	more := func() bool { return killed < few || resumed == 0 && killed < max(48, 4*few) }
	for more() {
		runs++
		dir := t.TempDir()
		for tries := int64(0); ; tries++ {
			p := start(t, dir, killArgs...)
			if more() {
				// On a machine that has become slower, later and later.
				within := int64(length) * (4 + tries) / 4
				timer := time.AfterFunc(time.Duration(rng.Int64N(within)), func() { _ = p.Process.Kill() })
				defer timer.Stop()
			}
			code := p.wait(t)
			if code == -1 {
				killed++
				continue
			}
			if code != exitMismatch {
				t.Fatalf("after %d kills: exit code %d: %s", killed, code, &p.stderr)
			}
			if strings.Contains(p.stdout.String(), `"event":"start"`) && !strings.Contains(p.stdout.String(), `"resumed":0,`) {
				resumed++
			}
			saveSummary(t, dir, p)
			break
		}
		got, err := readTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if d := differences(want, got); d != "" {
			t.Errorf("run %d, after %d kills in all: %d files, want %d; different: %s", runs, killed, len(got), len(want), d)
		}
	}
	t.Logf("killed %d times in %d runs of %v, of which %d ended after a resume; %d files", killed, runs, length, resumed, len(want))
	if resumed == 0 {
		t.Error("no run was resumed in the middle: the run is too short for the kills")
	}
}

// inferArgs is an inference of a second or so.
var inferArgs = []string{"infer", "--target", "exec:mmachild x86 dppd", "--checks", "300", "--seed", "2", "--out", "out"}

// TestKill9Infer kills an inference at random moments and runs it again until it
// ends, several times over: what it finds is what an uninterrupted one finds, to the
// last byte of the model, the pictures, the journal and, but for the time and what
// came from the journal, the report.
func TestKill9Infer(t *testing.T) {
	t.Parallel()
	if *kills == 0 {
		tier.LongOnly(t)
	}
	kills := max(*kills, tier.Of(0, 1, 2, 5))
	began := time.Now()
	complete := inferredTree(t, t.TempDir(), func(*process) bool { return false })
	length := time.Since(began)
	if len(complete) < 5 {
		t.Fatalf("%d files", len(complete))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for killed := 0; killed < kills; {
		tries := int64(0)
		got := inferredTree(t, t.TempDir(), func(p *process) bool {
			if killed >= kills {
				return false
			}
			// On a machine that has become slower, later and later.
			timer := time.AfterFunc(time.Duration(rng.Int64N(int64(length)*(4+tries)/4)), func() { _ = p.Process.Kill() })
			defer timer.Stop()
			if tries++; p.wait(t) != -1 {
				return false
			}
			killed++
			return true
		})
		if d := differences(complete, got); d != "" {
			t.Errorf("after %d kills in all, different: %s", killed, d)
		}
	}
}

// inferredTree runs an inference again as long as killed says that it was killed,
// and returns its files.
func inferredTree(t *testing.T, dir string, killed func(p *process) bool) map[string]string {
	p := start(t, dir, inferArgs...)
	for killed(p) {
		p = start(t, dir, inferArgs...)
	}
	if p.ProcessState == nil {
		p.wait(t)
	}
	if code := p.ProcessState.ExitCode(); code != exitAgree {
		t.Fatalf("exit code %d: %s", code, &p.stderr)
	}
	files, err := readTree(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	var report map[string]any
	if err := json.Unmarshal([]byte(files["report.json"]), &report); err != nil {
		t.Fatal(err)
	}
	strip(report)
	stats := report["stats"].(map[string]any)
	delete(stats, "resumed")
	delete(stats, "confirmed")
	body, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	files["report.json"] = string(body)
	text := strings.Split(strings.TrimSpace(files["report.md"]), "\n")
	files["report.md"] = strings.Join(text[:len(text)-1], "\n") // the last line has the time
	return files
}

// saveSummary writes the last event, without times, beside the bundles.
func saveSummary(t *testing.T, dir string, p *process) {
	t.Helper()
	all := objects(t, p.stdout.Bytes())
	last := all[len(all)-1]
	if last["event"] != "summary" {
		t.Fatalf("the last event is %v", last["event"])
	}
	strip(last)
	body, err := json.MarshalIndent(last, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "summary.json"), body, 0o666); err != nil {
		t.Fatal(err)
	}
}

// endless is a run that only an interrupt ends.
var endless = []string{"run", "--json", "--a", "sim:ampere", "--b", "sim:hopper", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--time", "10h", "--out", "out"}

// TestInterrupt checks that Ctrl-C ends a run soon, with the summary and the exit
// code of what was found so far, and that the run can be resumed.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dots := interrupted(t, dir, 0)
	if again := interrupted(t, dir, dots); again <= dots {
		t.Errorf("%v dot products after the second part, %v after the first", again, dots)
	}
}

// interrupted runs until the first progress, interrupts, and returns the number
// of dot products in the summary.
func interrupted(t *testing.T, dir string, resumed float64) (dots float64) {
	t.Helper()
	cmd := exec.Command("mmafuzz", endless...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	lines := bufio.NewReader(out)
	var summary map[string]any
	sent := time.Time{}
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		o := objects(t, line)[0]
		switch o["event"] {
		case "start":
			if o["resumed"] != resumed {
				t.Errorf("resumed after %v dot products, want %v", o["resumed"], resumed)
			}
		case "progress":
			if sent.IsZero() {
				sent = time.Now()
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		case "summary":
			summary = o
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitIncomplete {
		t.Errorf("it ended with %v, want exit code 75", err)
	}
	if took := time.Since(sent); took > time.Minute {
		t.Errorf("the interrupt took %v", took)
	}
	if summary == nil || summary["interrupted"] != true || summary["complete"] != false || summary["mismatches"].(float64) == 0 {
		t.Fatalf("the summary is %v", summary)
	}
	return summary["dots"].(float64)
}

// TestInterruptAtOnce interrupts a run that has found nothing yet, eval while it waits for
// input, and commands that wait for a child's first word.
func TestInterruptAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"run", "--a", "sim:ampere", "--b", "sim:ada", "--inst", "mma.m16n8k8.f32.f16.f16.f32", "--time", "10h"}, exitIncomplete, "mmafuzz: interrupted\nmmafuzz: hint: "},
		{[]string{"eval", "--target", "sim:ampere", "--inst", "mma.m16n8k8.f32.f16.f16.f32"}, exitIncomplete, "mmafuzz: interrupted\n"},
		{[]string{"run", "--a", "exec:sleep 1000", "--b", "sim:ada"}, exitIncomplete, "mmafuzz: interrupted\n"},
		{[]string{"infer", "--target", "exec:sleep 1000"}, exitIncomplete, "mmafuzz: interrupted\n"},
		{[]string{"list", "instructions", "exec:sleep 1000"}, exitIncomplete, "mmafuzz: interrupted\n"},
		{[]string{"compare", "sim:hopper", "exec:sleep 1000"}, exitIncomplete, "mmafuzz: interrupted\n"},
	} {
		interrupted := func(after time.Duration) (*process, int) {
			p := &process{Cmd: exec.Command("mmafuzz", c.args...)}
			p.Dir, p.Stdout, p.Stderr = t.TempDir(), &p.stdout, &p.stderr
			if _, err := p.StdinPipe(); err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			return p, p.wait(t)
		}
		const soon = 200 * time.Millisecond
		p, code := interrupted(soon)
		for after := 4 * soon; code == -1 && after < 20*time.Second; after *= 4 { // the signal came before its handler
			p, code = interrupted(after)
		}
		if code != c.code || !strings.Contains(p.stderr.String(), c.says) {
			t.Errorf("%s: exit code %d, want %d: %s", c.args[0], code, c.code, &p.stderr)
		}
		if c.args[2] == "sim:ampere" && c.args[0] == "run" && (!strings.Contains(p.stdout.String(), "incomplete: interrupted; ") || !strings.Contains(p.stdout.String(), "to go on: the same command with --out mmafuzz-out")) {
			t.Errorf("%s", &p.stdout)
		}
	}
}
