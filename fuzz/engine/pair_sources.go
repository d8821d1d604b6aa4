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

// inputs returns the number of different inputs, if the only source enumerates them: every
// one is compared once. 0: no limit.
func (p *pair) inputs() uint64 {
	if len(p.sources) != 1 {
		return 0
	}
	return p.sources[0].Generator.Inputs(p.Spec)
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
	if len(names) == 0 {
		chosen = gen.For(p.Spec)
	}
	var sources []gen.Source
	for _, g := range append(gen.Versions(), gen.Conversions()...) {
		if slices.Contains(chosen, g) {
			sources = append(sources, g.Aimed(p.Spec, p.Known...))
		}
	}
	return sources, nil
}
