package bench

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// TestGrows has curves of memory with the verdict on each.
func TestGrows(t *testing.T) {
	const mi = 1 << 20
	for _, c := range []struct {
		name   string
		values []uint64
		want   bool
	}{
		{"flat", []uint64{9 * mi, 9 * mi, 9 * mi, 9 * mi, 9 * mi, 9 * mi}, false},
		{"warming up", []uint64{1 * mi, 8 * mi, 9 * mi, 9 * mi, 9 * mi, 9 * mi}, false},
		{"up and down", []uint64{9 * mi, 9 * mi, 30 * mi, 9 * mi, 31 * mi, 9 * mi}, false},
		{"shrinking", []uint64{60 * mi, 50 * mi, 40 * mi, 30 * mi, 20 * mi, 10 * mi}, false},
		{"a leak", []uint64{10 * mi, 20 * mi, 30 * mi, 40 * mi, 50 * mi, 60 * mi}, true},
		{"less than the slack", []uint64{1 * mi, 2 * mi, 3 * mi, 4 * mi, 4*mi + 9, 5 * mi}, false},
		{"less than a twentieth", []uint64{90 * mi, 95 * mi, 100 * mi, 100 * mi, 104 * mi, 104 * mi}, false},
		{"more than a twentieth", []uint64{90 * mi, 95 * mi, 100 * mi, 100 * mi, 106 * mi, 106 * mi}, true},
	} {
		if got := grows(c.values, mi); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestInterrupted interrupts a measurement of models, which no model looks out for.
func TestInterrupted(t *testing.T) {
	b, err := New([]string{"models"}, Options{Only: regexp.MustCompile("fp16/hopper"), Runs: 1_000_000, Time: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = b.Run(ctx, func(int, string) {}, func(*Measurement) error { return nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestBenchTables checks that the slower inputs and the last path are shown.
func TestBenchTables(t *testing.T) {
	var results []*Measurement
	for _, r := range []struct {
		column string
		ns     measure.Series
		cycles float64
		kernel string
	}{
		{"portable", measure.Series{900, 1000, 1100}, 1.5, "go"}, {"portable", measure.Series{2000}, 3, "go"},
		{"avx2", measure.Series{300, 300}, 0.5, "asm"}, {"avx2", measure.Series{200}, 0.4, "asm"},
	} {
		m := &Measurement{Name: "models/x/" + r.column, group: "x", column: r.column, series: r.ns, Cycles: r.cycles, Kernel: r.kernel}
		m.fill()
		results = append(results, m)
	}
	results = append(results, &Measurement{Name: "models/y/avx2", group: "y", column: "avx2", Median: 7, Runs: 1, Cycles: 0.1, Kernel: "asm"})
	var stdout strings.Builder
	b := &Bench{Machine: &measure.Machine{Processor: "P", Processors: 1, CycleNs: 0.25}, Notes: []string{"z: broken"}}
	if err := b.Document(results).Write(&stdout, "text", document.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	want := `P, 1 processor, a clock cycle takes 0.250 ns

models: ns for the 2048 products of an m16n8k16 tile on one core, the slower of raw bits and finite numbers
OPERATION  PORTABLE     AVX2  CYCLES/PRODUCT  KERNEL
x              2000  300 ±0%            0.50  asm
y                 -        7            0.10  asm

not measured: z: broken
`
	if got := stdout.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
