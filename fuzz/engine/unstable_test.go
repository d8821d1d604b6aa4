package engine

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// spoilt is a pair of a simulator and a black box of changed parameters whose results
// spoil changes: output i of a batch, whose code is given.
func spoilt(t testing.TB, change func(*mma.Params), spoil func(in *mma.Batch, i int, code uint64) uint64) devices.Pair {
	t.Helper()
	pair := boxedPair(t, "hopper", "mma.m16n8k8.f32.f16.f16.f32", change)
	inner := pair.B.(*blackBox).Unit
	var mu sync.Mutex
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		if err := inner.Run(context.Background(), in, out); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range in.Dots() {
			mma.Store(out, 4, i, spoil(in, i, mma.Load(out, 4, i)))
		}
		return nil
	}
	return pair
}

// flips flips a low bit in one of so many answers, at random.
func flips(oneIn int) func(*mma.Batch, int, uint64) uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	return func(_ *mma.Batch, _ int, code uint64) uint64 {
		if r.IntN(oneIn) == 0 {
			code ^= 1 << r.IntN(3)
		}
		return code
	}
}

// coin flips the last bit of a share of the answers, at random.
func coin(share, of int) func(*mma.Batch, int, uint64) uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	return func(_ *mma.Batch, _ int, code uint64) uint64 {
		if r.IntN(of) < share {
			code ^= 1
		}
		return code
	}
}

// onlyAt spoils only answers that have a bit.
func onlyAt(bit uint64, spoil func(*mma.Batch, int, uint64) uint64) func(*mma.Batch, int, uint64) uint64 {
	return func(in *mma.Batch, i int, code uint64) uint64 {
		if code&bit == 0 {
			return code
		}
		return spoil(in, i, code)
	}
}

func truthful(_ *mma.Batch, _ int, code uint64) uint64 { return code }

// column5 is wrong in one column of its tiles only.
func column5(in *mma.Batch, i int, code uint64) uint64 {
	if in.N > 1 && i%in.N == 5 {
		code ^= 1
	}
	return code
}

// tail is wrong in the later tiles of its batches only.
func tail(in *mma.Batch, i int, code uint64) uint64 {
	if in.M > 1 && i >= in.M*in.N && i%2 == 1 {
		code ^= 1
	}
	return code
}

// wrongAt is wrong where the right answer ends in the bits 101.
func wrongAt(_ *mma.Batch, _ int, code uint64) uint64 {
	if code&7 == 5 {
		code ^= 2
	}
	return code
}

// both spoils by one and then by another.
func both(x, y func(*mma.Batch, int, uint64) uint64) func(*mma.Batch, int, uint64) uint64 {
	return func(in *mma.Batch, i int, code uint64) uint64 { return y(in, i, x(in, i, code)) }
}

func same(*mma.Params)       {}
func narrower(p *mma.Params) { p.Join.Align.F-- }

// cases is the number of cases in all buckets of a pair.
func cases(p *finding.PairState) uint64 {
	n := uint64(0)
	for _, b := range p.Buckets {
		n += b.Cases
	}
	return n
}

// TestNaNsOfManyCodes has a unit whose NaNs have another code each time, compared by class: nothing
// of it is unstable.
func TestNaNsOfManyCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pair := spoilt(t, narrower, func(_ *mma.Batch, _ int, code uint64) uint64 {
		if code&0x7f800000 == 0x7f800000 && code&0x7fffff != 0 {
			code = 0x7f800001 | uint64(r.IntN(1<<22))<<1 | uint64(r.IntN(2))<<31
		}
		return code
	})
	class := oracle.ByClass
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000, Workers: 1, NaN: &class}).Pairs[0]
	if p.UnstablePair || p.Unstable > 0 || sprint(p.Verdict.Changes) != "[join.align.f 25→24]" {
		t.Errorf("unstable %v, %d cases; %v", p.UnstablePair, p.Unstable, p.Verdict.Changes)
	}
}

// TestUnstable checks units that change their answers: what does not repeat itself is
// in no bucket and no evidence, what does is explained as if nothing else were there,
// and every mismatch is counted once.
func TestUnstable(t *testing.T) {
	for n, tc := range []struct {
		name    string
		change  func(*mma.Params)
		spoil   func(*mma.Batch, int, uint64) uint64
		changes string   // of the verdict
		buckets []string // all that there are
		flaky   bool
		count   uint64
	}{
		{"truthful", narrower, truthful, "[join.align.f 25→24]", []string{"truncation-width"}, false, 20_000},
		{"flips of one in 100", same, flips(100), "[]", nil, true, 20_000},
		{"flips of one in 10", same, flips(10), "[]", nil, true, 20_000},
		{"flips of one in 3", same, flips(3), "[]", nil, true, 20_000},
		{"flips and a difference", narrower, flips(100), "[join.align.f 25→24]", []string{"truncation-width"}, true, 20_000},
		{"a column", same, column5, "[]", []string{"layout"}, false, 20_000},
		{"later tiles", same, tail, "[]", []string{"layout"}, false, 60_000}, // the first chunks have one tile
		{"a column and a difference", narrower, column5, "[join.align.f 25→24]", []string{"layout", "truncation-width"}, false, 20_000},
		{"flips, a column and a difference", narrower, both(column5, flips(100)), "[join.align.f 25→24]", []string{"layout", "truncation-width"}, true, 20_000},
		{"a bug and seldom flips", same, both(wrongAt, flips(1000)), "[]", []string{"defect"}, true, 2500},
		{"a coin", same, coin(1, 2), "[]", nil, true, 400},
		{"a coin and a column", same, both(column5, onlyAt(1<<6, coin(1, 2))), "[]", []string{"layout"}, true, 400},
		{"mostly wrong", same, coin(9, 10), "[]", nil, true, 400},
	}[:tier.Of(10, 10, 11, 13)] {
		if n%tier.Of(3, 3, 1) != tier.Of(1, 1, 0) {
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			pair := spoilt(t, tc.change, tc.spoil)
			p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: tc.count, Workers: 1}).Pairs[0]
			if cases(p)+p.Unstable != p.Mismatches() {
				t.Errorf("%d cases in buckets, %d unstable, %d mismatches", cases(p), p.Unstable, p.Mismatches())
			}
			if tc.flaky != (p.Unstable > 0) {
				t.Errorf("%d of %d mismatches are unstable", p.Unstable, p.Mismatches())
			}
			changes := "[]"
			if p.Verdict != nil {
				changes = sprint(p.Verdict.Changes)
			}
			if changes != tc.changes {
				t.Errorf("explained by %s, want %s", changes, tc.changes)
			}
			for name, b := range p.Buckets {
				if !slices.Contains(tc.buckets, labelOf(name)) {
					t.Errorf("bucket %s of %d cases, want %v", name, b.Cases, tc.buckets)
				}
			}
			for _, name := range tc.buckets {
				if p.Buckets[name] == nil {
					t.Errorf("no bucket %s", name)
				}
			}
			if !tc.flaky { // then nothing depends on chance
				again := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: tc.count, Workers: 3}).Pairs[0]
				if d := cmp.Diff(p.Buckets, again.Buckets); d != "" {
					t.Errorf("with 3 workers: %s", d)
				}
			}
			for _, f := range p.Findings {
				if n := f.Stable; f.Bucket == finding.Unstable && (n >= f.Of || f.Of != finding.TriageRuns && f.Of != 3) || f.Bucket != finding.Unstable && n != f.Of {
					t.Errorf("finding %s: repeated %d of %d", f.Bucket, n, f.Of)
				}
			}
			const column = "its result depends on the position: with zeros in the rest of a tile of 16 x 8 this input gives another result in rows 0 to 15 of column 5"
			const there = "; there bit 0 of the result is inverted"
			for _, f := range p.Findings {
				want := strings.Contains(tc.name, "a column") && f.Bucket == "layout"
				if f.Spots == nil && want && !tc.flaky || f.Spots != nil && (!want || f.Spots.Target != p.TargetB || !strings.HasPrefix(f.Spots.Rule, column)) {
					t.Errorf("finding %s: %+v", f.Bucket, f.Spots)
				} else if want && !tc.flaky && !strings.HasPrefix(strings.TrimPrefix(f.Spots.Rule, column), there) {
					t.Errorf("what is wrong there is not said: %s", f.Spots.Rule)
				}
			}
			for side := range 2 {
				if _, text := p.HistoryText(side); text != "" {
					t.Errorf("nothing depends on what was asked before: %s", text)
				}
			}
			if found := slices.ContainsFunc(p.Findings, func(f *finding.Case) bool { return f.Bucket == finding.Unstable }); found != tc.flaky {
				t.Errorf("a finding that changes: %v", found)
			}
		})
	}
}

// labelOf is a bucket's name without its class.
func labelOf(bucket string) string {
	for _, l := range []string{"layout", "truncation-width", string(triage.Unexplained)} {
		if len(bucket) >= len(l) && bucket[:len(l)] == l {
			return l
		}
	}
	return bucket
}

// TestTotals checks on units of many kinds that each mismatch is counted once.
func TestTotals(t *testing.T) {
	tier.SkipUnderRace(t)
	faulty := func(d *mma.Dot) bool { return d.A[3]&0x3ff == 7 }
	sound := func(*mma.Dot) bool { return false }
	for _, tc := range []struct {
		name   string
		change func(*mma.Params)
		spoil  func(*mma.Batch, int, uint64) uint64
		fails  func(*mma.Dot) bool
	}{
		{"faults and a column", narrower, column5, faulty},
		{"a bug, faults and flips", narrower, both(wrongAt, flips(50)), faulty},
		{"a bug", same, wrongAt, sound},
		{"batches, a bug and faults", same, both(tail, wrongAt), faulty},
		{"flips of one in three and a column", narrower, both(flips(3), column5), sound},
	}[:tier.Of(1, 1, 2, 5)] {
		t.Run(tc.name, func(t *testing.T) {
			pair := spoilt(t, tc.change, tc.spoil)
			inner := pair.B.(*blackBox).run
			pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
				d := mma.NewDot(in.Formats, in.K)
				for j := range in.Dots() {
					if in.Get(j, d); tc.fails(d) {
						return &devices.FaultError{Target: "box", What: "illegal instruction"}
					}
				}
				return inner(in, out)
			}
			p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 4096, Workers: 1}).Pairs[0]
			if cases(p)+p.Unstable != p.Mismatches() || p.Mismatches() == 0 {
				t.Errorf("%d cases in buckets, %d unstable, %d mismatches", cases(p), p.Unstable, p.Mismatches())
			}
		})
	}
}

// TestHistory has a unit that loses the last bit of a result that follows an infinity: the finding says
// after which questions.
func TestHistory(t *testing.T) {
	after := false
	pair := spoilt(t, same, func(_ *mma.Batch, _ int, code uint64) uint64 {
		infinite := code&0x7fffffff == 0x7f800000
		if after {
			code &^= 1
		}
		after = infinite
		return code
	})
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000, Workers: 1}).Pairs[0]
	const want = "its result depends on the question before it: it is another if in that question the result is infinite; right after such a question bit 0 of the result is stuck at 0 ("
	if b := p.Buckets[string(triage.Unexplained)]; b != nil {
		t.Errorf("%d cases are a cause of their own", b.Cases)
	}
	for _, f := range p.Findings {
		if f.Bucket == string(triage.Layout) && f.Spots != nil && strings.HasPrefix(f.Spots.Rule, want) && f.Spots.Target == p.TargetB {
			after = false
			askedAgain(t, pair.B, f)
			return
		}
	}
	for _, f := range p.Findings {
		t.Errorf("finding %s: %+v", f.Bucket, f.Spots)
	}
}

// askedAgain asks a box about a finding, right after the question that the finding has.
func askedAgain(t *testing.T, u devices.Unit, f *finding.Case) {
	t.Helper()
	if f.Before == nil {
		t.Fatal("the finding has no question before")
	}
	out := make([]byte, 8)
	if err := u.Run(t.Context(), mma.BatchOf(u.Instruction().Formats, len(f.Dot.A), []*mma.Dot{f.Before, f.Dot}), out); err != nil {
		t.Fatal(err)
	}
	if again := mma.Load(out, 4, 1); again != f.B {
		t.Errorf("right after the question before: %08x, want %08x", again, f.B)
	}
}

// TestKept has units that keep something of one question for another: what it is and where is said, and
// neither that they may round stochastically nor another cause.
func TestKept(t *testing.T) {
	for _, tc := range []struct {
		name  string
		count string // of answers, of calls, or of answers of a call
		take  func(n int, d, before, held *mma.Dot, _ uint64)
		every int
		want  string
	}{
		{"an old c", "answers", func(_ int, d, _, held *mma.Dot, _ uint64) {
			if d.C == 0 {
				d.C = held.C
			}
			held.C = d.C
		}, 0, "the answers of box depend on the question before: c is that of the question before where c is 00000000, and if that holds there too, of the last question in which it does not ("},
		{"products whose registers are not clocked", "answers", func(_ int, d, _, held *mma.Dot, _ uint64) {
			for k := range d.A {
				if d.A[k]&0x7fff != 0 {
					held.A[k], held.B[k] = d.A[k], d.B[k]
				}
				d.A[k], d.B[k] = held.A[k], held.B[k]
			}
		}, 0, "the answers of box depend on the question before: where a of a product is zero, the product is that of the last question in which this was not so ("},
		{"an accumulator that is not cleared", "answers", func(_ int, d, _, _ *mma.Dot, answer uint64) {
			if d.C == 0 {
				d.C = answer
			}
		}, 0, "the answers of box depend on the question before: c is the result of the question before where c is 00000000 ("},
		{"every 8th answer", "answers", func(n int, d, before, _ *mma.Dot, _ uint64) {
			if n%8 == 5 {
				d.A[0] = before.A[0]
			}
		}, 8, "every 8th answer of box is another one: there a of product 0 is that of the question before ("},
		{"every 7th call", "calls", func(n int, d, _, _ *mma.Dot, _ uint64) {
			if n%7 == 6 {
				d.C ^= 0x00400000
			}
		}, 7, "every 7th call of box is another one (2062 answers in sequences of questions were looked at, and none contradicts)"},
		{"every 2nd call", "calls", func(n int, d, _, _ *mma.Dot, _ uint64) {
			if n%2 == 1 {
				d.C ^= 0x00400000
			}
		}, 2, "every 2nd call of box is another one (2062 answers in sequences of questions were looked at, and none contradicts)"},
		{"a, if the c before is negative", "answers", func(_ int, d, before, _ *mma.Dot, _ uint64) {
			if before.C>>31 == 1 {
				d.A[2] = before.A[2]
			}
		}, 0, "the answers of box depend on the question before: a of product 2 is that of the question before if in that question c is negative ("},
		{"every 32nd answer of a call", "call", func(n int, d, before, _ *mma.Dot, _ uint64) {
			if n%32 == 31 {
				d.C ^= 0x00400000
			}
		}, 0, ""},
	}[:tier.Of(3, 5, 8)] {
		t.Run(tc.name, func(t *testing.T) {
			p := runCampaign(t, Config{Pairs: []devices.Pair{keeping(t, tc.count, tc.take)}, Seed: 1, Count: 1000, Workers: 1}).Pairs[0]
			h, text := p.HistoryText(1)
			if text != tc.want && (tc.want == "" || !strings.HasPrefix(text, tc.want) || h.Every != tc.every) {
				t.Errorf("%q, want %q", text, tc.want)
			}
			for name := range p.Buckets {
				if tc.want != "" && tc.every == 0 && name != string(triage.Layout) {
					t.Errorf("bucket %s beside what the unit keeps", name)
				}
			}
			for _, r := range p.Stochastic {
				if text := p.StochasticText(r); text != "" && tc.want != "" {
					t.Error(text)
				}
			}
		})
	}
}

// keeping is a pair of a simulator and a box which computes the same, of operands that take changes: it is
// given the number of the question, of the call, or of the question of a call, the question, the one before, one to keep,
// and the answer before.
func keeping(t *testing.T, count string, take func(n int, d, before, held *mma.Dot, answer uint64)) devices.Pair {
	pair := spoilt(t, same, truthful)
	i := pair.A.Instruction()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n, answer, before, held := 0, uint64(0), mma.NewDot(i.Formats, i.K), mma.NewDot(i.Formats, i.K)
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		mu.Lock()
		defer mu.Unlock()
		for j := range in.Dots() {
			dot := mma.NewDot(i.Formats, i.K)
			in.Get(j, dot)
			asked := dot.Clone()
			take(n, dot, before, held, answer)
			before = asked
			answer = m.Dot(dot, nil)
			mma.Store(out, 4, j, answer)
			if count != "calls" {
				n++
			}
		}
		switch count {
		case "calls":
			n++
		case "call":
			n = 0
		}
		return nil
	}
	return pair
}

// renewable is a box of which there is a new one each time.
type renewable struct {
	*blackBox
	renew func() *renewable
}

func (r *renewable) Renew(context.Context) (devices.Unit, func(), error) {
	return r.renew(), func() {}, nil
}

// TestPast has a unit that flushes its results for good once it has been asked about an infinity: it
// repeats all its answers, and only a new one shows what changes it.
func TestPast(t *testing.T) {
	var renew func() *renewable
	renew = func() *renewable {
		flushes := false
		pair := spoilt(t, same, func(_ *mma.Batch, _ int, code uint64) uint64 {
			flushes = flushes || code&0x7fffffff == 0x7f800000
			if flushes && code&0x7f800000 == 0 {
				code &= 1 << 31
			}
			return code
		})
		return &renewable{pair.B.(*blackBox), renew}
	}
	pair := spoilt(t, same, truthful)
	pair.B = renew()
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000, Workers: 1}).Pairs[0]
	for _, f := range p.Findings {
		if f.Past != nil && f.Past.Target == p.TargetB && strings.HasSuffix(f.Past.Rule, "; it changes its results for good after a question in which the result is infinite") {
			askedAgain(t, renew(), f)
			return
		}
	}
	for _, f := range p.Findings {
		t.Errorf("finding %s: %+v", f.Bucket, f.Past)
	}
}

// TestThere has two boxes of which one takes row 8 of A in row 9. What it does there is found by the
// program of the other one, which is inferred.
func TestThere(t *testing.T) {
	tier.SkipUnderRace(t)
	tier.LongOnly(t)
	pair := spoilt(t, same, truthful)
	i := pair.A.Instruction()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	pair.A, pair.TargetA = &blackBox{Unit: pair.A}, "right"
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		dot, above := mma.NewDot(i.Formats, i.K), mma.NewDot(i.Formats, i.K)
		for n := range in.Dots() {
			in.Get(n, dot)
			if in.M > 9 && n/in.N%in.M == 9 {
				in.Get(n-in.N, above)
				dot.A = above.A
			}
			mma.Store(out, 4, n, m.Dot(dot, nil))
		}
		return nil
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000, Workers: 1}).Pairs[0]
	for _, f := range p.Findings {
		if f.Spots == nil || f.Spots.Target != "box" || !strings.Contains(f.Spots.Rule, " in row 9 of columns 0 to 7; there a of each product is a zero of its sign (") ||
			!strings.HasSuffix(f.Spots.Rule, "; in a tile that has this input everywhere the result is right, as if operands of another position were taken: what is in row 8 of column 0 changes the result") {
			t.Errorf("finding %s: %+v", f.Bucket, f.Spots)
		}
	}
	if len(p.Findings) == 0 {
		t.Error("there is no finding")
	}
}

// TestGivenCase has one dot product explained that no generator drew, of a box with a defect.
func TestGivenCase(t *testing.T) {
	pair := spoilt(t, same, func(_ *mma.Batch, _ int, code uint64) uint64 { return code | 1<<12 })
	d := mma.NewDot(pair.Formats(), 8)
	d.A[0], d.B[0] = 0x3c00, 0x3c00
	f, err := TriageCase(t.Context(), Config{Pairs: []devices.Pair{pair}, Seed: 1, Workers: 1}, d)
	if err != nil {
		t.Fatal(err)
	}
	if f.Mismatch == nil || f.Mismatch.Defect == nil || f.Mismatch.Defect.Rule != "bit 12 of the result is stuck at 1" {
		t.Errorf("%s: %+v, want the defect", f.Bucket, f.Mismatch)
	}
}

// TestWholeTiles compares with a box of tiles of 16 rows that takes half of each row from the row 8 places
// above or below. Alone, with zeros in the rest of its tile, a dot product lacks half of its products, which
// is no rule of any tile that has other rows.
func TestWholeTiles(t *testing.T) {
	tier.LongOnly(t)
	tier.SkipUnderRace(t)
	pair := spoilt(t, same, truthful)
	inner := pair.B.(*blackBox).Unit
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		changed, half := *in, in.K/2
		changed.A = make([]byte, len(in.A))
		for row := range in.Tiles * in.M {
			for k := range in.K {
				r, from, code := row%in.M, k, uint64(0)
				switch {
				case r%16 < 8 && k >= half:
					r, from = r+8, k-half
				case r%16 >= 8 && k < half:
					r, from = r-8, k+half
				}
				if r < in.M {
					code = mma.Load(in.A, 2, (row-row%in.M+r)*in.K+from)
				}
				mma.Store(changed.A, 2, row*in.K+k, code)
			}
		}
		return inner.Run(context.Background(), &changed, out)
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 2000, Workers: 1}).Pairs[0]
	if d := p.Defect(); d != nil {
		t.Errorf("a defect: %s", d.Rule)
	}
}
