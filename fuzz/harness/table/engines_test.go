//go:build linux

package table

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/harness"
)

// Called with the argument campaignArg, the test program runs a campaign of mmafuzz, which writes
// foundAt and a number.
const (
	campaignArg = "campaign"
	foundAt     = "#"
)

// anEngine is a column of the table.
type anEngine struct {
	name string
	args func(b *built, fault string, seed int, dir string) []string
	env  []string
}

var engines = []anEngine{
	{name: "mmafuzz", args: func(b *built, fault string, seed int, _ string) []string {
		return []string{b.self, campaignArg, fault, strconv.Itoa(seed)}
	}},
	{name: "go test -fuzz", args: func(b *built, _ string, seed int, dir string) []string {
		return []string{"env", "GODEBUG=fuzzseed=" + strconv.Itoa(seed), b.test, "-test.run=^$", "-test.fuzz=^FuzzPair$", "-test.parallel=1",
			"-test.fuzzminimizetime=5x", "-test.fuzzcachedir=" + dir}
	}},
	{name: "go-fuzz", args: func(b *built, _ string, _ int, dir string) []string {
		return []string{b.goFuzz, "-bin", b.zip, "-procs", "1", "-workdir", dir}
	}},
	{name: "libFuzzer, bytes", env: []string{"MMAFUZZ_MUTATOR=bytes"}, args: libFuzzer},
	{name: "libFuzzer, mutator", args: libFuzzer},
}

func libFuzzer(b *built, _ string, seed int, dir string) []string {
	return []string{b.libFuzzer, "-seed=" + strconv.Itoa(seed), "-artifact_prefix=" + dir + "/", filepath.Join(dir, "corpus")}
}

// patience is how long an engine may run: it ends one that waits for something.
const patience = 5 * time.Minute

// build builds what the engines run.
func build(dir string) (*built, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &built{dir: dir, self: self}
	b.test, b.zip, b.libFuzzer = b.file("harness.test"), b.file("pair.zip"), b.file("pair.libfuzzer")
	for _, command := range [][]string{
		{"go", "test", "-c", "-fuzz=FuzzPair", "-o", b.test, "./fuzz/harness"},
		{"go", "tool", "go-fuzz-build", "-func", "FuzzPair", "-o", b.zip, "./fuzz/harness"},
		{"fuzz/harness/libfuzzer/build", b.libFuzzer},
	} {
		build := exec.Command(command[0], command[1:]...)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	out, err := exec.Command("go", "tool", "-n", "go-fuzz").Output() // its path: go tool itself would not pass signals on
	b.goFuzz = strings.TrimSpace(string(out))
	return b, err
}

// run runs an engine until the fault shows or the processor time is over.
func (e *anEngine) run(b *built, f *harness.Fault, seed int, limit time.Duration) (run, error) {
	r := run{fault: f.Name, engine: e.name, seed: seed}
	dir, err := os.MkdirTemp(b.dir, "run")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	pair, err := harness.OpenPair(harness.FaultPair(f))
	if err != nil {
		return r, err
	}
	if err := writeSeeds(filepath.Join(dir, "corpus"), fuzz.NewPairChecker(pair).Seeds()); err != nil {
		return r, err
	}
	count := filepath.Join(dir, "executions")
	args := e.args(b, f.Name, seed, dir)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(e.env, harness.PairVar+"="+harness.FaultPair(f), harness.CountVar+"="+count)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // its processes are found by their session
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return r, err
	}
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for done := false; !done; {
		select {
		case err = <-ended:
			done = true
			ended <- err
			r.cpu = max(r.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		case <-time.After(10 * time.Millisecond):
			r.cpu = max(r.cpu, sessionTime(cmd.Process.Pid))
		}
		if r.executions, r.found, err = executions(count); err != nil {
			return r, err
		}
		if done && !r.found {
			return r, fmt.Errorf("%s ended without a find: %v\n%s", e.name, cmd.ProcessState, out.Bytes())
		}
		done = done || r.found || r.cpu >= limit || time.Since(began) > patience
	}
	endSession(cmd.Process.Pid)
	<-ended
	if !r.found && r.cpu < limit {
		return r, fmt.Errorf("%s took %v of processor time in %v, and found nothing\n%s", e.name, r.cpu, patience, out.Bytes())
	}
	return r, nil
}

// executions reads the file of harness.CountVar.
func executions(count string) (n int, found bool, err error) {
	text, err := os.ReadFile(count)
	if os.IsNotExist(err) {
		return 0, false, nil
	}
	if number, ok := strings.CutPrefix(string(text), foundAt); ok {
		n, err = strconv.Atoi(number)
		return n, true, err
	}
	if at := bytes.IndexByte(text, harness.Differ); at >= 0 {
		return at + 1, true, err
	}
	return len(text), false, err
}

// writeSeeds writes inputs into files, named as go-fuzz and libFuzzer name them.
func writeSeeds(dir string, seeds [][]byte) error {
	err := os.MkdirAll(dir, 0o777)
	for _, s := range seeds {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%x", sha1.Sum(s))), s, 0o666)
		}
	}
	return err
}

// sessionTime returns the processor time of the processes of a session, and of their
// children that have ended.
func sessionTime(session int) time.Duration {
	var ticks int64
	for _, fields := range processes(session) {
		for _, n := range fields[11:15] { // utime, stime, cutime, cstime
			t, _ := strconv.ParseInt(n, 10, 64)
			ticks += t
		}
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ
}

func endSession(session int) {
	for pid := range processes(session) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// processes returns, for each process of a session, the fields of /proc/PID/stat after the
// name.
func processes(session int) map[int][]string {
	all := map[int][]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 15 && fields[3] == strconv.Itoa(session) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			all[pid] = fields
		}
	}
	return all
}
