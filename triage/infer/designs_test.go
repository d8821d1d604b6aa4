package infer

import (
	"os"
	"os/exec"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestDesigns runs the tests of the units that were written by hand, which are a module of
// their own so that they cannot use what infer searches. With the long tiers some of them
// are inferred and judged; .ci/nightly designs judges all.
func TestDesigns(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command runs the tests of another module: ", err)
	}
	test := exec.Command("go", "test", "-count=1", "-timeout=30m", "-short="+tier.Of("true", "true", "true", "false"), ".")
	test.Dir = "testdata/designs"
	test.Env = append(os.Environ(), "GOOS=", "GOARCH=") // of this machine: also where it emulates another
	if out, err := test.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
