package cpu_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestEmulated builds these tests for other processors and has them serve cpu:0, in every version
// of the emulators that is here.
func TestEmulated(t *testing.T) {
	if !tier.Long() {
		t.Skip("compiles for other processors: only with " + tier.Variable)
	}
	for _, e := range devicetest.Emulators {
		t.Run(e.Program, func(t *testing.T) {
			paths, program := e.Paths(t), e.BuildTests(t)
			for _, path := range paths {
				t.Run(devicetest.Version(t, path), func(t *testing.T) {
					target, err := devices.Open("exec:" + e.Command(path, program) + " @serve '" + filepath.Join(t.TempDir(), "ns") + "'")
					if err != nil {
						t.Fatal(err)
					}
					defer target.Close()
					t.Run("models", func(t *testing.T) { emulatedModels(t, e, target) })
					t.Run("facts", func(t *testing.T) { emulatedFacts(t, e, target) })
					t.Run("mutants", func(t *testing.T) { emulatedMutants(t, e, target) })
				})
			}
		})
	}
}

// emulatedModels compares every instruction with its model, on raw bits and all other
// generators together, and on less where it is one under modes: not one bit may differ.
func emulatedModels(t *testing.T, e devicetest.Emulator, target devices.Target) {
	model, err := devices.Open("sim:" + e.Arch)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range target.Instructions() {
		if i.D.Flags() != 0 { // no model has these
			continue
		}
		count := tier.Of[uint64](0, 0, 4_000, 1_000_000)
		if !unset(i.Name) {
			count /= 20
		}
		p := run(t, target, model, i.Name, count)
		if p.Classes[oracle.Same] != p.Dots || p.Dots < count {
			t.Errorf("%s: %d dot products, classes %v, %v", i.Name, p.Dots, p.Classes, p.Findings)
		}
	}
	t.Logf("%d instructions", len(target.Instructions()))
}

// unset reports whether an instruction is the first of its mnemonic and formats: its
// name has no words for rounding, flushing, NaNs, overflow and scaling.
func unset(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, ".")[1:], func(word string) bool {
		return slices.Contains([]string{"rd", "ru", "rz", "fz", "fz16", "dn", "osm"}, word) || strings.HasPrefix(word, "lscale")
	})
}

// run runs a campaign on one instruction of two targets.
func run(t *testing.T, a, b devices.Target, name string, count uint64) *fuzz.PairState {
	t.Helper()
	pairs, err := devices.Pairs(a, b, name, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := fuzz.New(fuzz.Config{Pairs: pairs, Seed: 1, Count: count})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.State().Pairs[0]
}

// emulated results, of single dot products, are what the rules of Arm's and POWER10's
// instructions rest on. The pairs of POWER10 are low, high.
var emulatedResults = []struct{ arch, name, inst, dot, want string }{
	{"arm", "inexact sums are odd", "bfdot.ebf0", "3080 3f80 3f800000", "3f800001"},
	{"arm", "also of c far away", "bfdot.ebf0", "3f80 3f80 50000000", "50000001"},
	{"arm", "products before c", "bfdot.ebf0", "3f80,bf80 3f80,3f80 4b800000", "4b800000"},
	{"arm", "subnormal c", "bfdot.ebf0", "8000,8000 0000,0000 807fffff", "80000000"},
	{"arm", "subnormal element", "bfdot.ebf0", "007f 7f00 00000000", "00000000"},
	{"arm", "tiny product", "bfdot.ebf0", "2000,3f80 1f80,0080 00800000", "01000000"},
	{"arm", "overflow", "bfdot.ebf0", "7f7f 7f7f 00000000", "7f800000"},
	{"arm", "NaN", "bfdot.ebf0", "ffc1 3f80 ff800001", "7fc00000"},
	{"arm", "inf-inf", "bfdot.ebf0", "7f80,ff80 3f80,3f80 00000000", "7fc00000"},
	{"arm", "two pairs", "bfmmla.ebf0", "3f80,0000,bf80,0000 3f80,0000,3f80,0000 4c000000", "4c000001"},
	{"arm", "subnormal c is kept", "bfdot.ebf1", "0000 0000 807fffff", "807fffff"},
	{"arm", "subnormal c is flushed", "bfdot.ebf1.fz", "8000,8000 0000,0000 807fffff", "80000000"},
	{"arm", "the sum of products is rounded", "bfdot.ebf1", "3f80,3980 3f80,3980 33800000", "3f800000"},
	{"arm", "up, twice", "bfdot.ebf1.ru", "3f80,3980 3f80,3980 33800000", "3f800002"},
	{"arm", "c's NaN before a's", "bfmlalb", "7fc1 3f80 ffc00005", "ffc00005"},
	{"arm", "a's signalling NaN before c's", "bfmlalt", "7f81 3f80 ffc00005", "7fc10000"},
	{"arm", "b's signalling NaN before a's", "bfmlalb", "7fc1 ff83 00000000", "ffc30000"},
	{"arm", "inf*0 and a NaN", "bfmlalb", "7f80 0000 ffc00005", "7fc00000"},
	{"arm", "inf*0 and a signalling NaN", "bfmlalb", "7f80 0000 ff800005", "ffc00005"},
	{"arm", "default NaN", "bfmlalb.dn", "7fc1 3f80 ffc00005", "7fc00000"},
	{"arm", "flushed before rounding", "bfmlalb.fz", "8080 3f7f 80000000", "80000000"},
	{"arm", "not flushed", "bfmlalb", "8080 3f7f 80000000", "807f8000"},
	{"arm", "FP16 subnormals are kept", "fmlal.fz", "0001 3c00 00000000", "33800000"},
	{"arm", "FP16 subnormals are flushed", "fmla-8h.fz16", "0001 7800 0000", "0000"},
	{"arm", "overflow toward zero", "fmla-4s.rz", "7f7fffff 7f7fffff 00000000", "7f7fffff"},
	{"arm", "one rounding of five terms", "fdot.e4m3.e4m3", "38,38,38,38 38,38,38,38 cb800000", "cb7ffffc"},
	{"arm", "E5M2 has infinities", "fdot.e5m2.e4m3", "7c 38 00000000", "7f800000"},
	{"arm", "E4M3 has none", "fdot.e4m3.e5m2", "7c 3c 00000000", "43c00000"},
	{"arm", "LSCALE", "fdot.e4m3.e4m3.lscale7", "38 38 00000000", "3c000000"},
	{"arm", "LSCALE does not count for c", "fmmla.e4m3.e4m3.lscale127", "78 78 3f800000", "3f800000"},
	{"arm", "LSCALE, subnormal", "fmmla.e5m2.e5m2.lscale127", "01 01 00000001", "00000001"},
	{"arm", "minus zeros", "fdot.e4m3.e4m3", "80,80,80,80 38,38,38,38 80000000", "80000000"},
	{"power10", "the sum of products is rounded", "xvbf16ger2pp", "3980,3f80 3980,3f80 33800000", "3f800000"},
	{"power10", "up, twice", "xvbf16ger2pp.ru", "3980,3f80 3980,3f80 33800000", "3f800002"},
	{"power10", "subnormal c", "xvf16ger2pp", "0000 0000 80000001", "80000001"},
	{"power10", "NaN: low a", "xvbf16ger2pp", "7fc1,7fc2 7fc3,7fc4 7fc00005", "7fc10000"},
	{"power10", "NaN: high a before low b", "xvbf16ger2pp", "3f80,7fc2 7fc3,7fc4 7fc00005", "7fc20000"},
	{"power10", "NaN: high b before low b", "xvbf16ger2pp", "3f80,3f80 7fc3,7fc4 7fc00005", "7fc40000"},
	{"power10", "NaN: high inf*0 before low b", "xvbf16ger2pp", "3f80,7f80 7fc3,0000 7fc00005", "7fc00000"},
	{"power10", "NaN: low b before c", "xvf16ger2pp", "3c00,3c00 7e03,3c00 7fc00005", "7fc06000"},
	{"power10", "NaN: c before b", "xvf32gerpp", "3f800000 7fc00003 7fc00005", "7fc00005"},
	{"power10", "NaN: a before c", "xvf32gerpp", "7fc00003 3f800000 7fc00005", "7fc00003"},
	{"power10", "NaN: c before inf*0", "xvf32gerpp", "7f800000 00000000 ff800005", "ffc00005"},
	{"power10", "toward zero", "xvf32gerpp.rz", "3f800000 b3000000 3f800000", "3f7fffff"},
	{"power10", "double, down", "xvf64gerpp.rd", "3ff0000000000000 3ff0000000000000 bff0000000000000", "8000000000000000"},
}

// TestModelFacts checks these results of the models.
func TestModelFacts(t *testing.T) {
	for _, f := range emulatedResults {
		i, err := mma.Lookup(f.arch, f.inst)
		if err != nil {
			t.Fatal(err)
		}
		u, err := simulated.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := devicetest.One(t, u, f.dot); got != f.want {
			t.Errorf("%s: %s, %s: %s, want %s", f.inst, f.name, f.dot, got, f.want)
		}
	}
}

// emulatedFacts checks these results of an emulator.
func emulatedFacts(t *testing.T, e devicetest.Emulator, target devices.Target) {
	for _, f := range emulatedResults {
		i, err := devices.Find(target, f.inst)
		if f.arch != e.Arch || err != nil { // FP8 and EBF are not in every version
			continue
		}
		u, err := target.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		if got := devicetest.One(t, u, f.dot); got != f.want {
			t.Errorf("%s: %s, %s: %s, want %s", f.inst, f.name, f.dot, got, f.want)
		}
	}
}

// wrong are models that are wrong in one respect, and what triage calls that.
var wrong = []struct {
	arch, inst, name string
	change           func(p *mma.Params)
	labels           string
}{
	{"arm", "bfdot.ebf0", "to nearest even instead of to odd", roundTo("rne", all), "intermediate-rounding+output-rounding"},
	{"arm", "bfdot.ebf0", "last addition to nearest even", roundTo("rne", last), "output-rounding"},
	{"arm", "bfdot.ebf0", "(c+p0)+p1", func(p *mma.Params) { p.L, p.Stage0 = 1, mma.Stage{} }, "accumulate-placement+fusion-width"},
	{"arm", "bfdot.ebf0", "exact sum of products", func(p *mma.Params) { p.Prod.Round = mma.Round{} }, "product-handling"},
	{"arm", "bfdot.ebf0", "no DAZ", func(p *mma.Params) { p.In = mma.Input{} }, "input-ftz"},
	{"arm", "bfdot.ebf0", "no FTZ", func(p *mma.Params) {
		for _, r := range all(p) {
			r.Flush = mma.NoFlush
		}
	}, "output-ftz"},
	{"arm", "bfmlalb", "first NaN", func(p *mma.Params) { p.Special.NaN = mma.NaNFirst }, "nan-encoding"},
	{"arm", "bfmlalb.fz", "flushed after rounding", func(p *mma.Params) { p.Acc.Flush = mma.FlushAfter }, "output-ftz"},
	{"power10", "xvbf16ger2pp", "products rounded", func(p *mma.Params) { p.Prod.Round = p.Acc }, "product-handling"},
	{"power10", "xvbf16ger2pp", "one fused sum", func(p *mma.Params) { p.Stage0 = mma.Stage{} }, "accumulate-placement"},
	{"power10", "xvbf16ger2pp", "low pair first", func(p *mma.Params) { p.Order = mma.Ascending }, "summation-order"},
	{"power10", "xvf32gerpp", "FMA of x86", func(p *mma.Params) { p.Special.NaN = mma.NaNFirst }, "nan-encoding"},
}

// emulatedMutants compares the emulator with those models: each is found, shrunk to
// at most two products, and named.
func emulatedMutants(t *testing.T, e devicetest.Emulator, target devices.Target) {
	for _, m := range wrong {
		if m.arch != e.Arch {
			continue
		}
		t.Run(m.inst+" "+m.name, func(t *testing.T) {
			i, err := mma.Lookup(m.arch, m.inst)
			if err != nil {
				t.Fatal(err)
			}
			m.change(&i.Params)
			p := run(t, target, simulated.Target("mutant", *i), m.inst, 20_000)
			if p.Verdict == nil || !p.Verdict.Found() {
				t.Fatalf("not explained: %+v, buckets %v", p.Verdict, p.Buckets)
			}
			if got := triage.Join(p.Verdict.Labels); got != m.labels {
				t.Errorf("%s: %s, want %s", mma.Brief(p.Verdict.Changes), got, m.labels)
			}
			for _, f := range p.Findings {
				if n := products(f.Dot); n > 2 {
					t.Errorf("%s: %d products left", mma.FormatDot(i.Formats, f.Dot), n)
				}
			}
		})
	}
}

// all are the roundings of BFDOT, last that of its last addition.
func all(p *mma.Params) []*mma.Round { return []*mma.Round{&p.Prod.Round, &p.Stage0.Round, &p.Acc} }

func last(p *mma.Params) []*mma.Round { return []*mma.Round{&p.Acc} }

// roundTo returns a change of the mode of some roundings.
func roundTo(mode string, of func(*mma.Params) []*mma.Round) func(*mma.Params) {
	return func(p *mma.Params) {
		for _, r := range of(p) {
			if err := r.Mode.UnmarshalText([]byte(mode)); err != nil {
				panic(err)
			}
		}
	}
}

// products is the number of products that are not 0*0.
func products(d *mma.Dot) int {
	n := 0
	for i := range d.A {
		if d.A[i]|d.B[i] != 0 {
			n++
		}
	}
	return n
}
