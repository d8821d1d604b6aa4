package selfcheck

import (
	"flag"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// BenchmarkSchedule reports the processor time after which a campaign, without feedback,
// has separated the mutants of an arithmetic: the median, 90 and 99 of a hundred, and the
// last; and how many it has not separated after scheduleLimit. The times include both models,
// those in inputs-ms are of the inputs alone, as for two devices.
//
//	go test -run xxx -bench Schedule -benchtime 1x ./fuzz/selfcheck -seeds 20
func BenchmarkSchedule(b *testing.B) {
	for _, name := range []string{
		"hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f16.f16.f16.f16",
		"cdna3/v_mfma_f32_16x16x16_bf16", "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
		everyArithmetic,
	} {
		for _, way := range scheduleWays {
			b.Run(name+"/"+way.name, func(b *testing.B) {
				defer measure.Lock()()
				for b.Loop() {
					var all, inputs []time.Duration
					open := 0
					for _, i := range arithmeticsNamed(b, name) {
						separated, n := separationTimes(b, &i, way)
						for _, s := range separated {
							all, inputs = append(all, s.all), append(inputs, s.inputs)
						}
						open += n
					}
					reportQuantiles(b, "ms", all)
					reportQuantiles(b, "inputs-ms", inputs)
					b.ReportMetric(float64(open), "open")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func reportQuantiles(b *testing.B, unit string, times []time.Duration) {
	slices.Sort(times)
	for _, q := range []struct {
		name string
		of   int
	}{{"/median", 50}, {"/90%", 90}, {"/99%", 99}, {"/worst", 100}} {
		at := max((len(times)*q.of+99)/100-1, 0)
		b.ReportMetric(float64(times[at].Microseconds())/1000, unit+q.name)
	}
}

// scheduleWay is one of the ways in which BenchmarkSchedule runs a campaign.
type scheduleWay struct {
	name   string
	speed  gen.Speed
	first  int // dot products of a chunk in the first epoch; in the largest 256 times as many
	turns  int // of an epoch
	bandit bool
}

var scheduleWays = []scheduleWay{
	{"designed", gen.Slow, 32, 128, false}, // every source as it is
	{"varied", gen.Fast, 32, 128, false},
	{"bandit", gen.Fast, 32, 128, true}, // what features would make of it
	{"device", gen.Device, 128, 32, false},
	{"device-varied", gen.Fast, 128, 32, false}, // what a device would have with the schedule of simulators
}

// scheduleLimit is the processor time of a campaign after which it gives up.
const scheduleLimit = 3 * time.Second

var scheduleSeeds = flag.Uint64("seeds", 5, "`number` of campaigns of BenchmarkSchedule")

// separated is when a mutant was separated.
type separated struct{ all, inputs time.Duration }

// separationTimes returns when campaigns separate the mutants of an instruction,
// other than those that compute the same by an argument, and how many they do not.
func separationTimes(tb testing.TB, i *mma.Instruction, way scheduleWay) (times []separated, open int) {
	tb.Helper()
	others, _, err := mutantsOf(i)
	if err != nil {
		tb.Fatal(err)
	}
	others = slices.DeleteFunc(others, func(o other) bool { return o.sep.Argument != "" })
	for seed := range *scheduleSeeds {
		c := scheduled{i: i, open: slices.Clone(others), seed: seed}
		if way.bandit {
			c.bandit = newBandit(i)
		}
		if err := c.run(way, func(turn uint64) bool { return c.spent.all >= scheduleLimit }); err != nil {
			tb.Fatal(err)
		}
		times, open = append(times, c.times...), open+len(c.open)
	}
	return times, open
}

// everyArithmetic stands for all arithmetics of the catalogue.
const everyArithmetic = "all"

// arithmeticsNamed returns the arithmetic of an instruction ARCH/NAME, or all.
func arithmeticsNamed(tb testing.TB, name string) []mma.Instruction {
	tb.Helper()
	if name == everyArithmetic {
		return argued.Arithmetics()
	}
	arch, inst, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		tb.Fatal(err)
	}
	return []mma.Instruction{*i}
}

// scheduled is a campaign of one instruction against its mutants.
type scheduled struct {
	i     *mma.Instruction
	seed  uint64
	open  []other
	spent separated
	times []separated

	bandit *bandit // nil: the schedule alone decides
}

// run takes turns until all mutants are separated, or enough were taken.
func (c *scheduled) run(way scheduleWay, enough func(turn uint64) bool) error {
	base, err := sim.ForInstruction(c.i)
	if err != nil {
		return err
	}
	sp := gen.Spec{Formats: c.i.Formats, K: c.i.K}
	var sources []gen.Source
	for _, g := range gen.All() {
		sources = append(sources, g.Aimed(sp, &c.i.Params))
	}
	schedule := gen.NewSchedule(sources, way.speed)
	next := map[string]uint64{}
	var filler gen.Filler
	var batch mma.Batch
	for turn := uint64(0); len(c.open) > 0 && !enough(turn); turn++ {
		size := way.first << min(turn/uint64(way.turns), 8) // as epochs double
		src, source, n, _ := schedule.Turn(c.bandit.choose(schedule, turn, size, next), size, next)
		want, got := make([]byte, n*c.i.D.Width()), make([]byte, n*c.i.D.Width())
		began := measure.Thread()
		batch.Reset(c.i.Formats, mma.Shape{M: src.Generator.M, N: src.Generator.N, K: c.i.K, Tiles: n / (src.Generator.M * src.Generator.N)})
		filler.Fill(src, source, &batch, c.seed, next[source])
		made := measure.Thread() - began
		base.Run(&batch, want)
		base.Run(&batch, got)
		took := measure.Thread() - began
		c.bandit.learn(source, &batch, next[source])
		next[source] += uint64(n)
		c.open = slices.DeleteFunc(c.open, func(o other) bool {
			o.model.Run(&batch, got)
			at := firstDifference(c.i, want, got)
			if at >= 0 {
				part := func(of time.Duration) time.Duration { return of * time.Duration(at+1) / time.Duration(n) }
				c.times = append(c.times, separated{c.spent.all + part(took), c.spent.inputs + part(made)})
			}
			return at >= 0
		})
		c.spent.all, c.spent.inputs = c.spent.all+took, c.spent.inputs+made
	}
	return nil
}

// TestTopCarry checks that a campaign soon meets adders that lack the top bit which the sum
// of all products needs, or that of the products and c, whatever the seed. A unit is asked
// for about half a million dot products in so many turns.
func TestTopCarry(t *testing.T) {
	const turns = 128 * 7
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	for _, k := range []int{4, 8, 16, 32} {
		i := mma.Instruction{Formats: half, K: k, Params: mma.TFDPA(uint8(k), 24, mma.To(fp.FP32, fp.RZ), -133)}
		for _, lacking := range []int{0, 1} { // of the bits that the products need
			short := i.Params
			short.Join.Align.Bits = uint8(24 + 2 + bits.Len(uint(k-1)) - lacking) // products are below 4
			m, err := sim.New(half, k, short)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(tier.Of(1, 1, 3)) {
				c := scheduled{i: &i, open: []other{{model: m}}, seed: seed}
				if err := c.run(scheduleWays[(seed+1)%2], func(turn uint64) bool { return turn == turns }); err != nil {
					t.Fatal(err)
				}
				if len(c.open) > 0 {
					t.Errorf("K = %d, an adder of %d bits, seed %d: not noticed in %d turns", k, short.Join.Align.Bits, seed, turns)
				}
			}
		}
	}
}
