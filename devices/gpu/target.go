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
	// Rows are the instructions that the device executes, and with Refuse set
	// those that it does not.
	Rows []mma.Instruction
	// Facts are what results may depend on.
	Facts map[string]string
	// Kernel returns the kernel of one of Rows.
	Kernel func(*mma.Instruction) (*Kernel, error)
	Loader
	// Force lets instructions run whose self-test fails: what is wrong stands in
	// the environment of the unit.
	Force bool
	// Release gives the device back; it may be nil.
	Release func() error

	mu    sync.Mutex
	units map[string]*opening
}

// Described is a Loaded that can say what the results of its kernel may depend on,
// such as which machine instructions it is made of.
type Described interface {
	Loaded
	Facts() map[string]string
}

// opening is an instruction that is opened once.
type opening struct {
	once sync.Once
	unit *testedUnit
	err  error
}

// testedUnit is a unit with what is known of it. It has the row that it was opened
// by, whose name may have another free dimension.
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

// Open returns the unit of an instruction. An error of a self-test says what is
// wrong with the instruction on this device.
func (t *Target) Open(i *mma.Instruction) (devices.Unit, error) {
	if i.Refuse != "" {
		return nil, fmt.Errorf("%s does not execute %s: %s", t.Label, i.FullName(), i.Refuse)
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
	k, err := t.Kernel(i)
	if err != nil {
		return nil, err
	}
	loaded, err := t.Load(k)
	if err != nil {
		return nil, err
	}
	unit, err := NewUnit(k, loaded)
	if err != nil {
		return nil, err
	}
	u := &testedUnit{unit, map[string]string{"kernel": fmt.Sprintf("%s for %s", k.Entry, k.Target)}}
	if d, ok := loaded.(Described); ok {
		maps.Copy(u.facts, d.Facts())
	}
	test, err := Test(context.Background(), unit)
	if err != nil {
		return nil, err
	}
	u.facts["self-test"] = test.String()
	if err := test.Err(); err != nil && !t.Force {
		return nil, err
	}
	return u, nil
}

// Close gives the device back.
func (t *Target) Close() error {
	if t.Release == nil {
		return nil
	}
	return t.Release()
}
