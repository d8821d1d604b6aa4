// Package compare compares recordings of different machines: instruction by
// instruction, on the inputs that two recordings have in common.
//
// Each recording is first explained by a model, if possible: that of the catalogue, or the
// same with changes. Then every two machines are compared as in a campaign (package fuzz),
// with the cause of every differing case and a smallest case of each cause. The outcome, a
// Result, is data: it is also the JSON that mmafuzz compare writes, the baseline of the
// next comparison, and what Write shows as text.
//
//	a, err := compare.Open("h100.rec")
//	b, err := compare.Open("mi300.rec")
//	c, err := compare.New([]*compare.Side{a, b}, compare.Options{})
//	result, err := c.Run(ctx)
//
// The API of this package is not promised: it may change in any version.
package compare

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Options say how sides are compared.
type Options struct {
	// Baseline is the result of an earlier comparison, which tells what is new; nil:
	// none.
	Baseline *Result
	// Known are differences that do not count as new. Its day is the date of the result.
	Known Known
	// NaN and Zero say how NaNs and signs of zeros are compared; nil: those of two recordings by their
	// bits, those of a recording and a live target as in a campaign.
	NaN, Zero *oracle.Strictness
	// Workers run in parallel; 0: devices.Workers. They do not change the result.
	Workers int
	// MaxFindings is the largest number of cases of every two machines that are shrunk;
	// 0: fuzz.DefaultFindings. With AllFindings, cases of known differences and of
	// differences in the baseline are shrunk too.
	MaxFindings int
	AllFindings bool
	NoInfer     bool // that of fuzz.Config
	// Trouble lists what could not be compared at all, for the result, and Incomplete recordings
	// that had not got as far as their first results.
	Trouble, Incomplete []string
	// Out, if not "", is a directory: findings are written to its subdirectory "bundles".
	Out string
	// Observer, if not nil, is told of progress.
	Observer Observer
}

// Observer follows a comparison. It is called from one goroutine.
type Observer interface {
	// Models reports how far the search for the models of the recordings is.
	Models(s *fuzz.State)
	// Progress reports, before the first epoch and after each, the state of the campaign that
	// compares two machines.
	Progress(s *fuzz.State)
	// Machines reports which two machines are compared next: pair n, from 1, of so many.
	Machines(n, of int, a, b string)
}

// quiet is an Observer that does nothing.
type quiet struct{}

func (quiet) Models(*fuzz.State)   {}
func (quiet) Progress(*fuzz.State) {}

func (quiet) Machines(n, of int, a, b string) {}

// Comparison is a comparison that is to be run.
type Comparison struct {
	Options
	sides  []*Side
	pairs  []pair   // of the two machines that are being compared
	models []*model // that were found so far
	result Result

	dir  *Directory          // with the log; nil: none is kept
	done map[[2]string]*unit // the units in the log, by the names of the machines
}

// errNoRecordings reports that none of the sides is a recording.
var errNoRecordings = errors.New("none of these is a recording")

// ErrNothing reports that no two sides have inputs in common.
var ErrNothing = errors.New("there is nothing to compare")

// New prepares a comparison of each recording with each other recording and each target. It
// names the sides. It is an error if two have the same name, or if none is a recording.
func New(sides []*Side, o Options) (*Comparison, error) {
	if o.Observer == nil {
		o.Observer = quiet{}
	}
	if o.Known.Day.IsZero() {
		o.Known.Day = time.Now()
	}
	c := &Comparison{Options: o, sides: sides}
	if err := nameSides(sides); err != nil {
		return nil, err
	}
	c.result.Trouble, c.result.Incomplete = append(c.result.Trouble, o.Trouble...), append(c.result.Incomplete, o.Incomplete...)
	for _, s := range sides {
		if s.Recording != nil && !s.Recording.Complete {
			c.result.Incomplete = append(c.result.Incomplete, s.Spec+" is not complete: what it has is compared; mmafuzz record goes on with it")
		}
		c.result.Machines = append(c.result.Machines, newMachine(s))
	}
	return c, nil
}

// Run compares one pair of machines after the other, so that no more than two have to be in
// memory. If the context ends, or a target stops answering, the result says so in Incomplete
// and is CutOff; if nothing was compared until then, there is no result. The error is
// ErrNothing if no two sides have inputs in common.
func (c *Comparison) Run(ctx context.Context) (*Result, error) {
	c.fold()
	pairs := c.machinePairs()
	for n, p := range pairs {
		a, b := p[0], p[1]
		if u := c.done[[2]string{a.Name, b.Name}]; u != nil {
			if err := c.restore(u); err != nil {
				return nil, err
			}
			continue
		}
		first, second := c.named(a.Name, b.Name)
		c.Observer.Machines(n+1, len(pairs), first, second)
		before := c.marks()
		err := c.compareMachines(ctx, a, b)
		if interrupted(ctx, err) && len(c.result.Cells) > 0 { // before the campaign
			c.cutOff("incomplete: " + fuzz.Interrupted + "; " + fuzz.NothingCompared)
		}
		if c.result.CutOff {
			if len(pairs) > 1 {
				last := &c.result.Incomplete[len(c.result.Incomplete)-1]
				*last += fmt.Sprintf("; this was %s, pair %d of %d", machinePair(first, second), n+1, len(pairs))
			}
			break
		}
		if err == nil {
			err = c.keep(a, b, before)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(c.result.Cells) == 0 && !c.result.CutOff {
		return nil, c.nothing()
	}
	c.conclude()
	return &c.result, nil
}

// interrupted reports whether an error says that the context has ended.
func interrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// cutOff makes the result one of a comparison that did not come to its end.
func (c *Comparison) cutOff(why string) {
	c.result.Incomplete = append(c.result.Incomplete, why)
	c.result.CutOff = true
}

// compareMachines adds the comparison of two sides to the result.
func (c *Comparison) compareMachines(ctx context.Context, a, b *Side) error {
	c.pairs = nil
	equal := a.equalTo == b || b.equalTo == a
	if equal {
		c.pairs = ownPairs(a, b)
	} else if err := c.pairSides(ctx, a, b); err != nil {
		return err
	}
	if len(c.pairs) == 0 {
		return nil
	}
	if err := c.makeRoom(a, b); err != nil {
		return err
	}
	models := c.modelsOf(c.pairs)
	if err := c.findModels(ctx, models); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.models = append(c.models, models...)
	if equal {
		c.equalCells()
		return nil
	}
	campaign, err := fuzz.New(c.config())
	if err != nil {
		return err
	}
	c.Observer.Progress(campaign.State())
	err = campaign.Run(ctx)
	if left := campaign.Unfinished(ctx, err); left != nil {
		c.cutOff(left.String())
	} else if err != nil {
		return err
	}
	c.collect(campaign.State())
	return nil
}

// config returns the configuration of the campaign over the pairs, and gives their
// recordings the models that were found.
func (c *Comparison) config() fuzz.Config {
	cfg := fuzz.Config{Seed: 1, Workers: c.Workers, NaN: c.NaN, Zero: c.Zero, MaxFindings: c.MaxFindings, NoInfer: c.NoInfer, Bundles: c.Out, BundleDir: c.bundleDir, Observe: follower{c}}
	cfg.Turned = func(pair int) bool { return c.turnedMachines(c.pairs[pair].a.Name, c.pairs[pair].b.Name) }
	for i := range c.pairs {
		p := &c.pairs[i]
		p.A, p.B = withModel(p.a, p.A, c.models), withModel(p.b, p.B, c.models)
		cfg.Pairs = append(cfg.Pairs, p.Pair)
	}
	if !c.AllFindings {
		cfg.Keep = c.isNews
	}
	return cfg
}

// isNews reports whether a bucket's difference is worth a finding: it is neither known nor
// in the baseline, or known but expired, or only the digest of all its cases can tell.
func (c *Comparison) isNews(pair int, b *fuzz.Bucket, v *triage.Verdict) bool {
	p := &c.pairs[pair]
	d := newDifference(p, b, changesFrom(p, v), "")
	if len(d.Changes) == 0 {
		return true
	}
	state, _, _ := c.Known.stateOf(&d, c.unlisted(&d))
	return state == StateNew || state == StateExpired
}

// nothing says why nothing can be compared.
func (c *Comparison) nothing() error {
	var why []string
	for _, l := range c.result.LeftOut {
		if l.Instruction == "" {
			why = append(why, fmt.Sprintf("%s: %s", machinePair(c.named(l.A, l.B)), l.Why))
		}
	}
	return fmt.Errorf("%w: %s", ErrNothing, strings.Join(append(why, c.result.Trouble...), "; "))
}

// follower is the observer of the campaign over two machines.
type follower struct{ *Comparison }

func (w follower) Progress(s *fuzz.State) { w.Observer.Progress(s) }

func (w follower) Finding(*fuzz.Case, bool) error { return nil }

// bundlesDir is the name of the directory of bundles in a comparison's directory.
const bundlesDir = "bundles"

func (c *Comparison) bundleDir(f *fuzz.Case) string {
	p := &c.pairs[f.Pair]
	instruction := p.Name()
	if c.turnedMachines(p.a.Name, p.b.Name) {
		instruction = turnedNames(instruction)
	}
	return filepath.Join(c.Out, bundlesDir, c.pairDir(p.a.Name, p.b.Name), readable.Slug(instruction), fmt.Sprintf("%s-%d", readable.Slug(f.Bucket), f.Number))
}
