// Package engine runs one comparison in three fuzzing engines beside mmafuzz's own: go
// test -fuzz, go-fuzz and libFuzzer. They know bytes and the coverage of code; package gen
// has the meaning of the bytes (Decode), in which missing bytes are zeros and every byte
// string is an input.
//
// The environment variable MMAFUZZ_PAIR names what is compared, as TARGET TARGET INSTRUCTION:
//
//	export MMAFUZZ_PAIR="sim:hopper ref:exact mma.m16n8k16.f32.f16.f16.f32"
//
// Without it the fast models are compared with the oracle, a slow interpreter that shares no
// arithmetic with them.
//
// # go test -fuzz
//
//	go test -run '^$' -fuzz '^FuzzPair$' -fuzzminimizetime 5x ./fuzz/engine
//
// It begins with an input of each generator, mutates bytes by coverage, and ends with the
// first failure, which it keeps in testdata/fuzz/FuzzPair and prints with commands that run
// it again. Its minimizing works on bytes and is of no use here: -fuzzminimizetime 5x keeps
// it short, also that of inputs which reach new code. Those are kept in Go's cache (go env
// GOCACHE), which go clean -fuzzcache empties. An input that takes ten seconds ends the run.
// For a function of yours there is package fuzz/fuzztest.
//
// # go-fuzz
//
// go-fuzz is frozen but works; its version is pinned in go.mod.
//
//	go tool go-fuzz-build -func FuzzPair -o /tmp/pair.zip ./fuzz/engine
//	go tool go-fuzz -bin /tmp/pair.zip -workdir /tmp/pair
//
// It goes on after a failure, solves comparisons with constants, and has no limit of
// time: Ctrl-C ends it, and its directory /tmp/pair has the inputs that reached new code
// (corpus) and the failures (crashers). An input whose computation has many features is
// preferred.
//
// # libFuzzer
//
// The fuzzer of clang, with a mutator of dot products in Go and with the features of the
// computation as coverage: go doc ./fuzz/engine/libfuzzer
//
//	fuzz/engine/libfuzzer/build /tmp/pair.libfuzzer
//	/tmp/pair.libfuzzer -max_total_time=60 /tmp/corpus
//
// # Files of the engines
//
// The same files are inputs of all three, except that go test -fuzz writes a line before the
// bytes and a Go literal; mmafuzz corpus reads both and writes what is asked for:
//
//	mmafuzz corpus export --a sim:hopper --b sim:ampere --inst mma.m16n8k8.f32.f16.f16.f32 --out /tmp/corpus [BUNDLE...]
//	mmafuzz corpus import --a sim:hopper --b sim:ampere --inst mma.m16n8k8.f32.f16.f16.f32 --out DIR FILE|DIR...
//
// The first writes inputs to begin with: of each generator, and those of bundles. The
// second compares the two on what an engine has found, and makes a bundle for each cause.
//
// # A harness of your own
//
// fuzz.NewPairChecker makes a Checker of any two units. Its Check is all that a go-fuzz
// or libFuzzer target calls, its Seeds are inputs to begin with and its Mutate is a
// mutator.
//
// # What each is good at
//
// Faults were planted in a model, as targets fault:NAME. TABLE.md has how long each engine
// takes to find them; this makes it:
//
//	go run ./fuzz/engine/table
//
// What the inputs to begin with, one of each generator, show is found at once by all. Of the
// rest mmafuzz finds most in a hundredth of a second and the last in a quarter of one, and
// the others, whose feedback knows nothing of both units but their code, most in
// seconds: with the mutator of dot products and the features as coverage in fewer
// executions than with bytes where results are tiny or cancel deeply. None
// finds one value of 32 bits, and feedback finds nothing that aim does not find sooner, so
// that it gave no new aim. Engines are for units whose faults are in the code that they
// can see, and for those who run them anyway.
//
// The API of this package is not promised: it may change in any version.
package engine

import (
	"fmt"
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/reference" // ref:
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// PairVar is the environment variable that names what is compared.
const PairVar = "MMAFUZZ_PAIR"

// CountVar is the environment variable that names a file which gets a byte for every
// execution, Agree or Differ; none if it is empty. It counts those of all processes
// of an engine alike.
const CountVar = "MMAFUZZ_EXECUTIONS"

// What the file of CountVar has.
const (
	Agree  = '.'
	Differ = '!'
)

// Harness is what an engine calls.
type Harness struct {
	*fuzz.Checker
	count *os.File // nil: nobody counts
}

// FromEnvironment returns the harness that the environment variables ask for.
func FromEnvironment() (*Harness, error) {
	h := &Harness{Checker: fuzz.NewChecker(mma.Arithmetics())}
	if name := os.Getenv(PairVar); name != "" {
		pair, err := OpenPair(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", PairVar, err)
		}
		h.Checker = fuzz.NewPairChecker(pair)
	}
	if name := os.Getenv(CountVar); name != "" {
		var err error
		if h.count, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err != nil {
			return nil, fmt.Errorf("%s: %w", CountVar, err)
		}
	}
	return h, nil
}

// OpenPair opens TARGET TARGET INSTRUCTION.
func OpenPair(name string) (devices.Pair, error) {
	words := strings.Fields(name)
	if len(words) != 3 {
		return devices.Pair{}, fmt.Errorf("%q is not of the form TARGET TARGET INSTRUCTION", name)
	}
	var targets [2]devices.Target
	for n := range targets {
		var err error
		if targets[n], err = devices.Open(words[n]); err != nil {
			return devices.Pair{}, err
		}
	}
	pairs, err := devices.Pairs(targets[0], targets[1], words[2], "")
	if err != nil {
		return devices.Pair{}, err
	}
	return pairs[0], nil
}

// Check is Checker.Check, counted.
func (h *Harness) Check(data []byte) (features int, err error) {
	features, err = h.Checker.Check(data)
	if h.count != nil {
		outcome := []byte{Agree}
		if err != nil {
			outcome[0] = Differ
		}
		if _, err := h.count.Write(outcome); err != nil {
			panic("fuzz/engine: " + err.Error())
		}
	}
	return features, err
}

// FaultPair is the value of PairVar that compares a unit which has a fault with the right one.
func FaultPair(f *Fault) string {
	return fmt.Sprintf("sim:%s fault:%s %s", faultyArch, f.Name, faultyInst)
}
