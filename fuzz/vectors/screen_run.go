package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ScreenWrong is a wrong result of a screened unit.
type ScreenWrong struct {
	Time   string `json:"time"`  // RFC 3339
	Input  int    `json:"input"` // 1 is the first
	Tile   int    `json:"tile"`
	Row    int    `json:"row"`
	Column int    `json:"column"`
	Dot    string `json:"dot"`
	Want   string `json:"want"`
	Got    string `json:"got"`
	Bits   []int  `json:"bits"` // that are wrong, 0 is the lowest
}

// Write writes the result for people, in a number of columns.
func (r *ScreenWrong) Write(w io.Writer, width int) {
	fmt.Fprint(w, readable.Hanging(fmt.Sprintf("%s  tile %d row %d column %d, input %d: %s gives %s, expected %s: bits %s", r.Time, r.Tile, r.Row, r.Column,
		r.Input, r.Dot, r.Got, r.Want, strings.Trim(fmt.Sprint(r.Bits), "[]")), width))
}

// Screened is what a unit did on the inputs.
type Screened struct {
	Passes       int           `json:"passes"` // of all inputs in all lanes
	Lanes        int           `json:"lanes"`
	Results      uint64        `json:"results"`
	Wrong        uint64        `json:"wrong"`
	WrongLanes   int           `json:"wrong_lanes"`
	Microseconds float64       `json:"microseconds"` // that the unit took for a pass
	Speeds       []ScreenSpeed `json:"speeds"`
}

// ScreenSpeed is how many of the random faults of all lanes the first inputs kill, for each
// microsecond that they take the unit.
type ScreenSpeed struct {
	Inputs int     `json:"inputs"`
	Screen float64 `json:"screen"`
	Normal float64 `json:"normal"`
	Raw    float64 `json:"raw"`
}

// Write writes the outcome for people, in a number of columns.
func (r *Screened) Write(w io.Writer, width int) {
	fmt.Fprint(w, readable.Hanging(fmt.Sprintf("%s results in %s, times all inputs: %d, %.3g µs each time: %s wrong, in %s", readable.Thousands(r.Results), readable.Plural(r.Lanes, "lane"),
		r.Passes, r.Microseconds, readable.Thousands(r.Wrong), readable.Plural(r.WrongLanes, "lane")), width))
	if len(r.Speeds) == 0 {
		return
	}
	fmt.Fprint(w, readable.Hanging("At this rate the first inputs kill, of the random faults of all lanes, in a microsecond:", width))
	t := readable.Table{Width: width, Head: true, Right: map[int]bool{0: true, 1: true, 2: true, 3: true}, Rows: [][]string{{"INPUTS", "SCREEN", "NORMAL", "RAW"}}}
	for _, v := range r.Speeds {
		t.Add(fmt.Sprint(v.Inputs), fmt.Sprintf("%.4g", v.Screen), fmt.Sprintf("%.4g", v.Normal), fmt.Sprintf("%.4g", v.Raw))
	}
	t.Write(w, nil)
}

// speeds are those of a unit that takes a time for a pass.
func (s *Screen) speeds(r *Screened) []ScreenSpeed {
	all := []ScreenSpeed{}
	if r.Microseconds <= 0 {
		return all
	}
	for _, rate := range s.Rates {
		each := float64(s.Random*r.Lanes) / 100 / (r.Microseconds * float64(rate.Inputs) / float64(len(s.dots)))
		all = append(all, ScreenSpeed{rate.Inputs, rate.Screen * each, rate.Normal * each, rate.Raw * each})
	}
	return all
}

// Screening says how a unit is screened.
type Screening struct {
	Time   time.Duration // at least; every input is run once, however short it is
	Target string        // the unit's name
	File   string        // keeps what was done, so that the next Run goes on; "" for none
	Wrong  func(*ScreenWrong) error
}

// screenLog is the file of a Screening.
type screenLog struct {
	Inputs  string  `json:"inputs"` // a digest of them and of their results
	Target  string  `json:"target"`
	Seconds float64 `json:"seconds"` // that the screening took
	Busy    float64 `json:"busy"`    // microseconds of the unit in whole passes
	Screened
	Wrongs   []ScreenWrong `json:"wrongs"`    // that were shown
	BadLanes []int         `json:"bad_lanes"` // ascending
}

// screenSaved is the time after which the file is written again.
const screenSaved = 10 * time.Second

// digest identifies the inputs and their results.
func (s *Screen) digest() string {
	h := sha256.New()
	fmt.Fprintln(h, s.Instruction)
	for n, d := range s.dots {
		fmt.Fprintln(h, mma.FormatDot(s.inst.Formats, d), s.want[n])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Check reports whether the file can be of this screening.
func (o *Screening) Check() error {
	_, err := o.read()
	return err
}

// read returns what the file has, nil if it is not there.
func (o *Screening) read() (*screenLog, error) {
	if o.File == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var old screenLog
	if err := strictjson.UnmarshalKnown(text, &old, "object"); err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	if old.Target != o.Target {
		return nil, fmt.Errorf("%s is of the target %s, not of %s", o.File, old.Target, o.Target)
	}
	return &old, nil
}

// resume returns what a file has, or what a screening begins with.
func (s *Screen) resume(o *Screening, lanes int) (*screenLog, error) {
	inputs := s.digest()
	old, err := o.read()
	switch {
	case err != nil:
		return nil, err
	case old == nil:
		return &screenLog{Inputs: inputs, Target: o.Target, Screened: Screened{Lanes: lanes}}, nil
	case old.Inputs != inputs:
		return nil, fmt.Errorf("%s is of other inputs than those of %s", o.File, s.Instruction)
	case old.Lanes != lanes:
		return nil, fmt.Errorf("%s is of %s, and %s has %d", o.File, readable.Plural(old.Lanes, "lane"), o.Target, lanes)
	case old.Passes < 0 || !(old.Seconds >= 0) || !(old.Busy >= 0) || len(old.Wrongs) > screenShown ||
		!slices.IsSorted(old.BadLanes) || len(old.BadLanes) > 0 && (old.BadLanes[0] < 0 || old.BadLanes[len(old.BadLanes)-1] >= lanes):
		return nil, fmt.Errorf("%s: its numbers are impossible", o.File)
	}
	return old, nil
}

// Run gives a unit the inputs again and again for a time, or until ctx ends. All outputs of a
// tile, and as many tiles as the unit wants, get the same input at a time, so that every lane
// computes it. Wrong is called for the first wrong result of each lane and input, as long as
// these are not too many.
func (s *Screen) Run(ctx context.Context, u devices.Unit, o *Screening) (*Screened, error) {
	f, m, n := s.inst.Formats, max(1, s.inst.M.Min), max(1, s.inst.N.Min)
	shape := mma.Shape{M: m, N: n, K: s.inst.K, Tiles: max(1, devices.BatchSize(u)/(m*n))}
	batches := make([]*mma.Batch, len(s.dots))
	for k, d := range s.dots {
		batches[k] = mma.NewBatch(f, shape)
		for o := range batches[k].Dots() {
			batches[k].Set(o, d)
		}
	}
	l, err := s.resume(o, batches[0].Dots())
	if err != nil {
		return nil, err
	}
	began := time.Now().Add(-time.Duration(l.Seconds * float64(time.Second)))
	save := func() error {
		l.Seconds = time.Since(began).Seconds()
		l.Microseconds, l.WrongLanes = l.Busy/float64(max(1, l.Passes)), len(l.BadLanes)
		l.Speeds = s.speeds(&l.Screened)
		if o.File == "" {
			return nil
		}
		text, err := json.Marshal(l)
		return errors.Join(err, corpus.ReplaceFile(o.File, text))
	}
	saved := time.Now()
	for err == nil && (time.Since(began) < o.Time || l.Passes == 0) {
		if err = s.pass(ctx, u, o, l, batches); err == nil && time.Since(saved) > screenSaved {
			err, saved = save(), time.Now()
		}
	}
	return &l.Screened, errors.Join(err, save())
}

// pass gives a unit all inputs once.
func (s *Screen) pass(ctx context.Context, u devices.Unit, o *Screening, l *screenLog, batches []*mma.Batch) error {
	w, m, n := s.inst.D.Width(), batches[0].M, batches[0].N
	out := make([]byte, l.Lanes*w)
	busy := time.Duration(0)
	for k, in := range batches {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		began := time.Now()
		if err := u.Run(ctx, in, out); err != nil {
			return err
		}
		busy += time.Since(began)
		l.Results += uint64(l.Lanes)
		for at := range l.Lanes {
			got := mma.Load(out, w, at)
			if got == s.want[k] {
				continue
			}
			l.Wrong++
			if i, found := slices.BinarySearch(l.BadLanes, at); !found {
				l.BadLanes = slices.Insert(l.BadLanes, i, at)
			}
			seen := slices.ContainsFunc(l.Wrongs, func(r ScreenWrong) bool { return r.Input == k+1 && (r.Tile*m+r.Row)*n+r.Column == at })
			if seen || len(l.Wrongs) == screenShown {
				continue
			}
			r := s.wrong(k, at, m, n, got)
			l.Wrongs = append(l.Wrongs, *r)
			if err := o.Wrong(r); err != nil {
				return err
			}
		}
	}
	l.Passes++
	l.Busy += float64(busy.Nanoseconds()) / 1000
	return nil
}

func (s *Screen) wrong(input, output, m, n int, got uint64) *ScreenWrong {
	f, want := s.inst.D, s.want[input]
	r := &ScreenWrong{Time: time.Now().UTC().Format(time.RFC3339Nano), Input: input + 1, Tile: output / (m * n), Row: output / n % m, Column: output % n,
		Dot: mma.FormatDot(s.inst.Formats, s.dots[input]), Want: mma.FormatCode(f, want), Got: mma.FormatCode(f, got)}
	for rest := want ^ got; rest != 0; rest &= rest - 1 {
		r.Bits = append(r.Bits, bits.TrailingZeros64(rest))
	}
	return r
}
