package kernel

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// candidate is a unit that may add the products, and what goes with it.
type candidate struct {
	unit     schedule.Unit
	acc      fp.ID // of its results
	width    int   // products that it adds at a time
	epilogue []schedule.Step
	scaling  scaling // of the sum; the epilogue has it
	// dequantize: it adds products of operands that were multiplied by their scales before.
	dequantize *schedule.Quantized
}

// candidates returns the units that may add products of some formats: IEEE 754 operations of operands that
// are cast, if casts were read, then of others, the usual first, then instructions of the catalogue.
func candidates(f mma.Formats, casts []cast) (all []candidate) {
	if f.Scale != fp.None && f.A.Integer() {
		return scaledUnits(f)
	}
	for _, c := range casts {
		all = append(all, castOperations(f, c)...)
	}
	return slices.Concat(all, operations(f), instructions(f), dequantizing(f))
}

// castOperations returns the IEEE 754 operations of operands that are cast.
func castOperations(f mma.Formats, c cast) []candidate {
	all := operations(f)
	for i := range all {
		all[i].unit.CastA, all[i].unit.CastB = c.a, c.b
	}
	return all
}

// operations returns the IEEE 754 operations.
func operations(f mma.Formats) (all []candidate) {
	if f.A != f.B || f.A.Integer() || f.D.Integer() {
		return nil
	}
	var sum fp.ID
	var start string
	add := func(op string, product, acc fp.ID) {
		u := schedule.Unit{Op: op, In: f.A, Product: product, Acc: acc, Sum: sum, Start: start}
		if u.In == acc {
			u.In = fp.None
		}
		for _, cast := range castsTo(acc, f.D) {
			all = append(all, candidate{unit: u, acc: acc, width: 1, epilogue: cast})
		}
	}
	double := f.D == fp.FP64
	if !double {
		add("fma", fp.None, fp.FP32)
		add("mul-add", fp.None, fp.FP32)
	}
	if f.D != fp.FP32 && slices.Contains([]fp.ID{fp.FP64, fp.FP16, fp.BF16}, f.D) {
		add("fma", fp.None, f.D)
		add("mul-add", fp.None, f.D)
	}
	if !double {
		add("fma", fp.None, fp.FP64)
	}
	if f.A != fp.FP64 {
		add("mul-add", fp.FP32, fp.FP64)
	}
	narrow := f.D
	if f.D == fp.FP32 { // promoted every few products
		if narrow = f.A; f.A.Width() == 1 {
			narrow = fp.FP16
		}
		if narrow == fp.FP16 || narrow == fp.BF16 {
			add("fma", fp.None, narrow)
			add("mul-add", fp.None, narrow)
		}
	}
	start = "second"
	add("fma", fp.None, map[bool]fp.ID{true: fp.FP64, false: fp.FP32}[double])
	start = ""
	if d := f.D; d == fp.BF16 || d == fp.FP16 {
		for _, op := range []string{"fma", "mul-add"} {
			for _, cast := range oddCasts(d) {
				u := schedule.Unit{Op: op, In: f.A, Acc: fp.FP32}
				if u.In == u.Acc {
					u.In = fp.None
				}
				all = append(all, candidate{unit: u, acc: u.Acc, width: 1, epilogue: cast})
			}
		}
	}
	if sum = map[fp.ID]fp.ID{fp.FP32: fp.FP64, fp.FP16: fp.FP32, fp.BF16: fp.FP32}[narrow]; sum != fp.None { // no FMA of the format
		add("fma", fp.None, narrow)
	}
	return all
}

// saturated is a cast in which what is too large becomes the largest number.
func saturated(d fp.ID) schedule.Step {
	return schedule.Step{Op: "cast", Format: d, Rounding: schedule.Rounding{Saturate: true}}
}

// oddCasts returns casts to narrow formats as code has them that is written by hand, or for one processor.
func oddCasts(d fp.ID) (all [][]schedule.Step) {
	for _, r := range []schedule.Rounding{{Round: "zero"}, {Round: "away"}, {Saturate: true}, {Subnormals: "zero"}} {
		all = append(all, []schedule.Step{{Op: "cast", Format: d, Rounding: r}})
	}
	return all
}

// castsTo returns the steps that may make an accumulator a result.
func castsTo(acc, d fp.ID) [][]schedule.Step {
	switch {
	case acc == d:
		return [][]schedule.Step{nil}
	case acc == fp.FP64 && d.Width() == 2: // or by way of FP32
		return [][]schedule.Step{castTo(d), {castTo(fp.FP32)[0], castTo(d)[0]}}
	case d.Width() > 1:
		return [][]schedule.Step{castTo(d)}
	}
	return [][]schedule.Step{castTo(d), {saturated(d)}} // FP8
}

// instructions returns the instructions of the catalogue that are different functions: the first of
// those with the same parameters.
func instructions(f mma.Formats) (all []candidate) {
	type function struct {
		k       int
		formats mma.Formats
		params  mma.Params
	}
	seen := map[function]bool{}
	for _, i := range mma.Catalog() {
		if i.A != f.A || i.B != f.B || i.C != i.D || i.Scale != fp.None && (i.Scale != f.Scale || i.Block != f.Block) || i.D.Integer() != f.D.Integer() || i.K < 2 {
			continue
		}
		key := function{i.K, i.Formats, i.Params}
		u := schedule.Unit{Instruction: i.FullName()}
		if _, err := u.Resolve(); err != nil || seen[key] || i.D.Width() < f.D.Width() {
			continue
		}
		seen[key] = true
		for _, cast := range castsTo(i.D, f.D) {
			all = append(all, candidate{unit: u, acc: i.D, width: i.K, epilogue: cast})
		}
	}
	return all
}

// exactUnits returns the units that add products one by one in FP32: where all such sums are exact, others give
// the same.
func exactUnits(all []candidate) (some []candidate) {
	for _, c := range all {
		if u := &c.unit; u.Op == "fma" && u.Acc == fp.FP32 && u.Sum == fp.None && u.Start == "" && !u.Casts() {
			some = append(some, c)
		}
	}
	return some
}

// dequantizing returns the instructions that may add products of operands that were multiplied by their scales
// and rounded before.
func dequantizing(f mma.Formats) (all []candidate) {
	if f.Scale == fp.None {
		return nil
	}
	for _, in := range []fp.ID{fp.BF16, fp.FP16} {
		for _, c := range instructions(mma.Formats{A: in, B: in, D: f.D}) {
			c.dequantize = &schedule.Quantized{A: f.A, B: f.B}
			all = append(all, c)
		}
	}
	return all
}

// widths returns how many products the units add at a time, ascending.
func widths(all []candidate) (w []int) {
	for _, c := range all {
		w = append(w, c.width)
	}
	slices.Sort(w)
	return slices.Compact(w)
}
