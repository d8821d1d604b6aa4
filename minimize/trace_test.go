package minimize

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestTrace(t *testing.T) {
	w := strings.Fields(os.Getenv("TRACE"))
	if len(w) == 0 {
		return
	}
	x, y := unit(t, w[0], w[1]), unit(t, w[2], w[3])
	for _, m := range mismatches(t, x, y, w[4], 3) {
		l := newLayout(x.Formats(), x.K())
		fmt.Println(l.key(l.vector(m)), mma.FormatDot(x.Formats(), m))
		last := 0
		r, _ := Dot(context.Background(), x.Formats(), m, differ(x, y), Options{Bucket: "diff", Progress: func(d *mma.Dot, q, b int) {
			fmt.Println(b, q-last, l.key(l.vector(d)), mma.FormatDot(x.Formats(), d))
			last = q
		}})
		fmt.Println(r.Batches, r.Queries, r.CacheHits)
	}
}
