package triage

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// CauseOfFlags returns the cause of a difference in exception flags: the flags that only one side
// has raised, each of which is needed to make the two equal.
func CauseOfFlags(a, b fp.Flags) *Cause {
	names := strings.Split((a ^ b).String(), "+")
	for i := range names {
		names[i] = "flag-" + names[i]
	}
	return &Cause{Primary: Label(names[0]), Detail: strings.Join(names, "+")}
}
