package minimize

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestWide(t *testing.T) {
	cat := mma.Catalog()
	done := map[string]bool{}
	var tb, tq, tn int
	hist := map[int]int{}
	for i := range cat {
		for j := range i {
			x, y := &cat[i], &cat[j]
			if x.Refuse != "" || y.Refuse != "" || x.Formats != y.Formats || x.K != y.K || x.Params == y.Params {
				continue
			}
			id := fmt.Sprintf("%v %v %d %v %v", x.Params, y.Params, x.K, x.Formats, "")
			if done[id] {
				continue
			}
			done[id] = true
			mx, _ := sim.ForInstruction(x)
			my, _ := sim.ForInstruction(y)
			for _, kind := range []string{"normal", "spread", "raw"} {
				r := rand.New(rand.NewPCG(1, 2))
				var ms []*mma.Dot
				for n := 0; n < 3000 && len(ms) < 5; n++ {
					if d := draw(r, x.Formats, x.K, kind); mx.Dot(d, nil) != my.Dot(d, nil) {
						ms = append(ms, d)
					}
				}
				if len(ms) == 0 {
					continue
				}
				var q, b, mb, un int
				var td time.Duration
				finals := map[string]int{}
				t0 := time.Now()
				for _, m := range ms {
					test := differ(mx, my)
					res, err := Dot(context.Background(), x.Formats, m, func(ctx context.Context, d []*mma.Dot) ([]string, error) {
						t1 := time.Now()
						a, err := test(ctx, d)
						td += time.Since(t1)
						return a, err
					}, Options{Bucket: "diff"})
					if err != nil {
						t.Fatal(err)
					}
					if !res.Minimal {
						un++
					}
					q += res.Queries
					b += res.Batches
					hist[res.Batches]++
					mb = max(mb, res.Batches)
					finals[mma.FormatDot(x.Formats, res.Dot)]++
				}
				tq += q
				tb += b
				tn += len(ms)
				n := float64(len(ms))
				fmt.Printf("%-44s %-40s %-6s n %d q %.0f b %.2f max %d ms %.2f test %.2f minima %d\n", x.FullName(), y.FullName(), kind, len(ms), float64(q)/n, float64(b)/n, mb, (time.Since(t0)-td).Seconds()*1000/n, td.Seconds()*1000/n, len(finals))
				if os.Getenv("FINALS") != "" {
					for f, n := range finals {
						fmt.Println("   ", n, f)
					}
				}
			}
		}
	}
	fmt.Println("total", tn, float64(tq)/float64(tn), float64(tb)/float64(tn), hist)
}
