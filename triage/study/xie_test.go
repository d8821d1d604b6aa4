package study

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// What Xie et al. say beside their tables and algorithms.

// sumTree is a summation tree: a leaf, or a sum, which is exact or in which large terms swamp small
// ones.
type sumTree struct {
	leaf  int
	exact bool
	of    []*sumTree
}

func (t *sumTree) leaves() int {
	if len(t.of) == 0 {
		return 1
	}
	n := 0
	for _, s := range t.of {
		n += s.leaves()
	}
	return n
}

func (t *sumTree) has(leaf int) bool {
	return len(t.of) == 0 && t.leaf == leaf || slices.ContainsFunc(t.of, func(s *sumTree) bool { return s.has(leaf) })
}

// swamped is how many terms are lost or cancel with U at leaf i, -U at j.
func (t *sumTree) swamped(i, j int) int {
	alone := 0
	for _, s := range t.of {
		switch a, b := s.has(i), s.has(j); {
		case a && b:
			return s.swamped(i, j)
		case a || b:
			alone += s.leaves()
		}
	}
	if t.exact {
		return alone
	}
	return t.leaves()
}

// survivors writes d/v of all pairs.
func (t *sumTree) survivors() string {
	var all []string
	for i := range t.leaves() {
		for j := i + 1; j < t.leaves(); j++ {
			all = append(all, fmt.Sprint(t.leaves()-t.swamped(i, j)))
		}
	}
	return strings.Join(all, " ")
}

// everyTree returns all trees of some leaves: a sum of three and more is of both kinds, or swamped.
func everyTree(leaves []int, both bool) []*sumTree {
	if len(leaves) == 1 {
		return []*sumTree{{leaf: leaves[0]}}
	}
	var all []*sumTree
	var split func(rest []int, parts [][]int)
	split = func(rest []int, parts [][]int) {
		if len(rest) > 0 {
			for n := range parts {
				more := slices.Clone(parts)
				more[n] = append(slices.Clone(parts[n]), rest[0])
				split(rest[1:], more)
			}
			split(rest[1:], append(slices.Clone(parts), rest[:1]))
			return
		}
		if len(parts) < 2 {
			return
		}
		sums := [][]*sumTree{nil}
		for _, part := range parts {
			var longer [][]*sumTree
			for _, head := range sums {
				for _, t := range everyTree(part, both) {
					longer = append(longer, append(slices.Clone(head), t))
				}
			}
			sums = longer
		}
		for _, of := range sums {
			all = append(all, &sumTree{of: of})
			if both && len(of) > 2 {
				all = append(all, &sumTree{exact: true, of: of})
			}
		}
	}
	split(leaves, nil)
	return all
}

// sumOf is a tree of leaves, which are numbers, and trees.
func sumOf(exact bool, terms ...any) *sumTree {
	t := &sumTree{exact: exact}
	for _, x := range terms {
		if leaf, ok := x.(int); ok {
			t.of = append(t.of, &sumTree{leaf: leaf})
		} else {
			t.of = append(t.of, x.(*sumTree))
		}
	}
	return t
}

// xieFigure2 makes Figure 2 of Xie et al., with four products and c, which is leaf 4: d/v of all pairs on
// a unit with each of its trees, how many trees have these numbers, and the one that probe finds.
func xieFigure2(ctx context.Context, _ *Request) ([]entry, error) {
	const c = 4
	swamped, both := everyTree([]int{0, 1, 2, 3, c}, false), everyTree([]int{0, 1, 2, 3, c}, true)
	with := func(all []*sumTree, survivors string) (n int) {
		for _, t := range all {
			if t.survivors() == survivors {
				n++
			}
		}
		return n
	}
	var entries []entry
	swamps, units := 0, 0
	for _, p := range []struct {
		name  string
		unit  [2]string
		tree  *sumTree
		trees string
		found string
	}{
		{"a", [2]string{"cdna1", "v_mfma_f32_16x16x4f32"}, sumOf(false, 3, sumOf(false, 2, sumOf(false, 1, sumOf(false, c, 0)))), "1, 1", "((((p0 + c) + p1) + p2) + p3)"},
		{"b", [2]string{"cdna2", "v_mfma_f32_32x32x4f16"}, sumOf(false, c, sumOf(false, sumOf(false, 0, 1), sumOf(false, 2, 3))), "1, 1", "(((p0 + p1) + (p2 + p3)) + c)"},
		{"c", [2]string{"cdna1", "v_mfma_f32_32x32x4bf16"}, sumOf(true, sumOf(true, c, 0, 1), 2, 3), "0, 1", "{{c p0 p1} p2 p3}"},
		{"d", [2]string{"volta", "mma.m8n8k4.f32.f16.f16.f32"}, sumOf(false, c, 0, 1, 2, 3), "1, 1", "[c p0..p3]"},
	} {
		var ours []string
		for i := range 5 {
			for j := i + 1; j < 5; j++ {
				terms := []float64{1, 1, 1, 1, 1}
				terms[i], terms[j] = 0x1p30, -0x1p30
				x := experiment{unit: p.unit, c: terms[c]}
				for _, v := range terms[:c] {
					_, e := math.Frexp(v)
					x.a, x.b = append(x.a, math.Ldexp(v, -e/2)), append(x.b, math.Ldexp(1, e/2))
				}
				_, d, err := x.run(nil)
				if err != nil {
					return nil, err
				}
				ours = append(ours, fmt.Sprint(d))
			}
		}
		large, err := fusedOf(p.unit, 0x1p30, 1, 1, 1)
		if err != nil {
			return nil, err
		}
		if units++; large == 0x1p30 {
			swamps++
		}
		all := strings.Join(ours, " ")
		u, err := simulatedUnit(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		tree, why := probe.New(ctx, u.Unit).Tree()
		found := why
		if tree != nil {
			found = tree.Formula(c)
		}
		entries = append(entries,
			same(p.name+": "+u.name, "d/v of pairs 01, 02, 03, 0c, 12, 13, 1c, 23, 2c, 3c", all, p.tree.survivors(), ""),
			same(p.name+": "+u.name, "trees with these numbers, of those of FPRev and of both kinds of fused sums", fmt.Sprintf("%d, %d", with(swamped, all), with(both, all)), p.trees, ""),
			same(p.name+": "+u.name, "mmafuzz probe", found, p.found, ""))
	}
	return append(entries, same("four units", "equation (6): those on which U + 3v is U", fmt.Sprintf("%d of %d", swamps, units), "4 of 4", ""),
		same("footnote 1", "Figure 2 (a): d/v with U and -U at 0 and 1", strings.Fields(entries[0].Ours)[0], "2", "")), nil
}

// fusedOf computes a sum of products with 1 on a unit.
func fusedOf(unit [2]string, terms ...float64) (float64, error) {
	x := experiment{unit: unit}
	for _, v := range terms {
		_, e := math.Frexp(v)
		x.a, x.b = append(x.a, math.Ldexp(v, -e/2)), append(x.b, math.Ldexp(1, e/2))
	}
	_, v, err := x.run(nil)
	return v, err
}

// roundInteger rounds to a multiple of 4 by one of the modes that section 3.1.3 of Xie et al. tells
// apart; RN stands before the rule for ties.
func roundInteger(x int, mode string) int {
	low := x &^ 3
	if low == x {
		return x
	}
	high, up := low+4, false
	even := func(v int) bool { return v/4%2 == 0 }
	switch middle := x == low+2; {
	case mode == "RU":
		up = true
	case mode == "RD":
	case mode == "RZ":
		up = x < 0
	case mode == "RA":
		up = x > 0
	case !middle:
		up = x > low+2
	case mode == "RNU":
		up = true
	case mode == "RND":
	case mode == "RNZ":
		up = x < 0
	case mode == "RNA":
		up = x > 0
	case mode == "RNE":
		up = even(high)
	case mode == "RNO":
		up = !even(high)
	}
	if up {
		return high
	}
	return low
}

// xieProbes makes entries of sections 3.1.2 and 3.1.3 of Xie et al.: fused sums of both kinds, the
// precision of sums, and inputs that tell rounding modes apart.
func xieProbes(context.Context, *Request) ([]entry, error) {
	cdna1 := [2]string{"cdna1", "v_mfma_f32_32x32x4f16"}
	var all []entry
	for _, p := range []struct {
		what   string
		unit   [2]string
		theirs float64
	}{
		{"equation (8): U, 3v, 2v, -U", smtUnits[0], 0},
		{"equation (9): U, 3v, 2v, -U", cdna1, 5},
	} {
		v, err := fusedOf(p.unit, 0x1p30, 3, 2, -0x1p30)
		if err != nil {
			return nil, err
		}
		all = append(all, same(strings.Join(p.unit[:], "/"), p.what, Number(v).exactly(), Number(p.theirs).exactly(), ""))
	}
	for _, p := range []struct {
		unit   [2]string
		add    bool // of two terms
		theirs string
	}{
		{smtUnits[0], false, "23"}, {fasiT4, false, "24"}, {fasiA100, false, "24"}, {[2]string{"hopper", "mma.m16n8k16.f32.f16.f16.f32"}, false, "25"},
		{[2]string{"hopper", "wgmma.m64n8k32.f32.e4m3.e4m3"}, false, "13"}, {cdna1, false, "exact"}, {[2]string{"cdna1", "v_mfma_f32_16x16x4f32"}, true, "23"},
	} {
		i, err := mma.Lookup(p.unit[0], p.unit[1])
		if err != nil {
			return nil, err
		}
		ours, eps := "exact", 1.0
		for {
			_, e := math.Frexp(eps)
			if f := i.A.Get(); f.Float64(f.FromFloat64(math.Ldexp(eps, -e/2))) == 0 {
				break // the formats have no smaller product
			}
			terms, want := []float64{1, -1, eps}, eps
			if p.add {
				terms, want = []float64{1, eps / 2}, 1+eps/2
			}
			d, err := fusedOf(p.unit, terms...)
			if err != nil {
				return nil, err
			}
			if d != want {
				ours = fmt.Sprint(-math.Ilogb(want-math.Trunc(want)) - 1)
				break
			}
			eps /= 2
		}
		all = append(all, same(strings.Join(p.unit[:], "/"), "3.1.3: summation precision, by halving a small term", ours, p.theirs, ""))
	}
	// U is 0 here, 2 epsilon are 4: what counts are the distances from U and its opposite.
	outcomes := func(modes []string, inputs ...int) string {
		var seen []string
		for _, mode := range modes {
			var out []int
			for _, x := range inputs {
				out = append(out, roundInteger(64+x, mode), roundInteger(-64-x, mode))
			}
			if s := fmt.Sprint(out); !slices.Contains(seen, s) {
				seen = append(seen, s)
			}
		}
		return fmt.Sprintf("%d of %d", len(seen), len(modes))
	}
	return append(all,
		same("U + 1.5 e, U + 0.5 e and opposites", "3.1.3: of RU, RD, RZ, RA and RN, different outcomes", outcomes([]string{"RU", "RD", "RZ", "RA", "RNE"}, 3, 1), "5 of 5", ""),
		same("U + e, U + 3 e and opposites", "3.1.3: of RNU, RND, RNZ, RNA, RNE and RNO, different outcomes", outcomes([]string{"RNU", "RND", "RNZ", "RNA", "RNE", "RNO"}, 2, 6), "6 of 6", "")), nil
}

// xieRelated makes entries of section 2 of Xie et al.
func xieRelated(context.Context, *Request) ([]entry, error) {
	half, bf16 := fp.FP16.Get(), fp.BF16.Get()
	below, inexact, most := 0, 0, 0.0
	for code := range uint64(1) << 15 {
		v := half.Float64(code)
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		w := bf16.Float64(bf16.FromFloat64(v))
		if v < 0x1p-14 && w < 0x1p-126 {
			below++
		}
		if w != v {
			inexact++
			most = max(most, math.Abs(w-v)/v)
		}
	}
	i, err := mma.Lookup(smtUnits[0][0], smtUnits[0][1])
	if err != nil {
		return nil, err
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	count, binary := 0, 0
	for _, d := range gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0, &i.Params) {
		var p [4]float64
		for k := range p {
			p[k] = i.A.Get().Float64(d.A[k]) * i.B.Get().Float64(d.B[k])
		}
		tree := float32(float32(p[0])+float32(p[1])) + float32(float32(p[2])+float32(p[3]))
		ours, theirs := float32(i.D.Get().Float64(m.Dot(d, nil))), tree+float32(i.C.Get().Float64(d.C))
		if ours != ours && theirs != theirs {
			continue // both are NaNs
		}
		if count++; ours != theirs {
			binary++
		}
	}
	late := experiment{"", smtUnits[0], []float64{1, 1, 1, 1}, []float64{0x1p-24, 0x1p-24, 0x1p-24, 0x1p-24}, 1, 0}
	_, v, err := late.run(nil)
	if err != nil {
		return nil, err
	}
	return []entry{
		same("BF16", "2.2: numbers that are subnormal in FP16 and in BF16, too, where CDNA2 would flush them", fmt.Sprint(below), "0", ""),
		{"BF16", "2.2: positive FP16 numbers that it rounds, and the largest relative error", fmt.Sprintf("%d, %s", inexact, Number(most)), "at the cost of precision", inexact > 0, "", statement},
		{i.FullName(), fmt.Sprintf("2.3: results of %d that a binary tree of FP32 additions does not give", count), fmt.Sprint(binary), "it does not match hardware behavior faithfully", binary > 0, "", statement},
		same(i.FullName(), "2.3: c = 1 and four times 2^-24, which is 1 + 2^-22 if c is added after the products (Hickmann et al.)", Number(v).exactly(), "1", ""),
	}, nil
}

// xieGPUs are the matrix instructions of floating-point numbers of the ten architectures of Xie et
// al., but for those that the compiler makes of others.
func xieGPUs() []mma.Instruction {
	var all []mma.Instruction
	for _, p := range printed8 {
		for _, i := range mma.Of(p.arch) {
			if i.Refuse == "" && i.M.Max > 1 && !i.A.Get().Integer() && i.A != fp.B1 && i.Params.In.Widen == fp.None && (i.Arch == "volta" || i.A != fp.FP16 || !strings.Contains(i.Name, "m8n8k4")) {
				all = append(all, i)
			}
		}
	}
	return all
}

// operation names the elementary operation of an instruction as the paper does.
func operation(i *mma.Instruction) string {
	op, _, _ := strings.Cut(i.Params.String(), "(")
	op, _, _ = strings.Cut(op, " ")
	if op == "t-fdpa" && i.Scale != fp.None {
		op = "st-fdpa"
	}
	return op
}

// xieModels makes Table 1 of Xie et al., and what section 4 says of all instructions.
func xieModels(context.Context, *Request) ([]entry, error) {
	count := map[string]int{}
	gpus := xieGPUs()
	flushing := map[string]bool{}
	accurate, operands, long := 0, map[string][2]int{}, map[string][2]int{}
	for n := range gpus {
		i := &gpus[n]
		op := operation(i)
		count[op]++
		if op == "ftz-addmul" {
			flushing[i.Arch+" "+i.A.String()] = true
		}
		if f := int(i.Params.Join.Align.F); (f == 0 || f >= 23) && (i.Params.Acc.Frac == 0 || i.Params.Acc.Frac >= 23) && i.D != fp.FP16 && !(i.A == fp.FP16 && i.Params.In.Sub != mma.KeepSub) {
			accurate++
		}
		if l := min(i.K, int(i.Params.L)); strings.HasSuffix(op, "fdpa") {
			d := mma.NewDot(i.Formats, l)
			theirs := 2*l + 1
			switch {
			case op == "gst-fdpa" && i.Scale == fp.UE4M3:
				theirs += 2 * l / 16
			case op == "gst-fdpa":
				theirs += 2 * l / 32
			case op == "st-fdpa":
				theirs += 2
			}
			x := operands[op]
			if x[0]++; len(d.A)+len(d.B)+1+len(d.SA)+len(d.SB) != theirs {
				x[1]++
			}
			operands[op] = x
		}
		bytes := map[string]int{"volta": 8, "turing": 16, "ampere": 16, "ada": 16, "cdna3": 16}[i.Arch]
		if bytes == 0 {
			bytes = 32
		}
		if strings.HasSuffix(op, "fdpa") && op != "e-fdpa" && op != "gst-fdpa" && !strings.HasPrefix(i.Name, "wmma") {
			x := long[i.Arch]
			x[0]++
			if min(i.K, int(i.Params.L)) != min(i.K, bytes/int(i.A.Get().Width)) {
				x[1]++
			}
			long[i.Arch] = x
		}
	}
	var ops []string
	for op := range count {
		ops = append(ops, op)
	}
	slices.Sort(ops)
	var where []string
	for w := range flushing {
		where = append(where, w)
	}
	slices.Sort(where)
	all := []entry{
		same("ten architectures", "elementary operations", strings.Join(ops, ", "), "e-fdpa, fma, ftz-addmul, gst-fdpa, gtr-fdpa, st-fdpa, t-fdpa, tr-fdpa", ""),
		same("ten architectures", "4.1.1: operands of the instructions of additions and multiplications with subnormal results flushed", strings.Join(where, ", "), "cdna2 bf16, cdna2 fp16", ""),
		{"ten architectures", fmt.Sprintf("6.4: of %d instructions, those with neither small F, nor RZ-E8M13, FP16 output or input FTZ of FP16", len(gpus)), fmt.Sprint(accurate), "most", 2*accurate > len(gpus), "counts parameters alone; section 6.4, measured, has their errors", statement},
	}
	for _, arch := range []string{"volta", "turing", "ampere", "ada", "hopper", "blackwell", "rtx-blackwell", "cdna3"} {
		all = append(all, same(arch, fmt.Sprintf("4.3: of %d instructions, those with another L than K and the bytes of L_max", long[arch][0]), fmt.Sprint(long[arch][1]), "0", ""))
	}
	for _, op := range ops {
		if x, ok := operands[op]; ok {
			all = append(all, same(op, fmt.Sprintf("4.1.3: of %d instructions, those with other numbers of operands than 2L + 1, 2L + 3 of ST-FDPA, 2L + 1 + 2L/K_block of GST-FDPA with K_block 32 of MXFP4, 16 of NVFP4", x[0]), fmt.Sprint(x[1]), "0", ""))
			if e := &all[len(all)-1]; !e.Equal && op == "gst-fdpa" {
				e.Why = "kind mxf4nvf4 also takes scales of MXFP4 for 16 elements, which the paper does not name"
			}
		}
	}
	return all, nil
}
