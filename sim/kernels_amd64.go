//go:build !purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// vectorKernels makes the kernels in vector instructions, except for vector, which is
// tried before. Each returns nil for programs that it does not support.
var vectorKernels = []func(*Model, simd.Level) kernel{newChain, newTFDPA64, newTRFDPA, newGSTFDPA, newEFDPA}
