package engine

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// chain adds products one after the other in FP32.
func chain(p []float32) (s float32) {
	for _, x := range p {
		s += x
	}
	return s
}

// blocks is the sums of blocks of n products.
func blocks(p []float32, n int) (all []float32) {
	for ; len(p) > n; p = p[n:] {
		all = append(all, chain(p[:n]))
	}
	return append(all, chain(p))
}

// TestSums has builds of a product of matrices, an element at a time, of which no program says how the new one
// adds: the first change of each is that of its schedule.
func TestSums(t *testing.T) {
	tier.SkipUnderRace(t)
	half := fp.FP16.Get()
	stored := func(p []float32) float32 {
		b := blocks(p, 32)
		for i, x := range b {
			if b[i] = float32(half.Float64(half.FromFloat64(float64(x)))); math.Abs(float64(x)) >= 65520 {
				b[i] = x * float32(math.Inf(1)) // FromFloat64 has no overflow
			}
		}
		return chain(b)
	}
	after := func(p []float32) float32 {
		s := p[0]
		for _, x := range p[1:] {
			s += x
		}
		return s
	}
	descending := func(p []float32) float32 {
		p = slices.Clone(p)
		slices.Reverse(p)
		return chain(p)
	}
	tests := []struct {
		name, label string
		says        string
		k           int
		before, now func(p []float32) float32 // the first of p is C if there is one
		c           fp.ID
		epilogue    bool // something else becomes of the sum
	}{
		{"the last product is lost beside C", "tail", "B alone: The last product of K = 64, k 63, is missing from the result.", 64, after, func(p []float32) float32 { return after(p[:64]) }, fp.FP32, false},
		{"the last product is lost", "tail", "B alone: The last product of K = 16, k 15, is missing from the result.", 16, chain, func(p []float32) float32 { return chain(p[:15]) }, fp.None, false},
		{"beta and ReLU", "split-k", "B: K = 64 is cut into 2 blocks: k 0..31; k 32..63. ", 64,
			func(p []float32) float32 { return max(0, float32(p[0]*0.7)+chain(p[1:])) },
			func(p []float32) float32 { return max(0, float32(p[0]*0.7)+chain(blocks(p[1:], 32))) }, fp.FP32, true},
		{"uneven parts", "split-k", "B: K = 96 is cut into 2 blocks: k 0..31; k 32..95. ", 96, chain, func(p []float32) float32 { return chain(p[:32]) + chain(p[32:]) }, fp.None, false},
		{"blocks in reverse", "k-order", "last to first, rounded to fp32.", 64,
			func(p []float32) float32 { return chain(blocks(p, 16)) },
			func(p []float32) float32 { b := blocks(p, 16); return chain([]float32{b[3], b[2], b[1], b[0]}) }, fp.None, false},
		{"a product in the middle is lost", "missing", "B alone: The product k 40 is missing from the result.", 96, chain,
			func(p []float32) float32 { return chain(slices.Delete(slices.Clone(p), 40, 41)) }, fp.None, false},
		{"from the last product to the first", "k-order", "B: One accumulator adds all products one after the other, descending in k: ", 64, chain, descending, fp.None, false},
		{"from the first product to the last", "k-order", "A: One accumulator adds all products one after the other, descending in k: ", 64, descending, chain, fp.None, false},
		{"partial sums in FP16", "promotion+split-k", "each rounded to fp16 before it is added", 64, chain, stored, fp.None, false},
		{"no partial sums in FP16", "promotion+split-k", "each rounded to fp16 before it is added", 64, stored, chain, fp.None, false},
	}
	for _, tt := range tests[:tier.Of(1, 1, len(tests))] {
		t.Run(tt.name, func(t *testing.T) {
			f := mma.Formats{A: fp.FP16, B: fp.FP16, C: tt.c, D: fp.FP32}
			unit := func(name string, sum func([]float32) float32) devices.Unit {
				return devices.Func(&mma.Instruction{Name: name, Formats: f, K: tt.k}, func(d *mma.Dot) uint64 {
					var p []float32
					if tt.c != fp.None {
						p = append(p, math.Float32frombits(uint32(d.C)))
					}
					for i := range d.A {
						p = append(p, float32(half.Float64(d.A[i]))*float32(half.Float64(d.B[i])))
					}
					return uint64(math.Float32bits(sum(p)))
				})
			}
			c := Config{Pairs: []devices.Pair{{A: unit("a", tt.before), B: unit("b", tt.now), TargetA: "before", TargetB: "now", K: tt.k}}, Seed: 1, Count: 5000}
			var verdicts [2]*triage.Verdict
			for i := range tier.Of(1, 1, len(verdicts)) {
				c.Workers, c.Bundles = 1+2*i, t.TempDir()
				st := runCampaign(t, c).Pairs[0]
				if v := st.Verdict; v == nil || v.Sums == nil {
					t.Fatalf("no schedules: %v", v)
				}
				verdicts[i] = st.Verdict
				if label := st.Verdict.Sums.Label; label != tt.label {
					t.Errorf("label %s, want %s", label, tt.label)
				}
				if of := st.Findings[0].Mismatch.Sums; len(of.StepsA) == 0 || len(of.StepsB) == 0 || slices.Equal(of.StepsA, of.StepsB) {
					t.Errorf("steps %q, %q", of.StepsA, of.StepsB)
				}
				if sums := st.Sums(); sums.Epilogue != tt.epilogue {
					t.Errorf("Epilogue is %v", sums.Epilogue)
				}
				if b := st.Buckets[string(triage.Schedule)]; len(st.Buckets) > 1 || b == nil || b.Cases != st.Mismatches() {
					t.Errorf("not all of %d mismatches are of the schedule: %v", st.Mismatches(), st.Buckets)
				}
				if !strings.HasPrefix(st.Rule(string(triage.Schedule)), tt.label[:4]) {
					t.Errorf("the rule is %q", st.Rule(string(triage.Schedule)))
				}
				if sums := st.Sums(); !strings.Contains(sums.String(), tt.says) || len(st.Findings) == 0 || st.Findings[0].Mismatch.Sums.String() != sums.String() {
					t.Errorf("the sides add like this: %s", sums)
				}
			}
			if v := verdicts[1]; v != nil && !reflect.DeepEqual(verdicts[0], v) {
				t.Errorf("another number of workers: %v, %v", verdicts[0].Sums, verdicts[1].Sums)
			}
		})
	}
}

// TestSumsOfInstructions has two black boxes that are instructions: programs say how they differ.
func TestSumsOfInstructions(t *testing.T) {
	tier.LongOnly(t)
	unit := func(target string) devices.Unit {
		u, m := modelOf(t, target, "mma.m16n8k32.f32.e4m3.e4m3.f32")
		i := u.Instruction()
		return devices.Func(&mma.Instruction{Name: "own", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 { return m.Dot(d, nil) })
	}
	st := runCampaign(t, Config{Pairs: []devices.Pair{{A: unit("sim:hopper"), B: unit("sim:ada"), TargetA: "a", TargetB: "b", K: 32}}, Seed: 1, Count: 5000}).Pairs[0]
	if v := st.Verdict; v == nil || v.Sums != nil || !slices.Contains(v.Labels, triage.TruncationWidth) {
		t.Errorf("%+v", v)
	}
}
