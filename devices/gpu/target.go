package gpu

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Target makes a devices.Target of a device. An instruction is opened once: its
// kernel is loaded, and tested before its results are trusted.
type Target struct {
	// Label is the target's name, such as cuda:0,inprocess.
	Label string
	// Rows are the instructions that the device executes, and those that it does not,
	// which have Refuse set.
	Rows []mma.Instruction
	// Facts are what results may depend on.
	Facts map[string]string
	// Kernels returns the kernels of one of Rows, the usual one first. The others
	// must give the same results.
	Kernels func(*mma.Instruction) ([]*Kernel, error)
	Loader
	// Force lets instructions run whose self-test fails: the environment of the unit
	// says what is wrong.
	Force bool
	// Release gives the device back; it may be nil.
	Release func() error

	mu    sync.Mutex
	units map[string]*opening
}

// described is a Loaded that can say what the results of its kernel may depend on,
// such as the machine instructions that the kernel consists of.
type described interface {
	Loaded
	Facts() map[string]string
}

// opening is an instruction that is opened once.
type opening struct {
	once sync.Once
	unit *testedUnit
	err  error
}

// testedUnit is a unit with what is known of it.
type testedUnit struct {
	*Unit
	facts map[string]string
}

func (u *testedUnit) Environment() map[string]string { return maps.Clone(u.facts) }

// Name returns the target's name.
func (t *Target) Name() string { return t.Label }

// Instructions returns Rows.
func (t *Target) Instructions() []mma.Instruction { return t.Rows }

// Environment returns Facts.
func (t *Target) Environment() map[string]string { return maps.Clone(t.Facts) }

// refused returns why a target does not execute an instruction, nil if it does.
func refused(target string, i *mma.Instruction) error {
	if i.Refuse == "" {
		return nil
	}
	return fmt.Errorf("%s does not execute %s: %s", target, i.FullName(), i.Refuse)
}

// Open returns the unit of an instruction. An error of a self-test says what is
// wrong with the instruction on this device.
func (t *Target) Open(i *mma.Instruction) (devices.Unit, error) {
	if err := refused(t.Label, i); err != nil {
		return nil, err
	}
	t.mu.Lock()
	if t.units == nil {
		t.units = map[string]*opening{}
	}
	o := t.units[i.Name]
	if o == nil {
		o = &opening{}
		t.units[i.Name] = o
	}
	t.mu.Unlock()
	o.once.Do(func() { o.unit, o.err = t.open(i) })
	if o.err != nil {
		return nil, fmt.Errorf("%s: %w", i.FullName(), o.err)
	}
	return o.unit, nil
}

func (t *Target) open(i *mma.Instruction) (*testedUnit, error) {
	kernels, err := t.Kernels(i)
	if err != nil {
		return nil, err
	}
	var units []*Unit
	for _, k := range kernels {
		unit, err := t.load(k)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	k := kernels[0]
	u := &testedUnit{units[0], map[string]string{"kernel": fmt.Sprintf("%s for %s", k.Entry, k.Target)}}
	if d, ok := u.loaded.(described); ok {
		maps.Copy(u.facts, d.Facts())
	}
	test, err := Test(context.Background(), units[0], units[1:]...)
	if err != nil {
		return nil, err
	}
	u.facts["self-test"] = test.String()
	if err := test.Err(); err != nil && !t.Force {
		return nil, err
	}
	return u, nil
}

// load makes a unit of a kernel.
func (t *Target) load(k *Kernel) (*Unit, error) {
	loaded, err := t.Load(k)
	if err != nil {
		return nil, err
	}
	return NewUnit(k, loaded)
}

// Close gives the device back.
func (t *Target) Close() error {
	if t.Release == nil {
		return nil
	}
	return t.Release()
}
