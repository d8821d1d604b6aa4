package infer

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
)

// Stats counts what inference has asked of a unit, over all runs of an inference that was
// interrupted.
type Stats struct {
	Queries  int `json:"queries"`  // dot products
	Batches  int `json:"batches"`  // calls of the unit
	Repeated int `json:"repeated"` // dot products that were asked again, of Queries
	Resumed  int `json:"resumed"`  // dot products whose answers came from the journal, of Queries
	// Confirmed is how many of the resumed answers the unit was asked to confirm, not counted
	// in Queries. Denied is how many of these it did not confirm: only a unit that changes its
	// answers can come to a result with such (doubt.go).
	Confirmed int `json:"confirmed"`
	Denied    int `json:"denied,omitempty"`
	Failures  int `json:"failures"` // calls of the unit that failed, though it then answered each of their inputs alone
}

// Fault is an input on which the unit failed.
type Fault struct {
	Dot  *mma.Dot
	What string
}

// Unstable is the error of a unit that gave two answers to one input.
type Unstable struct {
	Dot           *mma.Dot
	First, Second uint64
	Asked         int    // inputs that were asked twice
	Changed       int    // inputs that had two answers
	How           string // what was different about the second time
	NaNs          bool   // all answers that changed are NaNs: only their codes differ
}

func (e *Unstable) Error() string {
	s := fmt.Sprintf("the unit gives other answers to %d of %d inputs when it is asked %s", e.Changed, e.Asked, e.How)
	if e.NaNs {
		s += "; all of them are NaNs with other codes, which comparing NaNs by class ignores"
	}
	return s
}

// errFaults ends inference: the unit fails on too many inputs to learn anything.
var errFaults = errors.New("the unit fails on too many inputs")

// A unit may fail on maxFaults inputs, or on one in oneFault of all that it was asked, if
// that is more.
const (
	maxFaults = 32
	oneFault  = 20
)

// maxBatch is the number of dot products in a call of the unit, at most.
const maxBatch = 1 << 14

// errBudget ends inference: all queries that were allowed are spent.
var errBudget = errors.New("the queries are spent")

// asker asks the unit under inference. Every question goes through it and, if there is
// one, through the journal.
type asker struct {
	*evidence.Evidence // knows the formats, K and what of a result counts
	unit               devices.Unit
	budget             int // queries; 0: no limit
	reserved           int // of these, which must not be asked yet
	log                *transcript
	stats              Stats
	faults             []Fault
	doubt              *doubt // nil: the unit has confirmed all answers of the journal that it was asked for

	failures []Failure
	row      int    // failed calls since the last one that did not fail
	asked    func() // called after every call
}

// ask returns the dot products on which the unit did not fail, and its results.
func (s *asker) ask(ctx context.Context, dots []*mma.Dot) (kept []*mma.Dot, want []uint64, err error) {
	for from := 0; from < len(dots); from += maxBatch {
		part := dots[from:min(from+maxBatch, len(dots))]
		codes, failed, err := s.answers(ctx, part)
		if err != nil {
			return nil, nil, err
		}
		for i, d := range part {
			if !slices.Contains(failed, i) {
				kept, want = append(kept, d), append(want, codes[i])
			}
		}
	}
	return kept, want, nil
}

// answers asks for one batch, or takes its answers from the journal.
func (s *asker) answers(ctx context.Context, dots []*mma.Dot) (codes []uint64, failed []int, err error) {
	b := s.Pack(dots, nil).Batch
	sum := sumOf(b)
	r, err := s.log.next(func(r *record) bool { return r.Ask != nil && r.Ask.Sum == sum && r.Ask.N == len(dots) })
	if err != nil {
		return nil, nil, err
	}
	if r == nil {
		if s.doubt != nil {
			return nil, nil, s.doubt.err
		}
		if r, err = s.live(ctx, b, dots, sum); err != nil {
			return nil, nil, err
		}
	} else {
		s.resume(r.Ask.cost)
		if err := s.confirm(ctx, dots, r.Ask); err != nil {
			return nil, nil, err
		}
	}
	a := r.Ask
	s.blame(dots, a)
	w := s.D.Width()
	codes = make([]uint64, len(dots))
	for i := range codes {
		codes[i] = mma.Load(a.Codes, w, i)
	}
	return codes, a.Failed, nil
}

// The number of answers in the journal that the unit is asked to confirm.
const (
	confirmEach = 16 // of a batch
	confirmMost = 4096
)

// confirm asks the unit to confirm some answers that came from the journal: the same name may
// be that of another unit by now. These questions are not counted, since an inference
// that was not interrupted would not have asked them.
func (s *asker) confirm(ctx context.Context, dots []*mma.Dot, a *asked) error {
	if len(a.Failed) > 0 {
		return nil
	}
	w := s.D.Width()
	return s.compareFirst(ctx, dots, func(i int) uint64 { return mma.Load(a.Codes, w, i) })
}

// confirmCheck does the same for a batch on which a model was checked: the unit gave
// the model's results, except for the wrong answers that were kept.
func (s *asker) confirmCheck(ctx context.Context, m *sim.Model, b *mma.Batch, c *checked) error {
	if c.Failed || len(c.Wrong) == wrongKept {
		return nil
	}
	wrong := map[int]uint64{}
	for _, w := range c.Wrong {
		wrong[w.Output] = w.Code
	}
	dots := s.unpack(b, min(b.Dots(), confirmEach))
	return s.compareFirst(ctx, dots, func(i int) uint64 {
		if code, ok := wrong[i]; ok {
			return code
		}
		return m.Dot(dots[i], nil)
	})
}

// compareFirst asks for the first few of the dot products, and compares the answers with
// those of the journal. A difference is noted as a doubt, which is no error yet.
func (s *asker) compareFirst(ctx context.Context, dots []*mma.Dot, recorded func(i int) uint64) error {
	n := min(len(dots), confirmEach, confirmMost-s.stats.Confirmed)
	if n <= 0 {
		return nil
	}
	s.stats.Confirmed += n
	b, w := s.Pack(dots[:n], nil).Batch, s.D.Width()
	codes := make([]byte, n*w)
	if err := s.unit.Run(ctx, b, codes); err != nil && !devices.IsFault(err) {
		return err
	} else if err != nil {
		s.doubted(dots, fmt.Errorf("%w: the unit fails where the journal has answers: %v", ErrOtherInference, err))
		return nil
	}
	for i, d := range dots[:n] {
		if now := mma.Load(codes, w, i); !s.Same(recorded(i), now) {
			s.stats.Denied++
			s.doubted(dots, fmt.Errorf("%w: the unit has changed: for %s it gives %s, where the journal has %s",
				ErrOtherInference, mma.FormatDot(s.Formats, d), mma.FormatCode(s.D, now), mma.FormatCode(s.D, recorded(i))))
		}
	}
	return nil
}

// live asks the unit itself, and writes its answers to the journal.
func (s *asker) live(ctx context.Context, b *mma.Batch, dots []*mma.Dot, sum uint64) (*record, error) {
	a := &asked{Sum: sum, N: len(dots), Codes: make([]byte, len(dots)*s.D.Width())}
	before := s.stats
	err := s.call(ctx, b, a.Codes)
	if devices.IsFault(err) {
		whole := err
		if a.Failed, a.Why, err = s.divide(ctx, dots, a.Codes, 0, err); err != nil {
			s.blame(dots, a)
		} else if len(a.Failed) == 0 {
			s.note(b, whole.Error())
		}
	}
	if err != nil {
		return nil, err
	}
	a.cost = s.since(before)
	r := &record{Ask: a}
	return r, s.log.write(r)
}

// blame records the inputs on which the unit failed.
func (s *asker) blame(dots []*mma.Dot, a *asked) {
	for n, i := range a.Failed {
		s.faults = append(s.faults, Fault{dots[i], a.Why[n]})
	}
}

// call runs the unit on a batch and counts it.
func (s *asker) call(ctx context.Context, b *mma.Batch, out []byte) error {
	if s.budget > 0 && s.stats.Queries+b.Dots() > s.budget-s.reserved {
		return fmt.Errorf("%w: %d of %d, and the next batch has %d", errBudget, s.stats.Queries, s.budget, b.Dots())
	}
	s.stats.Queries += b.Dots()
	s.stats.Batches++
	return s.run(ctx, b, out)
}

// divide finds the inputs on which the unit fails, by asking for halves. It failed on
// all of dots together; the first of them is number first of the batch.
func (s *asker) divide(ctx context.Context, dots []*mma.Dot, out []byte, first int, why error) (failed []int, whys []string, err error) {
	if len(dots) == 1 {
		return []int{first}, []string{why.Error()}, nil
	}
	w := s.D.Width()
	half := len(dots) / 2
	for _, part := range [][2]int{{0, half}, {half, len(dots)}} {
		ds, o := dots[part[0]:part[1]], out[part[0]*w:part[1]*w]
		err := s.call(ctx, s.Pack(ds, nil).Batch, o)
		if devices.IsFault(err) {
			f, y, e := s.divide(ctx, ds, o, first+part[0], err)
			failed, whys, err = append(failed, f...), append(whys, y...), e
		}
		if err != nil {
			return failed, whys, err
		}
		if n := len(s.faults) + len(failed); n > maxFaults && n > s.stats.Queries/oneFault {
			return failed, whys, fmt.Errorf("%w: %s", errFaults, whys[0])
		}
	}
	return failed, whys, nil
}

// repeat asks the same in another order and compares. If an answer has changed, the error
// is an *Unstable, which blames the order if the unit gives the same answers in the first
// order.
func (s *asker) repeat(ctx context.Context, dots []*mma.Dot, want []uint64) error {
	first := byDot(dots, want)
	turned := slices.Clone(dots)
	slices.Reverse(turned)
	u, err := s.asBefore(ctx, turned, first)
	if u == nil || err != nil {
		return err
	}
	u.How = "in another order"
	for range 2 { // a unit may change at every second call
		if other, err := s.asBefore(ctx, dots, first); err != nil {
			return err
		} else if other != nil {
			u.How = "again"
		}
	}
	return u
}

// byDot returns the answer to each dot product.
func byDot(dots []*mma.Dot, codes []uint64) map[*mma.Dot]uint64 {
	of := map[*mma.Dot]uint64{}
	for i, d := range dots {
		of[d] = codes[i]
	}
	return of
}

// asBefore asks the same and returns nil if all answers are the same as before.
func (s *asker) asBefore(ctx context.Context, dots []*mma.Dot, first map[*mma.Dot]uint64) (*Unstable, error) {
	s.stats.Repeated += len(dots)
	kept, again, err := s.ask(ctx, dots)
	if err != nil {
		return nil, err
	}
	u := &Unstable{Asked: len(kept), NaNs: true}
	f := s.D.Get()
	for i, d := range kept {
		if !s.Same(first[d], again[i]) {
			u.NaNs = u.NaNs && f.Decode(first[d]).Class == fp.NaN && f.Decode(again[i]).Class == fp.NaN
			if u.Changed++; u.Dot == nil {
				u.Dot, u.First, u.Second = d, first[d], again[i]
			}
		}
	}
	if u.Changed == 0 {
		return nil, nil
	}
	return u, nil
}

// check is checkBatch for inputs of a source, in tiles as the generator makes them.
func (s *asker) check(ctx context.Context, m *sim.Model, src gen.Source, seed, first uint64, n int) (compared int, wrong []*mma.Dot, codes []uint64, err error) {
	g := src.Generator
	b := mma.NewBatch(s.Formats, mma.Shape{M: g.M, N: g.N, K: s.K, Tiles: (n + g.M*g.N - 1) / (g.M * g.N)})
	src.Fill(b, seed, first)
	return s.checkBatch(ctx, m, b)
}

// checkBatch runs the unit and a model on a batch. It returns the number of inputs that were
// compared, and the dot products on which the two differ, at most wrongKept, with the unit's
// results. Where the unit fails on a tile, it is asked for the dot products one by one.
func (s *asker) checkBatch(ctx context.Context, m *sim.Model, b *mma.Batch) (compared int, wrong []*mma.Dot, codes []uint64, err error) {
	sum := sumOf(b)
	r, err := s.log.next(func(r *record) bool { return r.Check != nil && r.Check.Sum == sum })
	if err != nil {
		return 0, nil, nil, err
	}
	if r == nil {
		if s.doubt != nil {
			return 0, nil, nil, s.doubt.err
		}
		if r, err = s.liveCheck(ctx, m, b, sum); err != nil {
			return 0, nil, nil, err
		}
	} else {
		if err := r.Check.within(b.Dots()); err != nil {
			return 0, nil, nil, err
		}
		s.resume(r.Check.cost)
		if err := s.confirmCheck(ctx, m, b, r.Check); err != nil {
			return 0, nil, nil, err
		}
	}
	if r.Check.Failed {
		before := len(s.faults) + len(s.failures)
		compared, wrong, codes, err = s.checkApart(ctx, m, b)
		if err == nil && len(s.faults)+len(s.failures) == before {
			s.note(b, r.Check.Why)
		}
		return compared, wrong, codes, err
	}
	for _, w := range r.Check.Wrong {
		d := mma.NewDot(s.Formats, s.K)
		b.Get(w.Output, d)
		wrong, codes = append(wrong, d), append(codes, w.Code)
	}
	return b.Dots(), wrong, codes, nil
}

func (s *asker) liveCheck(ctx context.Context, m *sim.Model, b *mma.Batch, sum uint64) (*record, error) {
	w := s.D.Width()
	got, want := make([]byte, b.Dots()*w), make([]byte, b.Dots()*w)
	c := &checked{Sum: sum}
	r := &record{Check: c}
	before := s.stats
	err := s.call(ctx, b, got)
	c.cost = s.since(before)
	if devices.IsFault(err) {
		c.Failed, c.Why = true, err.Error()
		return r, s.log.write(r)
	}
	if err != nil {
		return nil, err
	}
	m.Run(b, want)
	for i := range b.Dots() {
		if code := mma.Load(got, w, i); len(c.Wrong) < wrongKept && !s.Same(code, mma.Load(want, w, i)) {
			c.Wrong = append(c.Wrong, wrongAnswer{i, code})
		}
	}
	return r, s.log.write(r)
}

// unpack returns the first n dot products of a batch.
func (s *asker) unpack(b *mma.Batch, n int) []*mma.Dot {
	dots := make([]*mma.Dot, n)
	for i := range dots {
		dots[i] = mma.NewDot(s.Formats, s.K)
		b.Get(i, dots[i])
	}
	return dots
}

// checkApart checks the dot products of a batch on which the unit fails as a whole.
func (s *asker) checkApart(ctx context.Context, m *sim.Model, b *mma.Batch) (compared int, wrong []*mma.Dot, codes []uint64, err error) {
	kept, want, err := s.ask(ctx, s.unpack(b, b.Dots()))
	for i, d := range kept {
		if !s.Same(m.Dot(d, nil), want[i]) {
			wrong, codes = append(wrong, d), append(codes, want[i])
		}
	}
	return len(kept), wrong, codes, err
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// sumOf is a checksum of a batch's operands.
func sumOf(b *mma.Batch) uint64 {
	sum := uint64(0)
	for _, buf := range [][]byte{b.A, b.B, b.C, b.SA, b.SB} {
		sum = crc64.Update(sum, crcTable, buf)
	}
	return sum
}
