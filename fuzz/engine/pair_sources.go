package engine

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// pair is a pair of units with the sources of its inputs.
type pair struct {
	*finding.Pair
	sources  []gen.Source
	schedule *gen.Schedule
}

func newPair(cfg *Config, of devices.Pair) (*pair, error) {
	p := &pair{Pair: finding.NewPair(of, cfg.NaN, cfg.Zero)}
	var err error
	p.sources, err = p.chooseSources(cfg.Generators)
	return p, err
}

func (p *pair) chooseSources(names []string) ([]gen.Source, error) {
	if p.Recorder != nil {
		return nil, nil
	}
	chosen := make([]*gen.Generator, len(names))
	for i, n := range names {
		var err error
		if chosen[i], err = gen.Find(n); err != nil {
			return nil, err
		}
	}
	var sources []gen.Source
	for _, g := range gen.Versions() {
		if len(names) == 0 && g.Current() || slices.Contains(chosen, g) {
			sources = append(sources, g.Aimed(p.Spec, p.Known...))
		}
	}
	return sources, nil
}
