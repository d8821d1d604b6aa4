package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/tolerance"
)

// toleranceCmd is mmafuzz tolerance.
type toleranceCmd struct {
	*app
	unitFlags
	against   string
	generator string
	lengths   []int
	format    string
	tolerance.Measurement
}

func newTolerance(a *app) *cobra.Command {
	t := &toleranceCmd{app: a}
	c := &cobra.Command{
		Use:   "tolerance --target T --inst I",
		Short: "error, rtol and atol of an instruction, also against K",
		Long: `tolerance measures how near the results of a unit are to the exact values, or to the
results of another unit, on dot products of a distribution, and prints rtol and atol as
numpy.allclose takes them: |result - reference| <= atol + rtol*|reference|. rtol is what
one rounding needs, unless it is given; atol is the least that all inputs need with it,
rounded up. Both are tried on as many other inputs, and it is counted how many of those
would pass a unit that always gives 0. With several --k it is a table of the error against K.

  mmafuzz tolerance --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32 --k 1024
  mmafuzz tolerance --target sim:hopper --inst wgmma.m64n8k32.f32.e4m3.e4m3 --k 32,256,2048
  mmafuzz tolerance --target sim:cdna3 --inst v_mfma_f32_16x16x16_f16 --gen dnn --against ref:fma32

They are measured, not proved: mmafuzz run --accept hunts for the worst inputs, and
mmafuzz study bounds has bounds that hold for all.

Exit status: 0 done, 2 trouble, 75 interrupted.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return t.run(cmd.Context()) },
	}
	t.unitFlags.add(c, "sim:hopper")
	f := c.Flags()
	f.StringVar(&t.against, "against", "", "`target` with the results to compare with (default: the exact values)")
	f.StringVar(&t.generator, "gen", "normal", "`generator` of the inputs, such as normal, uniform or dnn (mmafuzz list generators)")
	f.IntSliceVar(&t.lengths, "k", nil, "`number` of products of a dot product, a multiple of the instruction's, or several with commas (default: as many as that has)")
	f.IntVar(&t.Count, "count", 10_000, "`number` of dot products")
	f.Uint64Var(&t.Seed, "seed", 1, "`seed` of the inputs")
	f.Float64Var(&t.Rtol, "rtol", 0, "`number` to find atol for (default: twice the unit roundoff of the result)")
	formatFlag(f, &t.format, "text")
	completeTargets(c, "against")
	_ = c.RegisterFlagCompletionFunc("gen", completeGenerators)
	return c
}

// mostSamples is the largest --count, longest the largest --k.
const mostSamples, longest = 10_000_000, 1 << 20

// nearestMultiple returns the multiple of step that is nearest to k, of those that --k may be.
func nearestMultiple(k, step int) int {
	return min(max((k+step/2)/step, 1), longest/step) * step
}

func (t *toleranceCmd) run(ctx context.Context) error {
	if err := checkFormat(t.format); err != nil {
		return err
	}
	target, u, err := t.openLive()
	if err != nil {
		return err
	}
	defer target.Close()
	i := u.Instruction()
	if t.lengths == nil {
		t.lengths = []int{i.K}
	}
	if err := upTo(mostSamples, "count", t.Count); err != nil {
		return err
	}
	for _, k := range t.lengths {
		if k < 1 || k > longest || k%i.K != 0 {
			return hint.New(fmt.Sprintf("for example --k %d", nearestMultiple(k, i.K)), "--k is %d, not a multiple of %d, the products of %s, up to %d", k, i.K, i.Name, longest)
		}
	}
	if t.Rtol < 0 {
		return fmt.Errorf("--rtol is %g, it must not be negative", t.Rtol)
	}
	if t.Generator, err = gen.Find(t.generator); err != nil {
		return hint.New("mmafuzz list generators lists them", "--gen: %v", err)
	}
	var reference devices.Unit
	against := "the exact values"
	if t.against != "" {
		other, b, err := t.openAgainst(i)
		if err != nil {
			return err
		}
		defer other.Close()
		reference, against = b, other.Name()+"/"+b.Instruction().Name
	}
	line := newStatusLine(t.app)
	t.Progress = func(done int) {
		if !t.json && done%256 == 0 {
			line.show(statusField{fmt.Sprintf("%s of %s dot products", readable.Thousands(uint64(done)), readable.Thousands(uint64(2*t.Count))), 1})
		}
	}
	var all []*tolerance.Measured
	for _, t.K = range t.lengths {
		if t.Unit = devices.WithK(u, t.K); reference != nil {
			t.Against = devices.WithK(reference, t.K)
		}
		res, err := t.Measure(ctx)
		line.clear()
		if err != nil {
			return err
		}
		res.Target, res.Against = target.Name()+"/"+i.Name, against
		res.Command = t.command(i)
		all = append(all, res)
	}
	if len(all) == 1 && (t.json || t.format == "text") {
		return t.result(all[0], all[0].Write)
	}
	table := tolerance.Lengths{Lengths: all}
	if t.json {
		return t.writeJSON(table)
	}
	return t.writeDocument(table.Document(), t.format, true)
}

// openAgainst opens the unit that gives the results to compare with.
func (t *toleranceCmd) openAgainst(i *mma.Instruction) (devices.Target, devices.Unit, error) {
	inst, like := i.Name, ""
	if strings.HasPrefix(t.against, "ref:") {
		like = t.target
	}
	if _, named := devices.Split(t.against); named != "" {
		inst = ""
	}
	other, b, err := open.Live(t.against, inst, like)
	if err != nil {
		return nil, nil, err
	}
	if err := devices.Comparable(i.Formats, b.Instruction().Formats); err != nil {
		other.Close()
		return nil, nil, err
	}
	return other, b, nil
}

// command is the command that measures the same.
func (t *toleranceCmd) command(i *mma.Instruction) string {
	words := []string{"tolerance", "--target", t.target}
	if _, named := devices.Split(t.target); named == "" {
		words = append(words, "--inst", i.Name)
	}
	for _, f := range []struct{ flag, value string }{{"--like", t.like}, {"--against", t.against}} {
		if f.value != "" {
			words = append(words, f.flag, f.value)
		}
	}
	words = append(words, "--gen", t.generator, "--k", fmt.Sprint(t.K), "--count", fmt.Sprint(t.Count), "--seed", fmt.Sprint(t.Seed))
	if t.Rtol != 0 {
		words = append(words, "--rtol", fmt.Sprint(t.Rtol))
	}
	return command() + " " + readable.ShellCommand(words...)
}
