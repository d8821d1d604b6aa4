package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// job is something that goes on in the background.
type job struct {
	cancel context.CancelFunc
	done   chan struct{}
	text   string // the result, if there is one
	err    error
	doing  atomic.Pointer[string] // what it does, if it has said that since somebody has waited for it
	asks   chan *ask              // nil if it asks nothing
	asked  *ask                   // what has no answer yet
}

// ask is a batch that a job wants a function of the caller's to compute. Whoever waits for the job
// calls it: in a thread of the caller's own, which is faster than one that is new to it, and where an
// interrupt reaches the function.
type ask struct {
	function int // its number among the units of the task
	in       *mma.Batch
	out      []byte
	pin      runtime.Pinner
	status   chan int // 0 if it has computed out, 1 if it failed
}

// answer tells the job how its question was answered, if it has asked one.
func (j *job) answer(status int) {
	if j.asked != nil {
		j.asked.status <- status
		j.asked = nil
	}
}

// handles gives numbers to values that C knows.
type handles[T any] struct {
	mu   sync.Mutex
	last int64
	all  map[int64]T
}

func (h *handles[T]) add(v T) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[int64]T{}
	}
	h.last++
	h.all[h.last] = v
	return h.last
}

func (h *handles[T]) get(n int64) (T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, ok := h.all[n]
	if !ok {
		return v, fmt.Errorf("%d is not open", n)
	}
	return v, nil
}

func (h *handles[T]) remove(n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, n)
}

var jobs handles[*job]

// say notes what a job does.
func (j *job) say(doing string) { j.doing.Store(&doing) }

// news is what a job has said since it was asked for before; "": nothing.
func (j *job) news() string {
	if doing := j.doing.Swap(nil); doing != nil {
		return *doing
	}
	return ""
}

// start begins a job, which asks on a channel and says what it does.
func start(asks chan *ask, f func(ctx context.Context, say func(doing string)) (string, error)) int64 {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{}), asks: asks}
	go func() {
		defer close(j.done)
		defer cancel()
		j.err = guarded(func() (err error) {
			j.text, err = f(ctx, j.say)
			return err
		})
	}()
	return jobs.add(j)
}

// guarded calls f. A process that is not ours shall not die of a mistake of ours, on whatever
// goroutine it is made.
func guarded(f func() error) error {
	err := parallel.Guarded(f)
	if errors.As(err, new(*parallel.Panic)) {
		return fmt.Errorf("a mistake in mmafuzz: %w", err)
	}
	return err
}

// wait answers what a job has asked, and waits for it for at most some time, or until it asks again. Until
// the job is over text is what it does, if it has said so since. When the job is over it is forgotten.
func wait(n int64, most time.Duration, status int) (asked *ask, text string, over bool, err error) {
	j, err := jobs.get(n)
	if err != nil {
		return nil, "", true, err
	}
	j.answer(status)
	select {
	case <-j.done:
	default:
		t := time.NewTimer(most)
		defer t.Stop()
		select {
		case <-j.done:
		case j.asked = <-j.asks:
			return j.asked, j.news(), false, nil
		case <-t.C:
			return nil, j.news(), false, nil
		}
	}
	jobs.remove(n)
	return nil, j.text, true, j.err
}
