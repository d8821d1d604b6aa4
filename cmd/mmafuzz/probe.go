package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/open"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
	"github.com/mmafuzz/mmafuzz/triage/stochastic"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// probeCmd is mmafuzz probe.
type probeCmd struct {
	*app
	unitFlags
	papers   []string
	evidence bool
	brief    bool
	format   string
	document *document.Document
	svg, dot string
	profile  int
	seed     uint64
}

func newProbe(a *app) *cobra.Command {
	p := &probeCmd{app: a}
	c := &cobra.Command{
		Use:   "probe --target T --inst I",
		Short: "ask a unit the questions of the literature: rounding, widths, order, special values",
		Long: `probe asks a unit the questions that papers have asked of matrix units, and answers
in their words. Inputs are made from the formats and from earlier answers. "-" is
the answer where no input of these formats decides; the reason stands beside it.

  mmafuzz probe --target sim:hopper --inst mma.m16n8k16.f32.f16.f16.f32

The summation tree shows products p0, p1, .. and c: [ ] is a fused sum in which a
large term makes small ones vanish, { } an exact one, ( ) the sum of two terms.`,
		ValidArgsFunction: cobra.NoFileCompletions,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"svg", "dot", "figures", "format", "evidence", "profile", "paper"} {
				if p.brief && cmd.Flags().Changed(name) {
					return hint.New("leave one out", "--brief prints three lines, and has nothing for --%s", name)
				}
			}
			return notNegative(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context()) },
	}
	f := c.Flags()
	p.unitFlags.add(c, "sim:hopper")
	f.StringSliceVar(&p.papers, "paper", paperKeys(), "`papers` whose questions to ask")
	f.BoolVar(&p.evidence, "evidence", false, "print the inputs and results that prove each answer, as eval reads them")
	f.BoolVar(&p.brief, "brief", false, "print three lines only: bits kept, order and rounding, subnormals")
	f.StringVar(&p.svg, "svg", "", "write a picture of the summation tree to this `file`")
	f.StringVar(&p.dot, "dot", "", "write the summation tree for Graphviz to this `file`")
	f.IntVar(&p.profile, "profile", 0, "also print mean errors of `n` normally distributed inputs for each operation (Sun et al., Tables 12 to 15)")
	f.Uint64Var(&p.seed, "seed", 1, "`seed` of --profile")
	formatFlag(f, &p.format, "text")
	p.figuresFlag(f)
	return c
}

func paperKeys() []string {
	var keys []string
	for _, p := range probe.Papers {
		keys = append(keys, p.Key)
	}
	return keys
}

func (p *probeCmd) run(ctx context.Context) error {
	for _, key := range p.papers {
		if err := checkWord("paper", key, paperKeys()...); err != nil {
			return err
		}
	}
	if err := cmp.Or(checkFormat(p.format), open.NotInput(p.svg, p.target), open.NotInput(p.dot, p.target)); err != nil {
		return err
	}
	t, u, err := p.openLive()
	if err != nil {
		return err
	}
	defer t.Close()
	p.document = document.New(fmt.Sprintf("What %s says of %s", p.target, u.Instruction().Name), probe.About)
	pr := probe.New(ctx, u)
	if err := p.checkStable(ctx, pr, u); err != nil {
		return err
	}
	i := u.Instruction()
	switch {
	case i.D.Integer():
		return hint.New("mmafuzz infer, with the same --target and --inst, finds how integers are added up", "the questions are about floating-point sums, not about those in %s", i.D)
	case i.D.Flags() != 0:
		return hint.New("mmafuzz run --b ref:fma32 or the like compares flags with IEEE 754's", "the questions are about sums, not about %s", i.D)
	case p.brief && i.Conversion() && !p.json:
		text, err := pr.BriefConversion()
		if err == nil {
			_, err = fmt.Fprint(p.stdout, text)
		}
		return err
	case p.brief:
		return p.writeBrief(pr)
	}
	converts := i.Conversion() && i.K == 1
	if converts && !p.json {
		text, err := pr.BriefConversion()
		if err != nil {
			return err
		}
		if err := p.section("How it rounds", document.Indent(2, document.Pre(text))); err != nil {
			return err
		}
	}
	for _, paper := range probe.Papers {
		if !slices.Contains(p.papers, paper.Key) {
			continue
		}
		answers, err := pr.Ask(paper.Key)
		if err != nil {
			return err
		}
		if err := writeIf(p.app, pr.WithEvidence(answers)); err != nil {
			return err
		}
		if len(answers) == 0 {
			continue
		}
		if err := p.section(paper.Title, probe.Table(pr.WithEvidence(answers))); err != nil {
			return err
		}
	}
	if !converts || p.svg+p.dot != "" {
		if err := p.tree(pr, i); err != nil {
			return err
		}
	}
	if err := p.profiles(ctx, u); err != nil {
		return err
	}
	p.document.Overview = []document.Block{document.Text(readable.Converted(i.Formats, fmt.Sprintf("%d dot products were asked for, in %d batches.", pr.Queries, pr.Batches)))}
	if converts {
		p.document.Overview = append(p.document.Overview, document.Text("It is a conversion: there are no sums to ask about. mmafuzz infer, with the same --target and --inst, finds how it rounds."))
	}
	if err := p.export(p.document); err != nil {
		return err
	}
	switch {
	case p.json:
		return nil
	case p.format == "text":
		p.document.Sections = nil // they have been shown
	}
	return p.writeDocument(p.document, p.format, p.evidence)
}

// writeBrief prints the answers of --brief.
func (p *probeCmd) writeBrief(pr *probe.Prober) error {
	var all []probe.Answer
	for _, paper := range []string{"fasi", "clfp"} {
		answers, err := pr.Ask(paper)
		if err != nil {
			return err
		}
		all = append(all, answers...)
	}
	if p.json {
		return writeIf(p.app, pr.WithEvidence(all))
	}
	_, err := fmt.Fprint(p.stdout, probe.Brief(all))
	return err
}

// section adds a section. A terminal shows it at once: a unit may take its time for the next one.
func (p *probeCmd) section(title string, blocks ...document.Block) error {
	p.document.Add(title, blocks...)
	if p.json || p.format != "text" {
		return nil
	}
	alone := document.New("", "")
	alone.Add(title, blocks...)
	err := p.writeDocument(alone, p.format, p.evidence)
	fmt.Fprintln(p.stdout)
	return err
}

// checkStable warns of a unit that changes its answers, before they are shown as facts.
func (p *probeCmd) checkStable(ctx context.Context, pr *probe.Prober, u devices.Unit) error {
	unstable, err := stability.Sample(ctx, p.target, u)
	if unstable == nil {
		return err
	}
	pr.Unstable = unstable.Error()
	found, err := stochastic.Judge(ctx, u, stochastic.Options{K: u.Instruction().K, Seed: p.seed, Answers: stochastic.Most, Looks: 1})
	var unjudged stochastic.Unjudged
	switch {
	case errors.As(err, &unjudged):
		pr.Unstable += "; " + unjudged.Text(p.target)
	case devices.IsFault(err):
		pr.Unstable += fmt.Sprintf("; whether it rounds stochastically is not known: %v", err)
	case err != nil:
		return err
	case found != nil:
		pr.Unstable = found.Text(p.target)
	}
	return p.section("", document.Alert("WARNING: "+strings.TrimSuffix(pr.Unstable, ".")+". What follows are answers of such a unit: they prove nothing."))
}

// tree prints the summation tree and writes its pictures.
func (p *probeCmd) tree(pr *probe.Prober, i *mma.Instruction) error {
	t, why := pr.Tree()
	switch {
	case t == nil && p.svg+p.dot != "":
		return fmt.Errorf("there is no summation tree to draw: %s", why)
	case t == nil:
		if err := writeIf(p.app, []probe.TreeFound{{Problem: why, Unstable: pr.Unstable}}); err != nil {
			return err
		}
		return p.section("summation tree", probe.NoTree(why))
	}
	if err := writeIf(p.app, []probe.TreeFound{{Tree: t.Formula(i.K), Unstable: pr.Unstable}}); err != nil {
		return err
	}
	if err := p.section("summation tree", t.Figure(i.K)); err != nil {
		return err
	}
	for _, w := range []struct{ file, text string }{{p.svg, t.SVG(i.FullName(), i.K)}, {p.dot, t.Graphviz(i.FullName(), i.K)}} {
		if w.file == "" {
			continue
		}
		if err := corpus.ReplaceFile(w.file, []byte(w.text)); err != nil {
			return err
		}
	}
	return nil
}

func (p *probeCmd) profiles(ctx context.Context, u devices.Unit) error {
	if p.profile <= 0 {
		return nil
	}
	rows, err := study.Profiles(ctx, u, p.seed, p.profile)
	if err != nil {
		return err
	}
	if err := writeIf(p.app, rows); err != nil {
		return err
	}
	return p.section(study.ProfileTable(rows, p.seed, p.profile))
}
