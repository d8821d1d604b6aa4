package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// pool holds the children of one command: as many as there are requests at a time, up to
// a limit. It must not matter which child answers a request: see ask.
type pool struct {
	name   string
	words  []string
	header *wire.Header  // of the first child; all must have the same
	free   chan struct{} // a token for each child that may be busy

	mu     sync.Mutex
	idle   []*process // the most recently used last
	closed bool
	warned int
	deaths int                       // of children whose request another child answered
	last   string                    // how the last of these died
	life   life                      // how many answers they had given
	about  map[int]map[string]string // by an instruction's number in the header: see learn
}

// warnings is how many failures are logged as warnings; the others are logged only with -v.
const warnings = 8

// newPool starts the first child.
func newPool(name string, words []string) (*pool, error) {
	p, err := startProcess(devices.Opening(), name, words)
	if err != nil {
		return nil, err
	}
	n := runtime.GOMAXPROCS(0)
	if p.header.Children > 0 {
		n = min(n, p.header.Children)
	}
	return &pool{name: name, words: words, header: p.header, free: make(chan struct{}, n), idle: []*process{p}}, nil
}

// talk sends a child part of a batch, dot products from..to-1, and returns how many of them it has
// answered, even if it failed on the next one.
type talk func(g *guard, p *process, from, to int) (answered int, err error)

// ask has children compute some dot products, in pieces of a size, and returns how many of them it
// has asked for: as many as a child can answer before its end, if that is known. If a child that has
// answered before fails, a new one goes on, so that a request is blamed only if it alone provokes
// the failure. What came too late is not tried again: that would take too much time.
func (l *pool) ask(ctx context.Context, dots, piece int, talk talk) (int, error) {
	select {
	case l.free <- struct{}{}:
		defer func() { <-l.free }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	p, n, err := l.fitting(ctx, dots, piece)
	if err != nil {
		return 0, err
	}
	var dead *loss
	for done := 0; ; {
		used := p.served > 0
		answered, err := l.try(ctx, p, done, n, talk)
		if dead != nil && answered > 0 {
			l.died(dead)
		}
		done += answered
		f, failed := err.(*failure)
		if !failed || f.late || !used && answered == 0 {
			return n, l.blame(err)
		}
		l.warn("a child failed and is replaced", f.what)
		dead = &loss{what: f.what, answers: p.answers, left: n - done}
		if l.header.Text {
			dead.left = 1 // it was answering that one
		}
		if p, err = l.start(ctx); err != nil {
			return 0, err
		}
	}
}

// loss is how a child ended that had given some answers when it was asked for others.
type loss struct {
	what          string
	answers, left int
}

// fitting returns a child for a request, and how many of so many dot products it can be asked for.
// A child whose end is due is replaced.
func (l *pool) fitting(ctx context.Context, dots, piece int) (*process, int, error) {
	p, err := l.get(ctx)
	if err != nil {
		return nil, 0, err
	}
	l.mu.Lock()
	most := l.life.known()
	l.mu.Unlock()
	if most < piece {
		return p, dots, nil
	}
	if p.answers+piece > most {
		p.end(endTime)
		if p, err = l.start(ctx); err != nil {
			return nil, 0, err
		}
	}
	return p, min(dots, (most-p.answers)/piece*piece), nil
}

// try talks with a child and puts it back, or ends it.
func (l *pool) try(ctx context.Context, p *process, from, to int, talk talk) (answered int, err error) {
	err = p.guarded(ctx, l.header.Deadline, func(g *guard) (err error) {
		answered, err = talk(g, p, from, to)
		return err
	})
	p.answers += answered
	if _, refused := err.(*refusal); err != nil && !refused {
		return answered, p.fail(ctx, err, "gave no answer", l.header.Deadline)
	}
	p.served++
	l.put(p)
	return answered, err
}

// died counts a child that failed on a request which another child answered.
func (l *pool) died(d *loss) {
	l.mu.Lock()
	l.deaths++
	l.last = d.what
	learnt := l.life.add(d.answers, d.left)
	most, after := l.life.known(), l.life.String()
	l.mu.Unlock()
	if learnt {
		slog.Warn(fmt.Sprintf("the child ends after %s answers, whatever it is asked, and is replaced each time", after),
			"target", l.name, "hint", fmt.Sprintf("mend it, or write batch %d (or less) in its header: no request is then larger than what a child answers", most))
	}
}

// blame turns what a child did wrong into a finding about the target. Other errors, and a
// child's word that it can do nothing at all, are no findings.
func (l *pool) blame(err error) error {
	var what string
	switch e := err.(type) {
	case *failure:
		what = e.what
		if e.late && l.header.Text {
			what += " (does it flush its output after every line?)"
		}
	case *refusal:
		if e.other {
			return fmt.Errorf("%s: the child says: %s", l.name, e.text)
		}
		what = "the child says: " + e.text
	default:
		return err
	}
	l.warn("a child failed on a request", what)
	return &devices.FaultError{Target: l.name, What: what}
}

func (l *pool) warn(what, detail string) {
	l.mu.Lock()
	l.warned++
	n := l.warned
	l.mu.Unlock()
	switch {
	case n <= warnings:
		slog.Warn(what, "target", l.name, "detail", detail)
	case n == warnings+1:
		slog.Warn("more failures of children are logged only with --verbose", "target", l.name)
	}
	if n > warnings {
		slog.Debug(what, "target", l.name, "detail", detail)
	}
}

// mode is how the children talk.
func (l *pool) mode() string {
	if l.header.Text {
		return "text"
	}
	return "binary"
}

// learn keeps what a child has said of an instruction before an answer.
func (l *pool) learn(number int, about map[string]string) {
	if len(about) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.about == nil {
		l.about = map[int]map[string]string{}
	}
	if l.about[number] == nil {
		l.about[number] = map[string]string{}
	}
	maps.Copy(l.about[number], about)
}

// learnt returns what the children have said of an instruction.
func (l *pool) learnt(number int) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.about[number])
}

// get returns an idle child, or a new one.
func (l *pool) get(ctx context.Context) (*process, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, fmt.Errorf("%s: the target was closed", l.name)
	}
	p := l.idleChild()
	l.mu.Unlock()
	if p != nil {
		return p, nil
	}
	return l.start(ctx)
}

// idleChild takes out an idle child, the most recently used one; nil: there is none. The pool is locked.
func (l *pool) idleChild() *process {
	n := len(l.idle)
	if n == 0 {
		return nil
	}
	p := l.idle[n-1]
	l.idle = l.idle[:n-1]
	return p
}

// start starts another child, which must announce the same as the first.
func (l *pool) start(ctx context.Context) (*process, error) {
	p, err := startProcess(ctx, l.name, l.words)
	if err != nil {
		var f *failure
		if errors.As(err, &f) {
			err = fmt.Errorf("another child could not be started: %w", err)
		}
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	h := *p.header
	h.About = l.header.About // may differ: it may hold a date or a process number
	if !reflect.DeepEqual(&h, l.header) {
		p.end(0)
		return nil, fmt.Errorf("%s: a second child has another header than the first: all must announce the same", l.name)
	}
	return p, nil
}

// apart returns a pool of one new child, and what closes it. It counts as a child of this pool: where
// their number is limited, an idle one makes room for it.
func (l *pool) apart(ctx context.Context) (*pool, func(), error) {
	select {
	case l.free <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if l.header.Children > 0 {
		l.mu.Lock()
		old := l.idleChild()
		l.mu.Unlock()
		if old != nil {
			old.end(endTime)
		}
	}
	p, err := l.start(ctx)
	if err != nil {
		<-l.free
		return nil, nil, err
	}
	one := &pool{name: l.name, words: l.words, header: l.header, free: make(chan struct{}, 1), idle: []*process{p}}
	return one, func() { one.close(); <-l.free }, nil
}

// put takes a child back.
func (l *pool) put(p *process) {
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.idle = append(l.idle, p)
	}
	l.mu.Unlock()
	if closed {
		p.end(0)
	}
}

// close ends the idle children, all at once; those that are busy end when they
// have answered.
func (l *pool) close() {
	l.mu.Lock()
	idle := l.idle
	l.idle, l.closed = nil, true
	l.mu.Unlock()
	var wg parallel.Group
	for _, p := range idle {
		wg.Go(func() { p.end(endTime) })
	}
	wg.Wait()
}
