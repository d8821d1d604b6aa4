package gpu

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Listing is a case in the buffers of a kernel, for a program that runs it: one
// tile whose D[0][0] is the dot product; all else is zero. A dot product that is
// longer than the instruction's K takes several launches (Steps), each with C = the
// previous D.
type Listing struct {
	Steps             int
	InWords, OutWords int      // of a launch's packed buffers, 32 bits each
	DBit, CBit        int      // where the codes of D[0][0] and C[0][0] begin
	DBits             int      // how many bits a code of C or D has
	Words             []string // the words of packed inputs that are not zero: {step, place, word}
}

// List returns the case in the buffers of a kernel.
func (c *Case) List(k *Kernel) (*Listing, error) {
	steps, err := c.steps(k)
	if err != nil {
		return nil, err
	}
	l := &Listing{
		Steps: len(steps), InWords: k.InBytes / 4, OutWords: k.OutBytes / 4,
		DBit: k.Out.At[0] + k.Out.Shift, DBits: int(c.Instruction.D.Get().CodeBits()),
	}
	for _, o := range k.In {
		if o.Role == RoleC {
			l.CBit = o.At[0] + o.Shift
		}
	}
	for n, packed := range steps {
		for at := 0; at < len(packed); at += 4 {
			if v := binary.LittleEndian.Uint32(packed[at:]); v != 0 {
				l.Words = append(l.Words, fmt.Sprintf("{%d, %d, 0x%08x}", n, at/4, v))
			}
		}
	}
	if l.Words == nil {
		l.Words = []string{"{0, 0, 0}"} // C has no empty arrays
	}
	return l, nil
}

// steps returns the packed inputs, one for each launch.
func (c *Case) steps(k *Kernel) ([][]byte, error) {
	p, err := NewPacker(k)
	if err != nil {
		return nil, err
	}
	i := c.Instruction
	if c.K%i.K != 0 || c.K == 0 {
		return nil, fmt.Errorf("%d elements are no multiple of %d", c.K, i.K)
	}
	if c.K > i.K && i.C != i.D {
		return nil, fmt.Errorf("c is %s and d is %s: it cannot be repeated for %d elements", i.C, i.D, c.K)
	}
	var all [][]byte
	for from := 0; from < c.K; from += i.K {
		b := mma.NewBatch(i.Formats, k.shape(1))
		blocks, first := i.Blocks(i.K), i.Blocks(from)
		d := &mma.Dot{A: c.Dot.A[from : from+i.K], B: c.Dot.B[from : from+i.K]}
		if from == 0 {
			d.C = c.Dot.C
		}
		if blocks > 0 {
			d.SA, d.SB = c.Dot.SA[first:first+blocks], c.Dot.SB[first:first+blocks]
		}
		b.Set(0, d)
		packed := make([]byte, k.InBytes)
		if err := p.Pack(packed, b); err != nil {
			return nil, err
		}
		all = append(all, packed)
	}
	return all, nil
}

// Describe describes the case for people, in comment lines that begin with the given mark.
func (c *Case) Describe(mark string) string {
	var s strings.Builder
	line := func(format string, args ...any) {
		s.WriteString(strings.TrimRight(mark+" "+fmt.Sprintf(format, args...), " ") + "\n")
	}
	i := c.Instruction
	line("%s: %s", OneLine(c.Target), code(i.D, c.Result))
	line("%s: %s", OneLine(c.Other), code(i.D, c.OtherResult))
	line("")
	for n := range c.K {
		if c.Dot.A[n] != 0 || c.Dot.B[n] != 0 {
			line("p%d = %s * %s", n, code(i.A, c.Dot.A[n]), code(i.B, c.Dot.B[n]))
		}
	}
	for n := range c.Dot.SA {
		line("scales of block %d: %s, %s", n, code(i.Scale, c.Dot.SA[n]), code(i.Scale, c.Dot.SB[n]))
	}
	if i.C != fp.None {
		line("c = %s", code(i.C, c.Dot.C))
	}
	line("All other products are zeros. Exit status: 0 if the GPU gives the first result, 1 if not.")
	return s.String()
}

// OneLine turns a target's name, which may be any command, into one line.
func OneLine(name string) string { return printable.Line(strings.Join(strings.Fields(name), " ")) }

// code writes a code and its value.
func code(f fp.ID, c uint64) string {
	return fmt.Sprintf("%0*x (%g)", f.Get().Digits(), c, f.Get().Float64(c))
}
