// Package cases explains and shrinks single cases anew: those of bundles, and inputs that
// other fuzzing engines have found.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// minimize, where the two sides agree now or the case is unstable, and triage, an object for each bundle:
//
//	bundle          string   its directory
//	was             string   bucket that the bundle names
//	now             string   bucket now; empty if there is none
//	differed        number?  of an unstable case: runs in which the sides differed
//	runs            number?  of so many
//	changes[].path  string?  as in summary: what B does in this case that A does not
//	changes[].from  string?
//	changes[].to    string?
//	defect          string?  the rule of a defect, and what speaks for it
//	problem         string?  why there is no bucket
//
// corpus export, an object for each call:
//
//	directory  string  directory of the inputs
//	inputs     number
//
// corpus import, an object for each differing input:
//
//	file      string   name of the input's file
//	class     string   class of the difference, as in summary; same: an unstable input on which they did not differ again
//	bucket    string?  as in the event finding
//	detail    string?  as in the event finding
//	bundle    string?  directory of the bundle, of the first input of each bucket
//	differed  number?  of an unstable input: runs in which the two sides differed
//	runs      number?  of so many
//
// The API of this package is not promised: it may change in any version.
package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// Outcome compares a bundle's recorded cause with the present one.
type Outcome struct {
	Bundle  string       `json:"bundle"`
	Was     string       `json:"was"`
	Now     string       `json:"now"`
	Changes []mma.Change `json:"changes,omitempty"`
	Defect  string       `json:"defect,omitempty"`
	Problem string       `json:"problem,omitempty"`

	Differed int `json:"differed,omitempty"` // of an unstable case: of Runs
	Runs     int `json:"runs,omitempty"`
}

// unstableError reports that the case of a bundle does not repeat itself.
type unstableError struct {
	Differed, Runs int
}

func (e *unstableError) Error() string { return bundle.UnstableText(e.Differed, e.Runs) }

// faultError reports that a target still fails on the input of a bundle.
type faultError struct{ What string }

func (e *faultError) Error() string {
	return "a target fails on the input, which is therefore not minimized: " + e.What
}

// IsFinding reports whether an error is what a case shows, so that it is not minimized: it does
// not repeat itself, or a target fails on it.
func IsFinding(err error) bool {
	return errors.As(err, new(*unstableError)) || errors.As(err, new(*faultError))
}

// NewOutcome returns the outcome of a bundle whose case has no cause because of an error.
func NewOutcome(dir, was string, err error) *Outcome {
	o := &Outcome{Bundle: dir, Was: was}
	var unstable *unstableError
	switch {
	case errors.As(err, &unstable):
		o.Now, o.Differed, o.Runs = bundle.Unstable, unstable.Differed, unstable.Runs
	case errors.As(err, new(*faultError)):
		o.Now = oracle.Fault.String()
	default:
		o.Problem = printable.Error(err)
	}
	return o
}

// Triage looks anew for the cause of the case in a bundle, with fresh evidence. The error
// is in the outcome, too. may returns an error if the units of the bundle must not be
// opened, which runs the commands that it names; nil: they may. note gets a warning, or "", if
// another version made the bundle; it may be nil. noInfer is that of fuzz.Config.
func Triage(ctx context.Context, dir string, noInfer bool, may func(m *corpus.Mismatch) error, note func(string)) (*Outcome, error) {
	b, err := corpus.ReadBundle(dir)
	if err == nil && may != nil {
		err = may(&b.Mismatch)
	}
	if err != nil {
		return NewOutcome(dir, "", err), err
	}
	bundle.Notes(b, note)
	was := b.Mismatch.Bucket
	f, err := examine(ctx, b, dir, noInfer)
	if IsFinding(err) {
		return NewOutcome(dir, was, err), nil
	}
	if err != nil {
		return NewOutcome(dir, was, err), err
	}
	o := &Outcome{Bundle: dir, Was: was, Now: f.Bucket, Changes: bundle.Changes(f.Mismatch)}
	if d := f.Mismatch.Defect; d != nil {
		o.Defect = readable.Converted(f.Mismatch.Formats, bundle.DefectText(d))
	}
	return o, nil
}

// Confirmed reports whether the primary cause is still the bundle's. Bundles of earlier
// versions list all labels; only the primary one is compared.
func (o *Outcome) Confirmed() bool {
	was, _, _ := strings.Cut(o.Was, ":")
	return o.Was == o.Now || string(triage.PrimaryIn(was)) == o.Now
}

// Write writes the bundle and, indented below it, the outcome.
func (o *Outcome) Write(w io.Writer, width int) {
	now := o.Now
	if o.Now == bundle.Unstable {
		now = bundle.UnstableText(o.Differed, o.Runs)
	}
	var text string
	switch {
	case o.Problem != "":
		text = o.Problem
	case o.Confirmed():
		text = "confirmed: " + now
	default:
		text = "was " + o.Was + ", now " + now
	}
	if len(o.Changes) > 0 {
		text += " (" + readable.Changes(o.Changes, 4) + ")"
	}
	if o.Defect != "" {
		text += ", of " + o.Defect
	}
	const indent = 2
	fmt.Fprintln(w, o.Bundle)
	for _, l := range readable.Wrap(text, width-indent) {
		fmt.Fprintf(w, "%*s%s\n", indent, "", l)
	}
}

// Minimize explains and shrinks the case that a bundle was made of, and writes the new bundle
// to a directory, which may be that of the old one. It runs the commands that the bundle names
// as targets: the caller checks them first. The error is fuzz.ErrAgree if the two sides agree
// now, and IsFinding if the case is none that can be minimized; then nothing is written. noInfer is
// that of fuzz.Config.
func Minimize(ctx context.Context, b *corpus.Bundle, dir, out string, noInfer bool) (*fuzz.Case, error) {
	m := &b.Mismatch
	f, err := examine(ctx, b, dir, noInfer)
	if err != nil {
		return nil, err
	}
	n := f.Mismatch
	n.Origin, n.A.Target, n.B.Target = m.Origin, m.A.Target, m.B.Target
	return f, bundle.Write(out, n, bundle.Tiles(b))
}

// examine explains and shrinks a bundle's case from the beginning. A case that was unstable, or on
// which a target failed, is asked first as by mmafuzz replay.
func examine(ctx context.Context, b *corpus.Bundle, dir string, noInfer bool) (*fuzz.Case, error) {
	var err error
	switch b.Mismatch.Bucket {
	case bundle.Unstable:
		err = stillUnstable(ctx, b, dir)
	case oracle.Fault.String():
		err = stillFails(ctx, b, dir)
	}
	if err != nil {
		return nil, err
	}
	m := bundle.Local(&b.Mismatch, dir)
	dot, err := mma.ParseDot(m.Formats, m.K, false, strings.Fields(cmp.Or(m.Found, m.Case)))
	if err != nil {
		return nil, err
	}
	ua, err := bundle.Unit(m, "a")
	if err != nil {
		return nil, err
	}
	ub, err := bundle.Unit(m, "b")
	if err != nil {
		return nil, err
	}
	policy := bundle.Policy(m)
	f, err := fuzz.TriageCase(ctx, fuzz.Config{Seed: m.Origin.Seed, NaN: &policy.NaN, Zero: &policy.Zero, Workers: 1, NoInfer: noInfer,
		Pairs: []devices.Pair{{A: devices.WithK(ua, m.K), B: devices.WithK(ub, m.K), TargetA: m.A.Target, TargetB: m.B.Target, K: m.K}}}, dot)
	if err == nil && f.Bucket == fuzz.Unstable {
		return nil, &unstableError{f.Differed, f.Of}
	}
	return f, err
}

// stillFails returns a *faultError if a target still fails on the input of a bundle.
func stillFails(ctx context.Context, b *corpus.Bundle, dir string) error {
	r, err := bundle.Replay(ctx, b, dir)
	if err != nil {
		return err
	}
	if what := cmp.Or(r.FaultA, r.FaultB); what != "" {
		return &faultError{what}
	}
	return nil
}

// stillUnstable returns an error that says so if the case of an unstable bundle changes again,
// or does not differ any more.
func stillUnstable(ctx context.Context, b *corpus.Bundle, dir string) error {
	r, err := bundle.Replay(ctx, b, dir)
	switch {
	case err != nil:
		return err
	case !r.Differ():
		return fmt.Errorf("%w in all of %d runs", fuzz.ErrAgree, r.Runs)
	case r.Changed():
		return &unstableError{r.Differed, r.Runs}
	}
	return nil
}
