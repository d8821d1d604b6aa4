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

// One product of a few instructions: the unit, its shape, and the operands. Bit 0 of by_rows is set
// if b is stored as [k, n], and not as [n, k], which is its layout in a batch; bit 1 says the same of
// sb. stored says how codes of less than a byte are stored: see stored in batch.go.
typedef struct {
	int64_t unit, m, n, k, stored, by_rows;
	const void *a, *b, *c, *sa, *sb;
	void *d;
} mmafuzz_product;
*/
import "C"

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/eval"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// fail hands an error over: text, or nothing if err is nil.
func fail(to **C.char, err error) {
	if err != nil {
		*to = C.CString(err.Error())
	}
}

// answered returns what f returns. If f returns an error, or panics, it hands the error over and
// returns zero.
func answered[T any](failure **C.char, f func() (T, error)) (out T) {
	err := guarded(func() (err error) {
		out, err = f()
		return err
	})
	if err != nil {
		fail(failure, err)
		return *new(T)
	}
	return out
}

// asJSON is answered with a value in JSON.
func asJSON(failure **C.char, f func() (any, error)) *C.char {
	return answered(failure, func() (*C.char, error) {
		v, err := f()
		if err != nil {
			return nil, err
		}
		return C.CString(inJSON(v)), nil
	})
}

// mmafuzz_open opens an instruction of a target. Without an instruction, target names both, as
// TARGET/INSTRUCTION. like is the instruction whose formats a reference takes: named in the same
// way, or described as for mmafuzz_callable. It returns a number, 0 after an error.
//
//export mmafuzz_open
func mmafuzz_open(target, instruction, like *C.char, failure **C.char) C.int64_t {
	return answered(failure, func() (C.int64_t, error) {
		o, err := openUnit(C.GoString(target), C.GoString(instruction), C.GoString(like))
		if err != nil {
			return 0, err
		}
		return C.int64_t(units.add(o)), nil
	})
}

// mmafuzz_close closes a unit.
//
//export mmafuzz_close
func mmafuzz_close(unit C.int64_t) {
	if o, err := units.get(int64(unit)); err == nil {
		units.remove(int64(unit))
		_ = guarded(o.close)
	}
}

// mmafuzz_info describes a unit in JSON.
//
//export mmafuzz_info
func mmafuzz_info(unit C.int64_t, failure **C.char) *C.char {
	return asJSON(failure, func() (any, error) {
		o, err := units.get(int64(unit))
		if err != nil {
			return nil, err
		}
		return infoOf(o.target, o.unit.Instruction()), nil
	})
}

// mmafuzz_units describes the instructions of a target in JSON, of all simulators if target
// is empty.
//
//export mmafuzz_units
func mmafuzz_units(target *C.char, failure **C.char) *C.char {
	return asJSON(failure, func() (any, error) { return listUnits(C.GoString(target)) })
}

// mmafuzz_explain draws how a unit computes a dot product, which is given as mmafuzz eval
// reads it.
//
//export mmafuzz_explain
func mmafuzz_explain(unit C.int64_t, dot *C.char, width C.int, failure **C.char) *C.char {
	return answered(failure, func() (*C.char, error) {
		o, err := units.get(int64(unit))
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		e := eval.Evaluator{Unit: o.unit, Target: o.target, Chain: true, Explain: true}
		e.Result = func(r *eval.Result) error { return r.Write(&out, report.TextOptions{Width: int(width)}) }
		if err := e.Lines(context.Background(), strings.NewReader(C.GoString(dot)+"\n")); err != nil {
			return nil, err
		}
		return C.CString(out.String()), nil
	})
}

// mmafuzz_run runs a unit on a batch, or begins to. If that takes only some milliseconds, it is done
// when the function returns, and job is 0: there is none. Otherwise job is the number of a job, which
// reads and writes the memory of the batch until it is over: see mmafuzz_wait. workers is the number of
// processors to use, 0 for all. The number of the job is not the function's result, because a signal
// may make the caller lose a result.
//
//export mmafuzz_run
func mmafuzz_run(unit C.int64_t, b *C.mmafuzz_batch, workers C.int, job *C.int64_t, failure **C.char) {
	*job = answered(failure, func() (C.int64_t, error) {
		o, err := units.get(int64(unit))
		if err != nil {
			return 0, err
		}
		in, out, err := fromC(o.unit.Instruction().Formats, b)
		if err != nil {
			return 0, err
		}
		workers := processors(workers)
		done, err := runNow(o.unit, in, out, workers)
		if n, _ := parts(in, workers); err != nil || done == n {
			return 0, err
		}
		return C.int64_t(start(nil, func(ctx context.Context, _ func(string)) (string, error) {
			return "", runParts(ctx, o.unit, in, out, workers, done)
		})), nil
	})
}

// mmafuzz_tile computes a product in the calling thread, and returns 0 when that is done. What a
// simulator does not do in a moment it leaves to mmafuzz_run, and returns 1; so it does if the unit
// is not open.
//
//export mmafuzz_tile
func mmafuzz_tile(p *C.mmafuzz_product) C.int {
	o, err := units.get(int64(p.unit))
	if err != nil || o.unit.Model() == nil || min(p.m, p.n, p.k) < 1 || p.m*p.n*p.k > momentProducts {
		return 1
	}
	f := o.unit.Instruction().Formats
	if f.Scale != fp.None && (p.sa == nil || p.sb == nil) {
		return 1
	}
	err = guarded(func() error {
		in, out := productOf(p, f)
		return o.unit.Run(context.Background(), in, out)
	})
	if err != nil {
		return 1
	}
	return 0
}

// productOf is the batch of a product, and its D.
func productOf(p *C.mmafuzz_product, f mma.Formats) (*mma.Batch, []byte) {
	m, n, k, how := int(p.m), int(p.n), int(p.k), stored(p.stored)
	// matrix is the rows of an operand, which is stored by columns if turned is set.
	matrix := func(at unsafe.Pointer, of fp.ID, rows, columns int, turned bool) []byte {
		codes := unsafe.Slice((*byte)(at), rows*columns*of.Width())
		if turned {
			codes = transposed(codes, rows, of.Width())
		}
		return how.codes(of, codes)
	}
	in := &mma.Batch{Formats: f, Shape: mma.Shape{M: m, N: n, K: k, Tiles: 1}}
	in.A = matrix(p.a, f.A, m, how.bytes(k), false)
	in.B = matrix(p.b, f.B, n, how.bytes(k), p.by_rows&1 != 0)
	in.C = matrix(p.c, f.C, m, n, false)
	in.SA = matrix(p.sa, f.Scale, m, f.Blocks(k), false)
	in.SB = matrix(p.sb, f.Scale, n, f.Blocks(k), p.by_rows&2 != 0)
	return in, unsafe.Slice((*byte)(p.d), m*n*f.D.Width())
}

// processors is how many processors a number of workers stands for: 0 stands for all.
func processors(workers C.int) int {
	if workers <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(workers)
}

// mmafuzz_compute runs a unit on a batch and returns when that is done: 0, or 1 after an error.
// It is what a simulator calls in the place of its own matrix instruction; it may be called by
// several threads at once. workers is as for mmafuzz_run.
//
//export mmafuzz_compute
func mmafuzz_compute(unit C.int64_t, b *C.mmafuzz_batch, workers C.int, failure **C.char) C.int {
	err := guarded(func() error {
		o, err := units.get(int64(unit))
		if err != nil {
			return err
		}
		in, out, err := fromC(o.unit.Instruction().Formats, b)
		if err != nil {
			return err
		}
		return runParts(context.Background(), o.unit, in, out, processors(workers), 0)
	})
	if err != nil {
		fail(failure, err)
		return 1
	}
	return 0
}

// mmafuzz_schedule returns the format of products of a shape that a unit computes by a schedule,
// in JSON. with_c is not 0 if there is a C.
//
//export mmafuzz_schedule
func mmafuzz_schedule(unit C.int64_t, text *C.char, m, n, k C.int64_t, with_c C.int, failure **C.char) *C.char {
	return asJSON(failure, func() (any, error) {
		s, err := scheduledOf(unit, text)
		if err != nil {
			return nil, err
		}
		id, err := s.result(schedule.Shape{M: int(m), N: int(n), K: int(k)}, with_c != 0)
		if err != nil {
			return nil, err
		}
		return formatOf(id), nil
	})
}

// scheduledOf is a unit with the schedule of a text.
func scheduledOf(unit C.int64_t, text *C.char) (*scheduled, error) {
	o, err := units.get(int64(unit))
	if err != nil {
		return nil, err
	}
	return newScheduled(o.unit, C.GoString(text))
}

// mmafuzz_gemm is mmafuzz_run by a schedule: tiles are whole products, of any k, whose D has the
// format that mmafuzz_schedule returns. Without bytes of C there is none.
//
//export mmafuzz_gemm
func mmafuzz_gemm(unit C.int64_t, text *C.char, b *C.mmafuzz_batch, workers C.int, job *C.int64_t, failure **C.char) {
	*job = answered(failure, func() (C.int64_t, error) {
		s, err := scheduledOf(unit, text)
		if err != nil {
			return 0, err
		}
		f := s.unit.Instruction().Formats
		shape := schedule.Shape{M: int(b.m), N: int(b.n), K: int(b.k)}
		if f.D, err = s.result(shape, b.bytes_c > 0); err != nil {
			return 0, err
		}
		if b.bytes_c == 0 {
			f.C = fp.None
		}
		in, out, err := fromC(f, b)
		if err != nil {
			return 0, err
		}
		return C.int64_t(start(nil, func(ctx context.Context, _ func(string)) (string, error) {
			return "", s.run(ctx, in, out, int(workers))
		})), nil
	})
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
// it has ended well, 2 if it has failed; after 1 and 2 it is over, and text is what it has to say.
// Before, text becomes what the job is doing if it has said that anew, and else stays as it is.
// If it returns 3 or 4, the job asks the caller to compute d of the batch, by the function that is
// the first unit of its task (3) or the second (4). The next call of mmafuzz_wait then passes the
// status of that: 0, or 1 if the function failed. Any other status is a mistake.
//
//export mmafuzz_wait
func mmafuzz_wait(n C.int64_t, milliseconds, status C.int, b *C.mmafuzz_batch, text **C.char) C.int {
	asked, said, over, err := wait(int64(n), time.Duration(milliseconds)*time.Millisecond, int(status))
	if !over && said != "" {
		*text = C.CString(said)
	}
	switch {
	case asked != nil:
		*b = asked.batch()
		return 3 + C.int(asked.function)
	case !over:
		return 0
	case err != nil:
		fail(text, err)
		return 2
	}
	*text = C.CString(said)
	return 1
}

// mmafuzz_cancel asks a job to end: nothing more is computed for it. It has ended when
// mmafuzz_wait says so.
//
//export mmafuzz_cancel
func mmafuzz_cancel(n C.int64_t) {
	if j, err := jobs.get(int64(n)); err == nil {
		j.cancel()
		j.answer(1)
	}
}

// mmafuzz_callable opens a unit that a function of the caller computes when a task asks for it: see
// mmafuzz_wait. instruction describes the unit in JSON: name, k and formats (a, b, c, d, scale and
// block, as in a model file).
//
//export mmafuzz_callable
func mmafuzz_callable(instruction *C.char, failure **C.char) C.int64_t {
	return answered(failure, func() (C.int64_t, error) {
		i, err := newInstruction(C.GoString(instruction))
		if err != nil {
			return 0, err
		}
		return C.int64_t(units.add(opened{functions, &caller{inst: i}, func() error { return nil }})), nil
	})
}

// mmafuzz_task begins a task with a unit or two: compare (the first with the second), minimize,
// infer or probe. options is a JSON object, and the job's text is the result in JSON.
//
//export mmafuzz_task
func mmafuzz_task(name *C.char, unit, with C.int64_t, options *C.char, job *C.int64_t, failure **C.char) {
	*job = answered(failure, func() (C.int64_t, error) {
		n, err := startTask(C.GoString(name), []int64{int64(unit), int64(with)}, []byte(C.GoString(options)))
		return C.int64_t(n), err
	})
}

// mmafuzz_inputs fills the operands of a batch of single dot products of the unit's k with inputs
// that are aimed at the decisions of arithmetics, beginning after the first skip ones.
//
//export mmafuzz_inputs
func mmafuzz_inputs(unit C.int64_t, seed, skip C.uint64_t, b *C.mmafuzz_batch, failure **C.char) {
	fail(failure, guarded(func() error {
		o, err := units.get(int64(unit))
		if err != nil {
			return err
		}
		i := o.unit.Instruction()
		in, _, err := fromC(i.Formats, b)
		if err != nil {
			return err
		}
		if in.Shape != (mma.Shape{M: 1, N: 1, K: i.K, Tiles: in.Tiles}) {
			return errors.New("inputs are single dot products of the unit's k")
		}
		inputs(o.unit, uint64(seed), uint64(skip), in)
		return nil
	}))
}

// batch is what is asked, for C. Its buffers are pinned: they stay where they are until it is answered.
func (a *ask) batch() C.mmafuzz_batch {
	pointer := func(b []byte) (unsafe.Pointer, C.int64_t) {
		if len(b) == 0 {
			return nil, 0
		}
		a.pin.Pin(&b[0])
		return unsafe.Pointer(&b[0]), C.int64_t(len(b))
	}
	in := a.in
	b := C.mmafuzz_batch{m: C.int64_t(in.M), n: C.int64_t(in.N), k: C.int64_t(in.K), tiles: C.int64_t(in.Tiles)}
	b.a, b.bytes_a = pointer(in.A)
	b.b, b.bytes_b = pointer(in.B)
	b.c, b.bytes_c = pointer(in.C)
	b.sa, b.bytes_sa = pointer(in.SA)
	b.sb, b.bytes_sb = pointer(in.SB)
	b.d, b.bytes_d = pointer(a.out)
	return b
}

// mmafuzz_free frees a text that the library has returned.
//
//export mmafuzz_free
func mmafuzz_free(text *C.char) { C.free(unsafe.Pointer(text)) }
