package mine

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/fuzztest"
)

func FuzzPython(f *testing.F) {
	fuzztest.CompareTargets(f, "exec:python3 double.py", "ref:fma64")
}
