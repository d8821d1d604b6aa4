//go:build !amd64 || purego

package sim

import (
	"github.com/mmafuzz/mmafuzz/sim/internal/simd"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// There are no vector instructions.

func newVector(*narrow, simd.Level) kernel { return nil }

func newIntVectors(*intSums, simd.Level) kernel { return nil }

var vectorKernels []func(*Model, simd.Level) kernel

type (
	wordVector struct{ codes, values bool }
	sideVector struct{}
)

const fewestSideBySide = 0

func newWordVector(*Model, simd.Level) *wordVector { return nil }

func (*wordVector) tiles(*sideVector, []wordFactor, []wordFactor, *[]uint64, *mma.Batch, []byte, int, int) []int32 {
	return nil
}
