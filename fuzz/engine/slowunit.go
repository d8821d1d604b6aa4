package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// GoneError reports that a target does not answer any more: it fails on every input, or for
// a reason that has nothing to do with the input. What was compared before is kept.
type GoneError struct {
	Target string
	Err    error // not wrapped, since a failure on an input is a finding and this is not
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("%s has stopped answering: %v", e.Target, e.Err)
}

// goneAfter is the number of failures in a row after which a unit is tested with zeros: if
// it fails on these too, it is gone. Without this, a chunk on which a child process hangs
// would take one deadline for each dot product.
const goneAfter = 8

// What has taken longer than keepAfter goes into the checkpoint before its chunk is complete.
const keepAfter = time.Second

// slowUnit wraps a unit that may take long to answer: any but a model or a recording. Long
// calls are divided into pieces of complete tiles, and their answers are
// kept in the checkpoint, so that the unit is not asked again after an interruption. The
// results do not depend on how calls are divided, because those of a tile depend on that tile
// alone.
type slowUnit struct {
	devices.Unit
	target string
	pair   int
	side   int
	check  *checkpoint
	triage *atomic.Bool // triage is under way: every answer is kept, not only those that took long
	pace   pace
	watch  *watch       // nil: it is not watched
	failed atomic.Int64 // calls in a row

	mu    sync.Mutex
	calls map[[16]byte]int // of triage, by question
}

// answerKey is a question: n counts how often it has been asked in a triage.
type answerKey struct {
	pair, side int
	question   [16]byte
	n          int
}

// savedAnswer is what a checkpoint has of an answer: its first tiles, or how the
// target failed.
type savedAnswer struct {
	d     []byte
	fault string
}

// answerRecord is a piece of an answer in a checkpoint.
type answerRecord struct {
	Pair     int    `json:"pair"`
	Side     int    `json:"side"` // 0: A
	Question []byte `json:"q"`
	N        int    `json:"n"`
	At       int    `json:"at"` // bytes before it
	D        []byte `json:"d,omitempty"`
	Fault    string `json:"fault,omitempty"`
}

// answer adds a piece of an answer and reports whether it continues what is there.
func (s *savedEpoch) answer(r *answerRecord) bool {
	k := answerKey{pair: r.Pair, side: r.Side, n: r.N}
	if len(r.Question) != len(k.question) {
		return false
	}
	copy(k.question[:], r.Question)
	have := s.answers[k]
	if have == nil {
		have = &savedAnswer{}
		s.answers[k] = have
	}
	if r.At < 0 || r.At > len(have.d) {
		return false
	}
	have.d, have.fault = append(have.d[:r.At], r.D...), r.Fault
	return true
}

// askWithCare wraps the units of a pair in slowUnits, except models, recordings and units that
// take large batches at once.
func (c *Campaign) askWithCare(i int, p *pair) {
	p.Replace(func(side int, u devices.Unit) devices.Unit {
		if devices.IsRecording(u) || speed(u) != gen.Slow {
			return u
		}
		s := &slowUnit{Unit: u, target: []string{p.TargetA, p.TargetB}[side], pair: i, side: side, check: c.saving, triage: &c.triaging}
		c.slow = append(c.slow, s)
		return s
	})
}

// Explained reports whether the unit's program is known: a reference's is.
func (s *slowUnit) Explained() bool {
	u, ok := s.Unit.(devices.Explained)
	return ok && u.Explained()
}

// Renew returns the unit as a new worker computes it, whose answers are not kept.
func (s *slowUnit) Renew(ctx context.Context) (devices.Unit, func(), error) {
	return devices.Renew(ctx, s.Unit)
}

// begin forgets the questions of the epoch before.
func (s *slowUnit) begin() {
	s.mu.Lock()
	s.calls = nil
	s.mu.Unlock()
}

// Run runs a batch in pieces.
func (s *slowUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if in.Tiles == 0 {
		return nil
	}
	a := s.answerTo(in)
	done, err := a.earlier(out)
	began := time.Now()
	kept := done
	for done < in.Tiles && err == nil {
		n := s.tiles(in, done)
		from, to := done*a.tile, (done+n)*a.tile
		if err = s.piece(ctx, in.Part(done, n), out[from:to]); err == nil {
			done += n
		}
		if time.Since(began) > keepAfter || a.always {
			a.keep(out, kept, done, err)
			kept = done
		}
	}
	return err
}

// tiles returns the number of tiles of the next piece, which begins with tile done.
func (s *slowUnit) tiles(in *mma.Batch, done int) int {
	return max(1, min(in.Tiles-done, s.pace.next()/(in.M*in.N)))
}

// piece asks for some tiles.
func (s *slowUnit) piece(ctx context.Context, in *mma.Batch, out []byte) error {
	began := time.Now()
	err := s.Unit.Run(ctx, in, out)
	switch {
	case err == nil:
		s.failed.Store(0)
		s.pace.learn(in.Dots(), time.Since(began))
	case ctx.Err() != nil:
		return ctx.Err()
	case !devices.IsFault(err):
		return &GoneError{s.target, err}
	case s.failed.Add(1) >= goneAfter:
		return s.ask(ctx, in, err)
	}
	return err
}

// ask tests a unit that has failed many times with a dot product of zeros.
func (s *slowUnit) ask(ctx context.Context, in *mma.Batch, why error) error {
	zeros := mma.NewBatch(in.Formats, mma.Shape{M: 1, N: 1, K: in.K, Tiles: 1})
	zeros.Set(0, mma.NewDot(in.Formats, in.K))
	switch err := s.Unit.Run(ctx, zeros, make([]byte, in.Formats.D.Width())); {
	case err == nil:
		s.failed.Store(0)
		return why
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &GoneError{s.target, fmt.Errorf("%d calls in a row have failed, and it fails on zeros: %w", goneAfter, err)}
	}
}

// answer is a call in progress.
type answer struct {
	s      *slowUnit
	in     *mma.Batch
	tile   int // bytes of a tile
	always bool
	key    *answerKey // nil: not made yet
}

func (s *slowUnit) answerTo(in *mma.Batch) *answer {
	a := &answer{s: s, in: in, tile: in.M * in.N * in.Formats.D.Width(), always: s.check.path != "" && s.triage.Load()}
	if a.always {
		a.makeKey()
	}
	return a
}

// makeKey makes the key of a call.
func (a *answer) makeKey() {
	h := sha256.New()
	var head []byte
	for _, n := range []int{a.in.M, a.in.N, a.in.K, a.in.Tiles} {
		head = binary.LittleEndian.AppendUint32(head, uint32(n))
	}
	h.Write(head)
	for _, buf := range [][]byte{a.in.A, a.in.B, a.in.C, a.in.SA, a.in.SB} {
		h.Write(buf)
	}
	a.key = &answerKey{pair: a.s.pair, side: a.s.side}
	copy(a.key.question[:], h.Sum(nil))
	if !a.always {
		a.key.n = -1 // of a chunk, which asks once
		return
	}
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.s.calls == nil {
		a.s.calls = map[[16]byte]int{}
	}
	a.key.n = a.s.calls[a.key.question]
	a.s.calls[a.key.question]++
}

// earlier copies the tiles of an earlier run's answer to out, and returns their number.
func (a *answer) earlier(out []byte) (tiles int, err error) {
	if len(a.s.check.saved.answers) == 0 {
		return 0, nil
	}
	if a.key == nil {
		a.makeKey()
	}
	have := a.s.check.saved.answers[*a.key]
	if have == nil || len(have.d) > len(out) {
		return 0, nil
	}
	tiles = len(have.d) / a.tile
	copy(out, have.d[:tiles*a.tile])
	if have.fault != "" {
		err = &devices.FaultError{Target: a.s.target, What: have.fault}
	}
	return tiles, err
}

// keep puts tiles from..to-1 into the checkpoint, and how the unit failed on the next ones.
func (a *answer) keep(out []byte, from, to int, err error) {
	var fault *devices.FaultError
	errors.As(err, &fault)
	if a.s.check.path == "" || from == to && fault == nil {
		return
	}
	if a.key == nil {
		a.makeKey()
	}
	r := &answerRecord{Pair: a.key.pair, Side: a.key.side, Question: a.key.question[:], N: a.key.n, At: from * a.tile,
		D: append([]byte(nil), out[from*a.tile:to*a.tile]...)}
	if fault != nil {
		r.Fault = fault.What
	}
	a.s.check.add(func(c *checkpointRecord) { c.Answers = append(c.Answers, r) })
}
