package kernel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// DefaultChecks is the number of elements on which a kernel is validated.
const DefaultChecks = 1_000_000

// Options of an inference.
type Options struct {
	Seed    uint64
	Checks  int // elements on which a kernel is validated; 0: DefaultChecks
	Workers int
	Policy  oracle.Policy
	Show    func(Progress)
}

// Progress is how far an inference is.
type Progress struct {
	Phase    string
	Products int // that were asked
}

// Verdict is what came out of an inference.
type Verdict string

// The verdicts.
const (
	Found       Verdict = "found"
	Unexplained Verdict = "unexplained"
	Varies      Verdict = "varies" // from run to run
)

// Result is what an inference has found.
type Result struct {
	Verdict  Verdict          `json:"verdict"`
	Shape    schedule.Shape   `json:"shape"`
	Kernel   *schedule.Kernel `json:"kernel,omitempty"`
	Why      string           `json:"why,omitempty"` // there is none
	Witness  *Witness         `json:"witness,omitempty"`
	Fields   []Field          `json:"fields,omitempty"`
	Elements []int            `json:"elements,omitempty"` // of D, by schedule
	Products int              `json:"products"`           // that were asked
	// Validated is how many elements of D were compared in the end, of ValidatedProducts
	// that had no part in the search.
	Validated         int      `json:"validated"`
	ValidatedProducts int      `json:"validated_products"`
	Kinds             []string `json:"kinds,omitempty"` // of matrices that they come from
}

// Witness is an element that is not explained, with its row of A and column of B as codes.
type Witness struct {
	Row    int      `json:"row"`
	Column int      `json:"column"`
	Kind   string   `json:"kind"` // of matrices
	A      []string `json:"a"`
	B      []string `json:"b"`
	D      string   `json:"d"`
	Model  string   `json:"model"` // what the nearest schedule gives
}

func (w *Witness) String() string {
	return fmt.Sprintf("element (%d,%d) of %s matrices is %s, the nearest schedule gives %s", w.Row, w.Column, w.Kind, w.D, w.Model)
}

// witness returns an element of a sample.
func (b *box) witness(atRow, atColumn, row, column int, s *sample, model []byte) *Witness {
	codes := func(from []byte, line, w int) (all []string) {
		for k := range s.K {
			all = append(all, fmt.Sprintf("%0*x", 2*w, mma.Load(from, w, line*s.K+k)))
		}
		return all
	}
	n, w := row*s.N+column, b.D.Width()
	code := func(d []byte) string { return fmt.Sprintf("%0*x", 2*w, mma.Load(d, w, n)) }
	return &Witness{atRow, atColumn, kinds[s.kind], codes(s.a, row, b.A.Width()), codes(s.b, column, b.B.Width()), code(s.d), code(model)}
}

// loop is an inference.
type loop struct {
	*box
	o     Options
	judge *judge
	phase string
}

func (l *loop) enter(format string, args ...any) {
	l.phase = fmt.Sprintf(format, args...)
	l.progress()
}

func (l *loop) progress() {
	if l.o.Show != nil {
		l.o.Show(Progress{l.phase, l.products})
	}
}

// rounds is how often elements that differ in validation may become classes of their own.
const rounds = 4

// Seeds of what is drawn, so that a verdict rests on inputs by which nothing was chosen.
const (
	seedClasses = 1 << 32 * (1 + iota)
	seedSamples
	seedValidation
)

// Infer finds the kernel of a unit whose tiles of M x N with its K are matrix products. An
// error is trouble; what cannot be explained is a Result.
func Infer(ctx context.Context, u devices.Unit, s schedule.Shape, o Options) (*Result, error) {
	b, err := newBox(u, s)
	if err != nil {
		return nil, err
	}
	if o.Checks == 0 {
		o.Checks = DefaultChecks
	}
	l := &loop{box: b, o: o, judge: &judge{o.Workers, b.D, oracle.NewComparer(b.D, o.Policy)}}
	b.show = l.progress
	r := &Result{Shape: s}
	err = l.run(ctx, r)
	var varies *variesError
	var unexplained *unexplainedError
	if errors.As(err, &unexplained) { // unless its results change
		if _, again := l.classify(ctx, o.Seed+seedClasses, len(kinds), 16); again != nil {
			err = again
		}
	}
	r.Products = l.products
	switch {
	case errors.As(err, &varies):
		r.Verdict, r.Why = Varies, varies.Error()
	case errors.As(err, &unexplained):
		r.Verdict, r.Why, r.Witness = Unexplained, unexplained.What, unexplained.Witness
	case err != nil:
		return nil, err
	default:
		r.Verdict = Found
	}
	if r.Verdict != Found {
		r.Kernel, r.Fields = nil, nil
	}
	return r, nil
}

func (l *loop) run(ctx context.Context, r *Result) error {
	l.enter("telling elements apart")
	classes, err := l.classify(ctx, l.o.Seed+seedClasses, 2, 3) // flat and spread
	if err != nil {
		return err
	}
	findings := map[*class]*finding{}
	for round := range uint64(rounds) {
		for n, c := range classes {
			if findings[c] == nil {
				if findings[c], err = l.explain(ctx, c, l.o.Seed+seedSamples+round<<16+uint64(n)); err != nil {
					return err
				}
			}
		}
		r.Kernel, r.Elements = l.kernel(classes, findings)
		wrong, err := l.validate(ctx, r, round)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			r.Fields = l.fields(ctx, r.Kernel, classes, findings)
			return nil
		}
		if classes = l.apart(classes, wrong); round == rounds-1 || len(classes) == len(findings) {
			first := wrong[slices.Min(positionsOf(wrong))]
			return &unexplainedError{fmt.Sprintf("%d elements give other results than the schedule that was found for them", len(wrong)), first.Witness}
		}
	}
	return nil
}

func positionsOf(wrong map[int]*counter) (all []int) {
	for p := range wrong {
		all = append(all, p)
	}
	return all
}

// counter is an element that a kernel does not give.
type counter struct {
	*Witness
	sample *sample
}

// apart makes classes of elements that differ from what explains their class. What explains
// them has to explain how they differed.
func (l *loop) apart(classes []*class, wrong map[int]*counter) (all []*class) {
	for _, c := range classes {
		var others, rest []int
		for _, p := range c.positions {
			if wrong[p] != nil {
				others = append(others, p)
			} else {
				rest = append(rest, p)
			}
		}
		if len(others) == 0 || len(rest) == 0 { // nothing differs, or everything
			all = append(all, c)
			continue
		}
		c.positions = rest
		c.rectangle(l.N)
		own := &class{positions: others, counters: slices.Clone(c.counters)}
		for _, p := range others {
			own.counters = append(own.counters, wrong[p].sample)
		}
		own.rectangle(l.N)
		all = append(all, own, c)
	}
	slices.SortStableFunc(all, func(x, y *class) int { return len(x.positions) - len(y.positions) })
	return all
}

// kernel puts what explains the classes together: the largest class last, everywhere else.
func (l *loop) kernel(classes []*class, findings map[*class]*finding) (*schedule.Kernel, []int) {
	exactly := func(n int) schedule.Set { return schedule.Set{{First: n, Last: n, Step: 1}} }
	last := findings[classes[len(classes)-1]]
	k := &schedule.Kernel{Unit: last.schedule.Unit, When: schedule.When{M: exactly(l.M), N: exactly(l.N), K: exactly(l.K)}}
	var sizes []int
	for n, c := range classes {
		s := findings[c].schedule
		if n < len(classes)-1 {
			s.Where = c.where(l.N)
		}
		if e := findings[c].epilogue; e != nil { // a cast, which changes no result of the others
			k.Epilogue = e
		}
		if reflect.DeepEqual(s.Unit, k.Unit) {
			s.Unit = nil
		}
		k.Schedules = append(k.Schedules, s)
		sizes = append(sizes, len(c.positions))
	}
	return k, sizes
}
