package selfcheck

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls do for 0..n-1 on all processors, in any order, until ctx is done.
func parallel(ctx context.Context, n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
