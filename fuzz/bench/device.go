package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// warps are the numbers of warps of Sun et al., Figs. 6 and 7, ilp the most
// instruction-level parallelism.
var warps = []int{1, 2, 4, 6, 8, 12, 16}

const ilp = 6

// nearly is the part of the best throughput from which it counts as reached: Tables
// 3 to 7 name points of which the next has 1 to 3 % more.
const nearly = 0.97

// Pipeline is how an instruction goes through one multiprocessor of a GPU: what the
// tables and figures of Sun et al. have.
type Pipeline struct {
	Device      string      `json:"device"`
	Instruction string      `json:"inst"`
	Issues      []gpu.Issue `json:"issues"`
}

// completion is the cycles from the issue of an instruction to its result: those of
// one warp without parallelism.
func (p *Pipeline) completion() float64 { return p.Issues[0].Latency }

// converged is, for a number of warps that was measured, the least parallelism that has
// nearly all of the throughput.
func (p *Pipeline) converged(warps int) gpu.Issue {
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
	return gpu.Issue{}
}

// Pipelines measures instructions of a GPU, and names those that cannot be measured:
// the instruction is no mma.sync, or the compiler makes it of others. each is called
// before each.
func Pipelines(ctx context.Context, target string, insts []*mma.Instruction, each func(n int, name string)) (all []Pipeline, without []string, err error) {
	c, err := cuda.NewChecker(target)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for n, i := range insts {
		if ctx.Err() != nil {
			return all, without, ctx.Err()
		}
		each(n, i.Name)
		issues, err := c.Pipeline(ctx, i, warps, ilp)
		if err != nil {
			return all, without, fmt.Errorf("%s: %w", i.Name, err)
		}
		if issues == nil {
			without = append(without, i.Name)
			continue
		}
		all = append(all, Pipeline{c.Name(), i.Name, issues})
	}
	return all, without, nil
}

//go:embed sun.tsv
var sunTables string

// printed returns the row of Sun et al. about an instruction on a device, by the name
// that its driver gives.
func printed(device, inst string) (table string, row []string) {
	for l := range strings.Lines(sunTables) {
		f := strings.Split(strings.TrimSpace(l), "\t")
		if len(f) > 2 && f[2] == inst && strings.Contains(device, f[1]) {
			return f[0], f[3:]
		}
	}
	return "", nil
}

// WritePipelines writes the table of Sun et al.: completion latency, and of four and
// eight warps the least parallelism with nearly all throughput; under each row theirs,
// where they have measured this GPU; with matrix, all combinations in place of it.
func WritePipelines(w io.Writer, all []Pipeline, matrix bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if matrix {
		writeMatrix(t, all)
		return t.Flush()
	}
	fmt.Fprintln(t, "INSTRUCTION\tLATENCY\t4 WARPS: ILP\tLATENCY\tFMA/CYCLE\t8 WARPS: ILP\tLATENCY\tFMA/CYCLE")
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
