package readable

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Reversed returns changes that undo those given, for reports that name the sides in another order.
func Reversed(changes []mma.Change) []mma.Change {
	back := slices.Clone(changes)
	for i, c := range changes {
		back[i].From, back[i].To = c.To, c.From
	}
	return back
}
