//go:build !purego

package cpu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestMain makes the tests, built for another processor, a child of themselves: with
// the arguments @serve FILE they serve cpu:0, and write to the file how long the
// instructions took.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "@serve" {
		serve(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

func serve(file string) {
	target, err := open("0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var clocks []*clocked
	var served []child.Instruction
	for _, i := range target.Instructions() {
		opened, err := target.Open(&i)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		u := opened.(*unit)
		inside := &clocked{native: *u.native}
		u.native = inside.clock()
		clocks = append(clocks, inside)
		served = append(served, child.Instruction{Name: i.FullName(), Formats: i.Formats, K: i.K,
			Run: func(in *mma.Batch, out []byte) error { return u.Run(context.Background(), in, out) }})
	}
	child.Main(child.Options{}, served...)
	total := time.Duration(0)
	for _, c := range clocks {
		total += c.spent()
	}
	if err := os.WriteFile(file, fmt.Append(nil, int64(total)), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// BenchmarkEmulated reports dot products a second of instructions of other processors
// in a child under an emulator, on one goroutine and batches as large as those of a
// campaign:
//
//	go test -run xxx -bench Emulated ./devices/cpu
//
// outside% is the part of the time that the emulator does not spend in the assembly:
// the child's packing, its protocol, the pipes and this side of them.
func BenchmarkEmulated(b *testing.B) {
	for _, e := range devicetest.Emulators {
		b.Run(e.Arch, func(b *testing.B) {
			paths, program := e.Paths(b), e.BuildTests(b)
			for _, path := range paths {
				for _, name := range benchmarked[e.Arch] {
					b.Run(name, func(b *testing.B) { benchEmulated(b, e.Command(path, program), e.Arch, name) })
				}
			}
		})
	}
}

// benchEmulated measures one instruction of a child.
func benchEmulated(b *testing.B, command, arch, name string) {
	file := filepath.Join(b.TempDir(), "ns")
	target, err := devices.Open("exec:" + command + " @serve '" + file + "'")
	if err != nil {
		b.Fatal(err)
	}
	i, err := devices.Find(target, name)
	if err != nil {
		b.Skip(err)
	}
	u, err := target.Open(i)
	if err != nil {
		b.Fatal(err)
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 4096})
	fill(b, in)
	out := make([]byte, in.Dots()*in.D.Width())
	began := time.Now()
	for b.Loop() {
		if err := u.Run(b.Context(), in, out); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began).Seconds()
	if err := target.Close(); err != nil { // the child ends and writes the file
		b.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	ns, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)*float64(in.Dots())/took, "dots/s")
	b.ReportMetric(100*(1-float64(ns)/1e9/took), "outside%")
	b.ReportMetric(0, "ns/op")
}
