package infer

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestUntested checks which parameters are reported as not tested: all that only choose the
// code of a NaN or the sign of a zero, where these are compared by class, and no others.
func TestUntested(t *testing.T) {
	byClass := oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass}
	for _, f := range mma.Fields() {
		if reason := untested(f, oracle.Policy{}); reason != "" {
			t.Errorf("%s is not tested by bits: %s", f.Path, reason)
		}
		if special, reason := strings.HasPrefix(f.Path, "special."), untested(f, byClass); special != (reason != "") {
			t.Errorf("%s is not tested by class because of %q", f.Path, reason)
		}
	}
}
