package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// speed is how long a tile takes on either side. Ratio is the peer's time by the own one.
type speed struct {
	Ratio      float64        `json:"ratio"`
	PeerNs     float64        `json:"peer_ns"`
	OwnNs      float64        `json:"own_ns"`
	PeerSpread float64        `json:"peer_spread"`
	OwnSpread  float64        `json:"own_spread"`
	Inputs     measure.Inputs `json:"inputs"`
}

// comparison is the result of comparing one instruction with the peer's.
type comparison struct {
	Operation   string `json:"operation"`
	Arch        string `json:"arch"`
	Instruction string `json:"instruction"`
	PeerArch    string `json:"peer_arch"`
	PeerType    string `json:"peer_type"`
	Lacks       string `json:"lacks,omitempty"`
	Tiles       int    `json:"tiles,omitempty"`
	Shape       string `json:"shape,omitempty"`
	Single      *speed `json:"single,omitempty"`
	Batched     *speed `json:"batched,omitempty"`
	Dots        uint64 `json:"dots"`
	Differ      uint64 `json:"differ"`
	Unknown     uint64 `json:"unknown"` // differ only where the catalogue leaves the result open
	Witness     string `json:"witness,omitempty"`
}

// bench is a run of peerbench.
type bench struct {
	peer *peer
	runs int
	each time.Duration // of a run, at least
	dots int           // of each generator that are compared
}

// outputs is about how many results a batch has.
const outputs = 4096

// compare compares an instruction.
func (b *bench) compare(ctx context.Context, op measure.Operation) (*comparison, error) {
	i, err := mma.Lookup(op.Arch, op.Inst)
	if err != nil {
		return nil, err
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	name := nameOf(i)
	c := &comparison{Operation: op.Name, Arch: i.Arch, Instruction: i.Name, PeerArch: name.Arch, PeerType: name.Type}
	s := mma.Shape{M: i.M.Min, N: i.N.Min, K: i.K}
	s.Tiles = max(2, outputs/(s.M*s.N))
	c.Tiles, c.Shape = s.Tiles, fmt.Sprintf("%dx%dx%d", s.M, s.N, s.K)
	for _, inputs := range []measure.Inputs{measure.Raw, measure.Finite} {
		in := measure.Batch(i, s, 1, inputs)
		got, a, err := b.peer.run(name, in, b.runs, b.each.Seconds())
		if err != nil {
			return nil, err
		}
		if a.Lacks != "" {
			return &comparison{Operation: op.Name, Arch: i.Arch, Instruction: i.Name, PeerArch: name.Arch, PeerType: name.Type, Lacks: a.Lacks}, nil
		}
		if !a.SingleEqual {
			return nil, fmt.Errorf("MMA-Sim computes one tile and many in different ways")
		}
		c.check(i, string(inputs), in, m, got)
		one := measure.Batch(i, mma.Shape{M: s.M, N: s.N, K: s.K, Tiles: 1}, 1, inputs)
		c.Single = smaller(c.Single, b.ratio(m, one, a.Single, 1, inputs))
		c.Batched = smaller(c.Batched, b.ratio(m, in, a.Batched, s.Tiles, inputs))
	}
	return c, b.generated(ctx, c, i, m, name)
}

// smaller returns the speed of the smaller ratio.
func smaller(x, y *speed) *speed {
	if x == nil || y.Ratio < x.Ratio {
		return y
	}
	return x
}

// ratio times the model on a batch; seconds are the peer's times for it.
func (b *bench) ratio(m *sim.Model, in *mma.Batch, seconds []float64, tiles int, inputs measure.Inputs) *speed {
	defer measure.Lock()()
	out := make([]byte, in.Dots()*in.D.Width())
	own, _ := measure.Timing{Clock: measure.Thread, Runs: b.runs, Each: b.each}.Of(func() error { m.Run(in, out); return nil }) // the function returns none
	peer := measure.Series(seconds).Scaled(1e9 / float64(tiles))
	own = own.Scaled(1 / float64(tiles))
	return &speed{peer.Median() / own.Median(), peer.Median(), own.Median(), peer.Spread(), own.Spread(), inputs}
}

// generated compares the results on inputs of every generator.
func (b *bench) generated(ctx context.Context, c *comparison, i *mma.Instruction, m *sim.Model, name peerName) error {
	sp := gen.Spec{Formats: i.Formats, K: i.K}
	for _, g := range gen.All() {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: max(1, b.dots/(g.M*g.N))})
		src := g.Aimed(sp, &i.Params)
		src.Fill(in, 1, 0)
		got, _, err := b.peer.run(name, in, 0, 0)
		if err != nil {
			return err
		}
		c.check(i, g.Name, in, m, got)
	}
	return nil
}

// check counts the results that differ.
func (c *comparison) check(i *mma.Instruction, source string, in *mma.Batch, m *sim.Model, got []byte) {
	w := i.D.Width()
	own := make([]byte, len(got))
	m.Run(in, own)
	policy := oracle.DefaultPolicy(i.Unknown, i.Unknown)
	d := mma.NewDot(i.Formats, in.K)
	for n := range in.Dots() {
		x, y := mma.Load(own, w, n), mma.Load(got, w, n)
		c.Dots++
		switch {
		case x == y:
		case oracle.Compare(i.D, policy, x, y) == oracle.Same:
			c.Unknown++
		default:
			c.Differ++
			if c.Witness == "" {
				in.Get(n, d)
				c.Witness = fmt.Sprintf("%s %d: %s: %s, MMA-Sim %s", source, n, mma.FormatDot(i.Formats, d), mma.FormatCode(i.D, x), mma.FormatCode(i.D, y))
			}
		}
	}
}
