package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestMain makes the test its own peer: called as an interpreter it answers as
// driver.py does.
func TestMain(m *testing.M) {
	if how := os.Getenv("PEERBENCH_FAKE"); how != "" {
		fake(how, os.Stdin, os.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is a peer that computes what the models do, except for a bit in how "wrong". It
// lacks instructions of Hopper's FP8 mma.
func fake(how string, in io.Reader, out io.Writer) {
	if how == "silent" {
		fmt.Fprintln(os.Stderr, "Traceback:\nModuleNotFoundError: No module named 'mmasim'")
		return
	}
	fmt.Fprintln(out, `{"mmasim":"0.0","torch":"0.1","python":"3.x"}`)
	if how == "dies" {
		fmt.Fprintln(os.Stderr, "Killed")
		return
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		a, err := fakeAnswer(how, &r)
		if err != nil {
			a = &answer{Error: err.Error()}
		}
		if err := json.NewEncoder(out).Encode(a); err != nil {
			panic(err)
		}
	}
}

func fakeAnswer(how string, r *request) (*answer, error) {
	var i *mma.Instruction
	for _, op := range instructions() {
		if row, err := mma.Lookup(op.Arch, op.Inst); err == nil && nameOf(row) == r.peerName {
			i = row
		}
	}
	switch {
	case i == nil:
		return nil, fmt.Errorf("no instruction is called %+v", r.peerName)
	case strings.HasPrefix(r.Type, "m16n8k32.f32.e4m3"):
		return &answer{Lacks: "Unsupported"}, nil
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: r.M, N: r.N, K: r.K, Tiles: r.Tiles})
	for path, buf := range map[string][]byte{r.A: in.A, r.B: in.B, r.C: in.C, r.SA: in.SA, r.SB: in.SB} {
		if path == "" {
			continue
		}
		codes, err := os.ReadFile(path)
		if err != nil || copy(buf, codes) != len(codes) || len(codes) != len(buf) {
			return nil, fmt.Errorf("%s: %d bytes for %d: %v", path, len(codes), len(buf), err)
		}
	}
	d := make([]byte, in.Dots()*i.D.Width())
	m.Run(in, d)
	switch how {
	case "wrong":
		d[len(d)-i.D.Width()] ^= 1
	case "short":
		d = d[1:]
	}
	a := &answer{SingleEqual: how != "two ways"}
	for range r.Runs {
		a.Single, a.Batched = append(a.Single, 1), append(a.Batched, 1)
	}
	return a, os.WriteFile(r.D, d, 0o666)
}

// peerbench runs the program with a fake peer.
func peerbench(t *testing.T, how string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PEERBENCH_FAKE", how)
	var out, errs bytes.Buffer
	code = run(append([]string{"--python", self, "--cache", t.TempDir(), "--count", "2", "--time", "1us", "--dots", "2"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestSame(t *testing.T) {
	code, out, errs := peerbench(t, "right", "--only", "^(t-fdpa/fp16/ampere|st-fdpa|split|gst)", "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var head struct{ Peer map[string]string }
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil || head.Peer["mmasim"] != "0.0" {
		t.Errorf("%v: %s", err, lines[0])
	}
	var got []string
	for _, line := range lines[1:] {
		var c comparison
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s %d %s", c.Operation, c.PeerArch, c.PeerType, c.Differ+c.Unknown, c.Lacks))
		if c.Lacks == "" && (c.Dots < 2*outputs || c.Single.Ratio <= 0 || c.Batched.PeerNs != 1e9/float64(c.Tiles) || c.Single.PeerNs != 1e9 || c.Single.OwnNs <= 0) {
			t.Errorf("%s", line)
		}
	}
	want := []string{
		"t-fdpa/fp16/ampere Ampere m16n8k16.f32.f16.f16.f32 0 ",
		"st-fdpa/e4m3/blackwell Blackwell m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0 0 ",
		"gst-fdpa/e2m1/blackwell Blackwell m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3 0 ",
		"split-hmma/e4m3/hopper Hopper m16n8k32.f32.e4m3.e4m3.f32 0 Unsupported",
		"gst-fdpa/e2m1-ue8m0/blackwell Blackwell m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0 0 ",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestNames checks that every instruction has a name that the peer could have.
func TestNames(t *testing.T) {
	classes := map[string]int{}
	for _, op := range instructions() {
		i, err := mma.Lookup(op.Arch, op.Inst)
		if err != nil {
			t.Fatal(err)
		}
		p := nameOf(i)
		if p.Arch == "" || p.Module == "" || p.Class == "" || strings.HasPrefix(p.Type, "v_") {
			t.Errorf("%s: %+v", i.FullName(), p)
		}
		classes[p.Class]++
	}
	for _, c := range []string{"MMA", "WGMMA", "TCGen05MMA", "TCGen05MMABlockScale", "MFMA"} {
		if classes[c] == 0 {
			t.Errorf("nothing is of class %s", c)
		}
	}
}

// TestDifferent checks that a wrong bit is found and shown.
func TestDifferent(t *testing.T) {
	code, out, errs := peerbench(t, "wrong", "--only", "^t-fdpa/fp16/hopper$")
	if code != 1 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, want := range []string{
		`(?m)^t-fdpa/fp16/hopper +\d+ +\d+ +\d+ +[1-9]\d* +0 +mma.m16n8k16.f32.f16.f16.f32$`,
		`hopper/mma.m16n8k16.f32.f16.f16.f32 differs, first on raw 4095: [0-9a-f, ]+: [0-9a-f]{8}, MMA-Sim [0-9a-f]{8}\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestTrouble(t *testing.T) {
	for _, c := range []struct{ how, only, want string }{
		{"silent", "ampere", "peerbench: MMA-Sim has ended: ModuleNotFoundError: No module named 'mmasim'\n"},
		{"dies", "t-fdpa/fp16/ampere", "peerbench: t-fdpa/fp16/ampere: MMA-Sim has ended: Killed\n"},
		{"short", "t-fdpa/fp16/ampere", "peerbench: t-fdpa/fp16/ampere: MMA-Sim gave 16383 bytes for 16384\n"},
		{"two ways", "t-fdpa/fp16/ampere", "peerbench: t-fdpa/fp16/ampere: MMA-Sim computes one tile and many in different ways\n"},
		{"right", "nothing", "peerbench: no operation has a name that matches \"nothing\"\n"},
		{"right", "(", "peerbench: --only: error parsing regexp: missing closing ): `(`\n"},
	} {
		code, out, errs := peerbench(t, c.how, "--only", c.only)
		if code != 2 || out != "" || !strings.HasSuffix(errs, c.want) {
			t.Errorf("%s, %s: exit code %d, %q, %q, want %q", c.how, c.only, code, out, errs, c.want)
		}
	}
}

// TestInstall has a python3 that fails at one step or another.
func TestInstall(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for python3")
	}
	for _, c := range []struct{ script, want string }{
		{"", "peerbench: python3 is missing: install Python 3.10 or later with venv\n"},
		{"echo no venv; exit 3", "peerbench: python3 -m venv: exit status 3: no venv\n"},
		{`mkdir -p "$3/bin"; printf '#!/bin/sh\necho no network; exit 1' > "$3/bin/python"; chmod +x "$3/bin/python"`,
			"peerbench: mmasim 2.1.1 cannot be installed: exit status 1: no network; --python names an interpreter that has it\n"},
		{`mkdir -p "$3/bin"; printf '#!/bin/sh\ncase $1 in -c) exit 1;; esac' > "$3/bin/python"; chmod +x "$3/bin/python"`,
			"cannot import it\n"},
	} {
		bin := t.TempDir()
		for _, tool := range []string{"mkdir", "chmod"} {
			for _, dir := range []string{"/bin", "/usr/bin"} {
				if _, err := os.Stat(filepath.Join(dir, tool)); err == nil {
					_ = os.Symlink(filepath.Join(dir, tool), filepath.Join(bin, tool)) // there already
				}
			}
		}
		if c.script != "" {
			if err := os.WriteFile(filepath.Join(bin, "python3"), []byte("#!/bin/sh\n"+c.script+"\n"), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin)
		var out, errs bytes.Buffer
		code := run([]string{"--cache", t.TempDir()}, &out, &errs)
		if code != 2 || out.Len() > 0 || !strings.HasSuffix(errs.String(), c.want) {
			t.Errorf("%q: exit code %d, %q, %q, want %q", c.script, code, &out, &errs, c.want)
		}
	}
}

// TestReal compares an instruction with MMA-Sim itself, where it was installed.
func TestReal(t *testing.T) {
	cache, err := cacheDir()
	if err != nil {
		t.Skip(err)
	}
	python := filepath.Join(cache, mmasimVersion, "bin", "python")
	if !has(t.Context(), python) {
		t.Skipf("MMA-SIM IS NOT COMPARED: there is no %s; go run ./cmd/peerbench installs it", python)
	}
	var out, errs bytes.Buffer
	code := run([]string{"--only", "^(t-fdpa/fp16/hopper|st-fdpa/e4m3/blackwell|tr-fdpa/fp16/cdna3)$", "--count", "1", "--time", "1ms", "--dots", "128"}, &out, &errs)
	if code != 0 {
		t.Errorf("exit code %d: %s%s", code, &out, &errs)
	}
}
