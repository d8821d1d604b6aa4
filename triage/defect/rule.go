package defect

import (
	"context"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Unit is a black box that computes what a program says, but for a defect.
type Unit struct {
	Formats mma.Formats
	K       int // of an execution of the program; dot products may be longer
	Program mma.Params
	Policy  oracle.Policy

	Cases []Case // in some of which it gives another result than the program
	// Ask returns the unit's results. It may replace a dot product on which the unit fails.
	Ask  func(ctx context.Context, dots []*mma.Dot) ([]uint64, error)
	Seed uint64
	// Budget limits the search; nil: nothing does.
	Budget  *Budget
	Workers int // goroutines at most; 0: as many as there are processors
	// Single: two defects are not looked for. Double: one alone is not.
	Single, Double bool
	// Random: only a defect of random bits is looked for, which are operand b.
	Random bool
}

// Case is a dot product and the result of the unit.
type Case struct {
	Dot  *mma.Dot
	Want uint64
}

// Rule says what a unit computes: Effect where all conditions hold, and else what the program says.
// The conditions are about the case as a whole, or with another Scope about one of its products,
// pairs of products or sums: it is enough if one of these meets all of them. An effect on operands
// in the scope of products happens to each product that meets them.
type Rule struct {
	Scope  Scope       `json:"scope,omitempty"`
	Effect Effect      `json:"effect"`
	When   []Condition `json:"when,omitempty"`
	// Before is the rule of another defect that the unit has, too: this one is about what the other
	// leaves.
	Before *Rule `json:"before,omitempty"`
}

// Claim is a rule that was put to the test.
type Claim struct {
	Rule
	// Confirmed inputs met the condition and showed the effect; Beside did not meet it, the
	// effect would have shown, and did not; Both are inputs of which different products did either.
	// All were asked after the rule had been found.
	Confirmed int `json:"confirmed"`
	Beside    int `json:"beside"`
	Both      int `json:"both,omitempty"`
	// Tested inputs were asked in all: the rule predicts each of them, the cases included.
	Tested int `json:"tested"`
}
