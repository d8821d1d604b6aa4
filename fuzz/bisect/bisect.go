// Package bisect finds the first of several versions of a unit whose results changed, with
// the inputs that show it.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// bisect, an object for each cause:
//
//	instruction  string
//	cause        string   as the bucket of finding, or of products of matrices as the label of run
//	first        string   version whose results changed
//	last         string?  version before it with A's results; absent if there is none
//	among[]      string?  versions that could not be tested, any of which may be the first
//	input        string   input that shows it, as eval reads it
//	before       string   A's result
//	after        string   that of the last version of all
//	bundle       string?  directory of the bundle of the input, with --out
//
// The API of this package is not promised: it may change in any version.
package bisect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Word stands for the version, or its checkout, in Bisection.Target.
const Word = "{}"

// Bisection finds, for each input on which the last version differs from A, the first version
// that differs. It takes one such input of each cause.
type Bisection struct {
	A        string   // target that computes as before, or a file as in Versions
	Target   string   // of a version: Word is the version or its checkout; "": Word
	Versions []string // the oldest first; Run fills them in where they are commits
	Commits  *Commits // in place of Versions; nil: there are no commits
	// Campaign says which inputs A and the last version are compared on, and how. It
	// needs a limit, Count or Time; Pairs and Observe are replaced.
	Campaign    fuzz.Config
	Instruction string // "": all that A and the last version have

	// Testing is called before a version is tested, PassedOver for one that cannot be.
	// Each may be nil.
	Testing    func(version string)
	PassedOver func(version string, why error)
	// May is called before anything is opened, for each version, and A, that is a campaign's
	// plan, with the target that the plan names. It returns an error if that must not be opened,
	// which may run a command; nil: it may.
	May func(plan, target string) error

	targets  []named                   // of Versions and, last, of A; no version is among them if they are commits
	seen     map[int]map[string]answer // by version and input
	unstable error                     // A or the last version changes its answers
}

// Run looks for the changes and calls found with each. exact is false if untestable versions
// leave several candidates for some change. Inputs on which A or the last version changes its
// answers say nothing about versions: if there are some, Run says so in an error, after the
// changes that the others show.
func (b *Bisection) Run(ctx context.Context, found func(*Change) error) (exact bool, err error) {
	switch {
	case b.Commits == nil && len(b.Versions) == 0:
		return false, errors.New("there are no versions to test")
	case b.Campaign.Count == 0 && b.Campaign.Time == 0:
		return false, errors.New("the number of inputs has no limit")
	}
	if b.Commits != nil {
		if b.Versions, err = b.Commits.list(ctx); err != nil {
			return false, err
		}
		defer b.Commits.remove()
	}
	if err := b.name(); err != nil {
		return false, err
	}
	b.seen = map[int]map[string]answer{}
	inputs, err := b.compareLast(ctx)
	if err != nil {
		return false, err
	}
	exact = true
	for _, x := range inputs {
		r, err := search(len(b.Versions), func(v int) (verdict, error) { return b.test(ctx, v, x) })
		if err != nil {
			return false, err
		}
		if exact = exact && r.exact(); ctx.Err() != nil {
			return false, ctx.Err()
		}
		if err := found(b.change(x, r)); err != nil {
			return false, err
		}
	}
	return exact, b.unstable
}

// change describes what was found for an input.
func (b *Bisection) change(x *input, r span) *Change {
	f := x.pair.Formats()
	c := &Change{Instruction: x.pair.Name(), Cause: x.bucket, First: b.Versions[r.new], Input: mma.FormatDot(f, x.dot), terms: readable.Terms(f, x.dot),
		Before: mma.FormatCode(f.D, x.a), After: mma.FormatCode(f.D, x.b), mismatch: x.mismatch, number: x.number,
		earlier: r.new < len(b.Versions)-1}
	if r.old >= 0 {
		c.Last = b.Versions[r.old]
	}
	c.Among = slices.Clone(b.Versions[r.old+1 : r.new])
	return c
}

// spec returns the target of a version; a commit is built first.
func (b *Bisection) spec(ctx context.Context, version int) (string, error) {
	template := b.template()
	if b.Commits == nil {
		t := b.targets[version]
		return strings.ReplaceAll(template, Word, t.target), t.err
	}
	dir, err := b.Commits.checkout(ctx, strings.Fields(b.Versions[version])[0])
	return strings.ReplaceAll(template, Word, dir), err
}

// Sides returns A and the target of the last version, while Run reports a change.
func (b *Bisection) Sides(ctx context.Context) (a, last string, err error) {
	last, err = b.spec(ctx, len(b.Versions)-1)
	return b.targets[len(b.targets)-1].target, last, err
}

func (b *Bisection) template() string { return cmp.Or(b.Target, Word) }

// named is the target of a version or of A, or why there is none.
type named struct {
	target string
	err    error
}

// name finds the targets, and asks whether those that plans name may be opened.
func (b *Bisection) name() error {
	b.targets = nil
	if b.Commits == nil {
		for _, word := range b.Versions {
			if err := b.nameOne(word, b.template()); err != nil {
				return err
			}
		}
	}
	return b.nameOne(b.A, Word)
}

func (b *Bisection) nameOne(word, template string) error {
	target, planned, err := fileTarget(word, template)
	b.targets = append(b.targets, named{target, err})
	if planned && b.May != nil {
		return b.May(word, target)
	}
	return nil
}

// input is one on which the last version differs from A.
type input struct {
	pair   *devices.Pair
	bucket string
	dot    *mma.Dot
	a, b   uint64

	mismatch *corpus.Mismatch
	number   int // within its bucket
}

// compareLast compares A with the last version and returns an input of each cause.
func (b *Bisection) compareLast(ctx context.Context) ([]*input, error) {
	version := len(b.Versions) - 1
	spec, err := b.spec(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("the last version, %s: %w", b.Versions[version], err)
	}
	a := b.targets[len(b.targets)-1]
	if a.err != nil {
		return nil, a.err
	}
	var targets open.Set
	defer targets.Close()
	ta, err := targets.Target(a.target)
	if err != nil {
		return nil, err
	}
	tb, err := targets.Target(spec)
	if err != nil {
		return nil, fmt.Errorf("the last version, %s: %w", b.Versions[version], err)
	}
	pairs, err := devices.Pairs(ta, tb, b.Instruction, "")
	if err != nil {
		return nil, hint.Add(err, "%s", open.InstructionHint(ta, b.Instruction))
	}
	o := &observer{pairs: pairs, unstable: map[int][]*mma.Dot{}}
	cfg := b.Campaign
	cfg.Pairs, cfg.Observe = pairs, o
	campaign, err := fuzz.New(cfg)
	if err == nil {
		err = campaign.Run(ctx)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = b.checkStable(ctx, campaign.State(), o)
	}
	if partial := targets.Partial(); err == nil && len(o.found) == 0 && partial != "" {
		err = fmt.Errorf("no difference was found, but %s", partial)
	}
	return o.found, err
}

// checkStable finds out which unit is to blame for cases that do not repeat themselves.
func (b *Bisection) checkStable(ctx context.Context, s *fuzz.State, o *observer) error {
	for i, st := range s.Pairs {
		if st.Unstable == 0 {
			continue
		}
		p := &o.pairs[i]
		b.unstable = fmt.Errorf("%s and %s do not repeat %s on which they differ", b.A, b.Versions[len(b.Versions)-1], readable.Plural(int(st.Unstable), "case"))
		for _, side := range []struct {
			name string
			u    devices.Unit
		}{{b.A, p.A}, {b.Versions[len(b.Versions)-1], p.B}} {
			dots := gen.Probe(gen.Spec{Formats: p.Formats(), K: p.K}, 1, 0)
			unstable, err := stability.Check(ctx, side.name, side.u, append(dots, o.unstable[i]...), stability.Runs)
			if err != nil {
				return err
			}
			if unstable != nil {
				b.unstable = unstable
				break
			}
		}
		b.unstable = hint.Add(b.unstable, "what changes from run to run says nothing about versions: mend the unit first")
		return nil
	}
	return nil
}

// observer keeps the findings of a campaign.
type observer struct {
	pairs    []devices.Pair
	found    []*input
	unstable map[int][]*mma.Dot // cases that do not repeat themselves, by pair
}

func (o *observer) Progress(*fuzz.State) {}

// Finding keeps a case: the shrunk one, or the original one if it was shrunk on a model because a
// recording has no answer to new inputs.
func (o *observer) Finding(f *fuzz.Case, _ bool) error {
	if f.Bucket == fuzz.Unstable {
		o.unstable[f.Pair] = append(o.unstable[f.Pair], f.Start)
		return nil
	}
	p := &o.pairs[f.Pair]
	x := &input{pair: p, bucket: f.Bucket, dot: f.Dot, a: f.A, b: f.B, mismatch: f.Mismatch, number: f.Number}
	if f.OnModel || f.Dot == nil {
		x.dot = f.Start
		var err error
		if x.a, err = devices.Result(context.Background(), p.A, x.dot); err == nil {
			x.b, err = devices.Result(context.Background(), p.B, x.dot)
		}
		if err != nil {
			return err
		}
	}
	o.found = append(o.found, x)
	return nil
}

// answer is what a version gives for an input, or why it gives nothing.
type answer struct {
	d   uint64
	err error
}

// test asks a version for the result of an input.
func (b *Bisection) test(ctx context.Context, version int, x *input) (verdict, error) {
	key := x.pair.Name() + " " + mma.FormatDot(x.pair.Formats(), x.dot)
	got, ok := b.seen[version][key]
	if !ok {
		got.d, got.err = b.ask(ctx, version, x)
		if b.seen[version] == nil {
			b.seen[version] = map[string]answer{}
		}
		b.seen[version][key] = got
	}
	switch {
	case ctx.Err() != nil:
		return untested, ctx.Err()
	case got.err != nil:
		if b.PassedOver != nil {
			b.PassedOver(b.Versions[version], got.err)
		}
		return untested, nil
	case got.d == x.a:
		return asBefore, nil
	}
	return asAfter, nil
}

func (b *Bisection) ask(ctx context.Context, version int, x *input) (uint64, error) {
	if b.Testing != nil {
		b.Testing(b.Versions[version])
	}
	spec, err := b.spec(ctx, version)
	if err != nil {
		return 0, err
	}
	t, err := open.Target(spec)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	i, err := devices.Find(t, x.pair.B.Instruction().Name)
	if err != nil {
		return 0, err
	}
	if err := devices.Comparable(i.Formats, x.pair.Formats()); err != nil {
		return 0, err
	}
	u, err := t.Open(i)
	if err != nil {
		return 0, err
	}
	u = devices.WithK(u, len(x.dot.A))
	unstable, err := stability.Check(ctx, b.Versions[version], u, []*mma.Dot{x.dot}, stability.Runs)
	if err != nil {
		return 0, err
	}
	if unstable != nil {
		return 0, unstable
	}
	return devices.Result(ctx, u, x.dot)
}
