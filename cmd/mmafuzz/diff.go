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
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/prove"
)

func newDiff(a *app) *cobra.Command {
	var inst string
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "where the arithmetics of two targets differ, with a witness each",
		Long: `diff compares the parameters of two simulated targets, instruction by
instruction: for each that differs, what it is on either side, and the smallest
input that shows it, computed by A's arithmetic with that one change.

  mmafuzz diff ampere hopper
  mmafuzz diff hopper cdna3 --inst mma.m16n8k16.f32.f16.f16.f32

Exit status: 0 the same arithmetic, 1 differences, 2 trouble.`,
		Args: takes("A", "B"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return open.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd.Context(), args[0], args[1], inst)
		},
	}
	c.Flags().StringVar(&inst, "inst", "", "only this `instruction` of A")
	return c
}

// instructionDiff is how one instruction differs.
type instructionDiff struct {
	A         string     `json:"a"`
	B         string     `json:"b"`
	EvidenceA string     `json:"evidence_a"`
	EvidenceB string     `json:"evidence_b"`
	Parts     []partDiff `json:"parts"`
}

// partDiff is one change with its witness.
type partDiff struct {
	Labels  []triage.Label `json:"labels"`
	Changes []mma.Change   `json:"changes"`
	// Witness is the smallest input found on which A's arithmetic and A's with this
	// change differ, in the text form of eval; "" if none was found.
	Witness string `json:"witness,omitempty"`
	Before  string `json:"before,omitempty"` // D as A's arithmetic gives it
	After   string `json:"after,omitempty"`  // D as A's arithmetic gives it with the change
	Alone   bool   `json:"alone"`            // the change makes sense without the others
	// Idle: it is proved that the change alone makes no difference.
	Idle bool `json:"idle,omitempty"`
}

func (a *app) diff(ctx context.Context, nameA, nameB, inst string) error {
	if _, instA := devices.Split(nameA); instA != "" && inst != "" {
		return hint.New("leave one out", "%s and --inst %s both name A's instruction", nameA, inst)
	}
	var targets open.Set
	defer targets.Close()
	pairs, err := targets.Pairs(nameA, nameB, inst, "")
	if err != nil {
		return err
	}
	differ := false
	for i := range pairs {
		d, err := diffPair(ctx, &pairs[i])
		if err != nil {
			return err
		}
		differ = differ || len(d.Parts) > 0
		if a.json {
			err = a.writeJSON(d)
		} else {
			err = d.write(a)
		}
		if err != nil {
			return err
		}
	}
	if differ {
		return errMismatch
	}
	return nil
}

func diffPair(ctx context.Context, p *devices.Pair) (*instructionDiff, error) {
	pa, pb := p.A.Model(), p.B.Model()
	if pa == nil || pb == nil {
		return nil, hint.New("mmafuzz run compares anything", "diff compares known arithmetics, those of simulators and model files: not %s and %s", p.TargetA, p.TargetB)
	}
	ia, ib := p.A.Instruction(), p.B.Instruction()
	d := &instructionDiff{A: p.TargetA + "/" + ia.Name, B: p.TargetB + "/" + ib.Name, EvidenceA: ia.Evidence, EvidenceB: ib.Evidence, Parts: []partDiff{}}
	for _, part := range triage.Parts(pa, pb) {
		pd := partDiff{Changes: part.Changes, Labels: []triage.Label{part.Label}}
		q := *pa
		if q.Apply(part.Changes) == nil && q.Validate(ia.Formats, p.K) == nil {
			pd.Alone = true
			res, err := prove.Programs(ctx, ia.Formats, p.K, *pa, q, prove.Options{})
			if err != nil {
				return nil, err
			}
			pd.Idle = res.Verdict == prove.Proved
			if w := res.Witness; w != nil {
				pd.Witness = mma.FormatDot(ia.Formats, w.Dot)
				pd.Before, pd.After = mma.FormatCode(ia.D, w.Before), mma.FormatCode(ia.D, w.After)
			}
		}
		d.Parts = append(d.Parts, pd)
	}
	return d, nil
}

func (d *instructionDiff) write(a *app) error {
	fmt.Fprintf(a.stdout, "%s  %s\n", d.A, d.B)
	if len(d.Parts) == 0 {
		fmt.Fprintf(a.stdout, "  the same arithmetic\n\n")
		return a.stdout.Err()
	}
	g := readable.Table{Width: a.width}
	for _, p := range d.Parts {
		var labels []string
		for _, l := range p.Labels {
			labels = append(labels, string(l))
		}
		g.Add("  "+strings.Join(labels, ", "), readable.Changes(p.Changes, 20))
		g.Add("", p.shownBy())
	}
	g.Add("  evidence A", d.EvidenceA)
	g.Add("  evidence B", d.EvidenceB)
	g.Write(a.stdout, a.bolden)
	fmt.Fprintln(a.stdout)
	return a.stdout.Err()
}

// shownBy says which input shows a change.
func (p *partDiff) shownBy() string {
	switch {
	case p.Witness != "":
		return fmt.Sprintf("shown by %s: %s, with the change %s", p.Witness, p.Before, p.After)
	case p.Idle:
		return "alone it makes no difference: proved"
	case p.Alone:
		return "no input was found that shows it alone"
	}
	return "makes sense only with other changes"
}
