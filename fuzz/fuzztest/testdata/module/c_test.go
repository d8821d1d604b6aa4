//go:build cgo

package mine

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/fuzztest"
)

func FuzzC(f *testing.F) {
	fuzztest.Compare(f, "sim:hopper/mma.m8n8k4.f64.f64.f64.f64", CDot)
}
