package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// warps are the numbers of warps in Sun et al., Figs. 6 and 7; ilp is the largest
// instruction-level parallelism there.
var warps = []int{1, 2, 4, 6, 8, 12, 16}

const ilp = 6

// nearly is the part of the best throughput that counts as reaching it: the points that
// their Tables 3 to 7 name have a next point with 1 to 3 % more.
const nearly = 0.97

// Pipeline is how fast an instruction is on one multiprocessor of a GPU, as in the tables
// and figures of Sun et al.
type Pipeline struct {
	Device      string       `json:"device"`
	Instruction string       `json:"inst"` // or the load, with its bank conflicts
	Unit        string       `json:"unit"` // of throughputs: fma, or bytes of a load
	Issues      []cuda.Issue `json:"issues"`
}

// completion returns the cycles from the issue of an instruction to its result: the latency
// with one warp and no parallelism.
func (p *Pipeline) completion() float64 { return p.Issues[0].Latency }

// converged returns, for a number of warps that was measured, the issue with the least
// parallelism that has nearly all of the throughput.
func (p *Pipeline) converged(warps int) cuda.Issue {
	var best float64
	for _, i := range p.Issues {
		if i.Warps == warps {
			best = max(best, i.Throughput)
		}
	}
	for _, i := range p.Issues {
		if i.Warps == warps && i.Throughput >= nearly*best {
			return i
		}
	}
	return cuda.Issue{}
}

// Loads returns the loads from shared memory whose names begin as a word does.
func Loads(word string) []cuda.Load {
	return slices.DeleteFunc(slices.Clone(cuda.Loads), func(l cuda.Load) bool { return !strings.HasPrefix(l.String(), word) })
}

// Pipelines measures instructions of a GPU, then loads from shared memory. without names those
// that cannot be measured, because they are no mma.sync, the compiler builds them from other
// instructions, or the GPU lacks the load. each is called before each.
func Pipelines(ctx context.Context, target string, insts []*mma.Instruction, loads []cuda.Load, each func(n int, name string)) (all []Pipeline, without []string, err error) {
	c, err := cuda.NewChecker(target)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	measure := func(n int, name, unit string, issues func() ([]cuda.Issue, error)) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		each(n, name)
		found, err := issues()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case found == nil:
			without = append(without, name)
		default:
			all = append(all, Pipeline{c.Name(), name, unit, found})
		}
		return nil
	}
	for n, i := range insts {
		if err := measure(n, i.Name, "fma", func() ([]cuda.Issue, error) { return c.Pipeline(ctx, i, warps, ilp) }); err != nil {
			return all, without, err
		}
	}
	for n, l := range loads {
		if err := measure(len(insts)+n, l.String(), "bytes", func() ([]cuda.Issue, error) { return c.LoadPipeline(ctx, l, warps, ilp) }); err != nil {
			return all, without, err
		}
	}
	return all, without, nil
}

//go:embed sun.tsv
var sunTables string

// printed returns the row in a table of Sun et al. about an instruction on a device, which
// is given by its driver's name for it; nil if they have none.
func printed(device, inst string) (table string, row []string) {
	for l := range strings.Lines(sunTables) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) > 2 && f[2] == inst && strings.Contains(device, f[1]) {
			return f[0], f[3:]
		}
	}
	return "", nil
}

// WritePipelines writes the measurements of Pipelines for people, as the table of Sun et al.: the completion latency, and for four and
// eight warps the least parallelism with nearly all of the throughput. Their own figures are
// under each row if they have measured this GPU. With matrix, it writes all combinations
// instead.
func WritePipelines(w io.Writer, all []Pipeline, without []string, matrix bool) error {
	if len(all) > 0 {
		fmt.Fprintf(w, "%s: cycles, and multiplications with additions (of loads: bytes) a cycle, on one multiprocessor\n\n", all[0].Device)
		if err := writeTable(w, all, matrix); err != nil {
			return err
		}
	}
	if len(without) > 0 {
		fmt.Fprintf(w, "\nnot measured, since they are no mma.sync, the compiler makes them of others, or the GPU lacks them: %s\n", strings.Join(without, " "))
	}
	return nil
}

func writeTable(w io.Writer, all []Pipeline, matrix bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if matrix {
		writeMatrix(t, all)
		return t.Flush()
	}
	fmt.Fprintln(t, "INSTRUCTION\tLATENCY\t4 WARPS: ILP\tLATENCY\tA CYCLE\t8 WARPS: ILP\tLATENCY\tA CYCLE")
	for i := range all {
		p := &all[i]
		row := []string{number(p.completion())}
		for _, n := range []int{4, 8} {
			c := p.converged(n)
			row = append(row, strconv.Itoa(c.ILP), number(c.Latency), number(c.Throughput))
		}
		fmt.Fprintf(t, "%s\t%s\n", p.Instruction, strings.Join(row, "\t"))
		if table, theirs := printed(p.Device, p.Instruction); theirs != nil {
			fmt.Fprintf(t, "  Sun et al., Table %s\t%s\n", table, strings.Join(theirs, "\t"))
		}
	}
	return t.Flush()
}

// writeMatrix writes the throughputs and latencies of Figs. 6 and 7.
func writeMatrix(t io.Writer, all []Pipeline) {
	for i := range all {
		p := &all[i]
		fmt.Fprintf(t, "%s\n  WARPS", p.Instruction)
		for n := range ilp {
			fmt.Fprintf(t, "\tILP %d", n+1)
		}
		for n, x := range p.Issues {
			if n%ilp == 0 {
				fmt.Fprintf(t, "\n  %d", x.Warps)
			}
			fmt.Fprintf(t, "\t%s (%s)", number(x.Throughput), number(x.Latency))
		}
		fmt.Fprint(t, "\n\n")
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
