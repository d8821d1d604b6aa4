package bundle

import (
	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
)

// Policy returns how the results of a mismatch are compared.
func Policy(m *corpus.Mismatch) oracle.Policy {
	var p oracle.Policy
	if m.NaN == "class" {
		p.NaN = oracle.ByClass
	}
	if m.Zero == "class" {
		p.Zero = oracle.ByClass
	}
	return p
}
