package driver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// slots is how many launches are under way at a time, each in a stream of its own:
// while one computes, another's data is copied.
const slots = 2

// slot is what a launch needs: a stream, buffers on the device, and pinned buffers on this
// side, so that copies run beside everything else.
type slot struct {
	stream  uintptr
	in, out buffer
	start   uintptr // events around the kernel
	end     uintptr
}

// buffer is memory on both sides.
type buffer struct {
	device uint64
	host   unsafe.Pointer
	size   int
}

func (b *buffer) bytes(n int) []byte { return unsafe.Slice((*byte)(b.host), n) }

// stale is the value of the output bytes before a launch, so that a kernel which writes
// nothing does not appear to repeat the results of the one before.
const stale = 0xdb

// lateError reports that a kernel does not end.
type lateError struct{ Limit time.Duration }

func (e *lateError) Error() string {
	return fmt.Sprintf("the kernel has not ended within %s: it hangs, and the context with it", e.Limit)
}

// Launch runs a kernel on the packed inputs of some tiles and waits for it, but
// not longer than the limit. It returns the kernel's time on the device.
func (f *Function) Launch(ctx context.Context, in, out []byte, tiles int, limit time.Duration) (time.Duration, error) {
	if tiles < 1 || len(in) != tiles*f.grid.InBytes || len(out) != tiles*f.grid.OutBytes {
		return 0, fmt.Errorf("%d and %d bytes for %d tiles of %d and %d", len(in), len(out), tiles, f.grid.InBytes, f.grid.OutBytes)
	}
	return f.run(ctx, in, out, f.blocks(tiles), tiles, limit)
}

// Loop runs one block of a kernel whose third argument, n, is not the number of tiles.
func (f *Function) Loop(ctx context.Context, in, out []byte, n int, limit time.Duration) (time.Duration, error) {
	return f.run(ctx, in, out, 1, n, limit)
}

// run runs the given number of blocks of a kernel with n as its third argument.
func (f *Function) run(ctx context.Context, in, out []byte, blocks, n int, limit time.Duration) (time.Duration, error) {
	d := f.dev
	var s *slot
	select {
	case s = <-d.slots:
		defer func() { d.slots <- s }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := d.prepare(s, len(in), len(out)); err != nil {
		return 0, d.lose(err)
	}
	copy(s.in.bytes(len(in)), in)
	if err := d.do("cuLaunchKernel", func() error { return f.submit(s, len(in), len(out), blocks, n) }); err != nil {
		return 0, d.lose(err)
	}
	if err := d.wait(s, limit); err != nil {
		return 0, d.lose(err)
	}
	copy(out, s.out.bytes(len(out)))
	var ms float32
	err := d.call("cuEventElapsedTime", func() Result { return d.lib.api.eventElapsed(&ms, s.start, s.end) })
	return time.Duration(float64(ms) * float64(time.Millisecond)), d.lose(err)
}

// prepare makes a slot fit for buffers of these sizes.
func (d *Device) prepare(s *slot, in, out int) error {
	a := &d.lib.api
	if s.stream == 0 {
		const nonBlocking = 1
		if err := d.call("cuStreamCreate", func() Result { return a.streamCreate(&s.stream, nonBlocking) }); err != nil {
			return err
		}
		for _, e := range []*uintptr{&s.start, &s.end} {
			if err := d.call("cuEventCreate", func() Result { return a.eventCreate(e, 0) }); err != nil {
				return err
			}
		}
	}
	return errors.Join(d.grow(&s.in, in), d.grow(&s.out, out))
}

// grow makes a buffer of at least n bytes.
func (d *Device) grow(b *buffer, n int) error {
	if n <= b.size {
		return nil
	}
	a := &d.lib.api
	if b.size > 0 {
		old := *b
		*b = buffer{}
		if err := d.call("cuMemFree_v2", func() Result { return a.memFree(old.device) }); err != nil {
			return err
		}
		if err := d.call("cuMemFreeHost", func() Result { return a.memFreeHost(old.host) }); err != nil {
			return err
		}
	}
	fresh := buffer{size: n}
	if err := d.call("cuMemAlloc_v2", func() Result { return a.memAlloc(&fresh.device, uint64(n)) }); err != nil {
		return err
	}
	err := d.call("cuMemAllocHost_v2", func() Result { return a.memAllocHost(&fresh.host, uint64(n)) })
	if err == nil && fresh.host == nil {
		err = errors.New("cuMemAllocHost_v2: the driver returned no memory")
	}
	if err != nil {
		return errors.Join(err, d.call("cuMemFree_v2", func() Result { return a.memFree(fresh.device) }))
	}
	*b = fresh
	return nil
}

// submit queues the copies and the kernel. It runs on the device's thread.
func (f *Function) submit(s *slot, in, out, blocks, n int) error {
	l, a := f.dev.lib, &f.dev.lib.api
	if err := l.check("cuMemcpyHtoDAsync_v2", a.memcpyHtoD(s.in.device, s.in.host, uint64(in), s.stream)); err != nil {
		return err
	}
	if err := l.check("cuMemsetD8Async", a.memset(s.out.device, stale, uint64(out), s.stream)); err != nil {
		return err
	}
	if err := l.check("cuEventRecord", a.eventRecord(s.start, s.stream)); err != nil {
		return err
	}
	count := uint32(n)
	var pin runtime.Pinner // the arguments are reached through an array of addresses
	defer pin.Unpin()
	args := [3]unsafe.Pointer{unsafe.Pointer(&s.in.device), unsafe.Pointer(&s.out.device), unsafe.Pointer(&count)}
	pin.Pin(&s.in.device)
	pin.Pin(&s.out.device)
	pin.Pin(&count)
	r := a.launchKernel(f.handle, uint32(blocks), 1, 1, uint32(f.grid.Threads), 1, 1, 0, s.stream, &args[0], 0)
	if err := l.check("cuLaunchKernel", r); err != nil {
		return err
	}
	if err := l.check("cuEventRecord", a.eventRecord(s.end, s.stream)); err != nil {
		return err
	}
	return l.check("cuMemcpyDtoHAsync_v2", a.memcpyDtoH(s.out.host, s.out.device, uint64(out), s.stream))
}

// blocks returns the size of the grid. If a block loops over tiles, there are at most two
// blocks for each multiprocessor.
func (f *Function) blocks(tiles int) int {
	if f.grid.Tiles == 0 {
		return min(tiles, 2*max(1, f.dev.Processors))
	}
	return (tiles + f.grid.Tiles - 1) / f.grid.Tiles
}

// wait waits for the end of a slot's work: it asks all the time at first, then less and
// less often.
func (d *Device) wait(s *slot, limit time.Duration) error {
	began := time.Now()
	const name = "cuStreamQuery"
	for pause := time.Duration(0); ; {
		var r Result
		err := d.do(name, func() error {
			if r = d.lib.api.streamQuery(s.stream); r == notReady {
				return nil
			}
			return d.lib.check(name, r)
		})
		if err != nil || r == 0 {
			return err
		}
		waited := time.Since(began)
		switch {
		case waited > limit:
			return &lateError{limit}
		case waited > 200*time.Microsecond:
			pause = min(waited/8, time.Millisecond)
		}
		if pause == 0 {
			runtime.Gosched()
		} else {
			time.Sleep(pause)
		}
	}
}
