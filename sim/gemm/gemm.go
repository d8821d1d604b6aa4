// Package gemm computes matrix products as kernels do: the fast interpreter of package
// schedule, on the batch models of package sim or on any units.
//
// A plan's operations are done for a block of elements of D at a time, so that the models'
// kernels see large tiles and the values of a plan stay small. Package oracle has the slow
// interpreter, which shares no code with this one.
//
// The API of this package is not promised: it may change in any version.
package gemm

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Unit runs batches of an instruction; a devices.Unit does.
type Unit interface {
	Run(ctx context.Context, in *mma.Batch, out []byte) error
}

// Operands are the matrices of a product as codes, little-endian in containers of their
// formats' widths.
type Operands struct {
	schedule.Shape
	A, B   []byte // A row after row, B column after column
	SA, SB []byte // scales of the instruction, if it has some, laid out like A and B
	C      []byte // row after row, in the format of the units' results; nil: there is none
	// Alpha, Beta, Bias (by column) and scales have the format schedule.Side.
	Alpha, Beta    uint64
	Bias           []uint64
	ScaleA, ScaleB []uint64 // see schedule.Blocks.Index
	// D is the format of the results of the units for which C and the numbers after it are given; those of a kernel
	// with other units are converted. None: that of the kernel's units.
	D fp.ID
}

// Given returns which operands there are.
func (o *Operands) Given() schedule.Given {
	return schedule.Given{C: o.C != nil, Bias: o.Bias != nil}
}

// Options say how a product is computed.
type Options struct {
	// Open opens a unit; nil, or a nil result: the model of the instruction.
	Open     func(*mma.Instruction) (Unit, error)
	Workers  int                  // goroutines; 0: one for each processor
	Progress func(done, of int)   // called for each block that is done, by one goroutine at a time
	Skip     func(block int) bool // blocks that are in D already
}

// blockSide is the number of rows and of columns of a block of D.
const blockSide = 64

// block is a part of an area that a goroutine computes at a time.
type block struct {
	rows, columns []int
	plan          *prepared
}

// Multiply returns D, row after row, in the format that is also returned.
func Multiply(ctx context.Context, k *schedule.Kernel, o *Operands, opt Options) ([]byte, fp.ID, error) {
	areas, err := k.Layout(o.Shape, o.Given())
	if err != nil {
		return nil, 0, err
	}
	if o, err = unitOperands(ctx, k, o); err != nil {
		return nil, 0, err
	}
	id := areas[0].Plan.D
	d := make([]byte, o.M*o.N*id.Width())
	for _, a := range areas {
		if err := checkOperands(a.Plan, o); err != nil {
			return nil, 0, err
		}
	}
	blocks, err := blocksOf(k, areas, opt.Open)
	if err != nil {
		return nil, 0, err
	}
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all parallel.Group
	var next atomic.Int64
	var mu sync.Mutex
	done := 0
	for range min(opt.Workers, len(blocks)) {
		all.Go(func() {
			m := &machine{k: k, o: o, d: d, width: id.Width()}
			for i := next.Add(1) - 1; i < int64(len(blocks)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := m.compute(ctx, &blocks[i]); err != nil {
					cancel(err)
				}
				mu.Lock()
				if done++; opt.Progress != nil {
					opt.Progress(done, len(blocks))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return d, id, context.Cause(ctx)
}

// blocksOf cuts areas into blocks.
func blocksOf(k *schedule.Kernel, areas []schedule.Area, open func(*mma.Instruction) (Unit, error)) ([]block, error) {
	units := newUnits(open)
	plans := map[*schedule.Plan]*prepared{}
	var blocks []block
	for _, a := range areas {
		p := plans[a.Plan]
		if p == nil {
			var err error
			if p, err = prepare(a.Plan, units); err != nil {
				return nil, err
			}
			plans[a.Plan] = p
		}
		for r := 0; r < len(a.Rows); r += blockSide {
			for c := 0; c < len(a.Columns); c += blockSide {
				blocks = append(blocks, block{a.Rows[r:min(r+blockSide, len(a.Rows))], a.Columns[c:min(c+blockSide, len(a.Columns))], p})
			}
		}
	}
	return blocks, nil
}

// unitKey is what makes instructions one unit.
type unitKey struct {
	f mma.Formats
	k int
	p mma.Params
}

// models are those of the units that were used last. A search for a schedule computes thousands
// of products with the same few units, and a model keeps the memory that it works in.
var models = struct {
	sync.Mutex
	all map[unitKey]model
}{all: map[unitKey]model{}}

const mostModels = 64

// units opens each unit once.
type units struct {
	open  func(*mma.Instruction) (Unit, error)
	known map[*mma.Instruction]Unit
}

func newUnits(open func(*mma.Instruction) (Unit, error)) *units {
	return &units{open, map[*mma.Instruction]Unit{}}
}

func (u *units) of(i *mma.Instruction) (Unit, error) {
	if unit := u.known[i]; unit != nil { // keys are long
		return unit, nil
	}
	unit, err := u.made(i)
	if err == nil {
		u.known[i] = unit
	}
	return unit, err
}

func (u *units) made(i *mma.Instruction) (Unit, error) {
	if u.open != nil {
		if opened, err := u.open(i); err != nil || opened != nil {
			return opened, err
		}
	}
	if i.A.Integer() && !i.D.Integer() {
		return integers{}, nil
	}
	key := unitKey{f: i.Formats, k: i.K, p: i.Params}
	models.Lock()
	defer models.Unlock()
	if m, ok := models.all[key]; ok && i.Refuse == "" {
		return m, nil
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.FullName(), err)
	}
	if len(models.all) == mostModels {
		clear(models.all)
	}
	models.all[key] = model{m}
	return models.all[key], nil
}

// model is a Model as a Unit.
type model struct{ *sim.Model }

func (m model) Run(_ context.Context, in *mma.Batch, out []byte) error {
	m.Model.Run(in, out)
	return nil
}
