// Package invariance asks whether the result of a dot product depends on anything but its
// operands: the run, the request that it is part of, the size of its tile, its place there, its
// neighbours, and variables of the environment such as the number of threads. Users of
// libraries know one of these as batch invariance.
//
//	mmafuzz invariance "exec:python3 devices/exec/children/numpy_matmul.py --type f32 -k 64 --fit --size 17x17"
//	mmafuzz invariance "exec:./mine" --env OMP_NUM_THREADS=1,2,4
//
// A dot product alone, in a tile of one output, is what the others are compared with. In a tile
// it has the same operands, in all rows and columns, or in its own ones where neighbours are
// others. A difference is shrunk to the simplest dot product that shows it.
//
// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// invariance, an object for each question:
//
//	question    string   run, request, size, place, neighbours, or environment
//	depends     string   yes, no, or - if it was not asked
//	why         string?  why it was not asked
//	compared    number   results that were compared
//	differ      number   of these, those that differ
//	here        string?  of the smallest difference: how the dot product was asked
//	there       string?  and how it was asked the other time
//	input       string?  the dot product, as eval reads it
//	d_here      string?  its result here
//	d_there     string?  and there
//	kinds[][]   string?  of size and environment: those that gave equal results stand together
//
// The API of this package is not promised: it may change in any version.
package invariance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

const (
	mostOutputs   = 4096    // of a tile
	outputsOfSize = 1 << 14 // for all dot products in tiles of one size
	fewest        = 4       // dot products in the largest tiles
	shrinkQueries = 2000
)

// Answer is the answer to a question.
type Answer struct {
	Question string     `json:"question"`
	Depends  string     `json:"depends"`
	Why      string     `json:"why,omitempty"`
	Compared uint64     `json:"compared"`
	Differ   uint64     `json:"differ"`
	Here     string     `json:"here,omitempty"`
	There    string     `json:"there,omitempty"`
	Input    string     `json:"input,omitempty"`
	DHere    string     `json:"d_here,omitempty"`
	DThere   string     `json:"d_there,omitempty"`
	Kinds    [][]string `json:"kinds,omitempty"`

	apart string // how far the results are apart
}

// The answers.
const (
	Yes     = "yes"
	No      = "no"
	Unasked = "-"
)

// Questions asks a unit.
type Questions struct {
	// Open opens the unit: anew for "", and with a variable of the environment, NAME=VALUE.
	Open     func(setting string) (devices.Target, devices.Unit, error)
	Settings []string // for which it is opened
	Count    int      // dot products of each question
	Seed     uint64
	// NaN and Zero say how codes are compared; nil: as what is known of the unit says.
	NaN, Zero *oracle.Strictness
	Progress  func(what string) // before each question and each size; may be nil

	ctx    context.Context
	inst   *mma.Instruction
	policy oracle.Policy
	dots   []*mma.Dot
}

// arrangement is how a dot product is asked.
type arrangement struct {
	m, n       int // of its tile
	place      int // of its output in the tile
	neighbours string
	alone      bool // in a request of its own
	unit       devices.Unit
	setting    string
}

// Run asks all questions. An answer is given to answered as soon as it is there.
func (q *Questions) Run(ctx context.Context, answered func(*Answer) error) error {
	t, u, err := q.Open("")
	if err != nil {
		return err
	}
	defer func() { t.Close() }()
	q.ctx, q.inst = ctx, u.Instruction()
	q.policy = oracle.DefaultPolicy(q.inst.Unknown, q.inst.Unknown)
	if q.NaN != nil {
		q.policy.NaN = *q.NaN
	}
	if q.Zero != nil {
		q.policy.Zero = *q.Zero
	}
	q.draw()
	run := &Answer{Question: "run"}
	once := arrangement{m: 1, n: 1, unit: u}
	var first []uint64
	for n := range stability.Runs {
		if n == stability.Runs-1 { // the last one by another process
			if err := t.Close(); err != nil {
				return err
			}
			if t, u, err = q.Open(""); err != nil {
				return err
			}
			once.unit = u
		}
		codes, err := q.ask(once, q.dots)
		if err != nil {
			return err
		}
		if n == 0 {
			first = codes
			continue
		}
		if i := q.tell(run, first, codes); i >= 0 {
			q.witness(run, once, once, q.dots[i], first[i], codes[i])
		}
	}
	for _, ask := range []func(devices.Unit) (*Answer, error){
		func(devices.Unit) (*Answer, error) { return run, nil },
		q.requests, q.sizes, q.places, q.neighbours, q.environment,
	} {
		a, err := ask(u)
		if err != nil {
			return err
		}
		switch {
		case a.Why != "":
			a.Depends = Unasked
		case a.Differ > 0:
			a.Depends = Yes
		default:
			a.Depends = No
		}
		if err := answered(a); err != nil {
			return err
		}
		if a == run && run.Differ > 0 {
			return nil // no other answer would mean anything
		}
	}
	return nil
}

// draw draws the dot products: half of them as applications have them, the others by every
// generator in turn.
func (q *Questions) draw() {
	sp := gen.Spec{Formats: q.inst.Formats, K: q.inst.K}
	all := gen.All()
	typical := slices.IndexFunc(all, func(g gen.Generator) bool { return g.Name == "normal" })
	for i := range uint64(q.Count) {
		g := &all[typical]
		if i%2 == 1 {
			g = &all[i/2%uint64(len(all))]
		}
		q.dots = append(q.dots, g.Aimed(sp).Dot(sp, q.Seed, i))
	}
}

func (q *Questions) progress(what string) {
	if q.Progress != nil {
		q.Progress(what)
	}
}

// tell adds results that were asked for in two ways to an answer. It returns the index of the
// answer's first difference, -1 if that is not among them.
func (q *Questions) tell(a *Answer, x, y []uint64) int {
	first := -1
	for i := range x {
		a.Compared++
		if !q.differ(x[i], y[i]) {
			continue
		}
		if a.Differ++; a.Differ == 1 {
			first = i
		}
	}
	return first
}

func (q *Questions) differ(x, y uint64) bool {
	return oracle.Compare(q.inst.D, q.policy, x, y) != oracle.Same
}

// witness sets the witness of an answer.
func (q *Questions) witness(a *Answer, here, there arrangement, d *mma.Dot, x, y uint64) {
	f := q.inst.D.Get()
	a.Here, a.There, a.Input = here.words(), there.words(), mma.FormatDot(q.inst.Formats, d)
	a.DHere, a.DThere = mma.FormatCode(q.inst.D, x), mma.FormatCode(q.inst.D, y)
	a.apart = ""
	if f.Decode(x).Class != fp.NaN && f.Decode(y).Class != fp.NaN {
		a.apart = readable.Ulps(float64(f.Distance(x, y))) + " apart"
	}
}

// compare asks for dot products in two ways and adds the results to an answer. The witness of
// the first difference is shrunk.
func (q *Questions) compare(a *Answer, here, there arrangement, dots []*mma.Dot) error {
	x, err := q.ask(here, dots)
	if err != nil {
		return err
	}
	y, err := q.ask(there, dots)
	if err != nil {
		return err
	}
	i := q.tell(a, x, y)
	if i < 0 {
		return nil
	}
	q.witness(a, here, there, dots[i], x[i], y[i])
	return q.shrink(a, here, there, dots[i])
}

// shrink makes the witness of an answer as simple as it can be.
func (q *Questions) shrink(a *Answer, here, there arrangement, start *mma.Dot) error {
	q.progress("shrinking an input on which " + a.Question + " matters")
	small, err := evidence.Shrink(q.ctx, q.inst.Formats, start, func(_ context.Context, dots []*mma.Dot) ([]bool, error) {
		differ := make([]bool, len(dots))
		x, err := q.ask(here, dots)
		if err != nil {
			return differ, err
		}
		y, err := q.ask(there, dots)
		for i := range y {
			differ[i] = q.differ(x[i], y[i])
		}
		return differ, err
	}, minimize.Options{MaxQueries: shrinkQueries, BatchSize: 64})
	if flaky := new(minimize.FlakyError); errors.As(err, &flaky) || errors.Is(err, minimize.ErrStart) {
		return nil // it shows itself now and then: the input stays as it was
	}
	if err != nil {
		return err
	}
	x, err := q.ask(here, []*mma.Dot{small})
	if err != nil {
		return err
	}
	y, err := q.ask(there, []*mma.Dot{small})
	if err != nil {
		return err
	}
	q.witness(a, here, there, small, x[0], y[0])
	return nil
}

// requests asks for each dot product in a request of its own, the last one first.
func (q *Questions) requests(u devices.Unit) (*Answer, error) {
	a := &Answer{Question: "request"}
	q.progress("requests of one dot product")
	dots := slices.Clone(q.dots)
	slices.Reverse(dots)
	return a, q.compare(a, arrangement{m: 1, n: 1, unit: u}, arrangement{m: 1, n: 1, unit: u, alone: true}, dots)
}

// shapes returns the sizes of tiles that are tried, but for that of one output. Units that take
// any size are asked for up to 64 rows and columns.
func (q *Questions) shapes() []mma.Shape {
	i := *q.inst
	for _, r := range []*mma.Range{&i.M, &i.N} {
		if r.Min < 1 {
			*r = mma.Range{Min: 1, Max: 64, Step: 1}
		}
	}
	return slices.DeleteFunc(probe.TileSizes(&i, max(mostOutputs, i.M.Min*i.N.Min)), func(s mma.Shape) bool { return s.M*s.N == 1 })
}

// some returns as many dot products as are asked for in tiles of a size.
func (q *Questions) some(m, n int) []*mma.Dot {
	return q.dots[:min(len(q.dots), max(fewest, outputsOfSize/(m*n)))]
}

const oneOutput = "it takes one dot product at a time"

// sizes compares tiles of all sizes, at their first place, with a tile of one output.
func (q *Questions) sizes(u devices.Unit) (*Answer, error) {
	a := &Answer{Question: "size"}
	shapes := q.shapes()
	if len(shapes) == 0 {
		a.Why = oneOutput
		return a, nil
	}
	kinds := newKinds()
	alone := arrangement{m: 1, n: 1, unit: u}
	for _, s := range slices.Concat([]mma.Shape{{M: 1, N: 1}}, shapes) {
		there := arrangement{m: s.M, n: s.N, unit: u}
		q.progress("tiles of " + there.size())
		codes, err := q.ask(there, q.some(mostOutputs, 1))
		if err != nil {
			return nil, err
		}
		kinds.add(there.size(), codes)
		if err := q.compare(a, alone, there, q.some(s.M, s.N)); err != nil {
			return nil, err
		}
	}
	a.Kinds = kinds.lists()
	return a, nil
}

// places compares all places of tiles with the first one.
func (q *Questions) places(u devices.Unit) (*Answer, error) {
	a := &Answer{Question: "place"}
	shapes := q.shapes()
	if len(shapes) == 0 {
		a.Why = oneOutput
	}
	for _, s := range shapes {
		here := arrangement{m: s.M, n: s.N, unit: u}
		q.progress("all places of tiles of " + here.size())
		dots := q.some(s.M, s.N)
		codes, err := q.tiles(here, dots)
		if err != nil {
			return nil, err
		}
		size := s.M * s.N
		first := slices.Clone(codes)
		for i := range first {
			first[i] = codes[i-i%size]
		}
		i := q.tell(a, first, codes)
		if i < 0 {
			continue
		}
		there := here
		there.place = i % size
		q.witness(a, here, there, dots[i/size], first[i], codes[i])
		if err := q.shrink(a, here, there, dots[i/size]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// others are the neighbours of a dot product in a tile that are no copies of it: generators.
var others = []string{"normal", "raw", "special", "huge"}

// neighbours changes the neighbours of a dot product at the first and at the last place of tiles.
func (q *Questions) neighbours(u devices.Unit) (*Answer, error) {
	a := &Answer{Question: "neighbours"}
	shapes := q.shapes()
	if len(shapes) == 0 {
		a.Why = oneOutput
	}
	for _, s := range shapes {
		for _, place := range []int{0, s.M*s.N - 1} {
			here := arrangement{m: s.M, n: s.N, place: place, unit: u}
			q.progress("neighbours in tiles of " + here.size())
			for _, name := range others {
				there := here
				there.neighbours = name
				if err := q.compare(a, here, there, q.some(s.M, s.N)); err != nil {
					return nil, err
				}
			}
		}
	}
	return a, nil
}

// environment opens the unit with each setting, and compares all sizes with those of the first.
func (q *Questions) environment(devices.Unit) (*Answer, error) {
	a := &Answer{Question: "environment"}
	if len(q.Settings) < 2 {
		a.Why = "--env NAME=VALUE,VALUE gives a child variables of the environment"
		return a, nil
	}
	shapes := slices.Concat([]mma.Shape{{M: 1, N: 1}}, q.shapes())
	kinds := newKinds()
	var first devices.Unit
	for n, setting := range q.Settings {
		q.progress(setting)
		t, u, err := q.Open(setting)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", setting, err)
		}
		defer t.Close()
		if n == 0 {
			first = u
		}
		var all []uint64
		for _, s := range shapes {
			here := arrangement{m: s.M, n: s.N, unit: first, setting: q.Settings[0]}
			there := arrangement{m: s.M, n: s.N, unit: u, setting: setting}
			codes, err := q.ask(there, q.some(s.M, s.N))
			if err != nil {
				return nil, err
			}
			all = append(all, codes...)
			if n > 0 {
				if err := q.compare(a, here, there, q.some(s.M, s.N)); err != nil {
					return nil, err
				}
			}
		}
		kinds.add(setting, all)
	}
	a.Kinds = kinds.lists()
	return a, nil
}

// kinds collects what gave equal results.
type kinds struct {
	names map[string][]string // by the results
	order []string
}

func newKinds() *kinds { return &kinds{names: map[string][]string{}} }

func (k *kinds) add(name string, codes []uint64) {
	key := fmt.Sprint(codes)
	if k.names[key] == nil {
		k.order = append(k.order, key)
	}
	k.names[key] = append(k.names[key], name)
}

// lists returns the kinds, nil if there is only one.
func (k *kinds) lists() (all [][]string) {
	if len(k.order) < 2 {
		return nil
	}
	for _, key := range k.order {
		all = append(all, k.names[key])
	}
	return all
}

func (a arrangement) size() string { return fmt.Sprintf("%dx%d", a.m, a.n) }

// words says how a dot product was asked.
func (a arrangement) words() string {
	var w []string
	switch {
	case a.alone:
		w = append(w, "in a request of its own")
	case a.m*a.n == 1:
		w = append(w, "in a tile of its own")
	default:
		w = append(w, fmt.Sprintf("in a tile of %s, row %d, column %d", a.size(), a.place/a.n, a.place%a.n))
	}
	if a.neighbours != "" {
		w = append(w, "beside "+a.neighbours+" numbers")
	}
	if a.setting != "" {
		w = append(w, "with "+a.setting)
	}
	return strings.Join(w, ", ")
}
