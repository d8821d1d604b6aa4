package checklist

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// question is a dot product whose result nobody has published, or has been published from
// one source only.
type question struct {
	id     string // letter of the question, and number of the input
	family string // beginning of the names of the instructions it is for; "": any
	a, d   fp.ID  // formats of A and D; B has A's
	pairs  string // factors a*b from k = 0 on; the rest are +0. "all:" before a pair: every k
	c      string // all digits of c; for an instruction with scales also sa= and sb=, one for each block
	want   string // what the model of the table gives
	about  string
}

// questionTable is questions with the architecture whose model gives their want. They are
// asked of every architecture, with the results of its own model as the expected ones.
type questionTable struct {
	arch      string
	questions []question
}

const (
	mmaSync  = "mma."
	mma884   = "mma.m8n8k4."
	wgmma    = "wgmma."
	tcgen05  = "tcgen05."
	nvfp4    = "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"
	nvfp4MMA = "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"
	mfma     = "v_mfma"
	wmma     = "v_wmma"
)

// questionTables have the questions E, Z, R, S, Q, N, O, D, C, T, W, A and G. Question L, the
// widths and orders of sums, is asked of every instruction by package probe; M and P,
// whether FP8 mma.sync and sparse instructions are what they seem, are answered by the
// differential run.
//
// The codes in want are the rules of arXiv:2511.10909 worked out by hand; a test compares
// them with the simulators.
var questionTables = []questionTable{{"hopper", hopperQuestions}, {"volta", voltaQuestions}, {"blackwell", blackwellQuestions}, {"rtx-blackwell", rtxQuestions},
	{"cdna2", cdna2Questions}, {"cdna3", cdna3Questions}, {"rdna3", rdna3Questions}}

var hopperQuestions = []question{
	// E: the exponent that a zero counts with.
	{"E1", "", fp.FP16, fp.FP16, "1000*0400 0004*0001", "0000", "0001", "exponent of zero: 0001 is -21 or lower"},
	{"E2", "", fp.FP16, fp.FP16, "1000*0400 0002*0001", "0000", "0000", "exponent of zero: 0000 is -21, 0001 is -22 or lower"},
	{"E3", "", fp.FP16, fp.FP16, "1000*0400 0001*0001", "0000", "0000", "exponent of zero: 0001 is no floor, or -133 on wgmma and tcgen05"},
	{"E4", "", fp.BF16, fp.FP32, "3400*0080 af80*0080", "00000000", "00000000", "exponent of zero: 00000000 is -133 or higher"},
	{"E5", "", fp.BF16, fp.FP32, "3400*0080 af00*0080", "00000000", "00000001", "exponent of zero: 00000001 is -133 or lower"},
	{"E4", "", fp.TF32, fp.FP32, "34000000*00800000 af800000*00800000", "00000000", "00000000", "exponent of zero: 00000000 is -133 or higher"},
	{"E5", "", fp.TF32, fp.FP32, "34000000*00800000 af000000*00800000", "00000000", "00000001", "exponent of zero: 00000001 is -133 or lower"},

	// Z: signs of zero.
	{"Z1", "", fp.BF16, fp.FP32, "b100*0080", "00000000", "00000000", "a negative sum that underflows: 80000000 keeps the sign"},
	{"Z2", "", fp.FP16, fp.FP16, "8c00*0400", "0000", "0000", "a negative sum that underflows: 8000 keeps the sign"},
	{"Z3", "", fp.FP16, fp.FP32, "all:8000*3c00", "80000000", "00000000", "all terms -0"},
	{"Z4", "", fp.FP16, fp.FP32, "3c00*3c00 bc00*3c00", "80000000", "00000000", "x - x, and c = -0"},
	{"Z5", "", fp.FP16, fp.FP32, "", "80000000", "00000000", "products +0, and c = -0"},
	{"Z6", "", fp.E4M3, fp.FP32, "all:80*38", "80000000", "00000000", "all terms -0"},
	{"Z7", "", fp.E5M2, fp.FP32, "3c*3c bc*3c", "80000000", "00000000", "x - x, and c = -0"},

	// R: one rounding to FP16, or two.
	{"R1", "", fp.FP16, fp.FP16, "2800*2400 0c00*0800", "3c00", "3c01", "1 + 2^-11 + 2^-25: 3c00 goes through FP32"},
	{"R2", "", fp.FP16, fp.FP16, "2800*2400 0c00*0400", "3c00", "3c00", "1 + 2^-11 + 2^-26: 3c01 keeps more than 25 bits"},

	// S: the exponent that a subnormal factor counts with.
	{"S1", "", fp.FP16, fp.FP32, "0001*7800 0c00*0800", "00000000", "3b000000", "subnormal factor: 3b000080 normalises it"},
	{"S2", "", fp.FP16, fp.FP32, "1800*3c00 0c00*0800", "00000000", "3b000080", "the same values without a subnormal"},
	{"S3", "", fp.BF16, fp.FP32, "0001*7f00 3980*3900", "00000000", "3c800000", "subnormal factor: 3c800010 normalises it"},
	{"S4", "", fp.BF16, fp.FP32, "3c80*3f80 3980*3900", "00000000", "3c800010", "the same values without a subnormal"},
	{"S5", wgmma, fp.E4M3, fp.FP32, "01*7e 08*08", "00000000", "3f600000", "subnormal factor: 3f601000 normalises it"},
	{"S6", wgmma, fp.E4M3, fp.FP32, "36*38 08*08", "00000000", "3f601000", "the same values without a subnormal"},
	{"S7", wgmma, fp.E5M2, fp.FP32, "01*7b 14*30", "00000000", "3f600000", "subnormal factor: 3f600800 normalises it"},
	{"S8", wgmma, fp.E5M2, fp.FP32, "3b*3c 14*30", "00000000", "3f600800", "the same values without a subnormal"},

	// Q: FP8 sums.
	{"Q1", wgmma, fp.E4M3, fp.FP16, "10*08 08*04", "3c00", "3c01", "13 bits, one rounding to FP16"},
	{"Q2", wgmma, fp.E4M3, fp.FP16, "10*08 04*04", "3c00", "3c00", "13 bits, one rounding to FP16"},
	{"Q3", wgmma, fp.E4M3, fp.FP32, "", "3f800001", "3f800000", "c takes part and is cut to 13 bits although A is 0"},
	{"Q4", wgmma, fp.E4M3, fp.FP32, "38*38", "38800000", "3f800000", "c is cut to 13 bits below the product"},
	{"Q5", wgmma, fp.E4M3, fp.FP32, "38*38", "39000000", "3f800400", "the last bit of c that counts"},

	// N: NaNs.
	{"N1", "", fp.FP16, fp.FP32, "7e00*3c00", "00000000", "7fffffff", "quiet NaN in A"},
	{"N2", "", fp.FP16, fp.FP32, "7c01*3c00", "00000000", "7fffffff", "signalling NaN in A"},
	{"N3", "", fp.FP16, fp.FP32, "3c00*fe00", "00000000", "7fffffff", "negative NaN in B"},
	{"N4", "", fp.FP16, fp.FP32, "3c00*fc01", "00000000", "7fffffff", "negative signalling NaN in B"},
	{"N5", "", fp.FP16, fp.FP32, "", "7fc00000", "7fffffff", "quiet NaN in C"},
	{"N6", "", fp.FP16, fp.FP32, "", "ff800001", "7fffffff", "negative signalling NaN in C"},
	{"N7", "", fp.FP16, fp.FP32, "7c00*0000", "00000000", "7fffffff", "Inf * 0"},
	{"N8", "", fp.FP16, fp.FP32, "7c00*3c00 fc00*3c00", "00000000", "7fffffff", "Inf - Inf of products"},
	{"N9", "", fp.FP16, fp.FP32, "7c00*3c00", "ff800000", "7fffffff", "Inf - Inf with c"},
	{"N10", "", fp.FP16, fp.FP16, "7c01*3c00", "0000", "7fff", "signalling NaN in A, FP16 result"},
	{"N11", "", fp.FP16, fp.FP16, "", "fe01", "7fff", "negative NaN in C, FP16 result"},
	{"N12", "", fp.TF32, fp.FP32, "7f800001*3f800000", "00000000", "7f800000", "a NaN below TF32's precision counts as Inf"},
	{"N13", "", fp.TF32, fp.FP32, "3f801fff*3f800000", "00000000", "3f800000", "bits below TF32's precision"},
	{"N14", "", fp.TF32, fp.FP32, "7fc00000*3f800000", "00000000", "7fffffff", "quiet NaN"},
	{"N15", "", fp.BF16, fp.FP32, "ff81*3f80", "00000000", "7fffffff", "negative signalling NaN"},
	{"N16", "", fp.E4M3, fp.FP32, "7f*38", "00000000", "7fffffff", "NaN"},
	{"N17", "", fp.E4M3, fp.FP32, "38*ff", "00000000", "7fffffff", "negative NaN"},
	{"N18", "", fp.E5M2, fp.FP32, "7c*3c", "00000000", "7f800000", "Inf"},
	{"N19", "", fp.E5M2, fp.FP32, "7d*3c", "00000000", "7fffffff", "signalling NaN"},
	{"N20", "", fp.E5M2, fp.FP32, "fe*3c", "00000000", "7fffffff", "negative quiet NaN"},
	{"N21", "", fp.E5M2, fp.FP16, "7f*3c", "0000", "7fff", "NaN, FP16 result"},
	{"N22", "", fp.FP64, fp.FP64, "7ff8000000000001*3ff0000000000000", "0000000000000000", "7fffffffffffffff", "DMMA: payload of a quiet NaN in A; the model's code is a guess"},
	{"N23", "", fp.FP64, fp.FP64, "3ff0000000000000*fff0000000000002", "0000000000000000", "7fffffffffffffff", "DMMA: a signalling NaN in B; the model's code is a guess"},
	{"N24", "", fp.FP64, fp.FP64, "7ff8000000000001*fff8000000000002", "7ff8000000000003", "7fffffffffffffff", "DMMA: which operand wins; the model's code is a guess"},
	{"N25", "", fp.FP64, fp.FP64, "7ff0000000000000*0000000000000000", "0000000000000000", "7fffffffffffffff", "DMMA: Inf * 0; the model's code is a guess"},

	// C: the exponent that a subnormal c counts with.
	{"C1", "", fp.FP16, fp.FP16, "0400*1000 0008*0008", "0002", "0002", "subnormal c: 0003 counts it with its own exponent"},

	// O: overflow.
	{"O1", "", fp.FP16, fp.FP16, "4c00*3c00", "7bff", "7c00", "65504 + 16 = 65520 rounds to Inf"},
	{"O2", "", fp.FP16, fp.FP16, "4bf8*3c00", "7bff", "7bff", "65504 + 15.94"},
	{"O3", "", fp.FP16, fp.FP16, "4bff*3c00", "7bff", "7bff", "65504 + 15.99"},
	{"O4", "", fp.BF16, fp.FP32, "7f00*3f80 7f00*3f80", "00000000", "7f800000", "2^128 of products"},
	{"O5", "", fp.BF16, fp.FP32, "7300*3f80", "7f7fffff", "7f7fffff", "the largest number and 2^103"},
	{"O6", "", fp.BF16, fp.FP32, "7380*3f80", "7f7fffff", "7f800000", "the largest number and 2^104"},
	{"O7", "", fp.FP16, fp.FP16, "7bff*7bff", "0000", "7c00", "a product that FP16 does not hold"},

	// D: FP64.
	{"D1", "", fp.FP64, fp.FP64, "4340000000000000*3ff0000000000000 3ff0000000000000*3ff0000000000000 c340000000000000*3ff0000000000000", "0000000000000000", "0000000000000000", "2^53 + 1 - 2^53: 1 is a fused sum"},
	{"D2", "", fp.FP64, fp.FP64, "4340000000000000*3ff0000000000000 c340000000000000*3ff0000000000000 3ff0000000000000*3ff0000000000000", "0000000000000000", "3ff0000000000000", "2^53 - 2^53 + 1: 0 adds in another order"},
	{"D3", "", fp.FP64, fp.FP64, "3ff0000000000000*3ff0000000000000 c340000000000000*3ff0000000000000", "4340000000000000", "0000000000000000", "c is the first term: 1 adds it last"},
	{"D4", "", fp.FP64, fp.FP64, "0000000000000001*3ff0000000000000", "0000000000000000", "0000000000000001", "the smallest subnormal"},
	{"D5", "", fp.FP64, fp.FP64, "all:8000000000000000*3ff0000000000000", "8000000000000000", "8000000000000000", "all terms -0"},
	{"D6", "", fp.FP64, fp.FP64, "8000000000000000*3ff0000000000000", "8000000000000000", "0000000000000000", "-0 and +0"},
	{"D7", "", fp.FP64, fp.FP64, "3ff0000000000000*3ff0000000000000 bff0000000000000*3ff0000000000000", "8000000000000000", "0000000000000000", "x - x"},
	{"D8", "", fp.FP64, fp.FP64, "3ff0000000000001*3ff0000000000001", "bff0000000000002", "3970000000000000", "the product is not rounded: 0000000000000000 rounds it"},
}

var voltaQuestions = []question{
	// T: MMA-Sim 2.1.1 says of Turing's m8n8k4 what is true of Volta's, arXiv:2502.15999 does not.
	{"T1", mma884, fp.FP16, fp.FP32, "4000*1bff", "c6000000", "c5fffff2", "Turing: c5fffff1 is F = 24"},
	{"C2", mma884, fp.FP16, fp.FP32, "0001*0400", "0001", "33800000", "subnormal FP16 c, FP32 sum: 33800200 counts it with its own exponent"},
}

var blackwellQuestions = []question{
	{"E6", tcgen05, fp.E4M3, fp.FP32, "38*38 01*b8", "00000000 sa=00 sb=69", "00000000", "exponent of zero: 2^-149 - 2^-158: 00000001 is -132 or higher"},
	{"E7", tcgen05, fp.E4M3, fp.FP32, "38*38 01*b0", "00000000 sa=00 sb=69", "00000001", "exponent of zero: 2^-149 - 2^-159: 00000000 is -134 or lower"},

	// W: where the window of NVFP4 lies. Two published models differ, and nobody has measured it.
	{"W1", nvfp4, fp.E2M1, fp.FP32, windowPairs, windowC, "00000000", windowAbout},
}

// rtxQuestions are questions about formats that only mma.sync has there.
var rtxQuestions = []question{
	{"W1", nvfp4MMA, fp.E2M1, fp.FP32, windowPairs, windowC, "00000000", windowAbout},
}

// A group of 36 - 36 - 8 with the scales 2^8, c = 2^19, which cancels it, and in the next
// group 1 with the least scales, 2^-18.
var (
	windowPairs = "07*07 0f*07 0e*04 " + strings.Repeat("00*00 ", 13) + "02*02"
	windowC     = "49000000 sa=78,01,00,00 sb=78,01,00,00"
	windowAbout = "-2^19 + 2^19 + 2^-18: 36800000 puts the window at the product 36*2^16"
)

var cdna2Questions = []question{
	// A: AMD's matrix cores, of which no results are public.
	{"A1", mfma, fp.FP16, fp.FP32, "8001*3c00", "00000000", "00000000", "a subnormal factor is +0: 80000000 keeps its sign, b3800000 keeps it"},
	{"A2", mfma, fp.FP16, fp.FP32, "8400*3c00", "00000000", "b8800000", "a normal factor is kept"},
	{"A3", mfma, fp.FP16, fp.FP32, "", "80000001", "00000000", "subnormal c is +0: 80000000 keeps its sign"},
	{"A4", mfma, fp.FP16, fp.FP32, "f000*6400 b800*3c00 b400*3c00 b000*3c00", "4b000000", "00000000", "-2^23, -0.5, -0.25, -0.125 and 2^23: which of the small ones are lost"},
	{"A5", mfma, fp.FP16, fp.FP32, "all:8000*3c00", "80000000", "00000000", "all terms -0"},
	{"A6", mfma, fp.FP16, fp.FP32, "3c00*3c00 bc00*3c00", "80000000", "00000000", "x - x, and c = -0"},
	{"A7", mfma, fp.FP16, fp.FP32, "fe01*3c00", "00000000", "7fc00000", "NaN in A; the model's code is a guess"},
	{"A8", mfma, fp.FP16, fp.FP32, "7c00*0000", "00000000", "7fc00000", "Inf * 0; the model's code is a guess"},
}

var cdna3Questions = []question{
	{"A9", mfma, fp.FP16, fp.FP32, "4401*4a00", "4cffffff", "4d000002", "the second cut: 4d000003 keeps 31 bits and does not cut again"},
	{"A10", mfma, fp.FP16, fp.FP32, "2400*2400 1400*1000", "44ffffff", "45000000", "the second cut: 45000001 is Algorithm 10 as printed"},
	{"A11", mfma, fp.FP16, fp.FP32, "3c00*3c00", "b2800000", "3f7fffff", "c is cut by rounding down"},
	{"A12", mfma, fp.E4M3FNUZ, fp.FP32, "40*40", "b3000000", "3f7fffff", "c 25 places below: one unit"},
	{"A13", mfma, fp.E4M3FNUZ, fp.FP32, "40*40", "b2800000", "3f800000", "c 26 places below is dropped"},
	{"A14", mfma, fp.E5M2FNUZ, fp.FP32, "7f*7f", "ff800000", "ff800000", "infinite c beside a large product: 4f440000 drops it"},
	{"A15", mfma, fp.BF16, fp.FP32, "0080*3380 0080*2f80", "00000000", "00000000", "2^-150 + 2^-158: 00000001 keeps bits below 2^-157"},
	{"A16", mfma, fp.BF16, fp.FP32, "0080*3380 0080*3000", "00000000", "00000001", "2^-150 + 2^-157"},
	{"A17", mfma, fp.BF16, fp.FP32, "5f80*5f80 df80*5f80", "00000000", "7fc00000", "products of 2^128 are infinite: 00000000 keeps them"},
}

// rdna3Questions are from public reports (ROCm/rocm-systems, issue 12056).
var rdna3Questions = []question{
	// G: negation without its carry, and what is flushed.
	{"G1", wmma, fp.FP16, fp.FP32, "4800*4400 4200*4800", "bf800000", "425c0001", "32 + 24 - 1: 425c0000 negates exactly"},
	{"G2", wmma, fp.BF16, fp.FP32, "0001*4980", "00000000", "00000000", "a subnormal BF16 factor: 07000000 keeps it"},
	{"G3", wmma, fp.BF16, fp.FP32, "0700*3f80", "00000000", "07000000", "the same product of normal factors"},
}

// dot returns the dot product of a question for an instruction, nil if the question
// is not about the instruction.
func (q *question) dot(i *mma.Instruction) (*mma.Dot, error) {
	c := strings.Fields(q.c) // and the scales
	switch scaled := len(c) > 1; {
	case !strings.HasPrefix(i.Name, q.family), i.A != q.a || i.B != q.a || i.D != q.d, strings.HasPrefix(i.Name, "mma.sp"),
		scaled != (i.Scale != fp.None), scaled && i.K != int(i.Block)*(strings.Count(c[1], ",")+1):
		return nil, nil
	case i.C == fp.None && strings.Trim(c[0], "0") == "":
		c[0] = "-"
	case i.C == fp.None || i.C.Get().Digits() != len(c[0]):
		return nil, nil
	}
	pairs := strings.Fields(q.pairs)
	if len(pairs) == 1 && strings.HasPrefix(pairs[0], "all:") {
		pairs = strings.Fields(strings.Repeat(strings.TrimPrefix(pairs[0], "all:")+" ", i.K))
	}
	if len(pairs) > i.K {
		return nil, nil
	}
	zero := strings.Repeat("0", q.a.Get().Digits())
	as, bs := []string{}, []string{}
	for _, p := range pairs {
		a, b, _ := strings.Cut(p, "*")
		as, bs = append(as, a), append(bs, b)
	}
	if len(pairs) == 0 {
		as, bs = []string{zero}, []string{zero}
	}
	return mma.ParseDot(i.Formats, i.K, false, append([]string{strings.Join(as, ","), strings.Join(bs, ",")}, c...))
}

// answer is a question with a unit's result.
type answer struct {
	ID       string `json:"id"`
	About    string `json:"about"`
	Dot      string `json:"dot"` // as mmafuzz eval reads it
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got"`
}

// answerTable has the answers of an instruction.
type answerTable struct {
	Tree      string   `json:"tree,omitempty"` // of the sum: see package probe
	ModelTree string   `json:"model_tree,omitempty"`
	Answers   []answer `json:"answers"`
}

// questions asks every instruction.
func (r *run) questions() []part {
	return r.each(func(i *mma.Instruction, u devices.Unit, _ time.Duration) (Row, error) {
		var a answerTable
		err := r.ask(&a, i, u)
		if err != nil {
			return Row{Data: a}, err
		}
		return a.row(), nil
	})
}

// row describes how an instruction has answered.
func (a *answerTable) row() Row {
	row := Row{Data: a}
	var wrong []string
	for _, q := range a.Answers {
		if q.Expected != "" && q.Expected != q.Got {
			wrong = append(wrong, fmt.Sprintf("%s: %s, not %s (%s)", q.ID, q.Got, q.Expected, q.About))
		}
	}
	if a.ModelTree != "" && a.Tree != a.ModelTree {
		wrong = append(wrong, fmt.Sprintf("L: sums as %s, not %s", a.Tree, a.ModelTree))
	}
	row.Text = fmt.Sprintf("%d answers; sums as %s", len(a.Answers), a.Tree)
	if len(wrong) > 0 {
		row.State, row.Text = Differs, strings.Join(wrong, "; ")
	}
	return row
}

// ask asks the questions of the tables that are about an instruction, all in one batch, and
// for the order of its sums; and its partner the same.
func (r *run) ask(table *answerTable, i *mma.Instruction, u devices.Unit) error {
	var dots []*mma.Dot
	for _, t := range questionTables {
		for _, q := range t.questions {
			d, err := q.dot(i)
			if err != nil {
				return fmt.Errorf("question %s: %w", q.id, err)
			}
			if d != nil {
				dots = append(dots, d)
				table.Answers = append(table.Answers, answer{ID: q.id, About: q.about, Dot: mma.FormatDot(i.Formats, d)})
			}
		}
	}
	got, err := results(r.ctx, u, dots)
	if err != nil {
		return err
	}
	for n, code := range got {
		table.Answers[n].Got = code
	}
	if table.Tree, err = tree(r.ctx, u); err != nil {
		return err
	}
	m := r.partner(i, u)
	if m == nil {
		return nil
	}
	expected, err := results(r.ctx, m, dots)
	if err != nil {
		return err
	}
	for n, code := range expected {
		table.Answers[n].Expected = code
	}
	table.ModelTree, err = tree(r.ctx, m)
	return err
}

// results returns a unit's results on dot products.
func results(ctx context.Context, u devices.Unit, dots []*mma.Dot) ([]string, error) {
	if len(dots) == 0 {
		return nil, nil
	}
	i := u.Instruction()
	out := make([]byte, len(dots)*i.D.Width())
	if err := u.Run(ctx, mma.BatchOf(i.Formats, i.K, dots), out); err != nil {
		return nil, err
	}
	codes := make([]string, len(dots))
	for n := range dots {
		codes[n] = mma.FormatCode(i.D, mma.Load(out, i.D.Width(), n))
	}
	return codes, nil
}

// tree describes the order and the width of a unit's sums.
func tree(ctx context.Context, u devices.Unit) (string, error) {
	t, why := probe.New(ctx, u).Tree()
	if t == nil {
		return "- (" + why + ")", ctx.Err()
	}
	return t.Formula(u.Instruction().K), nil
}
