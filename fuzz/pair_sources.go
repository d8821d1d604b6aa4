package fuzz

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
)

// pair is a pair of units with the sources of its inputs.
type pair struct {
	*pairRun
	sources  []gen.Source
	schedule *gen.Schedule
}

func newPair(cfg *Config, of devices.Pair) (*pair, error) {
	p := &pair{pairRun: newPairRun(of, cfg.NaN, cfg.Zero)}
	var err error
	p.sources, err = p.chooseSources(cfg.Generators)
	return p, err
}

func (p *pair) chooseSources(names []string) ([]gen.Source, error) {
	if p.recorder != nil {
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
			sources = append(sources, g.Aimed(p.spec, p.known...))
		}
	}
	return sources, nil
}
