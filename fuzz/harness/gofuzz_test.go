//go:build gofuzzci

package harness

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// These tests build the go-fuzz harness and run it. They take a minute and are
// not part of go test ./...:
//
//	go test -tags gofuzzci -run TestGoFuzz ./fuzz/harness

// goFuzzPatience ends a run that does not get anywhere. Where it ends is no
// result of the tests.
const goFuzzPatience = 5 * time.Minute

func buildGoFuzz(t *testing.T) string {
	t.Helper()
	zip := filepath.Join(t.TempDir(), "pair.zip")
	if out, err := exec.Command("go", "tool", "go-fuzz-build", "-func", "FuzzPair", "-o", zip, ".").CombinedOutput(); err != nil {
		t.Fatalf("go-fuzz-build: %v\n%s", err, out)
	}
	return zip
}

// goFuzz is a running go-fuzz.
type goFuzz struct {
	t    *testing.T
	cmd  *exec.Cmd
	work string
	mu   sync.Mutex
	out  bytes.Buffer
	done chan struct{}
}

func (g *goFuzz) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.Write(p)
}

func (g *goFuzz) output() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.out.String()
}

func startGoFuzz(t *testing.T, zip, pair string) *goFuzz {
	t.Helper()
	// go tool would pass a signal on to nobody: run the program itself.
	tool, err := exec.Command("go", "tool", "-n", "go-fuzz").Output()
	if err != nil {
		t.Fatalf("go tool -n go-fuzz: %v", err)
	}
	g := &goFuzz{t: t, work: t.TempDir(), done: make(chan struct{})}
	g.cmd = exec.Command(strings.TrimSpace(string(tool)), "-bin", zip, "-workdir", g.work, "-procs", "2")
	g.cmd.Env = append(os.Environ(), PairVar+"="+pair)
	g.cmd.Stdout, g.cmd.Stderr = g, g
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		g.cmd.Wait()
		close(g.done)
	}()
	t.Cleanup(func() {
		g.cmd.Process.Signal(os.Interrupt) // it ends its children, too
		select {
		case <-g.done:
		case <-time.After(20 * time.Second):
			g.cmd.Process.Kill()
		}
	})
	return g
}

// until waits for a condition.
func (g *goFuzz) until(what string, ok func() bool) {
	g.t.Helper()
	for deadline := time.Now().Add(goFuzzPatience); !ok(); time.Sleep(100 * time.Millisecond) {
		select {
		case <-g.done:
			g.t.Fatalf("go-fuzz ended before %s:\n%s", what, g.output())
		default:
		}
		if time.Now().After(deadline) {
			g.t.Fatalf("no %s after %v:\n%s", what, goFuzzPatience, g.output())
		}
	}
}

// crashers returns the inputs that made the function panic.
func (g *goFuzz) crashers() [][]byte {
	files, _ := filepath.Glob(filepath.Join(g.work, "crashers", "*"))
	var inputs [][]byte
	for _, f := range files {
		if filepath.Ext(f) != "" {
			continue // .quoted and .output beside the input
		}
		if data, err := os.ReadFile(f); err == nil {
			inputs = append(inputs, data)
		}
	}
	return inputs
}

var goFuzzExecs = regexp.MustCompile(`execs: (\d+)`)

// execs returns the executions of the last status line.
func (g *goFuzz) execs() int {
	all := goFuzzExecs.FindAllStringSubmatch(g.output(), -1)
	if all == nil {
		return 0
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

// TestGoFuzzFindsFault runs go-fuzz on a unit that has a fault until it has a crasher, which
// must show it; and on the real models for some thousands of executions, which must be
// right.
func TestGoFuzzFindsFault(t *testing.T) {
	zip := buildGoFuzz(t)
	t.Run("fault", func(t *testing.T) {
		name := FaultPair(&Faults[1])
		g := startGoFuzz(t, zip, name)
		g.until("crasher", func() bool { return len(g.crashers()) > 0 })
		pair, err := OpenPair(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range g.crashers() {
			if _, err := fuzz.NewPairChecker(pair).Check(data); err == nil {
				t.Errorf("the crasher %x is none", data)
			}
		}
	})
	t.Run("none", func(t *testing.T) {
		const execs = 20_000
		g := startGoFuzz(t, zip, "")
		g.until("executions", func() bool { return g.execs() >= execs })
		for _, data := range g.crashers() {
			_, err := fuzz.NewChecker(mma.Arithmetics()).Check(data)
			t.Errorf("crasher %x: %v\n%s", data, err, g.output())
		}
	})
}
