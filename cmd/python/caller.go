package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// functions is the target that has the caller's functions.
const functions = "python"

// caller is a unit that the caller's function computes: one batch at a time, and in a job alone.
type caller struct {
	inst   *mma.Instruction
	number int             // among the units of the job's task
	asks   chan<- *ask     // the job's
	ended  <-chan struct{} // the job was cancelled
}

// errCaller is what the caller knows more about.
var errCaller = errors.New("the function failed")

// mostProducts bounds k, as in a child's header.
const mostProducts = 1 << 16

// newInstruction returns the instruction that a text in JSON describes: name, k and formats.
func newInstruction(text string) (*mma.Instruction, error) {
	var r struct {
		Name    string
		K       int
		Formats mma.Formats
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, err
	}
	if r.K < 1 || r.K > mostProducts {
		return nil, fmt.Errorf("k is %d: a dot product has 1 to %d products", r.K, mostProducts)
	}
	return &mma.Instruction{Name: r.Name, Formats: r.Formats, K: r.K, Unknown: mma.FacetNaN}, r.Formats.Validate()
}

func (u *caller) Instruction() *mma.Instruction { return u.inst }
func (u *caller) Model() *mma.Params            { return nil }

// BatchSize is that of a function which takes some microseconds to call.
func (u *caller) BatchSize() int { return 1024 }

func (u *caller) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if u.asks == nil {
		return errors.New("a function computes what a task asks it")
	}
	a := &ask{function: u.number, in: in, out: out, status: make(chan int, 1)}
	defer a.pin.Unpin()
	select {
	case u.asks <- a:
	case <-ctx.Done():
		return ctx.Err()
	case <-u.ended:
		return context.Canceled
	}
	switch status := <-a.status; status { // however long it takes: the function uses the memory
	case 0:
		return nil
	case 1:
		return errCaller
	default:
		panic(fmt.Sprintf("the function returned %d", status))
	}
}
