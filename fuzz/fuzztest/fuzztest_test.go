package fuzztest

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// harnessOf compares a model with a copy of itself as a function, which a test may spoil.
func harnessOf(t *testing.T, spoil func(d *mma.Dot, code uint64) uint64, options ...Option) *harness {
	t.Helper()
	a, err := devices.OpenUnit("sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	i := a.Instruction()
	own := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
		out := make([]byte, 4)
		if err := a.Run(t.Context(), mma.BatchOf(i.Formats, i.K, []*mma.Dot{d}), out); err != nil {
			panic(err)
		}
		return spoil(d, mma.Load(out, 4, 0))
	})
	h := newHarness(devices.Pair{A: a, B: own, TargetA: "sim:ampere", TargetB: "mine", K: i.K}, filepath.Join(t.TempDir(), "FuzzMine"), options...)
	h.examineLimit, h.config.SearchTime = time.Hour, 0
	return h
}

// flush flushes subnormal results to +0.
func flush(_ *mma.Dot, code uint64) uint64 {
	if code&0x7f800000 == 0 && code<<33 != 0 {
		return 0
	}
	return code
}

// subnormal is a dot product whose result is the smallest subnormal, which is c.
const subnormal = "0000,0000,0000,0000,0000,0000,0000,0000 0000,0000,0000,0000,0000,0000,0000,0000 00000001"

// TestCampaign checks what a plain test says.
func TestCampaign(t *testing.T) {
	h := harnessOf(t, flush)
	text, err := h.campaign(t.Context(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sim:ampere and mine differ on ", " of 4,128 dot products", "CASES  FIRST CAUSE", "flush", "bundle: " + h.dir, "re-run: go test -run '^FuzzMine$'"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	dirs, err := bundle.Below(h.dir)
	if err != nil || len(dirs) == 0 {
		t.Errorf("bundles %v: %v", dirs, err)
	}
	same := harnessOf(t, func(_ *mma.Dot, code uint64) uint64 { return code })
	if text, err := same.campaign(t.Context(), 4096); text != "" || err != nil {
		t.Errorf("%v, %s", err, text)
	}
}

// TestStochastic compares a conversion with one that rounds stochastically: it passes unless it has a
// bias, also on an input that it rounds the other way.
func TestStochastic(t *testing.T) {
	for _, tc := range []struct {
		away int // one answer in so many is rounded away from zero in any case; 0: none
		want string
	}{
		{0, ""},
		{4, "mine rounds stochastically, with a defect: it has a bias. The neighbour farther from zero comes more often"},
	} {
		a, err := devices.OpenUnit("sim:x86", "vcvtph2hf8s", "")
		if err != nil {
			t.Fatal(err)
		}
		i := a.Instruction()
		var mu sync.Mutex
		dice := rand.New(rand.NewPCG(1, 2))
		own := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: 1}, func(d *mma.Dot) uint64 {
			mu.Lock()
			defer mu.Unlock()
			near, far, fraction, between := oracle.ExactDot(i.Formats, d).Neighbours()
			switch {
			case !between || far&0x7f == 0x7f:
				out := make([]byte, 1)
				if err := a.Run(t.Context(), mma.BatchOf(i.Formats, 1, []*mma.Dot{d}), out); err != nil {
					panic(err)
				}
				return uint64(out[0])
			case dice.Float64() < fraction || tc.away > 0 && dice.IntN(tc.away) == 0:
				return far
			}
			return near
		})
		h := newHarness(devices.Pair{A: a, B: own, TargetA: "sim:x86", TargetB: "mine", K: 1}, t.TempDir(), NaN(oracle.ByClass))
		h.examineLimit = time.Hour
		text, err := h.campaign(t.Context(), 4096)
		if err != nil || (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) {
			t.Errorf("away %d: %v, %s", tc.away, err, text)
		}
		tie := mma.NewDot(i.Formats, 1)
		tie.A[0] = 0x3c40 // 1.0625
		for range 16 {    // about half of the answers differ
			one, err := h.one(t.Context(), tie, t.Name())
			if err != nil || tc.want == "" && one != "" {
				t.Fatalf("away %d: %v, %s", tc.away, err, one)
			}
		}
	}
}

// TestCodes has a unit with another NaN: that is no difference unless codes are asked for, and
// hides the cause of none.
func TestCodes(t *testing.T) {
	ownNaN := func(_ *mma.Dot, code uint64) uint64 {
		if x := math.Float32frombits(uint32(code)); x != x {
			return 0x7fc00000
		}
		return code
	}
	for _, tc := range []struct {
		spoil   func(*mma.Dot, uint64) uint64
		options []Option
		want    []string
	}{
		{ownNaN, nil, nil},
		{ownNaN, []Option{NaN(oracle.Bits)}, []string{"nan-encoding: "}},
		{func(d *mma.Dot, code uint64) uint64 { return flush(d, ownNaN(d, code)) }, nil, []string{"input-ftz: ", " more differ in the code of a NaN"}},
	} {
		text, err := harnessOf(t, tc.spoil, tc.options...).campaign(t.Context(), 4096)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in\n%s", want, text)
			}
		}
		if tc.want == nil && text != "" {
			t.Errorf("they differ:\n%s", text)
		}
	}
}

// TestOne checks what a fuzz target says: bits and cause, and the cause again where Go's
// fuzzer asks for other inputs.
func TestOne(t *testing.T) {
	h := harnessOf(t, flush)
	f := h.pair.Formats()
	dot, err := mma.ParseDot(f, h.pair.K, false, strings.Fields(subnormal))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		text, err := h.one(t.Context(), dot, t.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"sim:ampere gives 00000001, mine gives 00000000", "flush", "bundle: "} {
			if !strings.Contains(text, want) {
				t.Errorf("there is no %q in\n%s", want, text)
			}
		}
		if strings.Contains(text, "mmafuzz replay") {
			t.Errorf("mmafuzz cannot run a Go function, but it should replay it:\n%s", text)
		}
	}
	for name, want := range map[string]string{
		"FuzzMine/seed#2": "gives 00000003, mine gives 00000000",
		"FuzzMine":        "of the mismatch that was found first, on ",
	} {
		dot := dot.Clone()
		dot.C = 3
		text, err := h.one(t.Context(), dot, name)
		if err != nil || !strings.Contains(text, want) || strings.Contains(text, "go test -run '^FuzzMine$/^seed#2$'") == strings.Contains(text, "bundle: ") {
			t.Errorf("another input of %s: %v\n%s", name, err, text)
		}
	}
	dot.C = uint64(math.Float32bits(1))
	if text, err := h.one(t.Context(), dot, t.Name()); text != "" || err != nil {
		t.Errorf("%v, %s", err, text)
	}
}

// TestModule does what a user does: a module of its own, with a unit in Go that flushes,
// which fails with the cause, both as a test and under Go's fuzzer; and with right ones in C
// and Python.
func TestModule(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("builds a module, with and without Go's instrumentation: " + tier.Variable + "=nightly")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/module")); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "devices/exec/testdata/double.py": "double.py"} {
		text, err := os.ReadFile(filepath.Join(root, from))
		if err != nil {
			t.Fatal(err)
		}
		if to == "go.mod" {
			text = []byte(strings.Replace(string(text), "module github.com/mmafuzz/mmafuzz", "module example.com/mine", 1) +
				"\nrequire github.com/mmafuzz/mmafuzz v0.0.0\nreplace github.com/mmafuzz/mmafuzz => " + root + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []struct {
		needs       string // a program
		args, wants []string
		fails       bool
	}{
		{"", []string{"-short", "-run", "FuzzGo"}, []string{"flush", "bundle: testdata/mmafuzz/FuzzGo/"}, true},
		// Whether there is time for the cause depends on the machine.
		{"", []string{"-run", "FuzzGo", "-fuzz", "FuzzGo", "-fuzztime", "100000x", "-fuzzminimizetime", "5x"}, []string{"sim:hopper gives ", ", FuzzGo gives "}, true},
		{"gcc", []string{"-short", "-v", "-run", "FuzzC"}, []string{"--- PASS: FuzzC"}, false},
		{"python3", []string{"-short", "-v", "-run", "FuzzPython"}, []string{"--- PASS: FuzzPython"}, false},
	} {
		if _, err := exec.LookPath(run.needs); run.needs != "" && err != nil {
			t.Logf("go test %v is left out: %v", run.args, err)
			continue
		}
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-mod=mod"}, run.args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "MMAFUZZ_LONG=")
		out, err := cmd.CombinedOutput()
		if (err != nil) != run.fails {
			t.Errorf("go test %v: %v\n%s", run.args, err, out)
		}
		for _, want := range run.wants {
			if !strings.Contains(string(out), want) {
				t.Errorf("go test %v: there is no %q in\n%s", run.args, want, out)
			}
		}
	}
}

// TestNaNCodes: two NaNs of codes that nothing explains are a cause of their own, which names both.
func TestNaNCodes(t *testing.T) {
	h := harnessOf(t, func(d *mma.Dot, code uint64) uint64 {
		if code != 0x7fffffff {
			return code
		}
		h := uint64(1)
		for k := range d.A {
			h = (h ^ d.A[k]<<17 ^ d.B[k]) * 0x9e3779b97f4a7c15
		}
		return code ^ (h>>52)&0x3ff
	}, NaN(oracle.Bits))
	text, err := h.campaign(t.Context(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "unexplained") {
		t.Errorf("something is unexplained in\n%s", text)
	}
	for _, want := range []string{"nan-code", "7fffffff for A, 7ff"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}
