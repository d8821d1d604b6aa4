package fleet

import (
	"bytes"
	"context"
	"errors"
	"io/fs"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// WritePlan cuts a campaign into units and writes the plan to a file. If the file has the plan
// of this campaign by this rule already, it stays (there): units that were measured again would
// have other sizes, and shards may be at work by it. Anything else in the file is an error.
func WritePlan(ctx context.Context, file string, cfg fuzz.Config, rule Rule) (p *Plan, there bool, err error) {
	d, err := newDraft(cfg, rule)
	if err != nil {
		return nil, false, err
	}
	have, err := ReadPlan(file)
	if err == nil && d.became(have) {
		return have, true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, hint.New("name another file, or remove it if no shard works by it", "%s exists and is another plan or something else", file)
	}
	if p, err = d.finish(ctx); err != nil {
		return nil, false, err
	}
	body, err := p.Encode()
	if err == nil {
		err = corpus.ReplaceFile(file, body)
	}
	return p, false, err
}

// became reports whether a plan may have been made of a draft: whether all but the sizes of
// units is the same, which are as the rule of the draft says, or were measured.
func (d *draft) became(p *Plan) bool {
	x, err := d.withoutSizes().Encode()
	y, err2 := p.withoutSizes().Encode()
	return errors.Join(err, err2) == nil && bytes.Equal(x, y)
}

// withoutSizes returns a copy of a plan whose sources have units without sizes.
func (p *Plan) withoutSizes() *Plan {
	bare := *p
	bare.Pairs = nil
	for _, pair := range p.Pairs {
		sources := make([]Source, len(pair.Sources))
		for i, s := range pair.Sources {
			sources[i] = Source{Source: s.Source, Dots: s.Dots, Fed: s.Fed}
		}
		pair.Sources = sources
		bare.Pairs = append(bare.Pairs, pair)
	}
	return &bare
}

// Allow is what the commands for shards of a plan, and for merge, need besides their other
// arguments, with a blank before it: permission to run the plan's commands, if it has any.
func (p *Plan) Allow() string {
	for i := range p.Pairs {
		if bundle.RunsCommand(p.Pairs[i].A, p.Pairs[i].B) {
			return " --allow-exec"
		}
	}
	return ""
}
