package driver_test

import (
	"fmt"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
)

// TestFatal checks after which errors the context is lost.
func TestFatal(t *testing.T) {
	for _, tc := range []struct {
		code  driver.Result
		name  string
		fatal bool
	}{
		{2, "out of memory", false},
		{4, "deinitialized", true},
		{218, "invalid PTX", false},
		{222, "unsupported PTX version", false},
		{300, "invalid source", false},
		{301, "file not found", false},
		{302, "shared object symbol not found", false},
		{303, "shared object initialization failed", false},
		{304, "operating system", false},
		{400, "invalid handle", false},
		{700, "illegal address", true},
		{701, "launch out of resources", false},
		{719, "launch failed", true},
		{999, "unknown", true},
	} {
		if got := driver.Fatal(fmt.Errorf("loading: %w", &driver.Error{Code: tc.code})); got != tc.fatal {
			t.Errorf("%d, %s: fatal %v, want %v", tc.code, tc.name, got, tc.fatal)
		}
	}
}
