// Package fuzztest makes a test and a fuzz target of the comparison of your own
// implementation with a unit, in five lines:
//
//	func FuzzMyUnit(f *testing.F) {
//		fuzztest.Compare(f, "sim:hopper/mma.m16n8k16.f32.f16.f16.f32", func(d *mma.Dot) uint64 {
//			return myDot(d.A, d.B, d.C)
//		})
//	}
//
// A function in C takes as many lines, and a Go function that calls it by cgo, which must
// not be in a test file; testdata/module of this package has an example. A program in any
// language is a target of its own, exec:COMMAND (go doc ./devices/exec has the protocol,
// and an example of twenty lines of Python):
//
//	func FuzzPython(f *testing.F) {
//		fuzztest.CompareTargets(f, "exec:python3 double.py", "ref:fma64")
//	}
//
// go test compares the two on 100,000 inputs that are aimed at the decisions of arithmetics
// (10,000 with -short), and on the inputs under testdata/fuzz. A failure says in how many
// cases they differ and why, draws the smallest input of the two most frequent causes, and writes
// a bundle of each kind of case below testdata/mmafuzz, which mmafuzz show and mmafuzz report read.
//
// Two versions of a function are compared in the same way. A defect that came with the second is often
// named exactly then, where it is unexplained against a unit that computes in another way:
//
//	func FuzzRewrite(f *testing.F) {
//		i := &mma.Instruction{Name: "dot", Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 16}
//		before, now := devices.Func(i, dotBefore), devices.Func(i, dotNow)
//		fuzztest.CompareUnits(f, devices.Pair{A: before, B: now, TargetA: "before", TargetB: "now", K: 16}, fuzztest.Thorough())
//	}
//
// A NaN is any NaN, unless both sides' codes are known, as those of two simulators are: NaN(oracle.Bits)
// compares the codes too, and Zero(oracle.ByClass) leaves out the signs of zeros. A cause that is
// not found in a few seconds is looked for with Thorough() alone.
//
// go test -fuzz FuzzMyUnit goes on with inputs that Go mutates by coverage. Go's fuzzer
// minimizes byte by byte, which is of no use here; -fuzzminimizetime 5x keeps that short. The
// failure's message has the smallest dot product if the cause is found within a second. Go keeps
// the inputs that reached new code in its cache (go env GOCACHE), and go clean -fuzzcache
// empties it.
package fuzztest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"      // exec:
	_ "github.com/mmafuzz/mmafuzz/devices/reference" // ref:
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
)

const (
	inputs      = 100_000
	inputsShort = 10_000

	// examineLimit is how long a mismatch that Go's fuzzer finds may be examined: a failure that its
	// worker has not yet reported when -fuzztime is over is lost.
	examineLimit = time.Second

	// effort is fuzz.Config.Effort without Thorough: a few seconds.
	effort = 3

	// searchTime is fuzz.Config.SearchTime without Thorough: on an idle machine the effort takes less.
	searchTime = 10 * time.Second
)

// Option changes how two units are compared.
type Option func(*harness)

// NaN compares NaNs by their bits or by class, whatever is known of the two sides.
func NaN(s oracle.Strictness) Option { return func(h *harness) { h.config.NaN = &s } }

// Zero compares signs of zeros by their bits or by class, whatever is known of the two sides.
func Zero(s oracle.Strictness) Option { return func(h *harness) { h.config.Zero = &s } }

// Thorough searches for the cause as mmafuzz run does, which may take a minute, and infers what
// nothing is known of. Without it the searches end after 10 seconds at the latest, so that a test that
// fails does so within about 15: what a busy machine has not found by then is unexplained.
func Thorough() Option {
	return func(h *harness) { h.config.Effort, h.config.SearchTime, h.config.NoInfer = 0, 0, false }
}

// noInstruction says what is missing in the name of a unit.
func noInstruction(unit string) string {
	example := "sim:hopper/mma.m16n8k16.f32.f16.f16.f32"
	if strings.HasPrefix(unit, "ref:") { // it takes the formats and K of another's instruction
		example = unit + "/" + example
	}
	return fmt.Sprintf("%q names no instruction: TARGET/INSTRUCTION, such as %s", unit, example)
}

// Compare compares a function with a unit: TARGET/INSTRUCTION, such as
// sim:hopper/mma.m16n8k16.f32.f16.f16.f32 (mmafuzz list has them all). A target that works on any
// formats takes those of an instruction: ref:mul32/sim:hopper/mma.m16n8k16.f32.f16.f16.f32 is a
// loop of FP32 multiplications and additions over 16 products of FP16. dot gets codes of the
// instruction's operands and returns the code of the result: see devices.Func.
func Compare(f *testing.F, unit string, dot func(d *mma.Dot) uint64, options ...Option) {
	f.Helper()
	target, instruction, found := strings.Cut(unit, "/")
	if !found {
		f.Fatal(noInstruction(unit))
	}
	a, err := devices.OpenUnit(target, instruction, instruction)
	if err != nil {
		f.Fatal(err)
	}
	i := a.Instruction()
	b := devices.Func(&mma.Instruction{Name: f.Name(), Formats: i.Formats, K: i.K}, dot)
	CompareUnits(f, devices.Pair{A: a, B: b, TargetA: target, TargetB: f.Name(), K: i.K}, options...)
}

// CompareTargets compares two targets, each TARGET or TARGET/INSTRUCTION, such as
// "exec:python3 double.py" and "ref:fma64". Targets that have several instructions in
// common need the name of one.
func CompareTargets(f *testing.F, a, b string, options ...Option) {
	f.Helper()
	var targets [2]devices.Target
	var instructions [2]string
	for n, spec := range []string{a, b} {
		name, instruction := devices.Split(spec)
		t, err := devices.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { t.Close() })
		targets[n], instructions[n] = t, instruction
	}
	pairs, err := devices.Pairs(targets[0], targets[1], instructions[0], instructions[1])
	if err != nil {
		f.Fatal(err)
	}
	if len(pairs) > 1 {
		f.Fatalf("%s and %s have %d instructions in common: name one, as in sim:hopper/mma.m16n8k16.f32.f16.f16.f32", a, b, len(pairs))
	}
	CompareUnits(f, pairs[0], options...)
}

// CompareUnits compares two units of any kind.
func CompareUnits(f *testing.F, pair devices.Pair, options ...Option) {
	f.Helper()
	h := newHarness(pair, filepath.Join("testdata", "mmafuzz", f.Name()), options...)
	if !fuzzing() {
		n := inputs
		if testing.Short() {
			n = inputsShort
		}
		if text, err := h.campaign(f.Context(), uint64(n)); err != nil {
			f.Fatal(err)
		} else if text != "" {
			f.Error(text)
		}
	}
	checker := fuzz.NewPairChecker(pair)
	for _, seed := range checker.Seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, dot := checker.Decode(data)
		text, err := h.one(t.Context(), dot, t.Name())
		if err != nil {
			t.Fatal(err)
		}
		if text != "" {
			t.Error(text)
		}
	})
}

// fuzzing reports whether this process is go test -fuzz or one of its workers.
func fuzzing() bool {
	for _, name := range []string{"test.fuzz", "test.fuzzworker"} {
		if v := flag.Lookup(name); v != nil && v.Value.String() != v.DefValue {
			return true
		}
	}
	return false
}

// harness compares a pair.
type harness struct {
	pair         devices.Pair
	config       fuzz.Config // without what depends on the command
	dir          string      // of bundles
	examineLimit time.Duration

	mu       sync.Mutex
	last     string    // the description of the mismatch that was examined, "" before
	on       *mma.Dot  // that mismatch
	rounding *rounding // nil: not judged yet
}

// newHarness returns the harness of the test that the directory is called after.
func newHarness(pair devices.Pair, dir string, options ...Option) *harness {
	h := &harness{pair: pair, dir: dir, examineLimit: examineLimit, config: fuzz.Config{Pairs: []devices.Pair{pair}, Seed: 1, Effort: effort, SearchTime: searchTime, NoInfer: true, Test: filepath.Base(dir)}}
	for _, o := range options {
		o(h)
	}
	return h
}

// campaign compares the units on n aimed inputs, and describes how they differ, "" if they
// do not.
func (h *harness) campaign(ctx context.Context, n uint64) (string, error) {
	cfg := h.config
	cfg.Count, cfg.Bundles, cfg.BundleDir = n, h.dir, h.bundleDir
	c, err := fuzz.New(cfg)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.Run(ctx); err != nil {
		return "", err
	}
	st := c.State().Pairs[0]
	if st.Differences() == 0 {
		return "", nil
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%s and %s differ on %s of %s\n", h.pair.TargetA, h.pair.TargetB,
		readable.Thousands(st.Mismatches()), readable.Dots(st.Dots))
	if st.Codes > 0 {
		what := "the code of a NaN alone, which is not compared: NaN(oracle.Bits) does"
		switch policy := h.config.Policy(&h.pair); {
		case policy.NaN == policy.Zero:
			what = "the code of a NaN or the sign of a zero alone, which are not compared: NaN(oracle.Bits) and Zero(oracle.Bits) do"
		case policy.Zero == oracle.ByClass:
			what = "the sign of a zero alone, which is not compared: Zero(oracle.Bits) does"
		}
		fmt.Fprintf(&s, "%s more differ in %s\n", readable.Thousands(st.Codes), what)
	}
	for _, r := range st.Stochastic {
		if text := st.StochasticText(r); text != "" {
			fmt.Fprintln(&s, text)
		}
	}
	h.causes(&s, c.State())
	if strings.Contains(s.String(), string(triage.Unexplained)) {
		if h.config.NoInfer {
			fmt.Fprintln(&s, "the search for causes was short: the option Thorough() takes a minute, as mmafuzz run does")
		} else if !strings.Contains(s.String(), "mmafuzz infer") { // which the picture says of a target that it can ask
			fmt.Fprintln(&s, "mmafuzz infer searches many more programs: let a child of your own answer with the function (mmafuzz help exec), and run mmafuzz infer --target exec:./CHILD")
		}
		if h.pair.A.Model() == nil && h.pair.B.Model() == nil {
			fmt.Fprintln(&s, "if the one became the other in several steps, CompareUnits of each two that follow each other says what a step does")
		} else {
			fmt.Fprintln(&s, "if an earlier version of the function agrees, CompareUnits of the two versions says what the change does (go doc ./fuzz/fuzztest)")
		}
	}
	return s.String(), nil
}

// one compares the units on one dot product, and describes how they differ, "" if they do
// not. The first mismatch is examined. Go's fuzzer then tries shorter inputs again and again;
// these get the same description, which says on what input it is. name is the test's: of other seeds
// it is said how they are examined.
func (h *harness) one(ctx context.Context, dot *mma.Dot, name string) (string, error) {
	f := h.pair.Formats()
	in := mma.BatchOf(f, h.pair.K, []*mma.Dot{dot})
	var codes [2]uint64
	for side, u := range []devices.Unit{h.pair.A, h.pair.B} {
		out := make([]byte, f.D.Width())
		if err := u.Run(ctx, in, out); err != nil {
			return "", err
		}
		codes[side] = mma.Load(out, f.D.Width(), 0)
	}
	if oracle.Compare(f.D, h.config.Policy(&h.pair), codes[0], codes[1]) == oracle.Same {
		return "", nil
	}
	if stochastic.Neighbours(f, h.config.Policy(&h.pair), dot, codes[0], codes[1]) && h.judge(ctx).sound {
		return "", nil
	}
	text := fmt.Sprintf("%s gives %s, %s gives %s\n  on %s\n", h.pair.TargetA, mma.FormatCode(f.D, codes[0]),
		h.pair.TargetB, mma.FormatCode(f.D, codes[1]), mma.FormatDot(f, dot))
	cause := h.examine(ctx, dot)
	if h.on.Equal(dot) {
		return text + cause, nil
	}
	if target, seed, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(seed, "seed#") {
		return text + fmt.Sprintf("the cause was looked for in the first of these mismatches; for this one: go test -run '^%s$/^%s$'\n", target, seed), nil
	}
	return text + fmt.Sprintf("of the mismatch that was found first, on %s:\n%s", mma.FormatDot(f, h.on), cause), nil
}

// rounding is what is known of the two sides' rounding.
type rounding struct {
	sound    bool   // a side rounds stochastically, and without a defect that few answers show
	unjudged string // why it is not known of a side whether it rounds stochastically
}

// judge judges the two sides' rounding, once.
func (h *harness) judge(ctx context.Context) *rounding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.judgeLocked(ctx)
}

func (h *harness) judgeLocked(ctx context.Context) *rounding {
	if h.rounding != nil {
		return h.rounding
	}
	h.rounding = new(rounding)
	for side, u := range []devices.Unit{h.pair.A, h.pair.B} {
		if u.Model() != nil || devices.IsRecording(u) {
			continue
		}
		j, err := stochastic.Judge(ctx, u, stochastic.Options{K: h.pair.K, Seed: h.config.Seed, Answers: stochastic.Least, Looks: 1})
		h.rounding.sound = h.rounding.sound || err == nil && j != nil && j.Defect == ""
		if unjudged := stochastic.Unjudged(""); errors.As(err, &unjudged) {
			h.rounding.unjudged += unjudged.Text([]string{h.pair.TargetA, h.pair.TargetB}[side]) + "\n"
		}
	}
	return h.rounding
}

// examine finds the cause of a mismatch, once.
func (h *harness) examine(ctx context.Context, dot *mma.Dot) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last != "" {
		return h.last
	}
	h.on = dot.Clone()
	ctx, cancel := context.WithTimeout(ctx, h.examineLimit)
	defer cancel()
	f, err := fuzz.TriageCase(ctx, h.config, dot)
	if err == nil {
		f.Dir = h.bundleDir(f)
		err = bundle.Write(f.Dir, f.Mismatch, nil)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		h.last = fmt.Sprintf("the cause was not found within %v; go test without -fuzz takes its time, and looks for a smaller input\n", h.examineLimit)
	case err != nil:
		h.last = fmt.Sprintf("the cause was not found: %v\n", err)
	default:
		h.last = h.describe(f)
		if f.Bucket == fuzz.Unstable {
			h.last += h.judgeLocked(ctx).unjudged
		}
	}
	return h.last
}

func (h *harness) bundleDir(f *fuzz.Case) string {
	return filepath.Join(h.dir, fmt.Sprintf("%s-%d", readable.Slug(f.Bucket), f.Number))
}
