package study

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// arrange makes A (which 0) or B (1) ready for a unit.
func (g *gemm) arrange(ctx context.Context, which int, i *mma.Instruction, parts [][]int) (*arranged, error) {
	lines, id := g.m, i.A
	if which == 1 {
		lines, id = g.n, i.B
	}
	padded := (g.k + i.K - 1) / i.K * i.K
	q := quantizer{id.Get(), i.Scale, int(i.Block)}
	w, perStep, scales := id.Width(), i.K*id.Width(), 0
	if i.Scale != fp.None {
		scales = i.Blocks(i.K) * i.Scale.Width()
	}
	line := make([]byte, padded*w)
	lineScales := make([]byte, padded/i.K*scales)
	values := make([]float64, padded)
	out := &arranged{make([][]byte, len(parts)), make([][]byte, len(parts))}
	for s, steps := range parts {
		out.codes[s] = make([]byte, lines*len(steps)*perStep)
		out.scales[s] = make([]byte, lines*len(steps)*scales)
	}
	m := g.matrices[which]
	var read func(row, column int) uint64
	if m != nil && !m.Float {
		var err error
		if read, err = elementsOf(m, id); err != nil {
			return nil, fmt.Errorf("%s: %w", g.files[which], err)
		}
		if scales > 0 {
			return nil, fmt.Errorf("%s has codes, but no scales for them: give floating-point numbers", g.files[which])
		}
	}
	for n := range lines {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if read != nil {
			for k := range g.k {
				row, column := n, k
				if which == 1 {
					row, column = k, n
				}
				mma.Store(line, w, k, read(row, column))
			}
		} else {
			g.line(which, n, values[:g.k])
			putQuantized(&q, line, lineScales, values, false)
		}
		for s, steps := range parts {
			for x, step := range steps {
				copy(out.codes[s][(n*len(steps)+x)*perStep:], line[step*perStep:][:perStep])
				copy(out.scales[s][(n*len(steps)+x)*scales:], lineScales[step*scales:][:scales])
			}
		}
	}
	return out, nil
}

// line fills values with row n of A, or column n of B.
func (g *gemm) line(which, n int, values []float64) {
	if m := g.matrices[which]; m != nil {
		for k := range values {
			if which == 0 {
				values[k] = m.Float64(n, k)
			} else {
				values[k] = m.Float64(k, n)
			}
		}
		return
	}
	rng := rand.New(rand.NewPCG(g.seed, uint64(which)<<32+uint64(n)))
	for k := range values {
		values[k] = g.distributionOf.draw(rng)
	}
}
