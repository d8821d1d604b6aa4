package fuzztest

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestUnjudged has a function of integers that adds one by chance. Whether this is meant is not
// judged, and a failure on one input says so.
func TestUnjudged(t *testing.T) {
	a, err := devices.OpenUnit("sim:x86", "vpdpbusd", "")
	if err != nil {
		t.Fatal(err)
	}
	i := a.Instruction()
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(1, 2))
	own := devices.Func(&mma.Instruction{Name: "mine", Formats: i.Formats, K: i.K}, func(*mma.Dot) uint64 {
		mu.Lock()
		defer mu.Unlock()
		return dice.Uint64N(2)
	})
	h := newHarness(devices.Pair{A: a, B: own, TargetA: "sim:x86", TargetB: "mine", K: i.K}, t.TempDir())
	h.examineLimit = time.Hour
	zero := mma.NewDot(i.Formats, i.K)
	text := ""
	for range 64 { // half of the answers are right
		if text, err = h.one(t.Context(), zero, t.Name()); text != "" || err != nil {
			break
		}
	}
	if want := "whether mine rounds stochastically is not known: formats with integers are not judged. "; err != nil || !strings.Contains(text, want) {
		t.Errorf("%v; there is no %q in\n%s", err, want, text)
	}
}

// TestNoInstruction holds that a reference without an instruction is told how it is given one.
func TestNoInstruction(t *testing.T) {
	const hopper = "sim:hopper/mma.m16n8k16.f32.f16.f16.f32"
	for unit, example := range map[string]string{"sim:turing": hopper, "ref:mul32": "ref:mul32/" + hopper} {
		if got, want := noInstruction(unit), `"`+unit+`" names no instruction: TARGET/INSTRUCTION, such as `+example; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestThoroughIsNamed holds that a test whose short search finds no cause names the longer one.
func TestThoroughIsNamed(t *testing.T) {
	unexplained := func(d *mma.Dot, code uint64) uint64 {
		if d.A[3]*d.B[5]%7 == 3 {
			code ^= d.C & 1
		}
		return code ^ d.A[1]*d.A[2]%5&1
	}
	h := harnessOf(t, unexplained)
	h.config.NoInfer, h.config.Effort = true, 1
	const words = "the option Thorough() takes a minute"
	if text, err := h.campaign(t.Context(), 512); err != nil || !strings.Contains(text, words) {
		t.Errorf("%v, %s", err, text)
	}
	// After the longer one there are other steps: inference, and comparing versions.
	h.config.NoInfer = false
	if text, err := h.campaign(t.Context(), 512); err != nil || strings.Contains(text, words) || !strings.Contains(text, "run mmafuzz infer") || !strings.Contains(text, "CompareUnits") {
		t.Errorf("%v, %s", err, text)
	}
	// Versions have been compared where neither side has a model.
	own := h.pair.B
	h.pair.A = devices.Func(own.Instruction(), func(*mma.Dot) uint64 { return 0x3f800000 })
	h.config.Pairs, h.config.Effort = []devices.Pair{h.pair}, -1
	if text, err := h.campaign(t.Context(), 512); err != nil || strings.Contains(text, "earlier version") || !strings.Contains(text, "what a step does") {
		t.Errorf("%v, %s", err, text)
	}
	h = harnessOf(t, flush)
	if text, err := h.campaign(t.Context(), 512); err != nil || text == "" || strings.Contains(text, words) || strings.Contains(text, "CompareUnits") {
		t.Errorf("%v, %s", err, text)
	}
	h.config.SearchTime = 1 // a nanosecond: what is not found in the time is unexplained, and shown
	text, err := h.campaign(t.Context(), 512)
	for _, want := range []string{words, "\nunexplained\n", "\n  c  "} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%v, no %q in\n%s", err, want, text)
		}
	}
}
