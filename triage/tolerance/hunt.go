// Package tolerance is about units that do not promise bits: whether two of them are as near to
// each other as is accepted (Hunt), and how near they are on inputs of a distribution (Measure).
//
//	mmafuzz run --a sim:cdna3 --b ref:exact --inst v_mfma_f32_16x16x16_f16 --accept "bound=(K+1)*u*S"
//	mmafuzz tolerance --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32 --gen normal --k 1024
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// accept, an object for each pair:
//
//	a          string   TARGET/INSTRUCTION
//	b          string   TARGET/INSTRUCTION
//	accept     string   what is accepted, as --accept takes it
//	inputs     number   dot products that were tried
//	unjudged   number   of these, those that a bound says nothing about: the sum may overflow
//	beyond     number   those whose results are further apart
//	worst      string   the largest ratio of the difference to what is accepted, +Inf where nothing is
//	input      string?  a smallest input that comes near to that, as eval reads it
//	ratio      string?  the ratio on it
//	d_a        string?  A's result
//	d_b        string?  B's result
//	exact      string?  the exact value, as %a of C writes it
//	differ     string?  the difference of the results
//	allowed    string?  what is accepted
//
// tolerance:
//
//	target      string   TARGET/INSTRUCTION
//	against     string   the exact value, or TARGET/INSTRUCTION
//	k           number   products of a dot product
//	source      string   generator of the inputs
//	seed        number
//	count       number   dot products
//	unjudged    number   of these, those with a result that is no number
//	rtol        number   relative to the absolute value of the second result
//	atol        number   with that rtol, all results are within atol + rtol*|second|
//	rtol_alone  number   what rtol would be with an atol of 0
//	norm        number   root mean square of the errors, divided by that of what the results are compared with
//	worst       string   the input that needs the largest atol, as eval reads it
//	fresh       number   of as many other inputs, those that are not within
//	zeros       number   of as many other inputs, those for which 0 would be within
//
// tolerance with several --k:
//
//	lengths[]  object*  as above, of each K
//
// The API of this package is not promised: it may change in any version.
package tolerance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/climb"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Hunted is what was found of a pair.
type Hunted struct {
	A        string `json:"a"`
	B        string `json:"b"`
	Accept   string `json:"accept"`
	Inputs   int    `json:"inputs"`
	Unjudged int    `json:"unjudged"`
	Beyond   int    `json:"beyond"`
	Worst    Number `json:"worst"`
	Input    string `json:"input,omitempty"`
	Ratio    Number `json:"ratio,omitempty"`
	DA       string `json:"d_a,omitempty"`
	DB       string `json:"d_b,omitempty"`
	Exact    string `json:"exact,omitempty"`
	Differ   Number `json:"differ,omitempty"`
	Allowed  Number `json:"allowed,omitempty"`
}

// Number is a number that may be infinite.
type Number float64

// String writes it in few digits.
func (r Number) String() string { return strconv.FormatFloat(float64(r), 'g', 4, 64) }

// MarshalJSON writes it as a string, because JSON has no infinity.
func (r Number) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

const (
	kept          = 0.9 // of the worst ratio, while its input is shrunk
	shrinkQueries = 5000
)

// hunter evaluates inputs.
type hunter struct {
	pair   *devices.Pair
	accept *Accept
	found  *Hunted
}

// Hunt looks for the inputs on which two units are furthest apart, as parts of what is accepted,
// among so many dot products: inputs of all generators, and the best of them changed again and again.
// progress is told how many were tried; it may be nil.
func Hunt(ctx context.Context, pair *devices.Pair, accept *Accept, seed uint64, count int, progress func(tried int)) (*Hunted, error) {
	f := pair.Formats()
	h := &hunter{pair, accept, &Hunted{A: pair.TargetA + "/" + pair.A.Instruction().Name, B: pair.TargetB + "/" + pair.B.Instruction().Name, Accept: accept.String()}}
	c := climb.Climber{Formats: f, K: pair.K, Seed: seed, Most: count}
	c.Scores = func(ctx context.Context, dots []*mma.Dot) ([]float64, error) {
		scores := make([]float64, len(dots))
		all, _, _, err := h.judge(ctx, dots)
		for i, v := range all {
			scores[i] = v.Ratio
			switch {
			case !v.Judged:
				h.found.Unjudged++
				scores[i] = -1
			case v.Beyond():
				h.found.Beyond++
			}
		}
		h.found.Inputs += len(all)
		if progress != nil {
			progress(h.found.Inputs)
		}
		return scores, err
	}
	var programs []*mma.Params
	for _, u := range []devices.Unit{pair.A, pair.B} {
		if p := u.Model(); p != nil {
			programs = append(programs, p)
		}
	}
	best, err := c.Climb(ctx, programs...)
	if err != nil || len(best) == 0 || best[0].Score == 0 {
		return h.found, err
	}
	h.found.Worst = Number(best[0].Score)
	return h.found, h.show(ctx, best[0])
}

// judge returns the verdicts on dot products, and both results.
func (h *hunter) judge(ctx context.Context, dots []*mma.Dot) (all []Verdict, x, y []uint64, err error) {
	f := h.pair.Formats()
	if x, err = results(ctx, h.pair.A, f, dots); err != nil {
		return nil, nil, nil, err
	}
	if y, err = results(ctx, h.pair.B, f, dots); err != nil {
		return nil, nil, nil, err
	}
	for i, d := range dots {
		v, err := h.accept.Judge(f, d, x[i], y[i])
		if err != nil {
			return nil, nil, nil, err
		}
		all = append(all, v)
	}
	return all, x, y, nil
}

// results runs dot products of the same length on a unit.
func results(ctx context.Context, u devices.Unit, f mma.Formats, dots []*mma.Dot) ([]uint64, error) {
	w := f.D.Width()
	out := make([]byte, len(dots)*w)
	if err := u.Run(ctx, mma.BatchOf(f, len(dots[0].A), dots), out); err != nil {
		return nil, err
	}
	codes := make([]uint64, len(dots))
	for i := range codes {
		codes[i] = mma.Load(out, w, i)
	}
	return codes, ctx.Err()
}

// show shrinks the worst input, as long as it stays nearly as bad, and fills in what it shows.
func (h *hunter) show(ctx context.Context, worst climb.Peak) error {
	f := h.pair.Formats()
	least := worst.Score * kept
	if worst.Score > 1 {
		least = max(least, math.Nextafter(1, 2))
	}
	d, err := evidence.Shrink(ctx, f, worst.Dot, func(ctx context.Context, dots []*mma.Dot) ([]bool, error) {
		holds := make([]bool, len(dots))
		all, _, _, err := h.judge(ctx, dots)
		for i, v := range all {
			holds[i] = v.Judged && v.Ratio >= least
		}
		return holds, err
	}, minimize.Options{MaxQueries: shrinkQueries})
	if d == nil {
		return err
	}
	all, x, y, err := h.judge(ctx, []*mma.Dot{d})
	if err != nil {
		return err
	}
	v, exact := all[0], oracle.ExactDot(f, d)
	h.found.Input, h.found.Ratio, h.found.Exact = mma.FormatDot(f, d), Number(v.Ratio), exact.String()
	h.found.DA, h.found.DB = mma.FormatCode(f.D, x[0]), mma.FormatCode(f.D, y[0])
	if v.Allowed != nil {
		differ, _ := v.Differ.Float64()
		allowed, _ := v.Allowed.Float64()
		h.found.Differ, h.found.Allowed = Number(differ), Number(allowed)
	}
	return nil
}

// Write writes what was found for people.
func (h *Hunted) Write(w io.Writer, width int) {
	said := fmt.Sprintf("of %s inputs all are accepted; the worst has %s of what is", readable.Thousands(uint64(h.Inputs)), h.Worst)
	if h.Beyond > 0 {
		said = fmt.Sprintf("of %s inputs %s are beyond; the worst by a factor of %s", readable.Thousands(uint64(h.Inputs)), readable.Thousands(uint64(h.Beyond)), h.Worst)
	}
	if h.Unjudged > 0 {
		said += fmt.Sprintf("; of %s it says nothing, since the sum may overflow", readable.Thousands(uint64(h.Unjudged)))
	}
	g := readable.Table{Width: width}
	g.Add("A", h.A)
	g.Add("B", h.B)
	g.Add("accepted", h.Accept)
	g.Add("found", said)
	if h.Input != "" {
		g.Add("input", h.Input)
		g.Add("A gives", h.DA)
		g.Add("B gives", h.DB)
		g.Add("exact", h.Exact)
		if h.Allowed != 0 {
			g.Add("differ by", h.Differ.String()+", accepted are "+h.Allowed.String())
		}
		g.Add("ratio", h.Ratio.String())
	}
	g.Write(w, nil)
	fmt.Fprintln(w)
}
