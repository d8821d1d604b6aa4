// Package harness runs a comparison in three fuzzing engines other than mmafuzz's own: go
// test -fuzz, go-fuzz and libFuzzer. They know only bytes and the coverage of code. Package
// gen decodes the bytes (Decode): every byte string is an input, missing bytes are zeros.
//
// The environment variable MMAFUZZ_PAIR names what is compared, as TARGET TARGET INSTRUCTION:
//
//	export MMAFUZZ_PAIR="sim:hopper ref:exact mma.m16n8k16.f32.f16.f16.f32"
//
// If it is not set, the fast models are compared with the oracle, a slow interpreter that
// shares no arithmetic with them.
//
// # go test -fuzz
//
//	go test -run '^$' -fuzz '^FuzzPair$' -fuzzminimizetime 5x ./fuzz/harness
//
// It begins with an input of each generator, mutates bytes by coverage, and ends with the
// first failure, which it keeps in testdata/fuzz/FuzzPair and prints with commands that run
// it again. It minimizes failures, and inputs that reach new code, byte by byte, which is of
// no use here: -fuzzminimizetime 5x keeps that short. Inputs that reach new code are kept in
// Go's cache (go env GOCACHE), which go clean -fuzzcache empties. An input that takes ten
// seconds ends the run. To test a function of your own, see package fuzz/fuzztest.
//
// # go-fuzz
//
// go-fuzz is frozen but works; its version is pinned in go.mod.
//
//	go tool go-fuzz-build -func FuzzPair -o /tmp/pair.zip ./fuzz/harness
//	go tool go-fuzz -bin /tmp/pair.zip -workdir /tmp/pair
//
// It goes on after a failure, solves comparisons with constants, and has no limit of
// time: Ctrl-C ends it, and its directory /tmp/pair has the inputs that reached new code
// (corpus) and the failures (crashers). Inputs whose computations have many features are
// preferred.
//
// # libFuzzer
//
// The fuzzer of clang, with a mutator of dot products in Go and with the features of the
// computation as coverage: go doc ./fuzz/harness/libfuzzer
//
//	fuzz/harness/libfuzzer/build /tmp/pair.libfuzzer
//	/tmp/pair.libfuzzer -max_total_time=60 /tmp/corpus
//
// # Files of the engines
//
// All three read the same files of bytes, except that go test -fuzz has a line with its
// version and a Go literal in place of the bytes. mmafuzz corpus reads both and writes the
// form that is asked for:
//
//	mmafuzz corpus export --a sim:hopper --b sim:ampere --inst mma.m16n8k8.f32.f16.f16.f32 --out /tmp/corpus [BUNDLE...]
//	mmafuzz corpus import --a sim:hopper --b sim:ampere --inst mma.m16n8k8.f32.f16.f16.f32 --out DIR FILE|DIR...
//
// The first writes inputs to begin with: of each generator, and of bundles. The second
// compares the two targets on inputs that an engine has found, and makes a bundle for each
// cause.
//
// # A harness of your own
//
// fuzz.NewPairChecker makes a Checker of any two units. Its Check is all that a go-fuzz
// or libFuzzer target calls, its Seeds returns inputs to begin with, and its Mutate is a
// mutator of dot products.
//
// # What each is good at
//
// Faults were planted in a model, as targets fault:NAME. TABLE.md shows how long each engine
// takes to find them. It is made by
//
//	go test ./fuzz/harness/table -update -timeout 0
//
// Faults that show on the inputs to begin with, one of each generator, are found at once by
// all engines. Most of the others mmafuzz finds in a hundredth of a second, and the last in a
// quarter of a second; the other engines, whose feedback knows only the code of the units,
// take seconds for most. If results are tiny or cancel deeply, libFuzzer needs fewer
// executions with the mutator of dot products and the features as coverage than with bytes.
// No engine finds a fault that shows on one value of 32 bits. Feedback has found nothing that
// generators aimed at the units do not find sooner, and so has led to no new generator.
// These engines are for units whose faults are in code that the engines can see, and for people who
// run them anyway.
//
// The API of this package is not promised: it may change in any version.
package harness

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

// CountVar is the environment variable that names a file to which every execution appends a
// byte, Agree or Differ. All processes of an engine append to the same file. If the variable
// is empty, executions are not counted.
const CountVar = "MMAFUZZ_EXECUTIONS"

// The bytes in the file of CountVar.
const (
	Agree  = '.'
	Differ = '!'
)

// Harness is what an engine calls.
type Harness struct {
	*fuzz.Checker
	count *os.File // nil: executions are not counted
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

// OpenPair opens a pair that is given as TARGET TARGET INSTRUCTION.
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

// Check calls Checker.Check and counts the execution.
func (h *Harness) Check(data []byte) (features int, err error) {
	features, err = h.Checker.Check(data)
	if h.count != nil {
		outcome := []byte{Agree}
		if err != nil {
			outcome[0] = Differ
		}
		if _, err := h.count.Write(outcome); err != nil {
			panic("fuzz/harness: " + err.Error())
		}
	}
	return features, err
}

// FaultPair returns the value of PairVar that compares the right unit with one that has the
// fault.
func FaultPair(f *Fault) string {
	return fmt.Sprintf("sim:%s fault:%s %s", faultyArch, f.Name, faultyInst)
}
