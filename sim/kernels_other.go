//go:build !amd64 || purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// There are no vector instructions.

func newVector(*narrow, simd.Level) kernel { return nil }

func newIntVectors(*intSums, simd.Level) kernel { return nil }

var vectorKernels []func(*Model, simd.Level) kernel
