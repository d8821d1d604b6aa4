package imports

import (
	"fmt"
	"io"
	"strconv"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Target stands for the target in the header of a recording that was imported.
const Target = "imported"

// side is the rows and columns of the tiles in which whole matrices are recorded.
const side = 32

// Recording writes a recording of what was imported.
func (w *Imported) Recording(out io.Writer, h corpus.Header) error {
	h.Target = Target
	h.Environment = map[string]string{"layout": w.Layout}
	r, err := corpus.NewRecordingWriter(out, h)
	if err != nil {
		return err
	}
	section := corpus.Section{Arch: w.row.Arch, Instruction: w.row.Name, K: w.row.K, Generator: "recorded"}
	var done uint64
	add := func(b *mma.Batch, d []byte) error {
		if section.Shape != b.Shape { // another section begins
			section.Shape, section.First = b.Shape, done
		}
		done += uint64(b.Dots())
		return r.Add(section, b, d)
	}
	if s := w.batch.Shape; s.M*s.N > 1 && w.uncoded == nil {
		err = w.tiles(add)
	} else {
		err = w.singles(add)
	}
	if err != nil {
		return err
	}
	return r.Close()
}

// singles adds dot products one by one, in frames of 1024, without those of an unknown code.
func (w *Imported) singles(add func(*mma.Batch, []byte) error) error {
	const most = 1024
	f, k, width := w.batch.Formats, w.batch.K, w.batch.D.Width()
	var dots []*mma.Dot
	var d []byte
	for i := range w.batch.Dots() {
		if w.uncoded == nil || !w.uncoded[i] {
			dot := mma.NewDot(f, k)
			w.batch.Get(i, dot)
			dots, d = append(dots, dot), append(d, w.d[i*width:(i+1)*width]...)
		}
		if n := len(dots); n > 0 && (n == most || n*k > 1<<20 || i == w.batch.Dots()-1) {
			if err := add(mma.BatchOf(f, k, dots), d); err != nil {
				return err
			}
			dots, d = nil, nil
		}
	}
	return nil
}

// tiles adds matrices in tiles of side x side, of which each has its rows and columns once.
func (w *Imported) tiles(add func(*mma.Batch, []byte) error) error {
	from, width := w.batch, w.batch.D.Width()
	dot := mma.NewDot(from.Formats, from.K)
	for t := range from.Tiles {
		for row := 0; row < from.M; row += side {
			for column := 0; column < from.N; column += side {
				b := mma.NewBatch(from.Formats, mma.Shape{M: min(side, from.M-row), N: min(side, from.N-column), K: from.K, Tiles: 1})
				d := make([]byte, b.Dots()*width)
				for i := range b.Dots() {
					at := (t*from.M+row+i/b.N)*from.N + column + i%b.N
					from.Get(at, dot)
					b.Set(i, dot)
					copy(d[i*width:], w.d[at*width:(at+1)*width])
				}
				if err := add(b, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Write says in words what was imported into a file.
func (w *Imported) Write(out io.Writer, file, target string, width int) {
	read := "layout " + w.Layout
	if w.Values != "" {
		read += ", values " + w.Values
	}
	fmt.Fprint(out, readable.Hanging(fmt.Sprintf("imported %s of K = %d, %s (D.A.B.C), as %s: %s; %s",
		readable.Plural(w.Dots, "dot product"), w.K, w.Formats, w.Instruction, read, readable.ShellPath(file)), width))
	say := func(n int, format string, args ...any) {
		if n > 0 {
			fmt.Fprint(out, readable.Hanging(fmt.Sprintf(format, args...), width))
		}
	}
	say(w.Checked, "%s of %s results that were checked are those of %s", readable.Thousands(uint64(w.Right)), readable.Thousands(uint64(w.Checked)), target)
	if target == "" {
		fmt.Fprintln(out, "to compare it with instructions of another K, give their --target and --inst")
	}
	say(w.Filled, "filled up with zeros from K = %d", w.K-w.Filled)
	say(w.Rounded, "rounded to nearest: %s in the text, which their formats lack", readable.Plural(w.Rounded, "number"))
	if f := w.batch.Formats; w.NoFlags {
		fmt.Fprint(out, readable.Hanging(fmt.Sprintf("left out: the column of exception flags; --columns a,b,c,-,d --formats %s,%s,%s,%s-flags-riscv imports it in place of the results", f.A, f.B, f.C, f.D), width))
	}
	say(w.LeftOut, "left out: %s with a NaN that is given as a number, so that its code is not known", strconv.Itoa(w.LeftOut))
}
