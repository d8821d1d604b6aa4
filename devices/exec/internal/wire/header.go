// Package wire is the protocol between mmafuzz and a child process: header,
// frames and lines. The documentation of package exec is its specification.
package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Version is the version of the protocol, in the header's first line.
const Version = 1

// The limits of a header, and its words.
const (
	maxLine         = 4 << 10
	maxLines        = 4 << 10
	maxK            = 1 << 16
	maxDim          = 1 << 12
	maxDeadline     = 24 * time.Hour
	greeting        = "mmafuzz-exec"
	cannot          = "cannot"
	defaultDeadline = 30 * time.Second
)

// Header is what a child says about itself before the first request.
type Header struct {
	Text         bool // lines instead of frames
	Instructions []mma.Instruction
	Flags        []Flags       // those of which answers carry flags
	Batch        int           // most dot products in a request; 0: no limit
	Deadline     time.Duration // for an answer
	Children     int           // most children at a time; 0: no limit
	About        map[string]string
}

// Flags is an instruction whose results are the flags in the answers of another.
type Flags struct {
	Of int // number of the other in the header
	mma.Instruction
}

// All returns the instructions of the header, then those of flags.
func (h *Header) All() []mma.Instruction {
	all := slices.Clone(h.Instructions)
	for i := range h.Flags {
		all = append(all, h.Flags[i].Instruction)
	}
	return all
}

// anySize is the range of M and N of an instruction that takes tiles of any size.
var anySize = mma.Range{Min: 1, Max: maxDim, Step: 1}

// one returns a range that nobody has given as that of single rows or columns.
func one(r mma.Range) mma.Range {
	if r == anySize {
		return mma.Range{Min: 1, Max: 1, Step: 1}
	}
	return r
}

// Write writes the header.
func (h *Header) Write(w io.Writer) error {
	var b strings.Builder
	mode := "binary"
	if h.Text {
		mode = "text"
	}
	fmt.Fprintf(&b, "%s %d %s\n", greeting, Version, mode)
	for i := range h.Instructions {
		writeInstruction(&b, &h.Instructions[i])
		for _, f := range h.Flags {
			if f.Of == i {
				fmt.Fprintf(&b, " flags=%s", f.D.Flags())
			}
		}
		b.WriteByte('\n')
	}
	if h.Batch > 0 {
		fmt.Fprintf(&b, "batch %d\n", h.Batch)
	}
	if h.Deadline > 0 {
		fmt.Fprintf(&b, "deadline %s\n", h.Deadline)
	}
	if h.Children > 0 {
		fmt.Fprintf(&b, "children %d\n", h.Children)
	}
	for _, k := range slices.Sorted(maps.Keys(h.About)) {
		fmt.Fprintf(&b, "about %s %s\n", k, h.About[k])
	}
	b.WriteString("ready\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeInstruction(b *strings.Builder, i *mma.Instruction) {
	name := i.Name
	if i.Arch != "" {
		name = i.FullName()
	}
	fmt.Fprintf(b, "instruction %s k=%d a=%s b=%s c=%s d=%s", name, i.K, i.A, i.B, i.C, i.D)
	if i.Scale != fp.None {
		fmt.Fprintf(b, " scale=%s block=%d", i.Scale, i.Block)
	}
	if i.Down != 0 {
		fmt.Fprintf(b, " down=%d", i.Down)
	}
	if i.Mode != 0 {
		fmt.Fprintf(b, " round=%s", i.Mode)
	}
	for _, dim := range []struct {
		name string
		r    mma.Range
	}{{"m", i.M}, {"n", i.N}} {
		switch r := dim.r; {
		case r == anySize || r == mma.Range{}:
		case r.Min == r.Max:
			fmt.Fprintf(b, " %s=%d", dim.name, r.Min)
		default:
			fmt.Fprintf(b, " %s=%d..%d/%d", dim.name, r.Min, r.Max, max(r.Step, 1))
		}
	}
}

// ReadHeader reads the lines up to ready. Its errors say which line is wrong
// and why.
func ReadHeader(r *bufio.Reader) (*Header, error) {
	h := &Header{Deadline: defaultDeadline, About: map[string]string{}}
	for n := 1; n <= maxLines; n++ {
		line, err := ReadLine(r)
		if errors.Is(err, io.EOF) && n > 1 {
			return nil, &PartialHeader{n - 1}
		}
		if err != nil {
			return nil, err
		}
		if n == 1 {
			if err := h.greet(line); err != nil {
				return nil, err
			}
			continue
		}
		if line == "ready" {
			return h, h.complete()
		}
		if text, ok := strings.CutPrefix(line, cannot+" "); ok {
			return nil, &CannotError{text}
		}
		if err := h.take(line); err != nil {
			return nil, fmt.Errorf("line %d of the header, %q: %w", n, clip(line), err)
		}
	}
	return nil, fmt.Errorf("the header has more than %d lines", maxLines)
}

// CannotError reports that a child says it has nothing to offer here, and why.
type CannotError struct{ Text string }

func (e *CannotError) Error() string { return e.Text }

// WriteCannot writes, in place of a header, why there is none: text becomes one
// line.
func WriteCannot(w io.Writer, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	head := fmt.Sprintf("%s %d binary\n%s ", greeting, Version, cannot)
	_, err := fmt.Fprintf(w, "%s%s\n", head, strings.ToValidUTF8(text[:min(len(text), maxLine-len(head))], ""))
	return err
}

// ReadLine reads a line and returns it without its end. A line that is too long, or that
// the stream's end cuts off, is an error that shows the line's beginning.
func ReadLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine:
		return "", fmt.Errorf("a line of more than %d bytes that begins %q", maxLine, clip(string(line)))
	case err != nil && len(line) > 0:
		return "", &PartialLine{clip(string(line)), err}
	case err != nil:
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// PartialHeader reports that a stream ended in the middle of a header, after some lines.
type PartialHeader struct{ Lines int }

func (p *PartialHeader) Error() string {
	return fmt.Sprintf("after %d lines, without a line ready", p.Lines)
}
func (p *PartialHeader) Unwrap() error { return io.ErrUnexpectedEOF }

// PartialLine reports that a stream ended in the middle of a line.
type PartialLine struct {
	Text string
	Err  error
}

func (p *PartialLine) Error() string { return fmt.Sprintf("%q without an end of line", p.Text) }
func (p *PartialLine) Unwrap() error { return p.Err }

// clip returns the beginning of what a child has written, for an error.
func clip(s string) string {
	const most = 64
	return s[:min(len(s), most)]
}

// greet reads the first line.
func (h *Header) greet(line string) error {
	f := strings.Fields(line)
	if len(f) != 3 || f[0] != greeting {
		return fmt.Errorf("its first line is %q, not %q or %q", clip(line), greeting+" 1 binary", greeting+" 1 text")
	}
	if f[1] != strconv.Itoa(Version) {
		return fmt.Errorf("it speaks version %s of the protocol, this mmafuzz speaks %d", clip(f[1]), Version)
	}
	if f[2] != "binary" && f[2] != "text" {
		return fmt.Errorf("its first line is %q: the mode is neither binary nor text", clip(line))
	}
	h.Text = f[2] == "text"
	return nil
}

// take reads any other line.
func (h *Header) take(line string) (err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "instruction":
		err = h.takeInstruction(strings.Fields(rest))
	case "batch":
		h.Batch, err = number(rest, 1<<30)
	case "children":
		h.Children, err = number(rest, 1<<10)
	case "deadline":
		h.Deadline, err = time.ParseDuration(rest)
		if err == nil && (h.Deadline <= 0 || h.Deadline > maxDeadline) {
			err = fmt.Errorf("a deadline is between 1ns and %s", maxDeadline)
		}
	case "about":
		key, text, _ := strings.Cut(rest, " ")
		if key == "" || text == "" {
			return errors.New("not of the form: about WORD TEXT")
		}
		h.About[key] = text
	default:
		err = errors.New("unknown word (known: instruction, batch, deadline, children, about, ready, cannot)")
	}
	return err
}

// takeInstruction reads a line "instruction".
func (h *Header) takeInstruction(fields []string) error {
	i, rule, err := parseInstruction(fields)
	if err != nil {
		return err
	}
	h.Instructions = append(h.Instructions, i)
	if rule != 0 {
		f := Flags{len(h.Instructions) - 1, i}
		f.Name += ".flags"
		f.D, err = i.D.WithFlags(rule)
		h.Flags = append(h.Flags, f)
	}
	return err
}

// number reads a whole number from 1 to most.
func number(s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", clip(s), most)
	}
	return n, nil
}

// complete checks the header as a whole.
func (h *Header) complete() error {
	if len(h.Instructions) == 0 {
		return errors.New("the header has no line instruction")
	}
	seen := map[string]bool{}
	for _, i := range h.All() {
		if seen[i.Name] {
			return fmt.Errorf("the header has two instructions %s", i.Name)
		}
		seen[i.Name] = true
	}
	for n := range h.Instructions {
		if i := &h.Instructions[n]; h.Text { // a line is one dot product
			i.M, i.N = one(i.M), one(i.N)
		}
	}
	for n := range h.Flags {
		f, i := &h.Flags[n], &h.Instructions[h.Flags[n].Of]
		f.M, f.N = i.M, i.N
	}
	return nil
}
