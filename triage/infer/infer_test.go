package infer

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestFound infers programs. Those of which every part shows in results must be found as
// they are; for the others a program must be found that gives the same results.
func TestFound(t *testing.T) {
	long(t)
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	bf := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	for _, c := range []struct {
		name  string
		f     mma.Formats
		k     int
		p     mma.Params
		whole bool // every parameter shows
	}{
		{"truncated fused sum", half, 4, mma.TFDPA(4, 23, mma.To(fp.FP32, fp.RZ), 0), true},
		{"floor that does not show", half, 4, mma.TFDPA(4, 23, mma.To(fp.FP32, fp.RZ), -131), false},
		{"floor that shows", bf, 4, mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), -132), true},
		{"chain of FMAs", single, 2, mma.FMA(fp.FP32), true},
		{"products flushed and added in pairs", bf, 4, program(t, "cdna2", "v_mfma_f32_16x16x8bf16"), false},
		{"exact sum", half, 8, program(t, "cdna1", "v_mfma_f32_16x16x16f16"), false},
		{"b's NaN first", bf, 2, special(mma.NaNFirst, func(p *mma.Params) { p.Special.BFirst = true }), true},
		{"c's NaN, other NaNs of seven ones", bf, 2, special(mma.NaNOfC, func(p *mma.Params) { p.Special.Ones = 7 }), true},
		{"operands in the range of FP16", bf, 4, fp16Range(mma.FMA(fp.FP32)), false},
		{"NaNs that are infinities and become zeros", bf, 2, special(mma.NaNZero, func(p *mma.Params) { p.In.NaNInf = true }), false},
		{"a chain that saturates, without infinities", mma.Formats{A: fp.E5M2, B: fp.E5M2, C: fp.FP16, D: fp.FP16}, 4, func() mma.Params {
			p := mma.FMA(fp.FP16)
			p.In.InfNaN, p.Acc.Over, p.Special.NaN = true, mma.OverMax, mma.NaNOnes
			return p
		}(), false},
	}[:tier.Of(0, 1, 11)] {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUnit(t, c.f, c.k, c.p)
			r := inferred(t, u, Options{Seed: 5})
			if r.Verdict != Found {
				t.Fatalf("%s, %d of %d cases left", r.Verdict, r.Left, r.Evidence)
			}
			if c.whole && r.Params != c.p {
				t.Errorf("%s", mma.Brief(mma.Diff(&c.p, &r.Params)))
			}
			if r.Stats.Queries != int(u.asked.Load()) || r.Stats.Batches != int(u.calls.Load()) {
				t.Errorf("%+v, but the unit was asked %d dot products in %d batches", r.Stats, u.asked.Load(), u.calls.Load())
			}
			checkSame(t, r, &c.p)
			checkMutants(t, r, u)
		})
	}
}

// fp16Range is a program whose factors are first converted to the range of FP16.
func fp16Range(p mma.Params) mma.Params {
	p.In.A = mma.Narrow{Mode: fp.RNE, To: fp.FP16}
	p.In.B = p.In.A
	return p
}

// special is a chain of FMAs with rules for NaNs.
func special(r mma.NaNRule, change func(p *mma.Params)) mma.Params {
	p := mma.FMA(fp.FP32)
	p.Special.NaN = r
	change(&p)
	return p
}

// checkSame compares the program found with the true one on inputs of every
// generator, by the oracle.
func checkSame(t *testing.T, r *Result, p *mma.Params) {
	t.Helper()
	sp := gen.Spec{Formats: r.Formats, K: r.K}
	gens := gen.All()
	for i := range gens {
		for _, d := range generate(sp, &gens[i], 99, 0, 200, p, &r.Params) {
			if got, want := oracle.Eval(&r.Params, r.Formats, r.K, d), oracle.Eval(p, r.Formats, r.K, d); got != want {
				t.Fatalf("%s: %x, want %x; %s", mma.FormatDot(r.Formats, d), got, want, mma.Brief(mma.Diff(p, &r.Params)))
			}
		}
	}
}

// checkMutants checks, for each input that rules out a mutant, that the unit gives the
// result in the report and the mutant another one.
func checkMutants(t *testing.T, r *Result, u *unit) {
	t.Helper()
	told := 0
	for _, v := range r.Mutants {
		if v.Dot == nil {
			continue
		}
		told++
		got := oracle.Eval(u.Unit.Model(), r.Formats, r.K, v.Dot)
		would := oracle.Eval(&v.p, r.Formats, r.K, v.Dot)
		if got != v.Got || would != v.Would || got == would {
			t.Errorf("%s on %s: unit %x, said %x; mutant %x, said %x", mma.Brief(v.Changes), mma.FormatDot(r.Formats, v.Dot), got, v.Got, would, v.Would)
		}
	}
	if told < len(r.Mutants)/2 {
		t.Errorf("only %d of %d mutants are ruled out", told, len(r.Mutants))
	}
}

// TestSeedDecides checks that an inference depends on its seed and on nothing
// else, in particular not on the number of workers.
func TestSeedDecides(t *testing.T) {
	run := func(seed uint64, workers int) *Result {
		r := inferred(t, newUnit(t, half, 1, mma.TFDPA(1, 23, mma.To(fp.FP32, fp.RZ), 0)), Options{Seed: seed, Workers: workers})
		r.Seconds = 0
		return r
	}
	one, four := run(1, 1), run(1, 4)
	if !reflect.DeepEqual(one, four) {
		t.Errorf("one worker: %+v\nfour: %+v", one, four)
	}
	if !tier.Long() {
		return
	}
	if other := run(2, 1); other.Params != one.Params {
		t.Errorf("another seed finds another program: %s", mma.Brief(mma.Diff(&one.Params, &other.Params)))
	}
}

// TestNoise infers a unit of which one result in a thousand is off by a bit.
func TestNoise(t *testing.T) {
	u := volta(t)
	u.spoil = func(_ *mma.Dot, code uint64, first, n int, _ bool) (uint64, error) {
		if (first+n)%1000 == 999 {
			code ^= 1
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	if r.Verdict != NotStable || r.Unstable == nil {
		t.Fatalf("%s", r.Verdict)
	}
	if x := r.Unstable; x.First^x.Second != 1 || x.Changed == 0 || x.Changed > x.Asked/100 {
		t.Errorf("%+v", x)
	}
}

// TestPlaceOfNaN infers a unit whose NaNs depend on where they are asked for, as
// llvmpipe's do: it is stable if NaNs are compared by class, and the error says so.
func TestPlaceOfNaN(t *testing.T) {
	u := volta(t)
	d := u.Instruction().D.Get()
	u.spoil = func(_ *mma.Dot, code uint64, first, n int, _ bool) (uint64, error) {
		if (first+n)%2 == 1 && d.Decode(code).Class == fp.NaN {
			code ^= 1
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	if r.Verdict != NotStable || !r.Unstable.NaNs || !strings.Contains(r.Unstable.Error(), "by class ignores") {
		t.Errorf("%s: %+v", r.Verdict, r.Unstable)
	}
	if r := inferred(t, u, Options{Policy: oracle.Policy{NaN: oracle.ByClass}}); r.Verdict != Found {
		t.Errorf("by class: %s", r.Verdict)
	}
}

// TestLayout infers a unit that is right about dot products alone, but not about
// those in the second row of a tile.
func TestLayout(t *testing.T) {
	long(t)
	u := volta(t)
	u.spoil = func(_ *mma.Dot, code uint64, _, n int, alone bool) (uint64, error) {
		if !alone && n/8%16 == 1 {
			code ^= 1
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	if r.Verdict != NotStable || r.Unstable.How != "alone instead of beside others in a tile" {
		t.Errorf("%s: %v", r.Verdict, r.Unstable)
	}
}

// TestBug infers a unit that computes one product wrong: the best program does not
// count as found, and the witness is that product alone.
func TestBug(t *testing.T) {
	tier.LongOnly(t)
	u := newUnit(t, half, 1, mma.TFDPA(1, 23, mma.To(fp.FP32, fp.RZ), 0))
	const a, b = 0x3c00, 0x3800
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		for k := range d.A {
			if d.A[k] == a && d.B[k] == b {
				code ^= 0x400
			}
		}
		return code, nil
	}
	r := inferred(t, u, Options{Effort: 3})
	if r.Verdict != Unexplained || r.Witness == nil {
		t.Fatalf("%s, %v", r.Verdict, r.Witness)
	}
	d := r.Witness.Dot
	n := 0
	for k := range d.A {
		if d.A[k]|d.B[k] != 0 {
			n++
			if d.A[k] != a || d.B[k] != b {
				t.Errorf("product %d is %04x*%04x", k, d.A[k], d.B[k])
			}
		}
	}
	if n != 1 || d.C != 0 || r.Witness.Got != 0x3f000400 || r.Witness.Would != 0x3f000000 {
		t.Errorf("%s: unit %x, program %x", mma.FormatDot(r.Formats, d), r.Witness.Got, r.Witness.Would)
	}
}

// TestRareBug infers a unit that computes one dot product wrong, which no test meets:
// it is found, and the report says on how many inputs of every kind it was right.
func TestRareBug(t *testing.T) {
	long(t)
	u := volta(t)
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if d.A[0] == 0x1234 && d.B[0] == 0x5678 && d.C == 0x3abcdef0 {
			code ^= 1
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	report, err := r.Report(t.Context(), "test", "unit", 0)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.Document().Write(&text, "markdown", document.Options{}); err != nil {
		t.Fatal(err)
	}
	if len(r.Classes) != len(gen.All())+len(furtherFamilies) || !strings.Contains(text.String(), unseen) {
		t.Errorf("%d classes; %s", len(r.Classes), &text)
	}
	for _, c := range report.Classes {
		if row := fmt.Sprintf("| %s | %d | %d | 0 | %s |", c.Name, c.Asked, c.Independent, c.bound()); c.Asked < few || !strings.Contains(text.String(), row) {
			t.Errorf("no row %q", row)
		}
	}
}

// TestUnknownOperation infers a unit that multiplies its result by 3: no program
// does.
func TestUnknownOperation(t *testing.T) {
	tier.LongOnly(t)
	r := inferred(t, tripled(t), Options{Effort: 3})
	if r.Verdict != Unexplained || r.Witness == nil || r.Witness.Got == r.Witness.Would {
		t.Errorf("%s, %+v", r.Verdict, r.Witness)
	}
}

// TestFaults infers a unit that dies of one infinite operand: the rest is inferred,
// and the input is reported.
func TestFaults(t *testing.T) {
	long(t)
	u := volta(t)
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if d.A[2] == 0x7c00 && d.B[1] == 0xfc00 {
			return 0, &devices.FaultError{Target: "test", What: "the unit has died"}
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	if r.Verdict != Found || len(r.Faults) == 0 {
		t.Fatalf("%s with %d faults", r.Verdict, len(r.Faults))
	}
	for _, x := range r.Faults {
		if x.Dot.A[2] != 0x7c00 || x.Dot.B[1] != 0xfc00 || x.What != "test: the unit has died" {
			t.Errorf("%s: %s", mma.FormatDot(r.Formats, x.Dot), x.What)
		}
	}
}

// TestRefusal infers a unit that refuses every c that is not finite: what it never
// answered rules nothing out, and is not counted as compared.
func TestRefusal(t *testing.T) {
	long(t)
	u := volta(t)
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if d.C>>23&255 == 255 {
			return 0, &devices.FaultError{Target: "test", What: "not a number"}
		}
		return code, nil
	}
	r := inferred(t, u, Options{})
	if r.Verdict != Found {
		t.Fatalf("%s: %s", r.Verdict, r.Note)
	}
	for _, x := range r.Mutants {
		if x.Dot != nil && x.Dot.C>>23&255 == 255 {
			t.Errorf("%v ruled out by %s", x.Changes, mma.FormatDot(r.Formats, x.Dot))
		}
	}
	failed := 0
	for _, c := range r.Classes {
		failed += c.Failed
		if slices.ContainsFunc(furtherFamilies, func(f family) bool { return f.name == c.Name }) {
			if c.Asked+c.Failed != few {
				t.Errorf("%+v", c)
			}
			continue
		}
		if g, err := gen.Find(c.Name); err != nil || g.M == 1 && c.Asked+c.Failed != max(few, smallSize(g, gen.Spec{Formats: half, K: 4})) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if failed == 0 {
		t.Error("no class has failures")
	}
}

// TestLater infers a unit whose answers change after a while: it does not stand by the
// evidence that is not explained.
func TestLater(t *testing.T) {
	tier.LongOnly(t)
	u := volta(t)
	u.spoil = func(_ *mma.Dot, code uint64, first, _ int, _ bool) (uint64, error) {
		if first > 10_000 {
			code ^= 1
		}
		return code, nil
	}
	if r := inferred(t, u, Options{Effort: 2}); r.Verdict != NotStable || r.Unstable.How != "again" {
		t.Errorf("%s: %+v", r.Verdict, r.Unstable)
	}
}

// TestFailing infers a unit that dies of everything that is not zero.
func TestFailing(t *testing.T) {
	u := volta(t)
	u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		if d.C != 0 {
			return 0, &devices.FaultError{Target: "test", What: "the unit has died"}
		}
		return code, nil
	}
	if r := inferred(t, u, Options{}); r.Verdict != Failing || len(r.Faults) < maxFaults || r.Note == "" {
		t.Errorf("%s with %d faults: %s", r.Verdict, len(r.Faults), r.Note)
	}
}

// TestBudget checks that an inference ends with its queries, and says so.
func TestBudget(t *testing.T) {
	u := volta(t)
	r := inferred(t, u, Options{Queries: 50_000})
	if r.Verdict != Exhausted || int(u.asked.Load()) > 50_000 || !strings.HasPrefix(r.Note, "the queries are spent: ") {
		t.Errorf("%s after %d queries: %s", r.Verdict, u.asked.Load(), r.Note)
	}
	if r.Params != mma.TFDPA(0, 23, mma.To(fp.FP32, fp.RZ), 0) {
		t.Errorf("the best so far is %s", r.Params)
	}
	if r = inferred(t, volta(t), Options{Time: 1}); r.Verdict != Exhausted || r.Note != "the time is spent" {
		t.Errorf("%s: %s", r.Verdict, r.Note)
	}
}

// resumed ends an inference of a unit after more and more batches by an error of the unit, goes
// on, and expects the result of one that was never ended, with no question asked twice but
// those that confirm the journal.
func resumed(t *testing.T, unit func(testing.TB) *unit, o Options, whole *Result) {
	t.Helper()
	want := *whole
	for tries := 0; ; tries++ {
		u := unit(t)
		right := u.spoil
		u.spoil = func(d *mma.Dot, code uint64, first, n int, alone bool) (uint64, error) {
			if u.calls.Load() > int64(25*tries)+10 {
				return 0, errTest
			}
			if right == nil {
				return code, nil
			}
			return right(d, code, first, n, alone)
		}
		r, err := Infer(t.Context(), u, o)
		if errors.Is(err, errTest) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if tries < 3 {
			t.Errorf("it was ended only %d times", tries)
		}
		if asked := r.Stats.Queries - int(u.asked.Load()) + r.Stats.Confirmed; r.Stats.Resumed != asked || r.Stats.Confirmed == 0 {
			t.Errorf("%d answers came from the journal, want %d", r.Stats.Resumed, asked)
		}
		r.Seconds, want.Seconds, r.Stats.Resumed, r.Stats.Confirmed = 0, 0, 0, 0
		if !reflect.DeepEqual(r, &want) {
			t.Errorf("%+v, in one go %+v", r, want)
		}
		return
	}
}

// TestResume ends an inference and goes on (resumed); a unit that has changed is noticed.
func TestResume(t *testing.T) {
	long(t)
	path := filepath.Join(t.TempDir(), "journal")
	resumed(t, volta, Options{Seed: 3, Checks: few, Journal: path}, voltaInferred(t))
	for _, o := range []Options{{Seed: 4, Checks: few}, {Seed: 3, Checks: few + 1}, {Seed: 3, Checks: few, Policy: oracle.Policy{NaN: oracle.ByClass}}} {
		o.Journal = path
		if _, err := Infer(t.Context(), volta(t), o); !errors.Is(err, ErrOtherInference) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	other := newUnit(t, half, 4, mma.TFDPA(0, 22, mma.To(fp.FP32, fp.RZ), 0))
	_, err := Infer(t.Context(), other, Options{Seed: 3, Checks: few, Journal: path})
	if !errors.Is(err, ErrOtherInference) || !strings.Contains(err.Error(), "the unit has changed: for ") {
		t.Errorf("with another unit: %v", err)
	}
}

// TestPolicy infers a unit whose NaNs have a random sign, by class.
func TestPolicy(t *testing.T) {
	long(t)
	u := volta(t)
	u.spoil = func(_ *mma.Dot, code uint64, first, n int, _ bool) (uint64, error) {
		if code == 0x7fffffff && (first+n)%3 == 0 {
			code = 0xffc00000
		}
		return code, nil
	}
	if r := inferred(t, u, Options{}); r.Verdict != NotStable {
		t.Errorf("by bits: %s", r.Verdict)
	}
	if r := inferred(t, u, Options{Policy: oracle.Policy{NaN: oracle.ByClass}}); r.Verdict != Found {
		t.Errorf("by class: %s", r.Verdict)
	}
}
