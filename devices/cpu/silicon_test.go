package cpu_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// The dot products of a mnemonic, dealt out to its modes: of raw bits, and of each
// other generator. An instruction of many products gets fewer.
const (
	rawDots      = 10_000_000
	directedDots = 500_000
	fewProducts  = 4
	fewer        = 20
	integerDots  = 50_000_000 // of raw bits, of each instruction for integers, at night: 10^9 products in all
)

// chunk is a run of dot products of a generator: a whole number of its tiles.
type chunk struct {
	src   gen.Source
	first uint64
	n     int
}

// chunks are at least n dot products of a generator.
func chunks(src gen.Source, n uint64) []chunk {
	const tile = 128
	size := min(1<<12, (n+tile-1)/tile*tile)
	var all []chunk
	for first := uint64(0); first < n; first += size {
		all = append(all, chunk{src, first, int(size)})
	}
	return all
}

// TestSilicon runs every instruction under every mode against its model, on raw
// bits and on every generator that aims at the model's decisions. Not one bit may
// differ, of NaNs neither.
func TestSilicon(t *testing.T) {
	target := open(t)
	modes := map[string]uint64{}
	for _, i := range target.Instructions() {
		mnemonic, _ := i.Mnemonic()
		modes[mnemonic]++
	}
	for _, i := range target.Instructions() {
		t.Run(i.Name, func(t *testing.T) {
			mnemonic, _ := i.Mnemonic()
			raw, directed := rawDots/modes[mnemonic], directedDots/modes[mnemonic]
			if i.K > fewProducts || i.D.Get().Integer() {
				raw, directed = raw/fewer, directed/fewer
			}
			part := tier.Of[uint64](100, 20, 5, 1)
			raw, directed = raw/part, directed/part
			if i.D.Get().Integer() && tier.Nightly() {
				raw = integerDots
			}
			if i.D.Flags() != 0 { // one at a time, and the judge's code is slow
				raw, directed = raw/fewer, directed/fewer
			}
			comparable(t, target, &i)
			u, err := target.Open(&i)
			if err != nil {
				t.Fatal(err)
			}
			sp := gen.Spec{Formats: i.Formats, K: i.K}
			var work []chunk
			for _, g := range gen.All() {
				n := directed
				if g.Name == "raw" {
					n = raw
				}
				work = append(work, chunks(g.Aimed(sp, &i.Params), n)...)
			}
			compare(t, u, i.K, work)
		})
	}
}

// comparable skips an instruction that flushes results if this is an emulator: QEMU
// before version 11.1 decides before rounding which are tiny.
func comparable(t *testing.T, target devices.Target, i *mma.Instruction) {
	t.Helper()
	if e := emulator(target); e != "" && flushes(i) {
		t.Skipf("NOT TESTED: %s may flush other results", e)
	}
}

// flushes reports whether an instruction decides after rounding which results are
// tiny and flushed.
func flushes(i *mma.Instruction) bool {
	p := &i.Params
	for _, r := range []mma.Round{p.Prod.Round, p.Stage0.Round, p.Acc, p.Late} {
		if r.Flush == mma.FlushAfter {
			return true
		}
	}
	return false
}

// strictness is how results are compared with the model's: by bits, but NaNs by class
// if this is an emulator, which chooses among them by a rule of its own.
func strictness(target devices.Target) oracle.Policy {
	if emulator(target) != "" {
		return oracle.Policy{NaN: oracle.ByClass}
	}
	return oracle.Policy{}
}

// TestLong does the same for dot products of several times K, in which the
// instruction gets its own results as C.
func TestLong(t *testing.T) {
	for _, name := range []string{"vdpbf16ps", "fma3-bf16", "vfmadd231ps", "vfmadd231ps.daz", "vfmadd231pd.rz.ftz", "vfmadd231ph", "tdpbf16ps",
		"bfdot", "bfmmla", "bfmlalt.rz", "fmla-8h", "fmmla.e4m3.e5m2", "xvf16ger2pp", "xvf64gerpp.ru"} {
		t.Run(name, func(t *testing.T) {
			u := unit(t, name)
			i := u.Instruction()
			comparable(t, open(t), i)
			k := min(64, 5*i.K)
			n := tier.Of[uint64](128, 512, 4096)
			sp := gen.Spec{Formats: i.Formats, K: k}
			var work []chunk
			for _, g := range gen.All() {
				work = append(work, chunks(g.Aimed(sp, &i.Params), n)...)
			}
			compare(t, u, k, work)
		})
	}
	u := unit(t, "dpps")
	in := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 1})
	if err := u.Run(t.Context(), in, make([]byte, 4)); err == nil {
		t.Error("DPPS, which has no C, was repeated")
	}
}

// compare runs chunks of dot products of k elements through a unit and its model.
func compare(t *testing.T, u devices.Unit, k int, work []chunk) {
	t.Helper()
	i := u.Instruction()
	var m *sim.Model // nil: flags
	if i.D.Flags() == 0 {
		var err error
		if m, err = sim.ForInstruction(i); err != nil {
			t.Fatal(err)
		}
	}
	policy := strictness(open(t))
	var next, dots atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			in := &mma.Batch{}
			for !t.Failed() {
				n := int(next.Add(1)) - 1
				if n >= len(work) {
					return
				}
				g := work[n].src.Generator
				in.Reset(i.Formats, mma.Shape{M: g.M, N: g.N, K: k, Tiles: work[n].n / (g.M * g.N)})
				work[n].src.Fill(in, 1, work[n].first)
				if err := same(t, u, m, in, policy); err != nil {
					t.Errorf("%s from %d: %v", work[n].src, work[n].first, err)
				}
				dots.Add(int64(work[n].n))
			}
		})
	}
	wg.Wait()
	t.Logf("%s: %d dot products, 0 mismatches", i.FullName(), dots.Load())
}

// same returns an error that says where a unit and its model differ on a batch.
func same(t *testing.T, u devices.Unit, m *sim.Model, in *mma.Batch, policy oracle.Policy) error {
	w := in.D.Width()
	got, want := make([]byte, in.Dots()*w), make([]byte, in.Dots()*w)
	d := mma.NewDot(in.Formats, in.K)
	if m != nil {
		m.Run(in, want)
	} else {
		for n := range want {
			in.Get(n, d)
			want[n] = byte(oracle.Flags(&u.Instruction().Params, in.Formats, d))
		}
	}
	if err := u.Run(t.Context(), in, got); err != nil {
		return err
	}
	if bytes.Equal(got, want) {
		return nil
	}
	for n := range in.Dots() {
		if x, y := mma.Load(got, w, n), mma.Load(want, w, n); oracle.Compare(in.D, policy, x, y) != oracle.Same {
			in.Get(n, d)
			return fmt.Errorf("%s: %s on the processor, %s as the model has it", mma.FormatDot(in.Formats, d), mma.FormatCode(in.D, x), mma.FormatCode(in.D, y))
		}
	}
	return nil
}

// TestShapes runs tiles of many sizes: what the unit cuts, packs and fills up makes
// no difference.
func TestShapes(t *testing.T) {
	for _, name := range []string{"vdpbf16ps", "fma3-bf16", "vfmadd231ps", "vfmadd231pd", "vfmadd231ph", "dpps", "dppd", "tdpbf16ps",
		"bfdot", "bfmmla", "fmlal", "fmla-8h", "fmla-2d", "fmmla.e5m2.e4m3", "xvbf16ger2pp", "xvf32gerpp", "xvf64gerpp"} {
		t.Run(name, func(t *testing.T) {
			u := unit(t, name)
			i := u.Instruction()
			comparable(t, open(t), i)
			policy := strictness(open(t))
			m, err := sim.ForInstruction(i)
			if err != nil {
				t.Fatal(err)
			}
			g, err := gen.Find("raw")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []mma.Shape{{M: 1, N: 1, Tiles: 1}, {M: 1, N: 1, Tiles: 7}, {M: 1, N: 1, Tiles: 33}, {M: 1, N: 5, Tiles: 3},
				{M: 5, N: 1, Tiles: 3}, {M: 16, N: 16, Tiles: 2}, {M: 17, N: 15, Tiles: 2}, {M: 3, N: 40, Tiles: 1}, {M: 2, N: 2, Tiles: 100}} {
				s.K = i.K
				if i.C == i.D {
					s.K = 3 * i.K
				}
				in := mma.NewBatch(i.Formats, s)
				raw := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: s.K, Tiles: 40})
				g.Aimed(gen.Spec{Formats: i.Formats, K: s.K}).Fill(raw, 1, 0)
				copy(in.A, raw.A)
				copy(in.B, raw.B)
				copy(in.C, raw.C)
				before := mma.NewBatch(i.Formats, s)
				copy(before.A, in.A)
				copy(before.B, in.B)
				copy(before.C, in.C)
				if err := same(t, u, m, in, policy); err != nil {
					t.Errorf("%+v: %v", s, err)
				}
				if !bytes.Equal(in.A, before.A) || !bytes.Equal(in.B, before.B) || !bytes.Equal(in.C, before.C) {
					t.Errorf("%+v: the batch was changed", s)
				}
			}
		})
	}
}

// TestModesApart runs instructions under different modes at the same time: a mode
// holds for its own instruction only.
func TestModesApart(t *testing.T) {
	g, err := gen.Find("tiny")
	if err != nil {
		t.Fatal(err)
	}
	target := open(t)
	policy := strictness(target)
	times := tier.Of(5, 20, 100)
	var wg sync.WaitGroup
	for _, name := range []string{"vfmadd231ps", "vfmadd231ps.daz.ftz", "vfmadd231ps.ru", "vfmadd231ps.rd.ftz", "dpps.rz", "dpps", "vdpbf16ps",
		"bfdot", "bfmlalb", "bfmlalb.ru.dn", "bfmlalt.rd.fz", "fdot.e5m2.e5m2", "fmmla.e4m3.e4m3.lscale7",
		"xvf32gerpp", "xvf32gerpp.rz", "xvbf16ger2pp.ru"} {
		i, err := devices.Find(target, name)
		if err != nil || emulator(target) != "" && flushes(i) {
			continue // another processor's, or not to be compared
		}
		u, err := target.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			t.Fatal(err)
		}
		in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: 1001})
		g.Aimed(gen.Spec{Formats: i.Formats, K: i.K}).Fill(in, 1, 0)
		for range 2 {
			wg.Go(func() {
				for range times {
					if err := same(t, u, m, in, policy); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}
