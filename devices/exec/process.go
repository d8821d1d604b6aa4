package exec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
)

// The times that a child has for what is not an answer.
var (
	helloTime  = 5 * time.Minute        // from its start to ready: large libraries on slow disks
	endTime    = time.Second            // to end by itself when its input ends
	stderrTime = 200 * time.Millisecond // for its last words to arrive
)

// bufferSize is the size of the buffer between a child and us: all that it can make us
// hold, beside an answer of the length that was asked for.
const bufferSize = 64 << 10

// process is a child. One goroutine at a time talks with it.
type process struct {
	tree   *processTree
	in     *os.File // its stdin
	out    *os.File // its stdout
	r      *bufio.Reader
	log    *stderrLog
	exited chan struct{} // closed when it has ended and was waited for
	header *wire.Header

	id      uint32            // of the last request
	served  int               // requests that were answered
	answers int               // dot products that were answered
	killed  bool              // it did not end by itself
	about   map[string]string // what it said before its last answer; see pool.learn
	buf     []byte            // scratch for requests
}

// startProcess starts a child and reads its header.
func startProcess(ctx context.Context, name string, words []string) (*process, error) {
	path, err := osexec.LookPath(words[0])
	if err != nil {
		return nil, startError(words[0], err)
	}
	p := &process{exited: make(chan struct{})}
	if err := p.start(name, path, words); err != nil {
		return nil, startError(words[0], err)
	}
	go func() {
		p.tree.wait()
		close(p.exited)
	}()
	err = p.guarded(ctx, helloTime, func(*guard) (err error) {
		p.header, err = wire.ReadHeader(p.r)
		if errors.As(err, new(*wire.PartialLine)) || errors.As(err, new(*wire.PartialHeader)) {
			err = &partialError{err.Error(), err}
		}
		return err
	})
	var cannot *wire.CannotError
	if errors.As(err, &cannot) {
		p.end(endTime)
		return nil, errors.New(clean(cannot.Text, len(cannot.Text)))
	}
	if err == nil {
		return p, nil
	}
	err = p.fail(ctx, err, "sent no complete header", helloTime)
	if late := p.failed(); late != nil {
		err = startError(words[0], late)
	}
	return nil, err
}

// start makes the pipes and starts the program. The pipes are our own, because those of
// os/exec are closed as soon as the child ends, with its last answer unread.
func (p *process) start(name, path string, words []string) (err error) {
	var files [6]*os.File
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:])
			return err
		}
	}
	if p.tree, err = newProcessTree(path, words); err != nil {
		closeAll(files[:])
		return err
	}
	var errs *os.File
	cmd := p.tree.cmd
	cmd.Stdin, p.in = files[0], files[1]
	p.out, cmd.Stdout = files[2], files[3]
	errs, cmd.Stderr = files[4], files[5]
	if err := p.tree.start(); err != nil {
		closeAll(files[:])
		return err
	}
	closeAll([]*os.File{files[0], files[3], files[5]})
	p.r = bufio.NewReaderSize(p.out, bufferSize)
	p.log = readStderr(name, errs)
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// guard kills a child whose deadline passes or whose context ends.
type guard struct {
	timer *time.Timer
	limit time.Duration
	late  atomic.Bool
}

// restart starts the deadline again.
func (g *guard) restart() { g.timer.Reset(g.limit) }

// errLate reports that a child was killed because it took too long.
var errLate = errors.New("too late")

// guarded talks with the child under a deadline and a context. After an error
// the child is no longer usable: see fail.
func (p *process) guarded(ctx context.Context, limit time.Duration, talk func(*guard) error) error {
	g := &guard{limit: limit}
	g.timer = time.AfterFunc(limit, func() {
		g.late.Store(true)
		p.kill()
	})
	stop := context.AfterFunc(ctx, p.kill)
	err := talk(g)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if !g.timer.Stop() || g.late.Load() {
		err = errors.Join(errLate, err)
	}
	return err
}

// kill ends the child and all that it has started, and with them any read or write that
// waits for it. The child is given no time to complain of a closed pipe: its last words are
// about what it did itself.
func (p *process) kill() {
	p.tree.kill()
	select {
	case <-p.exited:
	case <-time.After(stderrTime): // processes that nobody can kill hold the pipes
	}
	_ = p.in.Close()
	_ = p.out.Close()
}

// end lets the child end by itself when its input ends, kills it if it does not,
// and waits for it.
func (p *process) end(patience time.Duration) {
	_ = p.in.Close()
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.killed = true
	}
	p.kill()
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second): // it hangs in the kernel: waiting does not help
	}
	p.log.close(stderrTime)
}

// failed returns why the program could not be started, if its supervisor has said so.
func (p *process) failed() error {
	select {
	case <-p.exited:
		return p.tree.failed()
	default:
		return nil // it hangs
	}
}

// failure describes what a child did wrong. Its process is dead.
type failure struct {
	what string
	late bool
}

func (f *failure) Error() string { return f.what }

// fail ends the child after an error of guarded and says what went wrong: otherwise is
// what the child did in place of answering, such as "gave no answer". How it ended, if it
// did so by itself, and its last words follow.
func (p *process) fail(ctx context.Context, err error, otherwise string, limit time.Duration) error {
	gone := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if !gone {
		p.kill()
	}
	p.end(endTime)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errLate):
		f := &failure{fmt.Sprintf("the child was killed: it %s within %s%s", otherwise, limit, partial(err)), true}
		f.what += p.log.lastWords()
		return f
	case gone:
		return &failure{what: fmt.Sprintf("the child %s: it %s%s%s", otherwise, p.outcome(), partial(err), p.log.lastWords())}
	}
	return &failure{what: "the child broke the protocol: " + err.Error() + p.log.lastWords()}
}

// partialError describes how much of an answer had arrived when the stream ended.
type partialError struct {
	text string
	err  error
}

func (e *partialError) Error() string { return e.text }
func (e *partialError) Unwrap() error { return e.err }

func partial(err error) string {
	var p *partialError
	if errors.As(err, &p) {
		return " (" + p.text + ")"
	}
	return ""
}

// outcome describes how the child ended.
func (p *process) outcome() string {
	if p.killed {
		return "closed its output and did not end"
	}
	return p.tree.ending()
}
