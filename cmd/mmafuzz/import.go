package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/imports"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// importCmd is mmafuzz import.
type importCmd struct {
	*app
	unitFlags
	imports.Options
	out, name, date string
}

func newImport(a *app) *cobra.Command {
	x := &importCmd{app: a}
	c := &cobra.Command{
		Use:   "import [OPERAND=]FILE[:ARRAY]... --out FILE.rec",
		Short: "make a recording of operands and results in .npy, .npz, CSV, JSON lines and others",
		Long: `import makes a recording, which run and compare take, of files with operands A, B and C and
results D that another program has written:

  .npy, .npz    arrays of NumPy, also of the types of ml_dtypes
  .safetensors  matrices, as a=FILE.safetensors:NAME
  .csv, .tsv    columns named a, b, c, d or a0, a1, ... in any order; a cell may hold a list
  .json         objects with a, b, c and d, one a line or in a list
  .hex, .mem    words of $readmemh of Verilog, as mmafuzz vectors writes them, for example
  other text    lines as mmafuzz eval reads them, with the result; TestFloat's; matrices

What they do not say is found out, or an error names the flag that says it. Which operand a
file has is known by its name (A.npy, run_a.npy) or by a=FILE. Integers of the width of a format
are codes of it.

--layout has the dimensions of A, B and D, as numpy.einsum does: m rows and n columns of D,
k products of each result, t tiles. tk,tk,t is a dot product in each row, mk,kn,mn a product of
matrices, mk,nk,mn one with the columns of B as rows.

--columns names columns: a*8,b*8,c,d,- are eight of A, eight of B, C, D and one to leave out. For
$readmemh these are the parts of a word from the highest bits on, and of an operand the first
element, a0, is the lowest bits, as mmafuzz vectors writes it. Exception flags are results of
their own: --columns a,b,c,-,d --formats fp32,fp32,fp32,fp32-flags-riscv takes those of TestFloat.

--values says whether text is numbers, codes in hexadecimal (hex), or codes in decimal (codes).

With --target and --inst the results are those of this instruction, and if the files can be read
in several ways, the one is taken in which they are its results far more often than in others.
Inputs of fuzzing engines, which have no results, are for mmafuzz corpus import.

Exit status: 0 imported, 2 trouble.`,
		Args: takes("FILE..."),
		RunE: func(cmd *cobra.Command, args []string) error { return x.run(cmd.Context(), args) },
	}
	f := c.Flags()
	f.StringVar(&x.out, "out", "", "`file` of the recording (required)")
	f.StringVar(&x.target, "target", "", "`target` whose results they are, such as sim:hopper")
	f.StringVar(&x.inst, "inst", "", "`instruction` whose results they are")
	f.StringVar(&x.like, "like", "", "for reference arithmetic: a `target` whose instruction gives the formats, such as sim:hopper")
	f.StringVar(&x.Formats, "formats", "", "`formats` of A, B, C and D, such as fp16,fp16,fp32,fp32")
	f.StringVar(&x.Layout, "layout", "", "`layout` of arrays, such as mk,kn,mn")
	f.StringVar(&x.Columns, "columns", "", "`columns` of tables, such as a*8,b*8,c,d")
	f.StringVar(&x.Values, "values", "", "what text is: `"+strings.Join(imports.Values, "|")+"`")
	f.StringVar(&x.name, "name", "", "`name` of the machine in comparisons (default: that of the file)")
	f.StringVar(&x.date, "date", "", "`date` to be kept in the recording, YYYY-MM-DD (default: none)")
	completeTargets(c, "target", "like")
	completeInstructions(c, "inst", &x.target)
	oneOf(c, "values", imports.Values...)
	return c
}

func (x *importCmd) run(ctx context.Context, files []string) error {
	x.Files = files
	if x.out == "" {
		return hint.New("for example --out results.rec", "--out is missing: the file of the recording")
	}
	if x.name == "" {
		x.name = corpus.MachineName(strings.TrimSuffix(filepath.Base(x.out), filepath.Ext(x.out)))
	}
	if err := corpus.CheckMachine(x.name); err != nil {
		return fmt.Errorf("--name: %w", err)
	}
	if _, err := parseDate("date", x.date); err != nil {
		return err
	}
	if err := corpus.CheckForeign(x.out, "recording of mmafuzz import", x.ours); err != nil {
		return hint.Add(err, "name another file with --out")
	}
	if x.target != "" || x.inst != "" {
		t, u, err := x.openLive()
		if err != nil {
			return err
		}
		defer t.Close()
		x.Instruction = u.Instruction()
		x.Right = func(in *mma.Batch, d []byte) (int, error) { return countRight(ctx, u, in, d) }
		x.target = t.Name()
	}
	read, err := imports.Read(x.Options)
	if err != nil {
		return err
	}
	if err := x.write(read); err != nil {
		return err
	}
	e := &importedEvent{newEvent("imported"), x.out, x.name, read}
	return x.result(e, func(w io.Writer, width int) { read.Write(w, x.out, x.target, width) })
}

// importedEvent is what import --json writes.
type importedEvent struct {
	eventHead
	File string `json:"file"`
	Name string `json:"name"`
	*imports.Imported
}

// ours reports whether the file of --out is a recording that import has made.
func (x *importCmd) ours() bool {
	rec, err := corpus.OpenRecording(x.out)
	return err == nil && rec.Header.Target == imports.Target
}

// write writes the recording.
func (x *importCmd) write(read *imports.Imported) error {
	f, err := corpus.Replace(x.out)
	if err != nil {
		return hint.Add(err, "name a file with --out that can be written")
	}
	if err := read.Recording(f, corpus.Header{Versions: versions.Current(), Name: x.name, Date: x.date}); err != nil {
		_ = f.Discard()
		return err
	}
	return f.Commit()
}

// countRight counts the results that a unit gives.
func countRight(ctx context.Context, u devices.Unit, in *mma.Batch, d []byte) (n int, err error) {
	got := make([]byte, len(d))
	if err := u.Run(ctx, in, got); err != nil {
		return 0, err
	}
	policy, w := oracle.DefaultPolicy(0, u.Instruction().Unknown), in.D.Width()
	for i := range in.Dots() {
		if oracle.Compare(in.D, policy, mma.Load(got, w, i), mma.Load(d, w, i)) == oracle.Same {
			n++
		}
	}
	return n, nil
}
