package exec

// Text mode: a line for each dot product.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// askText sends dot products from..to-1 of a batch, one a line, and reads a line for
// each. It returns how many are answered, even if the child ends before the last one. Each line has the whole deadline. A line "error TEXT" fails
// them all, but the other lines are read all the same, so that the next request reads its own.
func (p *process) askText(g *guard, a *answer, in *mma.Batch, from, to int, out []byte) (answered int, err error) {
	if err := p.leftOver(nil); err != nil {
		return 0, err
	}
	var writing parallel.Group
	writing.Go(func() { p.writeLines(a, in, from, to) })
	var refused error
	out = out[from*in.D.Width():]
	for n := range to - from {
		err := p.readResult(a, n, out)
		if _, ok := err.(*refusal); ok {
			if refused == nil {
				refused = err
			}
		} else if err != nil {
			_ = p.in.Close() // so that the writer ends
			writing.Wait()
			if !errors.Is(err, io.EOF) {
				n = 0 // who breaks the protocol may have done so before
			}
			return n, err
		}
		g.restart()
	}
	writing.Wait()
	if err := p.leftOver(refused); err != nil {
		return 0, err
	}
	return to - from, nil
}

// writeLines writes the lines, many in one call. Its errors are ignored: a child that does
// not read the lines cannot answer either, and the error of the batch will say so.
func (p *process) writeLines(a *answer, in *mma.Batch, from, to int) {
	const enough = 32 << 10
	d := mma.NewDot(in.Formats, in.K)
	buf := p.buf[:0]
	for n := from; n < to; n++ {
		in.Get(n, d)
		if len(p.header.Instructions) > 1 {
			buf = append(append(buf, a.name...), ' ')
		}
		buf = wire.AppendDot(buf, in.Formats, d)
		if len(buf) >= enough || n == to-1 {
			if _, err := p.in.Write(buf); err != nil {
				return
			}
			buf = buf[:0]
		}
	}
	p.buf = buf
}

// readResult reads line n of an answer, the result of a dot product.
func (p *process) readResult(a *answer, n int, out []byte) error {
	line, err := wire.ReadLine(p.r)
	if err != nil {
		return brokenLine(n, err)
	}
	if text, ok := strings.CutPrefix(line, "error"); ok {
		return &refusal{text: clean(text, wire.MaxError)}
	}
	text, flags := strings.TrimSpace(line), ""
	if a.flags {
		text, flags, _ = strings.Cut(text, " ")
	}
	code, err := mma.ParseCode("d", a.d, text)
	if err != nil {
		return fmt.Errorf("its line %d is %q, not a %s code of %d hexadecimal digits", n+1, clean(line, shown), a.d, a.d.Get().Digits())
	}
	raised, err := strconv.ParseUint(strings.TrimSpace(flags), 16, 8)
	if a.flags && (err != nil || fp.Flags(raised) > fp.AllFlags) {
		return fmt.Errorf("its line %d is %q: after the code come the flags, 00 to %02x", n+1, clean(line, shown), uint8(fp.AllFlags))
	}
	if a.only {
		out[n] = byte(raised)
	} else {
		mma.Store(out, a.d.Width(), n, code)
	}
	return nil
}

// brokenLine describes an error that came in place of line n, with what there is of the
// line.
func brokenLine(n int, err error) error {
	text := fmt.Sprintf("after %d of its lines", n)
	var part *wire.PartialLine
	if errors.As(err, &part) {
		text += " and " + part.Error()
	} else if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		text += ": " + err.Error()
	}
	return &partialError{text, err}
}
