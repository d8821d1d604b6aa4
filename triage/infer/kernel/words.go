package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Words says in which order the first schedule of a kernel adds K products, a sentence for each level, and
// what becomes of the sum. What only another K would show is left out.
func Words(k *schedule.Kernel, depth int) []string {
	all := wordsOf(k, &k.Schedules[0], depth, true)
	if k.CFirst { // it is what the first accumulator begins with
		for i := range all {
			all[i] = strings.ReplaceAll(all[i], firstToZero, "")
		}
		all = append([]string{"The sum begins with C in place of zero."}, all...)
	}
	return all
}

// words says in which order a schedule adds K products, a sentence for each level, and what becomes of
// the sum.
func words(k *schedule.Kernel, s *schedule.Schedule, depth int) []string {
	return wordsOf(k, s, depth, false)
}

// wordsOf is words; here leaves out what only another K would show, such as the number of which K is no multiple.
func wordsOf(k *schedule.Kernel, s *schedule.Schedule, depth int, here bool) []string {
	all := slices.Concat(dequantizeWords(k, s), sumWords(k, s, depth, here))
	if m := s.Missing; len(m) > 0 {
		text := "The products k " + m.String() + " are missing from the result."
		if len(m) == 1 && m[0].First == m[0].Last {
			text = strings.NewReplacer("products", "product", " are ", " is ").Replace(text)
		}
		all = append([]string{text}, all...)
	}
	for i := range k.Epilogue {
		s := &k.Epilogue[i]
		if here { // else it is said apart: addendWords
			all = append(all, stepOfC(s)...)
		}
		switch s.Op {
		case "cast":
			if before := k.Epilogue[max(0, i-1)].Format; i > 0 && before != fp.None && before.Get().FracBits < s.Format.Get().FracBits {
				all = append(all, "The result is in "+s.Format.String()+".")
			} else {
				all = append(all, castWords(s))
			}
		case "alpha":
			text := fmt.Sprintf("The sum is multiplied by %v", s.Factor)
			if s.Format != fp.None {
				text += ", rounded to " + s.Format.String()
			}
			all = append(all, text+".")
		case "relu":
			all = append(all, "A negative result becomes zero (ReLU)"+map[string]string{"": "", "-0": ", -0 becomes +0", "nan": ", a NaN too", "-0 nan": ", -0 and a NaN too"}[s.Zeroes]+".")
		case "scale-a":
			all = append(all, "The sum is multiplied by the scale of its row of A.")
		case "scale-b":
			all = append(all, "The sum is multiplied by the scale of its column of B.")
		case "scale-ab":
			all = append(all, "The sum is multiplied by the product of the scales of its row of A and its column of B.")
		}
	}
	return all
}

// stepOfC says how a step adds C, if it does.
func stepOfC(s *schedule.Step) []string {
	to := ""
	if s.Format != fp.None {
		to = ", which gives a number of " + s.Format.String()
	}
	switch s.Op {
	case "c":
		return []string{"C is added" + to + "."}
	case "beta-c":
		return []string{fmt.Sprintf("C times %v is added in one rounding%s.", s.Factor, to)}
	case "beta-c-mul":
		return []string{fmt.Sprintf("C times %v is rounded and added%s.", s.Factor, to)}
	}
	return nil
}

// dequantizeWords says that elements are multiplied by their scales before all else.
func dequantizeWords(k *schedule.Kernel, s *schedule.Schedule) []string {
	if k.Dequantize == nil {
		return nil
	}
	i, err := cmp.Or(s.Unit, k.Unit).Resolve()
	if err != nil {
		return nil
	}
	return []string{fmt.Sprintf("Before all else each element of A (%s) and of B (%s) is multiplied by its scale and rounded to %s.", k.Dequantize.A, k.Dequantize.B, i.A)}
}

// castWords says how a sum is rounded.
func castWords(s *schedule.Step) string {
	text := "The sum is rounded to " + s.Format.String() + map[string]string{"": "", "away": ", to nearest, away from zero where two numbers are as near", "zero": " towards zero"}[s.Round]
	if s.Saturate {
		text += "; what is too large, and an infinity, becomes the largest number"
	}
	if s.Subnormals == "zero" {
		text += "; subnormal numbers become zeros"
	}
	return text + "."
}

// sumWords says in which order a schedule adds K products.
func sumWords(k *schedule.Kernel, s *schedule.Schedule, depth int, here bool) (all []string) {
	seq := upTo(depth)
	unit := cmp.Or(s.Unit, k.Unit)
	along := "ascending in k"
	of, who := fmt.Sprintf("K = %d", depth), "One accumulator adds all products"
	for i := range s.Levels {
		l := &s.Levels[i]
		parts, _, _ := l.Parts(seq, nil)
		if i == len(s.Levels)-1 && l.Merge.Order == "chain-reverse" && l.Merge.Store == fp.None && l.Tail == nil && l.Head == 0 && len(parts) == len(seq) {
			along = "descending in k" // blocks of one product
			continue
		}
		head, body := l.Split(seq)
		main, rest := l.Tail.Cut(body)
		shown, _, _ := (&schedule.Level{Cut: l.Cut}).Parts(main, nil)
		switch {
		case len(parts) > 1:
			all = append(all, fmt.Sprintf("%s is %s. %s", capital(of), cutWords(&l.Cut, shown), mergeWords(l, unit, len(parts))))
		case l.Merge.Scale != "":
			all = append(all, fmt.Sprintf("The sum of %s is multiplied by %s.", of, scaleWords(&l.Merge)))
		case l.Merge.Store != fp.None && l.Merge.Chain():
			all = append(all, fmt.Sprintf("The sum of %s is rounded to %s.", of, l.Merge.Store))
		case l.Merge.Start == "zero":
			rounded := ""
			if p := l.Merge.Parts; p != fp.None {
				rounded = fmt.Sprintf("rounded to %s and ", p)
			}
			all = append(all, fmt.Sprintf("The sum of %s is %sadded to zero in the end, as if C were cleared first: no result is -0.", of, rounded))
		}
		if len(head) > 0 {
			all = append(all, fmt.Sprintf("Before these, the first %s adds %s.", l.Cut.Part(), ks(head)))
		}
		if l.Tail != nil && !(here && len(rest) == 0) {
			all = append(all, tailWords(l.Tail, rest, of, here))
		}
		if seq = parts[0]; len(parts) == 1 {
			continue
		}
		of = fmt.Sprintf("each such %s (the first has %d products)", l.Cut.Part(), len(parts[0]))
		if strings.HasPrefix(l.Merge.Order, "chain") {
			who = "The accumulator adds the products of each " + l.Cut.Part()
		} else {
			who = "Each " + l.Cut.Part() + " has an accumulator, which adds its products"
		}
	}
	if i, err := unit.Resolve(); err == nil && i.D.Integer() {
		if k.ScaleA != nil {
			return append(all, "Products, and sums before they are scaled, are integers, which no order changes unless they saturate: "+unitWords(unit)+".")
		}
		return append(all, "Products and sums are integers, which no order changes unless they saturate: "+unitWords(unit)+".")
	}
	if unit.Op == "" {
		return append(all, who+" "+along+", as many at a time as the instruction takes, the last filled up with zeros: "+unitWords(unit)+".")
	}
	return append(all, who+" one after the other, "+along+": "+unitWords(unit)+".")
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// cutWords names the first parts of a sequence.
func cutWords(c *schedule.Cut, parts [][]int32) string {
	const shown = 4
	var some []string
	for _, p := range parts[:min(len(parts), shown)] {
		some = append(some, ks(p))
	}
	list := strings.Join(some, "; ")
	if len(parts) > shown {
		list += "; ... " + ks(parts[len(parts)-1])
	}
	switch {
	case !slices.ContainsFunc(parts, func(p []int32) bool { return len(p) != 1 }):
		return "cut into single products: " + list
	case c.By == "lanes" && c.Vector > 1:
		return fmt.Sprintf("dealt to %d lanes, %d products at a time: %s", len(parts), c.Vector, list)
	case c.By == "lanes":
		return fmt.Sprintf("dealt to %d lanes: %s", len(parts), list)
	}
	return fmt.Sprintf("cut into %d blocks: %s", len(parts), list)
}

// ks writes a part.
func ks(p []int32) string {
	n := len(p)
	switch {
	case n == 0:
		return "nothing"
	case n == 1:
		return fmt.Sprintf("k %d", p[0])
	case int(p[n-1]-p[0]) == n-1:
		return fmt.Sprintf("k %d..%d", p[0], p[n-1])
	}
	words := strings.Fields(strings.Trim(fmt.Sprint(p[:min(n, 3)]), "[]"))
	if n > 3 {
		words = append(words, "...", fmt.Sprint(p[n-1]))
	}
	return "k " + strings.Join(words, " ")
}

var orderWords = map[string]string{
	"forward":    "((first + second) + third) + ..., first to last",
	"reverse":    "last to first",
	"neighbours": "(first + second) + (third + fourth) ..., neighbours first",
	"pairwise":   "the sum of the first half of all products and that of the second, each of which is halved in the same way until it is a block",
	"halves":     "the second half to the first, again and again until one is left",
}

func mergeWords(l *schedule.Level, u *schedule.Unit, parts int) string {
	if chain := map[string]string{"chain": "first to last", "chain-reverse": "last to first"}[l.Merge.Order]; chain != "" {
		if p := l.Merge.Store; p != fp.None {
			chain += "; " + onlyWords(l, "after") + " it is rounded to " + p.String()
		}
		return "One accumulator adds them one after the other, " + chain + "."
	}
	o := orderWords[l.Merge.Order]
	if parts == 2 {
		o = "first + second"
	}
	if o == "" {
		o = "those " + strings.ReplaceAll(l.Merge.Order, "-", " apart, then those ") + " apart, until one is left"
	}
	if len(l.Merge.Order) > 0 && l.Merge.Start == "zero" {
		o += ", beginning with zero"
	}
	format := cmp.Or(l.Merge.Format, u.Acc)
	if u.Op == "" && format == fp.None {
		o += ", in the format of its results"
	} else if format != fp.None {
		o += ", rounded to " + format.String()
	}
	if p := l.Merge.Parts; p != fp.None && p != format {
		o += ", each rounded to " + p.String() + " before it is added"
	}
	if l.Merge.Scale != "" {
		o += ", each multiplied by " + scaleWords(&l.Merge)
	}
	if p := l.Merge.Store; p != fp.None {
		if l.Merge.Only == "" {
			o += "; every sum is stored in " + p.String()
		} else {
			o += "; " + onlyWords(l, "after adding") + " the sum is stored in " + p.String()
		}
	}
	return "Each " + l.Cut.Part() + " has a sum of its own; these are added: " + o + "."
}

// onlyWords says of which parts something is true that is done after them.
func onlyWords(l *schedule.Level, after string) string {
	part := l.Cut.Part()
	return after + " " + map[string]string{"": "each " + part, "2": "the second " + part, "last": "the last " + part,
		"not-2": "each " + part + " but the second", "not-last": "each " + part + " but the last"}[l.Merge.Only]
}

// fieldWords say what is not known of a kernel where a field is not, by the end of its name.
var fieldWords = [][2]string{
	{".merge.order", "the order in which partial sums are added"},
	{".merge.format", "the format in which partial sums are added"},
	{".merge.parts", "the format to which a partial sum is rounded before it is added"},
	{".merge.store", "the format in which a sum of partial sums is stored"},
	{".merge.start", "whether the first partial sum is added to zero"},
	{".tail.reverse", "the order of the products that are left over"},
	{".tail.format", "the format in which the sum of the products that are left over is added"},
	{"unit.start", "to what the first product is added"},
	{"unit.product", "the format of a product"},
	{"unit.acc", "the format of the accumulators"},
	{"addend", "how C is added"},
	{"where", "which schedule these elements have"},
}

// openWords says that a field may have other values.
func (f *Field) openWords(schedules int) string {
	text := fmt.Sprintf("%s may be %s", f.place(schedules), strings.Join(append([]string{f.Value}, f.Open...), " or "))
	for _, w := range fieldWords {
		if strings.HasSuffix(f.Name, w[0]) {
			return w[1] + " (" + text + ")"
		}
	}
	return text
}

func tailWords(t *schedule.Tail, rest []int32, of string, here bool) string {
	which, when, last := "last", "after", "the first accumulator"
	if t.Front {
		which, when = "first", "before"
	}
	if t.Last {
		last = "the last accumulator"
	}
	where := map[string]string{
		"lane":  "are added by " + last + ", " + when + " its own",
		"deal":  "are dealt to all of these accumulators, " + when + " their own",
		"after": "are added to the sum of the others, one after the other",
		"apart": "have an accumulator of their own, whose sum is added to that of the others",
		"drop":  "are missing from the result",
	}[t.Into]
	if t.Into == "deal" && t.Last {
		where = "are dealt to the last of these accumulators, " + when + " their own"
	}
	if t.Reverse {
		where += ", last first"
	}
	if t.Unit != nil {
		where += " (" + unitWords(t.Unit) + ")"
	}
	if t.Format != fp.None {
		where += ", in " + t.Format.String()
	}
	if len(rest) == 0 {
		return fmt.Sprintf("Where the number of products is not a multiple of %d, the %s ones %s.", t.Of, which, where)
	}
	if here && len(rest) == 1 {
		one := strings.NewReplacer("are ", "is ", "have ", "has ", "their own", "its own", ", one after the other", "", ", last first", "").Replace(where)
		return fmt.Sprintf("The %s product of %s, k %d, %s.", which, of, rest[0], one)
	}
	if here {
		return fmt.Sprintf("The %s products of %s, %s, %s.", which, of, ks(slices.Sorted(slices.Values(rest))), where)
	}
	return fmt.Sprintf("The %s products of %s beyond a multiple of %d, %s, %s.", which, of, t.Of, ks(slices.Sorted(slices.Values(rest))), where)
}

// castsWords says how operands are rounded before they are multiplied.
func castsWords(u *schedule.Unit) string {
	switch {
	case !u.Casts():
		return ""
	case u.CastA != nil && u.CastB != nil && *u.CastA == *u.CastB:
		return " of A and B, each " + operandWords(u.CastA)
	}
	var all []string
	for _, of := range []struct {
		name string
		cast *schedule.Cast
	}{{"A", u.CastA}, {"B", u.CastB}} {
		if of.cast == nil {
			all = append(all, of.name+" as it is")
		} else {
			all = append(all, of.name+" "+operandWords(of.cast))
		}
	}
	return " of " + strings.Join(all, " and ")
}

// operandWords says to what an operand is cast, and how.
func operandWords(c *schedule.Cast) string {
	text := "rounded before to "
	if c.Factor != 0 {
		text = fmt.Sprintf("multiplied before by %v and rounded to ", c.Factor)
	}
	text += c.Format.String() + map[string]string{"away": " (half away from zero)", "zero": " (towards zero)", "drop": " (its other bits are dropped)"}[c.Round]
	if c.Saturate {
		text += " (what is too large, and an infinity, becomes the largest number)"
	}
	return text
}

// firstToZero is said where the first product of an accumulator is added to zero.
const firstToZero = "; the first is added to zero"

func unitWords(u *schedule.Unit) string {
	if u.Op == "" {
		return u.Instruction + ", or what computes as it does"
	}
	text := fmt.Sprintf("a multiplication rounded to %s, then an addition in %s", cmp.Or(u.Product, u.Acc), u.Acc)
	if u.Op == "fma" {
		text = fmt.Sprintf("a fused multiply-add in %s", u.Acc)
	}
	text += castsWords(u)
	if u.Sum != fp.None {
		text += fmt.Sprintf(", its result rounded to %s before", u.Sum)
	}
	if u.Subnormals == "zero" {
		text += " in which subnormal numbers are zeros"
	}
	return text + map[string]string{"": firstToZero, "empty": "; the first is added to nothing",
		"second": "; the first is added to the second, which is rounded"}[u.Start]
}
