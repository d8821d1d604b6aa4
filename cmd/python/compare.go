package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// comparison is what was found.
type comparison struct {
	Dots       uint64    `json:"dots"`
	Mismatches uint64    `json:"mismatches"`
	Codes      uint64    `json:"codes"`      // equal results in other codes: NaNs, unless Bits
	Unexamined uint64    `json:"unexamined"` // mismatches that count for no cause: see fuzz.Config.Examine
	Spent      bool      `json:"spent"`      // a larger effort could find more
	Long       bool      `json:"long"`       // programs have fewer products
	Unstable   uint64    `json:"unstable"`   // mismatches that were none, or others, when they were asked again
	Causes     []cause   `json:"causes"`
	Findings   []finding `json:"findings"`   // in the order of their causes
	Stochastic []string  `json:"stochastic"` // what was found of a side that rounds stochastically, or why it is not known whether it does
}

// cause is all cases of one cause.
type cause struct {
	Label  string  `json:"label"`
	Cases  uint64  `json:"cases"`
	MaxULP float64 `json:"max_ulp"`
}

// finding is a minimized case: codes in hexadecimal.
type finding struct {
	Label   string `json:"label"`
	Detail  string `json:"detail"`
	Input   string `json:"input"` // a, b and c, as mmafuzz eval reads them
	Got     string `json:"got"`   // the unit's result
	Want    string `json:"want"`  // the other one's, with which it is compared
	Bundle  string `json:"bundle"`
	Picture string `json:"picture"` // how both compute it
	Brief   string `json:"brief"`   // the same, shorter
	Why     string `json:"why"`     // the cause in words
}

// pair is a unit and another one of the same formats, with which it is compared.
func pair(unit, with opened, r *request) (fuzz.Config, error) {
	i, j := unit.unit.Instruction(), with.unit.Instruction()
	if i.Formats != j.Formats {
		return fuzz.Config{}, fmt.Errorf("%s takes %s, and %s takes %s: they have no inputs in common", i.Name, i.Formats, j.Name, j.Formats)
	}
	k := i.K // the least common multiple
	for k%j.K != 0 {
		k += i.K
	}
	nan := oracle.ByClass
	if r.Bits {
		nan = oracle.Bits
	}
	targetA, targetB := unit.target, with.target
	if targetA == functions && targetB == functions { // as the parameters of compare and minimize are called
		targetA, targetB = targetA+":f", targetB+":g"
	}
	return fuzz.Config{
		Pairs: []devices.Pair{{A: devices.WithK(unit.unit, k), B: devices.WithK(with.unit, k), TargetA: targetA, TargetB: targetB, K: k}},
		Seed:  r.Seed, Count: r.Count, Workers: r.Workers, NaN: &nan, Effort: cmp.Or(r.Effort, -1),
		Searching: func(_ int, doing string) { r.say(doing) },
	}, nil
}

// traced is fuzz.Config.Traced: a trace takes as long as a function takes for some dot products.
const traced = 1 << 13

// compare runs a campaign of a unit against another one.
func compare(ctx context.Context, units []opened, r *request) (any, error) {
	if r.Count == 0 {
		return nil, errors.New("count is 0: compare at least one dot product")
	}
	cfg, err := pair(units[0], units[1], r)
	if err != nil {
		return nil, err
	}
	cfg.Bundles, cfg.Observe, cfg.Examine, cfg.Traced = r.Bundles, observer(r.say), r.Examine, traced
	c, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.Run(ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", units[0].unit.Instruction().Name, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st := c.State().Pairs[0]
	out := &comparison{Dots: st.Dots, Mismatches: st.Differences(), Codes: st.Codes, Unexamined: st.Unexamined, Spent: c.EffortSpent(0), Long: cfg.Pairs[0].K > mma.MaxK, Causes: []cause{}, Findings: []finding{}, Stochastic: []string{}}
	for _, r := range st.Stochastic {
		if text := st.StochasticText(r); text != "" {
			out.Stochastic = append(out.Stochastic, text)
		}
	}
	out.Unstable = out.Mismatches - out.Unexamined
	for _, b := range st.Sorted() {
		out.Unstable -= b.Cases
		out.Causes = append(out.Causes, cause{b.Name, b.Cases, b.MaxUlp})
		for _, x := range st.Findings {
			if x.Bucket != b.Name {
				continue
			}
			f, err := findingOf(units[0], x)
			if err != nil {
				return nil, err
			}
			out.Findings = append(out.Findings, *f)
		}
	}
	return out, nil
}

// observer says how far a campaign is. Findings are read when it is over.
type observer func(doing string)

func (observer) Finding(*fuzz.Case, bool) error { return nil }

func (say observer) Progress(s *fuzz.State) {
	p := s.Pairs[0]
	say(fmt.Sprintf("%s dot products  %s", readable.Thousands(p.Dots), readable.Mismatches(p.Mismatches())))
}

// shrink explains and minimizes one dot product; the result is nil if the units agree on it.
func shrink(ctx context.Context, units []opened, r *request) (any, error) {
	cfg, err := pair(units[0], units[1], r)
	if err != nil {
		return nil, err
	}
	d, err := mma.ParseDot(units[0].unit.Instruction().Formats, cfg.Pairs[0].K, false, strings.Fields(r.Input))
	if err != nil {
		return nil, err
	}
	x, err := fuzz.TriageCase(ctx, cfg, d)
	if errors.Is(err, fuzz.ErrAgree) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return findingOf(units[0], x)
}

// pictureWidth is the number of columns of a finding's picture.
const pictureWidth = 100

func findingOf(u opened, x *fuzz.Case) (*finding, error) {
	i, d := u.unit.Instruction(), x.Dot
	if d == nil { // nothing is smaller: a fault, or a case that changes
		d = x.Start
	}
	f := &finding{
		Label: x.Bucket, Detail: x.Detail, Input: mma.FormatDot(i.Formats, d),
		Got: mma.FormatCode(i.D, x.A), Want: mma.FormatCode(i.D, x.B), Bundle: x.Dir,
	}
	pic, err := bundle.Picture(x.Mismatch, x.Dir)
	if err != nil {
		return nil, err
	}
	why := strings.Join(pic.Labels, " + ")
	if len(pic.Changes) > 0 {
		way, text := pic.Change()
		why += "; " + way + ": " + text
		if pic.Instead != "" {
			why += " (" + pic.Instead + ")"
		}
	}
	f.Why = strings.Join(append([]string{why}, pic.Notes...), "\n")
	for _, x := range []struct {
		to    *string
		brief bool
	}{{&f.Picture, false}, {&f.Brief, true}} {
		var text strings.Builder
		if err := report.Text(&text, pic, report.TextOptions{Width: pictureWidth, Brief: x.brief}); err != nil {
			return nil, err
		}
		*x.to = text.String()
	}
	return f, nil
}
