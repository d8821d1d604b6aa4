// Package bench measures on this machine how fast the models, the targets and the whole
// loop of a campaign are, and whether the loop's memory grows. It is behind mmafuzz bench.
//
// The API of this package is not promised: it may change in any version.
package bench

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
)

// Sections are the parts of a Bench, in order: every operation of the models on each
// path that this processor has; the targets that this machine has, and how much of the time
// passes outside of the computation itself; the whole loop of a campaign (generate, evaluate
// two units, compare, take features).
var Sections = []string{"models", "targets", "loop"}

// Options say what is measured.
type Options struct {
	// Only matches the names of the measurements to make; nil: all.
	Only *regexp.Regexp
	// Runs is how often each measurement is repeated; the median counts. Time is about
	// how long all of them take.
	Runs int
	Time time.Duration
	// Target, if not nil, is measured on Unit in place of the targets that are found.
	Target devices.Target
	Unit   devices.Unit
	// Child starts a child process that serves sim:hopper; nil: none is measured.
	Child func(name string) (devices.Target, error)
}

// Measurement is one measurement.
type Measurement struct {
	Name    string         `json:"name"`  // SECTION/...
	Unit    string         `json:"unit"`  // ns/tile or dots/s
	Clock   string         `json:"clock"` // thread or wall
	Runs    int            `json:"runs"`
	Median  float64        `json:"median"`
	Low     float64        `json:"low"`  // quartiles
	High    float64        `json:"high"` //
	Cycles  float64        `json:"cycles_per_product,omitempty"`
	Kernel  string         `json:"kernel,omitempty"`
	Outside *float64       `json:"outside,omitempty"` // part of the time outside of the computation itself
	Shape   string         `json:"shape,omitempty"`
	series  measure.Series // of Unit
	group   string         // row of the table
	column  string
}

// fill sets the fields that follow from the series.
func (m *Measurement) fill() {
	m.Runs, m.Median = len(m.series), m.series.Median()
	m.Low, m.High = m.series.Quartiles()
}

// benchmark is a measurement that is to be made.
type benchmark struct {
	name string
	run  func(context.Context, measure.Timing) (*Measurement, error)
}

// Bench is a list of measurements that are to be made.
type Bench struct {
	Options
	Machine *measure.Machine // this one
	Notes   []string         // what cannot be measured, and why
	all     []benchmark
	opened  []devices.Target
}

// ErrNoMatch reports that there is nothing to measure.
var ErrNoMatch = errors.New("no measurement has a name that matches")

// New prepares the measurements of sections and opens targets. The caller must call Close.
func New(sections []string, o Options) (*Bench, error) {
	b := &Bench{Options: o, Machine: measure.Here()}
	for _, s := range Sections {
		if !slices.Contains(sections, s) {
			continue
		}
		var some []benchmark
		var err error
		switch s {
		case "models":
			some, err = b.models()
		case "targets":
			some = b.targets()
		case "loop":
			some = b.loops()
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		for _, m := range some {
			if m.name = s + "/" + m.name; b.Only == nil || b.Only.MatchString(m.name) {
				b.all = append(b.all, m)
			}
		}
	}
	if len(b.all) == 0 {
		return nil, errors.Join(fmt.Errorf("%w %q", ErrNoMatch, b.Only), b.Close())
	}
	return b, nil
}

// Close closes the targets that New has opened.
func (b *Bench) Close() error {
	var errs []error
	for _, t := range b.opened {
		errs = append(errs, t.Close())
	}
	b.opened = nil
	return errors.Join(errs...)
}

// Names returns the names of all measurements.
func (b *Bench) Names() []string {
	var names []string
	for _, m := range b.all {
		names = append(names, m.name)
	}
	return names
}

// Run makes all measurements. It calls begin before each, with its number from 0, and done
// after it. With an error it returns the measurements made until then.
func (b *Bench) Run(ctx context.Context, begin func(n int, name string), done func(*Measurement) error) ([]*Measurement, error) {
	each := b.Time / time.Duration(len(b.all)*(b.Runs+3)) // 3 more, for finding out how many calls a run needs
	timing := measure.Timing{Runs: b.Runs, Each: min(max(each, 100*time.Microsecond), time.Second)}
	var results []*Measurement
	for n, m := range b.all {
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		begin(n, m.name)
		r, err := m.run(ctx, timing)
		if err != nil {
			return results, fmt.Errorf("%s: %w", m.name, err)
		}
		r.Name = m.name
		r.fill()
		results = append(results, r)
		if err := done(r); err != nil {
			return results, err
		}
	}
	return results, nil
}
