package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// probeCmd is mmafuzz probe.
type probeCmd struct {
	*app
	unitFlags
	papers   []string
	evidence bool
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
		RunE:              func(cmd *cobra.Command, _ []string) error { return p.run(cmd.Context()) },
	}
	f := c.Flags()
	p.unitFlags.add(c, "sim:hopper")
	f.StringSliceVar(&p.papers, "paper", paperKeys(), "`papers` whose questions to ask")
	f.BoolVar(&p.evidence, "evidence", false, "print the inputs and results that prove each answer, as eval reads them")
	f.StringVar(&p.svg, "svg", "", "write a picture of the summation tree to this `file`")
	f.StringVar(&p.dot, "dot", "", "write the summation tree for Graphviz to this `file`")
	f.IntVar(&p.profile, "profile", 0, "also print mean errors of `n` normally distributed inputs for each operation (Sun et al., Tables 12 to 15)")
	f.Uint64Var(&p.seed, "seed", 1, "`seed` of --profile")
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
	t, u, err := p.open()
	if err != nil {
		return err
	}
	defer t.Close()
	if _, ok := u.(devices.Recorder); ok {
		return errAsked(t)
	}
	pr := probe.New(ctx, u)
	i := u.Instruction()
	for _, paper := range probe.Papers {
		if !slices.Contains(p.papers, paper.Key) {
			continue
		}
		answers, err := pr.Ask(paper.Key)
		if err != nil {
			return err
		}
		if err := p.print(i, paper.Title, answers); err != nil {
			return err
		}
	}
	if err := p.tree(pr, i); err != nil {
		return err
	}
	if err := p.profiles(pr); err != nil {
		return err
	}
	if !p.json {
		fmt.Fprintf(p.stdout, "%d dot products were asked for, in %d batches.\n", pr.Queries, pr.Batches)
	}
	return nil
}

// probeAnswer is an answer in JSON.
type probeAnswer struct {
	Paper    string   `json:"paper"`
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Value    string   `json:"value"`
	Remark   string   `json:"remark,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
}

func (p *probeCmd) print(i *mma.Instruction, title string, answers []probe.Answer) error {
	if !p.json {
		fmt.Fprintf(p.stdout, "%s\n", title)
	}
	for _, a := range answers {
		var seen []string
		for _, s := range a.Evidence {
			seen = append(seen, mma.FormatDot(i.Formats, s.Dot)+" = "+mma.FormatCode(i.D, s.Got))
		}
		if p.json {
			if err := p.writeJSON(probeAnswer{a.Paper, a.ID, a.Question, a.Value, a.Why, seen}); err != nil {
				return err
			}
			continue
		}
		remark := ""
		if a.Why != "" {
			remark = " (" + a.Why + ")"
		}
		fmt.Fprintf(p.stdout, "  %-19s %-62s %s%s\n", a.ID, a.Question, a.Value, remark)
		if p.evidence {
			for _, s := range seen {
				fmt.Fprintf(p.stdout, "      %s\n", s)
			}
		}
	}
	if !p.json {
		fmt.Fprintln(p.stdout)
	}
	return nil
}

// probeTree is the summation tree in JSON.
type probeTree struct {
	Tree    string `json:"tree"`
	Problem string `json:"problem,omitempty"`
}

// tree prints the summation tree and writes its pictures.
func (p *probeCmd) tree(pr *probe.Prober, i *mma.Instruction) error {
	t, why := pr.Tree()
	if t == nil {
		if p.svg != "" || p.dot != "" {
			return fmt.Errorf("there is no summation tree to draw: %s", why)
		}
		if p.json {
			return p.writeJSON(probeTree{Problem: why})
		}
		return nil
	}
	if p.json {
		if err := p.writeJSON(probeTree{Tree: t.Formula(i.K)}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(p.stdout, "summation tree\n  %s\n", strings.ReplaceAll(strings.TrimSuffix(t.Text(i.K), "\n"), "\n", "\n  "))
		fmt.Fprintln(p.stdout)
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

// probeProfile is a row of mean errors in JSON.
type probeProfile struct {
	Operation  string  `json:"operation"`
	Low        float64 `json:"init_low"`
	FP32       float64 `json:"init_fp32"`
	NarrowLow  float64 `json:"rounded_init_low"`
	NarrowFP32 float64 `json:"rounded_init_fp32"`
}

func (p *probeCmd) profiles(pr *probe.Prober) error {
	if p.profile <= 0 {
		return nil
	}
	rows, err := pr.Profiles(p.seed, p.profile)
	if err != nil {
		return err
	}
	if !p.json {
		fmt.Fprintf(p.stdout, "Sun et al. (2023), Tables 12 to 15: mean absolute errors of %d inputs, seed %d\n", p.profile, p.seed)
		fmt.Fprintf(p.stdout, "  %-16s %12s %12s %24s %12s\n", "", "init low", "init FP32", "to d rounded: init low", "init FP32")
	}
	for _, r := range rows {
		if p.json {
			if err := p.writeJSON(probeProfile(r)); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(p.stdout, "  %-16s %12.2e %12.2e %24.2e %12.2e\n", r.Operation, r.Low, r.FP32, r.NarrowLow, r.NarrowFP32)
	}
	if !p.json {
		fmt.Fprintln(p.stdout)
	}
	return nil
}
