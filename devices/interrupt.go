package devices

import (
	"context"
	"sync/atomic"
)

var interrupt atomic.Pointer[context.Context]

// Interrupt makes an opening that waits for something, such as the first words of a child,
// return the context's error when it ends. A program calls it once, at its start: nothing
// is opened any more when the program is interrupted.
func Interrupt(ctx context.Context) { interrupt.Store(&ctx) }

// Opening returns the context of all openings: that of Interrupt.
func Opening() context.Context {
	if ctx := interrupt.Load(); ctx != nil {
		return *ctx
	}
	return context.Background()
}
