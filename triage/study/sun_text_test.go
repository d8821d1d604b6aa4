package study

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What the text of Sun et al. says of architectures, machine code and figures.

// arithmetic marks an entry that has nothing but numbers of the text on both sides.
func arithmetic(e entry) entry {
	e.Tolerance = "arithmetic of the text"
	return e
}

// shapesOf are the shapes that the instructions of an architecture whose names start with a word
// have, of operands of one of the formats.
func shapesOf(arch, family string, ids ...fp.ID) []string {
	var all []string
	for _, i := range mma.Of(arch) {
		f := strings.Split(strings.Replace(i.Name, "mma.sp.", "mma_sp.", 1), ".")
		if f[0] == family && slices.Contains(ids, i.A) && !slices.Contains(all, f[1]) {
			all = append(all, f[1])
		}
	}
	slices.Sort(all)
	return all
}

// sunTypes are the numeric types of Table 1.
var sunTypes = []struct {
	name string
	ids  []fp.ID
}{{"FP16", []fp.ID{fp.FP16}}, {"BF16", []fp.ID{fp.BF16}}, {"TF32", []fp.ID{fp.TF32}}, {"FP64", fp64}, {"FP8", fp8},
	{"INT8", []fp.ID{fp.S8}}, {"INT4", []fp.ID{fp.S4}}, {"Binary", []fp.ID{fp.B1}}}

// sunGenerations makes entries of Table 1, of what the catalogue has: without ldmatrix.
func sunGenerations(context.Context, *Request) ([]entry, error) {
	var all []entry
	for _, p := range []struct {
		arch, types, sparse, program, step string
		inst                               string // of the step
	}{
		{"volta", "FP16", "No", "wmma", "4", "mma.m8n8k4.f32.f16.f16.f32"},
		{"turing", "FP16, INT8, INT4, Binary", "No", "wmma, ldmatrix, mma", "4", "mma.m16n8k8.f32.f16.f16.f32"},
		{"ampere", "FP16, BF16, TF32, FP64, INT8, INT4, Binary", "fine-grained 50% sparsity", "wmma, ldmatrix, mma, mma.sp", "8", "mma.m16n8k16.f32.f16.f16.f32"},
		{"hopper", "FP16, BF16, TF32, FP64, FP8, INT8", "fine-grained 50% sparsity", "wmma, ldmatrix, mma, mma.sp", "", ""},
	} {
		var types, program, ids = []string{}, []string{}, []fp.ID{}
		for _, c := range sunTypes {
			ids = append(ids, c.ids...)
			if slices.ContainsFunc(c.ids, func(id fp.ID) bool { return has(p.arch, id) }) {
				types = append(types, c.name)
			}
		}
		for _, family := range []string{"wmma", "mma", "mma_sp", "wgmma"} {
			if len(shapesOf(p.arch, family, ids...)) > 0 {
				program = append(program, strings.Replace(family, "_", ".", 1))
			}
		}
		sparse, half := 0, 0
		for _, i := range mma.Of(p.arch) {
			var m, n, k int
			if _, err := fmt.Sscanf(i.Name, "mma.sp.m%dn%dk%d", &m, &n, &k); err == nil {
				sparse++
				if 2*i.K == k {
					half++
				}
			}
		}
		words := strings.Join(program, ", ")
		programmed := same(p.arch, "programmability", words, strings.Replace(p.program, " ldmatrix,", "", 1), "mma.m8n8k4 is for Volta (PTX 6.4); Valpey et al., section 3.1, use it")
		if p.program != "wmma" {
			programmed.Theirs, programmed.Tolerance = p.program, "without ldmatrix, a load"
		}
		if p.arch == "hopper" {
			programmed.Why = "wgmma is Hopper's own; the paper calls this row preliminary"
		}
		sparsity := "no instructions mma.sp"
		if sparse > 0 {
			sparsity = fmt.Sprintf("%d of %d instructions mma.sp multiply half of k", half, sparse)
		}
		all = append(all,
			same(p.arch, "numeric types", strings.Join(types, ", "), p.types, "PTX has them on Hopper too: of INT4 ptxas makes instructions of INT8; the paper calls this row preliminary"),
			says(p.arch, "sparse acceleration", sparsity, p.sparse, half == sparse && (sparse > 0) == (p.sparse != "No"), ""),
			programmed)
		if p.inst == "" {
			continue
		}
		i, err := mma.Lookup(p.arch, p.inst)
		if err != nil {
			return nil, err
		}
		all = append(all, same(i.FullName(), "products of a step: k of a unit", fmt.Sprint(i.Params.L), p.step, "eight products are summed at once (Xie et al., Table 4): how many units do it is not to be seen"))
	}
	return all, nil
}

// sunShapes makes entries of what the text says of shapes and types of instructions.
func sunShapes(context.Context, *Request) ([]entry, error) {
	var all []entry
	total := map[string][]string{} // of mma: shapes of an architecture
	types := map[string][]string{}
	for _, arch := range []string{"turing", "ampere"} {
		var ids []fp.ID
		for _, c := range sunTypes {
			ids = append(ids, c.ids...)
			old, current := shapesOf(arch, "wmma", c.ids...), shapesOf(arch, "mma", c.ids...)
			if len(current) > 0 {
				types[arch] = append(types[arch], c.name)
			}
			if len(old) > 0 {
				all = append(all, says(arch+", "+c.name, "shapes of wmma, and of mma", fmt.Sprintf("%d (%s) and %d (%s)", len(old), strings.Join(old, ", "), len(current), strings.Join(current, ", ")),
					"wmma has fewer", len(old) < len(current), "of this type wmma has as many or more"))
			}
		}
		total[arch] = shapesOf(arch, "mma", ids...)
		const narrow = 2 // m8n8k32 of INT4 and m8n8k128 of bits, which PTX has, and the catalogue has not
		old := len(shapesOf(arch, "wmma", ids...)) + narrow
		all = append(all, says(arch+", all types", "shapes of wmma, with those of INT4 and bits that PTX has, and of mma", fmt.Sprintf("%d and %d", old, len(total[arch])), "wmma has fewer", old < len(total[arch]), "both have as many"))
	}
	var sparse []string
	for _, i := range mma.Of("ampere") {
		if family, _, _ := strings.Cut(i.Name, ".m"); strings.HasSuffix(family, ".sp") && !slices.Contains(sparse, family) {
			sparse = append(sparse, family)
		}
	}
	all = append(all, same("ampere", "instructions with sparse operands", strings.Join(sparse, ", "), "mma.sp", ""))
	points, err := sunPoints()
	if err != nil {
		return nil, err
	}
	// missing are types of a family of instructions, beside BF16, that a table lacks.
	missing := func(family, table string) string {
		var all []string
		for _, c := range sunTypes {
			if len(shapesOf("ampere", family, c.ids...)) > 0 && c.name != "BF16" && !slices.ContainsFunc(points, func(p sunPoint) bool {
				i, err := mma.Lookup("ampere", p.inst)
				return p.table == table && err == nil && slices.Contains(c.ids, i.A)
			}) {
				all = append(all, c.name)
			}
		}
		return strings.Join(all, ", ")
	}
	dense, selected := missing("mma", "3"), missing("mma_sp", "6")
	return append(all,
		same("ampere, BF16", "section 5: shapes of mma", strings.Join(shapesOf("ampere", "mma", fp.BF16), ", "), "m16n8k16, m16n8k8", ""),
		says("Table 3", "types beside BF16 that it lacks", dense, "the rest of the data types supported in Ampere", dense == "", "Table 1 has FP64, and mma.m8n8k4 takes it"),
		says("Table 6", "types of mma.sp beside BF16 that it lacks", selected, "sparse instructions for the rest of the data types", selected == "", "mma.sp takes INT4, with m16n8k64 and m16n8k128"),
		says("turing and ampere", "types of mma", fmt.Sprintf("%d and %d", len(types["turing"]), len(types["ampere"])), "Turing supports fewer", len(types["turing"]) < len(types["ampere"]), ""),
		says("turing and ampere", "shapes of mma", fmt.Sprintf("%d and %d", len(total["turing"]), len(total["ampere"])), "Turing supports fewer", len(total["turing"]) < len(total["ampere"]), "")), nil
}

// legacy is an entry of what section 2.2 says of wmma on Turing and Ampere.
func legacy(name, code string) entry {
	return says(name, "machine code", code, "several new HMMA", strings.HasPrefix(code, "HMMA.1") && !strings.HasSuffix(code, " 1"), "of INT8 they are IMMA; of FP64, INT4 and bits it is a single one: DMMA, IMMA and BMMA")
}

// sunCode makes entries of the machine code that sections 2 and 5, and Figure 3, speak of.
func sunCode(context.Context, *Request) ([]entry, error) {
	code, err := machineCode()
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, p := range []struct{ name, theirs, prefix, least, why string }{
		{"volta/wmma.m16n16k16.f32.f16.f16.f32", "a set of HMMA.884", "HMMA.884.", "", ""},
		{"turing/wmma.m16n16k16.f32.f16.f16.f32", "several new HMMA", "HMMA.1688.", "", ""},
		{"ampere/wmma.m16n16k16.f32.f16.f16.f32", "two HMMA.16816", "HMMA.16816.", " 2", ""},
		{"turing/mma.m8n8k4.f32.f16.f16.f32", "a couple of HMMA.884", "HMMA.884.", "", ""},
		{"turing/mma.m8n8k4.f16.f16.f16.f16", "a couple of HMMA.884", "HMMA.884.", "", ""},
		{"ampere/mma.m8n8k4.f32.f16.f16.f32", "instructions of the floating-point units", "FFMA ", "", ""},
		{"ampere/mma.m16n8k8.f32.bf16.bf16.f32", "HMMA.1688.FP32.BF16", "HMMA.1688.FP32.BF16", "", "nvdisasm writes F32"},
		{"ampere/mma.m16n8k16.f32.bf16.bf16.f32", "HMMA.16816.FP32.BF16", "HMMA.16816.FP32.BF16", "", "nvdisasm writes F32"},
	} {
		all = append(all, says(p.name, "machine code", code[p.name], p.theirs, strings.HasPrefix(code[p.name], p.prefix) && strings.HasSuffix(code[p.name], p.least), p.why))
	}
	for _, name := range slices.Sorted(maps.Keys(code)) {
		arch, inst, _ := strings.Cut(name, "/")
		if arch != "turing" && arch != "ampere" || strings.HasPrefix(inst, "mma.m8n8k4.f32") || strings.HasPrefix(inst, "mma.m8n8k4.f16") {
			continue // that one is special, and has entries above
		}
		if strings.HasPrefix(inst, "mma.") {
			all = append(all, says(name, "machine code", code[name], "a single HMMA", strings.HasPrefix(code[name], "HMMA.") && strings.HasSuffix(code[name], " 1"), "it is a single one, of integers IMMA, of bits BMMA and of FP64 DMMA"))
		} else if inst != "wmma.m16n16k16.f32.f16.f16.f32" {
			all = append(all, legacy(name, code[name]))
		}
	}
	// The catalogue lacks these two; TestOpcodes cannot compare them.
	return append(all, legacy("ampere/wmma.m8n8k32.s32.s4.s4.s32", "IMMA.8832.S4.S4 1"), legacy("ampere/wmma.m8n8k128.s32.b1.b1.s32.xor.popc", "BMMA.88128.XOR.POPC 1")), nil
}

// sunLayouts makes entries of operands and loads: Figures 4, 8, 9 and 12 to 14, and Table 8.
func sunLayouts(context.Context, *Request) ([]entry, error) {
	const lanes, register, row = 32, 4, 16 // bytes of a register, and of a row of ldmatrix, which has eight
	of := func(m, n, bytes int) string { return fmt.Sprint(m * n * bytes / lanes / register) }
	all := []entry{
		same("Figure 4: mma.m16n8k8.f32.bf16.bf16.f32", "registers of A, B, C and D", strings.Join([]string{of(16, 8, 2), of(8, 8, 2), of(16, 8, 4), of(16, 8, 4)}, ", "), "2, 1, 4, 4", ""),
		arithmetic(same("wmma.load.a.m16n16k16.f16", "16 * 16 / 32", fmt.Sprint(16*16/lanes), "8", "")),
		arithmetic(same("shared memory", "32 banks of 4 bytes: bytes/clk", fmt.Sprint(lanes*register), "128", "")),
		arithmetic(same("ldmatrix", "bytes of four consecutive threads", fmt.Sprint(4*register), fmt.Sprint(row), "")),
	}
	all[1].Why = "elements of a thread; the fragment of PTX has 8 registers of two, each element twice"
	for n, theirs := range map[int][3]string{1: {"128", "4", "T0 to T7"}, 2: {"256", "8", "T0 to T15"}, 4: {"512", "16", "every thread"}} {
		name, addresses := fmt.Sprintf("ldmatrix.x%d", n), fmt.Sprintf("T0 to T%d", 8*n-1)
		if 8*n == lanes {
			addresses = "every thread"
		}
		all = append(all,
			same(name, "Table 8: bytes/warp", fmt.Sprint(8*row*n), theirs[0], ""),
			same(name, "Table 8: bytes/thread", fmt.Sprint(8*row*n/lanes), theirs[1], ""),
			arithmetic(same(name, "transactions of 128 bytes: ways of its bank conflict", fmt.Sprint(8*row*n/128), fmt.Sprint(n), "")),
			same(name, "Figure 13: threads that give a row's address", addresses, theirs[2], ""))
	}
	slices.SortFunc(all[4:], func(x, y entry) int { return strings.Compare(x.Row, y.Row) })
	for _, p := range []struct {
		name         string
		bytes        int
		warp, thread string
	}{{"ld.shared.u32", 4, "128", "4"}, {"ld.shared.u64", 8, "256", "8"}} {
		all = append(all, same(p.name, "Table 8: bytes/warp", fmt.Sprint(lanes*p.bytes), p.warp, ""), same(p.name, "Table 8: bytes/thread", fmt.Sprint(p.bytes), p.thread, ""))
	}
	sizes := map[fp.ID][]string{}
	for _, i := range mma.Of("ampere") {
		var k int
		if _, err := fmt.Sscanf(strings.TrimPrefix(i.Name, "mma.sp."), "m16n8k%d.", &k); err != nil || !strings.HasPrefix(i.Name, "mma.sp.") || i.A != i.B || strings.Contains(i.Name, "satfinite") || i.D == fp.FP16 {
			continue
		}
		if !slices.Contains(sizes[i.A], fmt.Sprint(k)) {
			sizes[i.A] = append(sizes[i.A], fmt.Sprint(k))
		}
		if i.A == fp.FP16 {
			dense, err := mma.Lookup("ampere", fmt.Sprintf("mma.m16n8k%d.f32.f16.f16.f32", k/2))
			if err != nil {
				return nil, err
			}
			all = append(all, same("Figures 8 and 9: "+i.FullName(), "products of an element of D, of k / 2 kept elements of a row of A", fmt.Sprint(i.K), fmt.Sprint(k/2), ""),
				same("Figure 9: "+i.FullName(), "the arithmetic of the dense instruction on the chosen rows of B", agrees(i.Params == dense.Params && i.K == dense.K).String(), "yes", ""))
		}
	}
	for _, id := range []fp.ID{fp.FP16, fp.BF16, fp.TF32, fp.S8, fp.U8, fp.S4, fp.U4} {
		e := same("mma.sp, "+id.String(), "section 6: sizes of k", fmt.Sprint(len(sizes[id])), "2", "")
		e.Why = strings.Join(sizes[id], " and ")
		all = append(all, e)
	}
	// What PTX has of the elements that A keeps, and of the metadata: two bits for each unit of one
	// element, of a pair of INT4, or of half an element of TF32.
	for _, p := range []struct {
		id            fp.ID
		pattern, bits string
	}{{fp.FP16, "2:4", "2"}, {fp.BF16, "2:4", "2"}, {fp.TF32, "1:2", "4"}, {fp.S8, "2:4", "2"}, {fp.S4, "4:8, in pairs", "1"}} {
		all = append(all, same("mma.sp, "+p.id.String(), "section 6: the sparse pattern", p.pattern, "2:4", "PTX, mma.sp, sparse matrix storage: 1:2 of TF32, and 4:8 of INT4"),
			same("mma.sp, "+p.id.String(), "section 6: bits of metadata for a kept element", p.bits, "2", "PTX has four bits for an element of TF32, and two for a pair of INT4"))
	}
	// The bytes of a row in shared memory that T1 gets by ldmatrix, and those that it holds as an operand.
	for _, p := range []struct {
		operand                  string
		row, column, count, bits int // the elements of T1
		why                      string
	}{
		{"A and B of 16 bits, m16n8k8 and m16n8k16", 0, 2, 2, 16, ""},
		{"A and B of TF32", 0, 1, 1, 32, ""},
		{"A and B of INT8", 0, 4, 4, 8, ""},
		{"A and B of INT4", 0, 8, 8, 4, ""},
		{"A and B of bits", 0, 32, 32, 1, ""},
		{"A and B of FP16, m8n8k4", 1, 0, 4, 16, "a thread holds four FP16 of a row of its own"},
		{"A and B of FP64", 0, 1, 1, 64, "a thread holds an FP64, of two registers"},
		{"C in FP16, m16n8k8 and m16n8k16", 0, 2, 2, 16, ""},
		{"C in FP16, m8n8k4", 1, 0, 8, 16, "a thread holds eight FP16 of a row of its own"},
		{"C in FP32 or INT32", 0, 2, 2, 32, "a thread holds two columns of 32 bits, and gets one"},
		{"C in FP64", 0, 2, 2, 64, "a thread holds two columns of FP64, of four registers"},
	} {
		from, to := p.column*p.bits/8, (p.column+p.count)*p.bits/8-1
		all = append(all, says("ldmatrix, "+p.operand, "row and bytes of it that T1 gets, and that it has in the operand", fmt.Sprintf("0, %d to %d; and %d, %d to %d", register, 2*register-1, p.row, from, to),
			"can be used to load A, B and C, in the arrangement of mma's inputs", p.row == 0 && from == register && to == 2*register-1, p.why))
	}
	return append(all,
		same("ldmatrix, per warp", "section 2.1, footnote 2: is the result of a thread determined", "yes", "no", "PTX has the row and the bytes of each thread, as Figure 13 has; of wmma.load alone it leaves open which elements a thread has"),
		arithmetic(same("metadata", "bits that tell four elements apart", fmt.Sprint(math.Ceil(math.Log2(4))), "2", "")),
		same("Figure 4: mma.m16n8k8.f32.bf16.bf16.f32", "constraints of C", "\"f\", \"f\", \"f\", \"f\"", "\"r\", \"f\", \"f\", \"f\"", "misprints: registers of FP32 are \"f\", as lines 9 and 18 have them, and the colon before C would start the clobbers"),
		same("wmma.load", "where rows may lie", "a stride apart", "the whole matrix stored consecutively", "the syntax of Figure 14 has {stride}, which PTX lets be larger than a row")), nil
}

// denseOf is the dense instruction that has as many products as a sparse one: half of its k.
func denseOf(sparse string) string {
	var k int
	fmt.Sscanf(sparse, "mma.sp.m16n8k%d", &k)
	return strings.Replace(sparse, fmt.Sprintf("sp.m16n8k%d", k), fmt.Sprintf("m16n8k%d", k/2), 1)
}

// sunFigures makes entries of the numbers that the text reads off Figures 6, 7, 10, 11 and 15, and
// of what it says of Tables 3 to 7, 9 and 10.
func sunFigures(context.Context, *Request) ([]entry, error) {
	points, err := sunPoints()
	if err != nil {
		return nil, err
	}
	of := func(table, inst string) [7]float64 {
		n := slices.IndexFunc(points, func(p sunPoint) bool { return p.table == table && p.inst == inst })
		return points[n].figures
	}
	const completion, four, eight = 0, 3, 6 // throughput with four and with eight warps, each after the ILP and the latency
	var all []entry
	add := func(e entry) { all = append(all, e) }
	near := func(row, what string, ours, theirs, within float64) {
		e := entry{row, what, fmt.Sprint(ours), fmt.Sprint(theirs), math.Abs(ours/theirs-1) <= within, "", fmt.Sprintf("within %.0f %%", 100*within)}
		all = append(all, e)
	}
	// BF16, of which the figures are, beside FP16, of which the tables are: section 9 has it that both are equal.
	for _, p := range []struct {
		figure, table, inst string
		theirs              map[int]float64
	}{
		{"Figure 6", "3", "mma.m16n8k16.f32.f16.f16.f32", map[int]float64{completion: 25, four: 900, eight: 1000}},
		{"Figure 7", "3", "mma.m16n8k8.f32.f16.f16.f32", map[int]float64{completion: 18, four: 800, eight: 1000}},
		{"Figure 10", "6", "mma.sp.m16n8k32.f32.f16.f16.f32", map[int]float64{completion: 24.7, eight: 2000}},
		{"Figure 11", "6", "mma.sp.m16n8k16.f32.f16.f16.f32", map[int]float64{completion: 17.9, eight: 1300}},
		{"Figure 15", "9", "ldmatrix.x4 4-way", map[int]float64{completion: 29, eight: 128}},
	} {
		f := of(p.table, p.inst)
		for _, at := range []int{completion, four, eight} {
			if theirs, ok := p.theirs[at]; ok {
				ours := f[at]
				if at == eight {
					ours = max(f[four], f[eight])
				}
				near(p.figure+" and Table "+p.table+": "+strings.Replace(p.inst, "f16.f16", "{bf16,f16}", 1), map[int]string{completion: "completion latency", four: "throughput with four warps", eight: "highest throughput"}[at], ours, theirs, 0.03)
			}
		}
	}
	near("Figure 6", "throughput of one warp with ILP 3 as a quarter of Table 3's four warps", of("3", "mma.m16n8k16.f32.f16.f16.f32")[four]/4, 230, 0.03)
	rounds := func(warps int) int { return (warps + 3) / 4 } // of four sub-cores
	peak := of("3", "mma.m16n8k16.f32.f16.f16.f32")
	six := peak[eight] * 6 / 8
	add(arithmetic(same("Figure 6, four sub-cores", "rounds of 6 and of 8 warps: the same latency", agrees(rounds(6) == rounds(8)).String(), "yes", "")))
	add(says("Figure 6, four sub-cores", "throughput of 6 warps, as long as 8 take", fmt.Sprintf("%.0f", six), "it drops if 4 warps become 6", six < peak[four], ""))
	add(arithmetic(same("Figure 6", "instructions of 12 warps with ILP 1, and of 4 with ILP 3", fmt.Sprint(12*1), fmt.Sprint(4*3), "")))
	add(arithmetic(says("section 5", "1000 / 1024", fmt.Sprintf("%.3f", 1000/1024.), "almost matching", 1000/1024. > 0.97, "")))
	ratio := func(row, what, theirs string, value, low, high float64) {
		add(says(row, what, fmt.Sprintf("%.3f", value), theirs, low <= value && value <= high, ""))
	}
	f16 := of("3", "mma.m16n8k8.f32.f16.f16.f32")
	ratio("Table 3", "m16n8k8: throughput of eight warps / four", "peak performance only with eight warps", f16[eight]/f16[four], 1.1, 2)
	for _, p := range [][2]string{{"3", "mma.m16n8k16"}, {"3", "mma.m16n8k8"}, {"6", "mma.sp.m16n8k32"}, {"6", "mma.sp.m16n8k16"}} {
		for _, at := range []int{four, eight} {
			ratio("Table "+p[0]+": "+p[1], fmt.Sprintf("FP32 sums / FP16 sums: throughput with %d warps", 4*at/3), "no difference", of(p[0], p[1]+".f32.f16.f16.f32")[at]/of(p[0], p[1]+".f16.f16.f16.f16")[at], 0.97, 1.03)
			all[len(all)-1].Why = ""
			if !all[len(all)-1].Equal {
				all[len(all)-1].Why = "the paper's own figures differ by more than 3 %; of the highest throughput, with eight warps, the statement holds"
			}
		}
	}
	ratio("Tables 5 and 3", "m16n8k8: completion latency on Turing / on A100", "close", of("5", "mma.m16n8k8.f32.f16.f16.f32")[completion]/f16[completion], 0.95, 1.05)
	for _, inst := range []string{"mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f16.f16.f16.f16", "mma.m8n8k16.s32.s8.s8.s32"} {
		ratio("Tables 5 and 3: "+inst, "completion latency on Turing / on A100", "does not improve", of("5", inst)[completion]/of("3", inst)[completion], 0, 1)
	}
	ratio("Table 5", "INT8 m8n8k16: throughput / 1024, that of 8 units of 4x4x4 with two products of INT8 for one of FP16", "near peak", of("5", "mma.m8n8k16.s32.s8.s8.s32")[eight]/(8*4*4*4*2), 0.95, 1)
	ratio("Tables 1 and 5", "FP16 m16n8k8: throughput / 512, that of 8 units of 4x4x4", "1", of("5", "mma.m16n8k8.f16.f16.f16.f16")[eight]/(8*4*4*4), 0.95, 1)
	for _, table := range []string{"3", "4"} {
		old := of(table, "mma.m8n8k16.s32.s8.s8.s32")[eight]
		for _, shape := range []string{"m16n8k16", "m16n8k32"} {
			ratio("Table "+table+": INT8 m8n8k16", "throughput with eight warps / "+shape, "an old shape optimized for Turing; Ampere prefers new ones", old/of(table, "mma."+shape+".s32.s8.s8.s32")[eight], 0, 0.9)
			all[len(all)-1].Why = "RTX 3070 Ti is Ampere, too, and eight warps are as fast there with m8n8k16: it is slow on A100, not on Ampere"
			if all[len(all)-1].Equal {
				all[len(all)-1].Why = ""
			}
		}
	}
	share := of("4", "mma.m16n8k16.f16.f16.f16.f16")[four] / (4 * 8 * 4 * 8)
	add(says("Tables 1 and 4", "FP16 m16n8k16 on RTX 3070 Ti: throughput / 1024, that of 4 units of 8x4x8", fmt.Sprintf("%.3f", share), "1", share > 0.95,
		"the row of Table 1 names RTX 30x as well; section 5 finds units of RTX 3070 Ti less powerful than those of A100"))
	for _, p := range []struct {
		id   fp.ID
		peak float64
	}{{fp.FP16, 1024}, {fp.TF32, 512}, {fp.S8, 2048}, {fp.S4, 4096}, {fp.B1, 16384}} {
		highest := func(table string) (v float64) {
			for _, x := range points {
				if x.table == table && strings.Contains(x.inst, "."+p.id.String()+".") || x.table == table && p.id == fp.FP16 && strings.Contains(x.inst, ".f16.f16.") {
					v = max(v, x.figures[four], x.figures[eight])
				}
			}
			return v
		}
		width, remark := int(p.id.Get().CodeBits()), "" // of TF32 the register's
		if p.id == fp.TF32 {
			own := 1 + int(p.id.Get().ExpBits+p.id.Get().FracBits)
			remark = fmt.Sprintf("its %d bits would make %d; it is stored in %d", own, 1024*16/own, width)
		}
		e := arithmetic(same("Table 3, footnote: "+p.id.String(), fmt.Sprintf("peak, of as many bits as 1024 of FP16: of %d", width), fmt.Sprint(1024*16/width), fmt.Sprint(p.peak), ""))
		e.Why = remark
		add(e)
		ratio("Tables 4 and 3: "+p.id.String(), "highest throughput on RTX 3070 Ti / on A100", "less", highest("4")/highest("3"), 0.1, 0.99)
	}
	for _, p := range []struct {
		table, dense string
	}{{"6", "3"}, {"7", "4"}} {
		for _, x := range points {
			if x.table != p.table {
				continue
			}
			row, beside := "Tables "+p.table+" and "+p.dense+": "+x.inst, of(p.dense, denseOf(x.inst))
			near(row, "completion latency, and that of the dense instruction of half of k", x.figures[completion], beside[completion], 0.03)
			for _, at := range []int{four, eight} {
				if ilp := x.figures[at-2]; ilp == beside[at-2] { // the setting is the same
					near(row, fmt.Sprintf("latency of %d warps, ILP %v, and that of the dense instruction", 4*at/3, ilp), x.figures[at-1], beside[at-1], 0.03)
					if e := &all[len(all)-1]; !e.Equal {
						e.Why = "this printed latency does not belong to its throughput: see throughput from latency"
					}
				}
			}
			if p.table == "7" {
				ratio(row, "throughput with eight warps / dense", "twice", x.figures[eight]/beside[eight], 1.95, 2.05)
			}
		}
	}
	for _, p := range [][2]string{{"mma.sp.m16n8k16.f32.f16.f16.f32", "mma.sp.m16n8k32.f32.f16.f16.f32"}, {"mma.sp.m16n8k16.f16.f16.f16.f16", "mma.sp.m16n8k32.f16.f16.f16.f16"},
		{"mma.sp.m16n8k8.f32.tf32.tf32.f32", "mma.sp.m16n8k16.f32.tf32.tf32.f32"}, {"mma.sp.m16n8k32.s32.s8.s8.s32", "mma.sp.m16n8k64.s32.s8.s8.s32"}} {
		ratio("Table 6: "+p[0], "throughput, of that of the larger k", "cannot reach it", of("6", p[0])[eight]/of("6", p[1])[eight], 0.5, 0.75)
		for _, at := range []int{four, eight} {
			x, dense := of("6", p[0]), of("3", denseOf(p[0]))
			ratio("Tables 6 and 3: "+p[0], fmt.Sprintf("convergence points of %d warps: throughput with ILP %v / dense with ILP %v", 4*at/3, x[at-2], dense[at-2]), "significantly lower than twice", x[at]/dense[at], 1, 1.6)
		}
		ratio("Table 7: "+p[0], "throughput, of that of the larger k", "the same", of("7", p[0])[eight]/of("7", p[1])[eight], 0.97, 1.03)
	}
	for _, p := range []struct {
		inst   string
		warps  string
		enough bool
	}{{"ldmatrix.x1 1-way", "at least eight warps", false}, {"ldmatrix.x2 2-way", "four warps are sufficient", true}, {"ldmatrix.x4 4-way", "four warps are sufficient", true}} {
		share := of("9", p.inst)[four] / 128
		add(says("Table 9: "+p.inst, "throughput of four warps / 128", fmt.Sprintf("%.3f", share), p.warps, (share > 0.97) == p.enough, ""))
	}
	u64 := func(ways int) float64 { return of("10", fmt.Sprintf("ld.shared.u64 %d-way", ways))[completion] }
	for _, ways := range []int{4, 8} {
		ratio("Table 10", fmt.Sprintf("ld.shared.u64 %d-way: cycles of each conflict beyond two", ways), "around 2", (u64(ways)-u64(2))/float64(ways-2), 1.9, 2.1)
	}
	return all, nil
}

// sunRanges makes entries of what sections 8 and 8.2 say of formats.
func sunRanges(context.Context, *Request) ([]entry, error) {
	single := fp.FP32.Get()
	all := []entry{same("tf32", "bits", fmt.Sprint(1+fp.TF32.Get().ExpBits+fp.TF32.Get().FracBits), "19", "")}
	for _, id := range []fp.ID{fp.TF32, fp.BF16} {
		f := id.Get()
		all = append(all, same(id.String(), "exponents: the range of FP32", fmt.Sprintf("%d to %d", f.Emin(), f.Emax()), fmt.Sprintf("%d to %d", single.Emin(), single.Emax()), ""),
			says(id.String(), "mantissa bits", fmt.Sprint(f.FracBits), "fewer than FP32", f.FracBits < single.FracBits, ""))
	}
	all = append(all, says("fp16", "exponents", fmt.Sprintf("%d to %d", fp.FP16.Get().Emin(), fp.FP16.Get().Emax()), "a smaller range than TF32 and BF16", fp.FP16.Get().Emax() < fp.BF16.Get().Emax(), ""))
	var shared []string
	for _, i := range mma.Of("ampere") {
		if strings.HasPrefix(i.Name, "mma.m16n8k8.f32.") && i.A == i.B {
			shared = append(shared, i.A.String())
		}
	}
	slices.Sort(shared)
	return append(all, same("mma.m16n8k8", "formats that have this shape", strings.Join(shared, ", "), "bf16, fp16, tf32", "")), nil
}
