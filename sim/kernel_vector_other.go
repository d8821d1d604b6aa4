//go:build !amd64 || purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// There are no vector instructions.

func newVector(*narrow, simd.Level) kernel { return nil }

func newChain(*Model, simd.Level) kernel { return nil }

func newTFDPA64(*Model, simd.Level) kernel { return nil }

func newTRFDPA(*Model, simd.Level) kernel { return nil }
