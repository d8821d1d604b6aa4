package study

import (
	"context"
	_ "embed"
	"fmt"
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

// statement is the tolerance of statements without a number.
const statement = "statement holds"

// same is an entry that is compared as text; why is the reason if it differs.
func same(row, what, ours, theirs, why string) entry {
	if ours == theirs {
		why = ""
	}
	return entry{row, what, ours, theirs, ours == theirs, why, ""}
}

// item is a table, a figure or an example of a paper.
type item struct {
	name string
	what string
	// entries compares it; nil: it is not compared, because of note. With entries, the note says
	// what was altered.
	entries func(ctx context.Context, r *Request) ([]entry, error)
	note    string
}

// reproduced are the papers with all of their tables and figures.
var reproduced = []struct {
	paper string
	items []item
}{
	{"Fasi et al.", []item{
		{name: "Table 1", what: "devices and their matrix dimensions", note: "hardware, no arithmetic"},
		{name: "Table 2", what: "summary of section 3", note: "contents"},
		{name: "Table 3", what: "parameters of formats", entries: fasi3},
		{name: "sections 3 and 4", what: "subnormals, products, rounding, extra bits, normalization, carries, monotonicity", entries: probed("4 (Fasi)")},
		{name: "section 3, experiments", what: "the results in the text", entries: fasiExperiments},
		{name: "section 3, statements", what: "formats, carries, T4's constants, FP64", entries: fasiFacts},
		{name: "section 3.1.2", what: "what binary16 and roundings of single sums show", entries: fasiRoundings},
	}},
	{"Xie et al.", []item{
		{name: "Figure 1", what: "closed-loop feature probing", note: "a workflow; mmafuzz infer and run work in a similar way"},
		{name: "Figure 2", what: "summation trees and what they give", note: "examples of a method, which mmafuzz probe applies: see its question \"2 order\""},
		{name: "Table 1", what: "the models", note: "names; Tables 3 and 6 say which unit has which"},
		{name: "Table 2", what: "conversion functions", note: "definitions; their use is in Tables 4, 5 and 7"},
		{name: "Table 3", what: "models of NVIDIA's instructions, without the SASS column: read from the catalogue, which follows this table", entries: models(printed3)},
		{name: "Table 4", what: "parameters of T-FDPA and ST-FDPA, of one instruction for each row and format; of FP4 with FP16 results none, and of FP6 not F", entries: probed("4")},
		{name: "Table 5", what: "parameters of GST-FDPA", entries: probed("5")},
		{name: "Table 5, G", what: "products that are summed exactly", entries: groupSizes},
		{name: "Table 6", what: "models of AMD's instructions: read from the catalogue, which follows this table", entries: models(printed6)},
		{name: "Table 7", what: "parameters of TR-FDPA and GTR-FDPA", entries: probed("7")},
		{name: "Algorithms 10 and 11", what: "as printed, against our models of CDNA3", entries: algorithms},
		{name: "Algorithms 1 to 9", what: "as printed, with the parameters of Tables 4, 5 and 6, against our models of all instructions whose A and B have one format, but those that are made of others; the exponents of zeros, which the paper leaves open, are ours", entries: literally},
		{name: "Table 8", what: "one input on all instructions", entries: remarked(map[string]string{
			"FP8":       "E5M2 and E5M2FNUZ: E4M3 ends below 2^10, and no result is FP16, which c = 2^23 exceeds",
			"FP32/FP64": "instructions of k below 4 are chained",
		}, rowsOf("table8", func(ctx context.Context, r *Request, res *Result) error {
			units, err := catalogue(nil)
			if err != nil {
				return err
			}
			return equation10(ctx, units, true, res)
		}, []int{0, 1}, 2, 3, 4, -1, ""))},
		{name: "section 5", what: "FP64 and FP32 instructions agree", entries: section5},
		{name: "Table 9", what: "error bounds, with the parameters of each instruction put in", entries: table9},
		{name: "Table 10", what: "risky designs: but for the last row read from the catalogue", entries: table10},
		{name: "section 6.3", what: "C = 0 as a cure of CDNA3's bias, FP16 instead of FP8", entries: cure},
		{name: "Figure 3", what: "bias of rounding down", entries: figure3Entries},
	}},
	{"FTTN", []item{
		{name: "Table I", what: "formats", entries: fttn1},
		{name: "Table II", what: "rounding rules", entries: fttn2, note: "entries are what is added to the last bit; the caption has it assigned 0 for truncation"},
		{name: "section II, example", what: "1.1100 with one mantissa bit", entries: fttnExample},
		{name: "Fig. 1", what: "logic of T_rnd_dir", note: "a method; its results are in Table IV"},
		{name: "Fig. 2", what: "testing workflow", note: "a method"},
		{name: "Table III", what: "methodology of extra bits", entries: fttn3, note: "inputs as the bits of the table have them: its values lack a factor 2^-3 and a minus sign in 1 + 2^2"},
		{name: "section III", what: "what other tests show", entries: fttnMethods},
		{name: "Table IV", what: "summary of results", entries: probed("IV"), note: "no entries: outputs in FP16 and BF16 of MI100, MI250X, and in BF16 of H100, of which the catalogue has no instruction"},
		{name: "section IV", what: "what the text says beside the table", entries: probed("section IV"), note: "the table has no width of V100, and RTN-TE of TF32 on A100"},
		{name: "section II-A", what: "the error of a block FMA", entries: errorsOf("comparable to one scalar FMA, which is 0.5", 0.501,
			"each term but the largest loses up to a unit when it is cut; the paper assumes otherwise", smtUnits[0], smtUnits[2], [2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, [2]string{"cdna1", "v_mfma_f32_32x32x4f16"})},
		{name: "section II-A, serial loop", what: "an error that grows with the size", entries: errorsOf("half an ulp each step, thus 1 with two and 2 with four", 2.001, "",
			[2]string{"cdna1", "v_mfma_f32_32x32x2f32"}, [2]string{"cdna1", "v_mfma_f32_16x16x4f32"})},
		{name: "section II, correct rounding", what: "three extra bits", entries: fttnExtraBits},
		{name: "section V", what: "a matrix product on five GPUs", entries: fttnProduct, note: "the small elements have the sign of the formula: with that of the text, D is -191.984375 exactly; A*B is summed from 0 and subtracted from C"},
		{name: "section V, motivation", what: "iterative refinement and GMRES", note: "no figures: mmafuzz study solve measures where each unit stagnates"},
		{name: "Fig. 3", what: "directories of the tests", note: "contents"},
	}},
	{"Valpey et al.", []item{
		{name: "Table 1", what: "products are exact", entries: smt1, note: "a is the subnormal 0.2587890625*2^-14: as printed, 1.2587890625*2^-15, it is no FP16 number; likewise the result (half), printed as 1.1767578125*2^-15, is 0.1767578125*2^-14"},
		{name: "Table 2", what: "notation", note: "definitions"},
		{name: "Table 3", what: "truncation, not rounding towards zero", entries: smt3},
		{name: "Figure 1", what: "the dot product step", note: "a drawing of Algorithm 1"},
		{name: "Table 4", what: "queries to solvers: the answers, not the times", entries: smt4},
		{name: "Table 5", what: "where Ootomo and Yokota's method is worse", entries: smt5, note: "b_1 is 1.998046875*2^7, as the walk-through needs it: with 2^-7, as printed, the sum is 6.2e-05"},
		{name: "section 1", what: "the error of an FFT on Volta and Ampere", entries: smtFFT, note: "the two errors are measured by others with a library of theirs"},
		{name: "section 4.2", what: "a sticky bit", entries: smtSticky},
		{name: "Algorithm 1", what: "one step, and the bits that it keeps", entries: smtAlgorithm},
		{name: "section 4.4", what: "subnormals, NaNs, zeros", entries: smtAsked(smtSection44, smtSpecial)},
		{name: "section 6", what: "which of the two methods is closer, and is it ever worse", entries: smt6, note: "operands have exponents of -15 to 14, as in the paper"},
		{name: "sections 3.1 and 7", what: "Volta's instruction on Ampere; Hopper", entries: smtOthers},
	}},
	{"Sun et al.", []item{
		{name: "Tables 1, 2; Figs. 1 to 5", what: "architectures, related work, programming interfaces", note: "no arithmetic"},
		{name: "Tables 3 to 7; Figs. 6, 7, 10, 11", what: "latency and throughput of mma and mma.sp", note: "cycles, which need a GPU: mmafuzz bench --device --target cuda:0 prints its own, and theirs where it is the same GPU"},
		{name: "Tables 8 to 10; Figs. 8, 9, 12 to 15", what: "operand layouts and loads from shared memory", note: "cycles, which need a GPU: mmafuzz bench --device --target cuda:0 prints its own, and theirs where it is the same GPU"},
		{name: "section 9, Appendix A", what: "ldmatrix against wmma.load, eight warps, sparse instructions of small k", note: "cycles, which need a GPU"},
		{name: "Tables 3 to 7, 9", what: "throughput from latency", entries: sunThroughput, note: "section 4: the work of all warps divided by the latency"},
		{name: "Tables 1, 3 to 7, 9, 10", what: "what the text says of their numbers", entries: sunRatios, note: "printed numbers only"},
		{name: "section 8", what: "integers have no errors", entries: sunIntegers},
		{name: "sections 8.1.1, 8.2 and 9", what: "conclusions", entries: sunConclusions},
		{name: "Table 11", what: "formats", entries: sun11},
		{name: "Fig. 16", what: "profiling of three operations", note: "a method; its results are in Tables 12 to 15"},
		{name: "Table 12", what: "errors of BF16", entries: profiled("Table 12")},
		{name: "Table 13", what: "errors of FP16 with FP32 sums", entries: profiled("Table 13")},
		{name: "Table 14", what: "errors of FP16", entries: profiled("Table 14")},
		{name: "Table 15", what: "errors of TF32", entries: profiled("Table 15")},
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
	entries := Table{Name: "entries", Title: "Entries", Note: "Every entry that is compared. equal: yes where it is the same text or word; the tolerance where the paper prints an average of random numbers or a statement without a number.",
		Head: []string{"paper", "table or figure", "row", "entry", "ours", "theirs", "equal", "reason or remark"}}
	all, equal, agree, unexplained := 0, 0, 0, 0
	for n, p := range places {
		paper, it := reproduced[p.paper].paper, &reproduced[p.paper].items[p.item]
		n, reasons, same := made[n], []string{}, 0
		if it.note != "" {
			reasons = append(reasons, it.note)
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
	res.Tables = []Table{lines, entries}
	res.Remarks = append(res.Remarks, fmt.Sprintf("Of %d entries %d are equal, and %d agree within the tolerance that is printed beside them; %d of the others have a reason, %d have none.", all, equal-agree, agree, all-equal-unexplained, unexplained))
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
var sameWord = map[string]string{"✓": "yes", "✗": "no", "truncate": "RZ", "RTN-TE": "RNE", "RN": "RNE", "N.A.": "-"}

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
