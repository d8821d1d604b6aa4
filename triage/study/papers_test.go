package study

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// Papers is the study that TestPapers makes: it is about units of its own, and nothing that a
// user could ask of others.
var Papers = Study{
	Name:  "papers",
	Short: "every table and figure of five papers: ours, theirs, and why they differ",
	Long: `papers goes through all tables and figures of five papers about matrix units and
recomputes those that are about arithmetic, with the simulators: a line for each, with how
many of its entries are equal and the reasons of all that are not; then every entry.

  Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores (2021)
  Xie, Xu, Wang, Yang, Yang: arXiv:2511.10909
  Li et al.: FTTN (2024)
  Valpey et al.: An SMT formalization of mixed-precision matrix multiplication (2025)
  Sun et al.: Dissecting tensor cores via microbenchmarks (2023)

Cycle counts are left out: they need the paper's GPU.`,
	Count: 1000, Most: mostChains, Of: "chains of Figure 17; other items use a multiple of this number",
	New: func(*pflag.FlagSet) Runner { return papers{} },
}

type papers struct{}

// entry is a number, a word or a statement that a paper prints, with ours.
type entry struct {
	Row, What    string
	Ours, Theirs string
	// Equal: they are the same text, or the same word of two vocabularies. With a Tolerance they
	// are not: the paper prints an average of random numbers, or a statement that ours have to
	// satisfy. Why is the reason where they differ, and else a remark.
	Equal     bool
	Why       string
	Tolerance string
}

// needsGPU is how a note of an item says what the simulators cannot tell.
var needsGPU = regexp.MustCompile(`\bneeds? (a |the |the ten )?GPUs?\b`)

// statement is the tolerance of statements without a number.
const statement = "statement holds"

// same is an entry that is compared as text; why is the reason if it differs.
func same(row, what, ours, theirs, why string) entry {
	if ours == theirs {
		why = ""
	}
	return entry{row, what, ours, theirs, ours == theirs, why, ""}
}

// profiledNote is of Tables 12 to 15 of Sun et al.
var profiledNote = fmt.Sprintf("b is 1 for the inner product and the accumulation, which the paper does not print; a 0 of theirs stands for ours below %.0e", printedZero)

// item is a table, a figure or an example of a paper.
type item struct {
	name string
	what string
	// entries compares it; nil: it is not compared, because of note. With entries, the note says
	// what was altered.
	entries func(ctx context.Context, r *Request) ([]entry, error)
	note    string
	// command asks for the same by hand; "": the study alone does.
	command string
}

// reproduced are the papers with all of their tables and figures.
var reproduced = []struct {
	paper string
	items []item
}{
	{"Fasi et al.", []item{
		{name: "Table 1", what: "devices and their matrix dimensions", entries: fasi1, note: "no entries: TPU v2 and v3, whose arithmetic is not in the catalogue"},
		{name: "section 1", what: "formats and devices", entries: fasiIntroduction, note: "ptxas 12.9 for sm_70 tells the rounding modes of CUDA cores"},
		{name: "section 1, PTX", what: "accumulation with at least single or half precision", entries: fasiAccumulation, note: "taken as the precision of the sum of all magnitudes"},
		{name: "section 2", what: "previous work", note: "findings of others: the reliability of tensor cores under radiation needs GPUs; precision refinement stands with Valpey et al., section 6"},
		{name: "Table 2", what: "summary of section 3", note: "contents: the tests of sections 3.1.1 to 3.1.4, on T4 and A100 as well"},
		{name: "Table 3", what: "parameters of formats", entries: fasi3},
		{name: "Figure 1", what: "rounding modes at four places", entries: fasiFigure1, note: "as section 3.1.3 uses its four parts: the text has no drawing"},
		{name: "sections 3 and 4", what: "subnormals, products, rounding, extra bits, normalization, carries, monotonicity", entries: probed("4 (Fasi)")},
		{name: "section 3, experiments", what: "the results in the text", entries: fasiExperiments},
		{name: "section 3, statements", what: "formats, carries, T4's constants, FP64", entries: fasiFacts},
		{name: "section 3.1.2", what: "what binary16 and roundings of single sums show", entries: fasiRoundings},
		{name: "section 3.1, arithmetic", what: "what the text computes without a tensor core", entries: fasiSteps},
		{name: "section 3.1.3, binary16", what: "results in binary16 as conversions", entries: fasiConversion},
		{name: "section 3.1.4, subtraction", what: "sums that are normalized", entries: fasiSubtraction},
		{name: "sections 3.1.3, 3.1.4 and 4", what: "truncation, and the third bit for carries", entries: fasiTruncation},
		{name: "section 3.1.4, monotonicity", what: "similar architectures", entries: fasiSimilar},
		{name: "sections 3.1.4, 3.2 and 4", what: "the width of the accumulator, and the order", entries: fasiWidths},
		{name: "sections 3.1.2, 3.1.4 and 4", what: "at which exponent terms are cut", entries: fasiAlignment, note: "theirs are of our models with products that are normalized"},
		{name: "sections 3.1 to 3.3", what: "the experiments on wmma, T4 and A100, with results in binary16 as well", entries: fasiAgain},
		{name: "section 3.3, binary64", what: "IEEE 754 arithmetic", entries: fasiFP64},
	}},
	{"Xie et al.", []item{
		{name: "Figure 1", what: "closed-loop feature probing", note: "a workflow, whose steps have entries of their own; mmafuzz infer and run work in a similar way. The million tests of step 4 need the ten GPUs"},
		{name: "section 3.1.4", what: "which inputs find wrong models", entries: xieInputs, note: "of our models with one parameter changed: the paper does not print the models that its tests refuted"},
		{name: "section 2", what: "BF16 instead of FP16, FP32 sums of FP8, and two earlier models", entries: together(xieRelated, xiePromoted), note: "no entries: how well models are trained on Hopper and CDNA2, which others have observed"},
		{name: "Figure 2", what: "summation trees and what they give", entries: xieFigure2, note: "the trees that sections 3.1.2 and 4.1 name, and what follows of them: the text has no drawing"},
		{name: "section 3.1.1", what: "all results of a matrix are computed alike", entries: probed("3.1.1"), note: "simulators compute one dot product at a time, so that these entries hold by construction. Equal elements from equal rows and columns do not show that each is computed independently: one that used a neighbour's operands would be equal, too"},
		{name: "sections 3.1.2 and 3.1.3", what: "fused sums, precisions and rounding modes", entries: together(xieProbes, xiePairs), note: "of more units in Tables 4, 5 and 7"},
		{name: "section 3.3", what: "GPUs and programs", note: "devices and lines of code; the ten architectures stand with Table 3"},
		{name: "Table 1; sections 4 and 6.4", what: "the models of all instructions", entries: xieModels, note: "L_max: 8 bytes of Volta, 32 from Hopper on, else 16; sparse instructions as those of their kept elements"},
		{name: "Table 2", what: "conversion functions", entries: xieRZ, note: "definitions; their use is in Tables 4, 5 and 7"},
		{name: "Table 3", what: "models of NVIDIA's instructions: read from the catalogue, which follows this table but for FP64", entries: models(printed3)},
		{name: "section 4.3.1, Algorithm 9", what: "types and models, scales", entries: xieTypes},
		{name: "Table 3, SASS; section 3.2", what: "machine instructions and chips", entries: together(xieMachine, xieOthers), note: "of kernels that ptxas has assembled: a test of package ptx"},
		{name: "Table 4", what: "parameters of T-FDPA and ST-FDPA, of one instruction for each row and format", entries: together(probed("4"), xieNarrow)},
		{name: "Table 5", what: "parameters of GST-FDPA", entries: probed("5")},
		{name: "Table 5, G", what: "products that are summed exactly", entries: groupSizes},
		{name: "sections 4.1.3 and 4.3", what: "scales and groups, and what is alike", entries: xieScales},
		{name: "Table 6", what: "models of AMD's instructions: read from the catalogue, which follows this table", entries: models(printed6)},
		{name: "Table 7", what: "parameters of TR-FDPA and GTR-FDPA", entries: together(probed("7"), xieF2)},
		{name: "Algorithms 10 and 11", what: "as printed, against our models of CDNA3", entries: algorithms},
		{name: "Algorithms 1 to 9", what: "as printed, with the parameters of Tables 4, 5 and 6, against our models of all instructions whose A and B have one format, but wmma, FP64 with .rz, .rm and .rp (see Table 3), and those that are made of others; the exponents of zeros, which the paper leaves open, are ours. Results that one side has beyond the largest finite number are left out: see Table 2", entries: literally},
		{name: "Table 8", what: "one input on all instructions", entries: remarked(map[string]string{
			"FP8":       "E5M2 and E5M2FNUZ: E4M3 ends below 2^10, and no result is FP16, which c = 2^23 exceeds",
			"FP32/FP64": "instructions of k below 4 are chained",
		}, rowsOf("table8", func(ctx context.Context, r *Request, res *Result) error {
			units, err := catalogue(nil)
			if err != nil {
				return err
			}
			return equation10(ctx, units, true, res)
		}, []int{0, 1}, 2, 3, 4, -1, "")), note: "Hopper's FP8 is wgmma: see below for mma"},
		{name: "Table 8, N/A", what: "what architectures lack", entries: xieAbsent},
		{name: "Tables 3, 4, 8 and 10, FP8 mma", what: "what these tables have of FP8, and Hopper's mma of FP8", entries: xieEmulated},
		{name: "section 4.2", what: "infinities, NaNs and overflow, of AMD's instructions and FP64", entries: together(xieSpecial, xieScaled, xieInfinity, xieFlushed), note: "those of T-FDPA, ST-FDPA and GST-FDPA stand with Algorithms 1 to 9"},
		{name: "section 5, steps", what: "how the results of Table 8 come about", entries: xieTable8},
		{name: "section 5", what: "FP64 and FP32 instructions agree, others do not", entries: together(section5, xieAgree)},
		{name: "Table 9", what: "error bounds, with the parameters of each instruction put in", entries: table9},
		{name: "section 6.2", what: "error sources comparable to FP32, and output precision", entries: together(xieSources, xieOutput)},
		{name: "section 6.4, measured", what: "FP32-like accuracy of most instructions", entries: xieMeasured},
		{name: "Table 9, measured", what: "errors of units on inputs of all generators", entries: xieBounds, note: "of one operation: products after the first L are 0. The bounds of an operation are added"},
		{name: "Table 10", what: "risky designs: but for the last row read from the catalogue", entries: table10, note: "Hopper's FP8 is wgmma"},
		{name: "section 6.3", what: "C = 0 as a cure of CDNA3's bias, FP16 instead of FP8", entries: cure},
		{name: "section 6.3, measured", what: "other instructions, and where the bias occurs", entries: xieCures},
		{name: "section 6.4", what: "encodings", entries: xieEncodings},
		{name: "Figure 3", what: "bias of rounding down", entries: figure3Entries},
		{name: "section 6.2.4", what: "bias of iterations", entries: xieAccumulated},
	}},
	{"FTTN", []item{
		{name: "sections I and II", what: "digits, subnormals, one rounding", entries: fttnBackground, note: "no entries: speed and energy, which need GPUs"},
		{name: "Table I", what: "formats", entries: fttn1},
		{name: "Table II", what: "rounding rules", entries: fttn2, note: "entries are what is added to the last bit; the caption has it assigned 0 for truncation"},
		{name: "section II, example", what: "1.1100 with one mantissa bit, and how sums are normalized", entries: together(fttnExample, fttnNormalized)},
		{name: "Fig. 1", what: "logic of T_rnd_dir", note: "a method; its results are in Table IV"},
		{name: "Fig. 2", what: "testing workflow", note: "a method"},
		{name: "Table III", what: "methodology of extra bits", entries: fttn3, note: "with inputs as the bits of the table have them, and as its values do, which are others: 2 ulp are meant of 2^-3, and 1 + 2^2 as 1 + 2^-2"},
		{name: "section III", what: "what other tests show", entries: together(probed("section III"), fttnMethods, fttnWidth), note: "all elements of D are computed alike by construction: simulators compute one dot product at a time"},
		{name: "Table III, bits", what: "binary numbers", entries: fttnBits},
		{name: "sections III and V", what: "tests on one instruction of each GPU, products and shifts", entries: fttnTests},
		{name: "Table IV", what: "summary of results", entries: together(probed("IV"), fttnProducts), note: "no entries: outputs in FP16 and BF16 of MI100 and MI250X, of which the catalogue has neither instructions nor conversions; RTX 30 as A100, which needs a GPU"},
		{name: "section III, T_sa", what: "sums of subnormal numbers", entries: together(probed("T_sa"), fttnSubnormals), note: "T_sa has no column in Table IV: theirs is what the table has of subnormal inputs and outputs. The details of the test have a subnormal c alone, its summary a set of subnormals, which are entries of their own"},
		{name: "section IV, outputs", what: "results in FP16 and BF16 as conversions", entries: fttnOutput},
		{name: "section II-A, Table IV, appendix", what: "machine instructions, inputs and devices", entries: fttnMachine},
		{name: "section IV", what: "what the text says beside the table", entries: together(probed("section IV"), fttnModes, fttnFootnote6), note: "the table has no width of V100"},
		{name: "section II-A", what: "the error of a block FMA", entries: together(
			errorsOf("comparable to one scalar FMA, which is 0.5", 0.501, "each term but the largest loses up to a unit when it is cut; the paper assumes otherwise",
				smtUnits[0], smtUnits[2], [2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, [2]string{"cdna1", "v_mfma_f32_32x32x4f16"}),
			errorsOf("comparable to one scalar FMA, which is 0.5", 0.501, "the MI250X rounds the sum of every two terms; the paper assumes otherwise", [2]string{"cdna2", "v_mfma_f32_32x32x4f16"}),
			errorsOf("comparable to one scalar FMA, which is 0.5", 0.501, "four blocks, each of which is rounded: the error grows with Size", [2]string{"cdna1", "v_mfma_f32_16x16x16f16"}), fttnBlocks)},
		{name: "section II-A, serial loop", what: "an error that grows with the size", entries: errorsOf("half an ulp each step, thus 1 with two and 2 with four", 2.001, "",
			[2]string{"cdna1", "v_mfma_f32_32x32x2f32"}, [2]string{"cdna1", "v_mfma_f32_16x16x4f32"})},
		{name: "section II, correct rounding", what: "its two requirements", entries: fttnExtraBits},
		{name: "sections I to IV and appendix B", what: "single statements", entries: fttnStatements},
		{name: "section V", what: "a matrix product on five GPUs", entries: together(fttnProduct, fttnLoss), note: "the formula subtracts the small elements that the text fills in, and does not say whether A*B is summed from 0 or from C on: each entry says what it has. The printed results, but for that of the MI250X, come out of the signs of the formula, from 0"},
		{name: "section V, motivation", what: "iterative refinement and GMRES", note: "no figures: mmafuzz study solve measures where each unit stagnates"},
		{name: "Fig. 3", what: "directories of the tests", note: "contents"},
	}},
	{"Valpey et al.", []item{
		{name: "section 1", what: "the error of an FFT on Volta and Ampere", entries: smtFFT, note: "the two errors are measured by others with a library of theirs"},
		{name: "sections 2 and 4, documents of others", what: "what earlier papers, NVIDIA's white paper and the PTX manual say", note: "texts; what the paper finds itself about the same questions is below"},
		{name: "section 3.1, formats", what: "FP16 and FP32", entries: smtFormats, command: "mmafuzz list formats"},
		{name: "section 3.1, equation 1", what: "an element of D", entries: smtEquation},
		{name: "section 3.1", what: "HMMA: machine code, sizes, formats", entries: smtInstruction, note: "machine code of ptxas 12.9", command: "mmafuzz list instructions sim:volta -v"},
		{name: "Table 1", what: "products are exact", entries: smt1, note: "as printed, and with a = 0.2587890625*2^-14", command: "echo 0424 0c88 00000000 | mmafuzz eval --target sim:volta --inst mma.m8n8k4.f32.f16.f16.f32"},
		{name: "Table 2", what: "notation", note: "definitions"},
		{name: "Property 1", what: "sums of FP16 products are added in FP32", entries: smtProperty1, command: "echo 3c01,bbfe 3c01,3c01 0000 | mmafuzz eval --target sim:volta --inst mma.m8n8k4.f16.f16.f16.f16"},
		{name: "Table 3", what: "truncation, not rounding towards zero", entries: smt3, command: "mmafuzz prove volta --inst mma.m8n8k4.f32.f16.f16.f32 --property rounding"},
		{name: "section 4.2", what: "where truncation and rounding towards zero differ", entries: smtTruncation, command: "echo 3e00 3e00 b4000000 | mmafuzz eval --target sim:volta --inst mma.m8n8k4.f32.f16.f16.f32"},
		{name: "section 4.2, sticky bit", what: "a sticky bit", entries: smtSticky},
		{name: "Listing 1.2", what: "results are rounded to FP16 by the tensor core", entries: smtListing2, note: "ptxas 12.9, of instructions whose C and D are FP16: for wmma with D in FP16 and C in FP32 there are conversions, see section 3.1; no entries: that it is the same with nvcc 11.3 to 12.4, which are not at hand"},
		{name: "section 4.4", what: "subnormals, NaNs, infinities, zeros", entries: smtAsked(smtSection44, smtSpecial), command: "echo 7c00 fc00 00000000 | mmafuzz eval --target sim:volta --inst mma.m8n8k4.f32.f16.f16.f32"},
		{name: "section 4.4, queries", what: "products of subnormal and of normal numbers", entries: smtSubnormalProduct},
		{name: "Figure 1", what: "the dot product step", note: "a drawing of Algorithm 1"},
		{name: "Algorithm 1", what: "one step, and the bits that it keeps", entries: smtAlgorithm, command: "mmafuzz prove volta --inst mma.m8n8k4.f32.f16.f16.f32 --property no-normalization,order"},
		{name: "Algorithm 1 and section 4.3", what: "bits of the sum, and carries, of a step", entries: smtWidths, note: "of another model than that of the instructions: products are normalized, into [1, 2), as Algorithm 1 has them; carries of the instructions, whose products lie in [1, 4), stand with Table 4", command: "mmafuzz prove volta --inst mma.m8n8k4.f32.f16.f16.f32 --property adder"},
		{name: "Table 4", what: "queries to solvers: the answers", entries: smt4, command: "mmafuzz prove volta --inst mma.m8n8k4.f32.f16.f16.f32 --property all"},
		{name: "Table 4 and section 5, times", what: "what the text says of the times, and inputs of a query", entries: smtTimes, note: "printed times only: those of Z3 4.8.9 and cvc5 1.0.2 on the paper's processor, with which ours, of mmafuzz prove, have nothing in common"},
		{name: "section 6", what: "which of the two methods is closer, and is it ever worse", entries: together(smt6, smtContributors), note: "A and B have exponents of -15 to 14, as in the paper; no entry: the five minutes of cvc5, which are of the paper's processor", command: "mmafuzz study refine sim:ampere/mma.m16n8k16.f32.f16.f16.f32"},
		{name: "section 6, equations", what: "the two methods in exact arithmetic, a normalized sum, and steps of the walk-through", entries: smtMethods},
		{name: "Table 5", what: "where Ootomo and Yokota's method is worse", entries: smt5, note: "as printed, with b_1 = 1.998046875*2^-7, and with 2^7, as the walk-through needs it", command: "mmafuzz study refine sim:ampere/mma.m16n8k16.f32.f16.f16.f32"},
		{name: "sections 3.1 and 7", what: "Volta's instruction on Ampere; Hopper", entries: smtOthers},
		{name: "section 7", what: "other formats", entries: smtOtherFormats, command: "mmafuzz list formats"},
	}},
	{"Sun et al.", []item{
		{name: "Table 1", what: "generations of tensor cores", entries: sunGenerations, note: "read from the catalogue; units of a multiprocessor are compared with throughput below. No entries: Volta's eight units and Hopper's four, of which no throughput is printed; m and n of a unit by themselves"},
		{name: "abstract, sections 2.2, 3 and 5", what: "shapes and types of instructions", entries: sunShapes, note: "of the catalogue"},
		{name: "Table 2, section 3", what: "related work", note: "texts"},
		{name: "Figs. 1 and 2", what: "a multiprocessor, programming interfaces", note: "drawings"},
		{name: "section 2, Figs. 3 and 5", what: "machine code", entries: sunCode, note: "that of ptxas 12.9; that mma.m8n8k4 on Ampere is ten times slower needs the GPU"},
		{name: "Figs. 4, 8, 9, 12 to 14; Table 8", what: "operands and loads", entries: sunLayouts, note: "ours of loads and of sparse storage are what the PTX manual says"},
		{name: "Tables 3 to 7, 9, 10; Figs. 6, 7, 10, 11, 15", what: "latency and throughput", note: "cycles, which need a GPU: mmafuzz bench --device --target cuda:0 prints its own, and theirs where it is the same GPU; what follows from them is below. The points of the figures are not printed as numbers"},
		{name: "Figs. 6, 7, 10, 11, 15; Tables 1, 3 to 7, 9, 10", what: "numbers in the text, and what it says of the tables", entries: sunFigures, note: "printed numbers only; the figures are of BF16, the tables of FP16. No entries: one warp of Figure 15, around 64 bytes a cycle with ILP 4, of which no cycles are printed"},
		{name: "sections 7 and 9, Appendix A", what: "no bank conflicts in the profiler, 60 % fewer cycles with ldmatrix", note: "cycles and a profiler, which need a GPU"},
		{name: "Tables 3 to 7, 9", what: "throughput from latency", entries: sunThroughput, note: "section 4: the work of all warps divided by the latency"},
		{name: "Tables 1, 3 to 7, 9, 10", what: "what the text says of their numbers", entries: sunRatios, note: "printed numbers only"},
		{name: "section 8", what: "integers have no errors", entries: sunIntegers, note: "a CPU's integers wrap at 32 bits"},
		{name: "sections 8.1.1, 8.1.2, 8.2 and 9", what: "conclusions", entries: sunConclusions},
		{name: "Table 11", what: "formats", entries: sun11},
		{name: "sections 8 and 8.2, formats", what: "ranges and shapes", entries: sunRanges},
		{name: "Fig. 16", what: "profiling of three operations", note: "a method; its results are in Tables 12 to 15. Ours has b = 1 for the inner product and the accumulation, which the paper does not print: its figures fit that (mmafuzz study operations --help)"},
		{name: "Table 12", what: "errors of BF16", entries: profiled("Table 12"), note: profiledNote},
		{name: "Table 13", what: "errors of FP16 with FP32 sums", entries: profiled("Table 13"), note: profiledNote},
		{name: "Table 14", what: "errors of FP16", entries: profiled("Table 14"), note: profiledNote},
		{name: "Table 15", what: "errors of TF32", entries: profiled("Table 15"), note: profiledNote},
		{name: "Fig. 17", what: "chains of matrix products", entries: rowsOf("figure17", func(ctx context.Context, r *Request, res *Result) error {
			q := *r
			q.Targets = figure17[:3]
			units, done, err := q.units(ctx, nil)
			if err != nil {
				return err
			}
			defer done()
			c := &chain{length: 14}
			var all []chained
			for n := range units {
				var m chained
				if m.Low, err = c.measure(ctx, &units[n], r, true); err != nil {
					return err
				}
				if m.FP32, err = c.measure(ctx, &units[n], r, false); err != nil {
					return err
				}
				all = append(all, m)
			}
			checkFigure17(all, res)
			return nil
		}, []int{0}, 1, 0, 2, 3, statement)},
	}},
}

// Run makes the study.
func (papers) Run(ctx context.Context, r *Request) (*Result, error) {
	if len(r.Targets) > 0 {
		return nil, fmt.Errorf("the papers are about units of their own: leave %s out", strings.Join(r.Targets, ", "))
	}
	type place struct{ paper, item int }
	var places []place
	for p := range reproduced {
		for i := range reproduced[p].items {
			places = append(places, place{p, i})
		}
	}
	made, err := each(ctx, r, places, func(p *place) string {
		return reproduced[p.paper].paper + ", " + reproduced[p.paper].items[p.item].name
	}, func(*place, []entry) error { return nil }, func(ctx context.Context, p *place) ([]entry, error) {
		if f := reproduced[p.paper].items[p.item].entries; f != nil {
			return f(ctx, r)
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	res := &Result{}
	lines := Table{Name: "papers", Title: "Tables and figures", Note: "A line for each: how many of its entries are compared, how many of these are equal or within a tolerance, and why others are not.",
		Head: []string{"paper", "table or figure", "what it has", "compared", "equal", "remark"}}
	entries := Table{Name: "entries", Title: "Entries", Note: "Every entry that is compared. equal: yes where it is the same text or word; the tolerance where the paper prints an average of random numbers or a statement without a number; \"arithmetic of the text\" where both sides are numbers that the paper prints.",
		Head: []string{"paper", "table or figure", "row", "entry", "ours", "theirs", "equal", "reason or remark"}}
	byHand := Table{Name: "commands", Title: "By hand", Note: "Commands that ask for what a table or a section says. The operands that an entry prints can be given to mmafuzz eval; an architecture or an instruction can be another.",
		Head: []string{"paper", "table or figure", "command"}}
	all, equal, agree, unexplained, gpu := 0, 0, 0, 0, 0
	for n, p := range places {
		paper, it := reproduced[p.paper].paper, &reproduced[p.paper].items[p.item]
		n, reasons, same := made[n], []string{}, 0
		if needsGPU.MatchString(it.note) {
			gpu++
		}
		if it.note != "" {
			reasons = append(reasons, it.note)
		}
		if it.command != "" {
			byHand.add(paper, it.name, it.command)
		}
		for _, e := range n {
			var verdict any = agrees(e.Equal)
			switch {
			case e.Equal && e.Tolerance != "":
				verdict = e.Tolerance
				same++
				agree++
			case e.Equal:
				same++
			case e.Why == "":
				unexplained++
				res.Failures = append(res.Failures, fmt.Sprintf("%s, %s, %s, %s: %s, the paper has %s", paper, it.name, e.Row, e.What, e.Ours, e.Theirs))
			case !slices.Contains(reasons, e.Why):
				reasons = append(reasons, e.Why)
			}
			entries.add(paper, it.name, e.Row, e.What, e.Ours, e.Theirs, verdict, e.Why)
		}
		if it.entries == nil {
			lines.add(paper, it.name, it.what, "-", "-", it.note)
			continue
		}
		all, equal = all+len(n), equal+same
		lines.add(paper, it.name, it.what, len(n), same, strings.Join(reasons, "; "))
	}
	res.Tables = []Table{lines, byHand, entries}
	res.Remarks = append(res.Remarks, fmt.Sprintf("Of %d entries %d are equal, and %d agree within the tolerance that is printed beside them; %d of the others have a reason, %d have none. In %d tables or parts of the text something needs a GPU, as their remarks say.", all, equal-agree, agree, all-equal-unexplained, unexplained, gpu))
	return res, nil
}

// rowsOf makes entries of a table of another study. row, ours, theirs, verdict and why are
// its columns (why -1: none); tolerance is that of its entries.
func rowsOf(table string, make func(ctx context.Context, r *Request, res *Result) error, row []int, ours, theirs, verdict, why int, tolerance string) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, r *Request) ([]entry, error) {
		var res Result
		if err := make(ctx, r, &res); err != nil {
			return nil, err
		}
		var all []entry
		for _, t := range res.Tables {
			if t.Name != table {
				continue
			}
			for _, cells := range t.Rows {
				var name []string
				for _, c := range row {
					name = append(name, fmt.Sprint(cells[c]))
				}
				e := entry{Row: name[0], What: strings.Join(name[1:], ", "), Ours: fmt.Sprint(cells[ours]), Theirs: fmt.Sprint(cells[theirs]), Equal: cells[verdict] == agrees(true), Tolerance: tolerance}
				if why >= 0 {
					e.Why = fmt.Sprint(cells[why])
				}
				all = append(all, e)
			}
		}
		return all, nil
	}
}

// together makes the entries of several functions.
func together(parts ...func(context.Context, *Request) ([]entry, error)) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, r *Request) ([]entry, error) {
		var all []entry
		for _, part := range parts {
			some, err := part(ctx, r)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
}

// remarked adds remarks to entries.
func remarked(remarks map[string]string, entries func(context.Context, *Request) ([]entry, error)) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, r *Request) ([]entry, error) {
		all, err := entries(ctx, r)
		for n := range all {
			all[n].Why = remarks[all[n].What]
		}
		return all, err
	}
}

// profiled makes the entries of one of Tables 12 to 15 of Sun et al.
func profiled(table string) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, r *Request) ([]entry, error) {
		inst := printedProfiles[slices.IndexFunc(printedProfiles, func(p printedProfile) bool { return p.table == table })].inst
		u, err := simulatedUnit("ampere", inst)
		if err != nil {
			return nil, err
		}
		rows, err := Profiles(ctx, u.Unit, r.Seed, 20*r.Count)
		if err != nil {
			return nil, err
		}
		var res Result
		profilesBeside(map[string][]Profile{inst: rows}, &res)
		var all []entry
		for _, c := range res.Tables[0].Rows {
			e := entry{Row: fmt.Sprint(c[1]), What: fmt.Sprintf("init %s, against %s", c[2], c[3]), Ours: fmt.Sprint(c[4]), Theirs: fmt.Sprint(c[5]), Equal: c[7] == agrees(true), Why: fmt.Sprint(c[8])}
			if e.Ours != e.Theirs {
				e.Tolerance = fmt.Sprintf("within %.0f %%", 100*printedWithin)
			}
			all = append(all, e)
		}
		return all, nil
	}
}

// figure3Entries makes the entries of Figure 3 of Xie et al.
func figure3Entries(ctx context.Context, r *Request) ([]entry, error) {
	var res Result
	if err := figure3(ctx, r.Seed, max(32*r.Count, 1<<14), &res); err != nil {
		return nil, err
	}
	var all []entry
	for _, c := range res.Tables[0].Rows {
		ours := fmt.Sprintf("mean %s, z %s, %s %% below 0", c[1], c[4], c[5])
		failed := slices.ContainsFunc(res.Failures, func(f string) bool { return strings.Contains(f, fmt.Sprintf("Figure 3, %s:", c[0])) })
		all = append(all, entry{fmt.Sprintf("rounding %s inside", c[0]), "D - exact", ours, fmt.Sprint(c[7]), !failed, "", statement})
	}
	return all, nil
}

// papersText has, for each question of package probe that a paper answers, the value that it
// prints and the answer that is expected of our simulator. Its first lines describe the
// format.
//
//go:embed papers.txt
var papersText string

// sameWord translates words of the papers into ours.
var sameWord = map[string]string{"✓": "yes", "✗": "no", "truncate": "RZ", "RTN-TE": "RNE", "RN": "RNE", "N.A.": "-", "in an identical manner": "yes"}

// probed makes the entries of a table of papersText: the answers of probe.
func probed(table string) func(context.Context, *Request) ([]entry, error) {
	return func(ctx context.Context, r *Request) ([]entry, error) {
		answers := map[string]map[string]string{}
		var all []entry
		for line := range strings.Lines(papersText) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if strings.HasPrefix(line, "#") || len(f) != 7 || f[0] != table {
				continue
			}
			row, unit, id, printed, answered, why := f[1], f[2], f[3], f[4], f[5], f[6]
			if answers[unit] == nil {
				var err error
				if answers[unit], err = answersOf(ctx, unit); err != nil {
					return nil, err
				}
			}
			theirs := printed
			if w, ok := sameWord[printed]; ok {
				theirs = w
			}
			ours := answers[unit][id]
			if ours != answered {
				why = "" // it explains another answer than today's
			}
			all = append(all, entry{row + ": " + unit, id, ours, printed, ours == theirs, why, ""})
		}
		return all, nil
	}
}

// answersOf asks a simulated unit, ARCH/INSTRUCTION, all questions.
func answersOf(ctx context.Context, name string) (map[string]string, error) {
	arch, inst, _ := strings.Cut(name, "/")
	u, err := simulatedUnit(arch, inst)
	if err != nil {
		return nil, err
	}
	p := probe.New(ctx, u.Unit)
	all := map[string]string{}
	for _, paper := range probe.Papers {
		answers, err := p.Ask(paper.Key)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			all[a.ID] = a.Value
		}
	}
	return all, nil
}
