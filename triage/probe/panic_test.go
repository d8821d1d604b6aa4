package probe_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// noise spoils one result of so many, chosen by the operands, with bits that depend
// on them: a unit that is deterministic and computes nothing sensible.
func noise(one uint64) func(*mma.Batch, []byte) error {
	return func(in *mma.Batch, out []byte) error {
		dot := mma.NewDot(in.Formats, in.K)
		w := in.Formats.D.Width()
		var codes []byte
		for o := range in.Dots() {
			in.Get(o, dot)
			codes = codes[:0]
			for _, list := range [][]uint64{dot.A, dot.B, {dot.C}} {
				for _, c := range list {
					codes = binary.LittleEndian.AppendUint64(codes, c)
				}
			}
			h := fnv.New64a()
			h.Write(codes)
			if s := h.Sum64(); s>>32%one == 0 {
				mma.Store(out, w, o, mma.Load(out, w, o)^s&in.Formats.D.Get().CodeMask())
			}
		}
		return nil
	}
}

// spoilers are ways to spoil results: none, rare and frequent noise, and nothing but
// noise.
var spoilers = map[string]func(*mma.Batch, []byte) error{"exact": nil, "1 in 40": noise(40), "1 in 5": noise(5), "all": noise(1)}

// zeros is a unit of any K that gives zeros.
type zeros struct{ i *mma.Instruction }

func (u zeros) Instruction() *mma.Instruction { return u.i }

func (zeros) Run(_ context.Context, _ *mma.Batch, out []byte) error {
	clear(out)
	return nil
}

// TestLong asks a unit of more products than a summation tree is looked for.
func TestLong(t *testing.T) {
	i := &mma.Instruction{Name: "long", K: 5000, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	everything(t, zeros{i})
	_, why := probe.New(context.Background(), zeros{i}).Tree()
	if want := "there are 5001 terms, more than the 512 of which every pair is asked for"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
}

// everything asks all that probe can ask and writes all answers: each has a value,
// one that is not known a reason, and evidence that can be printed.
func everything(t *testing.T, u probe.Unit) {
	t.Helper()
	p, i := probe.New(context.Background(), u), u.Instruction()
	for _, paper := range probe.Papers {
		answers, err := p.Ask(paper.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if a.Value == "" || a.Value == "-" && a.Why == "" {
				t.Errorf("%s %s: value %q, reason %q", a.Paper, a.ID, a.Value, a.Why)
			}
			for _, s := range a.Evidence {
				if s.Dot == nil {
					t.Errorf("%s %s: evidence without an input", a.Paper, a.ID)
					continue
				}
				mma.FormatDot(i.Formats, s.Dot)
			}
		}
	}
	if tree, why := p.Tree(); tree != nil {
		tree.Formula(i.K)
		tree.Text(i.K)
		tree.SVG("", i.K)
		tree.Graphviz("", i.K)
	} else if why == "" {
		t.Error("no tree, and no reason")
	}
}

// TestMadeUp asks made-up units all questions, and the same units with spoiled results.
func TestMadeUp(t *testing.T) {
	for seed := range tier.Of[uint64](30, 60, 300) {
		i := madeup.Unit(seed)
		m, err := sim.ForInstruction(&i)
		if err != nil {
			t.Fatal(err)
		}
		for name, spoil := range spoilers {
			t.Run(fmt.Sprintf("%d %s", seed, name), func(t *testing.T) { everything(t, unit{i: &i, m: m, spoil: spoil}) })
		}
	}
}

// TestFewBits asks units whose results, or whose last accumulator, have few
// fraction bits, with one product and more, with c and without.
func TestFewBits(t *testing.T) {
	for _, d := range []fp.ID{fp.E5M2, fp.E4M3, fp.FP16, fp.BF16, fp.FP32} {
		for frac := range mma.Frac(5) {
			for _, k := range []int{1, 2, 4} {
				for _, c := range []fp.ID{d, fp.None} {
					i := &mma.Instruction{Name: "few", K: k, Formats: mma.Formats{A: fp.E4M3, B: fp.E4M3, C: c, D: d}}
					i.Params = mma.Params{L: uint8(k), Acc: mma.Round{Frac: frac, Mode: fp.RNE, Emin: -14, Emax: 15}}
					if c == fp.None {
						i.Params.Start = mma.StartEmpty
					}
					m, err := sim.New(i.Formats, k, i.Params)
					if err != nil {
						continue // not a unit
					}
					t.Run(fmt.Sprintf("%s frac %d k %d c %v", d, frac, k, c != fp.None), func(t *testing.T) {
						for _, spoil := range spoilers {
							everything(t, unit{i: i, m: m, spoil: spoil})
						}
					})
				}
			}
		}
	}
}
