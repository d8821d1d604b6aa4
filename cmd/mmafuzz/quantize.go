package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/quantize"
)

// quantizeCmd is mmafuzz quantize.
type quantizeCmd struct {
	*app
	format, against string
	explain         []string
	tensor          float64
	count           int
	seed            uint64
}

// mostBlocks is the largest --count of quantize.
const mostBlocks = 10_000_000

func newQuantize(a *app) *cobra.Command {
	q := &quantizeCmd{app: a}
	c := &cobra.Command{
		Use:   "quantize --format F",
		Short: "scale and codes of a block of numbers, and why; what two formats make differently",
		Long: `quantize makes a block of FP32 numbers into a scale and codes, as OCP MX, NVFP4, FP8 by
tensor, row or tile, and block floating point do, and says why each number became what:

  mmafuzz quantize --format mxfp8 --explain 957
  mmafuzz quantize --format nvfp4 --explain 5,3,-0.1 --tensor 2688

With --against it compares the rules of two formats with the same scales and elements, on random
blocks and on numbers half way between two elements, and shows the smallest block for each cause:
scale-rule, scale-rounding, reciprocal, element-rounding, saturation.

  mmafuzz quantize --format nvfp4 --against nvfp4:reciprocal

After a format and a colon stand rules that differ from its own: floor, ceil, even or rceil for the
scale where it is a power of two, else scale-ru and the like for its rounding; rne, rz, rd, ru, rna
or rto for that of elements; reciprocal, for multiplying by 1/scale; nosat, for elements that
overflow to a NaN or an infinity. Without --format it lists the formats.

Exit status: 0 done, or no differences, 1 differences, 2 trouble.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return q.run() },
	}
	f := c.Flags()
	f.StringVar(&q.format, "format", "", "`format` of a block, such as mxfp8 or mxfp4:even")
	f.StringVar(&q.against, "against", "", "`format` to compare with")
	f.StringSliceVar(&q.explain, "explain", nil, "`numbers` of a block, separated by commas")
	f.Float64Var(&q.tensor, "tensor", 0, "largest `magnitude` of the whole tensor (default: that of the block)")
	f.IntVar(&q.count, "count", 100_000, "`number` of blocks to compare")
	f.Uint64Var(&q.seed, "seed", 1, "`seed` of the blocks")
	return c
}

func (q *quantizeCmd) run() error {
	if q.format == "" {
		return q.list()
	}
	s, err := quantize.Parse(q.format)
	if err != nil {
		return err
	}
	block := quantize.Case{Most: float32(q.tensor)}
	for _, text := range q.explain {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return hint.New("for example --explain 957,-0.5", "--explain: %.40q is no number", text)
		}
		block.X = append(block.X, float32(v))
	}
	switch {
	case q.against != "" && q.explain != nil:
		return errors.New("--against compares random blocks, --explain explains one: leave one of them out")
	case q.against != "":
		return q.compare(&s)
	case q.explain == nil:
		return hint.New("--explain 957,-0.5 explains a block, --against FORMAT compares two formats", "--format alone asks nothing")
	case math.IsNaN(q.tensor) || math.IsInf(q.tensor, 0) || q.tensor < 0 || q.tensor != 0 && !s.Tensor:
		return fmt.Errorf("--tensor is %v: it is for formats with a scale of the tensor, such as nvfp4, a finite magnitude", q.tensor)
	case s.Columns != 0 && len(block.X) > s.Rows*s.Columns:
		return fmt.Errorf("--explain has %d numbers, a block of %s has %d", len(block.X), s.Name, s.Rows*s.Columns)
	}
	return q.result(s.Of(block), func(w io.Writer, _ int) { io.WriteString(w, s.Explain(block)) })
}

func (q *quantizeCmd) list() error {
	all := quantize.Schemes()
	return q.result(all, func(w io.Writer, _ int) {
		for _, s := range all {
			fmt.Fprintf(w, "%-12s  %s\n", s.Name, s.Source)
		}
	})
}

func (q *quantizeCmd) compare(a *quantize.Scheme) error {
	if err := upTo(mostBlocks, "count", q.count); err != nil {
		return err
	}
	b, err := quantize.Parse(q.against)
	if err != nil {
		return err
	}
	c, err := quantize.Compare(a, &b, q.count, q.seed)
	if err != nil {
		return err
	}
	err = q.result(c, func(w io.Writer, _ int) {
		if c.Differ == 0 {
			fmt.Fprintf(w, "%s and %s give the same scales and codes for %s blocks\n", a.Name, b.Name, readable.Thousands(uint64(c.Blocks)))
			return
		}
		fmt.Fprintf(w, "%s and %s differ in %s of %s blocks\n", a.Name, b.Name, readable.Thousands(uint64(c.Differ)), readable.Thousands(uint64(c.Blocks)))
		for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
			fmt.Fprintf(w, "\n%s  %s\n", readable.Thousands(uint64(c.Labels[label])), label)
			for _, s := range []*quantize.Scheme{a, &b} {
				fmt.Fprint(w, indent(s.Explain(c.Smallest[label])))
			}
		}
	})
	if err == nil && c.Differ > 0 {
		return errMismatch
	}
	return err
}

// indent moves lines to the right.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
