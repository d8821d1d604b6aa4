package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
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
	Verdict Verdict          `json:"verdict"`
	Shape   schedule.Shape   `json:"shape"`
	Kernel  *schedule.Kernel `json:"kernel,omitempty"`
	Why     string           `json:"why,omitempty"` // there is none
	// Restricted says for which operands alone the kernel was found: those with others were not explained.
	Restricted string   `json:"restricted,omitempty"`
	Witness    *Witness `json:"witness,omitempty"`
	Beta       float64  `json:"beta,omitempty"` // by which C is multiplied, where the kernel's epilogue says that it is
	Fields     []Field  `json:"fields,omitempty"`
	Elements   []int    `json:"elements,omitempty"` // of D, by schedule
	Products   int      `json:"products"`           // that were asked
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
	SA     []string `json:"sa,omitempty"` // their scales, if they have some
	SB     []string `json:"sb,omitempty"`
	C      string   `json:"c,omitempty"`
	D      string   `json:"d"`
	Model  string   `json:"model,omitempty"` // what the nearest schedule gives
	// Where D depends on them: the other rows of A and columns of B that are not zeros, and the result
	// where these are zeros, too.
	Others []Line `json:"others,omitempty"`
	Alone  string `json:"alone,omitempty"`
}

func (w *Witness) String() string {
	if w.Alone != "" {
		return fmt.Sprintf("element (%d,%d) of %s matrices is %s, and %s where all other rows of A and columns of B are zeros", w.Row, w.Column, w.Kind, w.D, w.Alone)
	}
	return fmt.Sprintf("element (%d,%d) of %s matrices is %s, the nearest schedule gives %s", w.Row, w.Column, w.Kind, w.D, w.Model)
}

// witness returns an element of a sample.
func (b *box) witness(atRow, atColumn, row, column int, s *sample, model []byte) *Witness {
	n, w := row*s.N+column, b.D.Width()
	code := func(d []byte) string { return fmt.Sprintf("%0*x", 2*w, mma.Load(d, w, n)) }
	of := &Witness{Row: atRow, Column: atColumn, Kind: kindName(s.kind), D: code(s.d), Model: code(model)}
	of.of(b, b.lines(s.matrices, row, column))
	if len(s.c) > 0 {
		of.C = fmt.Sprintf("%0*x", 2*b.C.Width(), mma.Load(s.c, b.C.Width(), n))
	}
	return of
}

// of takes the row of A and the column of B.
func (w *Witness) of(b *box, one matrices) {
	w.A, w.B = codesOf(one.a, b.A.Width()), codesOf(one.b, b.B.Width())
	w.SA, w.SB = codesOf(one.sa, b.Scale.Width()), codesOf(one.sb, b.Scale.Width())
}

// loop is an inference.
type loop struct {
	*box
	o     Options
	judge *judge
	phase string
	// changed says of an operand of the class that is looked at that it is multiplied as another number, by no
	// cast that is known; "": none is.
	changed string
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
	seedOthers
	seedAddends
	seedOpen
)

// Infer finds the kernel of a unit whose tiles of M x N with its K are matrix products. An
// error is trouble; what cannot be explained is a Result.
func Infer(ctx context.Context, u devices.Unit, s schedule.Shape, o Options) (*Result, error) {
	b, err := newBox(u, s)
	if err != nil {
		return nil, err
	}
	r, err := b.infer(ctx, o)
	certain := errors.Is(err, errNarrow)
	if !certain && (err != nil || r.Verdict != Unexplained || len(b.fits) == 0) {
		return r, err
	}
	found, err := b.inferNarrowed(ctx, o)
	if found != nil || err != nil || !certain {
		return cmp.Or(found, r), err
	}
	b.fits = nil
	return b.infer(ctx, o)
}

// infer is Infer for results as they are; errNarrow: they are those of a narrower format.
func (b *box) infer(ctx context.Context, o Options) (*Result, error) {
	if o.Checks == 0 {
		o.Checks = DefaultChecks
	}
	l := &loop{box: b, o: o, judge: &judge{workers: o.Workers, id: b.D, scale: b.Scale, c: b.C, same: oracle.NewComparer(b.D, o.Policy)}}
	b.show = l.progress
	r := &Result{Shape: b.Shape}
	err := l.run(ctx, r)
	if again := l.restricted(ctx, err); again != nil {
		r, err = again, nil
	}
	var varies *variesError
	var unexplained *unexplainedError
	var depends *dependsError
	if errors.As(err, &unexplained) { // unless its results change, or are of other rows and columns
		if _, again := l.classify(ctx, o.Seed+seedClasses, len(kinds), 16); again != nil {
			err = again
		} else if other := l.others(ctx, unexplained.Witness); other != nil {
			err = other
		}
	}
	r.Products = l.products
	switch {
	case errors.As(err, &varies):
		r.Verdict, r.Why = Varies, varies.Error()
	case errors.As(err, &depends):
		r.Verdict, r.Why, r.Witness = Unexplained, depends.Error(), depends.Witness
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
	if l.certainlyNarrow() {
		return errNarrow
	}
	if err := l.askFactor(ctx, classes[len(classes)-1]); err != nil {
		return err
	}
	findings := map[*class]*finding{}
	for round := range uint64(rounds) {
		if classes, err = l.explainAll(ctx, classes, findings, round); err != nil {
			return err
		}
		r.Kernel, r.Elements = l.kernel(classes, findings)
		wrong, err := l.validate(ctx, r, round)
		if err != nil {
			return err
		}
		if len(wrong) == 0 {
			if r.Fields, wrong, err = l.fields(ctx, r.Kernel, classes, findings); err != nil {
				return err
			}
		}
		if len(wrong) == 0 {
			if l.C != fp.None {
				return l.addC(ctx, r)
			}
			return nil
		}
		if round == rounds-1 {
			first := wrong[slices.Min(positionsOf(wrong))]
			return &unexplainedError{What: fmt.Sprintf("%d elements give other results than the schedule that was found for them", len(wrong)), Witness: first.Witness}
		}
		if classes, err = l.apart(ctx, classes, wrong, findings); err != nil {
			return err
		}
	}
	return nil
}

// explainAll finds what explains the classes that have no finding. One that nothing explains is divided if
// its elements differ where the nearest schedule does.
func (l *loop) explainAll(ctx context.Context, classes []*class, findings map[*class]*finding, round uint64) ([]*class, error) {
	for n, divided := 0, 0; n < len(classes); {
		c := classes[n]
		if findings[c] != nil {
			n++
			continue
		}
		f, err := l.explain(ctx, c, l.o.Seed+seedSamples+round<<16+uint64(n))
		if err == nil {
			findings[c] = f
			continue
		}
		var nothing *unexplainedError
		if !errors.As(err, &nothing) || nothing.sample == nil || divided == retried {
			return nil, err
		}
		parts, other := l.divide(ctx, c, []*counter{{nothing.Witness, nothing.sample}})
		if other != nil {
			return nil, other
		}
		if len(parts) == 1 {
			return nil, err
		}
		divided++
		for _, part := range parts {
			part.rectangle(l.N)
		}
		classes = slices.Replace(classes, n, n+1, parts...)
	}
	slices.SortStableFunc(classes, func(x, y *class) int { return len(x.positions) - len(y.positions) })
	return classes, nil
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

// retried is how many of the elements of a class that differed are computed everywhere, at most.
const retried = 16

// apart divides classes in which elements differ from what explains their class. What differed is asked
// again at every element of the class: those that give the same results are computed alike, and where the
// schedule that was found gives other ones, they need another.
func (l *loop) apart(ctx context.Context, classes []*class, wrong map[int]*counter, findings map[*class]*finding) (all []*class, err error) {
	for _, c := range classes {
		var some []*counter
		for _, p := range c.positions {
			if wrong[p] != nil && len(some) < retried {
				some = append(some, wrong[p])
			}
		}
		if len(some) == 0 {
			all = append(all, c)
			continue
		}
		parts, err := l.divide(ctx, c, some)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if f := findings[c]; l.judge.right(ctx, f.kernel(), part.counters) {
				findings[part] = f
			}
		}
		if !slices.ContainsFunc(parts, func(part *class) bool { return findings[part] == nil }) { // it depends on other elements
			if parts = c.without(wrong); len(parts) > 1 {
				findings[parts[1]] = findings[c]
			}
		}
		for _, part := range parts {
			part.rectangle(l.N)
		}
		all = append(all, parts...)
	}
	slices.SortStableFunc(all, func(x, y *class) int { return len(x.positions) - len(y.positions) })
	return all, nil
}

// divide asks what differed at every element of a class, and returns classes of those with the same results.
func (l *loop) divide(ctx context.Context, c *class, some []*counter) (parts []*class, err error) {
	w := l.D.Width()
	results := make([]string, l.M*l.N)
	if err := l.each(ctx, len(some), func(t int, m matrices) {
		some[t].sample.copyTo(m)
		l.same(m, true, true)
	}, func(_ int, _ matrices, d []byte) {
		for i := range results {
			results[i] += string(d[i*w:][:w])
		}
	}); err != nil {
		return nil, err
	}
	of := map[string]*class{}
	for _, p := range c.positions {
		part := of[results[p]]
		if part == nil {
			part = &class{counters: slices.Clip(c.counters)}
			for t, x := range some {
				s := *x.sample
				s.d = []byte(results[p][t*w:][:w])
				part.counters = append(part.counters, &s)
			}
			of[results[p]] = part
			parts = append(parts, part)
		}
		part.positions = append(part.positions, p)
	}
	return parts, nil
}

// without takes elements that differed out of a class: they come first, if there are others.
func (c *class) without(wrong map[int]*counter) []*class {
	own, rest := &class{counters: slices.Clip(c.counters)}, &class{counters: c.counters}
	for _, p := range c.positions {
		if wrong[p] == nil {
			rest.positions = append(rest.positions, p)
			continue
		}
		own.positions = append(own.positions, p)
		own.counters = append(own.counters, wrong[p].sample)
	}
	if len(rest.positions) == 0 {
		return []*class{own}
	}
	return []*class{own, rest}
}

// kernel puts what explains the classes together: the largest class last, everywhere else.
func (l *loop) kernel(classes []*class, findings map[*class]*finding) (*schedule.Kernel, []int) {
	exactly := func(n int) schedule.Set { return schedule.Set{{First: n, Last: n, Step: 1}} }
	last := findings[classes[len(classes)-1]]
	k := &schedule.Kernel{ScaleA: last.scales, ScaleB: last.scales, Dequantize: last.dequantize, Unit: last.schedule.Unit, When: schedule.When{M: exactly(l.M), N: exactly(l.N), K: exactly(l.K)}}
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
