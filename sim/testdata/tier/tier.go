// Package tier chooses how much the tests of this project do.
//
// The API of this package is not promised: it may change in any version.
//
// Every test that takes long has tiers, which check the same property:
//
//	go test -short ./...              the least: in emulators, and under the race detector
//	go test ./...                     what one runs while working, within a budget of processor
//	                                  time: 210 times that of the calibration loop in
//	                                  .ci/common; .ci/run fails above twice the budget
//	MMAFUZZ_LONG=1 go test ./...      more inputs, more pairs, whole lists: .ci/run runs the
//	                                  tests that have this tier; each takes some ten seconds
//	MMAFUZZ_LONG=nightly go test ./...
//	                                  the most: .ci/nightly long
//
// A few tests run programs or the go command for a minute and more. They run only with
// MMAFUZZ_LONG=nightly.
//
// A test that needs more than a second of processor time has tiers, and one that needs more
// than ten seconds in the third has a fourth:
//
//	count := tier.Of(1_000, 20_000, 200_000, 1_000_000)
//
// or begins with LongOnly, if another test checks its property with less.
//
// Tests that import this package collect garbage less often, which saves a part of their
// processor time.
package tier

import (
	"os"
	"runtime/debug"
	"testing"
)

// Most tests keep some MB only: collecting garbage whenever these have doubled, as is usual,
// takes a fifth of their processor time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Variable is the environment variable that makes the tests take long: any value but the
// empty one does.
const Variable = "MMAFUZZ_LONG"

// Long reports whether the tests are to do more than usual. With -short they do not.
func Long() bool { return os.Getenv(Variable) != "" && !testing.Short() }

// Nightly reports whether the tests are to do the most.
func Nightly() bool { return os.Getenv(Variable) == "nightly" && !testing.Short() }

// LongOnly skips a test whose property another test checks with less, unless the tests are
// to do more than usual.
func LongOnly(t testing.TB) {
	t.Helper()
	if !Long() {
		t.Skip("only with " + Variable)
	}
}

// Of returns what the tier in effect is to use: short with -short, long with Variable
// set, nightly if it is set to that and the test has this tier, otherwise usual.
func Of[T any](short, usual, long T, nightly ...T) T {
	switch {
	case testing.Short():
		return short
	case Nightly() && len(nightly) > 0:
		return nightly[0]
	case Long():
		return long
	}
	return usual
}

// SkipUnderRace skips a test that computes much, in one goroutine or in those that other
// tests have too: with the race detector it takes twenty times as long and finds nothing more.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if Race {
		t.Skip("nothing for the race detector that other tests do not have")
	}
}
