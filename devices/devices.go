// Package devices defines what can be tested: a Target is anything that executes
// matrix instructions - a simulator of an architecture, a recording, reference
// arithmetic, a GPU, a child process - and a Unit is one instruction of it. Func makes
// a Unit of a Go function.
//
// A program imports the kinds of targets that it opens, for their effect:
//
//	import _ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim: and model:
//
// The paths of these packages stay as they are; what else they export is not promised.
//
// # Adding a kind of target
//
// A kind is one folder below this one. It implements Target and Unit and calls
// Register in an init function; cmd/mmafuzz imports it for that effect in
// backends.go. Users name targets KIND:ARGUMENT, such as sim:hopper. Modes that
// change results (rounding modes, flush bits) belong to the instruction's name,
// so that the names of a target and an instruction identify a unit completely.
package devices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Target executes instructions.
type Target interface {
	// Name is the full name, such as sim:hopper, under which Open finds the
	// target again.
	Name() string
	// Instructions lists what the target executes. nil: it can stand in for any
	// instruction (reference arithmetic).
	Instructions() []mma.Instruction
	// Open returns the unit that executes an instruction: one of Instructions, or
	// any instruction if Instructions is nil.
	Open(*mma.Instruction) (Unit, error)
	// Environment describes what results may depend on, for bundles and recordings:
	// versions, device names, drivers. The names of those that describe only the moment when
	// the target was opened, such as clocks, begin with corpus.AtStart.
	Environment() map[string]string
	Close() error
}

// Unit executes one instruction on batches. It is safe for use by several
// goroutines.
type Unit interface {
	// Instruction returns what is executed. Its Params are what is known or
	// believed about it; see Model.
	Instruction() *mma.Instruction
	// Model returns the arithmetic if the unit computes by it (a simulator), nil
	// if it is a black box.
	Model() *mma.Params
	// Run writes D of every dot product of a batch to out, which has D's size.
	// The batch has the instruction's formats, any M and N, and a K that is a
	// multiple of the instruction's: more than K elements run the instruction
	// repeatedly with C = the previous D. Run does not change or keep the
	// batch. On error out is unspecified.
	Run(ctx context.Context, in *mma.Batch, out []byte) error
}

// Provenance is a Unit that knows more than its target about what its results depend
// on: how the machine executes the instruction, which tests it has passed.
type Provenance interface {
	Unit
	Environment() map[string]string
}

// Batcher is a Unit with a high fixed cost per call, whatever is in the batch: a launch
// of a kernel, a message to another process.
type Batcher interface {
	Unit
	// BatchSize returns the number of dot products from which a call is worth its cost. More
	// than 8,192 mean a device that is many times as fast as a simulator: campaigns then make
	// more raw inputs, and tiles of 16 x 8.
	BatchSize() int
}

// BatchSize returns the BatchSize of a Batcher, 0 for other units.
func BatchSize(u Unit) int {
	if b, ok := u.(Batcher); ok {
		return b.BatchSize()
	}
	return 0
}

// Restarter is a Unit that may restart its worker and retry: Run succeeds although
// whatever computes for the unit died on the way.
type Restarter interface {
	Unit
	// Restarts returns how often that has happened, and how the worker died the last
	// time.
	Restarts() (n int, last string)
}

// renewer is a Unit whose worker can be replaced: a process that keeps something of one question for
// the next ones gives other results then.
type renewer interface {
	Unit
	// Renew returns the unit as a new worker computes it, which has not been asked anything, and
	// what ends this worker. Nil: there is none.
	Renew(ctx context.Context) (Unit, func(), error)
}

// Renew returns the unit as a new worker computes it, as a child process does; nil for other units.
func Renew(ctx context.Context, u Unit) (Unit, func(), error) {
	if r, ok := u.(renewer); ok {
		return r.Renew(ctx)
	}
	return nil, nil, nil
}

// Recorder is a Unit that can only answer for inputs it has recorded.
type Recorder interface {
	Unit
	// Recorded returns the number of recorded dot products.
	Recorded() int
	// Length returns the elements that each of them has: a multiple of the
	// instruction's K.
	Length() int
	// Load fills dots from..from+in.Tiles-1 of the recording into a batch of
	// tiles of one dot product, and their results into out. A *FaultError says
	// that the target failed on some of them when it was recorded: the operands
	// are loaded all the same, and Run of a single one tells whether it failed.
	Load(from int, in *mma.Batch, out []byte) error
	// Origin reports where dot product n was generated: source (see package fuzz),
	// seed and index.
	Origin(n int) (source string, seed, index uint64)
}

// IsRecording reports whether a unit is a recording, which has no answer to new inputs.
func IsRecording(u Unit) bool {
	_, is := u.(Recorder)
	return is
}

// WhenRecorded returns an entry of the environment in which a recording was made, "" if it has
// none.
func WhenRecorded(u Unit, key string) string {
	p, ok := u.(Provenance)
	if !ok || !IsRecording(u) {
		return ""
	}
	return p.Environment()["recorded "+key]
}

// Explained is a Unit that does not compute by the Params of its Instruction, but may know
// that they give all of its results: if Explained returns true, that was checked. Of a
// recording it was, for every recorded result; of a reference, by tests.
type Explained interface {
	Unit
	Explained() bool
}

// Workers returns how many goroutines are to work on units at a time: one for each
// processor, and two more where a unit computes elsewhere, as GPUs and children do: while
// such a unit has one batch the next is already waiting, and no processor is idle. Models
// and recordings compute in the goroutine that calls them.
func Workers(units ...Unit) int {
	n := runtime.GOMAXPROCS(0)
	for _, u := range units {
		if u.Model() == nil && !IsRecording(u) {
			return n + 2
		}
	}
	return n
}

// ErrNoRecording is returned by a Recorder for an input that it does not have.
var ErrNoRecording = errors.New("this input is not in the recording")

// FaultError reports that a target failed on an input: a crash, a fault, a timeout.
// It is a finding about the target, not trouble of the campaign.
type FaultError struct {
	Target string
	What   string
}

func (e *FaultError) Error() string { return e.Target + ": " + e.What }

// IsFault reports whether an error is a target's failure on an input.
func IsFault(err error) bool {
	return err != nil && errors.As(err, new(*FaultError)) // new allocates: spare it for nil
}

// AnyLength is a Unit for dot products of any length (reference arithmetic): it computes
// one that is longer than K in one piece, not in steps of K.
type AnyLength interface {
	Unit
	// WithK returns the unit whose K is k.
	WithK(k int) Unit
}

// WithK returns the unit for dot products of k elements if u is of AnyLength, otherwise
// u itself, which takes them in steps of its K.
func WithK(u Unit, k int) Unit {
	if w, ok := u.(AnyLength); ok && u.Instruction().K != k {
		return w.WithK(k)
	}
	return u
}

// Result returns what a unit gives for one dot product.
func Result(ctx context.Context, u Unit, d *mma.Dot) (uint64, error) {
	f := u.Instruction().Formats
	out := make([]byte, f.D.Width())
	err := u.Run(ctx, mma.BatchOf(f, len(d.A), []*mma.Dot{d}), out)
	return mma.Load(out, f.D.Width(), 0), err
}

// Refused returns why an instruction has no model, nil if it has one.
func Refused(i *mma.Instruction) error {
	if i.Refuse == "" {
		return nil
	}
	return fmt.Errorf("%s cannot be simulated: %s", i.FullName(), i.Refuse)
}

// Opener opens a target of one kind by what follows the colon in its name.
type Opener func(argument string) (Target, error)

type backend struct {
	open Opener
	help string
}

var backends = map[string]backend{}

// Register makes a kind of target known. help is a line about the kind and its argument.
func Register(kind string, open Opener, help string) {
	if _, dup := backends[kind]; dup {
		panic("devices: two backends for " + kind)
	}
	backends[kind] = backend{open, help}
}

// Kinds returns a line of help for each kind of target.
func Kinds() map[string]string {
	h := map[string]string{}
	for k, b := range backends {
		h[k] = b.help
	}
	return h
}

// Open opens the target of a name KIND:ARGUMENT. A plain name is taken as
// sim:NAME.
func Open(name string) (Target, error) {
	kind, arg, ok := strings.Cut(name, ":")
	if !ok {
		kind, arg = "sim", name
	}
	b, known := backends[kind]
	if !known {
		return nil, fmt.Errorf("target %q: unknown kind %q (known: %s)", name, kind,
			strings.Join(slices.Sorted(maps.Keys(backends)), ", "))
	}
	t, err := b.open(arg)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", name, err)
	}
	return t, nil
}

// OpenUnit opens an instruction of a target, both by name. like names the
// instruction, as TARGET/INSTRUCTION, whose formats a target without instructions
// of its own (reference arithmetic) takes.
func OpenUnit(target, instruction, like string) (Unit, error) {
	t, err := Open(target)
	if err != nil {
		return nil, err
	}
	if t.Instructions() != nil {
		i, err := Find(t, instruction)
		if err != nil {
			return nil, err
		}
		return t.Open(i)
	}
	slash := strings.LastIndexByte(like, '/') // a target may be a file
	if slash < 0 {
		return nil, fmt.Errorf("%[1]s works on any formats: name a unit that has them, as in %[1]s/sim:hopper/mma.m16n8k16.f32.f16.f16.f32, instead of %[2]q", target, like)
	}
	source, err := Open(like[:slash])
	if err != nil {
		return nil, err
	}
	defer source.Close()
	i, err := Find(source, like[slash+1:])
	if err != nil {
		return nil, err
	}
	return t.Open(i)
}
