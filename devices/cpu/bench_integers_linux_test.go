//go:build !purego

package cpu

import (
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// integers are the instructions for integers of the architectures.
var integers = map[string][]string{"x86": {"vpdpbusd", "vpdpbusds", "vpdpwssd", "vpdpwssds", "vpmaddwd", "vpmaddubsw", "avx2-u8s8"}}

// BenchmarkIntegers reports how much longer the model of an instruction takes than a loop of nothing
// but the instruction and its loads and stores, for the same products, in processor time: the
// median of rounds in which one follows the other. Other programs may run beside it.
//
//	go test -run xxx -bench Integers -benchtime 100x ./devices/cpu
func BenchmarkIntegers(b *testing.B) {
	for _, name := range integers[benchArch()] {
		b.Run(name, func(b *testing.B) {
			u := benchUnit(b, name)
			in := mma.NewBatch(u.inst.Formats, mma.Shape{M: 1, N: 1, K: u.inst.K, Tiles: 4096})
			fill(b, in)
			m, err := sim.ForInstruction(u.inst)
			if err != nil {
				b.Fatal(err)
			}
			out := make([]byte, in.Dots()*in.D.Width())
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var ratios []float64
			for b.Loop() {
				model := thread(b, func() { m.Run(in, out) })
				bare := thread(b, func() { u.native.body(&out[0], &in.A[0], &in.B[0], in.Tiles/u.native.group, u.control) })
				ratios = append(ratios, model/bare)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "model/instruction")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// thread returns the processor time that many calls take this thread.
func thread(b *testing.B, f func()) float64 {
	b.Helper()
	began := now(b)
	for range 1000 {
		f()
	}
	return float64(now(b) - began)
}

// now returns the processor time of this thread, in nanoseconds.
func now(b *testing.B) int64 {
	b.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		b.Fatal(err)
	}
	return ts.Nano()
}
