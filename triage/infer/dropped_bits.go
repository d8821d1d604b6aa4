package infer

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// droppedBits says that a witness has bits which the formats of its operands drop, such as the last 13
// of a register of TF32: a unit that reads them has another format. "": it has none.
func droppedBits(f mma.Formats, d *mma.Dot) string {
	var names []string
	var id fp.ID
	for _, o := range []struct {
		name  string
		id    fp.ID
		codes []uint64
	}{{"a", f.A, d.A}, {"b", f.B, d.B}, {"c", f.C, []uint64{d.C}}} {
		if o.id == fp.None || o.id.Get().Low == 0 {
			continue
		}
		for _, code := range o.codes {
			if code&(1<<o.id.Get().Low-1) != 0 {
				names, id = append(names, o.name), o.id
				break
			}
		}
	}
	if names == nil {
		return ""
	}
	both := strings.Join(names, " and ")
	return fmt.Sprintf("it has bits of %s that %s drops: if the unit reads all bits of its registers, declare %s as fp32", both, id, both)
}
