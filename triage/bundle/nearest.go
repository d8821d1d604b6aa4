package bundle

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// NearestText says how near the nearest program comes.
func NearestText(n *corpus.Nearest) string {
	what := n.From
	if len(n.Changes) > 0 {
		what += " with " + readable.Changes(n.Changes, 20)
	}
	if n.Explained == 0 {
		return fmt.Sprintf("%s as it is: each change that was tried explains less than half of the %s looked into, or breaks more than half of the %d agreeing ones", what, readable.Plural(n.Differ, "differing case"), n.Agree)
	}
	return fmt.Sprintf("%s explains %d of the %s looked into (%s) and breaks %d of %d agreeing ones",
		what, n.Explained, readable.Plural(n.Differ, "differing case"), readable.Share(uint64(n.Explained), uint64(n.Differ)), n.Agree-n.Kept, n.Agree)
}

// WitnessText says where the nearest program fails.
func WitnessText(n *corpus.Nearest) string {
	return fmt.Sprintf("for example on %s: the nearest program gives %s, %s gives %s", n.Case, n.Program, cmp.Or(n.Of, "the unit"), n.Unit)
}

// CodesText names the codes of the two NaNs of a mismatch.
func CodesText(m *corpus.Mismatch) string {
	return fmt.Sprintf("%s for A, %s for B", m.A.Result, m.B.Result)
}

// DefectText is a defect with what speaks for it: how many of all inputs do what.
func DefectText(d *corpus.Defect) string {
	parts := []string{fmt.Sprintf("%d asked to test it show the error", d.Confirmed-d.Both)}
	add := func(n int, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	add(d.Beside-d.Both, "%d just outside its condition do not")
	add(d.Both, "%d show it in one product and are just outside in another")
	add(d.Tested-d.Confirmed-d.Beside+d.Both, "%d are those that it was found from, or would not show it")
	return fmt.Sprintf("%s: %s (true of all %d inputs asked: %s)", d.Target, d.Rule, d.Tested, strings.Join(parts, ", "))
}

// SumsText is how both sides add, and what speaks for it.
func SumsText(s *corpus.Sums) string {
	return fmt.Sprintf("%s (each has the bits of its side on %s)", s, readable.Plural(s.Checked, "new element"))
}
