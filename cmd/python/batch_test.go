package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestParts compares a batch that is computed in parts with the whole.
func TestParts(t *testing.T) {
	for _, name := range []string{"sim:hopper/mma.m16n8k16.f32.f16.f16.f32", "sim:blackwell/tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"} {
		target, instruction := devices.Split(name)
		u, err := devices.OpenUnit(target, instruction, "")
		if err != nil {
			t.Fatal(err)
		}
		i := u.Instruction()
		for _, s := range []mma.Shape{{M: 1, N: 1, K: i.K, Tiles: 1000}, {M: 70, N: 9, K: 2 * i.K, Tiles: 1}, {M: 3, N: 2, K: i.K, Tiles: 2}, {M: 1, N: 1, K: i.K, Tiles: 1}} {
			in := measure.Batch(i, s, 1, measure.Raw)
			want, got := make([]byte, in.Dots()*i.D.Width()), make([]byte, in.Dots()*i.D.Width())
			if err := u.Run(context.Background(), in, want); err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{1, 2, 7} {
				n, of := parts(in, workers)
				for _, from := range []int{0, 1, n} { // what the caller's thread has done
					clear(got)
					done := in.Dots()
					if from < n {
						_, done = of(from)
					}
					if err := runParts(context.Background(), u, in, got, workers, from); err != nil {
						t.Fatal(err)
					}
					if done *= i.D.Width(); !bytes.Equal(got[done:], want[done:]) || bytes.ContainsFunc(got[:done], func(r rune) bool { return r != 0 }) {
						t.Errorf("%s %+v, %d workers: not the result of the rest, from part %d on", name, s, workers, from)
					}
				}
				clear(got)
				done, err := runNow(u, in, got, workers)
				if err != nil || done == 0 { // a busy machine does not do all in a moment
					t.Fatalf("%s %+v, %d workers: %d of %d parts now, %v", name, s, workers, done, n, err)
				}
				if err := runParts(context.Background(), u, in, got, workers, done); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s %+v, %d workers: not the result of the whole, %v", name, s, workers, err)
				}
			}
		}
	}
}

// faulty is a unit with a mistake.
type faulty struct{ devices.Unit }

func (faulty) Run(context.Context, *mma.Batch, []byte) error { panic("out of range") }

// TestPartsPanic checks that a mistake of ours in a part is an error, not the caller's end.
func TestPartsPanic(t *testing.T) {
	u, err := devices.OpenUnit("sim:hopper", "mma.m16n8k16.f32.f16.f16.f32", "")
	if err != nil {
		t.Fatal(err)
	}
	in := measure.Batch(u.Instruction(), mma.Shape{M: 1, N: 1, K: 16, Tiles: 1000}, 1, measure.Raw)
	err = guarded(func() error { return runParts(context.Background(), faulty{u}, in, make([]byte, in.Dots()*4), 2, 0) })
	if err == nil || !strings.Contains(err.Error(), "a mistake in mmafuzz: out of range") {
		t.Errorf("%v", err)
	}
}

// BenchmarkModels times models of Go on the batches that speed.py gives to the package.
func BenchmarkModels(b *testing.B) {
	for _, name := range []string{"sim:hopper/mma.m16n8k16.f32.f16.f16.f32", "sim:cdna3/v_mfma_f32_16x16x4_f32"} {
		u, err := openUnit(name, "", "")
		if err != nil {
			b.Fatal(err)
		}
		i := u.unit.Instruction()
		s := measure.Shape(i, 8192) // 2^20 dot products
		for _, s := range []mma.Shape{s, {M: 1, N: 1, K: s.K, Tiles: 1 << 20}} {
			in := measure.Batch(i, s, 1, measure.Finite)
			in.A, in.B, in.C = asInNumPy(in.A), asInNumPy(in.B), asInNumPy(in.C)
			out := asInNumPy(make([]byte, in.Dots()*i.D.Width()))
			b.Run(fmt.Sprintf("%s/%dx%dx%d", name, s.M, s.N, s.K), func(b *testing.B) {
				defer measure.Lock()()
				took, err := measure.Timing{Clock: measure.Thread, Runs: 5, Each: 50 * time.Millisecond}.Of(func() error { return u.unit.Run(b.Context(), in, out) })
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op") // it is not b.N that counts
				b.ReportMetric(took.Median()/float64(in.Dots()), "ns/dot")
			})
		}
	}
}

// asInNumPy is a copy of a buffer that begins 16 bytes into a page, as large arrays of NumPy do: of vectors
// of 64 bytes each crosses a cache line then.
func asInNumPy(buf []byte) []byte {
	page := os.Getpagesize()
	out := make([]byte, len(buf)+2*page)
	from := 16 + page - int(uintptr(unsafe.Pointer(&out[0]))%uintptr(page))
	return out[from:][:copy(out[from:], buf)]
}

// TestSizes checks that a buffer of a wrong size is refused, not read.
func TestSizes(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 2, N: 3, K: 16, Tiles: 1})
	if _, err := newBatch(i.Formats, in.Shape, in.A, in.B, in.C, nil, nil, make([]byte, 24)); err != nil {
		t.Error(err)
	}
	_, err = newBatch(i.Formats, in.Shape, in.A, in.B[:95], in.C, nil, nil, make([]byte, 24))
	if err == nil || err.Error() != "b has 95 bytes, and should have 96" {
		t.Error(err)
	}
}

// TestJobs: a job can be waited for, says once what it does, and can be ended; one that panics is an error.
func TestJobs(t *testing.T) {
	n := start(nil, func(ctx context.Context, _ func(string)) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	j, err := jobs.get(n)
	if err != nil {
		t.Fatal(err)
	}
	j.say("waiting")
	for _, want := range []string{"waiting", ""} {
		if _, doing, over, _ := wait(n, time.Millisecond, 0); over || doing != want {
			t.Errorf("%q, over: %v", doing, over)
		}
	}
	j.cancel()
	if _, _, over, err := wait(n, time.Hour, 0); !over || !errors.Is(err, context.Canceled) {
		t.Error(over, err)
	}
	if _, _, over, err := wait(n, 0, 0); !over || err == nil {
		t.Error("a job is waited for twice")
	}
	if _, _, _, err := wait(start(nil, func(context.Context, func(string)) (string, error) { panic("oh") }), time.Hour, 0); err == nil {
		t.Error("no error of a panic")
	}
}

// TestAsks: whoever waits for a job computes what it asks; a job that ends before the answer is an error.
func TestAsks(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 16, Tiles: 1})
	begin := func() int64 {
		asks := make(chan *ask)
		return start(asks, func(ctx context.Context, _ func(string)) (string, error) {
			u := &caller{i, 1, asks, ctx.Done()}
			return "", u.Run(context.Background(), in, make([]byte, 4))
		})
	}
	for status, want := range []error{nil, errCaller} {
		n := begin()
		a, _, over, err := wait(n, time.Hour, 0)
		if over || err != nil || a == nil || a.function != 1 || a.in != in {
			t.Fatal(a, over, err)
		}
		if _, _, over, err := wait(n, time.Hour, status); !over || !errors.Is(err, want) {
			t.Errorf("status %d: %v, %v", status, over, err)
		}
	}
	n := begin()
	j, err := jobs.get(n)
	if err != nil {
		t.Fatal(err)
	}
	j.cancel()
	_, _, over, err := wait(n, time.Hour, 0)
	if !over { // it had asked before
		_, _, over, err = wait(n, time.Hour, 1)
	}
	if !over || err == nil {
		t.Error(over, err)
	}
	if err := (&caller{inst: i}).Run(t.Context(), in, nil); err == nil {
		t.Error("a function that no job asks computes")
	}
}
