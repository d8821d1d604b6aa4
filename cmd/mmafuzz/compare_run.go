package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/triage"
)

// comparedPair is an instruction of two sides.
type comparedPair struct {
	sidePair
	devices.Pair
	recordedA, recordedB int // dot products in the recordings; 0: none
}

// compareUI writes the bundles of a comparison and shows how far it is.
type compareUI struct {
	*runUI
	pairs   []comparedPair
	bundles map[string]string // by pair and bucket: of the first finding
}

// compare compares all sides with each other.
func (c *compareCmd) compare(ctx context.Context) error {
	pairs, err := c.allPairs(ctx)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return c.nothing()
	}
	models := modelsOf(pairs)
	c.ui = &compareUI{pairs: pairs, bundles: map[string]string{}}
	cfg := fuzz.Config{Seed: 1, Workers: c.workers, NaN: strictness(c.nan), Zero: strictness(c.zero), MaxFindings: c.maxBundles, Observe: c.ui}
	c.ui.runUI = newRunUI(c.app, cfg, c.out)
	c.ui.line.last = time.Now()
	if err := c.explain(ctx, models); err != nil || ctx.Err() != nil {
		return err
	}
	for i := range pairs {
		p := &pairs[i]
		p.A, p.B = withModel(p.a, p.A, models), withModel(p.b, p.B, models)
		cfg.Pairs = append(cfg.Pairs, p.Pair)
	}
	if !c.allBundles {
		cfg.Keep = c.isNews
	}
	c.ui.cfg = cfg
	campaign, err := fuzz.New(cfg)
	if err != nil {
		return err
	}
	err = campaign.Run(ctx)
	c.ui.line.clear()
	if left := c.ui.unfinishedOf(ctx, campaign, err); left != nil {
		c.result.Incomplete = append(c.result.Incomplete, left.text())
		c.cutOff = true
	} else if err != nil {
		return err
	}
	c.conclude(campaign.State(), models)
	return nil
}

// isNews says whether a bucket's difference is worth a bundle: it is not known, not
// of last night, or not to be told without its cases.
func (c *compareCmd) isNews(pair int, b *fuzz.Bucket, v *triage.Verdict) bool {
	p := &c.ui.pairs[pair]
	d := newDifference(p, b, changesFrom(p, v))
	if len(d.Changes) == 0 {
		return true
	}
	state, _ := c.stateOf(&d, c.unlisted(&d))
	return state == stateNew || state == stateExpired
}

// nothing says why nothing can be compared.
func (c *compareCmd) nothing() error {
	var why []string
	for _, l := range c.result.LeftOut {
		if l.Instruction == "" {
			why = append(why, fmt.Sprintf("%s: %s", machinePair(l.A, l.B), l.Why))
		}
	}
	why = append(why, c.result.Trouble...)
	return hinted("record with the same plan, and with this version of the program", "there is nothing to compare: %s", strings.Join(why, "; "))
}

// allPairs pairs the instructions of all pairs of sides, and finds the inputs that
// they have in common.
func (c *compareCmd) allPairs(ctx context.Context) ([]comparedPair, error) {
	var all []comparedPair
	for _, sp := range c.sidePairs() {
		ps, err := devices.Pairs(sp.a.target, sp.b.target, "", "")
		if err != nil {
			c.leaveOut(sp, "", err.Error())
			continue
		}
		common := 0
		for _, p := range ps {
			cp := comparedPair{sidePair: sp, Pair: p}
			if err := cp.overlap(ctx); err != nil {
				return nil, err
			}
			if cp.dots() == 0 {
				c.leaveOut(sp, p.Name(), "no inputs in common")
				continue
			}
			common++
			all = append(all, cp)
		}
		if common == 0 {
			c.fail("%s and %s have no inputs in common: %s, %s", sp.a.name, sp.b.name, sp.a.plan(), sp.b.plan())
		}
	}
	return all, nil
}

// plan says with which plan a side was recorded.
func (s *side) plan() string {
	if s.rec == nil || s.rec.Header.Plan == nil {
		return s.spec + " was recorded without a plan"
	}
	p := s.rec.Header.Plan
	return fmt.Sprintf("%s was recorded with plan %s, seed %d", s.spec, p.Name, p.Seed)
}

// overlap narrows a recording to the inputs that the other side has too.
func (p *comparedPair) overlap(ctx context.Context) (err error) {
	a, isA := p.A.(devices.Recorder)
	b, isB := p.B.(devices.Recorder)
	if isA {
		p.recordedA = a.Recorded()
	}
	if isB {
		p.recordedB = b.Recorded()
	}
	if isA && isB {
		p.A, err = devices.Overlap(ctx, a, b)
	}
	return err
}

// dots is the number of dot products that are compared.
func (p *comparedPair) dots() int {
	if a, ok := p.A.(devices.Recorder); ok {
		return a.Recorded()
	}
	return p.recordedB
}

func (c *compareCmd) leaveOut(sp sidePair, instruction, why string) {
	c.result.LeftOut = append(c.result.LeftOut, leftOut{sp.a.name, sp.b.name, instruction, why})
}

// modelsOf returns a model to be found for each recorded instruction of the pairs.
func modelsOf(pairs []comparedPair) []*model {
	var all []*model
	add := func(s *side, u devices.Unit) {
		if s.rec == nil || modelOf(all, s, u) != nil {
			return
		}
		whole, err := s.target.Open(u.Instruction()) // all of it, not only what another side has
		if err != nil {
			return
		}
		all = append(all, &model{machine: s.name, rec: whole.(devices.Recorder)})
	}
	for i := range pairs {
		add(pairs[i].a, pairs[i].A)
		add(pairs[i].b, pairs[i].B)
	}
	return all
}

func modelOf(models []*model, s *side, u devices.Unit) *model {
	for _, m := range models {
		if m.machine == s.name && m.rec.Instruction().Name == u.Instruction().Name {
			return m
		}
	}
	return nil
}

// withModel gives a recording the model that was found for it.
func withModel(s *side, u devices.Unit, models []*model) devices.Unit {
	if m := modelOf(models, s, u); m != nil {
		return m.explaining(u.(devices.Recorder))
	}
	return u
}

// Finding writes a finding's bundle.
func (u *compareUI) Finding(f *fuzz.Finding, _ bool) error {
	p := &u.pairs[f.Pair]
	dir := filepath.Join(u.dir, compareBundle, readable.Slug(p.a.name+"~"+p.b.name), readable.Slug(p.Name()), fmt.Sprintf("%s-%d", readable.Slug(f.Bucket), f.Number))
	if key := u.bundleKey(f.Pair, f.Bucket); u.bundles[key] == "" {
		u.bundles[key] = dir
	}
	return u.writeBundle(f, dir)
}

func (u *compareUI) bundleKey(pair int, bucket string) string { return fmt.Sprint(pair, " ", bucket) }

// Progress shows the status line.
func (u *compareUI) Progress(s *fuzz.State) { u.showProgress("pairs", s) }

func (c *compareCmd) showProgress(what string, s *fuzz.State) { c.ui.showProgress(what, s) }

func (u *compareUI) showProgress(what string, s *fuzz.State) {
	if u.json {
		return
	}
	dots, mismatches, causes := s.Totals()
	u.line.show(statusField{fmt.Sprintf("%6s", readable.Clock(time.Since(u.began))), 3}, statusField{fmt.Sprintf("%s: %s dots", what, readable.Count(dots)), 2},
		statusField{fmt.Sprintf("mismatch %s by %s", readable.Count(mismatches), readable.Plural(causes, "cause")), 1})
}

// newMachine describes a side.
func newMachine(s *side) machine {
	m := machine{Name: s.name, Spec: s.spec, Target: s.target.Name(), Environment: s.target.Environment(), Complete: true}
	if s.rec == nil {
		return m
	}
	m.Target, m.Environment, m.Complete = s.rec.Header.Target, s.rec.Header.Environment, s.rec.Complete
	m.Date, m.Recorded, m.Instructions = s.rec.Header.Date, true, len(s.target.Instructions())
	if p := s.rec.Header.Plan; p != nil {
		m.Plan = p.Name
	}
	if v := s.rec.Header.Versions; v.Given() {
		m.Versions = &v
	}
	for _, d := range s.rec.Data {
		m.Dots += d.Batch.Dots()
		for _, f := range d.Faults {
			m.Faults += f.Count
		}
	}
	return m
}

// problems returns what the recordings say about instructions that they do not
// have, or not to the end.
func (c *compareCmd) problems() map[string][]corpus.Problem {
	all := map[string][]corpus.Problem{}
	for _, s := range c.sides {
		if s.rec != nil && len(s.rec.Problems) > 0 {
			all[s.name] = s.rec.Problems
		}
	}
	return all
}
