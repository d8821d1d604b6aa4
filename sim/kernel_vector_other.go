//go:build !amd64 || purego

package sim

import "github.com/mmafuzz/mmafuzz/sim/internal/simd"

// newVector returns nil: there are no vector instructions.
func newVector(*narrow, simd.Level) kernel { return nil }
