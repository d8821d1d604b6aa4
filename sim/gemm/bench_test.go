package gemm_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// timed is a model that notes the processor time of the goroutine which calls it, from its first call on.
type timed struct {
	*sim.Model
	began, spent time.Duration
}

func (t *timed) Run(_ context.Context, in *mma.Batch, out []byte) error {
	if t.began == 0 {
		runtime.LockOSThread() // the goroutine ends with the product
		t.began = measure.Thread()
	}
	t.Model.Run(in, out)
	t.spent = measure.Thread() - t.began
	return nil
}

// BenchmarkMultiply reports the processor time of a product of a plain kernel on one core, and how many
// times that of its model on batches it is:
//
//	go test -run xxx -bench Multiply ./sim/gemm
func BenchmarkMultiply(b *testing.B) {
	for _, name := range []string{"hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/mma.m8n8k4.f64.f64.f64.f64"} {
		b.Run(name, func(b *testing.B) {
			u := schedule.Unit{Instruction: name}
			i, err := u.Resolve()
			if err != nil {
				b.Fatal(err)
			}
			m, err := sim.ForInstruction(i)
			if err != nil {
				b.Fatal(err)
			}
			s := schedule.Shape{M: 512, N: 512, K: 1024}
			drawn := measure.Batch(i, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1}, 1, measure.Finite)
			batch := measure.Batch(i, measure.Shape(i, measure.Tiles), 1, measure.Finite)
			out := make([]byte, batch.Dots()*batch.D.Width())
			k := &schedule.Kernel{Unit: &u, Schedules: []schedule.Schedule{{}}}
			products := float64(s.M) * float64(s.N) * float64(s.K)
			var whole, alone time.Duration
			for b.Loop() {
				t := &timed{Model: m}
				if _, _, err := gemm.Multiply(b.Context(), k, &gemm.Operands{Shape: s, A: drawn.A, B: drawn.B},
					gemm.Options{Workers: 1, Open: func(*mma.Instruction) (gemm.Unit, error) { return t, nil }}); err != nil {
					b.Fatal(err)
				}
				whole += t.spent
				unlock := measure.Lock()
				began := measure.Thread()
				for range int(products) / (batch.Dots() * batch.K) {
					m.Run(batch, out)
				}
				alone += measure.Thread() - began
				unlock()
			}
			b.ReportMetric(float64(whole.Nanoseconds())/float64(b.N)/products, "ns/product")
			b.ReportMetric(float64(whole)/float64(alone), "times-model")
			b.ReportMetric(0, "ns/op")
		})
	}
}
