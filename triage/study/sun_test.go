package study

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// What Sun et al. print beside cycles, and what follows from the cycles.

// sunPoint is a row of Tables 3 to 7, 9 and 10 that package bench compares GPUs with.
type sunPoint struct {
	table, gpu, inst string
	work             float64    // multiplications with additions, or bytes (Table 8), of an instruction
	figures          [7]float64 // completion latency; with four and with eight warps: parallelism, latency, throughput
}

func sunPoints() ([]sunPoint, error) {
	text, err := os.ReadFile("../../fuzz/bench/sun.tsv")
	if err != nil {
		return nil, err
	}
	var all []sunPoint
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 4 || f[0] == "table" {
			continue
		}
		p := sunPoint{table: f[0], gpu: f[1], inst: f[2]}
		for n, cell := range f[3:] {
			if p.figures[n], err = strconv.ParseFloat(cell, 64); err != nil {
				return nil, err
			}
		}
		var m, n, k int
		if _, shape, ok := strings.Cut(p.inst, ".m"); ok {
			_, err = fmt.Sscanf(shape, "%dn%dk%d", &m, &n, &k)
			p.work = float64(m * n * k)
		} else if _, size, ok := strings.Cut(p.inst, ".x"); ok {
			_, err = fmt.Sscanf(size, "%d", &n)
			p.work = float64(128 * n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.inst, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// sunThroughput makes entries of the throughput that follows from each latency.
func sunThroughput(context.Context, *Request) ([]entry, error) {
	points, err := sunPoints()
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, p := range points {
		if p.table == "10" {
			continue // it has no throughput
		}
		for n, warps := range []float64{4, 8} {
			ilp, latency, printed := p.figures[1+3*n], p.figures[2+3*n], p.figures[3+3*n]
			ours := warps * ilp * p.work / latency
			e := entry{"Table " + p.table + ", " + p.gpu + ": " + p.inst, fmt.Sprintf("%v warps, ILP %v: throughput of %v cycles", warps, ilp, latency),
				fmt.Sprintf("%.1f", ours), fmt.Sprintf("%.1f", printed), math.Abs(printed/ours-1) <= 0.01, "", "within 1 %"}
			if !e.Equal {
				e.Why = fmt.Sprintf("the printed latency and throughput do not belong together: the throughput is that of %.1f cycles", warps*ilp*p.work/printed)
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// sunRatios makes entries of what the text says of the tables.
func sunRatios(context.Context, *Request) ([]entry, error) {
	points, err := sunPoints()
	if err != nil {
		return nil, err
	}
	of := func(table, inst string) *[7]float64 {
		for n := range points {
			if p := &points[n]; p.table == table && p.inst == inst {
				return &p.figures
			}
		}
		panic(table + " " + inst)
	}
	all := []entry{arithmetic(same("Table 1, A100", "4 units of 8x4x8: FMA/clk/SM of FP16", fmt.Sprint(4*8*4*8), "1024", ""))}
	says := func(row, what, ours, theirs string, holds bool, why string) {
		all = append(all, says(row, what, ours, theirs, holds, why))
	}
	peaks := map[string]float64{"f16": 1024, "tf32": 512, "s8": 2048, "s4": 4096, "b1": 16384}
	lowest, at, old := 1.0, "", 0.0
	for _, p := range points {
		if p.table != "3" {
			continue
		}
		share := max(p.figures[3], p.figures[6]) / peaks[strings.Split(p.inst, ".")[3]]
		if p.inst == "mma.m8n8k16.s32.s8.s8.s32" {
			old = share
		} else if share < lowest {
			lowest, at = share, p.inst
		}
	}
	says("Table 3", "INT8 m8n8k16: throughput / peak", fmt.Sprintf("%.3f", old), "near half", math.Abs(old-0.5) < 0.02, "")
	says("Table 3", "all others: throughput / peak", fmt.Sprintf("from %.3f (%s)", lowest, at), "near peak", lowest >= 0.9, "instructions of INT4 and bits reach 0.886 to 0.894")
	for _, p := range [][2]string{{"mma.sp.m16n8k32.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"}, {"mma.sp.m16n8k32.f16.f16.f16.f16", "mma.m16n8k16.f16.f16.f16.f16"},
		{"mma.sp.m16n8k16.f32.tf32.tf32.f32", "mma.m16n8k8.f32.tf32.tf32.f32"}, {"mma.sp.m16n8k64.s32.s8.s8.s32", "mma.m16n8k32.s32.s8.s8.s32"}} {
		ratio := of("6", p[0])[6] / of("3", p[1])[6]
		says("Tables 6 and 3", p[0]+" / dense: throughput", fmt.Sprintf("%.3f", ratio), "2", math.Abs(ratio-2) < 0.05, "")
	}
	for _, k := range []string{"16", "8"} {
		ratio := of("4", "mma.m16n8k"+k+".f32.f16.f16.f32")[6] / of("4", "mma.m16n8k"+k+".f16.f16.f16.f16")[6]
		says("Table 4", "m16n8k"+k+", FP32 sums / FP16 sums: throughput", fmt.Sprintf("%.3f", ratio), "half", math.Abs(ratio-0.5) < 0.01, "")
	}
	for n, ways := range []string{"1", "2", "4", "8"} {
		load := of("10", "ld.shared.u32 "+ways+"-way")[0]
		if n > 0 {
			ratio := (load - of("10", "ld.shared.u32 1-way")[0]) / float64(int(1)<<n-1)
			says("Table 10", "ld.shared.u32 "+ways+"-way: cycles of each conflict", fmt.Sprintf("%.1f", ratio), "around 2", math.Abs(ratio-2) < 0.1, "")
		}
		if n < 3 {
			matrix := of("9", "ldmatrix.x"+ways+" "+ways+"-way")[0]
			says("Tables 9 and 10", "ldmatrix.x"+ways+" and ld.shared.u32 "+ways+"-way: latency", fmt.Sprintf("%v and %v", matrix, load), "close", math.Abs(matrix-load) < 0.5, "")
		}
	}
	return all, nil
}

// sunIntegers makes entries of integer instructions beside 32-bit integers of a CPU.
func sunIntegers(_ context.Context, r *Request) ([]entry, error) {
	var all []entry
	for _, name := range []string{"mma.m16n8k32.s32.s8.s8.s32", "mma.m16n8k64.s32.s4.s4.s32", "mma.m16n8k32.s32.u8.u8.s32",
		"mma.m16n8k256.s32.b1.b1.s32.and.popc", "mma.m16n8k256.s32.b1.b1.s32.xor.popc"} {
		i, err := mma.Lookup("ampere", name)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		rng, differ := rand.New(rand.NewPCG(r.Seed, 8)), 0
		for range r.Count {
			d := mma.NewDot(i.Formats, i.K)
			c := int32(rng.Uint32())
			d.C = uint64(uint32(c))
			for k := range d.A {
				for _, p := range []struct {
					f    *fp.Format
					code *uint64
				}{{i.A.Get(), &d.A[k]}, {i.B.Get(), &d.B[k]}} {
					*p.code = rng.Uint64() & (1<<p.f.CodeBits() - 1)
				}
				if strings.HasSuffix(name, ".xor.popc") {
					c += int32(d.A[k] ^ d.B[k])
				} else {
					c += int32(i.A.Get().Float64(d.A[k])) * int32(i.B.Get().Float64(d.B[k]))
				}
			}
			if uint32(m.Dot(d, nil)) != uint32(c) {
				differ++
			}
		}
		all = append(all, same(i.FullName(), "results that differ from those of 32-bit integers", fmt.Sprint(differ), "0", ""))
	}
	one := int32(1)
	for _, suffix := range []string{"", ".satfinite"} { // the largest integer and 1
		i, err := mma.Lookup("ampere", "mma.m16n8k32.s32.s8.s8.s32"+suffix)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		d := mma.NewDot(i.Formats, i.K)
		d.A[0], d.B[0], d.C = 1, 1, math.MaxInt32
		all = append(all, same(i.FullName(), "2147483647 + 1, and that of 32-bit integers that wrap", fmt.Sprintf("%08x", m.Dot(d, nil)), fmt.Sprintf("%08x", uint32(math.MaxInt32+one)),
			".satfinite stops at the largest integer: 0 errors need its absence, or sums within 32 bits"))
	}
	return all, nil
}

// sunConclusions makes entries of what the text concludes from Tables 12 to 15 and of the formats.
func sunConclusions(context.Context, *Request) ([]entry, error) {
	i, err := mma.Lookup("ampere", bf16)
	if err != nil {
		return nil, err
	}
	low := 0
	for code := range uint64(1 << fp.FP16.Get().FracBits) { // from 1 up to 2
		v := fp.FP16.Get().Float64(fp.FP16.Get().FromFloat64(1) + code)
		if fp.BF16.Get().Float64(fp.BF16.Get().FromFloat64(v)) == v {
			low++
		}
	}
	figure := map[string]float64{} // of multiplication, initialized with FP32
	for _, p := range printedProfiles {
		if p.operation == multiplication {
			figure[p.table] = p.errors[1]
		}
	}
	levels := func(what string, ratio, low, high float64, theirs string) entry {
		return entry{"Tables 12, 13 and 15, multiplication", what, Number(ratio).String(), theirs, low <= ratio && ratio <= high, "", statement}
	}
	large := encode(fp.BF16.Get(), math.MaxFloat32)
	converted, err := sunConverted()
	if err != nil {
		return nil, err
	}
	// The relative error of a number of FP16's range: a normal one, and a subnormal one.
	lost := func(id fp.ID, v float64) float64 { return math.Abs(id.Get().Float64(encode(id.Get(), v))/v - 1) }
	for _, p := range []struct {
		number string
		value  float64
	}{{"(1 + 2^-9) * 2^-14, normal", math.Ldexp(1+math.Ldexp(1, -9), -14)}, {"1.5 * 2^-24, subnormal", math.Ldexp(1.5, -24)}} {
		half, other, brain := lost(fp.FP16, p.value), lost(fp.TF32, p.value), lost(fp.BF16, p.value)
		const why = "FP16's subnormal numbers have fewer digits: below 2^-14 than those of TF32, and below 2^-17 than those of BF16; the statement is of larger numbers, such as the averages of Tables 12 to 15"
		converted = append(converted,
			says(p.number, "8.2: relative error of its FP16 and TF32", fmt.Sprintf("%v and %v", Number(half), Number(other)), "the same level of precision within the range of FP16", half == other, why),
			says(p.number, "8.1.2: relative error of its FP16 and BF16", fmt.Sprintf("%v and %v", Number(half), Number(brain)), "FP16 is more accurate within its range", half < brain, why))
	}
	return append(converted, []entry{
		levels("8.1.2: error of BF16 / FP16", figure["Table 12"]/figure["Table 13"], 4, 16, "E-03 against E-04"),
		levels("8.1.3: error of TF32 / FP16", figure["Table 15"]/figure["Table 13"], 0.99, 1.01, "the same level"),
		same(i.FullName(), "8.1.1: precision of accumulation", fmt.Sprintf("products and c are cut alike, at 2^-%d of the largest", i.Params.Join.Align.F), "relatively low, of products and their sum high",
			"such an error has a c with more digits than BF16 has, whose sum is rounded to FP32"),
		says("fp16", "8.1.1: numbers from 1 to 2 that convert to BF16 without loss", fmt.Sprintf("%d of %d", low, 1<<fp.FP16.Get().FracBits), "initialize with FP16 precision to eliminate the conversion loss", low == 1<<fp.FP16.Get().FracBits, "the title of Table 12's column, BF16, is meant"),
		says("bf16", "9: FP32's largest number in BF16", mma.FormatCode(fp.BF16, large), "the same range and therefore the same overflow behavior as FP32", fp.BF16.Get().Decode(large).Class == fp.Finite,
			"BF16 has FP32's exponents, and not its largest numbers: what is at least 2^128 - 2^119 is rounded to an infinity"),
	}...), nil
}

// sunConverted makes entries of what section 8.1.2 concludes from the zeros of Table 14: FP16 results
// are converted once, in the end. 2048 + 1 + 1 is 2050, and 2048 where a sum of 2049 is rounded to FP16.
func sunConverted() ([]entry, error) {
	var all []entry
	for _, name := range []string{f16d, "mma.m16n8k16.f16.f16.f16.f16"} {
		i, err := mma.Lookup("ampere", name)
		if err != nil {
			return nil, err
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			return nil, err
		}
		d := mma.NewDot(i.Formats, i.K)
		d.C = i.C.Get().FromFloat64(2048)
		for _, k := range []int{0, i.K - 1} {
			d.A[k], d.B[k] = i.A.Get().FromFloat64(1), i.B.Get().FromFloat64(1)
		}
		sum := i.D.Get().Float64(m.Dot(d, nil))
		all = append(all, says(i.FullName(), "8.1.2: 2048 and two products of 1, the first and the last", fmt.Sprint(sum), "only converts the final result to FP16 in the end, thus 2050", sum == 2050,
			fmt.Sprintf("each step of %d products is rounded to FP16 (Xie et al., Table 4): the statement holds of k = 8, of which ours of Table 14 is", i.Params.L)))
	}
	return all, nil
}
