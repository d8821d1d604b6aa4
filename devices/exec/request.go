package exec

// Binary mode: a request for each batch.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// refusal is a child's own word that it cannot do what was asked. The child goes
// on.
type refusal struct {
	text  string
	other bool // it could not answer any other request either
}

func (r *refusal) Error() string { return r.text }

// shown is how many bytes of a child's output an error quotes.
const shown = 64

// askBinary sends a batch and reads its D.
func (p *process) askBinary(number int, in *mma.Batch, out []byte) error {
	if err := p.leftOver(nil); err != nil {
		return err
	}
	p.id++
	p.buf = appendRequest(p.buf[:0], p.id, number, in)
	var writing parallel.Group
	writing.Go(func() { _, _ = p.in.Write(p.buf) }) // a child that does not read it all cannot answer either
	err := p.readAnswer(out)
	if _, refused := err.(*refusal); err != nil && !refused {
		_ = p.in.Close() // so that the writer ends
	}
	writing.Wait()
	return err
}

// appendRequest writes a whole request.
func appendRequest(b []byte, id uint32, number int, in *mma.Batch) []byte {
	q := wire.Request{ID: id, Instruction: uint32(number), Shape: in.Shape}
	parts := [][]byte{in.A, in.B, in.C, in.SA, in.SB}
	for _, part := range parts {
		q.Length += uint32(len(part)) // at most MaxPayload in all
		q.Checksum = wire.Checksum(q.Checksum, part)
	}
	b = q.Append(b)
	for _, part := range parts {
		b = append(b, part...)
	}
	return b
}

// readAnswer reads the answer to the last request. It reads nothing, and spends no
// memory, if the announced length is wrong.
func (p *process) readAnswer(out []byte) error {
	a, err := p.readAnswerHead()
	if err == nil && a.Status == wire.StatusAbout {
		a, err = p.readAbout(a)
	}
	if err != nil {
		return err
	}
	if a.ID != p.id {
		return fmt.Errorf("it answered request %d instead of %d", a.ID, p.id)
	}
	switch {
	case (a.Status == wire.StatusError || a.Status == wire.StatusOther) && a.Length <= wire.MaxError:
		text := make([]byte, a.Length)
		if err := p.readFull(text, a.Checksum); err != nil {
			return err
		}
		return p.leftOver(&refusal{clean(string(text), wire.MaxError), a.Status == wire.StatusOther})
	case a.Status == wire.StatusError || a.Status == wire.StatusOther:
		return fmt.Errorf("it announced an error of %d bytes, at most %d are allowed", a.Length, wire.MaxError)
	case a.Status != wire.StatusD:
		return fmt.Errorf("it answered with status %d, which is neither %d (D) nor %d (error)", a.Status, wire.StatusD, wire.StatusError)
	case int64(a.Length) != int64(len(out)):
		return fmt.Errorf("it announced a D of %d bytes, but D has %d", a.Length, len(out))
	}
	if err := p.readFull(out, a.Checksum); err != nil {
		return err
	}
	return p.leftOver(nil)
}

// readAbout reads what a child says about an instruction before its answer, and then the
// beginning of the answer.
func (p *process) readAbout(a *wire.Answer) (*wire.Answer, error) {
	for a.Status == wire.StatusAbout {
		if a.Length > wire.MaxError {
			return nil, fmt.Errorf("it announced a text of %d bytes, at most %d are allowed", a.Length, wire.MaxError)
		}
		text := make([]byte, a.Length)
		if err := p.readFull(text, a.Checksum); err != nil {
			return nil, err
		}
		word, rest, _ := strings.Cut(string(text), " ")
		if word == "" || rest == "" {
			return nil, fmt.Errorf("it wrote %q, which is not of the form WORD TEXT", clean(string(text), shown))
		}
		if p.about == nil {
			p.about = map[string]string{}
		}
		if p.about[word] = clean(rest, wire.MaxError); len(p.about) > maxAbout {
			return nil, fmt.Errorf("it wrote more than %d things about one instruction", maxAbout)
		}
		var err error
		if a, err = p.readAnswerHead(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// maxAbout is how many things a child can say of an instruction.
const maxAbout = 64

// readAnswerHead reads the beginning of an answer. Each byte of the magic is
// looked at as it comes: a child that has printed a word and waits must not wait
// for its deadline.
func (p *process) readAnswerHead() (*wire.Answer, error) {
	var head [wire.AnswerSize]byte
	for i := range wire.AnswerMagic {
		c, err := p.r.ReadByte()
		if err != nil {
			return nil, cutOff(err, i, len(head))
		}
		head[i] = c
		if c != wire.AnswerMagic[i] {
			rest, _ := p.r.Peek(min(p.r.Buffered(), shown-i-1))
			return nil, fmt.Errorf("instead of an answer it wrote %q: does something else print to its stdout?", bytes.Join([][]byte{head[:i+1], rest}, nil))
		}
	}
	n, err := io.ReadFull(p.r, head[len(wire.AnswerMagic):])
	if err != nil {
		return nil, cutOff(err, len(wire.AnswerMagic)+n, len(head))
	}
	a := &wire.Answer{}
	a.Parse(head[:])
	return a, nil
}

// readFull reads a payload.
func (p *process) readFull(buf []byte, sum uint32) error {
	if n, err := io.ReadFull(p.r, buf); err != nil {
		return cutOff(err, wire.AnswerSize+n, wire.AnswerSize+len(buf))
	}
	if got := wire.Checksum(0, buf); sum != 0 && got != sum {
		return fmt.Errorf("the checksum of its answer is %08x, it announced %08x", got, sum)
	}
	return nil
}

// leftOver returns an error if the child has written more than was asked for, as far as
// that has arrived, and err if it has not.
func (p *process) leftOver(err error) error {
	rest, _ := p.r.Peek(min(p.r.Buffered(), shown))
	if len(rest) == 0 {
		rest = pendingOutput(p.out, make([]byte, shown))
	}
	if len(rest) == 0 {
		return err
	}
	return fmt.Errorf("it wrote more than its answer: %q", rest)
}

// cutOff describes an error that came after n bytes of an answer.
func cutOff(err error, n, of int) error {
	if n == 0 {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &partialError{fmt.Sprintf("after %d of %d bytes", n, of), err}
}
