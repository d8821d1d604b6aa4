package compare

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Results that differ in the code of a NaN or in the sign of a zero alone do not count where these
// are compared by class. Nothing is said of a difference in them then, neither that it is there nor
// that it has gone.

// codeClasses are the classes that a comparison by class does not see.
var codeClasses = []string{oracle.NaNCode.String(), oracle.ZeroSign.String()}

// codeWords are what results of these classes differ in.
var codeWords = []string{"NaN codes", "zero signs"}

// byClass returns the classes that do not count by a policy.
func byClass(p oracle.Policy) (classes []string) {
	for i, s := range []oracle.Strictness{p.NaN, p.Zero} {
		if s == oracle.ByClass {
			classes = append(classes, codeClasses[i])
		}
	}
	return classes
}

// codes returns those of the classes that a difference has cases of.
func (d *Difference) codes() (classes []string) {
	for _, class := range codeClasses {
		of := func(k Kind) bool { return strings.HasSuffix(k.Name, ":"+class) }
		if d.Class == class || slices.ContainsFunc(d.Details, of) {
			classes = append(classes, class)
		}
	}
	return classes
}

// hides reports whether a cell says nothing of some cases of an earlier difference in it.
func (x *Cell) hides(g *Gone) bool {
	return slices.ContainsFunc(g.Codes, func(class string) bool { return slices.Contains(x.ByClass, class) })
}

// uncompared returns how many results of a cell differ in codes that do not count.
func (x *Cell) uncompared() readable.Uncompared {
	return readable.Uncompared{Codes: x.Codes, NaN: slices.Contains(x.ByClass, codeClasses[0]), Zero: slices.Contains(x.ByClass, codeClasses[1])}
}

// uncompared returns a line about the results that differ in codes that do not count, of each cell or
// of all together; none if there are no such results.
func (r *Result) uncompared(each bool) (lines []string) {
	var sum readable.Uncompared
	for i := range r.Cells {
		one := r.Cells[i].uncompared()
		if one.Codes == 0 {
			continue
		}
		if sum.Add(one); each {
			one.Of = where(r.Cells[i].A, r.Cells[i].B, r.Cells[i].Instruction)
			lines = append(lines, one.String())
		}
	}
	if sum.Codes > 0 && !each {
		lines = append(lines, sum.String())
	}
	return lines
}

// policies says which results count.
func (r *Result) policies() string {
	text, joint := "Results that differ in any bit count", ", except that "
	for i, words := range []string{"any NaN equals any other", "+0 equals -0"} {
		var names []string
		for n := range r.Cells {
			if x := &r.Cells[n]; slices.Contains(x.ByClass, codeClasses[i]) {
				names = append(names, where(x.A, x.B, x.Instruction))
			}
		}
		if names == nil {
			continue
		}
		text += joint + words
		if len(names) < len(r.Cells) {
			text += " for " + strings.Join(readable.First(names, 3), ", ")
		}
		joint = ", and that "
	}
	return text + ", each instruction and each two machines apart."
}
