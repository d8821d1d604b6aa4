package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// inference is what was found of a unit.
type inference struct {
	*infer.Report
	Text  string `json:"text"`  // the report for people
	Model string `json:"model"` // the program found, as a model file; "" if none was
}

// inferUnit finds the arithmetic of a unit.
func inferUnit(ctx context.Context, units []opened, r *request) (any, error) {
	u := units[0]
	i := u.unit.Instruction()
	if i.K > mma.MaxK {
		return nil, fmt.Errorf("%s has k = %d; programs have up to %d products: infer a shorter one", i.Name, i.K, mma.MaxK)
	}
	o := infer.Options{
		Seed: r.Seed, Checks: r.Checks, Effort: r.Effort, Workers: r.Workers,
		Time: time.Duration(r.Seconds * float64(time.Second)), Target: u.target, Policy: oracle.Policy{NaN: oracle.ByClass},
		Show: func(p infer.Progress) { r.say(p.String()) },
	}
	if r.Bits {
		o.Policy.NaN = oracle.Bits
	}
	found, err := infer.Infer(ctx, u.unit, o)
	if err != nil {
		return nil, err
	}
	out := &inference{}
	if out.Report, err = found.Report(ctx, u.target, i.Name, r.Seed); err != nil {
		return nil, err
	}
	out.Calls = &infer.Python
	if out.Text, err = asText(out.Document()); err != nil {
		return nil, err
	}
	if found.Verdict == infer.Found {
		var model bytes.Buffer
		err = mma.WriteModel(&model, found.Model(i.Name))
		out.Model = model.String()
	}
	return out, err
}

// probed is a unit's answers to the questions of papers.
type probed struct {
	Answers []probe.Answered `json:"answers"`
	probe.TreeFound
	Text string `json:"text"`
}

// probeUnit asks a unit the questions of papers.
func probeUnit(ctx context.Context, units []opened, r *request) (any, error) {
	u := units[0]
	p := probe.New(ctx, u.unit)
	unstable, err := stability.Sample(ctx, u.target, u.unit)
	if err != nil {
		return nil, err
	}
	i := u.unit.Instruction()
	d := document.New(fmt.Sprintf("What %s says of %s", u.target, i.Name), probe.About)
	if unstable != nil {
		p.Unstable = unstable.Error()
		d.Add("", document.Alert("WARNING: "+p.Unstable+". What follows are answers of such a unit: they prove nothing."))
	}
	out := &probed{}
	for _, paper := range probe.Papers {
		r.say("asking the questions of " + paper.Title)
		answers, err := p.Ask(paper.Key)
		if err != nil {
			return nil, err
		}
		some := p.WithEvidence(answers)
		out.Answers = append(out.Answers, some...)
		d.Add(paper.Title, probe.Table(some))
	}
	out.Unstable = p.Unstable
	t, why := p.Tree()
	if out.Problem = why; t != nil {
		out.Tree = t.Formula(i.K)
		d.Add("summation tree", t.Figure(i.K))
	} else {
		d.Add("summation tree", probe.NoTree(why))
	}
	out.Text, err = asText(d)
	return out, err
}

func asText(d *document.Document) (string, error) {
	var text strings.Builder
	err := d.Write(&text, "text", document.Options{Width: pictureWidth})
	return text.String(), err
}
