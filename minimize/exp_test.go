package minimize

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestExp(t *testing.T) {
	rz := mma.EFDPA(16)
	rz.Acc = mma.To(fp.FP32, fp.RZ)
	type pr struct {
		name string
		x, y *sim.Model
		gens []string
	}
	gens := []string{"normal", "spread"}
	for _, c := range []pr{
		{"chain/trunc", model(t, 16, mma.FMA(fp.FP32)), model(t, 16, rz), gens},
		{"ampere/hopper", unit(t, "ampere", "mma.m16n8k16.f32.f16.f16.f32"), unit(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32"), gens},
		{"fp8 wgmma/tcgen05", unit(t, "hopper", "wgmma.m64n8k32.f32.e4m3.e5m2"), unit(t, "blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e5m2"), []string{"normal", "raw", "spread"}},
	} {
		for _, g := range c.gens {
			ms := mismatches(t, c.x, c.y, g, 20)
			var q, b, mb, nz int
			var sum key
			t0 := time.Now()
			finals := map[string]int{}
			for _, m := range ms {
				r, err := Dot(context.Background(), c.x.Formats(), m, differ(c.x, c.y), Options{Bucket: "diff"})
				if err != nil {
					t.Fatal(err)
				}
				q += r.Queries
				b += r.Batches
				mb = max(mb, r.Batches)
				l := newLayout(c.x.Formats(), len(m.A))
				k := l.key(l.vector(r.Dot))
				for i := range k {
					sum[i] += k[i]
				}
				for i, v := range l.vector(r.Dot) {
					if v != 0 && !l.isScale(i) {
						nz++
					}
				}
				finals[mma.FormatDot(c.x.Formats(), r.Dot)]++
			}
			n := float64(len(ms))
			fmt.Printf("%-18s %-8s q %.0f b %.2f max %d nz %.2f ms %.2f key %v\n", c.name, g, float64(q)/n, float64(b)/n, mb, float64(nz)/n, time.Since(t0).Seconds()*1000/n, sum)
			if testing.Verbose() {
				for f, n := range finals {
					fmt.Println("   ", n, f)
				}
			}
		}
	}
}
