package selfcheck

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/fuzz/selfcheck/measure"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// BenchmarkSchedule reports the processor time after which a campaign, without feedback,
// has separated the mutants of an arithmetic: the median, 90 and 99 of a hundred, and the
// last; and how many it has not separated after scheduleLimit. "designed" takes
// every source as it is, as campaigns of slow units do; "varied" is that of fast ones.
//
//	go test -run xxx -bench Schedule -benchtime 1x ./fuzz/selfcheck
func BenchmarkSchedule(b *testing.B) {
	for _, name := range []string{
		"hopper/mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f16.f16.f16.f16",
		"cdna3/v_mfma_f32_16x16x16_bf16", "blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
	} {
		for _, fast := range []bool{false, true} {
			label := map[bool]string{false: "designed", true: "varied"}[fast]
			b.Run(name+"/"+label, func(b *testing.B) {
				defer measure.Lock()()
				for b.Loop() {
					times, open := separationTimes(b, name, fast)
					for _, q := range []struct {
						unit string
						of   int
					}{{"ms/median", 50}, {"ms/90%", 90}, {"ms/99%", 99}, {"ms/worst", 100}} {
						at := max((len(times)*q.of+99)/100-1, 0)
						b.ReportMetric(float64(times[at].Microseconds())/1000, q.unit)
					}
					b.ReportMetric(float64(open), "open")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// scheduleLimit is the processor time of a campaign after which it gives up.
const scheduleLimit = 3 * time.Second

// scheduleSeeds are the seeds of the campaigns.
const scheduleSeeds = 5

// separationTimes returns, in order, when campaigns separate the mutants of an instruction,
// other than those that compute the same by an argument, and how many they do not.
func separationTimes(tb testing.TB, name string, fast bool) (times []time.Duration, open int) {
	tb.Helper()
	arch, inst, _ := strings.Cut(name, "/")
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		tb.Fatal(err)
	}
	others, _, err := mutantsOf(i)
	if err != nil {
		tb.Fatal(err)
	}
	others = slices.DeleteFunc(others, func(o other) bool { return o.sep.Argument != "" })
	for seed := range uint64(scheduleSeeds) {
		c := scheduled{i: i, open: slices.Clone(others), seed: seed}
		if err := c.run(fast); err != nil {
			tb.Fatal(err)
		}
		times, open = append(times, c.times...), open+len(c.open)
	}
	slices.Sort(times)
	return times, open
}

// scheduled is a campaign of one instruction against its mutants.
type scheduled struct {
	i     *mma.Instruction
	seed  uint64
	open  []other
	times []time.Duration // of those that are separated
}

func (c *scheduled) run(fast bool) error {
	base, err := sim.ForInstruction(c.i)
	if err != nil {
		return err
	}
	sp := gen.Spec{Formats: c.i.Formats, K: c.i.K}
	var sources []gen.Source
	for _, g := range gen.All() {
		sources = append(sources, g.Aimed(sp, &c.i.Params))
	}
	schedule := gen.NewSchedule(sources, fast)
	next := map[string]uint64{}
	var filler gen.Filler
	var batch mma.Batch
	var spent time.Duration
	for turn := uint64(0); len(c.open) > 0 && spent < scheduleLimit; turn++ {
		src, source, n, _ := schedule.Turn(turn, min(128<<(turn/32), 8192)) // as epochs double
		want, got := make([]byte, n*c.i.D.Width()), make([]byte, n*c.i.D.Width())
		began := measure.Thread()
		batch.Reset(c.i.Formats, mma.Shape{M: src.Generator.M, N: src.Generator.N, K: c.i.K, Tiles: n / (src.Generator.M * src.Generator.N)})
		filler.Fill(src, source, &batch, c.seed, next[source])
		base.Run(&batch, want)
		base.Run(&batch, got)
		took := measure.Thread() - began
		next[source] += uint64(n)
		c.open = slices.DeleteFunc(c.open, func(o other) bool {
			o.model.Run(&batch, got)
			at := firstDifference(c.i, want, got)
			if at >= 0 {
				c.times = append(c.times, spent+took*time.Duration(at+1)/time.Duration(n))
			}
			return at >= 0
		})
		spent += took
	}
	return nil
}
