// Package child helps to write a child process that mmafuzz tests as a target
// exec:COMMAND: a program that says which instructions it has and computes
// batches of them. Package exec describes what goes over the wire.
//
// A whole child:
//
//	func main() {
//		child.Main(child.Options{}, child.Instruction{
//			Name: "mine", K: 4,
//			Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32},
//			Run: func(in *mma.Batch, out []byte) error {
//				d := mma.NewDot(in.Formats, in.K)
//				for i := range in.Dots() {
//					in.Get(i, d)
//					mma.Store(out, in.Formats.D.Width(), i, myUnit(d))
//				}
//				return nil
//			},
//		})
//	}
//
// The API of this package is not promised: it may change in any version.
package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Instruction is an instruction that the child executes.
type Instruction struct {
	// Name is NAME or ARCH/NAME: the ISA's spelling, or a name of your own.
	Name string
	mma.Formats
	K    int
	M, N mma.Range // sizes of tiles that Run takes; zero: any
	// Run writes D of every dot product to out. The batch has the formats and K
	// given here, and may not be used after Run has returned. An error, or a
	// panic, is reported as a fault on this batch, and the child goes on.
	Run func(in *mma.Batch, out []byte) error
	// About, if not nil, returns what the results of this instruction may depend
	// on, as far as it is known. It is called after each Run, and what it says for the
	// first time is sent to mmafuzz. Keys have no blanks.
	About func() map[string]string
}

// Broken turns an error of Run into one after which the child ends, because the device it
// runs on cannot be used any more. mmafuzz blames the input and starts another child.
func Broken(err error) error { return &brokenError{err} }

// Other turns an error of Run into one that is not about the input: no other input would
// work now either. The campaign ends, to be resumed when the cause is put right.
func Other(err error) error { return &otherError{err} }

type otherError struct{ error }

func (e *otherError) Unwrap() error { return e.error }

type brokenError struct{ error }

func (e *brokenError) Unwrap() error { return e.error }

// Options are what a child may say about itself besides its instructions.
type Options struct {
	Batch    int               // most dot products in a batch; 0: no limit
	Deadline time.Duration     // for a batch; 0: mmafuzz's own
	Children int               // most children at a time, for a licence or a board; 0: no limit
	About    map[string]string // what results may depend on, as "simulator": "mine 1.2"
}

// Main serves on standard input and output until the input ends, and exits with
// status 1 if something goes wrong. What the program prints to standard output goes to
// standard error, which mmafuzz logs (see Stdout).
func Main(o Options, is ...Instruction) {
	stdout, err := Stdout()
	if err == nil {
		err = Serve(os.Stdin, stdout, o, is...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Serve writes the header to w, then answers the requests that it reads from r
// until r ends.
func Serve(r io.Reader, w io.Writer, o Options, is ...Instruction) error {
	h := &wire.Header{Batch: o.Batch, Deadline: o.Deadline, Children: o.Children, About: o.About}
	for _, i := range is {
		h.Instructions = append(h.Instructions, mma.Instruction{Name: i.Name, Formats: i.Formats, K: i.K, M: i.M, N: i.N})
	}
	if err := h.Write(w); err != nil {
		return err
	}
	s := &server{r: bufio.NewReader(r), w: w, is: is, in: &mma.Batch{}, said: make([]map[string]string, len(is))}
	for {
		if err := s.serve(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

type server struct {
	r   *bufio.Reader
	w   io.Writer
	is  []Instruction
	in  *mma.Batch
	out []byte // the answer, its beginning included

	said []map[string]string // what About last said of each instruction
}

// serve answers one request; io.EOF: there are no more.
func (s *server) serve() error {
	var head [wire.RequestSize]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return err
	}
	var q wire.Request
	if !q.Parse(head[:]) {
		return fmt.Errorf("%q is no request: does this program run under mmafuzz, as exec:COMMAND?", head[:8])
	}
	if int64(q.Instruction) >= int64(len(s.is)) {
		return fmt.Errorf("request %d is for instruction %d of %d", q.ID, q.Instruction, len(s.is))
	}
	i := &s.is[q.Instruction]
	if err := s.read(i, &q); err != nil {
		return fmt.Errorf("request %d: %w", q.ID, err)
	}
	return s.answer(&q, i)
}

// tell sends what About says of an instruction and has not said before.
func (s *server) tell(q *wire.Request) error {
	i, said := &s.is[q.Instruction], &s.said[q.Instruction]
	if i.About == nil {
		return nil
	}
	about := i.About()
	for _, k := range slices.Sorted(maps.Keys(about)) {
		if about[k] == "" || (*said)[k] == about[k] {
			continue
		}
		text := []byte(k + " " + about[k])
		text = text[:min(len(text), wire.MaxError)]
		a := wire.Answer{ID: q.ID, Status: wire.StatusAbout, Length: uint32(len(text)), Checksum: wire.Checksum(0, text)}
		if _, err := s.w.Write(append(a.Append(nil), text...)); err != nil {
			return err
		}
	}
	*said = about
	return nil
}

// read reads the operands of a request into s.in.
func (s *server) read(i *Instruction, q *wire.Request) error {
	size := wire.PayloadSize(i.Formats, q.Shape)
	if size > wire.MaxPayload || size != int64(q.Length) || q.Tiles < 1 || q.K != i.K {
		return fmt.Errorf("%d bytes for %d tiles of %dx%dx%d, which is not possible", q.Length, q.Tiles, q.M, q.N, q.K)
	}
	s.in.Reset(i.Formats, q.Shape)
	sum := uint32(0)
	for _, buf := range [][]byte{s.in.A, s.in.B, s.in.C, s.in.SA, s.in.SB} {
		if _, err := io.ReadFull(s.r, buf); err != nil {
			return errors.Join(io.ErrUnexpectedEOF, err)
		}
		sum = wire.Checksum(sum, buf)
	}
	if sum != q.Checksum {
		return fmt.Errorf("the checksum of the operands is %08x, not %08x", sum, q.Checksum)
	}
	return nil
}

// answer computes and writes an answer.
func (s *server) answer(q *wire.Request, i *Instruction) error {
	n := wire.AnswerSize + s.in.Dots()*i.D.Width()
	if cap(s.out) < n {
		s.out = make([]byte, n)
	}
	s.out = s.out[:n]
	d := s.out[wire.AnswerSize:]
	a := wire.Answer{ID: q.ID, Status: wire.StatusD}
	err := run(i, s.in, d)
	if broken := (*brokenError)(nil); errors.As(err, &broken) {
		return err
	}
	if err := s.tell(q); err != nil {
		return err
	}
	if err != nil {
		text := err.Error()
		d = []byte(text[:min(len(text), wire.MaxError)])
		a.Status = wire.StatusError
		if errors.As(err, new(*otherError)) {
			a.Status = wire.StatusOther
		}
		s.out = append(s.out[:wire.AnswerSize], d...)
	}
	a.Length, a.Checksum = uint32(len(d)), wire.Checksum(0, d)
	a.Append(s.out[:0])
	_, err = s.w.Write(s.out)
	return err
}

// run runs an instruction. A panic becomes an error, with its stack on stderr.
func run(i *Instruction, in *mma.Batch, out []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", r, debug.Stack())
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	clear(out)
	return i.Run(in, out)
}
