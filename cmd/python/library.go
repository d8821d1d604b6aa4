package main

/*
#include <stdint.h>
#include <stdlib.h>

// What a batch of dot products is: tiles of m rows, n columns and k products of codes in
// little-endian containers, as package mma of the Go module describes it. Sizes are in bytes.
typedef struct {
	int64_t m, n, k, tiles;
	const void *a, *b, *c, *sa, *sb;
	void *d;
	int64_t bytes_a, bytes_b, bytes_c, bytes_sa, bytes_sb, bytes_d;
} mmafuzz_batch;

// A function that computes d of a batch: 0, or another number if it failed.
typedef int (*mmafuzz_function)(mmafuzz_batch *);

static inline int mmafuzz_call(mmafuzz_function f, mmafuzz_batch *b) { return f(b); }
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/eval"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// opened is a unit that C has opened.
type opened struct {
	target devices.Target
	unit   devices.Unit
}

var units handles[opened]

// fail hands an error over: text, or nothing if err is nil.
func fail(to **C.char, err error) {
	if err != nil {
		*to = C.CString(err.Error())
	}
}

// mmafuzz_open opens an instruction of a target; like names the instruction, as
// TARGET/INSTRUCTION, whose formats a reference takes. It returns a number, 0 after an error.
//
//export mmafuzz_open
func mmafuzz_open(target, instruction, like *C.char, failure **C.char) C.int64_t {
	o, err := openUnit(C.GoString(target), C.GoString(instruction), C.GoString(like))
	if err != nil {
		fail(failure, err)
		return 0
	}
	return C.int64_t(units.add(o))
}

func openUnit(target, instruction, like string) (o opened, err error) {
	if o.target, err = devices.Open(target); err != nil {
		return o, err
	}
	var i *mma.Instruction
	switch {
	case o.target.Instructions() != nil:
		i, err = devices.Find(o.target, instruction)
	case like == "":
		err = errors.New(target + " stands in for any instruction: like=\"sim:hopper/mma.m16n8k16.f32.f16.f16.f32\" names one")
	default:
		of, name, _ := strings.Cut(like, "/")
		var t devices.Target
		if t, err = devices.Open(of); err == nil {
			i, err = devices.Find(t, name)
			defer t.Close()
		}
	}
	if err == nil {
		o.unit, err = o.target.Open(i)
	}
	if err != nil {
		return o, errors.Join(err, o.target.Close())
	}
	return o, nil
}

// mmafuzz_close closes a unit.
//
//export mmafuzz_close
func mmafuzz_close(unit C.int64_t) {
	if o, err := units.get(int64(unit)); err == nil {
		units.remove(int64(unit))
		o.target.Close()
	}
}

// mmafuzz_info describes a unit in JSON.
//
//export mmafuzz_info
func mmafuzz_info(unit C.int64_t, failure **C.char) *C.char {
	o, err := units.get(int64(unit))
	if err != nil {
		fail(failure, err)
		return nil
	}
	return C.CString(inJSON(infoOf(o.target.Name(), o.unit.Instruction())))
}

// mmafuzz_units describes the instructions of a target in JSON, of all simulators if target
// is empty.
//
//export mmafuzz_units
func mmafuzz_units(target *C.char, failure **C.char) *C.char {
	all, err := listUnits(C.GoString(target))
	if err != nil {
		fail(failure, err)
		return nil
	}
	return C.CString(inJSON(all))
}

// mmafuzz_explain draws how a unit computes a dot product, which is given as mmafuzz eval
// reads it.
//
//export mmafuzz_explain
func mmafuzz_explain(unit C.int64_t, dot *C.char, width C.int, failure **C.char) *C.char {
	var out bytes.Buffer
	o, err := units.get(int64(unit))
	if err == nil {
		e := eval.Evaluator{Unit: o.unit, Target: o.target.Name(), Chain: true, Explain: true}
		e.Result = func(r *eval.Result) error { return r.Write(&out, report.TextOptions{Width: int(width)}) }
		err = e.Lines(context.Background(), strings.NewReader(C.GoString(dot)+"\n"))
	}
	if err != nil {
		fail(failure, err)
		return nil
	}
	return C.CString(out.String())
}

// mmafuzz_run begins to run a unit on a batch, whose memory it reads and writes until the job is
// over: mmafuzz_wait. workers is how many processors it takes, 0 all.
//
//export mmafuzz_run
func mmafuzz_run(unit C.int64_t, b *C.mmafuzz_batch, workers C.int, failure **C.char) C.int64_t {
	o, err := units.get(int64(unit))
	if err != nil {
		fail(failure, err)
		return 0
	}
	in, out, err := fromC(o.unit.Instruction().Formats, b)
	if err != nil {
		fail(failure, err)
		return 0
	}
	n := int(workers)
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return C.int64_t(start(func(ctx context.Context) (string, error) {
		return "", runParts(ctx, o.unit, in, out, n)
	}))
}

// mmafuzz_schedule returns the format of products of a shape that a unit computes by a schedule,
// in JSON. with_c is not 0 if there is a C.
//
//export mmafuzz_schedule
func mmafuzz_schedule(unit C.int64_t, text *C.char, m, n, k C.int64_t, with_c C.int, failure **C.char) *C.char {
	o, err := units.get(int64(unit))
	var s *scheduled
	var id fp.ID
	if err == nil {
		s, err = newScheduled(o.unit, C.GoString(text))
	}
	if err == nil {
		id, err = s.result(schedule.Shape{M: int(m), N: int(n), K: int(k)}, with_c != 0)
	}
	if err != nil {
		fail(failure, err)
		return nil
	}
	return C.CString(inJSON(formatOf(id)))
}

// mmafuzz_gemm is mmafuzz_run by a schedule: tiles are whole products, of any k, whose D has the
// format that mmafuzz_schedule returns. Without bytes of C there is none.
//
//export mmafuzz_gemm
func mmafuzz_gemm(unit C.int64_t, text *C.char, b *C.mmafuzz_batch, workers C.int, failure **C.char) C.int64_t {
	o, err := units.get(int64(unit))
	var s *scheduled
	if err == nil {
		s, err = newScheduled(o.unit, C.GoString(text))
	}
	if err != nil {
		fail(failure, err)
		return 0
	}
	f := o.unit.Instruction().Formats
	shape := schedule.Shape{M: int(b.m), N: int(b.n), K: int(b.k)}
	if f.D, err = s.result(shape, b.bytes_c > 0); err != nil {
		fail(failure, err)
		return 0
	}
	if b.bytes_c == 0 {
		f.C = fp.None
	}
	in, out, err := fromC(f, b)
	if err != nil {
		fail(failure, err)
		return 0
	}
	return C.int64_t(start(func(ctx context.Context) (string, error) {
		return "", s.run(ctx, in, out, int(workers))
	}))
}

// fromC is the batch that C describes, and its D.
func fromC(f mma.Formats, b *C.mmafuzz_batch) (*mma.Batch, []byte, error) {
	buffer := func(p unsafe.Pointer, n C.int64_t) []byte {
		if n == 0 {
			return nil
		}
		return unsafe.Slice((*byte)(p), int(n))
	}
	s := mma.Shape{M: int(b.m), N: int(b.n), K: int(b.k), Tiles: int(b.tiles)}
	out := buffer(b.d, b.bytes_d)
	in, err := newBatch(f, s, buffer(b.a, b.bytes_a), buffer(b.b, b.bytes_b), buffer(b.c, b.bytes_c),
		buffer(b.sa, b.bytes_sa), buffer(b.sb, b.bytes_sb), out)
	return in, out, err
}

// mmafuzz_wait waits at most some milliseconds for a job. It returns 0 if the job goes on, 1 if
// it has ended well, 2 if it has failed; then it is over, and text is what it has to say.
//
//export mmafuzz_wait
func mmafuzz_wait(n C.int64_t, milliseconds C.int, text **C.char) C.int {
	said, over, err := wait(int64(n), time.Duration(milliseconds)*time.Millisecond)
	switch {
	case !over:
		return 0
	case err != nil:
		fail(text, err)
		return 2
	}
	*text = C.CString(said)
	return 1
}

// mmafuzz_cancel asks a job to end. It has ended when mmafuzz_wait says so.
//
//export mmafuzz_cancel
func mmafuzz_cancel(n C.int64_t) {
	if j, err := jobs.get(int64(n)); err == nil {
		j.cancel()
	}
}

// mmafuzz_compare begins to compare a unit with a function of the caller. options is a JSON
// object: name, count, seed, bits, bundles. The job's text is what was found, in JSON.
//
//export mmafuzz_compare
func mmafuzz_compare(unit C.int64_t, options *C.char, f C.mmafuzz_function, failure **C.char) C.int64_t {
	o, err := units.get(int64(unit))
	var r request
	if err == nil {
		err = json.Unmarshal([]byte(C.GoString(options)), &r)
	}
	if err != nil {
		fail(failure, err)
		return 0
	}
	return C.int64_t(start(func(ctx context.Context) (string, error) {
		found, err := compare(ctx, o.target.Name(), o.unit, r, func(in *mma.Batch, out []byte) error { return call(f, in, out) })
		if err != nil {
			return "", err
		}
		return inJSON(found), nil
	}))
}

// errCaller is what the caller knows more about.
var errCaller = errors.New("the function failed")

// call lets the caller's function compute a batch.
func call(f C.mmafuzz_function, in *mma.Batch, out []byte) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pointer := func(b []byte) (unsafe.Pointer, C.int64_t) {
		if len(b) == 0 {
			return nil, 0
		}
		pin.Pin(&b[0])
		return unsafe.Pointer(&b[0]), C.int64_t(len(b))
	}
	b := C.mmafuzz_batch{m: C.int64_t(in.M), n: C.int64_t(in.N), k: C.int64_t(in.K), tiles: C.int64_t(in.Tiles)}
	b.a, b.bytes_a = pointer(in.A)
	b.b, b.bytes_b = pointer(in.B)
	b.c, b.bytes_c = pointer(in.C)
	b.sa, b.bytes_sa = pointer(in.SA)
	b.sb, b.bytes_sb = pointer(in.SB)
	b.d, b.bytes_d = pointer(out)
	if C.mmafuzz_call(f, &b) != 0 {
		return errCaller
	}
	return nil
}

// mmafuzz_free frees a text that the library has returned.
//
//export mmafuzz_free
func mmafuzz_free(text *C.char) { C.free(unsafe.Pointer(text)) }
