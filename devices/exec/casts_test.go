package exec_test

import (
	"fmt"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestCasts compares conversions of libraries with the nearest of some plain rules, in every
// bit: on all codes of 16 bits, else on all borders of results. The differences are the table
// CONVERSIONS.md.
func TestCasts(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("converts ten million numbers in Python: only with MMAFUZZ_LONG=nightly")
	}
	if err := osexec.Command(python(t), "-c", "import ml_dtypes, gfloat").Run(); err != nil {
		t.Skip("the packages ml_dtypes and gfloat are not here: conversions of libraries are NOT TESTED")
	}
	golden.File(t, "children/CONVERSIONS.md", castsHead+castsTable(t, "numpy", "ml_dtypes", "gfloat", "gfloat rz", "gfloat rna", "gfloat rd sat", "gfloat ru sat"))
}

// TestTorchCasts is TestCasts for PyTorch, which not every machine has.
func TestTorchCasts(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("converts a million numbers in Python: only with MMAFUZZ_LONG=nightly")
	}
	if err := osexec.Command(python(t), "-c", "import torch, numpy").Run(); err != nil {
		t.Skip("the package torch is not here: conversions of PyTorch are NOT TESTED")
	}
	golden.File(t, "children/CONVERSIONS-torch.md", torchHead+castsTable(t, "torch"))
}

// castsTable returns the rows of the conversions that the child has with some options.
func castsTable(t *testing.T, options ...string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(castsColumns)
	for _, each := range options {
		target := open(t, framework(t, "casts", each))
		for _, i := range target.Instructions() {
			u, err := target.Open(&i)
			if err != nil {
				t.Fatal(err)
			}
			in := casts(t, &i)
			got := make([]byte, in.Dots()*i.D.Width())
			if err := u.Run(t.Context(), in, got); err != nil {
				t.Fatal(err)
			}
			b.WriteString(castRow(t, &i, in, got))
		}
	}
	return b.String()
}

const castsHead = `# Conversions of libraries

What NumPy, ml_dtypes and gfloat make of numbers in other formats, beside the nearest of some plain
rules: a rounding; what a number beyond the largest becomes; which code a NaN becomes. Operands of
16 bits are all compared, of wider ones numbers and ties of the result with two neighbours on each
side, at most 131,072; to both come 1,024 infinities, NaNs and zeros. Every bit counts. gfloat is not compared on FP6 and FP4, where it raises an
error for a NaN. For UE8M0, which has no sign, the operands' sign is cleared: ml_dtypes makes a NaN of
a negative number and of zero. Of two powers of two that are equally near the rules take the larger
one, since both significands are odd (IEEE 754-2019, 4.3.1), gfloat that with the even code; below
1.5 * 2^-127 both have errors of their own. Made by

    MMAFUZZ_LONG=nightly MMAFUZZ_PYTHON=... go test ./devices/exec -run Casts -update

which ` + "`.ci/nightly frameworks`" + ` compares. One conversion alone: ` + "`go doc ./devices/exec`" + `, and

    mmafuzz infer --target "exec:python3 devices/exec/children/casts.py ml_dtypes" --inst ml_dtypes.e4m3.fp16

In formats without NaN ml_dtypes makes of a NaN the zero of the other sign, which no rule of mmafuzz
says; an overflow to NaN keeps the sign in E4M3, where the rules have one NaN. Those of PyTorch are in
CONVERSIONS-torch.md.

`

const torchHead = `# Conversions of PyTorch

What PyTorch makes of numbers in other formats, as CONVERSIONS.md has it of other libraries. Made by

    MMAFUZZ_LONG=nightly MMAFUZZ_PYTHON=... go test ./devices/exec -run TorchCasts -update

with a Python that has torch, and compared by ` + "`.ci/nightly frameworks`" + `. In UE8M0 all numbers above
2^-127 and below 2^-126 become 2^-126, also those that are nearer to 2^-127. An overflow of E4M3 is the
largest number, and that of E4M3FNUZ NaN.

`

const castsColumns = `| conversion | operands | nearest rule | differ | for example |
|---|---|---|---|---|
`

// casts returns the operands of a conversion: all codes of 16 bits, or the borders of results,
// and special values.
func casts(t *testing.T, i *mma.Instruction) *mma.Batch {
	t.Helper()
	sp := gen.Spec{Formats: i.Formats, K: 1}
	all := gen.Every(sp)
	g := all[len(all)-1]
	n := min(g.Size(sp), 1<<17)
	special, err := gen.Find("special")
	if err != nil {
		t.Fatal(err)
	}
	const specials = 1 << 10
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: 1, Tiles: int(n) + specials})
	g.Aimed(sp).Fill(in.Part(0, int(n)), 1, 0)
	special.Aimed(sp).Fill(in.Part(int(n), specials), 1, 0)
	if i.D.Get().Signed {
		return in
	}
	for n := range in.Dots() { // what is made of a negative number is no matter of rounding
		w := i.A.Width()
		mma.Store(in.A, w, n, mma.Load(in.A, w, n)&^i.A.Get().SignBit())
	}
	return in
}

// castRow is the row of a conversion with the rule that is wrong least often.
func castRow(t *testing.T, i *mma.Instruction, in *mma.Batch, got []byte) string {
	t.Helper()
	w, least, row := i.D.Width(), -1, ""
	for _, p := range castRules(i) {
		m, err := sim.New(i.Formats, 1, p)
		if err != nil {
			continue // not a rule for this format
		}
		want, differ, example := make([]byte, len(got)), 0, ""
		m.Run(in, want)
		for n := range in.Dots() {
			if x, y := mma.Load(got, w, n), mma.Load(want, w, n); x != y {
				if differ++; differ == 1 {
					example = fmt.Sprintf("%s gives %s, not %s", mma.FormatCode(i.A, mma.Load(in.A, i.A.Width(), n)), mma.FormatCode(i.D, x), mma.FormatCode(i.D, y))
				}
			}
		}
		if least < 0 || differ < least {
			least = differ
			rule := fmt.Sprintf("%s, overflow: %s, NaN: %s", p.Acc.Mode, p.Acc.Over, p.Special.NaN)
			if p.Prod.Round != (mma.Round{}) {
				rule += ", to fp32 first"
			}
			row = fmt.Sprintf("| %s | %d | %s | %d | %s |\n", i.Name, in.Dots(), rule, differ, example)
		}
		if least == 0 {
			break
		}
	}
	if row == "" {
		t.Errorf("no rule is one for %s", i.Name)
	}
	return row
}

// castRules are roundings to a format, the usual ones first; of FP64 also by way of FP32.
func castRules(i *mma.Instruction) []mma.Params {
	var all []mma.Params
	for _, mode := range []fp.Mode{fp.RNE, fp.RZ, fp.RNA, fp.RD, fp.RU} {
		for _, over := range []mma.Over{mma.OverInf, mma.OverIEEE, mma.OverMax, mma.OverSat} {
			for _, nan := range []mma.NaNRule{mma.NaNFirst, mma.NaNQuiet, mma.NaNQuietNeg, mma.NaNOnes, mma.NaNZero} {
				p := mma.FMA(i.D)
				p.Start, p.Acc.Mode, p.Acc.Over, p.Special.NaN = mma.StartEmpty, mode, over, nan
				all = append(all, p)
				if p.Prod.Round = mma.To(fp.FP32, fp.RNE); i.A == fp.FP64 && i.D != fp.FP32 {
					all = append(all, p)
				}
			}
		}
	}
	return all
}
