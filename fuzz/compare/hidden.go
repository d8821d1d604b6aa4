package compare

import (
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// CellOf returns what entries of lists match of a pair, and what its policy does not see.
func CellOf(p *devices.Pair, policy oracle.Policy) Cell {
	return Cell{A: p.TargetA, B: p.TargetB, Instruction: p.Name(), ByClass: byClass(policy)}
}

// Hidden says of the entries that were not used and are about nothing but codes, those of NaNs or the signs
// of zeros, if these were compared by class wherever the entry holds: nothing is known of them then.
func (k *Known) Hidden(uses []KnownUse, cells []Cell) {
	for i := range uses {
		u := &uses[i]
		if u.State != "unused" || u.What != "" {
			continue
		}
		e := k.List.Entries[i]
		class := classOf(&e)
		e.Difference, e.Bucket, e.Labels, e.Changes = "", "", nil, nil
		of, hidden := 0, 0
		for n := range cells {
			x := &cells[n]
			if !e.Covers(&corpus.Difference{A: x.A, B: x.B, Instructions: append([]string{x.Instruction, turnedNames(x.Instruction)}, strings.Split(x.Instruction, " ~ ")...)}) {
				continue
			}
			if of++; slices.Contains(x.ByClass, class) {
				hidden++
			}
		}
		if class == "" || of == 0 || hidden < of {
			continue
		}
		at := slices.Index(codeClasses, class)
		u.What = codeWords[at] + " alone, which are not compared here: " + []string{"--nan bits", "--zero bits"}[at] + " compares them"
	}
}

// classOf is the class of all cases that an entry is about, if they differ in codes alone; "" otherwise.
func classOf(e *corpus.KnownEntry) string {
	for i, label := range []triage.Label{triage.NaNEncoding, triage.SignedZero} {
		other := func(l string) bool { return l != string(label) }
		change := func(c string) bool {
			path, _, _ := strings.Cut(c, " ")
			f, ok := mma.FindField(path)
			return !ok || other(f.Label)
		}
		switch class := codeClasses[i]; {
		case !other(e.Bucket), strings.HasSuffix(e.Bucket, ":"+class),
			e.Labels != nil && !slices.ContainsFunc(e.Labels, other), e.Changes != nil && !slices.ContainsFunc(e.Changes, change):
			return class
		}
	}
	return ""
}
