package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cuda/testdata/cudatest"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == prove.BuiltinCommand) { // this program as its own child, which else would run the tests
		cudatest.Register()
		main()
	}
	testscript.Main(waiting{m}, programs)
}

// waiting runs twice as many tests at the same time as there are processors: many of them wait
// for what they have killed or stopped.
type waiting struct{ *testing.M }

// Run sets the number of tests, unless -parallel does, and runs them.
func (w waiting) Run() int {
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		if err := parallel.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	return w.M.Run()
}

// programs are the commands of the scripts.
var programs = map[string]func(){
	"mmafuzz":   func() { statusFirst = time.Minute; cudatest.Register(); main() },
	"mmachild":  mmachild,
	"mmaunit":   mmaunit,
	"mmakernel": mmakernel,
}

// program is the variable of the environment with a command that the scripts run as
// mmafuzz instead of the program under test, such as that program built for another
// processor in an emulator: qemu-aarch64 -0 mmafuzz -cpu max /tmp/mmafuzz.arm64.
const program = "MMAFUZZ_PROGRAM"

// TestScript runs testdata/script: every command as a user calls it, with exact
// output and exit codes. go test ./cmd/mmafuzz -run TestScript -update rewrites
// what changed.
func TestScript(t *testing.T) {
	hwvectors, err := filepath.Abs("../../../shared/hwvectors")
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	instead := installProgram(t)
	driver, err := "", errors.New("the program is another one: "+program)
	if instead == "" {
		driver, err = cudatest.Compile(t.TempDir())
	}
	if err != nil {
		t.Logf("THE CUDA DRIVER IS NOT TESTED: %v", err)
	}
	processor := sync.OnceValue(processorNow)
	// Under nohup the programs would ignore HUP as well. A signal that this process catches is
	// not ignored by its children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *golden.Update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HWVECTORS", hwvectors)
			e.Setenv("MODULE", module)
			e.Setenv("FAKE_LIBCUDA", driver)
			if instead != "" {
				e.Setenv("PATH", instead+string(filepath.ListSeparator)+e.Getenv("PATH"))
			}
			e.Setenv("MMAFUZZ", filepath.Join(filepath.SplitList(e.Getenv("PATH"))[0], "mmafuzz"))
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY"} {
				e.Setenv(name, goEnv(name))
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "hwvectors":
				_, err := os.Stat(hwvectors)
				return err == nil, nil
			case "libcuda":
				return driver != "", nil
			case "full":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			case "long":
				return tier.Long(), nil
			case "nightly":
				return tier.Nightly(), nil
			case "race":
				return tier.Race, nil
			case "program":
				return instead != "", nil
			case "emulated":
				return processor().emulator != "", nil
			}
			if inst, ok := strings.CutPrefix(name, "cpu:"); ok {
				return slices.Contains(processor().instructions, inst), nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"rc": cmdRC, "known": cmdKnown, "mask": cmdMask, "plain": cmdPlain, "same": cmdSame, "record": cmdRecord, "edit": cmdEdit,
			"fits": cmdFits, "errors": cmdErrors, "reseal": cmdReseal, "again": cmdAgain, "head": cmdHead, "forge": cmdForge,
		},
	})
}

// installProgram makes a directory with the program of the environment variable under
// the name mmafuzz, "" without that variable.
func installProgram(t *testing.T) string {
	t.Helper()
	command := os.Getenv(program)
	if command == "" {
		return ""
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mmafuzz"), []byte("#!/bin/sh\nexec "+command+" \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// answers are what the program under test says of its processor.
type answers struct {
	emulator     string
	instructions []string
}

// processorNow asks the program of the environment variable, or this one.
func processorNow() answers {
	name := "cpu:0"
	if command := os.Getenv(program); command != "" {
		name = "exec:" + command + " serve cpu:0"
	}
	var p answers
	t, err := devices.Open(name)
	if err != nil {
		return p
	}
	defer t.Close()
	p.emulator = t.Environment()["emulator"]
	for _, i := range t.Instructions() {
		p.instructions = append(p.instructions, i.Name)
	}
	return p
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return os.Getenv(name)
	}
	return strings.TrimSpace(string(out))
}

// cmdRC runs a command and checks its exit code:
//
//	rc 2 mmafuzz run --count x
func cmdRC(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: rc CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// cmdKnown writes a table, or stdout or stderr, without the rows that a file does not have:
// those that are new in this project. With -update it has all of them.
//
//	known FROM FILE TO
func cmdKnown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: known FROM FILE TO")
	}
	text := ts.ReadFile(args[0])
	known, fresh := golden.Known(ts.ReadFile(args[1]), text)
	for _, key := range fresh {
		ts.Logf("%s: %s is not there yet: -update adds it", args[1], key)
	}
	if *golden.Update {
		known = text
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(known), 0o666))
}

// masks hide what differs from run to run and from machine to machine.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\(\d+\.\d s, \S+/s\)`), "(TIME)"},
	{regexp.MustCompile(`[0-9.]+[kMG]?B in `), "SIZE in "},
	{regexp.MustCompile(`(?m)^ *\d+:\d\d  .*\bdot products  .*\n`), ""}, // every ten seconds
	{regexp.MustCompile(`(?m)^ *\d+:\d\d  `), "  TIME  "},
	{regexp.MustCompile(`--count \d+`), "--count N"},
	{regexp.MustCompile(`mmafuzz-out/[0-9a-f]{8}`), "mmafuzz-out/CAMPAIGN"}, // which has the digests of the catalogue in it
	{regexp.MustCompile(`(?m)^(sim:.*): \d+ instructions?(, \d+ without a model)?$`), "$1: N instructions"},
	{architectures, "(known: ARCHITECTURES)"},
}

// architectures is the list of those in an error: it grows.
var architectures = regexp.MustCompile(`\(known: [^)]*\bvolta, [^)]*\)`)

// cmdMask writes a file, or stdout or stderr, without times and rates:
//
//	mask stdout screen.txt
func cmdMask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask FROM TO")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(masked(ts.ReadFile(args[0]))), 0o666))
}

// masked returns a text without what masks hide.
func masked(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// cmdPlain writes JSON lines without times, progress, environments and versions,
// one value a line:
//
//	plain stdout events.json
func cmdPlain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: plain FROM TO")
	}
	var out bytes.Buffer
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(line), &v))
		if v["event"] == "progress" {
			continue
		}
		strip(v)
		body, err := json.MarshalIndent(v, "", " ")
		ts.Check(err)
		out.Write(append(body, '\n'))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o666))
}

// strip removes what differs from run to run and from machine to machine.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"t", "seconds", "environment", "made", "versions"} {
			delete(v, name)
		}
		for _, x := range v {
			strip(x)
		}
	case []any:
		for _, x := range v {
			strip(x)
		}
	}
}

// cmdSame checks that two directories hold the same files:
//
//	same one/out two/out
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := readTree(ts.MkAbs(args[1]))
	ts.Check(err)
	if d := differences(a, b); (d != "") != neg {
		ts.Fatalf("%d and %d files; different: %s", len(a), len(b), d)
	}
}

// readTree returns the files of a directory by their path in it.
func readTree(root string) (map[string]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		files[name] = string(body)
		return err
	})
	return files, err
}

// differences names a file that is not the same in two trees, "" if there is none.
func differences(a, b map[string]string) string {
	for name, body := range a {
		if other, ok := b[name]; !ok || body != other {
			return name
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			return name
		}
	}
	return ""
}

// cmdRecord writes a recording of what the simulator of one architecture gives,
// as if it were another's instruction:
//
//	record FILE CLAIMED SIMULATED INSTRUCTION
func cmdRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: record FILE CLAIMED SIMULATED INSTRUCTION")
	}
	ts.Check(writeRecording(ts.MkAbs(args[0]), args[1], args[2], args[3]))
}

func writeRecording(file, claimed, simulated, inst string) error {
	return writeRecordingOf(file, "test", claimed, simulated, inst, func(d uint64) uint64 { return d })
}

// writeRecordingOf does that for a target whose results are changed.
func writeRecordingOf(file, target, claimed, simulated, inst string, change func(d uint64) uint64) error {
	i, err := mma.Lookup(claimed, inst)
	if err != nil {
		return err
	}
	unit, err := devices.OpenUnit("sim:"+simulated, inst, "")
	if err != nil {
		return err
	}
	b := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 4096})
	fillBatch(b)
	out := make([]byte, b.Dots()*i.D.Width())
	if err := unit.Run(context.Background(), b, out); err != nil {
		return err
	}
	for n := range b.Dots() {
		mma.Store(out, i.D.Width(), n, change(mma.Load(out, i.D.Width(), n)))
	}
	var buf bytes.Buffer
	w, err := corpus.NewRecordingWriter(&buf, corpus.Header{Target: target, Environment: map[string]string{"chip": "none"}})
	if err != nil {
		return err
	}
	s := corpus.Section{Arch: claimed, Instruction: i.Name, K: i.K, Generator: "test"}
	if err := errors.Join(w.Add(s, b, out), w.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, buf.Bytes(), 0o666)
}

// fillBatch fills a batch of FP16 and FP32 operands with finite numbers, always
// the same.
func fillBatch(b *mma.Batch) {
	state := uint64(1)
	next := func() uint64 {
		state = state*6364136223846793005 + 1442695040888963407
		return state >> 33
	}
	d := mma.NewDot(b.Formats, b.K)
	for i := range b.Tiles {
		for k := range d.A {
			d.A[k], d.B[k] = next()&0xbfff, next()&0xbfff
		}
		d.C = 0x3c000000 + next()&0x83ffffff
		b.Set(i, d)
	}
}

// cmdEdit replaces text in a file:
//
//	edit FILE OLD NEW
func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}

// cmdForge replaces text in a journal, or in the header of a recording, and makes the
// checksums right again:
//
//	forge FILE OLD NEW
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: forge FILE OLD NEW")
	}
	body := ts.ReadFile(args[0])
	if !strings.Contains(body, args[1]) {
		ts.Fatalf("%s does not have %q", args[0], args[1])
	}
	forged := forgedLog
	if strings.HasPrefix(body, "mmafuzz recording ") {
		forged = forgedRecording
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(forged(body, args[1], args[2])), 0o666))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func forgedLog(body, old, with string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.Replace(body, old, with, 1)) {
		_, record, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		fmt.Fprintf(&out, "%08x %s\n", crc32.Checksum([]byte(record), castagnoli), record)
	}
	return out.String()
}

func forgedRecording(body, old, with string) string {
	const frameHead = 9 // kind, length and checksum
	magic, rest, _ := strings.Cut(body, "\n")
	n := binary.LittleEndian.Uint32([]byte(rest[1:]))
	header := strings.Replace(rest[frameHead:frameHead+n], old, with, 1)
	frame := binary.LittleEndian.AppendUint32([]byte(rest[:1]), uint32(len(header)))
	frame = binary.LittleEndian.AppendUint32(frame, crc32.Checksum([]byte(rest[:1]+header), castagnoli))
	return magic + "\n" + string(frame) + header + rest[frameHead+n:]
}

// cmdErrors runs the commands of a file, which all fail, and writes each with its
// exit code and what it said to errors.txt:
//
//	errors FILE
func cmdErrors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: errors FILE")
	}
	var out strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		words := strings.Fields(line)
		var exit *exec.ExitError
		err := ts.Exec(words[0], words[1:]...)
		if !errors.As(err, &exit) || exit.ExitCode() != exitTrouble || ts.ReadFile("stdout") != "" {
			ts.Fatalf("%s: %v, stdout %q", line, err, ts.ReadFile("stdout"))
		}
		out.WriteString("$ " + line + ts.ReadFile("stderr"))
	}
	ts.Check(os.WriteFile(ts.MkAbs("errors.txt"), []byte(architectures.ReplaceAllString(out.String(), "(known: ARCHITECTURES)")), 0o666))
}

// cmdReseal makes the manifest of a bundle fit its files:
//
//	reseal BUNDLE
func cmdReseal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reseal BUNDLE")
	}
	dir := ts.MkAbs(args[0])
	manifest, err := os.ReadFile(filepath.Join(dir, "MANIFEST"))
	ts.Check(err)
	var out strings.Builder
	for line := range strings.Lines(string(manifest)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			body, err := os.ReadFile(filepath.Join(dir, name))
			ts.Check(err)
			fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(body), name)
		} else {
			out.WriteString(line)
		}
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte(out.String()), 0o666))
}

// cmdHead copies the first bytes of a file:
//
//	head FROM TO BYTES
func cmdHead(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: head FROM TO BYTES")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	body := ts.ReadFile(args[0])
	if n >= len(body) {
		ts.Fatalf("%s has %d bytes only", args[0], len(body))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(body[:n]), 0o666))
}

// cmdAgain runs the command of a file's line that begins with a word, as a user
// would copy it; "last" is the last line:
//
//	again 1 last screen.txt
func cmdAgain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: again CODE WORD FILE")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[2])), "\n")
	line := lines[len(lines)-1]
	for _, l := range lines {
		if strings.HasPrefix(l, args[1]) {
			line = l
		}
	}
	_, command, _ := strings.Cut(line, ": ")
	cmdRC(ts, false, append([]string{args[0]}, strings.Fields(command)...))
}

// cmdFits checks that no line of a file is wider than so many columns, but for
// those with a command to copy, and that it has no more than so many lines:
//
//	fits 100 stdout [40]
func cmdFits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: fits COLUMNS FILE [LINES]")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	if len(args) == 3 {
		lines, err := strconv.Atoi(args[2])
		ts.Check(err)
		if n := strings.Count(ts.ReadFile(args[1]), "\n"); n > lines {
			ts.Fatalf("%d lines, at most %d are wanted", n, lines)
		}
	}
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > most && !strings.Contains(line, " mmafuzz ") {
			ts.Fatalf("%d columns: %s", n, line)
		}
	}
}
