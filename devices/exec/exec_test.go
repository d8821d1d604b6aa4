package exec_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// checked runs the tests and then looks for what they have left behind.
func checked(m *testing.M) int {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // children of a race build end at once
	slog.SetDefault(slog.New(slog.DiscardHandler))
	exec.Hurry()
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		return m.Run() // the fuzzer has goroutines and processes of its own
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	for range 3000 {
		if runtime.NumGoroutine() <= before {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%d goroutines are left, there were %d:\n%s", n, before, buf[:runtime.Stack(buf, true)])
		code = 1
	}
	if left := livingChildren(); left != "" {
		fmt.Fprintf(os.Stderr, "children are left: %s\n", left)
		code = 1
	}
	return code
}

// livingChildren returns the numbers of our child processes, where the system
// tells.
func livingChildren() string {
	files, _ := filepath.Glob("/proc/self/task/*/children")
	var all []string
	for _, f := range files {
		body, _ := os.ReadFile(f)
		all = append(all, strings.Fields(string(body))...)
	}
	return strings.Join(all, " ")
}

func open(t testing.TB, name string) devices.Target {
	t.Helper()
	target, err := devices.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

// unit opens an instruction of a target.
func unit(t testing.TB, name, inst string) devices.Unit {
	t.Helper()
	target := open(t, name)
	i, err := devices.Find(target, inst)
	if err != nil {
		t.Fatal(err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fill fills a batch with codes that are always the same.
func fill(b *mma.Batch) *mma.Batch {
	state := uint64(1)
	for _, buf := range [][]byte{b.A, b.B, b.C, b.SA, b.SB} {
		for i := range buf {
			state = state*6364136223846793005 + 1442695040888963407
			buf[i] = byte(state >> 56)
		}
	}
	for _, buf := range [][]byte{b.A, b.B} {
		for i := range buf {
			if b.Formats.A.Get().Bits() == 4 {
				buf[i] &= 15 // all that the container of an FP4 code holds
			}
		}
	}
	return b
}

// compare runs a batch on two units.
func compare(t *testing.T, u, want devices.Unit, s mma.Shape) {
	t.Helper()
	b := fill(mma.NewBatch(u.Instruction().Formats, s))
	w := b.Formats.D.Width()
	got, exp := make([]byte, s.Dots()*w), make([]byte, s.Dots()*w)
	if err := u.Run(t.Context(), b, got); err != nil {
		t.Fatal(err)
	}
	if err := want.Run(t.Context(), b, exp); err != nil {
		t.Fatal(err)
	}
	for i := range s.Dots() {
		if g, e := mma.Load(got, w, i), mma.Load(exp, w, i); g != e {
			t.Fatalf("%s %+v: output %d is %x, want %x", u.Instruction().Name, s, i, g, e)
		}
	}
}

// sims opens the simulator of an instruction.
func sims(t testing.TB, arch, name string) devices.Unit {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := simulated.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestGood runs batches of all shapes through a child that is right.
func TestGood(t *testing.T) {
	for _, tc := range []struct {
		mode, arch, inst string
		k                int
	}{
		{"good", "ampere", inst, 8},
		{"good", "ampere", inst, 24}, // repeated, with C = the previous D
		{"good", "rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", 64},
		{"good", "rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", 192},
		{"good", "hopper", "wgmma.m64n8k32.f32.e4m3.e4m3.c0", 32},
		{"prints", "ampere", inst, 8},
		{"tiles", "ampere", inst, 8}, // tiles of other sizes than the batch's
		{"tiles", "ampere", inst, 16},
		{"t-good", "ampere", inst, 8},
		{"t-good", "ampere", inst, 16},
	} {
		name := tc.inst
		if tc.mode == "tiles" {
			name = "mine"
		}
		u := unit(t, command(tc.mode), name)
		if u.Model() != nil || u.Instruction().Params != (mma.Params{}) {
			t.Errorf("%s: the child's arithmetic is taken for known", tc.mode)
		}
		for _, s := range []mma.Shape{{M: 1, N: 1, Tiles: 100}, {M: 16, N: 8, Tiles: 3}, {M: 3, N: 2, Tiles: 9}, {M: 2, N: 7, Tiles: 5}, {M: 4, N: 1, Tiles: 1}} {
			s.K = tc.k
			compare(t, u, sims(t, tc.arch, tc.inst), s)
		}
	}
}

func TestTarget(t *testing.T) {
	name := command("good")
	target := open(t, name)
	want := map[string]string{"kind": "child process", "protocol": "1 binary", "child simulator": "sim"}
	if diff := cmp.Diff(want, target.Environment()); diff != "" {
		t.Error(diff)
	}
	if target.Name() != name || len(target.Instructions()) != 3 {
		t.Errorf("%s with %d instructions", target.Name(), len(target.Instructions()))
	}
	i := target.Instructions()[2]
	if i.FullName() != "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0" || i.K != 32 {
		t.Errorf("%s, K = %d", i.FullName(), i.K)
	}
	if _, err := target.Open(&mma.Instruction{Name: "other"}); err == nil || !strings.HasSuffix(err.Error(), " did not announce other") {
		t.Error(err)
	}
	// An instruction without C has no longer dot products.
	u := unit(t, name, i.Name)
	err := u.Run(t.Context(), mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 64, Tiles: 1}), make([]byte, 4))
	if err == nil || !strings.Contains(err.Error(), "cannot be repeated") {
		t.Error(err)
	}
	// A second opening shares the children, which live as long as either.
	again := open(t, name)
	if err := errors.Join(again.Close(), again.Close()); err != nil {
		t.Fatal(err)
	}
	compare(t, u, sims(t, "hopper", i.Name), mma.Shape{M: 1, N: 1, K: 32, Tiles: 4})
	target.Close()
	err = u.Run(t.Context(), mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 32, Tiles: 1}), make([]byte, 4))
	if runtime.GOMAXPROCS(0) > 0 && err != nil && !strings.HasSuffix(err.Error(), "the target was closed") {
		t.Error(err)
	}
}

// TestBad gives children that do everything wrong that they can: each is a fault
// with a message of its own, and none takes longer than its deadline.
func TestBad(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"exit0":   "the child gave no answer: it ended with exit status 0",
		"exit3":   "the child gave no answer: it ended with exit status 3; its stderr ends: one | two | last words",
		"hang":    "the child was killed: it gave no answer within 300ms",
		"oops":    `the child broke the protocol: instead of an answer it wrote "oops": does something else print to its stdout?`,
		"nearly":  `the child broke the protocol: instead of an answer it wrote "mmaX and more": does something else print to its stdout?`,
		"short":   "the child gave no answer: it ended with exit status 0 (after 29 of 32 bytes)",
		"stalls":  "the child was killed: it gave no answer within 300ms (after 7 of 20 bytes)",
		"long":    `the child broke the protocol: it wrote more than its answer: "and more"`,
		"closes":  "the child gave no answer: it closed its output and did not end",
		"id":      "the child broke the protocol: it answered request 2 instead of 1",
		"status":  "the child broke the protocol: it answered with status 7, which is neither 0 (D) nor 1 (error)",
		"length":  "the child broke the protocol: it announced a D of 4294967295 bytes, but D has 12",
		"less":    "the child broke the protocol: it announced a D of 0 bytes, but D has 12",
		"sum":     "the child broke the protocol: the checksum of its answer is 7bd5c66f, it announced 00000001",
		"essay":   "the child broke the protocol: it announced an error of 1073741824 bytes, at most 4096 are allowed",
		"t-exit":  "the child gave no answer: it ended with exit status 0 (after 0 of its lines)",
		"t-hang":  "the child was killed: it gave no answer within 300ms (after 2 of its lines) (does it flush its output after every line?)",
		"t-words": `the child broke the protocol: its line 3 is "cannot parse this", not a fp32 code of 8 hexadecimal digits`,
		"t-short": `the child broke the protocol: its line 3 is "3f80", not a fp32 code of 8 hexadecimal digits`,
		"t-part":  `the child was killed: it gave no answer within 300ms (after 2 of its lines and "3f80" without an end of line) (does it flush its output after every line?)`,
		"t-more":  `the child broke the protocol: it wrote more than its answer: "`,
		"t-long":  "the child broke the protocol: after 2 of its lines: a line of more than 4096 bytes that begins \"000000",
		"talks":   "the child broke the protocol: it wrote more than 64 things about one instruction",
		"babbles": "the child broke the protocol: it announced a text of 5000 bytes, at most 4096 are allowed",
		"mumbles": `the child broke the protocol: it wrote "one-word", which is not of the form WORD TEXT`,
		"learns":  "the child gave no answer: it ended with exit status 0",
		"flood":   `the child broke the protocol: instead of an answer it wrote "flood `,
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			target := open(t, command(mode))
			u := openUnit(t, target)
			in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 3})
			mma.Store(in.A, 2, 16, poison)
			// The pool may hold a child that has not answered yet, or has: ask twice.
			for range 2 {
				err := u.Run(t.Context(), in, make([]byte, 12))
				var fault *devices.FaultError
				if !errors.As(err, &fault) || fault.Target != command(mode) {
					t.Fatalf("%v, want a fault", err)
				}
				checkFault(t, fault.What, want)
			}
		})
	}
}

// checkFault compares messages except for the number of a request, which depends on
// whether the child is new.
func checkFault(t *testing.T, got, want string) {
	t.Helper()
	if strings.Contains(want, "it answered request") && strings.Contains(got, "it answered request") {
		return
	}
	if !strings.HasPrefix(got, want) {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// openUnit opens the only instruction, which has answered a dot product of zeros.
func openUnit(t *testing.T, target devices.Target) devices.Unit {
	t.Helper()
	u, err := target.Open(&target.Instructions()[0])
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSurplus gives a child that answers a line twice, in the middle of a batch:
// the next batch does not get the line that is left.
func TestSurplus(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what has arrived cannot be seen here")
	}
	u := unit(t, command("t-more"), inst)
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 3})
	mma.Store(in.A, 2, 8, poison)
	err := u.Run(t.Context(), in, make([]byte, 12))
	var fault *devices.FaultError
	if err != nil && !errors.As(err, &fault) {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 50})
}

// TestKin gives children whose own children outlive them, and hold their output
// open.
func TestKin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no process groups here")
	}
	for mode, want := range map[string]string{
		"kin":     "the child was killed: it gave no answer within 300ms",
		"kinexit": "the child gave no answer: it ended with exit status 4",
	} {
		file := filepath.Join(t.TempDir(), "pid")
		u := openUnit(t, open(t, command(mode, file)))
		var body []byte
		for tries := 0; len(body) == 0 && tries < 100; tries++ { // on a busy machine a child is killed before it has started its own
			err := u.Run(t.Context(), mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 2}), make([]byte, 8))
			var fault *devices.FaultError
			if !errors.As(err, &fault) {
				t.Fatal(err)
			}
			checkFault(t, fault.What, want)
			body, _ = os.ReadFile(file)
		}
		pid, _ := strconv.Atoi(string(body))
		if alive(pid) {
			t.Errorf("%s: process %d, which the child has started, is still there", mode, pid)
		}
	}
}

// alive reports whether a process runs, and waits a little for it to end.
func alive(pid int) bool {
	for range 3000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return false // ended, and nobody has waited for it yet
		}
		p, err := os.FindProcess(pid)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// TestChatty gives a child that writes megabytes, and no text, to stderr.
func TestChatty(t *testing.T) {
	u := openUnit(t, open(t, command("chatty")))
	for range 3 {
		if err := u.Run(t.Context(), mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 2}), make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGreetings gives children that cannot be opened.
func TestGreetings(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	const known = `line 2 of the header, "`
	header := func(text string) string { return command("header", `"`+text+`"`) }
	for _, tc := range []struct{ name, want string }{
		{command("none"), "the child sent no complete header: it ended with exit status 5; its stderr ends: no licence"},
		{command("chatter"), `the child broke the protocol: its first line is "Loading design...", not "mmafuzz-exec 1 binary" or "mmafuzz-exec 1 text"`},
		{command("cut"), "the child sent no complete header: it ended with exit status 0 (after 2 lines, without a line ready)"},
		{command("version"), "the child broke the protocol: it speaks version 2 of the protocol, this mmafuzz speaks 1"},
		{command("mode"), `the child broke the protocol: its first line is "mmafuzz-exec 1 json": the mode is neither binary nor text`},
		{command("endless"), "the child broke the protocol: the header has more than 4096 lines"},
		{command("longline"), `the child broke the protocol: a line of more than 4096 bytes that begins "about x yyyy`},
		{command("cannot"), "no device: buy one"},
		{command("cannots"), "no no no no "},
		{header("instruction"), "the child broke the protocol: " + known + `instruction": the name is missing`},
		{header("bogus 1"), "the child broke the protocol: " + known + `bogus 1": unknown word`},
		{header("about x"), "the child broke the protocol: " + known + `about x": not of the form: about WORD TEXT`},
		{"exec:", "the command is missing: exec:COMMAND [ARGS]"},
		{"exec:'a b", "the quote ' is not closed"},
		{"exec:./nothing here", `program "./nothing" is not found: name a file, as ./nothing, or a program on the path (of a script: its interpreter too)`},
		{"exec:/no/such/program", `there is no program "/no/such/program"`},
		{"exec:no-such-program-anywhere", `program "no-such-program-anywhere" is not found`},
		{"exec:" + plain, "program \"" + plain + "\" is not executable: chmod +x, or name its interpreter first"},
		{command("mute"), "the child was killed: it sent no complete header within 500ms"},
		{command("prompt"), `the child was killed: it sent no complete header within 4s ("> " without an end of line)`}, // it has to come as far as that
	} {
		if _, within, ok := strings.Cut(tc.want, "header within "); ok {
			limit, err := time.ParseDuration(strings.Fields(within)[0])
			if err != nil {
				t.Fatal(err)
			}
			exec.SetHelloTime(t, limit)
		}
		_, err := devices.Open(tc.name)
		if want := fmt.Sprintf("target %q: %s", tc.name, tc.want); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("\n got %v\nwant %s", err, want)
		}
	}
}

// TestUpset gives a child that complains when its pipes are closed after a bad header: only what
// it has written before is quoted.
func TestUpset(t *testing.T) {
	for range 10 {
		_, err := devices.Open(command("upset"))
		if err == nil || !strings.Contains(err.Error(), `a=fp17: unknown format "fp17"`) || strings.Contains(err.Error(), "Traceback") {
			t.Fatal(err)
		}
	}
}

// TestDead gives a child that ends after its header.
func TestDead(t *testing.T) {
	target := open(t, command("dead"))
	_, err := target.Open(&target.Instructions()[0])
	if err == nil || !strings.Contains(err.Error(), "a first dot product, of zeros: ") || !strings.Contains(err.Error(), "it ended with exit status 0") {
		t.Errorf("a child that ends after its header: %v", err)
	}
}

// TestChanging gives a child that is another one when it is started again.
func TestChanging(t *testing.T) {
	u := openUnit(t, open(t, command("changing", filepath.Join(t.TempDir(), "mark"))))
	err := u.Run(t.Context(), mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 2}), make([]byte, 8))
	if err == nil || !strings.Contains(err.Error(), "a second child has another header than the first") {
		t.Error(err)
	}
}

// TestMortal gives a child that dies now and then whatever the input: nothing is
// lost and nothing is blamed, but the deaths are counted.
func TestMortal(t *testing.T) {
	u := unit(t, command("mortal"), inst)
	for range 10 {
		compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 50})
	}
	// The first child has answered zeros, too: it and each later one answer 3 requests.
	if n, last := u.(devices.Restarter).Restarts(); n != 3 || last != "the child gave no answer: it ended with exit status 1" {
		t.Errorf("%d deaths, the last: %s", n, last)
	}
}

// TestRenew asks a new child for a unit that may have one at a time: the old one has made room, and
// another one answers afterwards.
func TestRenew(t *testing.T) {
	u := unit(t, command("learned"), inst)
	requests := func(u devices.Unit, want string) {
		t.Helper()
		compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 5})
		if got := u.(devices.Provenance).Environment()["child requests"]; got != want {
			t.Errorf("requests %q, want %q", got, want)
		}
	}
	requests(u, "2") // unit has asked it, too
	requests(u, "many")
	renewed, end, err := devices.Renew(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	requests(renewed, "1")
	requests(renewed, "2")
	if one := exec.IdleChildren(u); one != 0 {
		t.Errorf("%d children of the first unit are left beside the new one", one)
	}
	end()
	requests(u, "1")
}

// TestLife gives children that end after so many answers, in both modes: no answer is lost, nothing is
// blamed, and once the number is known they are replaced before their end.
func TestLife(t *testing.T) {
	for _, mode := range []string{"lives", "t-lives"} {
		t.Run(mode, func(t *testing.T) {
			u := unit(t, command(mode), inst)
			for range 10 {
				compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 40})
			}
			early, _ := u.(devices.Restarter).Restarts()
			for range 5 {
				compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 130})
			}
			if n, _ := u.(devices.Restarter).Restarts(); early < 3 || n != early {
				t.Errorf("%d deaths that cost an answer, then %d", early, n-early)
			}
		})
	}
}

// TestLifeKnown feeds a life with ends.
func TestLifeKnown(t *testing.T) {
	for _, test := range []struct {
		name string
		ends [][2]int // answers, asked
		want int
	}{
		{"too few", [][2]int{{200, 1}, {200, 1}}, 0},
		{"the same", [][2]int{{200, 1}, {200, 1}, {200, 1}}, 200},
		{"in requests", [][2]int{{150, 100}, {190, 40}, {120, 100}}, 190},
		{"too wide", [][2]int{{50, 1000}, {60, 1000}, {70, 1000}}, 0},
		{"by chance", [][2]int{{10, 1}, {300, 1}, {7, 1}, {40, 1}}, 0},
		{"of late", [][2]int{{10, 1}, {300, 1}, {300, 1}, {300, 1}}, 300},
	} {
		if got := exec.LifeOf(test.ends); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestCancel ends a request whose child hangs.
func TestCancel(t *testing.T) {
	u := unit(t, command("stuck"), inst)
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 1})
	mma.Store(in.A, 2, 0, poison)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := u.Run(ctx, in, make([]byte, 4)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
	mma.Store(in.A, 2, 0, 0) // the next request gets another child
	if err := u.Run(t.Context(), in, make([]byte, 4)); err != nil {
		t.Error(err)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if err := u.Run(done, in, make([]byte, 4)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

// TestRefusal gives children that say themselves that they cannot: they go on.
func TestRefusal(t *testing.T) {
	for mode, want := range map[string]string{
		"refuse":  "the child says: poison: assertion failed",
		"panic":   "the child says: panic: poison",
		"t-error": "the child says: poison",
	} {
		u := unit(t, command(mode), inst)
		in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 3})
		if err := u.Run(t.Context(), in, make([]byte, 12)); err != nil {
			t.Fatal(err)
		}
		mma.Store(in.A, 2, 9, poison)
		err := u.Run(t.Context(), in, make([]byte, 12))
		var fault *devices.FaultError
		if !errors.As(err, &fault) || fault.What != want {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
		mma.Store(in.A, 2, 9, 0)
		if err := u.Run(t.Context(), in, make([]byte, 12)); err != nil {
			t.Error(err)
		}
	}
}

// TestLearned gives a child that learns about its instruction.
func TestLearned(t *testing.T) {
	u := unit(t, command("learned"), inst)
	p := u.(devices.Provenance)
	for _, want := range []map[string]string{
		{"child code": "HMMA, native", "child requests": "1"}, // the first dot product, of zeros
		{"child code": "HMMA, native", "child requests": "2"},
		{"child code": "HMMA, native", "child requests": "many"},
		{"child code": "HMMA, native", "child requests": "many"},
	} {
		if diff := cmp.Diff(want, p.Environment()); diff != "" {
			t.Error(diff)
		}
		compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 5})
	}
	other := unit(t, command("learned"), "wgmma.m64n8k32.f32.e4m3.e4m3.c0")
	if env := other.(devices.Provenance).Environment(); len(env) != 0 {
		t.Errorf("another instruction: %v", env)
	}
}

// TestBroken gives a child that ends when it says that it is broken.
func TestBroken(t *testing.T) {
	u := unit(t, command("broken"), inst)
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 3})
	mma.Store(in.A, 2, 9, poison)
	err := u.Run(t.Context(), in, make([]byte, 12))
	var fault *devices.FaultError
	const want = "the child gave no answer: it ended with exit status 1; its stderr ends: launch: error 700: the context is dead"
	if !errors.As(err, &fault) || fault.What != want {
		t.Errorf("%v, want %s", err, want)
	}
	compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 5})
}

// TestOther gives a child that cannot do anything now: that is no fault, and it goes
// on.
func TestOther(t *testing.T) {
	u := unit(t, command("empty"), inst)
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 3})
	mma.Store(in.A, 2, 9, poison)
	err := u.Run(t.Context(), in, make([]byte, 12))
	if want := command("empty") + ": the child says: launch: out of memory"; err == nil || err.Error() != want || errors.As(err, new(*devices.FaultError)) {
		t.Errorf("%v, want %s", err, want)
	}
	compare(t, u, sims(t, "ampere", inst), mma.Shape{M: 1, N: 1, K: 8, Tiles: 5})
}

// TestIsolate runs a target of this program in children.
func TestIsolate(t *testing.T) {
	target, err := exec.Isolate("sim:ampere", os.Args[0], "@serve", "sim:ampere")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if diff := cmp.Diff(map[string]string{"isolation": "child process", "kind": "simulator"}, target.Environment()); diff != "" {
		t.Error(diff)
	}
	if target.Name() != "sim:ampere" || len(target.Instructions()) != len(mma.Of("ampere")) {
		t.Errorf("%s with %d instructions", target.Name(), len(target.Instructions()))
	}
	i, err := devices.Find(target, "mma.m16n8k16.f32.bf16.bf16.f32")
	if err != nil {
		t.Fatal(err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, u, sims(t, "ampere", i.Name), mma.Shape{M: 3, N: 2, K: 32, Tiles: 5})
	const want = `target "sim:none": unknown architecture "none" `
	if _, err := exec.Isolate("sim:none", os.Args[0], "@serve", "sim:none"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestPython runs the example of the documentation against the same arithmetic
// in Go.
func TestPython(t *testing.T) {
	if _, err := osexec.LookPath("python3"); err != nil {
		t.Skip("python3 is not here: the text mode example in testdata/double.py is NOT TESTED")
	}
	name := "exec:python3 testdata/double.py"
	if runtime.GOOS == "windows" {
		t.Skip("its lines end otherwise here")
	}
	target := open(t, name)
	pairs, err := devices.Pairs(target, open(t, "ref:fma64"), "dot4", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{4, 8} {
		b := fill(mma.NewBatch(pairs[0].Formats(), mma.Shape{M: 1, N: 1, K: k, Tiles: 1000}))
		for i := range b.Tiles * k { // without NaNs and infinities
			mma.Store(b.A, 2, i, mma.Load(b.A, 2, i)&0xbfff)
			mma.Store(b.B, 2, i, mma.Load(b.B, 2, i)&0xbfff)
		}
		for i := range b.Tiles {
			mma.Store(b.C, 4, i, mma.Load(b.C, 4, i)&0xbfffffff)
		}
		got, want := make([]byte, 4000), make([]byte, 4000)
		if err := errors.Join(pairs[0].A.Run(t.Context(), b, got), repeat(t, pairs[0].B, b, 4, want)); err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("K = %d: the Python model differs from ref:fma64", k)
		}
	}
}

// repeat runs a unit as an instruction of K = k.
func repeat(t *testing.T, u devices.Unit, in *mma.Batch, k int, out []byte) error {
	d := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		for from := 0; from < in.K; from += k {
			b := mma.NewBatch(in.Formats, mma.Shape{M: 1, N: 1, K: k, Tiles: 1})
			b.Set(0, &mma.Dot{A: d.A[from : from+k], B: d.B[from : from+k], C: d.C})
			if err := u.Run(t.Context(), b, out[4*i:4*i+4]); err != nil {
				return err
			}
			d.C = mma.Load(out, 4, i)
		}
	}
	return nil
}

func TestSplit(t *testing.T) {
	for _, tc := range []struct {
		command string
		paths   bool // as where paths have backslashes
		want    []string
	}{
		{"a", false, []string{"a"}},
		{" a  b\tc ", false, []string{"a", "b", "c"}},
		{`'a b' "c 'd"`, false, []string{"a b", "c 'd"}},
		{`x'y z'"" ''`, false, []string{"xy z", ""}},
		{`python3 "my model.py" 1`, false, []string{"python3", "my model.py", "1"}},
		{`'it'\''s'`, false, []string{"it's"}},
		{`a\ b \"c\" \\ \'`, false, []string{"a b", `"c"`, `\`, "'"}},
		{`"a\"b\\c\$d\e"`, false, []string{`a"b\c$d\e`}},
		{`'a\'b`, false, []string{`a\b`}},
		{"a\\\nb \"c\\\nd\"", false, []string{"ab", "cd"}},
		{`a\`, false, []string{`a\`}},
		{"\xff $HOME *", false, []string{"\xff", "$HOME", "*"}},
		{`C:\sim\a.exe --f=\n "C:\my sim\" \\server\x`, true, []string{`C:\sim\a.exe`, `--f=\n`, `C:\my sim\`, `\\server\x`}},
		{`'it'\''s'`, true, []string{"it's"}},
	} {
		got, err := exec.SplitQuoted(tc.command, tc.paths)
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tc.command, err, diff)
		}
	}
}

// TestSplitAsShell compares with a shell, on commands that it does not expand.
func TestSplitAsShell(t *testing.T) {
	sh, err := osexec.LookPath("sh")
	if err != nil {
		t.Skip("WORDS ARE NOT COMPARED WITH THOSE OF A SHELL: there is none")
	}
	const pieces = ` ab'"\` // drawn from
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		command := "a"
		for range r.IntN(12) {
			command += pieces[r.IntN(len(pieces)):][:1]
		}
		words, err := exec.SplitQuoted(command, false)
		if err != nil || strings.HasSuffix(command, `\`) { // unfinished, for a shell too
			continue
		}
		got, err := osexec.Command(sh, "-c", `printf '%s\n' `+command).Output()
		if want := strings.Join(words, "\n") + "\n"; err != nil || string(got) != want {
			t.Errorf("%s: %q, of a shell %q, %v", command, want, got, err)
		}
	}
}
