package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// caller is a unit that the caller's function computes: one batch at a time.
type caller struct {
	inst *mma.Instruction
	mu   sync.Mutex
	run  func(in *mma.Batch, out []byte) error
}

func (u *caller) Instruction() *mma.Instruction { return u.inst }
func (u *caller) Model() *mma.Params            { return nil }

// BatchSize is that of a function which takes some microseconds to call.
func (u *caller) BatchSize() int { return 1024 }

func (u *caller) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return u.run(in, out)
}

// request says what is compared.
type request struct {
	Name    string `json:"name"`    // of the caller's function
	Count   uint64 `json:"count"`   // dot products
	Seed    uint64 `json:"seed"`    //
	Bits    bool   `json:"bits"`    // NaNs of different codes differ
	Bundles string `json:"bundles"` // directory of bundles, "" for none
}

// comparison is what was found.
type comparison struct {
	Dots       uint64    `json:"dots"`
	Mismatches uint64    `json:"mismatches"`
	Codes      uint64    `json:"codes"` // equal results in other codes: NaNs, unless Bits
	Causes     []cause   `json:"causes"`
	Findings   []finding `json:"findings"`
}

// cause is all cases of one cause.
type cause struct {
	Label  string  `json:"label"`
	Cases  uint64  `json:"cases"`
	MaxULP float64 `json:"max_ulp"`
}

// finding is a minimized case: codes in hexadecimal.
type finding struct {
	Label    string `json:"label"`
	Detail   string `json:"detail"`
	Input    string `json:"input"` // a, b and c, as mmafuzz eval reads them
	Unit     string `json:"unit"`
	Function string `json:"function"`
	Bundle   string `json:"bundle,omitempty"`
}

// compare runs a campaign of a unit against a function.
func compare(ctx context.Context, target string, u devices.Unit, r request, run func(in *mma.Batch, out []byte) error) (*comparison, error) {
	i := u.Instruction()
	f := &caller{inst: &mma.Instruction{Name: r.Name, Formats: i.Formats, K: i.K}, run: run}
	cfg := fuzz.Config{
		Pairs: []devices.Pair{{A: u, B: f, TargetA: target, TargetB: r.Name, K: i.K}},
		Seed:  r.Seed, Count: r.Count, Bundles: r.Bundles,
	}
	strictness := oracle.ByClass
	if r.Bits {
		strictness = oracle.Bits
	}
	cfg.NaN = &strictness
	c, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Run(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st := c.State().Pairs[0]
	out := &comparison{Dots: st.Dots, Mismatches: st.Mismatches(), Codes: st.Codes, Causes: []cause{}, Findings: []finding{}}
	for _, b := range st.Sorted() {
		out.Causes = append(out.Causes, cause{b.Name, b.Cases, b.MaxUlp})
	}
	for _, x := range st.Findings {
		out.Findings = append(out.Findings, finding{
			Label: x.Bucket, Detail: x.Detail, Input: mma.FormatDot(i.Formats, x.Dot),
			Unit: mma.FormatCode(i.D, x.A), Function: mma.FormatCode(i.D, x.B), Bundle: x.Dir,
		})
	}
	return out, nil
}
