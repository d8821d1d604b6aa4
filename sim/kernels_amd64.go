//go:build !purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// vectorKernels are the kernels in vector instructions, but for vector, which comes
// first. Each makes nil of a program that it does not compute.
var vectorKernels = []func(*Model, simd.Level) kernel{newChain, newTFDPA64, newTRFDPA, newGSTFDPA, newEFDPA}
