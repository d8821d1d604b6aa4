package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// job is something that goes on in the background.
type job struct {
	cancel context.CancelFunc
	done   chan struct{}
	text   string // the result, if there is one
	err    error
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

// start begins a job.
func start(f func(ctx context.Context) (string, error)) int64 {
	ctx, cancel := context.WithCancel(context.Background())
	j := &job{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		defer cancel()
		j.err = guarded(func() (err error) {
			j.text, err = f(ctx)
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

// wait waits for a job for at most some time. When the job is over it is forgotten.
func wait(n int64, most time.Duration) (text string, over bool, err error) {
	j, err := jobs.get(n)
	if err != nil {
		return "", true, err
	}
	select {
	case <-j.done:
	default:
		t := time.NewTimer(most)
		defer t.Stop()
		select {
		case <-j.done:
		case <-t.C:
			return "", false, nil
		}
	}
	jobs.remove(n)
	return j.text, true, j.err
}
