package main

import (
	"cmp"
	"context"
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
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
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

With --against exec:COMMAND it asks a quantizer of yours, a child process (mmafuzz help exec), and says
which rules have to be others to give all its results, if there are such: besides those above
input-rounding, input-ftz, output-ftz, signed-zero; blocks of zeros, and those with an infinity or a
NaN, are causes of their own. Its header announces two instructions with b=one and c=none, each of which
gets a block of K numbers:

  instruction element k=32 a=fp32 b=one c=none d=e4m3    the code of the first number
  instruction scale k=32 a=fp32 b=one c=none d=ue8m0     the code of the scale

So the code of another number of a block is the answer to the same numbers in another order, in which
this one is the first and those before it are the last: it is said if the scale depends on the order.
Where elements are integers, d of the first is u8. With a scale of the whole tensor (nvfp4), numbers
beyond those of a block are others of the tensor: k=32 for blocks of 16.

After a format and a colon stand rules that differ from its own: floor, ceil, even or rceil for the
scale where it is a power of two, else scale-ru and the like for its rounding; rne, rz, rd, ru, rna
or rto for that of elements; reciprocal, for multiplying by 1/scale; nosat, for elements that
overflow to a NaN or an infinity. Without --format it lists the formats.

Exit status: 0 done, or no differences, 1 differences, 2 trouble.`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return q.run(cmd.Context(), cmd.Flags().Changed("count")) },
	}
	f := c.Flags()
	f.StringVar(&q.format, "format", "", "`format` of a block, such as mxfp8 or mxfp4:even")
	f.StringVar(&q.against, "against", "", "`format` to compare with, or exec:COMMAND")
	f.StringSliceVar(&q.explain, "explain", nil, "`numbers` of a block, separated by commas")
	f.Float64Var(&q.tensor, "tensor", 0, "largest `magnitude` of the whole tensor (default: that of the block)")
	f.IntVar(&q.count, "count", 100_000, "`number` of blocks to compare (4000 with exec:)")
	f.Uint64Var(&q.seed, "seed", 1, "`seed` of the blocks")
	return c
}

func (q *quantizeCmd) run(ctx context.Context, counted bool) error {
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
	case strings.HasPrefix(q.against, "exec:"):
		if !counted {
			q.count = 4000
		}
		return q.compareUnit(ctx, &s)
	case q.against != "":
		return q.compare(&s)
	case q.explain == nil:
		return hint.New("--explain 957,-0.5 explains a block, --against FORMAT compares two formats", "--format alone asks nothing")
	case q.tensor != 0 && !s.Tensor:
		return hint.New("nvfp4 has one", "--tensor is %v, and %s has no scale of the tensor besides those of its blocks", q.tensor, s.Name)
	case math.IsNaN(q.tensor) || math.IsInf(float64(float32(q.tensor)), 0) || q.tensor < 0:
		return fmt.Errorf("--tensor is %v: it is the largest magnitude of the tensor, finite and not negative, in fp32", q.tensor)
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

// compareUnit compares a format with a child's quantizer.
func (q *quantizeCmd) compareUnit(ctx context.Context, a *quantize.Scheme) error {
	if err := upTo(mostBlocks, "count", q.count); err != nil {
		return err
	}
	u, err := openQuantizer(q.against, a)
	if err != nil {
		return err
	}
	defer u.target.Close()
	ask := func(cases []quantize.Case) ([]*quantize.Block, error) { return u.ask(ctx, cases) }
	c, err := quantize.CompareUnit(a, ask, u.block, u.tensor, q.count, q.seed)
	if err != nil {
		return err
	}
	smallest, orders := map[string]*quantize.Block{}, map[string]string{}
	for label, x := range c.Smallest {
		b, err := u.ask(ctx, []quantize.Case{x})
		if err != nil {
			return err
		}
		smallest[label] = b[0]
		if orders[label], err = u.byOrder(ctx, x); err != nil {
			return err
		}
	}
	err = q.result(c, func(w io.Writer, _ int) {
		if c.Differ == 0 {
			fmt.Fprintf(w, "%s and %s give the same scales and codes for %s blocks\n", a.Name, q.against, readable.Thousands(uint64(c.Blocks)))
			return
		}
		fmt.Fprintf(w, "%s and %s differ in %s of %s blocks\n", a.Name, q.against, readable.Thousands(uint64(c.Differ)), readable.Thousands(uint64(c.Blocks)))
		if c.Rules != "" {
			fmt.Fprintf(w, "all results of %s for blocks of numbers are those of %s with: %s\n", q.against, a.Name, c.Rules)
		}
		for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
			fmt.Fprintf(w, "\n%s  %s\n%s  %s:\n%s%s", readable.Thousands(uint64(c.Labels[label])), label,
				indent(folded(a.Explain(c.Smallest[label]))), q.against, indent(folded(a.Answer(smallest[label]))), orders[label])
		}
	})
	if err == nil && c.Differ > 0 {
		return errMismatch
	}
	return err
}

// quantizer is a child that quantizes blocks.
type quantizer struct {
	target         devices.Target
	element, scale devices.Unit
	block          int  // numbers of a block, at most
	tensor         bool // after them comes the largest magnitude of the tensor
}

// openQuantizer opens the two instructions of a child that have the formats of a scheme.
func openQuantizer(name string, s *quantize.Scheme) (u *quantizer, err error) {
	target, err := devices.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			target.Close()
		}
	}()
	u = &quantizer{target: target}
	for _, i := range target.Instructions() {
		at := &u.element
		switch {
		case i.A != fp.FP32 || i.B != fp.One || i.C != fp.None:
			continue
		case i.D == s.Scale && u.scale == nil:
			at = &u.scale
		case i.D != s.Element && (s.Element != fp.None || i.D != fp.U8):
			continue
		}
		if *at, err = target.Open(&i); err != nil {
			return nil, err
		}
	}
	switch {
	case u.element == nil || u.scale == nil:
		return nil, hint.New("mmafuzz quantize --help has the two lines", "%s has no instructions for elements and scales of %s: with a=fp32, b=one, c=none, and d=%s or d=%s", name, s.Name, cmp.Or(s.Element, fp.U8), s.Scale)
	case u.element.Instruction().K != u.scale.Instruction().K:
		return nil, fmt.Errorf("%s has elements with k=%d and scales with k=%d: blocks are the same for both", name, u.element.Instruction().K, u.scale.Instruction().K)
	}
	if u.block = u.element.Instruction().K; s.Columns != 0 {
		u.block = min(u.block, s.Columns)
	}
	u.tensor = s.Tensor && u.block < u.element.Instruction().K
	return u, nil
}

// ask quantizes blocks: each of their numbers is the first one in a question of its own.
func (u *quantizer) ask(ctx context.Context, cases []quantize.Case) ([]*quantize.Block, error) {
	var elements, scales []*mma.Dot
	for _, c := range cases {
		turned := u.turned(c)
		elements, scales = append(elements, turned...), append(scales, turned[0])
	}
	codes, err := resultsOf(ctx, u.element, elements)
	if err != nil {
		return nil, err
	}
	ofScales, err := resultsOf(ctx, u.scale, scales)
	if err != nil {
		return nil, err
	}
	blocks := make([]*quantize.Block, len(cases))
	for i, c := range cases {
		blocks[i] = &quantize.Block{Scale: ofScales[i], Codes: codes[:len(c.X)]}
		codes = codes[len(c.X):]
	}
	return blocks, nil
}

// turned are questions about a block, of which each begins with another of its numbers, and those before it come last.
func (u *quantizer) turned(c quantize.Case) (dots []*mma.Dot) {
	i := u.element.Instruction()
	for n := range c.X {
		d := mma.NewDot(i.Formats, i.K)
		for at, v := range slices.Concat(c.X[n:], c.X[:n]) {
			d.A[at] = uint64(math.Float32bits(v))
		}
		if u.tensor {
			d.A[u.block] = uint64(math.Float32bits(c.Most))
		}
		dots = append(dots, d)
	}
	return dots
}

// byOrder says of a block whether its scale depends on the order of its numbers: the code of a number is that of
// another block then.
func (u *quantizer) byOrder(ctx context.Context, c quantize.Case) (string, error) {
	scales, err := resultsOf(ctx, u.scale, u.turned(c))
	if err != nil {
		return "", err
	}
	for n, scale := range scales {
		if scale != scales[0] {
			f := u.scale.Instruction().D
			return fmt.Sprintf("  The scale depends on the order of the numbers: %s as above, %s if number %d is the first and those before it are the last.\n",
				mma.FormatCode(f, scales[0]), mma.FormatCode(f, scale), n+1), nil
		}
	}
	return "", nil
}

// folded writes lines that are repeated once.
func folded(text string) string {
	var s strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for n := 0; n < len(lines); {
		same := 1
		for n+same < len(lines) && lines[n+same] == lines[n] {
			same++
		}
		if line := strings.TrimSuffix(lines[n], "\n"); same > 2 {
			fmt.Fprintf(&s, "%s   %d times\n", line, same)
		} else {
			s.WriteString(strings.Repeat(lines[n], same))
		}
		n += same
	}
	return s.String()
}

// resultsOf runs a unit on single dot products.
func resultsOf(ctx context.Context, u devices.Unit, dots []*mma.Dot) ([]uint64, error) {
	i := u.Instruction()
	in, w := mma.BatchOf(i.Formats, i.K, dots), i.D.Width()
	out := make([]byte, len(dots)*w)
	if err := u.Run(ctx, in, out); err != nil {
		return nil, err
	}
	codes := make([]uint64, len(dots))
	for n := range codes {
		codes[n] = mma.Load(out, w, n)
	}
	return codes, nil
}

// indent moves lines to the right.
func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}
